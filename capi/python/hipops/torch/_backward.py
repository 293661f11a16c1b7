"""The backward passes of torch.ops.hipops.

BACKWARD has an entry for each op with a backward pass, which consists of ops and has a backward pass too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch._functorch.autograd_function import enable_single_level_autograd_function
from torch._subclasses.functional_tensor import FunctionalTensor
from torch.autograd import forward_ad

from .. import _ops

_WITHOUT_BACKWARD = "torch.ops.hipops.{} has no backward pass for {}: call it under torch.inference_mode() or no_grad(), or on {}.detach()"
_WITHOUT_FORWARD = "torch.ops.hipops.{} has no forward-mode derivative: call it under torch.inference_mode(), or on x.detach()"
_BATCHED = torch._C._parse_dispatch_key("Batched")
ops = torch.ops.hipops


def is_transformed(tensor: torch.Tensor) -> bool:
    """Whether a transform of torch.func, or vmap of torch.autograd (is_grads_batched), may be at work on the tensor."""
    return bool(torch._C._are_functorch_transforms_active() or torch._C._dispatch_keys(tensor).has(_BATCHED))


class Backward(NamedTuple):
    of: str  # the arguments that have a gradient
    kept: str  # the arguments and results that are kept for the backward pass
    run: Callable[..., Any]  # (a, gradients of the results) -> gradients of `of`. Without a gradient of a result: None
    asks: str = ""  # the argument that makes the op compute its own gradient. It is True if the first argument requires one


# In each function, `a` has the kept tensors, the arguments that are no tensors, the shape of the first argument, and in `a.needed` the
# arguments whose gradients are required.

def _of_norm(a: Any, dy: torch.Tensor, x: torch.Tensor) -> Any:
    return ops.rms_norm_backward(dy, x, a.weight, None, a.eps, a.weight_plus_one, a.round_before_weight, a.batch_invariant, "weight" in a.needed)


def _of_layer_norm(a: Any, dy: torch.Tensor, x: torch.Tensor) -> Any:
    dx, dw, db = ops.layer_norm_backward(dy, x, a.weight, None, None, a.eps, a.batch_invariant, "weight" in a.needed, "bias" in a.needed)
    return dx, dw, db if a.bias is None else db.to(a.bias.dtype)


def _by_pytorch(function: Callable[..., Any], given: Any, gradients: Any) -> Any:
    """The gradients of `given`, for a function of them that consists of PyTorch's ops. It computes in float32 or float64."""
    def wide(x: torch.Tensor) -> torch.Tensor:
        return x.to(torch.promote_types(x.dtype, torch.float32))

    results, pull = torch.func.vjp(lambda *given: function(*map(wide, given)), *given)
    return pull(tuple(torch.zeros_like(y) if dy is None else wide(dy) for y, dy in zip(results, gradients)))


def _of_norm_backward(a: Any, *gradients: Any) -> Any:
    def formula(dy: torch.Tensor, x: torch.Tensor, *weights: torch.Tensor) -> Any:
        rstd = (x.square().mean(-1, keepdim=True) + a.eps).rsqrt()
        normed = x * rstd
        of_weights = [(dy * normed).sum_to_size(w.shape) for w in weights]
        for w in weights:
            dy = dy * (w + a.weight_plus_one)
        return (dy - normed * (dy * normed).mean(-1, keepdim=True)) * rstd, *of_weights

    given = (a.dy, a.x) if a.weight is None else (a.dy, a.x, a.weight)
    return *_by_pytorch(formula, given, gradients), None


