"""Cross-entropy of a linear layer's results, in chunks of rows: the logits are never there as a whole."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch.fx.experimental.proxy_tensor import get_proxy_mode

from .. import _ops
from ._backward import is_transformed

OP, REDUCTIONS = "linear_cross_entropy", ("mean", "sum", "none")
DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)


def _refuse(**tensors: torch.Tensor) -> None:
    """Refuses a transform, a tracer, whose graph would lack the op's launches, and a tensor without memory of its own."""
    if is_transformed(tensors["hidden"]) or get_proxy_mode() is not None:
        raise NotImplementedError(f"{OP} has no rule for torch.func, torch.vmap, make_fx and export: call torch.ops.hipops.cross_entropy on the logits")
    for argument, tensor in tensors.items():
        if tensor.device.type == "meta" or torch._C._dispatch_keys(tensor).has(torch._C.DispatchKey.Python):
            raise NotImplementedError(f"{OP}: {argument} is a {type(tensor).__name__} on {tensor.device}, expected a plain tensor with memory")
        if _ops.is_dual(tensor):
            raise NotImplementedError(f"{OP} has no forward-mode derivative: {argument} has one, call it on {argument}.detach()")


class _Loss(NamedTuple):
    """The numbers of cross_entropy, and the rows of a chunk."""
    ignore_index: int
    label_smoothing: float
    z_loss: float
    chunk_rows: int

    def run(self, hidden: torch.Tensor, weight: torch.Tensor, target: torch.Tensor, needs: tuple[bool, bool],
            dloss: torch.Tensor | None = None) -> tuple[torch.Tensor, Any, Any]:
        """The loss of each row, and the gradients of hidden, in its dtype, and of weight, in float32 (of float64: float64)."""
        with torch.autocast(hidden.device.type, enabled=False):  # the backward pass may be under autocast
            return self._run(hidden, weight, target, needs, dloss)

    def _run(self, hidden: torch.Tensor, weight: torch.Tensor, target: torch.Tensor, needs: tuple[bool, bool],
             dloss: torch.Tensor | None) -> tuple[torch.Tensor, Any, Any]:
        wide = torch.promote_types(weight.dtype, torch.float32)
        loss = hidden.new_empty(target.shape, dtype=torch.promote_types(hidden.dtype, torch.float32))
        dhidden = torch.empty_like(hidden) if needs[0] else None
        dweight = weight.new_zeros(weight.shape, dtype=wide) if needs[1] else None
        memory = hidden.new_empty(min(self.chunk_rows, len(target)), len(weight))
        for begin in range(0, len(target), self.chunk_rows):
            rows = slice(begin, begin + self.chunk_rows)
            logits = torch.mm(hidden[rows], weight.t(), out=memory[:len(target[rows])])
            _ops.cross_entropy(logits, target[rows], self.ignore_index, self.label_smoothing, self.z_loss, out=loss[rows],
                               dx=logits if any(needs) else None, dloss=None if dloss is None else dloss[rows])
            if dhidden is not None:
                torch.mm(logits, weight, out=dhidden[rows])
            if dweight is None:
                continue
            if wide == weight.dtype:
                dweight.addmm_(logits.t(), hidden[rows])
            else:
                dweight += logits.t() @ hidden[rows]
        return loss, dhidden, dweight


