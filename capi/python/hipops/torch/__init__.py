"""hipops in PyTorch: torch.ops.hipops.rms_norm and the others, which torch.compile traces through, and patch(model).

    import hipops.torch
    y = torch.ops.hipops.rms_norm(x, weight, 1e-5)

The ops launch on the current stream and read views in place. A result has the strides that PyTorch's own op gives. _backward.py lists
the ops with a backward pass. No op has a forward-mode derivative. An op raises if a derivative is required that it has not. A refused
argument raises a RuntimeError. Its text is the same for tensors with memory and without memory (meta tensors, and tensors of
torch.compile).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .. import _arrays, _ops
from .._abi import MAX_RANK, Backend, Dtype, Status
from .._library import LIBRARY, Error, backend_in_use
from .._patch import Replaced, patch
from .._subclass import unpatch
from . import _backward
from ._linear_cross_entropy import linear_cross_entropy

__all__ = ["Replaced", "linear_cross_entropy", "patch", "unpatch"]

_LIBRARY = torch.library.Library("hipops", "DEF")
# torch_ops.cpp implements these ops. If PyTorch lacks C functions that it needs, Python implements them, like the other ops.
_NATIVE = ("layer_norm", "rms_norm", "fused_add_rms_norm", "fused_add_layer_norm", "softmax", "rope", "rope_i", "rope_thd", "activation",
           "activation_and_mul", "rms_norm_backward", "activation_and_mul_backward")
_WITH_STRINGS = ("activation", "activation_and_mul", "activation_and_mul_backward")  # PyTorch passes strings to them from 2.10 on
_IN_PYTHON: dict[str, Callable[..., Any]] = {}


# ---- Checks

def _dtypes_for(op: str, argument: str, first: Dtype) -> str:
    """Lists the dtypes that an op supports for an argument, if the dtype of its first tensor is `first`."""
    if argument in ("positions", "lengths", "row_begin"):
        return "int32, int64"
    is_second = argument in ("weight", "bias", "cos", "sin", "index", "mask", "target")
    listed = [name for name, dtype in _arrays.DTYPES.items()
              if LIBRARY.hipops_supports(op.encode(), *((first, dtype) if is_second else (dtype, Dtype.NONE)))]
    return ", ".join(listed or _arrays.DTYPES)


class _Unknown(Exception):
    """Raised for a size that torch.compile does not know while it traces."""


def _hint(value: Any) -> Any:
    """Returns the value of a size, or of each size of a list, in this trace of torch.compile. Adds no guard."""
    if isinstance(value, (list, tuple)):
        return [_hint(each) for each in value]
    if not isinstance(value, (torch.SymInt, torch.SymFloat)):
        return value
    if not value.node.has_hint():
        raise _Unknown
    return value.node.hint


def _dtype_of(tensor: torch.Tensor) -> tuple[str, Dtype]:
    name = str(tensor.dtype).partition(".")[2]
    return name, _arrays.DTYPES.get(name, Dtype.NONE)


def _check(name: str, arguments: dict[str, Any], has_memory: bool) -> None:
    """Runs the library's own checks of a call, which read no memory, and raises their refusal. For tensors with memory it finds the
    text of a refusal that has happened."""
    op = name.rstrip("_")
    tensors = {argument: given for argument, given in arguments.items() if isinstance(given, torch.Tensor)}
    for argument in ("mask", "prompt"):
        if argument in tensors and tensors[argument].dtype == torch.bool:
            tensors[argument] = tensors[argument].view(torch.uint8)
    where, first = next(iter(tensors.items()))
    for argument, tensor in tensors.items():
        dtype, known = _dtype_of(tensor)
        if tensor.device != first.device:
            raise RuntimeError(f"{op}: {argument} is on {tensor.device}, expected {first.device} ({where}'s)")
        if not known:
            raise RuntimeError(f"{op}: {argument} is of {dtype}, expected one of: {_dtypes_for(op, argument, _dtype_of(first)[1])}")
        if tensor.dim() > MAX_RANK:
            raise RuntimeError(f"{op}: {argument} has {tensor.dim()} dimensions, expected {MAX_RANK} at most")
    backend = Backend.CPU if first.device.type == "cpu" else Backend.HIP if torch.version.hip else Backend.CUDA
    if not has_memory:  # a trace may run later, under another backend
        backend = backend_in_use() or backend
    try:
        planned = {argument: _hint(given) for argument, given in arguments.items() if argument not in tensors}
        for argument, tensor in tensors.items():
            planned[argument] = _ops.Plan(backend, _dtype_of(tensor)[1], _hint(tensor.shape), _hint(tensor.stride()))
    except _Unknown:
        return
    if not hasattr(LIBRARY, "hipops_torch_check_only"):  # only the wheel's library has it
        return
    LIBRARY.hipops_torch_check_only(1)
    try:
        getattr(_ops, name)(**planned)
    except (Error, TypeError, ValueError) as refused:
        if getattr(refused, "status", None) != Status.NO_DEVICE:
            raise RuntimeError(str(refused)) from refused
    finally:
        LIBRARY.hipops_torch_check_only(0)


# ---- Ops

def _define(name: str, arguments: str, returns: str, make: Callable[..., Any] | None,
            outputs: tuple[str, ...] = ("out", "residual_out")) -> None:
    """Defines torch.ops.hipops.NAME by the function of that name in _ops. `make` allocates the results, also without memory (meta). An op
    without `make` works in place. A result that the function does not compute is the tensor of `make`."""
    _LIBRARY.define(f"{name}({arguments}) -> {returns}", tags=(torch.Tag.pt2_compliant_tag,))
    names = [argument.name for argument in getattr(torch.ops.hipops, name).default._schema.arguments]
    function = getattr(_ops, name)

    def run(*given: Any) -> Any:
        results: dict[str, Any] = {}
        try:
            made = make(*given) if make else ()
            results = {key: y for key, y in zip(outputs, made if isinstance(made, tuple) else (made,)) if y.shape != (0,)}
        except Exception:  # the function below refuses bad arguments, and allocates the results itself
            pass
        try:
            y = function(*given, **results)
        except (Error, TypeError, ValueError) as refused:
            _check(name, dict(zip(names, given)), True)
            raise RuntimeError(str(refused)) from refused
        if isinstance(y, tuple):
            y = tuple(made[i] if each is None else each for i, each in enumerate(y))
        return y if make else None

    def fake(*given: Any, **named: Any) -> Any:  # PyTorch also calls it if only some tensors are meta
        _check(name, {**dict(zip(names, given)), **named}, False)
        return make(*given, **named) if make else None

    def say(*given: Any) -> None:  # torch_ops.cpp calls it for the words of a refusal
        try:
            _check(name, dict(zip(names, given)), True)
        except RuntimeError as refused:
            LIBRARY.hipops_torch_say(str(refused).encode())

    _IN_PYTHON[name] = run
    torch.library.register_fake(f"hipops::{name}", fake, lib=_LIBRARY)
    _backward.register(_LIBRARY, name, outputs if make else ())
    if name in _NATIVE:
        _LIBRARY.define(f"_check_{name}({arguments}) -> ()")
        _LIBRARY.impl(f"_check_{name}", say, "CompositeExplicitAutograd")


def _contiguous(x: torch.Tensor, *rest: Any) -> torch.Tensor:
    return torch.empty_like(x, memory_format=torch.contiguous_format)


# For a size that torch.compile does not know, this function returns False where is_contiguous raises. It is slower.
_is_contiguous_or_false = getattr(torch._prims_common, "is_contiguous_or_false", torch.Tensor.is_contiguous)


def _is_contiguous(x: torch.Tensor) -> bool:
    return bool(x.is_contiguous() if type(x) is torch.Tensor else _is_contiguous_or_false(x))


def _on_meta(tensors: tuple[torch.Tensor, ...]) -> list[torch.Tensor]:
    return [torch.empty_strided(t.shape, t.stride(), device="meta") for t in tensors]


def _as_elementwise(*tensors: torch.Tensor) -> torch.Tensor:
    """Allocates the result that PyTorch's elementwise ops give for these tensors."""
    if all(map(_is_contiguous, tensors)):
        return _contiguous(*tensors)
    first, *others = _on_meta(tensors)
    like = torch.maximum(first, *others) if others else torch.neg(first)
    return tensors[0].new_empty_strided(like.shape, like.stride())


