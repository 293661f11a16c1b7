#!/usr/bin/env python3
"""python_package.py PAGE...: the package hipops on NumPy arrays, on the CPU backend.

Compares its ops with NumPy, checks refusals, and runs the first example on each PAGE. HIPOPS_LIBRARY and PYTHONPATH are
the paths of the package. Exit 77 without NumPy."""

import contextlib
import ctypes
import io
import os
import pathlib
import re
import subprocess
import sys

try:
    import numpy as np
except ImportError:
    print("skipped: no NumPy")
    sys.exit(77)

import hipops
from hipops._abi import FUNCTIONS
from hipops._arrays import DLManagedTensorVersioned, DLTensor

wrong = []
has_capsules = hasattr(ctypes, "pythonapi")
random = np.random.default_rng(1)


def normal(*shape, dtype=np.float32):
    return random.standard_normal(shape).astype(dtype)


def expect_close(what, got, expected, bound=1e-5):
    error = float(np.max(np.abs(np.asarray(got, np.float64) - expected))) if got.shape == expected.shape else f"shape {got.shape}"
    if got.shape != expected.shape or not error <= bound:
        wrong.append(f"{what}: {error} from NumPy's")


def expect(exception, words, call):
    try:
        call()
        wrong.append(f"accepted, expected {exception.__name__} with {words}")
    except Exception as got:  # the test reports any exception
        if type(got) is not exception or not all(word in str(got) for word in words):
            wrong.append(f"{type(got).__name__}: {got}; expected {exception.__name__} with {words}")


