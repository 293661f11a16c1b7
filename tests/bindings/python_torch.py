#!/usr/bin/env python3
"""python_torch.py PAGE: torch.ops.hipops, on a GPU if PyTorch sees one, otherwise on the CPU.

Runs PyTorch's opcheck, compares results and strides with PyTorch, and checks torch.compile, derivatives, refusals, and
the example on PAGE. Exit 77 without PyTorch."""

import contextlib
import importlib.util
import io
import itertools
import os
import pathlib
import re
import subprocess
import sys
import warnings

try:
    import torch
except ImportError:
    print("skipped: no PyTorch")
    sys.exit(77)

import hipops.torch
from hipops.torch._backward import BACKWARD
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd import forward_ad

wrong = []
device = "cuda" if torch.cuda.is_available() else "cpu"
ops = torch.ops.hipops
torch.manual_seed(1)


def normal(*shape, dtype=torch.float32):
    return torch.randn(*shape, device=device).to(dtype)


def index(below, *shape):
    return torch.randint(below, shape, device=device)


def expect_close(what, got, expected, bound=2e-6):
    difference = (got.double() - expected.double()).abs().max().item() if got.shape == expected.shape else f"shape {tuple(got.shape)}"
    if got.shape != expected.shape or not difference <= bound:
        wrong.append(f"{what}: {difference} from PyTorch's")


def expect(exception, words, call):
    try:
        call()
        wrong.append(f"accepted, expected {exception.__name__} with {words}")
    except Exception as got:  # the test reports any exception
        if not isinstance(got, exception) or not all(word in str(got) for word in words):
            wrong.append(f"{type(got).__name__}: {got}; expected {exception.__name__} with {words}")


x, weight = normal(6, 80), normal(80)
cases = {
    "layer_norm": [(x, weight, weight), (x.bfloat16(), weight.bfloat16())],
    "rms_norm": [(x, weight), (x.t(),), (x[:, 3:70],), (x, weight, 1e-6, True, True)],
    "fused_add_rms_norm": [(x, normal(6, 80), weight, 1e-5, True)],
    "fused_add_layer_norm": [(x, normal(6, 80), weight, weight, 1e-5, True)],
    "rms_norm_backward": [(x, x, weight), (x.t(), x.t()), (x, x.flip(0), weight, None, 1e-6, True, True, False, False)],
    "activation_and_mul": [(x, x), (x[:, :40], x[:, 40:], "gelu", 1.5), (x.t(), x.t(), "swish", 0.0, 1.5, True)],
    "softmax": [(x,), (x[:, 3:70],), (normal(3, 4, 5).permute(2, 0, 1),)],
    "log_softmax": [(x,)],
    "softmax_ext": [(x, x[:1] > 0), (normal(2, 3, 4, 5), normal(2, 1, 4, 5), normal(3, 1, 1), normal(3, 1, 1), 0.5, True)],
    "rope": [(normal(1, 4, 7, 16), normal(7, 8), normal(7, 8)),
             (normal(1, 7, 4, 16).transpose(1, 2), normal(9, 8), normal(9, 8), torch.arange(7, device=device))],
    "rope_i": [(normal(1, 4, 7, 16), normal(7, 8), normal(7, 8))],
    "rope_thd": [(normal(1, 7, 4, 16), normal(7, 8), normal(7, 8))],
    "gather": [(x, 1, index(80, 6, 5)), (x, -1, index(80, 6, 5))],
    "index_select": [(x, 0, index(6, 9)), (x, -1, index(80, 9))],
    "scatter_": [(normal(6, 80), 1, index(80, 6, 5), normal(6, 5))],
    "scatter_add_": [(normal(6, 80), 1, index(80, 6, 5), normal(6, 5), True)],
    "index_add_": [(normal(6, 80), 0, index(6, 9), normal(9, 80))],
    "upsample_nearest1d": [(normal(1, 2, 7), 14)],
    "upsample_nearest2d": [(normal(1, 2, 7, 5), [14, 9]), (normal(1, 2, 4, 4), [8, 8], 2.0, 2.0, "exact")],
    "static_quantize": [(x, weight[:1], torch.float8_e4m3fn), (x.t(), weight[:6], torch.int8)],
    "dynamic_quantize": [(x, torch.float8_e4m3fn), (x.bfloat16(), torch.int8, 16, weight[:1]), (x.t(), torch.int8, -1)],
    "topk": [(x, 7), (x.t(), 3, False, False), (x.bfloat16(), 2, True, True, None, index(80, 6))],
    "cumsum": [(x, 1), (x.t(), -2)],
    "sort": [(x,), (x.t(), True), (normal(5000), True, False)],
    "moe_align_block_size": [(index(8, 40, 2), 8, 16), (index(8, 3, 2), 8, 4, index(8, 8).int() - 4)],
    "topk_softmax": [(x, 7), (x.bfloat16(), 4, False, True, weight), (x.t(), 2, True, False, None, 3, 1, 2.5)],
    "layer_norm_backward": [(x, x.flip(0), weight), (x.t(), x.t()), (x, x.flip(0), weight, None, None, 1e-6, True, False, False)],
    "softmax_backward": [(x, x.softmax(-1)), (x.t(), x.t().softmax(-1).bfloat16().float(), 0.5)],
    "log_softmax_backward": [(x, x.log_softmax(-1)), (x.bfloat16(), x.log_softmax(-1).bfloat16(), True)],
    "activation_backward": [(x, x.flip(0), "silu"), (x.t(), x.t(), "elu", 0.5)],
    "activation_and_mul_backward": [(x, x, x), (x[:, 40:], x[:, :40], x[:, 40:], "gelu", 1.5), (x, x.flip(0), x.t().contiguous().t(), "swish", 0.0, 1.5, True)],
    "sample": [(x, normal(6).abs() % 1), (x.t(), normal(80).abs() % 1, normal(80), index(9, 80), normal(80), normal(80))],
    "apply_penalties": [(x, x > 1), (x.t(), x.t() > 1, (x.t() < 0).int(), normal(80), normal(80), normal(80))],
    "cross_entropy": [(x, index(80, 6)), (x.t().bfloat16(), index(6, 80).int(), 3, 0.1, 0.5, True, True)],
    "strided_copy": [(x.t(),)],
}
for name, calls in cases.items():
    for arguments in calls:
        for test, outcome in torch.library.opcheck(getattr(ops, name).default, arguments, raise_exception=False).items():
            if outcome != "SUCCESS":
                wrong.append(f"{name}: {test}: {outcome}")

