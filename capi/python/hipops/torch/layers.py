"""Modules and functions of hipops for your own model and for the package `kernels`. hipops.torch.patch uses them too.

They compute by PyTorch if hipops' ops cannot act: if a tangent is required, or a gradient that the op does not have; under torch.compile,
a tracer or autocast; and for sharded tensors or tensors on another device.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import torch
from torch.autograd import forward_ad

from .._abi import Backend
from .._library import LIBRARY
from ._backward import BACKWARD

__all__ = ["FusedAddRMSNorm", "LayerNorm", "RMSNorm", "apply_rotary_pos_emb", "apply_rotary_pos_emb_interleaved", "kernel_mapping"]

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
BACKENDS = {"cpu": (Backend.AUTO, Backend.CPU), "cuda": (Backend.AUTO, Backend.CUDA, Backend.HIP)}
PLAIN = (torch.Tensor, torch.nn.Parameter)


IN_USE: set[str] = set()  # device types of the backend in use; a process never changes its backend


def has_backend(device_type: str) -> bool:
    """Whether the backend in use, or the backend that the first op would choose, is for this type of device."""
    if device_type in IN_USE:
        return True
    backend = LIBRARY.hipops_backend_in_use()
    if backend not in BACKENDS.get(device_type, ()):
        return False
    if backend != Backend.AUTO:
        IN_USE.add(device_type)
    return True


def acts_on(op: str, x: Any, *others: Any) -> bool:
    """Whether the op can replace PyTorch's functions for these tensors. Any but x may be None. torch.compile fuses PyTorch's
    functions with their neighbours, so the answer is no there."""
    if (torch.compiler.is_compiling() or torch.jit.is_tracing() or forward_ad._current_level >= 0
            or torch._C._functorch.peek_interpreter_stack() is not None):
        return False
    device = x.device
    if type(x) not in PLAIN or x.dtype not in DTYPES or not has_backend(device.type):
        return False
    if torch.is_autocast_enabled(device.type):  # autocast changes the dtypes of PyTorch's functions
        return False
    lacks_gradients = op not in BACKWARD and torch.is_grad_enabled()
    for tensor in (x, *others):
        if tensor is not None and (type(tensor) not in PLAIN or tensor.device != device or (lacks_gradients and tensor.requires_grad)):
            return False
    return True


def is_in_order(x: torch.Tensor) -> bool:
    """Whether PyTorch's elementwise ops give a contiguous result for x."""
    if x.is_contiguous():
        return True
    strides = [stride for size, stride in zip(x.shape, x.stride()) if size != 1]
    return all(outer >= inner > 0 for outer, inner in zip(strides, strides[1:]))


def norm_acts_on(op: str, x: Any, *weights: Any) -> bool:
    """acts_on, for a norm of x's last dimension."""
    dtype, shape = x.dtype, x.shape[-1:]
    for weight in weights:
        if weight is not None and (weight.dtype != dtype or weight.shape != shape):
            return False
    return acts_on(op, x, *weights) and x.dim() > 0


def add_acts_on(op: str, x: Any, residual: Any) -> bool:
    """acts_on, for x + residual."""
    return acts_on(op, x, residual) and (x.dtype, x.shape) == (residual.dtype, residual.shape)


def _fits(norm: Any, op: str, x: torch.Tensor, *weights: Any) -> bool:
    """norm_acts_on, for a module of torch.nn: of one dimension and with an eps."""
    return x.shape[-1:] == norm.normalized_shape and norm.eps is not None and norm_acts_on(op, x, *weights)


class RMSNorm(torch.nn.RMSNorm):
    """torch.nn.RMSNorm; by hipops if it is of one dimension and has an eps."""

    def forward(self, x: torch.Tensor) -> Any:
        return torch.ops.hipops.rms_norm(x, self.weight, self.eps) if _fits(self, "rms_norm", x, self.weight) else super().forward(x)


class FusedAddRMSNorm(RMSNorm):
    """The norm of x + residual, and that sum."""

    def forward(self, x: torch.Tensor, residual: torch.Tensor) -> Any:  # type: ignore[override]
        op = "fused_add_rms_norm"
        if not _fits(self, op, x, self.weight) or not add_acts_on(op, x, residual):
            total = x + residual
            return super().forward(total), total
        return torch.ops.hipops.fused_add_rms_norm(residual, x, self.weight, self.eps, True)  # its sum has the strides of x + residual


class LayerNorm(torch.nn.LayerNorm):
    """torch.nn.LayerNorm; by hipops if it is of one dimension."""

    def forward(self, x: torch.Tensor) -> Any:
        weights = self.weight, self.bias
        return torch.ops.hipops.layer_norm(x, *weights, self.eps) if _fits(self, "layer_norm", x, *weights) else super().forward(x)


