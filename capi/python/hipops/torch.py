"""hipops in PyTorch: torch.ops.hipops.rms_norm and the others, which torch.compile traces through, and patch(model).

    import hipops.torch
    y = torch.ops.hipops.rms_norm(x, weight, 1e-5)

They launch on the current stream, and read views as they are. None has a backward pass: they say so when a gradient is asked
for. Bad arguments are a RuntimeError (hipops.Error is one), a ValueError or a TypeError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from . import _ops
from ._library import LIBRARY
from ._patch import Replaced, patch, unpatch

__all__ = ["Replaced", "patch", "unpatch"]

_LIBRARY = torch.library.Library("hipops", "DEF")
# Those whose kernels torch_ops.cpp has: where this PyTorch does without its C functions, they are Python's as the others are.
_NATIVE = ("layer_norm", "rms_norm", "fused_add_rms_norm", "softmax", "rope", "rope_i", "rope_thd")
_IN_PYTHON: dict[str, Callable[..., Any]] = {}


_WITHOUT_BACKWARD = "torch.ops.hipops.{} has no backward pass: call it under torch.inference_mode() or no_grad(), or on x.detach()"


def _no_gradient(name: str) -> Callable[..., Any]:
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise NotImplementedError(_WITHOUT_BACKWARD.format(name))
    return backward


def _define(name: str, arguments: str, returns: str, run: Callable[..., Any], fake: Callable[..., Any]) -> None:
    _LIBRARY.define(f"{name}({arguments}) -> {returns}", tags=(torch.Tag.pt2_compliant_tag,))
    _IN_PYTHON[name] = run

    def on_one_device(x: torch.Tensor, *given: Any, **named: Any) -> Any:  # a meta tensor among others comes here, too
        for other in (*given, *named.values()):
            if isinstance(other, torch.Tensor) and other.device != x.device:
                raise ValueError(f"{name}: a tensor is on {other.device}, expected {x.device} (the first one's)")
        return fake(x, *given, **named)

    torch.library.register_fake(f"hipops::{name}", on_one_device, lib=_LIBRARY)
    if returns != "()":
        torch.library.register_autograd(f"hipops::{name}", _no_gradient(name), lib=_LIBRARY)


def _define_in_place(name: str, arguments: str, run: Callable[..., Any]) -> None:
    def run_it(*given: Any, **named: Any) -> None:
        run(*given, **named)

    _define(name, "Tensor(a!) y, int dim, Tensor index, " + arguments, "()", run_it, lambda y, *given, **named: None)
    op = getattr(torch.ops.hipops, name).default

    def autograd(keyset: Any, *given: Any, **named: Any) -> Any:
        tensors = (a for a in (*given, *named.values()) if isinstance(a, torch.Tensor))
        if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
            raise NotImplementedError(_WITHOUT_BACKWARD.format(name))
        with torch._C._AutoDispatchBelowAutograd():
            return op.redispatch(keyset & torch._C._after_autograd_keyset, *given, **named)

    def in_place(keyset: Any, y: torch.Tensor, *given: Any, **named: Any) -> Any:
        torch.autograd.graph.increment_version(y)
        with torch._C._AutoDispatchBelowADInplaceOrView():
            return op.redispatch(keyset & torch._C._after_ADInplaceOrView_keyset, y, *given, **named)

    _LIBRARY.impl(name, autograd, "Autograd", with_keyset=True)
    _LIBRARY.impl(name, in_place, "ADInplaceOrView", with_keyset=True)


_FLAGS = "bool weight_plus_one=False, bool round_before_weight=False"
_define("layer_norm", "Tensor x, Tensor? weight=None, Tensor? bias=None, float eps=1e-05", "Tensor", _ops.layer_norm,
        lambda x, *rest: torch.empty_like(x))
_define("rms_norm", f"Tensor x, Tensor? weight=None, float eps=1e-05, {_FLAGS}", "Tensor", _ops.rms_norm,
        lambda x, *rest: torch.empty_like(x))
_define("fused_add_rms_norm", f"Tensor x, Tensor residual, Tensor? weight=None, float eps=1e-05, bool round_sum=False, {_FLAGS}",
        "(Tensor, Tensor)", _ops.fused_add_rms_norm, lambda x, *rest: (torch.empty_like(x), torch.empty_like(x)))
_define("softmax", "Tensor x", "Tensor", _ops.softmax, torch.empty_like)
for _name in ("rope", "rope_i", "rope_thd"):
    _define(_name, "Tensor x, Tensor cos, Tensor sin, Tensor? positions=None", "Tensor", getattr(_ops, _name),
            lambda x, *rest: torch.empty_like(x))
_define("gather", "Tensor x, int dim, Tensor index", "Tensor", _ops.gather, lambda x, dim, index: x.new_empty(index.shape))
_define("index_select", "Tensor x, int dim, Tensor index", "Tensor", _ops.index_select,
        lambda x, dim, index: x.new_empty([*x.shape[:dim % x.dim()], *index.shape, *x.shape[dim % x.dim() + 1:]]))
_define_in_place("scatter_", "Tensor src, bool deterministic=False", _ops.scatter_)
_define_in_place("scatter_add_", "Tensor src, bool deterministic=False", _ops.scatter_add_)
_define_in_place("index_add_", "Tensor source", _ops.index_add_)
_define("upsample_nearest1d", 'Tensor x, SymInt output_size, float? scale=None, str rule="pytorch"', "Tensor", _ops.upsample_nearest1d,
        lambda x, output_size, *rest: x.new_empty([*x.shape[:2], output_size]))
_define("upsample_nearest2d",
        'Tensor x, SymInt[2] output_size, float? scale_h=None, float? scale_w=None, str rule="pytorch"', "Tensor",
        _ops.upsample_nearest2d, lambda x, output_size, *rest: x.new_empty([*x.shape[:2], *output_size]))
_define("strided_copy", "Tensor x", "Tensor", _ops.strided_copy, lambda x: x.new_empty(x.shape))

_is_native = hasattr(LIBRARY, "hipops_torch_register") and bool(LIBRARY.hipops_torch_register())
for _name, _run in _IN_PYTHON.items():
    if not (_is_native and _name in _NATIVE):
        for _device in ("CPU", "CUDA"):  # PyTorch for ROCm calls its devices so, too
            _LIBRARY.impl(_name, _run, _device)
