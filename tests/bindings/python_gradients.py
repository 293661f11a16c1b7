#!/usr/bin/env python3
"""The derivatives of torch.ops.hipops, on a GPU if PyTorch sees one, otherwise on the CPU. Exit 77 without PyTorch."""

import copy
import sys
import threading
import warnings
from functools import partial

try:
    import torch
except ImportError:
    print("skipped: no PyTorch")
    sys.exit(77)

import hipops
import hipops.torch
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

wrong = []
device = "cuda" if torch.cuda.is_available() else "cpu"
ops, F = torch.ops.hipops, torch.nn.functional
torch.manual_seed(1)
warnings.simplefilter("ignore")  # PyTorch warns of calls in a loop, and of a backward pass that raises


def normal(*shape, dtype=torch.float64):
    return torch.randn(*shape, device=device).to(dtype)


def leaf(tensor):
    return tensor.detach().clone().requires_grad_()


def index(below, *shape):
    return torch.randint(below, shape, device=device)


def expect_close(what, got, right, bound=1e-9):
    if got is None or got.shape != right.shape or not (got.double() - right.double()).abs().max().item() <= bound:
        wrong.append(f"{what}: got {got}, expected {right}")


def expect(exception, words, call):
    try:
        call()
        wrong.append(f"accepted, expected {exception.__name__} with {words}")
    except Exception as got:  # the test reports any exception
        if not isinstance(got, exception) or words not in str(got):
            wrong.append(f"{type(got).__name__}: {got}; expected {exception.__name__} with {words}")


def changed(op, *given, **named):
    """The op in place, on a copy of its first argument."""
    y = given[0] * 1
    op(y, *given[1:], **named)
    return y


def as_list(results):
    return [y for y in (results if isinstance(results, tuple) else (results,)) if y.is_floating_point()]


x, w, table = normal(3, 8), normal(8), normal(5, 3)
angles, few = torch.arange(15, device=device).view(5, 3).double(), torch.tensor([3, 1, 4, 3], device=device)
cos, sin = angles.cos(), angles.sin()
repeated, out_of_range = index(5, 3, 4), torch.tensor([[7, 0, 9], [-1, 2, 2]], device=device)
once = torch.stack([torch.randperm(8, device=device)[:4] for _ in range(3)])
windows = torch.tensor([1, 6, 8], device=device), torch.tensor([3, 0, 4], device=device)
# Calls of each op. An op in place is called on a copy.
cases = [
    ("rms_norm", lambda x, w: ops.rms_norm(x, w, 1e-6), (x, w)),
    ("rms_norm", lambda x, w: ops.rms_norm(x, w, 1e-6, True, False, True), (x.t().contiguous().t(), w)),
    ("rms_norm", lambda x: ops.rms_norm(x), (x,)),
    ("rms_norm_backward", lambda dy, x, w: ops.rms_norm_backward(dy, x, w, None, 1e-3, True), (normal(3, 8), x, w)),
    ("rms_norm_backward", lambda dy, x: ops.rms_norm_backward(dy, x)[0], (normal(2, 3, 8), normal(2, 3, 8))),
    ("layer_norm", lambda x, w, b: ops.layer_norm(x, w, b, 1e-6), (x, w, normal(8))),
    ("layer_norm", lambda x, b: ops.layer_norm(x, None, b, 1e-3, True), (x.t().contiguous().t(), normal(8))),
    ("layer_norm", lambda x: ops.layer_norm(x), (x,)),
    ("layer_norm_backward", lambda dy, x, w: ops.layer_norm_backward(dy, x, w, None, None, 1e-3), (normal(3, 8), x, w)),
    ("layer_norm_backward", lambda dy, x: ops.layer_norm_backward(dy, x)[::2], (normal(2, 3, 8), normal(2, 3, 8))),
    ("layer_norm_backward", lambda dy, x, w: ops.layer_norm_backward(dy, x, w, weight_grad=False, bias_grad=False)[0], (normal(3, 8), x, w)),
    ("rope", lambda x: ops.rope(x, cos, sin), (normal(2, 3, 5, 8),)),
    ("rope", lambda x: ops.rope(x, cos, sin, few), (normal(1, 2, 4, 6),)),
    ("rope_i", lambda x: ops.rope_i(x, cos, sin), (normal(2, 5, 3, 6).transpose(1, 2),)),
    ("rope_thd", lambda x: ops.rope_thd(x, cos, sin), (normal(2, 5, 3, 8),)),
    ("gather", lambda x: ops.gather(x, -1, repeated), (x,)),
    ("gather", lambda x: ops.gather(x, 1, out_of_range), (x,)),
    ("index_select", lambda x: ops.index_select(x, -1, few), (x,)),
    ("index_select", lambda x: ops.index_select(x, 0, out_of_range[0]), (x,)),
    ("scatter_", lambda y, src: changed(ops.scatter_, y, 1, once, src), (x, normal(3, 4))),
    ("scatter_", lambda y, src: changed(ops.scatter_, y, 1, repeated, src, True), (x, normal(3, 4))),
    ("scatter_", lambda y, src: changed(ops.scatter_, y, 1, out_of_range, src, True), (x, normal(2, 3))),
    ("scatter_add_", lambda y, src: changed(ops.scatter_add_, y, -1, repeated, src), (x, normal(3, 4))),
    ("scatter_add_", lambda y, src: changed(ops.scatter_add_, y, 1, out_of_range, src, True), (x, normal(2, 3))),
    ("index_add_", lambda y, source: changed(ops.index_add_, y, 1, few, source), (x, normal(3, 4))),
    ("reduce", lambda x: ops.reduce(x, "sum"), (x,)),
    ("reduce", lambda x: ops.reduce(x * 3, "mean", [0]), (normal(1)[0],)),
    ("reduce", lambda x: ops.reduce(x, "mean", [0, -1], True), (normal(2, 3, 4),)),
    ("reduce", lambda x: ops.reduce(x, "mean", [1]), (normal(2, 3, 4).permute(2, 0, 1),)),
    ("reduce", lambda x: ops.reduce(x, "sum", [2, 0]), (normal(2, 3, 4),)),
    ("cumsum", lambda x: ops.cumsum(x, 0), (x,)),
    ("cumsum", lambda x: ops.cumsum(x, -1), (x.t(),)),
    ("sort", lambda x: ops.sort(x)[0], (x,)),
    ("sort", lambda x: ops.sort(x, True)[0], (x.t(),)),
    ("upsample_nearest1d", lambda x: ops.upsample_nearest1d(x, 9), (normal(2, 1, 4),)),
    ("upsample_nearest2d", lambda x: ops.upsample_nearest2d(x, [5, 7], 2.0, 1.75, "exact"), (normal(1, 2, 3, 4),)),
    ("upsample_nearest2d", lambda x: ops.upsample_nearest2d(x, [2, 9], None, None, "candle"), (normal(1, 2, 3, 4),)),
    ("strided_copy", lambda x: ops.strided_copy(x), (x.t(),)),
    ("softmax", lambda x: ops.softmax(x), (x.t(),)),
    ("log_softmax", lambda x: ops.log_softmax(x, True), (x,)),
    ("softmax_backward", lambda dy, y: ops.softmax_backward(dy, y, 0.5), (normal(3, 8), x.softmax(-1))),
    ("log_softmax_backward", lambda dy, y: ops.log_softmax_backward(dy, y), (normal(3, 8), x.log_softmax(-1))),
]
for name, call, given in cases:
    given = [leaf(each) for each in given]
    try:
        torch.autograd.gradcheck(call, given)
        torch.autograd.gradgradcheck(call, given)
    except Exception as failure:
        wrong.append(f"{name}: {str(failure)[:900]}")