def _activated_product(x: torch.Tensor, up: torch.Tensor, *rest: Any) -> torch.Tensor:
    """Allocates the result that PyTorch gives for act(x) * up."""
    on_meta = _on_meta((x, up))
    like = _as_elementwise(_as_elementwise(on_meta[0]), on_meta[1])
    return x.new_empty_strided(like.shape, like.stride())


def _normed(x: torch.Tensor, *rest: Any) -> torch.Tensor:
    """Allocates the result that PyTorch's rms_norm gives for x."""
    if x.dim() not in (4, 5):
        return _contiguous(x)
    return torch.empty(x.shape, dtype=x.dtype, device=x.device, memory_format=torch._prims_common.suggest_memory_format(x))


def _sum_and_norm(x: torch.Tensor, residual: torch.Tensor, *rest: Any) -> tuple[torch.Tensor, torch.Tensor]:
    total = _as_elementwise(residual, x)
    return _normed(total), total


def _gradients(dy: torch.Tensor, x: torch.Tensor, weight: torch.Tensor | None = None, rstd: torch.Tensor | None = None, eps: float = 1e-5,
               weight_plus_one: bool = False, round_before_weight: bool = False, batch_invariant: bool = False,
               weight_grad: bool = True) -> tuple[torch.Tensor, torch.Tensor]:
    """Without a gradient of the weight the second result has no elements."""
    return x.new_empty(x.shape), x.new_empty(0) if weight is None or not weight_grad else weight.new_empty(weight.shape)


