"""The ops, with PyTorch's names and order of arguments."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import math
import itertools
import operator
import os
import sys
from typing import Any, Literal

from . import _arrays, _streams
from ._abi import (BATCH_INVARIANT, DESCENDING, DETERMINISTIC, FNUZ_240, FUNCTIONS, MASKED_ROW_ZERO, RENORMALIZE, ROUND_BEFORE_WEIGHT,
                   ROUND_SUM, SIGMOID, SMALLEST, SORTED, UP_PLUS_ONE, WEIGHT_PLUS_ONE, WINDOW_INDICES, WHOLE_TENSOR, ActivationKind, Backend, Dtype, Memory, Nearest, Reduction, TensorPointer)
from ._library import LIBRARY, Error, backend_in_use, check, init

__all__ = ["activation", "activation_and_mul", "dynamic_quantize", "fused_add_layer_norm", "fused_add_rms_norm", "gather", "index_add_",
           "index_select", "layer_norm", "log_softmax", "reduce", "rms_norm", "rms_norm_backward", "rope", "rope_i", "rope_thd", "scatter_",
           "scatter_add_", "softmax", "softmax_ext", "static_quantize",
           "topk", "cumsum",
           "sort",
           "topk_softmax",
           "moe_align_block_size",
           "softmax_backward", "log_softmax_backward", "layer_norm_backward",
           "sample",
           "cross_entropy", "apply_penalties", "activation_backward", "activation_and_mul_backward",
           "strided_copy", "upsample_nearest1d", "upsample_nearest2d"]

Rule = Literal["pytorch", "candle", "exact"]
INPUTS = {("rms_norm_backward", "rstd"), ("layer_norm_backward", "mean"), ("layer_norm_backward", "rstd"), ("softmax_backward", "y"),
          ("log_softmax_backward", "y")}  # with names of outputs
OUTPUTS = ("y", "q", "residual_out", "mean", "rstd", "dx", "dup", "dw", "db", "values", "indices", "weights", "ids", "token_expert", "tokens", "loss", "lse",
           "sorted_ids", "expert_ids", "count")
QUANTIZED = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "int8")
MEMORY = ("workspace", "report")
# The names of arguments that differ from hipops.h.
NAMES = {("scatter", "x"): "src", ("scatter_add", "x"): "src", ("index_add", "x"): "source"}


# Arguments that broadcast to x's shape, by NumPy's rule: whether to its last dimension, too.
BROADCAST = {("softmax_ext", "mask"): True, ("softmax_ext", "alibi_slopes"): False, ("softmax_ext", "sinks"): False}


class Plan:
    """A tensor in a call that is only checked (hipops_torch_check_only). Its address is far from the other tensors' addresses."""

    read_only = stream = None
    _places = itertools.count()

    def __init__(self, backend: Backend, dtype: Dtype, shape: Any, stride: Any):
        address = (next(self._places) % 127 + 1) << 56
        self.backend, self.device, self.shape = backend, 0, tuple(shape)
        self.tensor = _arrays.tensor(address, dtype, self.shape, stride)

    def empty(self, shape: Any) -> Plan:
        return Plan(self.backend, self.tensor.dtype, shape, _arrays.contiguous(shape))


def is_dual(tensor: Any) -> bool:
    """True if a tensor of PyTorch has a forward-mode derivative. no_grad does not disable these."""
    torch = sys.modules["torch"]
    forward = torch.autograd.forward_ad
    if forward._current_level < 0 or not torch._C._is_fwd_grad_enabled() or tensor.is_inference():
        return False
    if torch._C._dispatch_tls_local_exclude_set().has(torch._C.DispatchKey.AutogradFunctionality):
        return False  # inside an op, which has already checked
    return forward.unpack_dual(tensor).tangent is not None


def _stream_of(op: str, stream: Any, like: Any) -> int | None:
    if stream is None:
        return _arrays.current_stream(like)
    for name in ("cuda_stream", "ptr"):  # the attributes of PyTorch and CuPy
        if hasattr(stream, name):
            return int(getattr(stream, name))
    try:
        address = operator.index(stream)
    except TypeError:
        address = -1
    if isinstance(stream, bool) or not 0 <= address < 1 << 64:
        raise TypeError(f"{op}: stream is {stream!r}, expected a stream of PyTorch or CuPy, or its address")
    return address


def _is_output(op: str, name: str) -> bool:
    return name in OUTPUTS and (op, name) not in INPUTS or (op, name) == ("dynamic_quantize", "scale")


def _view(op: str, name: str, argument: Any, stream: int | None = None) -> _arrays.View:
    try:
        return _arrays.view(argument, stream)
    except TypeError as mistake:
        raise TypeError(f"{op}: {name} {mistake}") from mistake.__cause__
    except ValueError as mistake:
        raise ValueError(f"{op}: {name} {mistake}") from mistake.__cause__


def _broadcast(op: str, name: str, made: Any, x: Any) -> Any:
    own, stride = (list(values[:made.tensor.rank]) for values in (made.tensor.shape, made.tensor.stride))
    shape = list(x.tensor.shape[:x.tensor.rank])
    if not BROADCAST[op, name]:
        shape[-1:] = [1]
    more = len(shape) - len(own)
    if more < 0 or any(size not in (1, to) for size, to in zip(own, shape[more:])):
        raise ValueError(f"{op}: {name} has shape {tuple(own)}, expected one that broadcasts to {tuple(shape)}")
    strides = [0] * more + [0 if size == 1 else step for size, step in zip(own, stride)]
    tensor = _arrays.tensor(made.tensor.data, made.tensor.dtype, shape, strides)
    if not isinstance(made, Plan):
        return made._replace(tensor=tensor)
    made.tensor = tensor
    return made


