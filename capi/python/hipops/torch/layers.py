"""Plain modules and functions of hipops, for a model of one's own and for the package `kernels`; hipops.torch.patch uses them, too.

Where hipops' ops cannot act (a gradient or a tangent is wanted, torch.compile or a tracer looks on, a tensor is sharded or
elsewhere), they compute by PyTorch.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import torch
from torch.autograd import forward_ad

from .._abi import Backend
from .._library import LIBRARY

__all__ = ["FusedAddRMSNorm", "LayerNorm", "RMSNorm", "apply_rotary_pos_emb", "apply_rotary_pos_emb_interleaved", "kernel_mapping"]

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
BACKENDS = {"cpu": (Backend.AUTO, Backend.CPU), "cuda": (Backend.AUTO, Backend.CUDA, Backend.HIP)}
PLAIN = (torch.Tensor, torch.nn.Parameter)


def acts_on(x: Any, *others: Any) -> bool:
    """Whether hipops' op may stand for a function of these tensors, where None is one that is not given. torch.compile fuses a
    norm or a rotation with what is beside it, so it gets PyTorch's."""
    if torch.compiler.is_compiling() or torch.jit.is_tracing():
        return False
    if forward_ad._current_level >= 0 or torch._C._functorch.peek_interpreter_stack() is not None:
        return False
    if type(x) not in PLAIN or x.dtype not in DTYPES or LIBRARY.hipops_backend_in_use() not in BACKENDS.get(x.device.type, ()):
        return False
    has_gradients = torch.is_grad_enabled()
    for t in (x, *others):
        if t is not None and (type(t) not in PLAIN or t.device != x.device or (has_gradients and t.requires_grad)):
            return False
    return True


def is_in_order(x: torch.Tensor) -> bool:
    """Whether PyTorch's elementwise ops give a contiguous result for x."""
    if x.is_contiguous():
        return True
    strides = [stride for size, stride in zip(x.shape, x.stride()) if size != 1]
    return all(outer >= inner > 0 for outer, inner in zip(strides, strides[1:]))


def norm_acts_on(x: Any, *weights: Any) -> bool:
    fits = all(w is None or (w.dtype == x.dtype and w.shape == x.shape[-1:]) for w in weights)
    return acts_on(x, *weights) and x.dim() > 0 and fits


def add_acts_on(x: Any, residual: Any, weight: Any) -> bool:
    return acts_on(residual) and norm_acts_on(x, weight) and x.dtype == residual.dtype and (x.shape, x.device) == (residual.shape, residual.device)


def _fits(norm: Any, x: torch.Tensor) -> bool:
    return len(norm.normalized_shape) == 1 and norm.eps is not None and x.shape[-1:] == norm.normalized_shape


class RMSNorm(torch.nn.RMSNorm):
    """torch.nn.RMSNorm, of one dimension and with an eps by hipops."""

    def forward(self, x: torch.Tensor) -> Any:
        if not _fits(self, x) or not norm_acts_on(x, self.weight):
            return super().forward(x)
        return torch.ops.hipops.rms_norm(x, self.weight, self.eps)


class FusedAddRMSNorm(RMSNorm):
    """The norm of h = x + residual, and h."""

    def forward(self, x: torch.Tensor, residual: torch.Tensor) -> Any:  # type: ignore[override]
        if not _fits(self, x) or not add_acts_on(x, residual, self.weight):
            h = x + residual
            return super().forward(h), h
        return torch.ops.hipops.fused_add_rms_norm(residual, x, self.weight, self.eps, True)  # its sum lies as x + residual


class LayerNorm(torch.nn.LayerNorm):
    """torch.nn.LayerNorm, of one dimension by hipops."""

    def forward(self, x: torch.Tensor) -> Any:
        if not _fits(self, x) or not norm_acts_on(x, self.weight, self.bias):
            return super().forward(x)
        return torch.ops.hipops.layer_norm(x, self.weight, self.bias, self.eps)