few_targets = torch.tensor([2, -100, 7], device=device)
for given in ({}, {"label_smoothing": 0.2}, {"label_smoothing": 0.1, "z_loss": 0.3}):
    torch.autograd.gradcheck(lambda x: ops.cross_entropy(x, few_targets, **given)[0], leaf(x))

# ---- The gradients of PyTorch, in float32 and 16 bits
def own_rms_norm(x, w=None, eps=1e-5):
    return F.rms_norm(x, (8,), w, eps)


def rotated(x, cos, sin):
    a, b = x[..., :3], x[..., 3:]
    return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)


def own_fused(x, residual, w=None):
    total = x + residual
    return own_rms_norm(total, w), total


def own_layer_norm(x, w=None, b=None):
    return F.layer_norm(x, (8,), w, b)


def own_fused_layer(x, residual, *columns):
    total = x + residual
    return own_layer_norm(total, *columns), total


def own_scatter_add(y, src):
    return y.scatter_add(1, repeated, src)


def windowed(x):
    parts = [x[i, b:b + n] for i, (n, b) in enumerate(zip(*(each.tolist() for each in windows)))]
    return torch.stack([F.pad(part.topk(min(2, len(part)))[0], (0, 2 - min(2, len(part)))) for part in parts])


def own_gate(x, up):
    x, up = x.clamp(max=0.5), up.clamp(-0.5, 0.5)
    return x * (1.5 * x).sigmoid() * (up + 1)


def own_softmax_ext(x):
    return torch.cat((x * 0.5 + mask.to(x.dtype), sinks.to(x.dtype).expand(3, 1)), -1).softmax(-1)[..., :-1]


acts = {
    "identity": lambda x: x * 1, "relu": F.relu, "relu_squared": lambda x: F.relu(x).square(), "leaky_relu": lambda x: F.leaky_relu(x, 0.5),
    "abs": torch.abs, "neg": torch.neg, "sqr": torch.square, "sigmoid": torch.sigmoid, "silu": F.silu, "swish": lambda x: x * (0.5 * x).sigmoid(),
    "quick_gelu": lambda x: x * (1.702 * x).sigmoid(), "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "gelu": F.gelu, "tanh": torch.tanh,
    "elu": lambda x: F.elu(x, 0.5), "softplus": F.softplus, "exp": torch.exp}