@functools.lru_cache(None)
def _arrays_of(op: str, *names: str) -> list[tuple[str, str, bool]]:
    """The arguments that are arrays, with their names in Python, and whether the op changes them. x (or y) is first and outputs are last,
    so that an error names an array that the caller passed."""
    first, kinds = "x" if "x" in names else "y", FUNCTIONS["hipops_" + op][1]
    ordered = sorted(names, key=lambda name: (name != first, _is_output(op, name)))
    return [(name, NAMES.get((op, name), name), _is_output(op, name) or name in MEMORY) for name in ordered
            if name in MEMORY or kinds[name] is TensorPointer]


def _views(op: str, arguments: dict[str, Any], stream: int | None) -> dict[str, _arrays.View]:
    views: dict[str, _arrays.View] = {}
    first = "x" if "x" in arguments else "y"
    torch = sys.modules.get("torch")
    may_be_dual = torch is not None and torch.autograd.forward_ad._current_level >= 0
    for name, shown, is_changed in _arrays_of(op, *arguments):
        argument = arguments[name]
        if argument is None:
            continue
        if may_be_dual and _arrays.is_torch(argument) and is_dual(argument):
            raise ValueError(f"{op}: {shown} has a forward-mode derivative, which hipops does not propagate: call it under "
                             "torch.inference_mode(), or on its primal (torch.autograd.forward_ad.unpack_dual)")
        made: Any = argument if isinstance(argument, Plan) else _view(op, shown, argument, stream)
        if is_changed and made.read_only:
            raise ValueError(f"{op}: {shown} {made.read_only}, expected memory that may be written")
        other = views.get(first, made)
        if made.backend != other.backend or (made.device != other.device and None not in (made.device, other.device)):
            places = [f"{v.backend.name.lower()}:{v.device or 0}" for v in (made, other)]
            raise ValueError(f"{op}: {shown} is on {places[0]}, expected {places[1]} ({NAMES.get((op, first), first)}'s)")
        views[name] = _broadcast(op, name, made, views["x"]) if (op, name) in BROADCAST else made
    if first not in views:
        raise TypeError(f"{op}: {NAMES.get((op, first), first)} is None, expected an array")
    backend = views[first].backend
    in_use = backend_in_use()
    if in_use == Backend.AUTO and not isinstance(arguments[first], Plan):
        try:
            init(Backend.AUTO if os.environ.get("HIPOPS_BACKEND") else backend)
        except Error as refused:
            raise Error(f"{op}: {refused}", refused.status, refused.runtime_error) from None
        in_use = backend_in_use()
    if in_use not in (backend, Backend.AUTO):
        raise ValueError(f"{op}: {first} is on {backend.name.lower()}, and this process uses {in_use.name.lower()}: "
                         "one process has one backend, which its first call or hipops.init chooses")
    return views


def _memory(op: str, name: str, made: _arrays.View) -> int | None:
    strides, shape = made.tensor.stride[:made.tensor.rank], made.tensor.shape[:made.tensor.rank]
    if 0 not in shape and any(s != 1 and stride != c for s, stride, c in zip(shape, strides, _arrays.contiguous(shape))):
        raise ValueError(f"{op}: {name} has strides, expected contiguous memory")
    if name == "report" and (made.tensor.dtype not in (Dtype.I64, Dtype.U64) or list(shape) != [2]):
        raise ValueError(f"{op}: report is {Dtype(made.tensor.dtype).name.lower()} of {tuple(shape)}, expected two of i64 or u64")
    address: int | None = made.tensor.data
    return address


def _bytes(made: _arrays.View) -> int:
    size = {1: 4, 2: 2, 3: 2, 4: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 8, 12: 8}.get(made.tensor.dtype, 1)
    for d in range(made.tensor.rank):
        size *= made.tensor.shape[d]
    return size


def _number(op: str, name: str, kind: Any, value: Any) -> Any:
    try:
        if isinstance(value, bool):
            raise TypeError
        made = kind(value if kind is ctypes.c_double else operator.index(value))
    except (TypeError, ValueError, OverflowError):
        wanted = "a number" if kind is ctypes.c_double else "an integer"
        raise TypeError(f"{op}: {name} is {value!r}, expected {wanted}") from None
    if kind is not ctypes.c_double and made.value != value:  # ctypes keeps the low bits
        raise ValueError(f"{op}: {name} is {value}, expected an integer of {8 * ctypes.sizeof(kind)} bits")
    return made


def _values(op: str, function: str, arguments: dict[str, Any], views: dict[str, _arrays.View]) -> list[Any]:
    """The values of the function's arguments."""
    values: list[Any] = []
    for name, kind in FUNCTIONS[function][1].items():
        if name in MEMORY and name in views:
            values.append(_memory(op, name, views[name]))
        elif name in views:
            values.append(ctypes.byref(views[name].tensor))
        elif kind is TensorPointer or kind is Memory or name == "bytes":
            values.append(arguments.get(name))
        else:
            values.append(_number(op, name, kind, arguments[name]))
    return values


def _call(op: str, like: Any, stream: Any, has_query: bool = False, **arguments: Any) -> None:
    """Calls the function hipops_`op`. `arguments` have their names in hipops.h. `stream` is an object or an address. has_query: the
    function of this name with _workspace_bytes gives the size of a workspace, which is allocated here if the caller has none."""
    address = _stream_of(op, stream, like)
    views = _views(op, arguments, address)
    changed = [arguments[name] for name, _, is_changed in _arrays_of(op, *arguments) if is_changed and name in views]
    arguments.update(stream=address, workspace_bytes=_bytes(views["workspace"]) if "workspace" in views else 0)
    function = "hipops_" + op
    own = address or _streams.LEGACY
    others = {v.stream: name for name, v in views.items() if v.stream and v.stream != own}
    with _arrays.on_device(like, next(iter(views.values())).device) or contextlib.nullcontext():
        if has_query and "workspace" not in views:
            arguments["bytes"] = size = ctypes.c_int64()
            check(getattr(LIBRARY, function + "_workspace_bytes")(*_values(op, function + "_workspace_bytes", arguments, views)))
            if size.value:
                memory, at = (None, 256) if isinstance(like, Plan) else _arrays.workspace(like, size.value)
                arguments.update(workspace=at, workspace_bytes=size.value)
                changed.append(memory)
        values = _values(op, function, arguments, views)
        if others:
            LIBRARY.hipops_prepare(op.encode())  # creates a context if the thread has none; the call reports errors
        for other, name in others.items():
            _streams.order(f"{op}: {NAMES.get((op, name), name)}'s", first=other, then=own)
        check(getattr(LIBRARY, function)(*values))
        for other, name in others.items():
            _streams.order(f"{op}: {NAMES.get((op, name), name)}'s", first=own, then=other)
    for array in changed:
        _arrays.written(array)
        if stream is not None:
            _arrays.used_on(array, address)