# ---- Results, compared with PyTorch
F = torch.nn.functional
expect_close("rms_norm", ops.rms_norm(x.t(), None, 1e-5), F.rms_norm(x.t(), (6,), eps=1e-5))
expect_close("layer_norm", ops.layer_norm(x, weight, weight), F.layer_norm(x, (80,), weight, weight), 5e-6)
expect_close("softmax", ops.softmax(x[:, 3:]), x[:, 3:].softmax(-1))
expect_close("log_softmax", ops.log_softmax(x), x.log_softmax(-1))
of_mean, of_rstd = torch.native_layer_norm(x, (80,), weight, weight, 1e-5)[1:]
expected = torch.ops.aten.native_layer_norm_backward(x.flip(0), x, [80], of_mean, of_rstd, weight, weight, [True, True, True])
for given in ((), (of_mean, of_rstd)):
    for got, right in zip(ops.layer_norm_backward(x.flip(0), x, weight, *given), expected):
        expect_close("layer_norm_backward", got, right, 1e-4)
for op, y in (("softmax_backward", x.softmax(-1)), ("log_softmax_backward", x.log_softmax(-1))):
    expect_close(op, getattr(ops, op)(x.flip(1), y), getattr(torch.ops.aten, f"_{op}_data")(x.flip(1), y, -1, torch.float32), 1e-5)
targets = torch.tensor([3, -100, 79, 0, 5, 5], device=device)
own = torch.func.grad_and_value(lambda x: F.cross_entropy(x, targets, label_smoothing=0.1, reduction="sum"))(x)
loss, lse, dx = ops.cross_entropy(x, targets, -100, 0.1, gradient=True)
expect_close("cross_entropy", loss, F.cross_entropy(x, targets, label_smoothing=0.1, reduction="none"), 5e-6)
expect_close("its lse", lse, x.logsumexp(-1))
expect_close("its gradient", dx, own[0])
scores, mask, slopes, sinks = normal(2, 3, 4, 5), normal(2, 1, 4, 5), normal(3, 1, 1).abs(), normal(3, 1, 1)
with_sinks = torch.cat([scores * 0.5 + slopes * mask, sinks.expand(2, 3, 4, 1)], -1).softmax(-1)[..., :-1]
expect_close("softmax_ext", ops.softmax_ext(scores, mask, slopes, sinks, 0.5), with_sinks)
expect_close("softmax_ext of bool", ops.softmax_ext(scores, mask > 0, masked_row_zero=True),
             scores.masked_fill(mask <= 0, -torch.inf).softmax(-1).nan_to_num(0))
expect_close("cumsum", ops.cumsum(x, 0), x.cumsum(0))
for tensor, descending in ((x, False), (x.t(), True), (normal(2, 5000).bfloat16(), True)):
    in_order = torch.sort(tensor, stable=True, descending=descending)
    expect_close("sort", ops.sort(tensor, descending)[0], in_order[0], 0)
    expect_close("its columns", ops.sort(tensor, descending)[1], in_order[1], 0)
    expect_close("its columns alone", ops.sort(tensor, descending, False)[1], in_order[1], 0)
y, h = ops.fused_add_rms_norm(x, x.flip(0), weight)
expect_close("fused_add_rms_norm", y, F.rms_norm(x + x.flip(0), (80,), weight, 1e-5), 5e-6)
expect_close("its sum", h, x + x.flip(0), 0)
for columns in (40, 1024, 4097):  # on the CPU, rows alone have other bits without the flag
    rows, w = normal(140, columns), normal(columns)
    for name, arguments in (("layer_norm", (w, w, 1e-5)), ("rms_norm", (w, 1e-5, False, False)), ("softmax", ()), ("log_softmax", ()),
                            ("softmax_ext", (None, None, None, 0.5, False)), ("rms_norm_backward", (w, None, 1e-5, False, False)), ("reduce", ("sum", [-1], True)),
                            ("fused_add_rms_norm", (w, 1e-5, False, False, False)), ("fused_add_layer_norm", (w, w, 1e-5, False))):
        def run(x):
            y = getattr(ops, name)(*(x, x.flip(1))[:1 + name.startswith(("fused", "rms_norm_b"))], *arguments, True)
            return y[0] if isinstance(y, tuple) else y
        expect_close(f"{name} of a row of {columns}", run(rows[7:8]), run(rows)[7:8], 0)