def own_cross_entropy(x):
    loss = F.cross_entropy(x, few_targets, label_smoothing=0.1, reduction="none")
    return loss + 0.01 * x.logsumexp(-1).square().masked_fill(few_targets < 0, 0)


mask, sinks = normal(1, 8).masked_fill(torch.arange(8, device=device) == 3, -torch.inf).float(), normal(1, 1).float()
beside = {
    "softmax": (ops.softmax, lambda x: x.softmax(-1), (x,)),
    "log_softmax": (ops.log_softmax, lambda x: x.log_softmax(-1), (x,)),
    "softmax_ext": (lambda x: ops.softmax_ext(x, mask, None, sinks.expand(3, 1), 0.5), own_softmax_ext, (x,)),
    "activation_and_mul": (ops.activation_and_mul, lambda x, up: F.silu(x) * up, (x, normal(3, 8))),
    "activation_and_mul with a limit": (lambda x, up: ops.activation_and_mul(x, up, "swish", 0.5, 1.5, True), own_gate, (x, normal(3, 8))),
    **{kind: (lambda x, kind=kind: ops.activation(x, kind, 0.5), act, (x,)) for kind, act in acts.items()},
    "cross_entropy": (lambda x: ops.cross_entropy(x, few_targets, -100, 0.1, 0.01)[0], own_cross_entropy, (x,)),
    "rms_norm": (ops.rms_norm, own_rms_norm, (x, w)),
    "fused_add_rms_norm": (ops.fused_add_rms_norm, own_fused, (x, normal(3, 8), w)),
    "layer_norm": (ops.layer_norm, own_layer_norm, (x, w, normal(8))),
    "fused_add_layer_norm": (ops.fused_add_layer_norm, own_fused_layer, (x, normal(3, 8), w, normal(8))),
    "sum of fused_add_layer_norm": (lambda *given: ops.fused_add_layer_norm(*given)[1], lambda *given: own_fused_layer(*given)[1], (x, normal(3, 8))),
    "its norm": (lambda *given: ops.fused_add_rms_norm(*given)[0], lambda *given: own_fused(*given)[0], (x, normal(3, 8), w)),
    "its sum": (lambda *given: ops.fused_add_rms_norm(*given)[1], lambda *given: own_fused(*given)[1], (x, normal(3, 8))),
    "rope": (lambda x: ops.rope(x, cos.to(x.dtype), sin.to(x.dtype)), lambda x: rotated(x, cos.to(x.dtype), sin.to(x.dtype)), (normal(2, 3, 5, 6),)),
    "topk": (lambda x: ops.topk(x, 3), lambda x: x.topk(3)[0], (x,)),
    "topk of the smallest": (lambda x: ops.topk(x, 3, False, False)[0].sort()[0], lambda x: x.topk(3, largest=False)[0].sort()[0], (x,)),
    "topk of windows": (lambda x: ops.topk(x, 2, True, True, *windows, True)[0], windowed, (x,)),
    "sort": (ops.sort, lambda x: x.sort()[0], (x,)),
    "scatter_add_": (lambda y, src: changed(ops.scatter_add_, y, 1, repeated, src), own_scatter_add, (x, normal(3, 4))),
    "mean": (lambda x: ops.reduce(x, "mean", [0]), lambda x: x.mean(0), (x,)),
    "cumsum": (lambda x: ops.cumsum(x, 1), lambda x: x.cumsum(1), (x,)),
    "upsample_nearest1d": (lambda x: ops.upsample_nearest1d(x, 9), lambda x: F.interpolate(x, 9), (normal(2, 1, 4),)),
    "upsample_nearest2d": (lambda x: ops.upsample_nearest2d(x, [9, 6]), lambda x: F.interpolate(x, (9, 6)), (normal(1, 2, 4, 6),)),
}


def gradients(call, given, dys, of=None):
    results = as_list(call(*given))
    return torch.autograd.grad(results, of or given, dys[:len(results)])


for dtype, bound in ((torch.float32, 1e-5), (torch.bfloat16, 0.06), (torch.float16, 0.008)):
    for name, (call, own, given) in beside.items():
        low = [leaf(each.to(dtype)) for each in given]
        dys = [normal(*y.shape).to(dtype) for y in as_list(call(*low))]
        right = gradients(own, [leaf(each.double()) for each in low], [dy.double() for dy in dys])
        for got, expected in zip(gradients(call, low, dys), right):
            expect_close(f"{name} of {dtype}", got, expected, bound * max(1, expected.abs().max().item()))
            if got.dtype != dtype:
                wrong.append(f"{name}: a gradient of {got.dtype}, expected {dtype}")