def _shape(op: str, name: str, array: Any) -> tuple[int, ...]:
    try:
        return tuple(array.shape)
    except Exception:  # arrays of pyarrow have no shape
        made = _view(op, name, array).tensor
        return tuple(made.shape[:made.rank])


def _dim(op: str, dim: int, array: Any, name: str = "x") -> int:
    rank = len(_shape(op, name, array))
    value = int(_number(op, "dim", ctypes.c_int64, dim).value)
    return value + rank if -rank <= value < 0 else value


def _flag(op: str, name: str, value: Any, bit: int) -> int:
    if not isinstance(value, (bool, int)) or value not in (0, 1):
        raise TypeError(f"{op}: {name} is {value!r}, expected a bool")
    return bit if value else 0


def _result(op: str, out: Any, x: Any, shape: Any = None, dtype: str | None = None, name: str = "x") -> Any:
    if out is not None:
        return out
    if isinstance(x, Plan):
        made = x.empty(x.shape if shape is None else shape)
        return made if dtype is None else Plan(x.backend, _arrays.DTYPES[dtype], made.shape, _arrays.contiguous(made.shape))
    _shape(op, name, x)
    try:
        made = _arrays.empty(x, shape, dtype)
    except (TypeError, ValueError, NotImplementedError) as reason:
        _view(op, name, x)
        raise ValueError(f"{op}: out is None, and none of shape {shape} can be made: {reason}") from reason
    if made is None:
        _view(op, name, x)  # raises a better error if x is no array
        raise TypeError(f"{op}: out is None, expected an array for the result: {name} is a {_arrays.type_of(x)}, "
                        "and hipops makes only arrays of NumPy, PyTorch and CuPy")
    return made


BITS = {"round_sum": ROUND_SUM, "weight_plus_one": WEIGHT_PLUS_ONE, "round_before_weight": ROUND_BEFORE_WEIGHT,
        "deterministic": DETERMINISTIC, "up_plus_one": UP_PLUS_ONE, "masked_row_zero": MASKED_ROW_ZERO, "fnuz_240": FNUZ_240,
        "sorted": SORTED, "window_indices": WINDOW_INDICES, "batch_invariant": BATCH_INVARIANT,
        "descending": DESCENDING, "sigmoid": SIGMOID, "renormalize": RENORMALIZE}


def _flags(op: str, **flags: bool) -> int:
    return sum(_flag(op, name, value, BITS[name]) for name, value in flags.items())


def _dtype_of_rows(x: Any) -> str:
    """The dtype of one number of each row."""
    is_f64 = x.tensor.dtype == Dtype.F64 if isinstance(x, Plan) else str(getattr(x, "dtype", "")).endswith("float64")
    return "float64" if is_f64 else "float32"


def _statistic(op: str, is_requested: bool, x: Any) -> Any:
    """Memory for one number of each row, of x's shape with 1 for the last dimension. None if it is not requested."""
    if not is_requested:
        return None
    made = _arrays.empty(x, (*_shape(op, "x", x)[:-1], 1), _dtype_of_rows(x))
    if made is None:
        raise TypeError(f"{op}: statistics is True, expected an x of NumPy, PyTorch or CuPy: it is a {_arrays.type_of(x)}")
    return made


def layer_norm(x: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5, batch_invariant: bool = False, *,
               statistics: bool = False, out: Any = None, stream: Any = None) -> Any:
    """(x - mean(x)) * rstd * weight + bias, with rstd = 1 / sqrt(var(x) + eps), over the last dimension. statistics: returns
    also mean(x) and rstd, in float32, or float64 if x is float64. batch_invariant: the bits of a row do not depend on the
    number of rows."""
    y = _result("layer_norm", out, x)
    mean, rstd = (_statistic("layer_norm", statistics, x) for _ in range(2))
    _call("layer_norm", x, stream, y=y, mean=mean, rstd=rstd, x=x, weight=weight, bias=bias, eps=eps,
          flags=_flags("layer_norm", batch_invariant=batch_invariant))
    return (y, mean, rstd) if statistics else y


def rms_norm(x: Any, weight: Any = None, eps: float = 1e-5, weight_plus_one: bool = False, round_before_weight: bool = False,
             batch_invariant: bool = False, *, statistics: bool = False, out: Any = None, stream: Any = None) -> Any:
    """x * rstd * weight, with rstd = 1 / sqrt(mean(x^2) + eps), over the last dimension. statistics: returns also rstd. weight_plus_one: 1 + weight replaces weight, as in
    Gemma. round_before_weight: the normalized x is rounded to x's dtype, and the product again, as in Llama of transformers."""
    y = _result("rms_norm", out, x)
    flags = _flags("rms_norm", weight_plus_one=weight_plus_one, round_before_weight=round_before_weight,
                   batch_invariant=batch_invariant)
    rstd = _statistic("rms_norm", statistics, x)
    _call("rms_norm", x, stream, y=y, rstd=rstd, x=x, weight=weight, eps=eps, flags=flags)
    return (y, rstd) if statistics else y