def _gradients_of_layer(dy: torch.Tensor, x: torch.Tensor, weight: torch.Tensor | None = None, mean: torch.Tensor | None = None,
                        rstd: torch.Tensor | None = None, eps: float = 1e-5, batch_invariant: bool = False, weight_grad: bool = True,
                        bias_grad: bool = True) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """A gradient that the caller leaves out has no elements."""
    like = x if weight is None else weight
    dw, db = (like.new_empty(x.shape[-1:] if wanted else 0) for wanted in (weight_grad and weight is not None, bias_grad))
    return x.new_empty(x.shape), dw, db


def _gathered(x: torch.Tensor, dim: int, index: torch.Tensor) -> torch.Tensor:
    return x.new_empty(index.shape)


def _selected(x: torch.Tensor, dim: int, index: torch.Tensor) -> torch.Tensor:
    shape = list(x.shape)
    shape[dim], = index.shape
    return x.new_empty(shape)


def _reduced(x: torch.Tensor, reduction: str, dim: Any = None, keepdim: bool = False, *rest: Any) -> torch.Tensor:
    dims = range(x.dim()) if dim is None else [d % max(x.dim(), 1) for d in dim]
    shape = [1 if d in dims else size for d, size in enumerate(x.shape) if keepdim or d not in dims]
    return x.new_empty(shape, dtype=torch.int64 if reduction in ("argmax", "argmin") else x.dtype)