# ---- Second derivatives of ops without float64
def second(call, given):
    y = as_list(call(*given))[0]
    once = torch.autograd.grad(y.pow(3).sum(), given, create_graph=True)
    return torch.autograd.grad(sum(each.square().sum() for each in once), given)


for name in ("activation_and_mul", "activation_and_mul with a limit", *acts):
    call, own, given = beside[name]
    given = [leaf(each.float()) for each in given]
    for got, expected in zip(second(call, given), second(own, [leaf(each.double()) for each in given])):
        expect_close(f"{name}, second derivative", got, expected, 1e-5 * max(1, expected.abs().max().item()))

# ---- PyTorch's own test of registration, torch.compile, torch.func, checkpoints, two uses, and one gradient of several
for name, (call, own, given) in beside.items():
    given = [leaf(each.float()) for each in given]
    dys = [normal(*y.shape).float() for y in as_list(call(*given))]
    right = gradients(call, given, dys)
    torch._dynamo.reset()
    ways = {"compiled": torch.compile(call, backend="aot_eager", fullgraph=True),
            "compiled for any size": torch.compile(call, backend="aot_eager", fullgraph=True, dynamic=True),
            "checkpoint": lambda *given: checkpoint(call, *given, use_reentrant=False)}
    for way, run in ways.items():
        for got, expected in zip(gradients(run, given, dys), right):
            expect_close(f"{name}, {way}", got, expected, 1e-5)
    for got, expected in zip(gradients(lambda *given: tuple(y * 2 + y for y in as_list(call(*given))), given, dys), right):
        expect_close(f"{name}, used twice", got, 3 * expected, 1e-4)
    pulled = torch.func.vjp(lambda *given: tuple(as_list(call(*given))), *[each.detach() for each in given])[1](tuple(dys))
    for got, expected in zip(pulled, right):
        expect_close(f"{name}, vjp", got, expected, 1e-5)
    graded = torch.func.grad(lambda first: sum((y * dy).sum() for y, dy in zip(as_list(call(first, *given[1:])), dys)))(given[0].detach())
    expect_close(f"{name}, func.grad", graded, right[0], 1e-5)
    for i in range(len(given)):
        alone = [each if i == j else each.detach() for j, each in enumerate(given)]
        expect_close(f"{name}, the gradient of argument {i} alone", gradients(call, alone, dys, [alone[i]])[0], right[i], 1e-5)

# ---- linear_cross_entropy, and the loss of all logits
def own_linear_cross_entropy(hidden, weight, target, reduction, label_smoothing=0.0, z_loss=0.0):
    logits, flat = (hidden @ weight.t()).flatten(0, -2), target.flatten()
    loss = F.cross_entropy(logits, flat, label_smoothing=label_smoothing, reduction="none") + z_loss * logits.logsumexp(-1).square().masked_fill(flat == -100, 0)
    return loss.view(target.shape) if reduction == "none" else loss.sum() / ((flat != -100).sum() if reduction == "mean" else 1)


linear = hipops.torch.linear_cross_entropy
hidden, matrix, labels = normal(2, 9, 16), normal(37, 16), index(37, 2, 9)
labels[0, 4] = labels[1, 0] = -100
for dtype, bound in ((torch.float64, 1e-9), (torch.float32, 1e-5), (torch.bfloat16, 0.02), (torch.float16, 0.003)):
    for reduction in ("mean", "sum", "none"):
        for rows_of_chunk in (None, 1, 5, 18, 100):
            for numbers in ({}, {"label_smoothing": 0.1, "z_loss": 0.01}):
                given = leaf(hidden.to(dtype)), leaf(matrix.to(dtype))
                wide = [leaf(each.double()) for each in given]
                got, right = linear(*given, labels, reduction=reduction, chunk_rows=rows_of_chunk, **numbers), own_linear_cross_entropy(*wide, labels, reduction, **numbers)
                dloss = torch.randn_like(right)
                what = f"linear_cross_entropy, {reduction}, of {dtype}, {rows_of_chunk} rows a chunk, {numbers}"
                expect_close(what, got, right, bound * max(1, right.abs().max().item()))
                pairs = zip(torch.autograd.grad(got, given, dloss.to(got.dtype)), torch.autograd.grad(right, wide, dloss))
                for made, expected in pairs:
                    expect_close(f"a gradient of {what}", made, expected, bound * max(1, expected.abs().max().item()))
                    if made.dtype != dtype:
                        wrong.append(f"{what}: a gradient of {made.dtype}")
given = leaf(hidden), leaf(matrix)
loss, right = linear(*given, labels, label_smoothing=0.2), own_linear_cross_entropy(*given, labels, "mean", 0.2)
expected = torch.autograd.grad(right, given)
for turn in range(2):  # twice by one graph
    for got, of_own in zip(torch.autograd.grad(loss * 3, given, retain_graph=True), expected):
        expect_close("linear_cross_entropy, used again", got, 3 * of_own)