class _LinearCrossEntropy(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, hidden: torch.Tensor, weight: torch.Tensor, target: torch.Tensor, kind: _Loss, reduction: str) -> torch.Tensor:
        ctx.kind, ctx.reduction = kind, reduction
        if reduction == "none":  # the gradient of weight depends on the gradients of the losses
            ctx.save_for_backward(hidden, weight, target)
            return kind.run(hidden, weight, target, (False, False))[0]
        loss, *gradients = kind.run(hidden, weight, target, ctx.needs_input_grad[:2])
        count = ((target != kind.ignore_index) & (target >= 0) & (target < len(weight))).sum().to(loss.dtype)
        if reduction == "mean":
            for gradient in gradients:
                if gradient is not None:  # a factor of one dimension is not rounded to the gradient's dtype
                    gradient.mul_(1 / count.clamp(min=1).view(1))
        ctx.save_for_backward(*(None if gradient is None else gradient.to(like.dtype) for gradient, like in zip(gradients, (hidden, weight))))
        return loss.sum() / count if reduction == "mean" else loss.sum()

    @staticmethod
    def backward(ctx: Any, dloss: torch.Tensor) -> Any:
        if torch.is_grad_enabled():
            raise NotImplementedError(f"{OP} has no second derivative: call backward() without create_graph")
        if is_transformed(dloss):
            raise NotImplementedError(f"{OP} has no backward pass for many gradients at once: call it without is_grads_batched and torch.vmap")
        if ctx.reduction == "none":
            hidden, weight, target = ctx.saved_tensors
            _, dhidden, dweight = ctx.kind.run(hidden, weight, target, ctx.needs_input_grad[:2], dloss)
            return dhidden, None if dweight is None else dweight.to(weight.dtype), None, None, None
        return *(None if gradient is None else gradient.clone().mul_(dloss.view(1)) for gradient in ctx.saved_tensors), None, None, None


@torch.compiler.disable  # type: ignore[misc]
def linear_cross_entropy(hidden: torch.Tensor, weight: torch.Tensor, target: torch.Tensor, ignore_index: int = -100,
                         label_smoothing: float = 0.0, z_loss: float = 0.0, reduction: str = "mean",
                         chunk_rows: int | None = None) -> torch.Tensor:
    """torch.ops.hipops.cross_entropy of the logits hidden @ weight.T, of shapes (..., n) and (classes, n), for targets (...). chunk_rows:
    the rows whose logits are there at a time; None: a power of two, for logits of about hidden's size.

    With reduction "mean" (of the rows that are not left out) or "sum" the forward pass computes the gradients. With "none" the backward
    pass does, and computes the logits again. weight's gradient is added up in float32.
    """
    if reduction not in REDUCTIONS:
        raise ValueError(f"{OP}: reduction is {reduction!r}, expected one of: {', '.join(REDUCTIONS)}")
    if hidden.dim() < 1 or weight.dim() != 2 or hidden.shape[-1] != weight.shape[1] or target.shape != hidden.shape[:-1]:
        raise ValueError(f"{OP}: hidden, weight and target have shapes {tuple(hidden.shape)}, {tuple(weight.shape)} and {tuple(target.shape)}, "
                         "expected (..., n), (classes, n) and (...)")
    _refuse(hidden=hidden, weight=weight, target=target)
    if hidden.dtype != torch.float64 and torch.is_autocast_enabled(hidden.device.type):
        dtype = torch.get_autocast_dtype(hidden.device.type)
        hidden, weight = hidden.to(dtype), weight.to(dtype)
    for argument, tensor, dtypes in (("hidden", hidden, DTYPES), ("target", target, (torch.int32, torch.int64))):
        if tensor.dtype not in dtypes:
            raise ValueError(f"{OP}: {argument} is of {tensor.dtype}, expected one of: {', '.join(map(str, dtypes))}")
    if hidden.dtype != weight.dtype:
        raise ValueError(f"{OP}: weight is of {weight.dtype}, expected {hidden.dtype} (hidden's)")
    rows = target.numel()
    if chunk_rows is None:
        share = -(-rows * hidden.shape[-1] // max(len(weight), 1))
        chunk_rows = 1 << max(int(share) - 1, 0).bit_length()  # jit.trace makes tensors of sizes
    if chunk_rows < 1:
        raise ValueError(f"{OP}: chunk_rows is {chunk_rows}, expected 1 or more")
    kind = _Loss(ignore_index, label_smoothing, z_loss, chunk_rows)
    loss: torch.Tensor = _LinearCrossEntropy.apply(hidden.reshape(rows, hidden.shape[-1]), weight, target.reshape(rows), kind, reduction)
    return loss.view(target.shape) if reduction == "none" else loss