def _of_layer_norm_backward(a: Any, *gradients: Any) -> Any:
    def formula(dy: torch.Tensor, x: torch.Tensor, *weights: torch.Tensor) -> Any:
        centered = x - x.mean(-1, keepdim=True)
        rstd = (centered.square().mean(-1, keepdim=True) + a.eps).rsqrt()
        normed = centered * rstd
        of_columns = [(dy * normed).sum_to_size(w.shape) for w in weights] + [dy.sum_to_size(dy.shape[-1:])]
        for w in weights:
            dy = dy * w
        return (dy - dy.mean(-1, keepdim=True) - normed * (dy * normed).mean(-1, keepdim=True)) * rstd, *of_columns

    if a.weight is None:
        return *_by_pytorch(formula, (a.dy, a.x), (gradients[0], gradients[2])), None
    return _by_pytorch(formula, (a.dy, a.x, a.weight), gradients)


def _of_softmax_backward(a: Any, *gradients: Any) -> Any:
    return _by_pytorch(lambda dy, y: (a.scale * y * (dy - (dy * y).sum(-1, keepdim=True)),), (a.dy, a.y), gradients)


def _of_log_softmax_backward(a: Any, *gradients: Any) -> Any:
    return _by_pytorch(lambda dy, y: (dy - y.exp() * dy.sum(-1, keepdim=True),), (a.dy, a.y), gradients)


_ACTIVATIONS: dict[str, Callable[[torch.Tensor, float], torch.Tensor]] = {
    "identity": lambda x, alpha: x.clone(),
    "relu": lambda x, alpha: F.relu(x),
    "relu_squared": lambda x, alpha: F.relu(x).square(),
    "leaky_relu": F.leaky_relu,
    "abs": lambda x, alpha: x.abs(),
    "neg": lambda x, alpha: -x,
    "sqr": lambda x, alpha: x.square(),
    "sigmoid": lambda x, alpha: x.sigmoid(),
    "silu": lambda x, alpha: F.silu(x),
    "swish": lambda x, alpha: x * (alpha * x).sigmoid(),
    "quick_gelu": lambda x, alpha: x * (1.702 * x).sigmoid(),
    "gelu_tanh": lambda x, alpha: F.gelu(x, approximate="tanh"),
    "gelu": lambda x, alpha: F.gelu(x),
    "tanh": lambda x, alpha: x.tanh(),
    "elu": F.elu,
    "softplus": lambda x, alpha: F.softplus(x),
    "exp": lambda x, alpha: x.exp(),
}


def _of_activation_backward(a: Any, *gradients: Any) -> Any:
    def formula(dy: torch.Tensor, x: torch.Tensor) -> Any:
        return torch.func.vjp(lambda x: _ACTIVATIONS[a.kind](x, a.alpha), x)[1](dy)

    return _by_pytorch(formula, (a.dy, a.x), gradients)