def rotated(op: str, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, heads_at: int) -> Any:
    """By op, rope or rope_i, of tables that hold each angle once; of x [b, h, t, d], or where heads_at is 2 [b, t, h, d]."""
    if cos.dim() == 3 and len(cos) != len(x):  # one row of the batch for all
        cos, sin = cos[0], sin[0]
    call = getattr(torch.ops.hipops, op)
    return call(x, cos, sin) if heads_at == 1 else call(x.transpose(1, 2), cos, sin).transpose(1, 2)


def rotation_acts_on(q: Any, k: Any, cos: Any, sin: Any, heads_at: int) -> bool:
    return (acts_on(q, k, cos, sin) and q.dim() == 4 and cos.dim() in (2, 3) and cos.shape == sin.shape and cos.dtype == sin.dtype
            and cos.shape[:-2] in ((), (1,), q.shape[:1]) and cos.shape[-2] == q.shape[3 - heads_at] and k.dtype == q.dtype)


def _rotary(op: str, q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, heads_at: int) -> Any:
    def parts(x: torch.Tensor) -> Any:
        return x.chunk(2, -1) if op == "rope" else (x[..., ::2], x[..., 1::2])

    c, s = parts(cos)[0], parts(sin)[0]
    if rotation_acts_on(q, k, cos, sin, heads_at) and (cos.dim(), cos.dtype, cos.shape[-1]) == (3, q.dtype, q.shape[-1]):
        return tuple(rotated(op, x, c, s, heads_at) for x in (q, k))
    c, s = c.unsqueeze(heads_at), s.unsqueeze(heads_at)
    pairs = [(a * c - b * s, a * s + b * c) for a, b in (parts(q), parts(k))]
    return tuple(torch.cat(pair, -1) if op == "rope" else torch.stack(pair, -1).flatten(-2) for pair in pairs)


def apply_rotary_pos_emb(q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, unsqueeze_dim: int = 1) -> Any:
    """q and k [b, h, t, d] rotated, or where unsqueeze_dim is 2 [b, t, h, d]. cos and sin [b, t, d] hold each angle twice: their
    halves are equal, as Llama's are. Pair i is elements i and i + d/2."""
    return _rotary("rope", q, k, cos, sin, unsqueeze_dim)


def apply_rotary_pos_emb_interleaved(q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, unsqueeze_dim: int = 1) -> Any:
    """As apply_rotary_pos_emb; pair i is elements 2i and 2i + 1, of x and of the tables, as Cohere's are."""
    return _rotary("rope_i", q, k, cos, sin, unsqueeze_dim)


# `kernels` binds these functions to modules of a model, whose class has the model's own.

class _KernelRMSNorm(torch.nn.Module):
    can_torch_compile = True

    def forward(self, hidden_states: torch.Tensor) -> Any:
        eps: Any = getattr(self, "variance_epsilon", None) or self.eps
        if not norm_acts_on(hidden_states, self.weight):
            return type(self).forward(self, hidden_states)
        return torch.ops.hipops.rms_norm(hidden_states, self.weight, eps, False, True)


class _KernelRotary(torch.nn.Module):
    can_torch_compile = True

    def forward(self, q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, unsqueeze_dim: int = 1) -> Any:
        if not rotation_acts_on(q, k, cos, sin, unsqueeze_dim) or (cos.dim(), cos.shape[-1]) != (3, q.shape[-1]):
            return type(self).forward(self, q, k, cos, sin, unsqueeze_dim)
        return apply_rotary_pos_emb(q, k, cos, sin, unsqueeze_dim)


@dataclasses.dataclass(frozen=True)
class _Repository:
    layer: type

    def load(self) -> type:
        return self.layer


def kernel_mapping() -> dict[str, Any]:
    """For kernels.use_kernel_mapping: what transformers' Llama names RMSNorm and rotary_pos_emb."""
    layers = {"RMSNorm": _Repository(_KernelRMSNorm), "rotary_pos_emb": _Repository(_KernelRotary)}
    return {name: dict.fromkeys(("cpu", "cuda", "rocm"), repository) for name, repository in layers.items()}
