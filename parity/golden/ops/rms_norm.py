"""y = x / sqrt(mean(x^2) + eps) * weight, over the last dimension. Flags select 1 + weight, or a rounding before the
product."""

import math

import numpy as np

from dtypes import round_to
from golden import Expected, bell, constant, explicit
from ops import rms, rows

OP = rows.RowOp("rms_norm", ("weight",), {"eps": 1e-5}, case_type=rms.RmsCase, scalars={"rstd": rows.SCALAR_ULPS})
FLAGS = (rms.WEIGHT_PLUS_ONE, rms.ROUND_BEFORE_WEIGHT, rms.WEIGHT_PLUS_ONE | rms.ROUND_BEFORE_WEIGHT)
NAN, INF = math.nan, math.inf


def reference(params, inputs):
    x, eps = inputs["x"], params["eps"]
    return {"y": Expected(*rms.weighed(rms.normalized(x, eps), inputs, params.get("flags", 0))), "rstd": rms.rstd(x, eps)}


def torch_reference(torch, params, inputs):
    if params.get("flags"):
        return None
    x = inputs["x"]
    y = torch.nn.functional.rms_norm(x, x.shape[-1:], inputs.get("weight"), params["eps"])
    return {"y": y, "rstd": torch.rsqrt(x.square().mean(-1) + params["eps"])} if x.dtype.itemsize > 2 else {"y": y}


def flagged(name, x, flags, weights=("weight",), weight_dtype=None, **rest):
    ulps = rms.tolerance(x.dtype, weights, flags)
    return OP.case(name, x, weights, weight_dtype, ulps=ulps, params={**OP.params, "flags": flags}, **rest)


def smoke():
    yield from rows.smoke(OP)
    for dtype in rows.DTYPES:
        for flags in FLAGS:
            for kind in dict.fromkeys((dtype, "f32")):
                yield flagged("smoke_3x40", OP.x(dtype, (3, 40)), flags, weight_dtype=kind)
        yield flagged("smoke_3x40", OP.x(dtype, (3, 40)), FLAGS[-1], ())


FLAGGED_LAYOUTS = [
    rows.Layout("flags_padded", (3, 72), rows.by(80, 1), rows.by(88, 1)),
    rows.Layout("flags_misaligned", (2, 87), rows.by(91, 1, offset=1), rows.by(89, 1, offset=3), rows.at(1)),
    rows.Layout("flags_step_2", (3, 34), rows.by(68, 2), {}, rows.by(2)),
    rows.Layout("flags_in_place_transposed", (5, 33), rows.by(1, 5), in_place=True),
    rows.Layout("flags_packed", (37, 3), rows.at(1), rows.at(3)),
    rows.Layout("flags_in_place_packed", (9, 29), rows.at(1), in_place=True),
]