def _aligned(x: torch.Tensor, experts: int, block_size: int, *rest: Any) -> tuple[torch.Tensor, ...]:
    total = x.numel()
    places = total + min(total, experts) * (block_size - 1)
    return tuple(x.new_empty(size, dtype=torch.int32) for size in (places, -(-places // block_size), 1))


def _sorted(x: torch.Tensor, descending: bool = False, values: bool = True) -> tuple[torch.Tensor, torch.Tensor]:
    """Without values the first result has no elements."""
    return x.new_empty(x.shape if values else 0), x.new_empty(x.shape, dtype=torch.int64)


def _upsampled(x: torch.Tensor, output_size: Any, *rest: Any) -> torch.Tensor:
    sizes = output_size if isinstance(output_size, (list, tuple)) else (output_size,)
    layout = torch._prims_common.suggest_memory_format(x) if x.dim() == 4 else torch.contiguous_format
    return torch.empty((*x.shape[:2], *sizes), dtype=x.dtype, device=x.device, memory_format=layout)


def _quantized(x: torch.Tensor, scale: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    like = _as_elementwise(*_on_meta((x,)))
    return x.new_empty_strided(like.shape, like.stride(), dtype=dtype)


def _dynamically_quantized(x: torch.Tensor, dtype: torch.dtype, group: int = 0, *rest: Any) -> tuple[torch.Tensor, torch.Tensor]:
    scales = () if group == -1 else (*x.shape[:-1], x.shape[-1] // group if group > 0 else 1)
    return _quantized(x, x, dtype), x.new_empty(scales, dtype=torch.float32)


def _top(x: torch.Tensor, k: int, *rest: Any) -> tuple[torch.Tensor, torch.Tensor]:
    shape = (*x.shape[:-1], k)
    return x.new_empty(shape), x.new_empty(shape, dtype=torch.int64)


def _losses(x: torch.Tensor, target: torch.Tensor, ignore_index: int = -100, label_smoothing: float = 0.0, z_loss: float = 0.0,
            batch_invariant: bool = False, gradient: bool = False) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Without the gradient the third result has no elements."""
    loss, lse = (x.new_empty(target.shape, dtype=torch.promote_types(x.dtype, torch.float32)) for _ in range(2))
    return loss, lse, x.new_empty(x.shape if gradient else 0)


_INVARIANT = "bool batch_invariant=False"
_FLAGS = f"bool weight_plus_one=False, bool round_before_weight=False, {_INVARIANT}"
_ROPE = "Tensor x, Tensor cos, Tensor sin, Tensor? positions=None"
_IN_PLACE = "Tensor(a!) y, int dim, Tensor index, "
_define("layer_norm", f"Tensor x, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, {_INVARIANT}", "Tensor", _contiguous)
_define("rms_norm", f"Tensor x, Tensor? weight=None, float eps=1e-05, {_FLAGS}", "Tensor", _normed)
_define("fused_add_rms_norm", f"Tensor x, Tensor residual, Tensor? weight=None, float eps=1e-05, bool round_sum=False, {_FLAGS}",
        "(Tensor, Tensor)", _sum_and_norm)
_define("fused_add_layer_norm",
        f"Tensor x, Tensor residual, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool round_sum=False, {_INVARIANT}",
        "(Tensor, Tensor)", lambda x, residual, *rest: (x.new_empty(x.shape), _as_elementwise(residual, x)))
_define("softmax", f"Tensor x, {_INVARIANT}", "Tensor", _contiguous)
_define("log_softmax", f"Tensor x, {_INVARIANT}", "Tensor", _contiguous)
_define("softmax_ext",
        "Tensor x, Tensor? mask=None, Tensor? alibi_slopes=None, Tensor? sinks=None, float scale=1.0, bool masked_row_zero=False, "
        + _INVARIANT, "Tensor", _contiguous)
_define("rms_norm_backward",
        f"Tensor dy, Tensor x, Tensor? weight=None, Tensor? rstd=None, float eps=1e-05, {_FLAGS}, bool weight_grad=True", "(Tensor, Tensor)",
        _gradients, ("out", "dw"))
_define("activation", "Tensor x, str kind, float alpha=1.0", "Tensor", lambda x, *rest: _as_elementwise(x))
_define("activation_and_mul",
        'Tensor x, Tensor up, str kind="silu", float limit=0.0, float alpha=1.0, bool up_plus_one=False', "Tensor",
        _activated_product)
for _name in ("rope", "rope_i", "rope_thd"):
    _define(_name, _ROPE, "Tensor", lambda x, *rest: _as_elementwise(x))
_define("gather", "Tensor x, int dim, Tensor index", "Tensor", _gathered)
_define("index_select", "Tensor x, int dim, Tensor index", "Tensor", _selected)
_define("scatter_", _IN_PLACE + "Tensor src, bool deterministic=False", "()", None)
_define("scatter_add_", _IN_PLACE + "Tensor src, bool deterministic=False", "()", None)
_define("index_add_", _IN_PLACE + "Tensor source", "()", None)
_define("reduce", "Tensor x, str reduction, int[]? dim=None, bool keepdim=False, " + _INVARIANT, "Tensor", _reduced)
_define("static_quantize", "Tensor x, Tensor scale, ScalarType dtype", "Tensor", _quantized)
_define("dynamic_quantize", f"Tensor x, ScalarType dtype, int group=0, Tensor? scale_ub=None, bool fnuz_240=False, {_INVARIANT}",
        "(Tensor, Tensor)", _dynamically_quantized, ("out", "scale"))
_define("topk",
        "Tensor x, int k, bool largest=True, bool sorted=True, Tensor? lengths=None, Tensor? row_begin=None, bool window_indices=False, "
        + _INVARIANT, "(Tensor, Tensor)", _top, ("out", "indices"))
_define("cumsum", "Tensor x, int dim", "Tensor", lambda x, *rest: _as_elementwise(x))
_define("sort", "Tensor x, bool descending=False, bool values=True", "(Tensor, Tensor)", _sorted, ("out", "indices"))
_define("topk_softmax",
        "Tensor x, int k, bool renormalize=True, bool sigmoid=False, Tensor? bias=None, int groups=0, int topk_groups=0, float scale=1.0, "
        + _INVARIANT, "(Tensor, Tensor)",
        lambda x, k, *rest: (x.new_empty((x.shape[0], k), dtype=torch.float32), x.new_empty((x.shape[0], k), dtype=torch.int32)),
        ("out", "ids"))
_define("moe_align_block_size", "Tensor x, int experts, int block_size, Tensor? expert_map=None", "(Tensor, Tensor, Tensor)", _aligned,
        ("out", "expert_ids", "count"))
_define("sample", "Tensor x, Tensor uniform, Tensor? temperature=None, Tensor? top_k=None, Tensor? top_p=None, Tensor? min_p=None", "Tensor",
        lambda x, *rest: x.new_empty(x.shape[:-1], dtype=torch.int32))
_define("apply_penalties",
        "Tensor x, Tensor? prompt=None, Tensor? counts=None, Tensor? repetition=None, Tensor? frequency=None, Tensor? presence=None",
        "Tensor", lambda x, *rest: _as_elementwise(x))
_define("cross_entropy",
        f"Tensor x, Tensor target, int ignore_index=-100, float label_smoothing=0.0, float z_loss=0.0, {_INVARIANT}, bool gradient=False",
        "(Tensor, Tensor, Tensor)", _losses, ("out", "lse", "dx"))
_define("upsample_nearest1d", 'Tensor x, SymInt output_size, float? scale=None, str rule="pytorch"', "Tensor", _upsampled)
_define("upsample_nearest2d",
        'Tensor x, SymInt[2] output_size, float? scale_h=None, float? scale_w=None, str rule="pytorch"', "Tensor", _upsampled)
_define("strided_copy", "Tensor x", "Tensor", _contiguous)
_define("softmax_backward", f"Tensor dy, Tensor y, float scale=1.0, {_INVARIANT}", "Tensor", lambda dy, y, *rest: _contiguous(y))
_define("log_softmax_backward", f"Tensor dy, Tensor y, {_INVARIANT}", "Tensor", lambda dy, y, *rest: _contiguous(y))
_define("layer_norm_backward",
        f"Tensor dy, Tensor x, Tensor? weight=None, Tensor? mean=None, Tensor? rstd=None, float eps=1e-05, {_INVARIANT}, "
        "bool weight_grad=True, bool bias_grad=True", "(Tensor, Tensor, Tensor)", _gradients_of_layer, ("out", "dw", "db"))
_define("activation_backward", "Tensor dy, Tensor x, str kind, float alpha=1.0", "Tensor", lambda dy, x, *rest: _as_elementwise(x))
_define("activation_and_mul_backward",
        'Tensor dy, Tensor x, Tensor up, str kind="silu", float limit=0.0, float alpha=1.0, bool up_plus_one=False', "(Tensor, Tensor)",
        lambda dy, x, up, *rest: (_as_elementwise(x), _as_elementwise(up)), ("out", "dup"))

_registered = LIBRARY.hipops_torch_register() if hasattr(LIBRARY, "hipops_torch_register") else 0
for _name, _run in _IN_PYTHON.items():
    if not (_name in _NATIVE and _registered > (_name in _WITH_STRINGS)):
        for _device in ("CPU", "CUDA"):  # PyTorch for ROCm names its devices "CUDA" too
            _LIBRARY.impl(_name, _run, _device)