for i in range(2):
    expect_close("linear_cross_entropy, one gradient", torch.autograd.grad(linear(*[each if i == j else each.detach() for j, each in enumerate(given)], labels, label_smoothing=0.2), given[i])[0], expected[i])
if linear(*[each.detach() for each in given], labels).requires_grad or not linear(hidden, matrix, torch.full_like(labels, -100)).isnan():
    wrong.append("linear_cross_entropy: a gradient of no leaf, or a mean of no rows")
with torch.autocast(device, torch.bfloat16):
    low = leaf(hidden.float()), leaf(matrix.float())
    linear(*low, labels).backward()
expect_close("linear_cross_entropy under autocast", low[1].grad, own_linear_cross_entropy(leaf(hidden), w := leaf(matrix), labels, "mean").backward() or w.grad, 0.02)
expect_close("compiled linear_cross_entropy", torch.compile(lambda *given: linear(*given, labels, label_smoothing=0.2) * 2, backend="aot_eager")(*given), right * 2)
for exception, words, call in (
        (ValueError, "reduction is 'average', expected one of: mean", lambda: linear(hidden, matrix, labels, reduction="average")),
        (ValueError, "have shapes (2, 9, 16), (37, 16) and (9,)", lambda: linear(hidden, matrix, labels[0])),
        (ValueError, "weight is of torch.float32, expected torch.float64", lambda: linear(hidden, matrix.float(), labels)),
        (ValueError, "chunk_rows is 0, expected 1 or more", lambda: linear(hidden, matrix, labels, chunk_rows=0)),
        (NotImplementedError, "linear_cross_entropy has no second derivative", lambda: torch.autograd.grad(torch.autograd.grad(linear(*given, labels), given, create_graph=True)[0].sum(), given))):
    expect(exception, words, call)

# ---- Ways in which a gradient could be lost: each op has the right one, or an error with a reason
def pulled_back(function, *given):
    *given, dy = given
    return torch.func.vjp(function, *given)[1](dy)


hidden, matrix, dy = normal(3, 6), normal(8, 6), normal(3, 8)
losing = {
    "cross_entropy": (lambda x: ops.cross_entropy(x, few_targets, -100, 0.1, 0.01)[0], own_cross_entropy, (x,)),
    "linear_cross_entropy": (lambda *given: linear(*given, few_targets), lambda h, w: F.cross_entropy(h @ w.t(), few_targets), (hidden, matrix)),
    "linear_cross_entropy, rows": (lambda *given: linear(*given, few_targets, reduction="none", chunk_rows=2),
                                   lambda h, w: F.cross_entropy(h @ w.t(), few_targets, reduction="none"), (hidden, matrix)),
    "activation_backward": (lambda dy, x: ops.activation_backward(dy, x, "gelu"), lambda dy, x: pulled_back(F.gelu, x, dy)[0], (dy, x)),
    "activation_and_mul_backward": (lambda dy, *given: torch.cat(ops.activation_and_mul_backward(dy, *given)),
                                    lambda dy, *given: torch.cat(pulled_back(lambda x, up: F.silu(x) * up, *given, dy)), (dy, x, normal(3, 8))),
    "softmax_backward": (lambda dy, y: ops.softmax_backward(dy, y, 0.5), lambda dy, y: 0.5 * y * (dy - (dy * y).sum(-1, keepdim=True)), (dy, x.softmax(-1))),
}


def of_leaves(call, given, dy, change=lambda leaves: leaves, finish=lambda y: y):
    """The gradients of leaves, for a call of their results by `change`, and a loss of its result by `finish`."""
    leaves = [leaf(each) for each in given]
    y = finish(call(*change(leaves)))
    y.backward(dy.expand_as(y).to(y.dtype))
    return [each.grad for each in leaves]


def under(context, call):
    def run(*given):
        with context():
            return call(*given)
    return run


def changed_after(call, given, dy):
    copies = []
    return of_leaves(call, given, dy, lambda leaves: copies.extend(each * 1 for each in leaves) or copies, lambda y: (copies[0].mul_(2), y)[1])


def backward_under_autocast(call, given, dy):
    leaves = [leaf(each) for each in given]
    y = call(*leaves)
    with torch.autocast(device, torch.bfloat16):
        y.backward(dy)
    return [each.grad for each in leaves]


def in_threads(call, given, dy):
    leaves = [leaf(each) for each in given]
    threads = [threading.Thread(target=lambda: call(*leaves).backward(dy)) for _ in range(4)]
    for step in (threading.Thread.start, threading.Thread.join):
        for each in threads:
            step(each)
    return [each.grad / 4 for each in leaves]


def for_two(call, given, dy):
    leaves = [leaf(each) for each in given]
    return [each[1] for each in torch.autograd.grad(call(*leaves), leaves, torch.stack((dy * 0, dy)), is_grads_batched=True)]


