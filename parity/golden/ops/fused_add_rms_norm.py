"""h = x + residual; residual_out = h; y = h / sqrt(mean(h^2) + eps) * weight, over the last dimension."""

import math

import numpy as np

from dtypes import round_to
from golden import Expected, View, bell, constant, explicit
from ops import rows
from ops.rms import ROUND_BEFORE_WEIGHT, ROUND_SUM, WEIGHT_PLUS_ONE, RmsCase, normalized, tolerance, weighed

DTYPES = ("f32", "f16", "bf16")
FLAGS = (0, ROUND_SUM, WEIGHT_PLUS_ONE, ROUND_BEFORE_WEIGHT, ROUND_SUM | WEIGHT_PLUS_ONE | ROUND_BEFORE_WEIGHT)
NAN, INF = math.nan, math.inf


def reference(params, inputs):
    flags = params["flags"]
    with np.errstate(all="ignore"):
        # The op computes the sum in f32. It rounds even a sum of 16-bit numbers if they differ much in size.
        h = (inputs["x"] + inputs["residual"]).astype(np.float32).astype(np.float64)
    summed = round_to(h, inputs.dtype) if flags & ROUND_SUM else h
    y, scale = weighed(normalized(summed, params["eps"]), inputs, flags)
    return {"y": Expected(y, scale), "residual_out": Expected(h)}


def torch_reference(torch, params, inputs):
    if params["flags"]:
        return None
    h = inputs["x"] + inputs["residual"]
    return {"y": torch.nn.functional.rms_norm(h, h.shape[-1:], inputs.get("weight"), params["eps"]), "residual_out": h}


def case(name, x, residual, flags=0, eps=1e-5, weight=None, y=None, residual_out=None, in_place=None, ulps=None):
    inputs = {"x": x, "residual": residual}
    kind = ""
    if weight is not None:
        inputs["weight"] = weight
        kind = "_weight" + ("" if weight.dtype == x.dtype else "_" + weight.dtype)
    outputs = {"y": View(x.dtype, x.shape, **(y or {})), "residual_out": View(x.dtype, x.shape, **(residual_out or {}))}
    if in_place:
        output, source = in_place
        outputs[output] = View(x.dtype, x.shape, inputs[source].stride, inputs[source].offset)
    most = tolerance(x.dtype, inputs, flags) if ulps is None else ulps
    suffix = f"_{x.dtype}{kind}" + (f"_flags_{flags}" if flags else "")
    return RmsCase("fused_add_rms_norm", name + suffix, x.dtype, inputs, outputs, most, {"eps": eps, "flags": flags}, in_place)


def drawn(dtype, shape, scale=1.5, **layout):
    return bell(dtype, shape, scale, 0.25, **layout)


def smoke():
    for turn, shape in enumerate(rows.SMOKE_SHAPES):
        for dtype in DTYPES:
            w = None if turn % 3 == 0 else rows.weight("weight", "f32" if turn % 3 == 1 else dtype, shape[-1], {})
            yield case(f"smoke_rank{len(shape)}", drawn(dtype, shape), drawn(dtype, shape), weight=w)
    for dtype in DTYPES:
        for flags in FLAGS[1:]:
            for kind in dict.fromkeys((dtype, "f32")):
                yield case("smoke_3x40", drawn(dtype, (3, 40)), drawn(dtype, (3, 40)), flags, weight=rows.weight("weight", kind, 40, {}))
            yield case("smoke_2x2048", drawn(dtype, (2, 2048)), drawn(dtype, (2, 2048)), flags)


def exact():
    """x and residual are halves of rows of +-c, whose norms are +-1. And a sum that cancels except for one element."""
    for dtype in DTYPES:
        for columns in (1, 3, 8, 24, 100, 256):
            sign = np.where(np.arange(columns) * 7 % 5 < 3, 1.0, -1.0)
            half = explicit(dtype, [sign, sign * 32.0])
            yield case(f"exact_signs_{columns}", half, half, eps=0.0, ulps=0)
        for columns in (4, 64, 256):
            values = np.resize([3.0, -5.0, 1.5], (2, columns))
            minus = -values
            minus[[0, 1], [0, columns - 1]] = 8.0 - values[0, 0], 4.0 - values[1, columns - 1]
            for flags in FLAGS:
                weight = explicit(dtype, np.arange(columns) % 13 - 6.0)
                yield case(f"exact_one_left_{columns}", explicit(dtype, values), explicit(dtype, minus), flags, 0.0, weight, ulps=0)