eights = (torch.float8_e4m3fn, torch.float8_e4m3fnuz, torch.float8_e5m2, torch.float8_e5m2fnuz)
for eight in eights:
    moved = x.to(eight).t()
    expect_close(f"strided_copy {eight}", ops.strided_copy(moved).float(), moved.float(), 0)
    for scale in (normal(1).abs(), normal(6, 1).abs(), normal(80).abs()):
        most = torch.finfo(eight).max
        expect_close(f"static_quantize {eight}", ops.static_quantize(x, scale, eight).float(), (x / scale).clamp(-most, most).to(eight).float(), 0)
    for group in (80, 16):
        q, scale = ops.dynamic_quantize(x, eight, group % 80)
        rows, most = x.view(6, -1, group), {torch.float8_e4m3fn: 448, torch.float8_e4m3fnuz: 224}.get(eight, 57344)
        expect_close(f"scales of {eight}", scale, rows.abs().amax(-1) / most, 0)
        expect_close(f"dynamic_quantize {eight}", q.float(), (rows / scale[:, :, None]).to(eight).view(6, 80).float(), 0)
large = normal(300, 401)
q, scale = ops.dynamic_quantize(large, torch.float8_e4m3fn, -1)
expect_close("scale of a tensor", scale, large.abs().amax() / 448, 0)
expect_close("dynamic_quantize of a tensor", q.float(), (large / scale).to(torch.float8_e4m3fn).float(), 0)
expect_close("scales of int8 with a bound", ops.dynamic_quantize(x.t(), torch.int8, 0, weight.new_tensor(0.5))[1],
             torch.full((80, 1), 0.5, device=device).minimum(x.t().abs().amax(-1, True)) / 127, 0)
expect_close("static_quantize int8", ops.static_quantize(x.t(), weight.new_tensor(0.02), torch.int8).float(),
             (x.t() / weight.new_tensor(0.02)).round().clamp(-128, 127), 0)
for largest in (True, False):
    for got, right in zip(ops.topk(x, 7, largest), torch.topk(x, 7, largest=largest)):
        expect_close("topk", got, right, 0)
for right, got in zip(x.softmax(-1).topk(7), ops.topk_softmax(x, 7, False)):
    expect_close("topk_softmax", got, right.to(got.dtype), 5e-6)
expect_close("sample at temperature 0", ops.sample(x, weight[:6], 0 * weight[:6]), x.argmax(-1).int(), 0)
expect_close("apply_penalties", ops.apply_penalties(x, x > 1, (x < 0).int(), weight[:6], weight[:6]),
             torch.where(x > 1, x / weight[:6, None], torch.where(x < 0, x * weight[:6, None] - weight[:6, None], x)), 0)
for kind, act in (("silu", F.silu), ("gelu", F.gelu), ("relu", F.relu)):
    expect_close(kind, ops.activation_and_mul(x[:, :40], x[:, 40:], kind), act(x[:, :40]) * x[:, 40:], 5e-6)
expect_close("index_select", ops.index_select(x, 1, index(80, 9) * 0 + 7), x[:, 7:8].expand(6, 9), 0)
for name in ("scatter_", "scatter_add_", "index_add_"):
    y, dim, at, source = cases[name][0][:4]
    own, *its = y.clone(), at, source
    getattr(own, name)(dim, *its)
    getattr(ops, name)(mine := y.clone(), dim, at, source)
    if name != "scatter_":  # its index may repeat
        expect_close(name, mine, own)

# ---- Refusals
expect(RuntimeError, ["rms_norm: weight.shape[0] is 79, expected 80 (x.shape[1])"], lambda: ops.rms_norm(x, weight[:79]))
expect(RuntimeError, ["rms_norm: x.dtype is i32, expected f32"], lambda: ops.rms_norm(x.int()))
expect(RuntimeError, ["softmax_ext: mask has shape (5, 80), expected one that broadcasts to (6, 80)"], lambda: ops.softmax_ext(x, x[:5]))
expect(RuntimeError, ["softmax_ext: sinks has shape (6,), expected"], lambda: ops.softmax_ext(x, sinks=x[:, 0]))
expect(RuntimeError, ["softmax", "9 dimensions, expected 8"], lambda: ops.softmax(normal(*[1] * 9)))
expect(NotImplementedError, ["Sparse"], lambda: ops.softmax(x.to_sparse()))
expect(RuntimeError, ["rms_norm: weight is on meta, expected", "x's"], lambda: ops.rms_norm(x, weight.to("meta")))
expect(TypeError, ["patch: model is a int, expected"], lambda: hipops.torch.patch(3))
expect(ValueError, ["patch: model is on meta"], lambda: hipops.torch.patch(torch.nn.Linear(2, 2, device="meta")))
freed = normal(4, 4)
freed.untyped_storage().resize_(0)
expect(RuntimeError, ["softmax: x.data is NULL"], lambda: ops.softmax(freed))
if device == "cuda":
    expect(RuntimeError, ["rms_norm: weight is on cpu, expected cuda:0 (x's)"], lambda: ops.rms_norm(x, weight.cpu()))
    expect(RuntimeError, ["rms_norm: weight is on cuda:0, expected cpu (x's)"], lambda: ops.rms_norm(x.cpu(), weight))
    expect(RuntimeError, ["gather: index is on cpu, expected cuda:0 (x's)"], lambda: ops.gather(x, 0, index(6, 6, 1).cpu()))
    for call in (lambda: ops.softmax(x.cpu()), lambda: ops.strided_copy(x.cpu())):
        expect(RuntimeError, ["x is on cpu, and this process uses cuda: one process has one backend"], call)
    graph, still = torch.cuda.CUDAGraph(), x.clone()
    ops.softmax(still)
    with torch.cuda.graph(graph):
        captured = ops.softmax(still)
    still.copy_(x.flip(0))
    graph.replay()
    expect_close("softmax in a graph", captured, x.flip(0).softmax(-1))