def selective(call):
    saved = torch.ops.aten.mm.default, *[getattr(ops, name).default for name in losing if "," not in name and "linear" not in name]
    policy = partial(create_selective_checkpoint_contexts, lambda context, op, *a, **k: CheckpointPolicy.MUST_SAVE if op in saved else CheckpointPolicy.PREFER_RECOMPUTE)
    return lambda *given: checkpoint(call, *given, use_reentrant=False, context_fn=policy)


def with_dual(call, given, dy):
    with forward_ad.dual_level():
        call(forward_ad.make_dual(given[0], given[0]), *given[1:])


in_place_changed, alone_only = "modified by an inplace operation", "linear_cross_entropy has no "
no_rule, no_graph = (NotImplementedError, alone_only + "rule for torch.func"), (RuntimeError, "does not require grad")
linear_ops = [name for name in losing if "linear" in name]
# Each way has a function, and the errors of ops. None: the way is not for the op. The other ops give the gradient.
ways = {
    "not contiguous": (lambda call, given, dy: of_leaves(call, given, dy.t().contiguous().t() if dy.dim() > 1 else dy, lambda leaves: [each.t().contiguous().t() for each in leaves]), {}),
    "slices": (lambda call, given, dy: of_leaves(call, given, dy, lambda leaves: [F.pad(each, (2, 3))[:, 2:-3] for each in leaves]), {}),
    "changed in place after it": (changed_after, dict.fromkeys(list(losing)[2:], (RuntimeError, in_place_changed))),
    "result changed in place": (lambda call, given, dy: of_leaves(call, given, dy / 2, finish=lambda y: y.mul_(2)), {}),
    "detached": (lambda call, given, dy: of_leaves(call, given, dy, lambda leaves: [each.detach() for each in leaves]), dict.fromkeys(losing, no_graph)),
    "no_grad": (lambda call, given, dy: of_leaves(under(torch.no_grad, call), given, dy), dict.fromkeys(losing, no_graph)),
    "inference_mode": (lambda call, given, dy: of_leaves(under(torch.inference_mode, call), given, dy), dict.fromkeys(losing, no_graph)),
    "reentrant checkpoint": (lambda call, given, dy: of_leaves(lambda *given: checkpoint(call, *given, use_reentrant=True), given, dy), {}),
    "selective checkpoint": (lambda call, given, dy: of_leaves(selective(call), given, dy), {}),
    "saved on the CPU": (lambda call, given, dy: of_leaves(under(torch.autograd.graph.save_on_cpu, call), given, dy), {}),
    "backward under autocast": (backward_under_autocast, {}),
    "compiled": (lambda call, given, dy: of_leaves(torch.compile(call, backend="aot_eager"), given, dy), {}),
    "jit.trace": (lambda call, given, dy: of_leaves(torch.jit.trace(call, tuple(given), check_trace=False), given, dy), {}),
    "threads": (in_threads, {}),
    "hooks": (lambda call, given, dy: of_leaves(call, given, dy * 2, finish=lambda y: (y.register_hook(lambda gradient: gradient / 2), y)[1]), {}),
    "copies of parameters": (lambda call, given, dy: of_leaves(call, [copy.deepcopy(torch.nn.Parameter(each)) for each in given], dy), {}),
    "many gradients at once": (for_two, dict.fromkeys(linear_ops, (NotImplementedError, alone_only + "backward pass for many"))),
    "vmap of vjp": (lambda call, given, dy: [each[1] for each in torch.vmap(torch.func.vjp(call, *given)[1])(torch.stack((dy * 0, dy)))], dict.fromkeys(linear_ops, no_rule)),
    "functionalize": (lambda call, given, dy: of_leaves(torch.func.functionalize(call), given, dy), dict.fromkeys(linear_ops, no_rule)),
    "make_fx": (lambda call, given, dy: of_leaves(make_fx(call)(*given), given, dy), dict.fromkeys(linear_ops, no_rule)),
    "a tangent": (with_dual, {name: (NotImplementedError, f"{name.partition(',')[0]} has no forward-mode derivative") for name in losing}),
    "meta": (lambda call, given, dy: call(*[each.to("meta") for each in given]), {
        **dict.fromkeys(losing), "cross_entropy": (RuntimeError, f"cross_entropy: target is on {few_targets.device}, expected meta"), **dict.fromkeys(linear_ops, (NotImplementedError, "hidden is a Tensor on meta"))}),
    "integers": (lambda call, given, dy: call(*[each.long() for each in given]), {
        **{name: (RuntimeError, f"{name}: {'y' if 'soft' in name else 'x'}.dtype is i64") for name in losing}, **dict.fromkeys(linear_ops, (ValueError, "hidden is of torch.int64, expected one of"))}),
    "two dtypes": (lambda call, given, dy: of_leaves(call, [given[0].half(), *given[1:]], dy), {
        "cross_entropy": None, **dict.fromkeys(linear_ops, (ValueError, "weight is of torch.float32, expected torch.float16")),
        **{name: (RuntimeError, f"{name}: dy.dtype is f16, expected f32") for name in list(losing)[3:]}}),
}
for name, (call, own, given) in losing.items():
    wide, given = [leaf(each) for each in given], [each.float() for each in given]
    result = own(*wide)
    for of_stride_0 in (False, True):
        dy = torch.randn(() if of_stride_0 else result.shape, device=device).expand(result.shape)
        expected = torch.autograd.grad(result, wide, dy.double(), retain_graph=True)
        for way, (run, errors) in ways.items():
            torch._dynamo.reset()
            error = errors.get(name, ())
            if error:
                expect(*error, lambda: run(call, given, dy))
            elif error is not None:
                for got, right in zip(run(call, given, dy), expected):
                    expect_close(f"{name}, {way}, dy of stride 0: {of_stride_0}", got, right, 1e-5)