def _of_activation_and_mul_backward(a: Any, *gradients: Any) -> Any:
    def product(x: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
        if a.limit > 0:
            x, up = x.clamp(max=a.limit), up.clamp(-a.limit, a.limit)
        return _ACTIVATIONS[a.kind](x, a.alpha) * (up + a.up_plus_one)

    return _by_pytorch(lambda dy, *given: torch.func.vjp(product, *given)[1](dy), (a.dy, a.x, a.up), gradients)


def _of_sum_and_norm(of_norm: Callable[..., Any]) -> Callable[..., Any]:
    def run(a: Any, dy: Any, dh: Any) -> Any:
        dx, *of_columns = (None, None, None) if dy is None else of_norm(a, dy, a.residual_out)
        dx = dh if dx is None else dx if dh is None else dx + dh
        return dx, dx, *of_columns

    return run


def _of_rope(op: str) -> Backward:
    return Backward("x", "cos sin positions", lambda a, dy: (getattr(ops, op)(dy, a.cos, -a.sin, a.positions),))


def _in_zeros(change: Callable[..., Any], shape: Any, dim: int, index: torch.Tensor, dy: torch.Tensor, *rest: Any) -> Any:
    # Under torch.func, a tensor that is changed must depend on the function's arguments.
    dx = dy.narrow(0, 0, 0).sum().expand(shape).clone() if dy.requires_grad else dy.new_zeros(shape)
    change(dx, dim, index, dy, *rest)
    return dx,


def _of_scatter(a: Any, dy: torch.Tensor) -> Any:
    kept, of_source = dy.clone(), ops.gather(dy, a.dim, a.index)
    ops.scatter_(kept, a.dim, a.index, dy.new_zeros(()).expand(a.index.shape))
    if a.deterministic:  # only the last source of an index has a gradient
        order = torch.arange(a.index.numel(), device=dy.device).view(a.index.shape)
        last = torch.empty_like(kept, dtype=order.dtype)
        ops.scatter_(last, a.dim, a.index, order, True)
        of_source = of_source.masked_fill(ops.gather(last, a.dim, a.index) != order, 0)
    return kept, of_source


def _of_reduce(a: Any, dy: torch.Tensor) -> Any:
    if a.reduction not in ("sum", "mean"):
        raise NotImplementedError(_WITHOUT_BACKWARD.format(f"reduce, for {a.reduction},", "x", "x"))
    rank = len(a.shape)
    dims = sorted(range(rank) if a.dim is None or not rank else {d % rank for d in a.dim})
    for d in () if a.keepdim else dims:
        dy = dy.unsqueeze(d)
    return (dy if a.reduction == "sum" else dy / math.prod(a.shape[d] for d in dims)).expand(a.shape),


def _of_topk(a: Any, dy: torch.Tensor, of_indices: None) -> Any:
    index = a.indices
    if a.window_indices and a.row_begin is not None:
        index = torch.where(index < 0, index, index + a.row_begin.reshape(*a.shape[:-1], 1))
    return _in_zeros(ops.scatter_, a.shape, -1, index, dy)


def _of_cross_entropy(a: Any, dloss: Any, *others: Any) -> Any:
    if any(gradient is not None for gradient in others):
        raise NotImplementedError(_WITHOUT_BACKWARD.format("cross_entropy", "lse and dx", "x"))
    dloss = dloss.reshape(*a.shape[:-1], 1)
    if is_transformed(dloss):  # vmap refuses a change in place by a larger tensor
        return (a.dx * dloss).to(a.dx.dtype),
    return a.dx.clone().mul_(dloss),  # in place, so that no factor is rounded to dx's dtype


def _of_upsampled(a: Any, dy: torch.Tensor, *scales: float | None) -> Any:
    for dim, scale in enumerate(scales, 2):
        size, to, shape = a.shape[dim], dy.shape[dim], list(dy.shape)
        source = ops.upsample_nearest1d(torch.arange(size, device=dy.device).view(1, 1, -1), to, scale, a.rule).view(-1)
        shape[dim] = size
        dy, = _in_zeros(ops.index_add_, shape, dim, source, dy)
    return dy,


BACKWARD = {
    "rms_norm": Backward("x weight", "x weight", lambda a, dy: _of_norm(a, dy, a.x)),
    "fused_add_rms_norm": Backward("x residual weight", "weight residual_out", _of_sum_and_norm(_of_norm)),
    "layer_norm": Backward("x weight bias", "x weight bias", lambda a, dy: _of_layer_norm(a, dy, a.x)),
    "fused_add_layer_norm": Backward("x residual weight bias", "weight bias residual_out", _of_sum_and_norm(_of_layer_norm)),
    "rms_norm_backward": Backward("dy x weight", "dy x weight", _of_norm_backward),
    "layer_norm_backward": Backward("dy x weight", "dy x weight", _of_layer_norm_backward),
    "rope": _of_rope("rope"),
    "rope_i": _of_rope("rope_i"),
    "rope_thd": _of_rope("rope_thd"),
    "gather": Backward("x", "index", lambda a, dy: _in_zeros(ops.scatter_add_, a.shape, a.dim, a.index, dy,
                                                             torch.are_deterministic_algorithms_enabled())),
    "index_select": Backward("x", "index", lambda a, dy: _in_zeros(ops.index_add_, a.shape, a.dim, a.index, dy)),
    "scatter_": Backward("y src", "index", _of_scatter),
    "scatter_add_": Backward("y src", "index", lambda a, dy: (dy, ops.gather(dy, a.dim, a.index))),
    "index_add_": Backward("y source", "index", lambda a, dy: (dy, ops.index_select(dy, a.dim, a.index))),
    "reduce": Backward("x", "", _of_reduce),
    "topk": Backward("x", "indices row_begin", _of_topk),
    "cumsum": Backward("x", "", lambda a, dy: (ops.cumsum(dy.flip(a.dim), a.dim).flip(a.dim),)),
    "sort": Backward("x", "indices", lambda a, dy, of_indices: _in_zeros(ops.scatter_, a.shape, -1, a.indices, dy)),
    "upsample_nearest1d": Backward("x", "", lambda a, dy: _of_upsampled(a, dy, a.scale)),
    "upsample_nearest2d": Backward("x", "", lambda a, dy: _of_upsampled(a, dy, a.scale_h, a.scale_w)),
    "strided_copy": Backward("x", "", lambda a, dy: (dy,)),
    "softmax": Backward("x", "out", lambda a, dy: (ops.softmax_backward(dy, a.out, 1.0, a.batch_invariant),)),
    "softmax_ext": Backward("x", "out", lambda a, dy: (ops.softmax_backward(dy, a.out, a.scale, a.batch_invariant),)),
    "log_softmax": Backward("x", "out", lambda a, dy: (ops.log_softmax_backward(dy, a.out, a.batch_invariant),)),
    "cross_entropy": Backward("x", "dx", _of_cross_entropy, "gradient"),
    "softmax_backward": Backward("dy y", "dy y", _of_softmax_backward),
    "log_softmax_backward": Backward("dy y", "dy y", _of_log_softmax_backward),
    "activation": Backward("x", "x", lambda a, dy: (ops.activation_backward(dy, a.x, a.kind, a.alpha),)),
    "activation_and_mul": Backward("x up", "x up", lambda a, dy: ops.activation_and_mul_backward(
        dy, a.x, a.up, a.kind, a.limit, a.alpha, a.up_plus_one)),
    "activation_backward": Backward("dy x", "dy x", _of_activation_backward),
    "activation_and_mul_backward": Backward("dy x up", "dy x up", _of_activation_and_mul_backward),
}


class Op(NamedTuple):
    name: str
    outputs: tuple[str, ...]  # none: the op changes its first argument
    arguments: tuple[str, ...]
    defaults: tuple[Any, ...]
    of: tuple[str, ...]
    kept: tuple[str, ...]
    kept_at: tuple[int, ...]  # where these are among the arguments and the results
    run: Callable[..., Any]
    asks: str


class HipopsOp(torch.autograd.function._SingleLevelFunction):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, op: Op, below: Callable[..., Any], *given: Any) -> Any:
        results = below(*given)
        if not op.outputs:
            ctx.mark_dirty(given[0])
        values = (*given, *op.defaults[len(given):], *(results if isinstance(results, tuple) else (results,)))
        ctx.op, ctx.others = op, {key: value for key, value in zip(op.arguments, values) if not isinstance(value, torch.Tensor)}
        ctx.others["shape"] = given[0].shape
        ctx.save_for_backward(*[values[at] for at in op.kept_at])
        ctx.set_materialize_grads(False)
        return results if op.outputs else given[0]

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        op, are_needed = ctx.op, ctx.needs_input_grad
        needed = [name for name, is_needed in zip(op.arguments, are_needed[2:]) if is_needed]
        for argument in needed:
            if argument not in op.of:
                raise NotImplementedError(_WITHOUT_BACKWARD.format(op.name, argument, argument))
        if all(gradient is None for gradient in gradients):
            return (None,) * len(are_needed)
        a = SimpleNamespace(**{**ctx.others, **dict(zip(op.kept, ctx.saved_tensors))}, needed=needed)
        made = dict(zip(op.of, op.run(a, *gradients)))
        return (None, None, *[made[name] if name in needed else None for name in op.arguments])[:len(are_needed)]

    @staticmethod
    def _compiled_autograd_key(ctx: Any) -> Any:
        raise NotImplementedError(f"torch.ops.hipops.{ctx.op.name} has no backward pass under compiled autograd: call backward() outside of it")