def fused_add_rms_norm(x: Any, residual: Any, weight: Any = None, eps: float = 1e-5, round_sum: bool = False,
                       weight_plus_one: bool = False, round_before_weight: bool = False, batch_invariant: bool = False, *,
                       statistics: bool = False, out: Any = None, residual_out: Any = None, stream: Any = None) -> tuple[Any, ...]:
    """The rms_norm of h = x + residual, and h. round_sum: h is first rounded to its dtype. statistics: returns also rstd."""
    y, h = _result("fused_add_rms_norm", out, x), _result("fused_add_rms_norm", residual_out, x)
    flags = _flags("fused_add_rms_norm", round_sum=round_sum, weight_plus_one=weight_plus_one,
                   round_before_weight=round_before_weight, batch_invariant=batch_invariant)
    rstd = _statistic("fused_add_rms_norm", statistics, x)
    _call("fused_add_rms_norm", x, stream, y=y, residual_out=h, rstd=rstd, x=x, residual=residual, weight=weight, eps=eps, flags=flags)
    return (y, h, rstd) if statistics else (y, h)


def fused_add_layer_norm(x: Any, residual: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5, round_sum: bool = False,
                         batch_invariant: bool = False, *, statistics: bool = False, out: Any = None, residual_out: Any = None, stream: Any = None) -> tuple[Any, ...]:
    """The layer_norm of h = x + residual, and h. round_sum: h is first rounded to its dtype. statistics: returns also mean(h)
    and rstd."""
    y, h = _result("fused_add_layer_norm", out, x), _result("fused_add_layer_norm", residual_out, x)
    mean, rstd = (_statistic("fused_add_layer_norm", statistics, x) for _ in range(2))
    flags = _flags("fused_add_layer_norm", round_sum=round_sum, batch_invariant=batch_invariant)
    _call("fused_add_layer_norm", x, stream, y=y, residual_out=h, mean=mean, rstd=rstd, x=x, residual=residual, weight=weight,
          bias=bias, eps=eps, flags=flags)
    return (y, h, mean, rstd) if statistics else (y, h)


def softmax(x: Any, batch_invariant: bool = False, *, out: Any = None, stream: Any = None) -> Any:
    """exp(x - max(x)) / sum(exp(x - max(x))), over the last dimension."""
    y = _result("softmax", out, x)
    _call("softmax", x, stream, y=y, x=x, flags=_flags("softmax", batch_invariant=batch_invariant))
    return y


def _rope(op: str, x: Any, cos: Any, sin: Any, positions: Any, out: Any, stream: Any) -> Any:
    y = _result(op, out, x)
    _call(op, x, stream, y=y, x=x, cos=cos, sin=sin, positions=positions)
    return y


def rope(x: Any, cos: Any, sin: Any, positions: Any = None, *, out: Any = None, stream: Any = None) -> Any:
    """Rotates x [b, h, t, d]; pair k is elements k and k + r/2 (GPT-NeoX, Llama). cos, sin [s, r/2] or [b, s, r/2]."""
    return _rope("rope", x, cos, sin, positions, out, stream)


def rope_i(x: Any, cos: Any, sin: Any, positions: Any = None, *, out: Any = None, stream: Any = None) -> Any:
    """Like rope, but pair k is elements 2k and 2k + 1 (GPT-J)."""
    return _rope("rope_i", x, cos, sin, positions, out, stream)


def rope_thd(x: Any, cos: Any, sin: Any, positions: Any = None, *, out: Any = None, stream: Any = None) -> Any:
    """Like rope, but x is [b, t, h, d]."""
    return _rope("rope_thd", x, cos, sin, positions, out, stream)


def gather(x: Any, dim: int, index: Any, *, out: Any = None, report: Any = None, stream: Any = None) -> Any:
    """y[i, j] = x[index[i, j], j] for dim 0. An index out of range gives 0, and is counted in the report."""
    y = _result("gather", out, x, _shape("gather", "index", index))
    _call("gather", x, stream, y=y, x=x, index=index, dim=_dim("gather", dim, x), report=report)
    return y


def index_select(x: Any, dim: int, index: Any, *, out: Any = None, report: Any = None, stream: Any = None) -> Any:
    """y[i, j] = x[index[i], j] for dim 0. An index out of range gives 0, and is counted in the report."""
    dim = _dim("index_select", dim, x)
    shape, count = list(_shape("index_select", "x", x)), _shape("index_select", "index", index)
    if len(count) == 1 and dim in range(len(shape)):  # otherwise the library reports the error
        shape[dim], = count
    y = _result("index_select", out, x, shape)
    _call("index_select", x, stream, y=y, x=x, index=index, dim=dim, report=report)
    return y


def _dims(op: str, dim: Any, rank: int) -> int:
    """The bits of the dimensions. None: all."""
    if dim is None:
        return (1 << rank) - 1
    dims = [int(_number(op, "dim", ctypes.c_int64, d).value) for d in (dim if isinstance(dim, (list, tuple)) else (dim,))]
    for d in dims:
        if not -max(rank, 1) <= d < max(rank, 1):
            raise ValueError(f"{op}: dim is {d}, expected {-max(rank, 1)} to {max(rank, 1) - 1} (x has {rank} dimensions)")
    return sum({1 << d % rank for d in dims}) if rank else 0


def reduce(x: Any, reduction: str | Reduction, dim: Any = None, keepdim: bool = False, batch_invariant: bool = False, *, out: Any = None,
           workspace: Any = None, stream: Any = None) -> Any:
    """The sum, mean, max, min, logsumexp, argmax or argmin of x over a dimension, several (a tuple) or all. `out` may be of float32
    where x is of 16 bits. argmax and argmin give int64, or an `out` of int32 or uint32."""
    names: dict[Any, Reduction] = {made.name.lower(): made for made in Reduction}
    if not isinstance(reduction, (str, int)) or reduction not in names and reduction not in names.values():
        raise ValueError(f"reduce: reduction is {reduction!r}, expected one of: {', '.join(names)}")
    shape = _shape("reduce", "x", x)
    dims = _dims("reduce", dim, len(shape))
    kept = _flag("reduce", "keepdim", keepdim, 1)
    made = [1 if dims >> d & 1 else size for d, size in enumerate(shape) if kept or not dims >> d & 1]
    of = names.get(reduction, reduction)
    y = _result("reduce", out, x, tuple(made), "int64" if of in (Reduction.ARGMAX, Reduction.ARGMIN) else None)
    flags = _flags("reduce", batch_invariant=batch_invariant)
    _call("reduce", y, stream, True, workspace=workspace, y=y, x=x, reduction=of, dims=dims, flags=flags)
    return y