class Dlpack:
    """An array of another library. It has only __dlpack__, with a capsule from before DLPack 1.0."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return 1, 0


class Versioned(Dlpack):
    """With a capsule of DLPack 1, or of another version."""

    def __init__(self, array, **fields):
        super().__init__(array)
        a, sizes = array, ctypes.c_int64 * array.ndim
        kept = sizes(*a.shape), sizes(*(s // a.itemsize for s in a.strides))
        plain = DLTensor(a.ctypes.data, 1, 0, a.ndim, 2, 8 * a.itemsize, 1, *kept, 0)
        for name in ("code", "bits", "lanes"):
            setattr(plain, name, fields.pop(name, getattr(plain, name)))
        self.made, self.kept = DLManagedTensorVersioned(**{"major": 1, "tensor": plain, **fields}), (plain, *kept)

    def __dlpack__(self, max_version, **options):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return new(ctypes.addressof(self.made), b"dltensor_versioned", None)


class Refusing(Dlpack):
    def __dlpack__(self, **options):
        raise RuntimeError("it has nulls")


class OnGpu:
    shape = (6, 80)

    def __init__(self, **facts):
        self.__cuda_array_interface__ = {"shape": self.shape, "typestr": "<f4", "data": (4096, False), "version": 3, **facts}


def of_library(name, kind, *arguments, **fields):
    return type("Array", (kind,), {"__module__": name})(*arguments, **fields)


# ---- Each op, on views
x, weight, bias = normal(6, 100)[:, 10:90], normal(80), normal(80)
wide = x.astype(np.float64)
mean, square = wide.mean(-1, keepdims=True), np.square(wide).mean(-1, keepdims=True)
plain = wide / np.sqrt(square + 1e-5)
expect_close("rms_norm", hipops.rms_norm(x, weight), plain * weight)
expect_close("rms_norm, 1 + weight", hipops.rms_norm(x, weight, 1e-5, True), plain * (1 + weight.astype(np.float64)))
expect_close("rms_norm of f16", hipops.rms_norm(x.astype(np.float16), round_before_weight=True), plain, 4e-3)
expect_close("layer_norm", hipops.layer_norm(x, weight, bias), (wide - mean) / np.sqrt(wide.var(-1, keepdims=True) + 1e-5) * weight + bias)
for dtype, kind in ((np.float32, np.float32), (np.float16, np.float32), (np.float64, np.float64)):
    y, of_mean, rstd = hipops.layer_norm(x.astype(dtype), statistics=True)
    _, root = hipops.rms_norm(x.astype(dtype), statistics=True)
    for name, got, right in (("mean", of_mean, mean), ("rstd", rstd, 1 / np.sqrt(wide.var(-1, keepdims=True) + 1e-5)),
                             ("rstd of rms_norm", root, 1 / np.sqrt(square + 1e-5))):
        expect_close(f"{name} of {dtype.__name__}", got, right, 2e-3 if dtype == np.float16 else 1e-5)
        if got.dtype != kind or got.shape != (6, 1):
            wrong.append(f"{name} of {dtype.__name__} is {got.dtype} of {got.shape}")
dy, root = normal(6, 80), 1 / np.sqrt(square + 1e-5)
g = dy * weight
for rstd in (None, hipops.rms_norm(x, statistics=True)[1]):
    dx, dw = hipops.rms_norm_backward(dy, x, weight, rstd)
    expect_close("dx", dx, root * (g - wide * (g * wide).mean(-1, keepdims=True) * root**2))
    expect_close("dw", dw, (dy * wide * root).sum(0))
deviation = wide - mean
n = deviation / np.sqrt(np.square(deviation).mean(-1, keepdims=True) + 1e-5)
for given in ((), hipops.layer_norm(x, statistics=True)[1:]):
    dx, dw, db = hipops.layer_norm_backward(dy, x, weight, *given)
    expect_close("dx of layer_norm", dx, n / np.where(deviation == 0, 1, deviation) * (g - g.mean(-1, keepdims=True) - n * (g * n).mean(-1, keepdims=True)))
    expect_close("dw of layer_norm", dw, (dy * n).sum(0))
    expect_close("db of layer_norm", db, dy.sum(0))
if hipops.layer_norm_backward(dy, x, bias_grad=False)[1:] != (None, None) or hipops.layer_norm_backward(dy, x)[2].shape != (80,):
    wrong.append("layer_norm_backward gives a gradient that is not wanted, or no db")
if hipops.rms_norm_backward(dy, x)[1] is not None or hipops.rms_norm_backward(dy, x, weight, weight_grad=False)[1] is not None:
    wrong.append("rms_norm_backward gives a dw that is not wanted")
residual = normal(6, 80)
y, h = hipops.fused_add_rms_norm(x, residual, weight)
total = wide + residual
expect_close("fused_add_rms_norm", y, total / np.sqrt(np.square(total).mean(-1, keepdims=True) + 1e-5) * weight)
expect_close("its sum", h, total)
expect_close("its rstd", hipops.fused_add_rms_norm(x, residual, statistics=True)[2], 1 / np.sqrt(np.square(total).mean(-1, keepdims=True) + 1e-5))
y, h, of_mean, rstd = hipops.fused_add_layer_norm(x, residual, weight, bias, statistics=True)
deviation = np.sqrt(total.var(-1, keepdims=True) + 1e-5)
expect_close("fused_add_layer_norm", y, (total - total.mean(-1, keepdims=True)) / deviation * weight + bias)
expect_close("its sum", h, total)
expect_close("its mean", of_mean, total.mean(-1, keepdims=True))
expect_close("its rstd", rstd, 1 / deviation)
gate, up = np.minimum(wide[:, 0::2], 0.5), np.clip(wide[:, 1::2], -0.5, 0.5)
expect_close("activation_and_mul", hipops.activation_and_mul(x[:, 0::2], x[:, 1::2], "swish", 0.5, 1.702, True),
             gate / (1 + np.exp(-1.702 * gate)) * (up + 1))
expect(ValueError, ["kind is 'mish', expected one of: identity, relu"], lambda: hipops.activation_and_mul(x, x, "mish"))
of_y, s = normal(*gate.shape), 1 / (1 + np.exp(-1.702 * gate))
dx, dup = hipops.activation_and_mul_backward(of_y, x[:, 0::2], x[:, 1::2], "swish", 0.5, 1.702, True)
expect_close("dx of activation_and_mul", dx, np.where(gate < 0.5, of_y * (up + 1) * s * (1 + 1.702 * gate * (1 - s)), 0))
expect_close("dup", dup, np.where(np.abs(up) < 0.5, of_y * gate * s, 0))
out = of_y.copy()
if hipops.activation_backward(out, gate.astype(np.float32), "tanh", out=out) is not out:
    wrong.append("activation_backward: out is not returned")
expect_close("activation_backward in place", out, of_y / np.cosh(gate) ** 2)
e = np.exp(wide - wide.max(-1, keepdims=True))
out = np.empty((80, 6), np.float32).T
if hipops.softmax(x, out=out) is not out:
    wrong.append("softmax: out is not returned")
expect_close("softmax", out, e / e.sum(-1, keepdims=True))
expect_close("softmax, batch_invariant", hipops.softmax(x, True)[2:3], hipops.softmax(x[2:3], batch_invariant=True), 0)
expect(TypeError, ["softmax: batch_invariant is 2, expected a bool"], lambda: hipops.softmax(x, 2))
for name, run in (("log_softmax", hipops.log_softmax), ("softmax_ext", hipops.softmax_ext), ("dynamic_quantize", lambda x, **flag: hipops.dynamic_quantize(x, "int8", **flag)[0]),
                  ("rms_norm_backward", lambda x, **flag: hipops.rms_norm_backward(x, x, weight, **flag)[0])):
    expect_close(f"{name}, batch_invariant", run(x, batch_invariant=True)[2:3], run(x[2:3], batch_invariant=True), 0)
expect_close("softmax_ext", hipops.softmax_ext(x, np.arange(x.shape[-1]) < 50, sinks=np.zeros((1, 1), np.float32)),
             np.where(np.arange(x.shape[-1]) < 50, np.exp(wide), 0) / (np.exp(wide[..., :50]).sum(-1, keepdims=True) + 1))
expect_close("log_softmax", hipops.log_softmax(x), np.log(e / e.sum(-1, keepdims=True)))
share = e / e.sum(-1, keepdims=True)
of_softmax, of_log = share * (dy - (dy * share).sum(-1, keepdims=True)), dy - share * dy.sum(-1, keepdims=True)
expect_close("softmax_backward", hipops.softmax_backward(dy, share.astype(np.float32), 0.5), of_softmax / 2)
expect_close("log_softmax_backward", hipops.log_softmax_backward(dy, np.log(share).astype(np.float32), True), of_log)
out = dy.copy()
if hipops.softmax_backward(out, share.astype(np.float32), out=out) is not out:
    wrong.append("softmax_backward: out is not returned")
expect_close("softmax_backward in place", out, of_softmax)
expect(TypeError, ["softmax_backward: y is a NoneType"], lambda: hipops.softmax_backward(dy, None))
targets, at = np.array([3, 7, -100, 79, 80, 0]), np.eye(80)[[3, 7, 0, 79, 0, 0]]
rows, report = np.isin(np.arange(6), (2, 4), invert=True), np.array([0, -1])
log_sum, logits = np.log(np.exp(wide).sum(-1)), x.copy()
loss, lse, dx = hipops.cross_entropy(logits, targets, z_loss=0.1, dloss=np.full(6, 0.5, np.float32), dx=logits, report=report)
expect_close("cross_entropy", loss, rows * (log_sum - (wide * at).sum(-1) + 0.1 * log_sum**2))
expect_close("its lse", lse, log_sum)
expect_close("its gradient in place", logits, rows[:, None] * (share * (1 + 0.2 * log_sum[:, None]) - at) / 2)
if dx is not logits or list(report) != [1, 4] or hipops.cross_entropy(x, targets)[2] is not None:
    wrong.append(f"cross_entropy: the report is {report}, expected [1, 4], or dx is another array")
expect(hipops.Error, ["cross_entropy: label_smoothing is 2, expected 0 to 1"], lambda: hipops.cross_entropy(x, targets, label_smoothing=2))
angles = np.outer(np.arange(7), 10.0 ** -np.arange(8))
cos, sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
q = normal(2, 7, 3, 16).transpose(0, 2, 1, 3)
a, b = q[..., :8], q[..., 8:]
rotated = np.concatenate((a * cos - b * sin, a * sin + b * cos), -1)
expect_close("rope", hipops.rope(q, cos, sin), rotated)
expect_close("rope, positions", hipops.rope(q, cos, sin, np.arange(7)), rotated)
expect_close("rope_thd", hipops.rope_thd(q.transpose(0, 2, 1, 3), cos, sin), rotated.transpose(0, 2, 1, 3))
a, b = q[..., 0::2], q[..., 1::2]
expect_close("rope_i", hipops.rope_i(q, cos, sin), np.stack((a * cos - b * sin, a * sin + b * cos), -1).reshape(q.shape))
index = np.array([5, 0, 5, 2])
expect_close("index_select", hipops.index_select(x, 0, index), x[index], 0)
expect_close("index_select, dim -1", hipops.index_select(x, -1, index), x[:, index], 0)
pick = random.integers(0, 80, (6, 9))
expect_close("gather", hipops.gather(x, 1, pick), np.take_along_axis(x, pick, 1), 0)
report = np.array([0, -1])
hipops.gather(x, 1, np.array([[1, 80, 2], [-1, 2, 3]]), report=report)
if list(report) != [2, 1]:
    wrong.append(f"gather: the report is {report}, expected [2, 1]")
expected = np.zeros((6, 80))
np.add.at(expected, index, wide[:4])
expect_close("index_add_", hipops.index_add_(np.zeros((6, 80), np.float32), 0, index, x[:4]), expected)
names = np.repeat(index[:, None], 80, 1)
expect_close("scatter_add_", hipops.scatter_add_(np.zeros((6, 80), np.float32), 0, names, x[:4]), expected)
memory = np.empty(1 << 20, np.uint8)
memory = memory[-memory.ctypes.data % 256:]
got = hipops.scatter_add_(np.zeros((6, 80), np.float16), 0, names, x[:4].astype(np.float16), True, workspace=memory)
expect_close("scatter_add_ with a workspace", got, expected, 1e-2)
expected = np.zeros((6, 80))
expected[index] = x[:4]  # the last of equal indices
expect_close("scatter_", hipops.scatter_(np.zeros((6, 80), np.float32), -2, names, x[:4], deterministic=True), expected, 0)
image = normal(2, 3, 4, 5)
expect_close("upsample_nearest2d", hipops.upsample_nearest2d(image, (8, 10)), image.repeat(2, 2).repeat(2, 3), 0)
expect_close("upsample_nearest1d", hipops.upsample_nearest1d(image[0], 10, 2.0, "exact"), image[0].repeat(2, 2), 0)
expect_close("strided_copy", hipops.strided_copy(image[:, ::-1, 1:, ::2]), image[:, ::-1, 1:, ::2], 0)
for scale in (np.full((), 0.02, np.float32), np.full((6, 1), 0.03, np.float32), np.full(80, 0.01, np.float32)):
    expect_close("static_quantize", hipops.static_quantize(x, scale, np.int8), np.clip(np.rint(x / scale), -128, 127), 0)
expect(ValueError, ["dtype is uint8, expected one of: float8_e4m3fn"], lambda: hipops.static_quantize(x, np.ones((), np.float32), "uint8"))
q, scale = hipops.dynamic_quantize(x, "int8")
expect_close("scales", scale, np.abs(x).max(1, keepdims=True) / np.float32(127), 0)
expect_close("dynamic_quantize", q, np.rint(x / scale), 0)
q, scale = hipops.dynamic_quantize(x, "int8", -1)
expect_close("scale of a tensor", scale, np.abs(x).max() / np.float32(127), 0)
expect_close("dynamic_quantize of a tensor", q, np.rint(x / scale), 0)
expect_close("scales of groups", hipops.dynamic_quantize(x, np.int8, 20)[1], np.abs(x).reshape(6, 4, 20).max(2) / np.float32(127), 0)
for dims, axes in ((None, None), (-1, 1), ((0,), 0), ((1, 0), (0, 1))):
    expect_close("reduce sum", hipops.reduce(x, "sum", dims), x.sum(axes), 1e-4)
    expect_close("reduce mean", hipops.reduce(x, "mean", dims, keepdim=True), x.mean(axes, keepdims=True))
expect_close("reduce sum, batch_invariant", hipops.reduce(x, "sum", 1, batch_invariant=True)[2:3], hipops.reduce(x[2:3], "sum", 1, False, True), 0)
expect_close("sort", hipops.sort(x)[0], np.sort(x, 1), 0)
expect_close("its columns", hipops.sort(x)[1], np.argsort(x, 1, kind="stable"), 0)
if hipops.sort(x, values=False)[0] is not None:
    wrong.append("sort gives values that are not wanted")
expect_close("descending", hipops.sort(x, True, False, indices=np.zeros(x.shape, np.int32))[1], np.argsort(-x, 1, kind="stable"), 0)
expect_close("cumsum", hipops.cumsum(x, -1), x.cumsum(1), 1e-4)
expect_close("cumsum of a mask", hipops.cumsum((x > 0).view(np.uint8), 0, out=np.zeros(x.shape, np.int64)), (x > 0).cumsum(0), 0)
expect_close("reduce max", hipops.reduce(x, "max", 0), x.max(0), 0)
expect_close("reduce argmax", hipops.reduce(x, "argmax", 1), x.argmax(1), 0)
expect_close("reduce logsumexp", hipops.reduce(x, "logsumexp", 1), np.log(np.exp(x).sum(1)))
for largest in (True, False):
    places = np.argsort(-x if largest else x, axis=1, kind="stable")[:, :7]
    values, columns = hipops.topk(x, 7, largest)
    expect_close("topk", values, np.take_along_axis(x, places, 1), 0)
    expect_close("columns of topk", columns, places, 0)
    expect_close("topk in the order of columns", hipops.topk(x, 7, largest, False)[1], np.sort(places, 1), 0)
values, columns = hipops.topk(x, 3, lengths=np.full(6, 2), row_begin=np.full((6, 1), 4, np.int32), window_indices=True)
expect_close("topk of windows", np.sort(columns, 1), np.tile([-1, 0, 1], (6, 1)), 0)
weights, experts = hipops.topk_softmax(x, 3, sigmoid=True, bias=np.arange(80, dtype=np.float32), groups=4, topk_groups=1, scale=2)
expect_close("topk_softmax", experts, np.tile([79, 78, 77], (6, 1)), 0)
scores = 1 / (1 + np.exp(-x[:, [79, 78, 77]].astype(np.float64)))
expect_close("weights of topk_softmax", weights, 2 * scores / scores.sum(1, keepdims=True))
positions, of_blocks, count = hipops.moe_align_block_size(np.array([[3, 0], [3, 1], [3, 3]]), 4, 2, np.array([0, -1, 2, 1], np.int32))
expect_close("moe_align_block_size", positions[:6], np.array([1, 6, 0, 2, 4, 5]), 0)
expect_close("its experts", np.append(of_blocks[:4], count), np.array([0, 1, 1, -1, 6]), 0)
numbers = np.array([0, 0.3, 0.6, 0.9, 0.999, 0.5], np.float32)
expect_close("sample at temperature 0", hipops.sample(x, numbers, 0 * numbers), x.argmax(1), 0)
best, shares = np.sort(np.argsort(-x, axis=1, kind="stable")[:, :3], 1), np.cumsum(np.full(6, 1 / 3, np.float32))[:3]
expect_close("sample of three", hipops.sample(x, numbers, np.full(6, 1e6, np.float32), np.full(6, 3)),
             best[np.arange(6), np.searchsorted(shares, numbers, side="right")], 0)
tokens = hipops.sample(x, numbers, numbers + 1, np.full(6, 9, np.int32), numbers, numbers / 9, out=np.empty(6, np.int64))
expect_close("sample by all numbers", tokens[0], x[0].argmax(), 0)
once = (np.arange(x.size).reshape(x.shape) % 5 == 0).astype(np.int32)
expect_close("apply_penalties", hipops.apply_penalties(x, once == 1, 2 * once, numbers * 0 + 2, numbers * 0 + 0.25, numbers * 0 + 1),
             np.where(once == 1, np.where(x > 0, x / 2, x * 2) - np.float32(0.5) - np.float32(1), x), 0)
lowered = x.copy()
expect_close("apply_penalties in place", hipops.apply_penalties(lowered, counts=once, presence=numbers, out=lowered),
             np.where(once == 1, x - numbers[:, None], x), 0)
zeros, quarters = np.zeros((3, 4), np.float32), np.full((3, 4), 0.25)
if has_capsules:
    expect_close("softmax through DLPack", hipops.softmax(Dlpack(zeros), out=zeros + 1), quarters)
    expect_close("softmax through DLPack 1", hipops.softmax(Versioned(zeros, minor=3), out=zeros + 1), quarters)
    expect_close("softmax of what is read-only", hipops.softmax(Versioned(zeros, flags=1), out=zeros + 1), quarters)
    expect_close("index_select through DLPack", hipops.index_select(Dlpack(x), -1, index, out=np.empty((6, 4), np.float32)), x[:, index], 0)
    for into in (Versioned(zeros + 1), of_library("cupy", Dlpack, zeros + 1), of_library("warp.types", Dlpack, zeros + 1)):
        hipops.softmax(zeros, out=into)
        expect_close(f"softmax into DLPack of {type(into).__module__}", into.array, quarters)
ops = {name[len("hipops_"):] for name, (_, arguments) in FUNCTIONS.items() if "stream" in arguments} - {"copy2d"}
missing = {op for op in ops if not hasattr(hipops, op) and not hasattr(hipops, op + "_")}
if missing or hipops.backend_in_use() != hipops.Backend.CPU:
    wrong.append(f"no function for {missing}; backend {hipops.backend_in_use()}")

# ---- Refusals
expect(hipops.Error, ["rms_norm: weight.shape[0] is 79, expected 80"], lambda: hipops.rms_norm(x, weight[:79]))
expect(hipops.Error, ["gather: dim is 5, expected 0 to 1"], lambda: hipops.gather(x, 5, pick))
expect(hipops.Error, ["backend is cuda, but cpu is in use"], lambda: hipops.init(hipops.Backend.CUDA))
expect(hipops.Error, ['op is "rms_nrom", expected one of'], lambda: hipops.prepare("rms_nrom"))
expect(ValueError, ["rms_norm: weight is of complex64", "float32"], lambda: hipops.rms_norm(x, weight.astype("c8")))
expect(ValueError, ["rms_norm: weight is of bool, expected one of: float32"], lambda: hipops.rms_norm(x, OnGpu(typestr="|b1")))
expect(ValueError, ["rms_norm: weight is of complex64,"], lambda: hipops.rms_norm(x, OnGpu(typestr="<c8")))
expect(ValueError, ["rms_norm: weight is of <M8[ns],"], lambda: hipops.rms_norm(x, OnGpu(typestr="<M8[ns]")))
expect(ValueError, ["rms_norm: weight is of >f4, expected this machine's"], lambda: hipops.rms_norm(x, OnGpu(typestr=">f4")))
expect(ValueError, ["rms_norm: weight has a mask"], lambda: hipops.rms_norm(x, OnGpu(mask=True)))
expect(ValueError, ["weight has the stream 0", "expected None, 1 (legacy default)"], lambda: hipops.rms_norm(x, OnGpu(stream=0)))
expect(ValueError, ["weight has a __cuda_array_interface__", "TypeError"], lambda: hipops.rms_norm(x, OnGpu(data=None)))
expect(ValueError, ["weight is (1180591620717411303424,)", "64 bits"], lambda: hipops.rms_norm(x, OnGpu(shape=(1 << 70,))))
expect(ValueError, ["softmax: x is of void"], lambda: hipops.softmax(np.zeros(3, np.dtype([]))))
expect(ValueError, ["weight is of >f4"], lambda: hipops.rms_norm(x, weight.astype(">f4")))
expect(ValueError, ["x has 9 dimensions, expected 8"], lambda: hipops.softmax(np.zeros((1,) * 9)))
expect(ValueError, ["x has strides", "multiples"], lambda: hipops.softmax(np.zeros(4, "f4,u1")["f0"]))
expect(ValueError, ["x is on cuda, and this process uses cpu"], lambda: hipops.softmax(OnGpu(), out=OnGpu()))
expect(ValueError, ["weight is on cuda:0, expected cpu:0 (x's)"], lambda: hipops.rms_norm(x, OnGpu()))
expect(ValueError, ["workspace has strides"], lambda: hipops.index_add_(x, 0, index, x[:4], workspace=memory[::2]))
for bad in (report[:1], report.astype(np.int32), np.array(0)):
    expect(ValueError, ["gather: report is", "expected two of i64 or u64"], lambda bad=bad: hipops.gather(x, 1, pick, report=bad))
expect(ValueError, ["init: backend is 'gpu', expected one of: auto, hip, cuda, cpu"], lambda: hipops.init("gpu"))
expect(TypeError, ["upsample_nearest2d: output_size is 4, expected two"], lambda: hipops.upsample_nearest2d(image, 4))
expect(ValueError, ["rule is 'linear', expected pytorch, candle or exact"], lambda: hipops.upsample_nearest1d(image[0], 9, rule="linear"))
expect(ValueError, ["reduction is 'median', expected one of: sum, mean, max, min"], lambda: hipops.reduce(x, "median"))
expect(ValueError, ["reduce: dim is 2, expected -2 to 1"], lambda: hipops.reduce(x, "sum", (0, 2)))
expect(hipops.Error, ["topk: k is 81, expected at most 80 (x.shape[1])"], lambda: hipops.topk(x, 81))
expect(hipops.Error, ["topk: k is 4611686018427387904, expected 1 to 65536"], lambda: hipops.topk(x, 1 << 62))
expect(hipops.Error, ["topk_softmax: k is 1099511627776, expected"], lambda: hipops.topk_softmax(x, 1 << 40))
expect(hipops.Error, ["moe_align_block_size: block_size is 1099511627776, expected 1 to 65536"],
       lambda: hipops.moe_align_block_size(np.zeros((3, 2), np.int32), 8, 1 << 40))
expect(ValueError, ["reduce: dim is 1, expected -1 to 0"], lambda: hipops.reduce(np.array(3, np.float32), "sum", 1))
expect(TypeError, ["cumsum: dim is 0.5"], lambda: hipops.cumsum(x, 0.5))
expect(ValueError, ["dim is 4294967296"], lambda: hipops.gather(x, 1 << 32, pick))
expect(TypeError, ["gather: dim is 0.5, expected an integer"], lambda: hipops.gather(x, 0.5, pick))
expect(TypeError, ["rms_norm: eps is '1e-5', expected a number"], lambda: hipops.rms_norm(x, eps="1e-5"))
expect(TypeError, ["softmax: x is a list, expected an array"], lambda: hipops.softmax([1.0, 2.0]))
expect(TypeError, ["softmax: stream is 'a', expected a stream"], lambda: hipops.softmax(x, stream="a"))
expect(TypeError, ["stream is -1"], lambda: hipops.softmax(x, stream=-1))
expect(TypeError, ["scatter: src is None, expected an array"], lambda: hipops.scatter_(x, 0, names[:4] * 0, None))
expect(TypeError, ["index_add: source is a float"], lambda: hipops.index_add_(x, 0, index, 1.0))
expect(TypeError, ["rms_norm: eps is True"], lambda: hipops.rms_norm(x, eps=True))
expect(TypeError, ["rms_norm: weight_plus_one is 'no', expected a bool"], lambda: hipops.rms_norm(x, weight_plus_one="no"))
expect(ValueError, ["x is a masked array"], lambda: hipops.softmax(np.ma.masked_array(x)))
expect(ValueError, ["out is (2, 3, 9)", "(10,)"], lambda: hipops.upsample_nearest1d(normal(2, 3, 5), 10, out=normal(2, 3, 9)))
expect(TypeError, ["upsample_nearest1d: out is a list"], lambda: hipops.upsample_nearest1d(normal(2, 3, 5), 10, out=[]))
expect(hipops.Error, ["gather: dim is -3, expected 0 to 1"], lambda: hipops.gather(x, -3, pick))
expect_close("index_select, NumPy's dim", hipops.index_select(x, np.int64(-1), index), x[:, index], 0)
expect(TypeError, ["softmax: x is a numpy.float32, expected an array of NumPy"], lambda: hipops.softmax(np.float32(3)))
expect(TypeError, ["index_select: index is a numpy.int64, expected an array"], lambda: hipops.index_select(x, 0, np.int64(3)))
expect(TypeError, ["upsample_nearest1d: x is a list, expected an array"], lambda: hipops.upsample_nearest1d([1.0], 3))
odd = OnGpu()
odd.shape = (-1, 2)
expect(ValueError, ["gather: out is None", "(-1, 2)"], lambda: hipops.gather(x, 0, odd))
expect(ValueError, ["upsample_nearest1d: rule is [1]"], lambda: hipops.upsample_nearest1d(image[0], 9, rule=[1]))
expect(TypeError, ["prepare: op is 3, expected an op's name"], lambda: hipops.prepare(3))
expect(TypeError, ["init: backend is True, expected one of"], lambda: hipops.init(True))
expect(ValueError, ["init: backend is 4294967299, expected one of"], lambda: hipops.init(3 + (1 << 32)))

# ---- Memory that must not be written
sealed = bytes(range(48))
view_of_sealed = np.frombuffer(sealed, np.float32).reshape(3, 4)
expect(ValueError, ["rms_norm: y is read-only, as its flags"], lambda: hipops.rms_norm(x, out=np.broadcast_to(weight, (6, 80))))
into_gpu = OnGpu(data=(4096, True))
expect(ValueError, ["softmax: y is read-only, as its __cuda_array_interface__ says"], lambda: hipops.softmax(zeros, out=into_gpu))
expect(ValueError, ["softmax: y is read-only"], lambda: hipops.softmax(zeros, out=view_of_sealed))
if has_capsules:
    unsealed = (ctypes.c_float * 12).from_address(view_of_sealed.ctypes.data)  # as pyarrow 18 exports an array of Python's bytes
    as_pyarrow = np.ctypeslib.as_array(unsealed).reshape(3, 4)
    for of, words in ((of_library("pyarrow.lib", Dlpack, as_pyarrow), ["may be read-only, as pyarrow's DLPack capsule from before 1.0"]),
                      (Versioned(as_pyarrow, flags=1), ["is read-only, as its DLPack capsule says"]),
                      (Versioned(as_pyarrow, flags=2), ["comes as a copy from __dlpack__"]),
                      (of_library("jaxlib._jax", Versioned, as_pyarrow), ["is an array of jaxlib, which never changes"])):
        expect(ValueError, ["softmax: y", "expected memory that may be written", *words], lambda: hipops.softmax(zeros, out=of))
        expect(ValueError, ["scatter_add: y", *words], lambda: hipops.scatter_add_(of, 0, np.zeros((3, 4), int), zeros))
        expect(ValueError, ["fused_add_rms_norm: residual_out", *words], lambda: hipops.fused_add_rms_norm(zeros, zeros, residual_out=of))
        expect(ValueError, ["gather: report", *words], lambda: hipops.gather(x, 1, pick, report=of))
        expect(ValueError, ["index_add: workspace", *words], lambda: hipops.index_add_(x, 0, index, x[:4], workspace=of))
    expect(ValueError, ["softmax: x is of DLPack 2.7, expected 1.x"], lambda: hipops.softmax(Versioned(zeros, major=2, minor=7), out=zeros))
    expect(ValueError, ["softmax: x is of bool, expected one of"], lambda: hipops.softmax(Versioned(zeros, code=6, bits=8), out=zeros))
    expect(ValueError, ["softmax: x is of float32x4,"], lambda: hipops.softmax(Versioned(zeros, lanes=4), out=zeros))
    expect(ValueError, ["softmax: x is of DLPack's type code 14 "], lambda: hipops.softmax(Versioned(zeros, code=14, bits=8), out=zeros))
    for code, name in ((10, "f8_e4m3fn"), (11, "f8_e4m3fnuz"), (12, "f8_e5m2"), (13, "f8_e5m2fnuz")):
        expect(hipops.Error, [f"softmax: x.dtype is {name}, expected f32"], lambda: hipops.softmax(Versioned(zeros, code=code, bits=8), out=zeros))
    expect(ValueError, ["softmax: x is a __main__.Refusing, which gives no DLPack capsule: it has nulls"],
           lambda: hipops.softmax(Refusing(zeros), out=zeros))
    expect(TypeError, ["softmax: out is None", "x is a __main__.Dlpack"], lambda: hipops.softmax(Dlpack(x)))
if sealed != bytes(range(48)) or zeros.any():
    wrong.append(f"a refused call wrote: {sealed}")
before = x.copy()
expect(hipops.Error, ["overlaps"], lambda: hipops.softmax(x[:, 1:], out=x[:, :-1]))
if not np.array_equal(before, x):
    wrong.append("a refused call wrote")

# ---- Programs
for path in sys.argv[1:]:
    page = re.search(r"```python\n(.*?)```", pathlib.Path(path).read_text(), re.S).group(1)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(page, path, "exec"), {})
    if printed.getvalue().split("\n")[:-1] != re.findall(r"print\(.*\)  # (.*)", page):
        wrong.append(f"{path}: its example printed {printed.getvalue()!r}")


def expect_program(status, words, arguments, **environment):
    run = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env={**os.environ, **environment})
    if run.returncode != status or not all(word in run.stdout + run.stderr for word in words):
        wrong.append(f"{arguments}: ended with {run.returncode}: {run.stdout}{run.stderr}; expected {status} and {words}")


expect_program(1, ["ImportError: hipops cannot be loaded: ", "/nowhere.so"], ["-c", "import hipops"], HIPOPS_LIBRARY="/nowhere.so")
expect_program(2, ["no tool 'nothing'", "usage: python -m hipops {parity,"], ["-m", "hipops", "nothing"])
expect_program(0, [f"hipops {hipops.__version__}"], ["-m", "hipops", "--version"])
use = "import hipops, numpy; hipops.softmax(numpy.zeros(3))"
expect_program(1, ['HIPOPS_BACKEND is "gpu"'], ["-c", use], HIPOPS_BACKEND="gpu")
expect_program(0, ["usage: python -m hipops {parity,"], ["-m", "hipops", "--help"])
without_capsules = "import ctypes; vars(ctypes).pop('pythonapi', None); import numpy, hipops; "  # PyPy has none
expect_program(0, ["[0.5 0.5]"], ["-c", without_capsules + "print(hipops.softmax(numpy.zeros(2)))"])
of_dlpack = "hipops.softmax(type('T', (), {'__dlpack__': 1})(), out=numpy.zeros(2))"
expect_program(1, ["ValueError: softmax: x is a __main__.T, whose __dlpack__ needs CPython", "expected an array of NumPy"],
               ["-c", without_capsules + of_dlpack])
expect_program(2, ["has no tools in it"], ["-m", "hipops", "info"])
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