def adversarial():
    for dtype in DTYPES:
        large = float(round_to({"f16": 3e4, "bf16": 1e30, "f32": 1e30}[dtype], dtype))
        tiny = {"f16": 6e-8, "bf16": 1e-39, "f32": 1e-44}[dtype]
        plain = rows.quirky(dtype, (4, 24), 1)
        yield case("adversarial_inf", rows.quirky(dtype, (4, 24), 2, at=[(1, 5, INF), (3, 0, -INF)]), plain)
        yield case("adversarial_nan", plain, rows.quirky(dtype, (4, 24), 3, at=[(0, 23, NAN), (2, 7, NAN)]))
        yield case("adversarial_zeros", explicit(dtype, [[0.0] * 20, [-0.0] * 20]), explicit(dtype, [[0.0] * 20, [-0.0] * 20]))
        yield case("adversarial_zeros_eps_0", explicit(dtype, [[1.0] * 20, [0.0] * 20]), explicit(dtype, [[1.0] * 20, [0.0] * 20]), eps=0.0)
        for columns in (4, 40, 600):
            x = explicit(dtype, np.resize([-0.0, -1.25, 0.0, 1.25], (2, columns)))
            yield case(f"adversarial_signs_of_zero_{columns}", x, explicit(dtype, np.resize([-0.0, -1.25], (2, columns))))
        # Squares out of the type's range, and rows with numbers from both ends of the range.
        for columns in (3, 40, 600):
            ones = np.resize([1.0, -1.0, 0.5], (2, columns))
            for name, size in (("large", large), ("tiny", tiny)):
                x = explicit(dtype, round_to(ones * size, dtype))
                for eps in (0.0, 1e-5):
                    yield case(f"adversarial_{name}_{columns}_eps_{eps:g}", x, explicit(dtype, np.zeros((2, columns))), eps=eps)
        for name, size in (("large", large), ("tiny", tiny)):
            x = bell(dtype, (3, 3001), size / 4 if name == "large" else size, offset=1)
            yield case(f"adversarial_{name}_unaligned_rows", x, constant(dtype, x.shape, 0.0, offset=1), eps=0.0)
        yield case("adversarial_largest_eps", plain, plain, eps=3e38)
        for eps in (0.0, 1e-5):  # in one block, and in blocks that share a row
            for columns in (4096, 40000):
                yield case(f"adversarial_constant_{columns}_eps_{eps:g}", constant(dtype, (1, columns), large),
                           constant(dtype, (1, columns), -large / 2), eps=eps)
        if dtype != "f16":
            values = np.array([[1e-37, 1000.0] * 20, [1e-39, 1000.0] * 20])
            weights = explicit(dtype, round_to(np.resize([1e4, 1.0], 40), dtype))
            for flags in (0, ROUND_SUM):
                yield case("adversarial_small_by_large_weight", explicit(dtype, round_to(values, dtype)),
                           explicit(dtype, np.zeros((2, 40))), flags, weight=weights)
            for name, size in (("large", 1e38), ("small", 1e-38)):
                yield case(f"adversarial_{name}_weight", plain, plain, weight=constant(dtype, (24,), float(round_to(size, dtype))))