def rms_norm_backward(dy: Any, x: Any, weight: Any = None, rstd: Any = None, eps: float = 1e-5, weight_plus_one: bool = False,
                      round_before_weight: bool = False, batch_invariant: bool = False, weight_grad: bool = True, *, out: Any = None,
                      dw: Any = None, workspace: Any = None, stream: Any = None) -> tuple[Any, Any]:
    """The gradients of x and of weight, for the gradient dy of rms_norm(x, weight, ...). rstd: of rms_norm with statistics, or
    None. The second result is None without a weight, and if weight_grad is False."""
    flags = _flags("rms_norm_backward", weight_plus_one=weight_plus_one, round_before_weight=round_before_weight,
                   batch_invariant=batch_invariant)
    dx = _result("rms_norm_backward", out, x)
    is_wanted = _flag("rms_norm_backward", "weight_grad", weight_grad, 1) and weight is not None
    dw = _result("rms_norm_backward", dw, weight) if is_wanted else None
    tensors = {"dx": dx, "dw": dw, "dy": dy, "x": x, "weight": weight, "rstd": rstd}
    _call("rms_norm_backward", x, stream, True, workspace=workspace, eps=eps, flags=flags, **tensors)
    return dx, dw


def scatter_(y: Any, dim: int, index: Any, src: Any, deterministic: bool = False, *, workspace: Any = None, report: Any = None,
             stream: Any = None) -> Any:
    """y[index[i, j], j] = src[i, j] for dim 0, in place. deterministic: if an index repeats, y gets its last source."""
    flags = _flags("scatter", deterministic=deterministic)
    _call("scatter", y, stream, True, workspace=workspace, report=report, y=y, dim=_dim("scatter", dim, y, "y"), x=src, index=index, flags=flags)
    return y


def scatter_add_(y: Any, dim: int, index: Any, src: Any, deterministic: bool = False, *, workspace: Any = None,
                 report: Any = None, stream: Any = None) -> Any:
    """y[index[i, j], j] += src[i, j] for dim 0, in place. deterministic: the sources are added in order."""
    flags = _flags("scatter_add", deterministic=deterministic)
    _call("scatter_add", y, stream, True, workspace=workspace, report=report, y=y, dim=_dim("scatter_add", dim, y, "y"), x=src, index=index, flags=flags)
    return y


def index_add_(y: Any, dim: int, index: Any, source: Any, *, workspace: Any = None, report: Any = None, stream: Any = None) -> Any:
    """y[index[i], j] += source[i, j] for dim 0, in place, in order."""
    _call("index_add", y, stream, True, workspace=workspace, report=report, y=y, dim=_dim("index_add", dim, y, "y"), x=source, index=index)
    return y


def _upsample(op: str, x: Any, sizes: tuple[Any, ...], rule: Any, out: Any, stream: Any, **scales: Any) -> Any:
    for size in sizes:
        _number(op, "output_size", ctypes.c_int64, size)
        if size < 0:
            raise ValueError(f"{op}: output_size is {size}, expected 0 or more")
    names: dict[Any, Nearest] = {"pytorch": Nearest.PYTORCH, "candle": Nearest.CANDLE, "exact": Nearest.EXACT}
    if not isinstance(rule, (str, int)) or rule not in names and rule not in names.values():
        raise ValueError(f"{op}: rule is {rule!r}, expected pytorch, candle or exact")
    y = _result(op, out, x, (*_shape(op, "x", x)[:2], *sizes))
    made = _shape(op, "out", y)
    if made[2:] != tuple(sizes):
        raise ValueError(f"{op}: out is {made}, expected {tuple(sizes)} behind its first two sizes (output_size)")
    scales = {name: 0.0 if scale is None else scale for name, scale in scales.items()}
    _call(op, x, stream, y=y, x=x, rule=names.get(rule, rule), **scales)
    return y


def upsample_nearest1d(x: Any, output_size: int, scale: float | None = None, rule: Rule | Nearest = "pytorch", *, out: Any = None,
                       stream: Any = None) -> Any:
    """x [n, c, l] to [n, c, output_size]."""
    return _upsample("upsample_nearest1d", x, (output_size,), rule, out, stream, scale=scale)


def upsample_nearest2d(x: Any, output_size: tuple[int, int], scale_h: float | None = None, scale_w: float | None = None,
                       rule: Rule | Nearest = "pytorch", *, out: Any = None, stream: Any = None) -> Any:
    """x [n, c, h, w] to [n, c, *output_size]."""
    if not isinstance(output_size, (tuple, list)) or len(output_size) != 2:
        raise TypeError(f"upsample_nearest2d: output_size is {output_size!r}, expected two integers")
    return _upsample("upsample_nearest2d", x, tuple(output_size), rule, out, stream, scale_h=scale_h, scale_w=scale_w)


KINDS: dict[Any, ActivationKind] = {each.name.lower(): each for each in ActivationKind}


def _kind(op: str, kind: Any) -> Any:
    if not isinstance(kind, (str, int)) or kind not in KINDS and kind not in KINDS.values():
        raise ValueError(f"{op}: kind is {kind!r}, expected one of: {', '.join(KINDS)}")
    return KINDS.get(kind, kind)


def activation(x: Any, kind: str | ActivationKind, alpha: float = 1.0, *, out: Any = None, stream: Any = None) -> Any:
    """act(x), element by element. alpha is the slope of leaky_relu, the factor of swish and elu."""
    y = _result("activation", out, x)
    _call("activation", x, stream, y=y, x=x, kind=_kind("activation", kind), alpha=alpha)
    return y