# ---- A mistake has the same exception and text with memory and without
cos, at = normal(7, 8), index(6, 6, 5)
q = normal(1, 4, 7, 16)
floats = "float32, float16, bfloat16, float64"
mistakes = [
    ("rms_norm", (x.int(),), "rms_norm: x.dtype is i32, expected f32, f16, bf16 or f64"),
    ("rms_norm", (x[0, 0],), "rms_norm: x.rank is 0, expected 1 to 8"),
    ("rms_norm", (x, weight[:79]), "rms_norm: weight.shape[0] is 79, expected 80 (x.shape[1])"),
    ("rms_norm", (x, x), "rms_norm: weight.rank is 2, expected 1"),
    ("rms_norm", (x, weight.half()), "rms_norm: weight.dtype is f16, expected f32 (x.dtype)"),
    ("rms_norm", (x, weight.bool()), "rms_norm: weight is of bool, expected one of: float32"),
    ("rms_norm", (x.half(), weight.to(torch.float8_e5m2)), "rms_norm: weight.dtype is f8_e5m2, expected f16 (x.dtype) or f32"),
    ("rms_norm", (x, weight, -1.0), "rms_norm: eps is -1, expected a finite number of 0 or more"),
    ("layer_norm", (x, weight, weight[:79]), "layer_norm: bias.shape[0] is 79, expected 80 (x.shape[1])"),
    ("softmax", (x.to(torch.complex64),), f"softmax: x is of complex64, expected one of: {floats}"),
    ("softmax", (x.to(torch.float8_e4m3fn),), "softmax: x.dtype is f8_e4m3fn, expected f32, f16, bf16 or f64"),
    ("softmax", (x.bool(),), f"softmax: x is of bool, expected one of: {floats}"),
    ("softmax", (normal(*[1] * 9),), "softmax: x has 9 dimensions, expected 8 at most"),
    ("fused_add_rms_norm", (x, x[:5]), "fused_add_rms_norm: residual.shape[0] is 5, expected 6 (x.shape[0])"),
    ("fused_add_rms_norm", (x, x[0]), "fused_add_rms_norm: residual.rank is 1, expected 2 (x.rank)"),
    ("fused_add_rms_norm", (x, x.half()), "fused_add_rms_norm: residual.dtype is f16, expected f32 (x.dtype)"),
    ("fused_add_rms_norm", (x.double(), x.double()), "fused_add_rms_norm: x.dtype is f64, expected f32, f16 or bf16"),
    ("fused_add_rms_norm", (x, x.bool()), "fused_add_rms_norm: residual is of bool, expected one of: float32, float16, bfloat16"),
    ("activation_and_mul", (x, x[:5]), "activation_and_mul: up.shape[0] is 5, expected 6 (x.shape[0])"),
    ("activation_and_mul", (x, x, "slu"), "activation_and_mul: kind is 'slu', expected one of: identity, relu"),
    ("activation_and_mul", (x, x, "silu", -1.0), "activation_and_mul: limit is -1, expected 0 (none) or more"),
    ("activation_and_mul_backward", (x[:5], x, x), "activation_and_mul_backward: dy.shape[0] is 5, expected 6 (x.shape[0])"),
    ("activation_and_mul_backward", (x, x, x, "slu"), "activation_and_mul_backward: kind is 'slu', expected one of: identity, relu"),
    ("rms_norm_backward", (x, x.bool()), "rms_norm_backward: x is of bool, expected one of: float32"),
    ("rms_norm_backward", (x, x, weight, x[:, :1].half()), "rms_norm_backward: rstd.dtype is f16, expected f32"),
    ("rms_norm_backward", (x, x, weight, None, -1.0), "rms_norm_backward: eps is -1, expected a finite number of 0 or more"),
    ("static_quantize", (x, x[:5], torch.int8), "static_quantize: scale.shape[0] is 5, expected 6 (x.shape[0])"),
    ("static_quantize", (x, x, torch.uint8), "static_quantize: dtype is uint8, expected one of: float8_e4m3fn, float8_e4m3fnuz"),
    ("static_quantize", (x, x.half(), torch.int8), "static_quantize: scale.dtype is f16, expected f32"),
    ("dynamic_quantize", (x, torch.int8, 7), "dynamic_quantize: group is 7, expected 0 or a divisor of 80 (x.shape[1])"),
    ("dynamic_quantize", (x, torch.int8, -2), "dynamic_quantize: group is -2, expected 0 or more, or HIPOPS_WHOLE_TENSOR (-1)"),
    ("dynamic_quantize", (x, torch.int8, 0, weight), "dynamic_quantize: scale_ub has 80 elements, expected 1"),
    ("topk", (x, 81), "topk: k is 81, expected at most 80 (x.shape[1])"),
    ("topk", (x, 3, True, True, x[:, 0]), "topk: lengths.dtype is f32, expected i64 or i32"),
    ("activation", (x.double(), "silu"), "activation: x.dtype is f64, expected f32, f16 or bf16"),
    ("rope", (q[0], cos, cos), "rope: x.rank is 3, expected 4"),
    ("rope", (q, cos[:6], cos), "rope: cos.shape[0] is 6, expected at least 7 (x.shape[2]) without positions"),
    ("rope_i", (q, cos, cos, at), "rope_i: positions.shape[0] is 6, expected 1 (x.shape[0])"),
    ("rope_thd", (q, cos, cos, cos.bool()), "rope_thd: positions is of bool, expected one of: int32, int64"),
    ("gather", (x, 7, at), "gather: dim is 7, expected 0 to 1 (x.rank is 2)"),
    ("gather", (x[0, 0], 0, at), "gather: x.rank is 0, expected 1 to 8"),
    ("gather", (x, 1, at[0]), "gather: index.rank is 1, expected 2 (x.rank)"),
    ("gather", (x, 1, at.float()), "gather: index.dtype is f32, expected u8, i16, i32, u32 or i64"),
    ("gather", (x.bool(), 1, at), "gather: x is of bool, expected one of: float32, float16, bfloat16, float64, uint8"),
    ("index_select", (x, 5, at[0]), "index_select: dim is 5, expected 0 to 1 (x.rank is 2)"),
    ("index_select", (x, -3, at[0]), "index_select: dim is -3, expected 0 to 1 (x.rank is 2)"),
    ("index_select", (x[0, 0], 0, at[0]), "index_select: x.rank is 0, expected 1 to 8"),
    ("index_select", (x, 0, at), "index_select: index.rank is 2, expected 1"),
    ("index_select", (x, 0, at[0].bool()), "index_select: index is of bool, expected one of: uint8, int16, int32, uint32, int64"),
    ("scatter_", (x.clone(), 5, at, normal(6, 5)), "scatter: dim is 5, expected 0 to 1 (x.rank is 2)"),
    ("scatter_", (x.clone(), 0, at, normal(6, 4)), "scatter: index.shape[1] is 5, expected 4 (x.shape[1])"),
    ("scatter_", (x[:1].expand(6, 80), 0, at, normal(6, 5)), "scatter: y.stride[0] is 0, expected distinct elements"),
    ("scatter_add_", (x.clone(), 1, at, normal(6, 5).half()), "scatter_add: y.dtype is f32, expected f16 (x.dtype)"),
    ("scatter_add_", (x.clone(), 1, at, normal(6, 5).bool()), "scatter_add: src is of bool, expected one of: float32"),
    ("index_add_", (x.clone(), 0, at, x), "index_add: index.rank is 2, expected 1"),
    ("index_add_", (x[0, 0], 0, at[0], x), "index_add: y.rank is 0, expected 1 to 8"),
    ("index_add_", (x.clone(), 0, at[0], x), "index_add: index.shape[0] is 5, expected 6 (x.shape[0])"),
    ("upsample_nearest1d", (x, 7), "upsample_nearest1d: x.rank is 2, expected 3"),
    ("upsample_nearest1d", (q[0], -1), "upsample_nearest1d: output_size is -1, expected 0 or more"),
    ("upsample_nearest1d", (x[0, 0], 7), "upsample_nearest1d: "),
    ("upsample_nearest2d", (q, [3, 4], -1.0), "upsample_nearest2d: scale_h is -1, expected a finite number of 0 or more"),
    ("upsample_nearest2d", (q, [3, 4], None, None, "best"), "upsample_nearest2d: rule is 'best', expected pytorch, candle or exact"),
    ("strided_copy", (x.bool(),), "strided_copy: x is of bool, expected one of: float32, float16, bfloat16, float64, uint8"),
    ("strided_copy", (normal(*[1] * 9),), "strided_copy: x has 9 dimensions, expected 8 at most"),
]