def layouts():
    yield from rows.layouts(OP)
    for turn, layout in enumerate(FLAGGED_LAYOUTS):
        for other, dtype in enumerate((rows.DTYPES[turn % 2], rows.DTYPES[2 + turn // 2 % 2])):
            yield flagged("layout_" + layout.name, OP.x(dtype, layout.shape, **layout.x), FLAGS[-1 - (turn + other) % 2],
                          weight_dtype=dtype if turn % 3 else "f32", y=layout.y, in_place=layout.in_place, w_layout=layout.weight)


def sizes():
    yield from rows.sizes(OP)
    # A row that is too long for the chip, and is split unless y is x.
    for turn, dtype in enumerate(rows.DTYPES):
        for in_place in (False, True):
            yield flagged("flags_in_place_70001" if in_place else "flags_70001", OP.x(dtype, (1, 70001), offset=1),
                          FLAGS[(turn + in_place) % 2 + 1], weight_dtype="f32" if in_place else dtype, in_place=in_place)
        yield flagged("flags_every_second_2100", OP.x(dtype, (1, 2100), stride=(4200, 2)), FLAGS[turn % 3])


def exact():
    """Rows of +-c with c a power of two and eps 0 give +-1; eps = 3 c^2 gives +-1/2; a single c among 4^k gives 2^k."""
    for dtype in rows.DTYPES:
        for columns in (1, 2, 3, 5, 8, 24, 64, 100, 256):
            c = np.array([[1.0], [0.25], [64.0]])
            sign = np.where(np.arange(columns) * 7 % 5 < 3, 1.0, -1.0)
            yield case(f"exact_signs_{columns}", explicit(dtype, c * sign), 0.0, ulps=0)
        for columns in (4, 16, 64, 256):
            values = np.zeros((3, columns))
            values[[0, 1, 2], [0, columns // 2 - 1, columns - 1]] = 1.0, -8.0, 0.125
            yield case(f"exact_one_hot_{columns}", explicit(dtype, values), 0.0, ulps=0)
        for columns in (7, 32, 96):
            sign = np.where(np.arange(columns) % 3 == 1, 2.0, -2.0)
            yield case(f"exact_eps_{columns}", explicit(dtype, [sign, -sign]), 12.0, ulps=0)
            for kind in dict.fromkeys((dtype, "f32")):
                w = explicit(kind, np.arange(columns) % 13 - 6.0)
                yield case(f"exact_weight_{columns}", explicit(dtype, [sign, -sign]), 0.0, ulps=0, weight=w)
        for columns in (1024, 4096, 65536):
            yield case(f"exact_long_{columns}", constant(dtype, (1, columns), -4.0), 0.0, ulps=0)


def adversarial():
    for dtype in rows.DTYPES:
        least = math.ldexp(1.0, {"f32": -149, "f16": -24, "bf16": -133, "f64": -1074}[dtype])
        big = 6e4 if dtype == "f16" else 1e17
        yield case("inf", rows.quirky(dtype, (4, 24), 1, at=[(1, 5, INF), (3, 0, -INF)]))
        yield case("infs", rows.quirky(dtype, (3, 40), 2, at=[(1, 39, INF), (1, 3, -INF)]), weights=("weight",))
        yield case("nan", rows.quirky(dtype, (4, 24), 3, at=[(0, 23, NAN), (2, 7, NAN)]))
        yield case("nan_and_inf", rows.quirky(dtype, (3, 40), 4, at=[(1, 0, NAN), (1, 33, INF)]))
        yield case("zeros", explicit(dtype, [[0.0] * 20, [-0.0] * 20]))
        yield case("zeros_eps_0", explicit(dtype, [[1.0] * 20, [0.0] * 20, [2.0] * 20]), 0.0)
        for columns in (2, 4, 40, 300, 4096):
            x = explicit(dtype, np.resize([-0.0, -1.25, 0.0, 1.25], (2, columns)))
            yield case(f"signs_of_zero_{columns}", x)
            w = explicit(dtype, np.resize([1.0, 1.0, 2.0, 1.0, -1.0, 1.0, -2.0, 1.0], columns))
            yield case(f"signs_of_zero_{columns}", x, weight=w)
        yield case("denormals", explicit(dtype, least * (np.arange(60).reshape(3, 20) - 31.0)))
        yield case("denormals_eps_1", explicit(dtype, least * (np.arange(60).reshape(3, 20) - 31.0)), 1.0)
        yield case("all_equal", explicit(dtype, np.repeat([[0.1], [-3000.1], [1.0]], 37, axis=1)), weights=("weight",))
        yield case("huge_mean", bell(dtype, (2, 100), 40.0 if dtype == "bf16" else 1.0, 3000.0))
        yield case("outlier", rows.quirky(dtype, (3, 48), 5, 0.01, at=[(0, 47, 1e4), (2, 0, -3e4)]))
        yield case("large", bell(dtype, (3, 48), big / 4))
        yield case("largest", explicit(dtype, big * (np.arange(96).reshape(2, 48) * 37 % 97 - 48) / 48),
                   weights=("weight",))
        yield case("small_eps_0", bell(dtype, (3, 48), 1e-4 if dtype == "f16" else 1e-14), 0.0)
        yield case("eps_dominates", bell(dtype, (3, 48), 1e-3), 1e3)
        if dtype in ("f16", "bf16"):  # each weight is larger by an eighth of an ULP, and the results are the nearest numbers
            ulp = 2.0**-10 if dtype == "f16" else 2.0**-7
            eighths = (1 + np.arange(37) * ulp / 8) * np.where(np.arange(37) % 2 == 1, -4.0, 0.5)
            yield case("rounding", explicit(dtype, [[1.0] * 37, [-1.0] * 37]), 0.0, ulps=0.5, weight=explicit("f32", eighths))
        yield case("weight_inf_nan", bell(dtype, (2, 8)), weight=explicit(dtype, [1, INF, 2, NAN, 0, -INF, 3, -1.0]))
        if dtype == "f16":  # results above 65504, and just under it
            yield case("overflow", explicit(dtype, [[2.0, -2.0, 1.0, 1.0, 0.5, 0.0, 0.0, 0.25]]),
                       weight=constant(dtype, (8,), 49152.0))
        if dtype == "bf16":
            yield case("overflow", explicit(dtype, [[2.0, -2.0, 1.0, 1.0, 0.5, 0.0, 0.0, 0.25]]),
                       weight=constant(dtype, (8,), 2.0**127))
    yield from out_of_range()
    yield from small_by_large_weight()
    yield from rows.one_large(case)
    yield from statistics()


def statistics():
    """rstd past the ends of the type's range, and next to them."""
    for dtype in rows.DTYPES:
        big = {"f16": 6e4, "bf16": 3e38, "f32": 3e38, "f64": 1.7e308}[dtype]
        small = {"f16": 6e-8, "bf16": 1e-39, "f32": 1e-44, "f64": 1e-323}[dtype]
        for columns in (3, 40, 600, 5000):
            for name, size, eps in (("large", big, 1e-5), ("tiny", small, 0.0), ("zero", 0.0, 0.0), ("zero_eps", 0.0, 1e-5)):
                x = constant(dtype, (2, columns), float(round_to(size, dtype)))
                yield case(f"statistics_{name}_{columns}", x, eps, scalars={"rstd"})
        yield case("statistics_inf_nan", rows.quirky(dtype, (4, 24), 1, at=[(1, 5, INF), (3, 0, NAN)]), scalars={"rstd"})


def out_of_range():
    """Squares, or products with weights, outside the normal numbers of the type of the computation."""
    for dtype, large, tiny, largest_eps in (("f32", 1e20, 1e-30, 3.4e38), ("bf16", 1e25, 1e-30, 3.4e38),
                                            ("f64", 1e200, 1e-200, 1.7e308)):
        yield case("one_large", explicit(dtype, [[round_to(large, dtype)]]))
        for name, size in (("large", large), ("tiny", tiny)):
            yield case(f"{name}_four", explicit(dtype, [[round_to(size, dtype)] * 4]), 0.0)
            for columns in (48, 1000, 70000, 70001):  # on chip, and split. Rows of 70001 start at any offset to 16 bytes
                eps = 0.0 if name == "tiny" else 1e-5
                yield case(f"{name}_{columns}", bell(dtype, (1, columns), size, offset=columns % 2), eps)
            yield case(f"{name}_in_place_70001", bell(dtype, (1, 70001), size, offset=1), eps, in_place=True)
            yield case(f"{name}_every_second_2100", bell(dtype, (1, 2100), size, stride=(4200, 2)), eps)
            yield case(f"{name}_unaligned_rows", bell(dtype, (3, 3001), size, offset=1), eps)
        yield case("largest_eps", bell(dtype, (3, 48)), largest_eps)
        yield case("largest_eps_70001", bell(dtype, (1, 70001), large, offset=1), largest_eps)
    # One of two spans is too small to change the sum, but the weight makes its results large.
    for dtype, huge in (("f32", 1e30), ("f64", 1e250)):
        columns = 8213 if dtype == "f32" else 4117
        for at in (100, columns - 100):
            values = np.ones((1, columns))
            values[0, at:at + 3] = round_to(huge, dtype)
            yield case(f"large_span_{at}", explicit(dtype, values), weight=constant(dtype, (columns,), huge))


def small_by_large_weight():
    """The normalized number is denormal, and the weight makes a normal number of it."""
    for dtype, sizes in (("f32", (1e-37, 1e-44)), ("bf16", (1e-37,)), ("f64", (1e-307, 1e-320))):
        for turn, size in enumerate(sizes):
            for columns in (2, 40, 300):
                x = round_to(np.resize([size, 1000.0], (1, columns)), dtype)
                yield case(f"small_{turn}_by_large_weight_{columns}", explicit(dtype, x),
                           weight=explicit(dtype, round_to(np.resize([1e4, 1.0], columns), dtype)))
        for columns in (70000, 70001):
            yield case(f"small_by_large_weight_{columns}", bell(dtype, (1, columns), 1e-3 * sizes[0], offset=columns % 2),
                       weight=constant(dtype, (columns,), 1024.0))


def case(name, x, eps=1e-5, **rest):
    return OP.case(name if name.startswith("exact") else "adversarial_" + name, x, params={"eps": eps}, **rest)


TOPICS = {
    "smoke": smoke,
    "exact": exact,
    "adversarial": adversarial,
    "layouts": layouts,
    "sizes": sizes,
}