def single(table: torch.Tensor, kind: str) -> torch.Tensor:
    """The part of a table that has each angle once. Its kind: two equal "halves", "pairs" of equal neighbours, or "whole": once already."""
    return table[..., :table.shape[-1] // 2] if kind == "halves" else table[..., ::2] if kind == "pairs" else table


def double(table: torch.Tensor, kind: str) -> torch.Tensor:
    """The inverse of single: makes a table of the kind from one that has each angle once."""
    return torch.cat((table, table), -1) if kind == "halves" else table.repeat_interleave(2, -1) if kind == "pairs" else table


def mark(table: torch.Tensor, kinds: Any) -> Any:
    """The mark of a table with its kinds. A change in place makes the mark false, unless the table is an inference tensor."""
    return kinds, None if table.is_inference() else table._version


def kinds_of(table: Any) -> Any:
    """The kinds of a table by its mark, if the mark is still true."""
    marked = getattr(table, "_hipops", None)
    return marked[0] if marked and marked == mark(table, marked[0]) else ()


def rotated(op: str, kind: str, rows: Any, cos: torch.Tensor, sin: torch.Tensor, heads_at: int) -> Any:
    """Rotates each tensor of rows by op, rope or rope_i. Returns None if the op cannot act. The tensors are [b, h, t, d], or [b, t, h, d]
    if heads_at is 2. The tables are [b, t, r], [1, t, r] or [t, r], of a kind (see single)."""
    x, call = rows[0], getattr(torch.ops.hipops, op)
    if not acts_on(op, *rows, cos, sin) or (torch.is_grad_enabled() and (cos.requires_grad or sin.requires_grad)):
        return None
    if rows[-1].dtype != x.dtype or cos.shape != sin.shape or cos.dtype != sin.dtype:
        return None
    if x.dim() != 4 or cos.dim() not in (2, 3) or cos.shape[:-2] not in ((), (1,), x.shape[:1]) or cos.shape[-2] != x.shape[3 - heads_at]:
        return None
    cos, sin = (single(table[0] if table.dim() == 3 and len(table) != len(x) else table, kind) for table in (cos, sin))
    return tuple(call(x, cos, sin) if heads_at == 1 else call(x.transpose(1, 2), cos, sin).transpose(1, 2) for x in rows)


def _rotary(op: str, q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, heads_at: int, otherwise: Any = None) -> Any:
    """Rotates q and k by tables of their dtype and their d that have each angle twice. Without hipops: by `otherwise`, or by PyTorch."""
    is_whole, kind = (cos.dim(), cos.dtype, cos.shape[-1]) == (3, q.dtype, q.shape[-1]), "halves" if op == "rope" else "pairs"
    result = rotated(op, kind, (q, k), cos, sin, heads_at) if is_whole else None
    if result or otherwise:
        return result or otherwise(q, k, cos, sin, heads_at)
    cos, sin = (single(table, kind).unsqueeze(heads_at) for table in (cos, sin))
    pairs = [x.chunk(2, -1) if op == "rope" else (x[..., ::2], x[..., 1::2]) for x in (q, k)]
    turned = [(first * cos - second * sin, first * sin + second * cos) for first, second in pairs]
    return tuple(torch.cat(pair, -1) if op == "rope" else torch.stack(pair, -1).flatten(-2) for pair in turned)


def apply_rotary_pos_emb(q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, unsqueeze_dim: int = 1) -> Any:
    """Rotates q and k [b, h, t, d]; if unsqueeze_dim is 2, [b, t, h, d]. Pair i is elements i and i + d/2. The halves of cos and of sin
    [b, t, d] are equal, as Llama's are."""
    return _rotary("rope", q, k, cos, sin, unsqueeze_dim)


def apply_rotary_pos_emb_interleaved(q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, unsqueeze_dim: int = 1) -> Any:
    """Like apply_rotary_pos_emb, but pair i is elements 2i and 2i + 1. These neighbours are equal in cos and in sin, like Cohere's."""
    return _rotary("rope_i", q, k, cos, sin, unsqueeze_dim)


# `kernels` binds these classes' functions to modules of a model, so type(self).forward is the model's own.

class _KernelRMSNorm(torch.nn.Module):
    can_torch_compile = True

    def forward(self, hidden_states: torch.Tensor) -> Any:
        if not norm_acts_on("rms_norm", hidden_states, self.weight):
            return type(self).forward(self, hidden_states)
        eps: Any = getattr(self, "variance_epsilon", None) or self.eps
        return torch.ops.hipops.rms_norm(hidden_states, self.weight, eps, False, True)


class _KernelRotary(torch.nn.Module):
    can_torch_compile = True

    def forward(self, q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, unsqueeze_dim: int = 1) -> Any:
        return _rotary("rope", q, k, cos, sin, unsqueeze_dim, functools.partial(type(self).forward, self))


class _Repository(NamedTuple):
    layer: type

    def load(self) -> type:
        return self.layer


def kernel_mapping() -> dict[str, Any]:
    """The mapping for kernels.use_kernel_mapping, for the layers that transformers' Llama names RMSNorm and rotary_pos_emb."""
    kernels = {"RMSNorm": _KernelRMSNorm, "rotary_pos_emb": _KernelRotary}
    return {name: dict.fromkeys(("cpu", "cuda", "rocm"), _Repository(kernel)) for name, kernel in kernels.items()}