LAYOUTS = [  # shape, of x, residual, y, residual_out, weight
    ("padded", (3, 24), dict(stride=(40, 1)), {}, dict(stride=(32, 1)), dict(stride=(25, 1)), {}),
    ("transposed", (5, 33), dict(stride=(1, 5)), {}, {}, dict(stride=(1, 5)), {}),
    ("step_2", (3, 34), dict(stride=(68, 2)), dict(stride=(34, 1)), {}, {}, {}),
    ("negative", (3, 40), dict(stride=(-48, -1)), {}, dict(stride=(-40, 1)), {}, {}),
    ("misaligned_x", (2, 64), dict(offset=1), {}, {}, {}, {}),
    ("misaligned_residual", (2, 64), {}, dict(offset=1), {}, {}, {}),
    ("misaligned_y", (2, 64), {}, {}, dict(offset=1), {}, {}),
    ("misaligned_residual_out", (2, 64), {}, {}, {}, dict(offset=3), {}),
    ("misaligned_apart", (3, 129), dict(offset=1), dict(offset=2), dict(offset=3), dict(offset=5), dict(offset=7)),
    ("misaligned_weight", (2, 64), {}, {}, {}, {}, dict(offset=1)),
    ("weight_step_2", (2, 48), {}, {}, {}, {}, dict(stride=(2,))),
    ("permuted", (2, 2, 3, 16), dict(stride=(96, 16, 32, 1)), {}, dict(stride=(48, 96, 16, 1)), {}, {}),
    ("long_misaligned", (2, 4100), dict(offset=1), {}, dict(offset=1), dict(offset=6), {}),
    ("long_apart", (2, 5001), dict(stride=(5004, 1), offset=3), dict(offset=1), {}, dict(stride=(5003, 1), offset=2), dict(offset=1)),
    ("long_transposed", (3, 1500), dict(stride=(1, 3)), {}, {}, {}, {}),
]


def layouts():
    for turn, (name, shape, x, residual, y, out, weight) in enumerate(LAYOUTS):
        for dtype in ("f32", ("bf16", "f16")[turn % 2]):
            w = rows.weight("weight", "f32" if turn % 4 == 3 else dtype, shape[-1], weight)
            yield case(f"layout_{name}", drawn(dtype, shape, **x), drawn(dtype, shape, **residual), weight=w, y=y, residual_out=out)
    for turn, pair in enumerate((output, source) for output in ("y", "residual_out") for source in ("x", "residual")):
        for dtype in DTYPES:
            for shape, layout in (((3, 64), {}), ((2, 63), dict(stride=(65, 1), offset=1)), ((2, 5000), {}), ((3, 37), dict(stride=(1, 3)))):
                source = {pair[1]: layout}
                yield case(f"layout_{pair[0]}_is_{pair[1]}_{rows.name_of(shape)}", drawn(dtype, shape, **source.get("x", {})),
                           drawn(dtype, shape, **source.get("residual", {})), in_place=pair)


def sizes():
    shapes = [(rows.rows_for(columns), columns) for columns in rows.COLUMNS] + rows.MANY_ROWS
    for turn, shape in enumerate(shapes):
        for dtype in (DTYPES[turn % 3], DTYPES[(turn + 1) % 3])[:1 if shape[0] >= 100 else 2]:
            w = None if turn % 3 == 0 else rows.weight("weight", "f32" if turn % 3 == 1 else dtype, shape[-1], {})
            yield case("size_" + rows.name_of(shape), drawn(dtype, shape), drawn(dtype, shape), weight=w)
    for dtype in DTYPES:  # around the limits of each kernel: whole vectors and odd rows
        length = 4 if dtype == "f32" else 8
        for turn, vectors in enumerate((16, 17, 64, 65, 512, 513, 1024, 1025, 2048, 2049, 4100, 8200)):
            shape = (1, vectors * length)
            yield case(f"whole_vectors_{vectors}", drawn(dtype, shape), drawn(dtype, shape),
                       weight=rows.weight("weight", dtype, shape[1], {}) if turn % 2 else None)
            shape = (1, vectors * length - 1)
            yield case(f"odd_end_{vectors}", drawn(dtype, shape, offset=1), drawn(dtype, shape),
                       weight=rows.weight("weight", dtype, shape[1], {}) if turn % 2 == 0 else None)
        shape = (40, 1024 * length)  # not few rows for a device of up to 19 units
        yield case("whole_vectors_" + rows.name_of(shape), drawn(dtype, shape), drawn(dtype, shape))
        yield case("every_second_2100", drawn(dtype, (1, 2100), stride=(4200, 2)), drawn(dtype, (1, 2100)))
        # In place this row is not split.
        yield case("in_place_140001", drawn(dtype, (1, 140001)), drawn(dtype, (1, 140001)), in_place=("y", "x"))


TOPICS = {"smoke": smoke, "exact": exact, "adversarial": adversarial, "layouts": layouts, "sizes": sizes}