def _apply(op: Op, below: Callable[..., Any], y: torch.Tensor, *given: Any) -> Any:
    """HipopsOp.apply. In a transform of torch.func, PyTorch disables derivatives for the op, and outer transforms need them."""
    if not torch._C._are_functorch_transforms_active():
        return HipopsOp.apply(op, below, y, *given)
    if not op.outputs and not y.requires_grad:  # y may be a tensor from outside the transform, whose change would have no gradient
        raise NotImplementedError(f"torch.ops.hipops.{op.name} under torch.func: y has no gradient, expected a y that depends on the function's arguments")

    def enabled(*given: Any) -> Any:
        with torch.enable_grad(), forward_ad._set_fwd_grad_enabled(True):
            return below(*given)

    with enable_single_level_autograd_function():
        return HipopsOp.apply(op, enabled, y, *given)


def register(library: Any, name: str, outputs: tuple[str, ...]) -> None:
    """Registers the derivatives of an op. Without outputs it changes its first argument."""
    op = getattr(ops, name).default
    of, kept, run, asks = BACKWARD.get(name, Backward("", "", lambda a, *dy: ()))
    arguments, defaults = zip(*[(argument.name, argument.default_value) for argument in op._schema.arguments])
    kept_at = tuple((*arguments, *outputs).index(each) for each in kept.split())
    described = Op(name, outputs, arguments, defaults, tuple(of.split()), tuple(kept.split()), kept_at, run, asks)

    def below(keyset: Any, *given: Any) -> Any:
        with torch._C._AutoDispatchBelowAutograd():
            return op.redispatch(keyset & torch._C._after_autograd_keyset, *given)

    def autograd(keyset: Any, *given: Any) -> Any:
        if forward_ad._current_level >= 0 and any(isinstance(a, torch.Tensor) and _ops.is_dual(a) for a in given):
            raise NotImplementedError(_WITHOUT_FORWARD.format(name))
        if not (torch.is_grad_enabled() and any(isinstance(a, torch.Tensor) and a.requires_grad for a in given)):
            return below(keyset, *given)
        base = given[0] if outputs or given[0]._base is None else given[0]._base
        if not outputs and base.requires_grad and base.is_leaf:
            raise RuntimeError(f"torch.ops.hipops.{name}: y is a leaf that requires a gradient, or a view of one, expected a result of other ops")
        if asks and given[0].requires_grad:
            given = tuple(True if key == asks else value for key, value in zip(arguments, (*given, *defaults[len(given):])))
        # torch.compile gives no gradient to an input that a custom op changes. It gives one to an input that copy_ changes.
        y = given[0].clone() if not outputs and isinstance(given[0], FunctionalTensor) else given[0]
        results = _apply(described, lambda *given: below(keyset, *given), y, *given[1:])
        if y is not given[0]:
            given[0].copy_(y)
        if name not in BACKWARD and not any(y.requires_grad for y in (results if isinstance(results, tuple) else (results,))):
            argument = next(argument.name for argument, a in zip(op._schema.arguments, given) if isinstance(a, torch.Tensor) and a.requires_grad)
            raise NotImplementedError(_WITHOUT_BACKWARD.format(name, argument, argument))  # no backward() will
        return results if outputs else None

    def in_place(keyset: Any, y: torch.Tensor, *given: Any) -> Any:
        torch.autograd.graph.increment_version(y)
        with torch._C._AutoDispatchBelowADInplaceOrView():
            return op.redispatch(keyset & torch._C._after_ADInplaceOrView_keyset, y, *given)

    library.impl(name, autograd, "Autograd", with_keyset=True)
    if not outputs:
        library.impl(name, in_place, "ADInplaceOrView", with_keyset=True)