def moved(arguments, move):
    return [move(a) if isinstance(a, torch.Tensor) else a for a in arguments]


def on_meta(tensor):
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")


def raised(name, arguments):
    try:
        getattr(ops, name)(*arguments)
    except Exception as got:  # the test compares any exception
        return type(got).__name__, str(got)
    return "nothing", ""


for name, arguments, words in mistakes:
    with FakeTensorMode() as fake:
        fakes = moved(arguments, fake.from_tensor)
        got = {"fake": raised(name, fakes)}
    held = [a._use_count() for a in arguments if isinstance(a, torch.Tensor)]
    got.update(real=raised(name, arguments), meta=raised(name, moved(arguments, on_meta)))
    if held != [a._use_count() for a in arguments if isinstance(a, torch.Tensor)]:
        wrong.append(f"{name}: keeps what it refused: {words}")
    if len(set(got.values())) != 1 or got["real"][0] != "RuntimeError" or not got["real"][1].startswith(words):
        wrong.append(f"{name}: expected RuntimeError: {words}; got {got}")
expect(RuntimeError, ["gather: index is on meta, expected", "x's"], lambda: ops.gather(x, 1, on_meta(at)))
expect(RuntimeError, ["gather: dim is 7, expected 0 to 1"], lambda: torch.compile(ops.gather, backend="eager")(x, 7, at))