def activation_and_mul(x: Any, up: Any, kind: str | ActivationKind = "silu", limit: float = 0.0, alpha: float = 1.0,
                       up_plus_one: bool = False, *, out: Any = None, stream: Any = None) -> Any:
    """act(x) * up: the gated activation of an MLP. A limit > 0 clamps x from above, and up on both sides. up_plus_one: 1 + up
    replaces up."""
    y = _result("activation_and_mul", out, x)
    flags = _flags("activation_and_mul", up_plus_one=up_plus_one)
    _call("activation_and_mul", x, stream, y=y, x=x, up=up, kind=_kind("activation_and_mul", kind), limit=limit, alpha=alpha,
          flags=flags)
    return y


def log_softmax(x: Any, batch_invariant: bool = False, *, out: Any = None, stream: Any = None) -> Any:
    """y = x - max(x) - log(sum(exp(x - max(x)))). A row that is all -inf, or that holds a NaN or +inf, gives NaN."""
    y = _result("log_softmax", out, x)
    _call("log_softmax", x, stream, y=y, x=x, flags=_flags("log_softmax", batch_invariant=batch_invariant))
    return y


def _as_bytes(mask: Any) -> Any:
    """A mask of bool as uint8. Others as they are."""
    if not str(getattr(mask, "dtype", "")).endswith("bool"):
        return mask
    return mask.view(sys.modules["torch"].uint8 if _arrays.is_torch(mask) else "uint8")


def softmax_ext(x: Any, mask: Any = None, alibi_slopes: Any = None, sinks: Any = None, scale: float = 1.0,
                masked_row_zero: bool = False, batch_invariant: bool = False, *, out: Any = None, stream: Any = None) -> Any:
    """softmax(x * scale + alibi_slopes * mask) over the last dimension. A sink is one more element of a row's sum, without a
    result. mask broadcasts to x's shape, the others to that with 1 for the last dimension: for x of [batch, heads, queries, keys]
    they may have shape [heads, 1, 1]. mask: float32, x's dtype, or bool. False and -inf mask an element. masked_row_zero: a row with no other elements gives 0, not NaN."""
    y = _result("softmax_ext", out, x)
    flags = _flags("softmax_ext", masked_row_zero=masked_row_zero, batch_invariant=batch_invariant)
    _call("softmax_ext", x, stream, y=y, x=x, mask=_as_bytes(mask), alibi_slopes=alibi_slopes, sinks=sinks, scale=scale, flags=flags)
    return y


def _dtype_name(dtype: Any) -> str:
    """The name of a dtype of PyTorch or NumPy, or of the name itself."""
    if isinstance(dtype, str):
        return dtype
    return str(getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype).rpartition(".")[2])


def _quantized(op: str, out: Any, x: Any, dtype: Any) -> Any:
    name = _dtype_name(dtype)
    if out is None and name not in QUANTIZED:
        raise ValueError(f"{op}: dtype is {name}, expected one of: {', '.join(QUANTIZED)}")
    return _result(op, out, x, None if out is not None else _shape(op, "x", x), name)


def _repeated(array: Any, shape: tuple[int, ...]) -> Any:
    """A view of the array with the shape, as broadcasting makes it. The array itself if it cannot be broadcast: the library refuses it."""
    try:
        if isinstance(array, Plan):
            kept = array.tensor.stride[:array.tensor.rank]
            steps = [0 if n == 1 else s for n, s in zip(array.shape, kept)]
            fits = len(steps) <= len(shape) and all(n in (1, m) for n, m in zip(array.shape[::-1], shape[::-1]))
            return Plan(array.backend, array.tensor.dtype, shape, [0] * (len(shape) - len(steps)) + steps) if fits else array
        if _arrays.is_torch(array):
            return array.expand(shape)
        if _arrays.is_numpy(array):
            return sys.modules["numpy"].broadcast_to(array, shape)
    except (RuntimeError, ValueError):
        pass
    return array


def static_quantize(x: Any, scale: Any, dtype: Any = "float8_e4m3fn", *, out: Any = None, stream: Any = None) -> Any:
    """x / scale, rounded to int8 or an 8-bit float, with saturation. scale is broadcast to x's shape. For a scale for each group of
    columns, view x as [rows, groups, columns of a group]."""
    q = _quantized("static_quantize", out, x, dtype)
    _call("static_quantize", x, stream, q=q, x=x, scale=_repeated(scale, _shape("static_quantize", "x", x)))
    return q