# ---- Every call that could lose a gradient is right or raises
at, single = torch.tensor([0, 2, 2], device=device), torch.float32
missing, in_place = "has no backward pass for", "modified by an inplace operation"


def values(*shape):
    return leaf(normal(*shape, dtype=single))


def kept_by_another(change):
    y = normal(3, 8, dtype=single)
    loss = (y * values(3, 8)).sum()
    change(y, 0, at, normal(3, 8, dtype=single))
    loss.backward()


def loss_after(change_what, op, *given):
    """Runs the op, then changes a tensor that the backward pass needs."""
    result = op(*given)
    change_what.mul_(2)
    as_list(result)[0].sum().backward()


def with_tensor_of_no_grad():
    with torch.no_grad():
        part = values(3, 8)[:2]
    ops.index_add_(part, 0, at[:1], values(1, 8))


def of_inference_tensor():
    with torch.inference_mode():
        y = torch.zeros(3, 8, device=device)
    ops.index_add_(y, 0, at, values(3, 8))


def captured(source, y=normal(3, 8, dtype=single)):
    ops.index_add_(y, 0, at, source)
    return y.sum()


def backward_of(call):
    return lambda: as_list(call())[0].backward()


number = at.clone()
for exception, words, call in (
        (NotImplementedError, f"topk_softmax {missing} x", backward_of(lambda: ops.topk_softmax(values(3, 8), 2)[0].sum())),
        (NotImplementedError, f"softmax_ext {missing} mask", backward_of(lambda: ops.softmax_ext(values(3, 8), values(1, 8)).sum())),
        (NotImplementedError, f"rope {missing} cos", backward_of(lambda: ops.rope(values(1, 1, 3, 8), values(3, 4), sin[:3, :1].float().expand(3, 4)).sum())),
        (NotImplementedError, f"reduce, for max, {missing} x", backward_of(lambda: ops.reduce(values(3, 8), "max"))),
        (NotImplementedError, f"static_quantize {missing} x", lambda: ops.static_quantize(values(3, 8), normal(1, dtype=single), torch.int8)),
        (NotImplementedError, f"dynamic_quantize {missing} x", backward_of(lambda: ops.dynamic_quantize(values(3, 8), torch.int8)[1].sum())),
        (NotImplementedError, f"cross_entropy {missing} lse", backward_of(lambda: ops.cross_entropy(values(3, 8), few_targets)[1].sum())),
        (NotImplementedError, f"cross_entropy {missing} lse", lambda: torch.autograd.grad(torch.autograd.grad(ops.cross_entropy(y := values(3, 8), few_targets)[0].sum(), y, create_graph=True)[0].sum(), y)),
        (NotImplementedError, "cumsum has no forward-mode derivative", lambda: torch.func.hessian(lambda x: ops.cumsum(x, 0).square().sum())(x[0])),
        (NotImplementedError, "cumsum has no forward-mode derivative", lambda: torch.func.jvp(lambda x: ops.cumsum(x, 0), (x,), (x,))),
        (NotImplementedError, "index_add_ under torch.func: y has no gradient", lambda: torch.func.grad(captured)(normal(3, 8, dtype=single))),
        (RuntimeError, "scatter_add_", lambda: torch.vmap(torch.func.grad(lambda x: ops.gather(x, 0, at).square().sum()))(x)),
        (RuntimeError, "index_add_: y is a leaf", lambda: ops.index_add_(values(3, 8), 0, at, normal(3, 8, dtype=single))),
        (RuntimeError, "index_add_: y is a leaf", lambda: ops.index_add_(values(4, 8)[1:], 0, at, normal(3, 8, dtype=single))),
        (RuntimeError, "y is a leaf", with_tensor_of_no_grad),
        (RuntimeError, "is a view and is being modified inplace", lambda: ops.index_add_((values(3, 3) * 1).unbind(0)[0], 0, at, values(3))),
        (RuntimeError, "Inplace update to inference tensor", of_inference_tensor),
        (RuntimeError, in_place, lambda: kept_by_another(ops.index_add_)),
        (RuntimeError, in_place, lambda: kept_by_another(hipops.index_add_)),
        (RuntimeError, in_place, lambda: loss_after(number, ops.index_select, values(3, 8), 0, number)),
        (RuntimeError, in_place, lambda: loss_after(y := values(3, 8) * 1, ops.rms_norm, y)),
        (RuntimeError, in_place, lambda: loss_after((y := ops.fused_add_rms_norm(values(3, 8), values(3, 8)))[1], lambda: y[0])),
        (RuntimeError, "second time", lambda: [y := ops.gather(values(3), 0, at).sum(), y.backward(), y.backward()]),
        (RuntimeError, "complex64, expected one of", lambda: ops.cumsum(values(3, 8).to(torch.complex64), 1)),
        (ValueError, "cumsum: x requires a gradient, which only torch.ops.hipops", lambda: hipops.cumsum(values(3, 8), 1)),
        (ValueError, "cumsum: y requires a gradient", lambda: hipops.cumsum(normal(3, 8, dtype=single), 1, out=values(3, 8))),
        (RuntimeError, in_place, lambda: loss_after(y := values(3, 8) * 1, ops.activation_and_mul, y, y)),
        (Exception, f"topk_softmax {missing} x", lambda: torch.compile(ops.topk_softmax, backend="aot_eager")(values(3, 8), 2))):
    expect(exception, words, call)