# ---- The strides of results are PyTorch's


def layouts(*shape):
    """Tensors of a shape, with the strides of several views."""
    rank = len(shape)
    for order in itertools.permutations(range(rank)):
        back = [order.index(d) for d in range(rank)]
        yield normal(*[shape[d] for d in order]).permute(back)
        yield normal(*[2 * shape[d] + 1 for d in order])[tuple(slice(1, 2 * shape[d], 2) for d in order)].permute(back)
        yield normal(*[shape[d] + 3 for d in order])[tuple(slice(1, 1 + shape[d]) for d in order)].permute(back)
    for many in itertools.product((False, True), repeat=rank):
        yield normal(*[1 if m else n for m, n in zip(many, shape)]).expand(shape)
    for stride in (1, 3, 1000):
        at = normal(*shape)
        yield at.as_strided(shape, [stride if n == 1 else s for n, s in zip(shape, at.stride())])
    if rank == 4:
        yield normal(*shape).to(memory_format=torch.channels_last)


def turned(x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * torch.cat((cos, cos), -1) + torch.cat((-b, a), -1) * torch.cat((sin, sin), -1)


def made(result):
    return [(tuple(y.shape), y.stride()) for y in (result if isinstance(result, tuple) else (result,))]


def apart(made):
    return [[(n, s) for n, s in zip(*one) if n > 1] for one in made]


def own_rms_norm(x, weight):
    return F.rms_norm(x, weight.shape, weight, 1e-5)


placed, fake = 0, FakeTensorMode()
shapes = (2, 4, 6, 8), (2, 1, 6, 8), (1, 4, 1, 8), (2, 0, 6, 8), (3, 6, 8), (1, 6, 8), (6, 8), (1, 8), (8,)
for shape in shapes:
    weight8, cosine = normal(8), normal(6, 4)
    for view in layouts(*shape):
        rows = index(max(1, shape[0]), 3)
        again = index(max(1, shape[0]), *shape)
        plain = torch.randn(shape, device=device)
        both = {"layer_norm": ((view, weight8, weight8), lambda: F.layer_norm(view, (8,), weight8, weight8)),
                "rms_norm": ((view, weight8), lambda: own_rms_norm(view, weight8)),
                "softmax": ((view,), lambda: view.softmax(-1)),
                "activation": ((view, "relu"), lambda: view.relu()),
                "gather": ((view, 0, again), lambda: view.gather(0, again)),
                "index_select": ((view, 0, rows), lambda: view.index_select(0, rows)),
                "strided_copy": ((view,), lambda: view.clone(memory_format=torch.contiguous_format))}
        sums = [(view, plain), (plain, view), (view, view), (view, plain.mT.contiguous().mT if len(shape) > 1 else plain)]
        if len(shape) == 4:
            sums.append((plain.to(memory_format=torch.channels_last), view))
            table = cosine[:shape[2]]
            both["rope"] = both["rope_i"] = (view, table, table), lambda: turned(view, table, table)
            by_head = cosine[:1].expand(shape[1], 4)
            both["rope_thd"] = (view, by_head, by_head), lambda: turned(view, by_head[:, None], by_head[:, None])
        if len(shape) == 4 and 0 not in shape:
            both["upsample_nearest2d"] = (view, [9, 16]), lambda: F.interpolate(view, (9, 16))
        if len(shape) == 3:
            both["upsample_nearest1d"] = (view, 16), lambda: F.interpolate(view, 16)
        tried = [(name, arguments, made(own())) for name, (arguments, own) in both.items()]
        for pair in sums:
            h = pair[1] + pair[0]
            tried.append(("fused_add_rms_norm", (*pair, weight8), made((own_rms_norm(h, weight8), h))))
            tried.append(("activation_and_mul", pair, made(F.silu(pair[0]) * pair[1])))
        for name, arguments, expected in tried:
            op = getattr(ops, name)
            got = {"real": made(op(*arguments)), "meta": made(op(*moved(arguments, on_meta))),
                   "Python": made(hipops.torch._IN_PYTHON[name](*arguments))}
            with fake:
                got["fake"] = made(op(*moved(arguments, fake.from_tensor)))
            placed += 1
            if "rope" in name or "rms_norm" in name:  # PyTorch may compute these by an expression, and a dimension of one element may have any stride
                is_any = apart(got["real"]) == apart(expected) or ("rms_norm" in name and 0 in shape)
                expected = got["real"] if is_any else expected
            if any(g != expected for g in got.values()):
                wrong.append(f"{name} of {[(tuple(a.shape), a.stride()) for a in arguments if isinstance(a, torch.Tensor)]}: "
                             f"expected {expected}; got {got}")
if len(wrong) > 20:
    wrong[20:] = [f"and {len(wrong) - 20} more"]
print(f"layouts: {placed} calls beside PyTorch's")
volume = normal(2, 4, 3, 6, 8).to(memory_format=torch.channels_last_3d)
if ops.rms_norm(volume, weight8).stride() != own_rms_norm(volume, weight8).stride():
    wrong.append(f"rms_norm of channels_last_3d: {ops.rms_norm(volume, weight8).stride()}")
q = normal(2, 6, 4, 8).transpose(1, 2)
turning = turned(q, cosine, cosine)
expect_close("rope into a permuted result", ops.rope(q, cosine, cosine), turning)

# ---- Derivatives: none is silently 0
float_arguments = [(name, calls[0], i) for name, calls in cases.items() for i, a in enumerate(calls[0])
                   if isinstance(a, torch.Tensor) and a.is_floating_point()]
for name, arguments, i in float_arguments:
    op, function = getattr(ops, name), getattr(hipops, name)
    arguments = moved(arguments, torch.clone)

    def of_one(given, op=op, arguments=arguments, i=i):
        return op(*arguments[:i], given, *arguments[i + 1:])

    words = [f"torch.ops.hipops.{name} has no forward-mode derivative"]
    expect(NotImplementedError, words, lambda: torch.func.jvp(of_one, (arguments[i],), (torch.ones_like(arguments[i]),)))
    for mode in (torch.enable_grad, torch.no_grad):
        with mode(), forward_ad.dual_level():
            dual = forward_ad.make_dual(arguments[i], torch.ones_like(arguments[i]))
            expect(NotImplementedError, words, lambda: of_one(dual))
            of_one(dual.detach())
            with torch.inference_mode():
                of_one(dual.clone())  # PyTorch's own ops may have no derivative there
            expect(ValueError, [f"{name.rstrip('_')}: ", "has a forward-mode derivative"],
                   lambda: of_one(dual, op=function))
    argument = op.default._schema.arguments[i].name
    if name not in BACKWARD or argument not in BACKWARD[name].of.split():
        words = [f"torch.ops.hipops.{name} has no backward pass for {argument}"]

        def floats_of(given):
            results = of_one(given)
            return tuple(y for y in (results if isinstance(results, tuple) else (results,)) if y.is_floating_point())

        ones, given = tuple(map(torch.ones_like, floats_of(arguments[i]))), arguments[i].clone().requires_grad_()
        expect(NotImplementedError, words, lambda: torch.autograd.grad(floats_of(given), given, ones))
        expect(NotImplementedError, words, lambda: torch.func.vjp(floats_of, arguments[i].clone())[1](ones))
expect(NotImplementedError, ["softmax has no forward-mode derivative"],
       lambda: torch.compile(lambda x: torch.func.jvp(ops.softmax, (x,), (x,))[1], backend="aot_eager")(x))
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # PyTorch warns that it calls the op for each element of the batch
    expect_close("vmap of softmax", torch.vmap(ops.softmax, in_dims=1)(x), x.t().softmax(-1))
    expect_close("vmap of rms_norm", torch.vmap(ops.rms_norm)(x, x), F.rms_norm(x, (80,), None, 1e-5) * x, 1e-5)
    expect_close("vmap of gather", torch.vmap(ops.gather, in_dims=(0, None, 0))(x, 0, at), x.gather(1, at), 0)
expect(RuntimeError, ["hipops::index_add_"],
       lambda: torch.vmap(ops.index_add_, in_dims=(0, None, None, 0))(x.clone(), 0, index(80, 80), x))

# ---- Without memory, PyTorch's own exception
for rows, columns in [(2**40, 2**10)] + [(2**30, 2**8)] * (device == "cuda"):
    vast, many = normal(1).expand(rows, columns), index(1, 1).expand(rows * columns)
    vast4 = vast[None, None]
    table = normal(1, 1).expand(rows, columns // 2)

    def error_of(call):
        try:
            call()
        except Exception as got:
            return type(got), str(got).partition(". GPU")[0]  # the amount of free memory differs

    expected = error_of(lambda: vast.softmax(-1))
    if not expected or expected[0] not in (torch.OutOfMemoryError, RuntimeError):
        wrong.append(f"torch.softmax without memory: {expected}")
    column = vast4[0, 0, :, 0]
    for name, *arguments in (("softmax", vast), ("layer_norm", vast), ("rms_norm", vast), ("fused_add_rms_norm", vast, vast),
                             ("activation", vast, "silu"), ("activation_and_mul", vast, vast),
                             ("rms_norm_backward", vast, vast), ("activation_and_mul_backward", vast, vast, vast), ("rope", vast4, table, table), ("rope_i", vast4, table, table), ("strided_copy", vast),
                             ("rope_thd", vast4.transpose(1, 2), table, table), ("gather", column, 0, many),
                             ("index_select", column, 0, many), ("upsample_nearest1d", normal(1, 1, 1), rows * columns),
                             ("upsample_nearest2d", normal(1, 1, 1, 1), [rows, columns])):
        held = arguments[0]._use_count()
        got = error_of(lambda: getattr(ops, name)(*arguments))
        if arguments[0]._use_count() != held:
            wrong.append(f"{name}: keeps x without memory")
        if got != expected:
            wrong.append(f"{name} without memory: {got}, expected {expected}")

# ---- An empty HIPOPS_BACKEND has no effect: the first call's tensors choose the backend, with a GPU (or the emulator)
# and without
library = pathlib.Path(os.environ.get("HIPOPS_LIBRARY", "/none/none/none"))
paths = f"{library.resolve().parents[2] / 'amdemu'}:{os.environ.get('LD_LIBRARY_PATH', '')}"
code = "import torch, hipops.torch; torch.ops.hipops.softmax(torch.ones(3, 4)); print(hipops.backend_in_use().name)"
for name in ("softmax", "strided_copy"):
    first = subprocess.run([sys.executable, "-c", code.replace("softmax", name)], capture_output=True, text=True,
                           env={**os.environ, "HIPOPS_BACKEND": "", "LD_LIBRARY_PATH": paths})
    if first.stdout != "CPU\n":
        wrong.append(f"{name} of the CPU's tensor, HIPOPS_BACKEND empty: {first.stdout}{first.stderr}")

# ---- torch.compile
backend = "inductor" if device == "cuda" else "aot_eager"


def some(x, weight):
    return torch.relu(ops.rms_norm(x * 2, weight)) + ops.softmax(x)


def in_place(y, at, source):
    y = y * 1
    ops.index_add_(y, 0, at, source)
    return y


for function, arguments in ((some, (x, weight)), (in_place, (x, index(6, 9), normal(9, 80)))):
    compiled = torch.compile(function, fullgraph=True, backend=backend)
    expect_close(f"{function.__name__}, compiled", compiled(*arguments), function(*arguments))



def all_of_them(x, residual, image, weight, cos, at):
    x, residual, image = x * 1, residual * 1, image * 1
    return (ops.layer_norm(x, weight), ops.rms_norm(x, weight), *ops.fused_add_rms_norm(x, residual, weight), ops.softmax(x),
            ops.rope(image, cos, cos), ops.rope_i(image, cos, cos), ops.gather(x, 0, at), ops.index_select(x, 0, at[:, 0]),
            ops.strided_copy(x), ops.upsample_nearest2d(image, [9, image.shape[3] * 2]))


for dynamic in (False, True):
    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(all_of_them, fullgraph=True, backend=counter, dynamic=dynamic)
    for rows in (5, 7):
        shared = normal(8), normal(rows, 4), index(rows, rows, 8)
        one = (normal(8, rows).t(), normal(rows, 8), normal(2, rows, 4, 8).transpose(1, 2), *shared)
        other = (normal(rows, 8), normal(8, rows).t(), normal(2, 4, rows, 8).to(memory_format=torch.channels_last), *shared)
        for arguments in (one, other):
            if made(compiled(*arguments)) != made(all_of_them(*arguments)):
                wrong.append(f"compiled, dynamic {dynamic}: {made(compiled(*arguments))}, expected {made(all_of_them(*arguments))}")
    if dynamic and counter.frame_count > 2:
        wrong.append(f"compiled for any size: {counter.frame_count} graphs for two layouts")


def of_unknown_sizes(x, mask, weight, cos):
    rows = ops.index_select(x, 0, mask.nonzero().squeeze(-1))
    y, h = ops.fused_add_rms_norm(rows, rows * 2, weight)
    n = mask.sum().item()
    torch._check(1 <= n)
    torch._check(n <= 6)
    image = ops.upsample_nearest2d(x[None, None], [n, n])
    return ops.softmax(y), h, image, ops.rope(torch.empty(2, n, 3, 4, device=x.device).fill_(1).transpose(1, 2), cos[:n], cos[:n])


with torch._dynamo.config.patch(capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True):
    arguments = normal(6, 8), torch.tensor([1, 0, 1, 1, 0, 0], device=device), normal(8), normal(6, 2)
    compiled = torch.compile(of_unknown_sizes, fullgraph=True, backend="aot_eager")
    if made(compiled(*arguments)) != made(of_unknown_sizes(*arguments)):
        wrong.append(f"of unknown sizes, compiled: {made(compiled(*arguments))}, expected {made(of_unknown_sizes(*arguments))}")
expect(Exception, ["topk_softmax has no backward pass"], lambda: torch.compile(ops.topk_softmax, backend=backend)(x.clone().requires_grad_(), 2))

# ---- A call counts one change of its output, a refused call none
memory = torch.zeros(16, device=device)
changed, overlapping, places = memory[:12].view(3, 4), memory[4:].view(3, 4), torch.arange(3, device=device)
expect(hipops.Error, ["index_add: y overlaps"], lambda: hipops.index_add_(changed, 0, places, overlapping))
hipops.index_add_(changed, 0, places, normal(3, 4))
if changed._version != 1:
    wrong.append(f"a refused call and a call counted {changed._version} changes, expected 1")

# ---- The pages
for page in sys.argv[1:]:
    names = {}
    for example in re.findall(r"```python\n(.*?)```", pathlib.Path(page).read_text(), re.S):
        if any(f"from {needed} import" in example and importlib.util.find_spec(needed) is None for needed in ("transformers", "kernels")):
            continue
        if device == "cpu":
            example = example.replace('"cuda"', '"cpu"')
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(example, page, "exec"), names)
        if printed.getvalue().split("\n")[:-1] != re.findall(r"(?:print\(.*\)  |^)# (.*)", example, re.M):
            wrong.append(f"{page}: the example printed {printed.getvalue()!r}")
print("\n".join(wrong) or f"PyTorch {torch.__version__} on {device}: passed")
sys.exit(1 if wrong else 0)