def dynamic_quantize(x: Any, dtype: Any = "float8_e4m3fn", group: int = 0, scale_ub: Any = None, fnuz_240: bool = False,
                     batch_invariant: bool = False, *, out: Any = None, scale: Any = None, workspace: Any = None,
                     stream: Any = None) -> tuple[Any, Any]:
    """x / scale, rounded to int8 or an 8-bit float, and the scale of each row, of each `group` columns of it, or with group -1 of x:
    max(abs(x)) divided by 448, 224 (float8_e4m3fnuz; fnuz_240: 240), 57344 or 127. `scale` is memory for the scales, of float32, with
    the last size 1 or the number of groups, or for one number. batch_invariant has no effect: the bits of a row never depend on the
    number of rows."""
    q = _quantized("dynamic_quantize", out, x, dtype)
    shape = _shape("dynamic_quantize", "x", x)
    of_group = int(_number("dynamic_quantize", "group", ctypes.c_int64, group).value)
    is_whole = of_group == WHOLE_TENSOR
    scales = () if is_whole or not shape else (*shape[:-1], shape[-1] // of_group if of_group > 0 else 1)
    scale = _result("dynamic_quantize", scale, x, scales, "float32")
    arguments = {"q": q, "scale": scale, "x": x, "scale_ub": scale_ub, "group": of_group,
                 "flags": _flags("dynamic_quantize", fnuz_240=fnuz_240, batch_invariant=batch_invariant)}
    _call("dynamic_quantize", x, stream, is_whole, workspace=workspace, **arguments)
    return q, scale


def topk(x: Any, k: int, largest: bool = True, sorted: bool = True, lengths: Any = None, row_begin: Any = None,
         window_indices: bool = False, batch_invariant: bool = False, *, out: Any = None, indices: Any = None, workspace: Any = None,
         stream: Any = None) -> tuple[Any, Any]:
    """The k greatest or least elements of each row, and their columns as int64; equal elements in the order of columns, all without
    `sorted`. A row's elements are the `lengths` columns from row_begin on; window_indices count from there. Missing elements are
    -inf (inf for the least) and -1. `indices` is memory for the columns, of int64, int32 or uint32. batch_invariant has no effect."""
    of_k = int(_number("topk", "k", ctypes.c_int64, k).value)
    shape = list(_shape("topk", "x", x))
    shape[-1:] = [min([max(of_k, 0), *shape[-1:]])]  # the library refuses any other k
    values = _result("topk", out, x, shape)
    indices = _result("topk", indices, x, shape, "int64")
    flags = _flags("topk", sorted=sorted, window_indices=window_indices, batch_invariant=batch_invariant)
    flags |= 0 if _flag("topk", "largest", largest, 1) else SMALLEST
    _call("topk", x, stream, True, workspace=workspace, values=values, indices=indices, x=x, lengths=lengths, row_begin=row_begin, k=of_k,
                    flags=flags)
    return values, indices


def cumsum(x: Any, dim: int, *, out: Any = None, workspace: Any = None, stream: Any = None) -> Any:
    """The sums of x from the beginning of dim on. If x has integers, `out` may be of int64. It may be x itself."""
    y = _result("cumsum", out, x)
    _call("cumsum", y, stream, True, workspace=workspace, y=y, x=x, dim=_dim("cumsum", dim, x))
    return y


def sort(x: Any, descending: bool = False, values: bool = True, *, out: Any = None, indices: Any = None, workspace: Any = None,
         stream: Any = None) -> tuple[Any, Any]:
    """Each row in order, and its columns as int64. The sort is stable, and a NaN is greater than all numbers. `indices` is memory
    for the columns, of int64, int32 or uint32. If values is False, the first result is None, and `out` stays as it is: an
    argsort."""
    made = _result("sort", out, x) if _flag("sort", "values", values, 1) else None
    indices = _result("sort", indices, x, _shape("sort", "x", x), "int64")
    flags = _flags("sort", descending=descending)
    _call("sort", x, stream, True, workspace=workspace, values=made, indices=indices, x=x, flags=flags)
    return made, indices


def topk_softmax(x: Any, k: int, renormalize: bool = True, sigmoid: bool = False, bias: Any = None, groups: int = 0, topk_groups: int = 0,
                 scale: float = 1.0, batch_invariant: bool = False, *, out: Any = None, ids: Any = None, token_expert: Any = None,
                 stream: Any = None) -> tuple[Any, Any]:
    """The weights, in float32, and the ids of each token's k best experts, of logits x of shape (tokens, experts). Scores are
    softmax(x) or sigmoid(x). The bias decides the choice, but not the weights. With groups, experts are of the topk_groups best
    groups. `ids` is memory of int32 (the default), uint32 or int64, and `token_expert` for i * tokens + t. batch_invariant has no
    effect."""
    of_k = int(_number("topk_softmax", "k", ctypes.c_int64, k).value)
    shape = list(_shape("topk_softmax", "x", x))
    shape[-1:] = [min([max(of_k, 0), *shape[-1:]])]  # the library refuses any other k
    weights, ids = _result("topk_softmax", out, x, shape, "float32"), _result("topk_softmax", ids, x, shape, "int32")
    flags = _flags("topk_softmax", sigmoid=sigmoid, renormalize=renormalize, batch_invariant=batch_invariant)
    _call("topk_softmax", x, stream, weights=weights, ids=ids, token_expert=token_expert, x=x, bias=bias, k=of_k, groups=groups,
          topk_groups=topk_groups, scale=scale, flags=flags)
    return weights, ids


def moe_align_block_size(x: Any, experts: int, block_size: int, expert_map: Any = None, *, out: Any = None, expert_ids: Any = None,
                         count: Any = None, stream: Any = None) -> tuple[Any, Any, Any]:
    """The positions of x in the order of their experts, each expert padded to a multiple of block_size by x.size; the expert of each
    block; and the padded number of positions, as an array of one element. All are int32. x: ids, of shape (tokens, k). expert_map:
    experts' numbers on this device, negative for experts elsewhere, which are left out."""
    op = "moe_align_block_size"
    of_experts, size = (int(_number(op, name, ctypes.c_int64, value).value) for name, value in (("experts", experts), ("block_size", block_size)))
    total = math.prod(_shape(op, "x", x))
    places = total + min(total, max(of_experts, 0), 1024) * min(max(size - 1, 0), 65535)  # the library refuses other numbers
    sorted_ids = _result(op, out, x, (places,), "int32")
    expert_ids = _result(op, expert_ids, x, (-(-places // max(size, 1)),), "int32")
    count = _result(op, count, x, (1,), "int32")
    _call(op, x, stream, sorted_ids=sorted_ids, expert_ids=expert_ids, count=count, x=x, expert_map=expert_map, experts=of_experts,
          block_size=size)
    return sorted_ids, expert_ids, count


def softmax_backward(dy: Any, y: Any, scale: float = 1.0, batch_invariant: bool = False, *, out: Any = None, stream: Any = None) -> Any:
    """The gradient of x, for the gradient dy of y = softmax(x), or of y = softmax_ext(x, scale=scale, ...)."""
    dx = _result("softmax_backward", out, y, name="y")
    flags = _flags("softmax_backward", batch_invariant=batch_invariant)
    _call("softmax_backward", y, stream, dx=dx, dy=dy, y=y, scale=scale, flags=flags)
    return dx


def log_softmax_backward(dy: Any, y: Any, batch_invariant: bool = False, *, out: Any = None, stream: Any = None) -> Any:
    """The gradient of x, for the gradient dy of y = log_softmax(x)."""
    dx = _result("log_softmax_backward", out, y, name="y")
    flags = _flags("log_softmax_backward", batch_invariant=batch_invariant)
    _call("log_softmax_backward", y, stream, dx=dx, dy=dy, y=y, flags=flags)
    return dx


def layer_norm_backward(dy: Any, x: Any, weight: Any = None, mean: Any = None, rstd: Any = None, eps: float = 1e-5,
                        batch_invariant: bool = False, weight_grad: bool = True, bias_grad: bool = True, *, out: Any = None, dw: Any = None,
                        db: Any = None, workspace: Any = None, stream: Any = None) -> tuple[Any, Any, Any]:
    """The gradients of x, weight and bias, for the gradient dy of layer_norm(x, weight, bias). mean, rstd: of layer_norm with
    statistics, or None. The second result is None without a weight, and if weight_grad is False; the third if bias_grad is False. db is
    like the weight, or like a row of x without one."""
    flags = _flags("layer_norm_backward", batch_invariant=batch_invariant)
    dx = _result("layer_norm_backward", out, x)
    is_wanted = _flag("layer_norm_backward", "weight_grad", weight_grad, 1) and weight is not None
    dw = _result("layer_norm_backward", dw, weight) if is_wanted else None
    shape = _shape("layer_norm_backward", "x", x)[-1:]
    is_wanted = _flag("layer_norm_backward", "bias_grad", bias_grad, 1)
    db = (_result("layer_norm_backward", db, x, shape) if weight is None else _result("layer_norm_backward", db, weight)) if is_wanted else None
    _call("layer_norm_backward", x, stream, True, workspace=workspace, dx=dx, dw=dw, db=db, dy=dy, x=x, weight=weight, mean=mean, rstd=rstd,
                    eps=eps, flags=flags)
    return dx, dw, db


def cross_entropy(x: Any, target: Any, ignore_index: int = -100, label_smoothing: float = 0.0, z_loss: float = 0.0,
                  batch_invariant: bool = False, gradient: bool = False, *, dloss: Any = None, out: Any = None, lse: Any = None, dx: Any = None,
                  report: Any = None, stream: Any = None) -> tuple[Any, Any, Any]:
    """The loss of each row of logits x for its target, log(sum(exp(x))) of each row, and, with `gradient` or a dx, the gradient of x,
    otherwise None. `out` is memory for the losses, and dx, which may be x, for the gradient. dloss: the gradient of each loss, a factor of dx. target is of int32 or int64. A row whose target is ignore_index or out of range is left out: its loss and its dx are 0."""
    flags, rows = _flags("cross_entropy", batch_invariant=batch_invariant), _shape("cross_entropy", "target", target)
    loss, lse = (_result("cross_entropy", made, x, rows, _dtype_of_rows(x)) for made in (out, lse))
    dx = _result("cross_entropy", dx, x) if _flag("cross_entropy", "gradient", gradient, 1) or dx is not None else None
    _call("cross_entropy", x, stream, loss=loss, lse=lse, dx=dx, x=x, target=target, dloss=dloss, ignore_index=ignore_index,
          label_smoothing=label_smoothing, z_loss=z_loss, flags=flags, report=report)
    return loss, lse, dx


def sample(x: Any, uniform: Any, temperature: Any = None, top_k: Any = None, top_p: Any = None, min_p: Any = None, *, out: Any = None,
           stream: Any = None) -> Any:
    """A token of each row of logits x, of shape (rows, vocabulary), in int32. The other arrays have one number for each row:
    uniform, temperature, top_p and min_p of float32, top_k of int32 or int64. `out` is memory of int32 or int64."""
    tokens = _result("sample", out, x, _shape("sample", "x", x)[:-1], "int32")
    _call("sample", x, stream, tokens=tokens, x=x, uniform=uniform, temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p)
    return tokens


def apply_penalties(x: Any, prompt: Any = None, counts: Any = None, repetition: Any = None, frequency: Any = None, presence: Any = None, *,
                    out: Any = None, stream: Any = None) -> Any:
    """Logits x, of shape (rows, vocabulary), lowered for tokens that occur in prompt (bool or uint8) or in the output, counts times
    (int32). x > 0 is divided by repetition, and x <= 0 is multiplied. For tokens of the output, frequency * counts and presence are
    subtracted. These three have one float32 number for each row. out=x: in place."""
    y = _result("apply_penalties", out, x)
    _call("apply_penalties", x, stream, y=y, x=x, prompt=_as_bytes(prompt), counts=counts, repetition=repetition, frequency=frequency,
          presence=presence)
    return y


def activation_backward(dy: Any, x: Any, kind: str | ActivationKind, alpha: float = 1.0, *, out: Any = None, stream: Any = None) -> Any:
    """The gradient of x, for the gradient dy of activation(x, kind, alpha)."""
    dx = _result("activation_backward", out, x)
    _call("activation_backward", x, stream, dx=dx, dy=dy, x=x, kind=_kind("activation_backward", kind), alpha=alpha)
    return dx


def activation_and_mul_backward(dy: Any, x: Any, up: Any, kind: str | ActivationKind = "silu", limit: float = 0.0, alpha: float = 1.0,
                                up_plus_one: bool = False, *, out: Any = None, dup: Any = None, stream: Any = None) -> tuple[Any, Any]:
    """The gradients of x and up, for the gradient dy of activation_and_mul(x, up, ...)."""
    op = "activation_and_mul_backward"
    dx, dup = _result(op, out, x), _result(op, dup, up, name="up")
    _call(op, x, stream, dx=dx, dup=dup, dy=dy, x=x, up=up, kind=_kind(op, kind), limit=limit, alpha=alpha,
          flags=_flags(op, up_plus_one=up_plus_one))
    return dx, dup


def strided_copy(x: Any, *, out: Any = None, stream: Any = None) -> Any:
    """A copy of x. Without `out` the copy is contiguous."""
    y = _result("strided_copy", out, x, _shape("strided_copy", "x", x))
    _call("strided_copy", x, stream, y=y, x=x)
    return y