untouched = values(3, 8)
before = untouched.detach().clone()
expect(RuntimeError, "leaf", lambda: ops.index_add_(untouched, 0, at, before))
expect_close("the leaf after the refusal", untouched.detach(), before, 0)
if any(y.requires_grad for y in (ops.topk(values(3, 8), 2)[1], ops.sort(values(3, 8))[1], ops.reduce(values(3, 8), "argmax"))):
    wrong.append("an index requires a gradient")

whole, part = values(3, 8), values(1, 8)  # a view of y changes; a view that was made before sees it
y = whole * 1
seen = y.view(24)
ops.index_add_(y[:2], 0, at[:1], part)
seen.square().sum().backward()
expect_close("the gradient of y by its view", whole.grad, 2 * y.detach(), 1e-5)
expect_close("the gradient of the source by y's view", part.grad, 2 * y.detach()[:1], 1e-5)
for is_graph_input in (True, False):  # torch.compile: y is an input of the graph, or made in it
    def adds(y, source):
        y = y if is_graph_input else y * 1
        ops.index_add_(y, 0, at, source)
        return y.square()
    torch._dynamo.reset()
    y, source = values(3, 8) * 1, values(3, 8)
    start, result = y.detach().clone(), torch.compile(adds, backend="aot_eager", fullgraph=True)(y, source)
    (y.square() if is_graph_input else result).sum().backward()
    expect_close("the gradient of a compiled index_add_", source.grad, 2 * start.index_add(0, at, source.detach())[at], 1e-5)
for call in (ops.rms_norm, ops.softmax, lambda x: sum(ops.fused_add_rms_norm(x, x)), lambda x: ops.gather(x, 0, at), lambda x: changed(ops.scatter_add_, x, 0, at, x), lambda x: ops.sort(x)[0], lambda x: ops.cumsum(x, 0)):
    def inner(x, call=call):
        return torch.func.grad(lambda x: call(x).pow(3).sum())(x).square().sum()
    given = values(3)
    once = torch.autograd.grad(call(given).pow(3).sum(), given, create_graph=True)[0]
    expect_close("func.grad of func.grad", torch.func.grad(inner)(given.detach()), torch.autograd.grad(once.square().sum(), given)[0], 1e-3)
mapped = values(2, 3)
torch.vmap(lambda x: ops.cumsum(x, 0))(mapped).square().sum().backward()
expect_close("vmap inside of autograd", mapped.grad, torch.autograd.grad(mapped.cumsum(1).square().sum(), mapped)[0], 1e-5)
expect_close("jacrev", torch.func.jacrev(lambda x: ops.cumsum(x, 0))(normal(3, dtype=single)), torch.ones(3, 3, device=device).tril(), 0)
given, matrix, weight = values(3, 8), values(8, 8), values(8)
with torch.autocast(device, torch.bfloat16):
    y = ops.rms_norm(given @ matrix, weight)
y.float().square().sum().backward()
if (y.dtype, given.grad.dtype, weight.grad.dtype) != (torch.bfloat16, single, single):
    wrong.append(f"autocast: {y.dtype}, gradients {given.grad.dtype} and {weight.grad.dtype}")
rows, dy = values(9, 8), normal(1, 8, dtype=single).expand(9, 8)  # strides of 0
invariant = torch.autograd.grad(ops.rms_norm(rows, weight, 1e-5, False, False, True), rows, dy)[0]
alone = torch.autograd.grad(ops.rms_norm(row := leaf(rows[4:5]), weight, 1e-5, False, False, True), row, dy[:1])[0]
expect_close("the gradient of a row alone, batch_invariant", alone, invariant[4:5], 0)
print(f"PyTorch {torch.__version__} on {device}")
print("\n".join(wrong) or "passed")
sys.exit(1 if wrong else 0)
