"""y = (x - mean(x)) / sqrt(var(x) + eps) * weight + bias, over the last dimension."""

import math

import numpy as np

import extended
from dtypes import round_to
from extended import Real
from golden import Expected, bell, constant, explicit
from ops import rows

# If the mean is far from zero, the variance of f16 and bf16 loses up to 5 and 8 of f32's digits.
VARIANCE_ULPS = {**rows.SCALAR_ULPS, "f16": 32, "bf16": 256}
OP = rows.RowOp("layer_norm", ("weight", "bias"), {"eps": 1e-5}, scalars={"mean": rows.SCALAR_ULPS, "rstd": VARIANCE_ULPS})
NAN, INF = math.nan, math.inf


def reference(params, inputs):
    x = inputs["x"]
    weight = inputs.get("weight", np.ones(x.shape[-1]))
    bias = inputs.get("bias")
    y, scale, condition = (np.empty(x.shape, dtype=np.float64) for _ in range(3))
    mean, size, rstd = (np.full(x.shape[:-1], NAN) for _ in range(3))
    flat = [a.reshape(-1, max(x.shape[-1], 1)) for a in (x, y, scale, condition)]
    for place, row, out, terms, sensitivity in zip(np.ndindex(*mean.shape), *flat):
        if not np.isfinite(row).all():
            out[:], terms[:], sensitivity[:] = NAN, 0.0, 0.0
            continue
        with np.errstate(all="ignore"):
            high, low = extended.mean_in_two(row)
            d, rest = extended.difference(row, high)
            centred = d.astype(Real) + (rest.astype(Real) - Real(low))
            deviation = np.sqrt(extended.total(centred * centred) / Real(len(row)) + Real(params["eps"]))
            mean[place], size[place], rstd[place] = high, np.abs(row).mean(), Real(1) / deviation
            scaled = centred / deviation * weight
            out[:] = scaled + (0.0 if bias is None else bias)  # no bias means zeros, so that a result of 0 is +0
            terms[:] = np.abs(scaled) if bias is None else np.maximum(np.abs(scaled), np.abs(bias))
            # float64 rounds the mean, a sum of the |x|, and x - mean.
            sensitivity[:] = np.maximum(terms, (np.abs(row) + np.abs(row).mean()) / deviation * np.abs(weight))
    for limits in (scale, condition, size):  # a weight or a result that is not finite has no ULP
        limits[~np.isfinite(limits)] = 0.0
    with np.errstate(all="ignore"):
        lost = rstd * (1 + np.square(size * rstd))
    lost = np.where(np.isfinite(lost), lost, 0.0)
    return {"y": Expected(y, None if bias is None else scale, condition), "mean": Expected(mean, size),
            "rstd": Expected(rstd, None, lost)}


def torch_reference(torch, params, inputs):
    x = inputs["x"]
    weight, bias = inputs.get("weight"), inputs.get("bias")
    y, mean, rstd = torch.native_layer_norm(x, x.shape[-1:], weight, bias, params["eps"])
    if x.dtype.itemsize == 2:  # the CPU rounds the statistics to x's dtype
        return {"y": y}
    return {"y": y, "mean": mean.reshape(x.shape[:-1]), "rstd": rstd.reshape(x.shape[:-1])}


def halves(columns, mean, a):
    """A row with equal numbers of mean + a and mean - a, mixed by a step that is prime to the columns."""
    order = np.arange(columns) * 7 % columns if columns % 7 else np.arange(columns)
    return np.where(order < columns // 2, mean + a, mean - a)


def exact():
    """Half mean + a, half mean - a: the variance is a^2, so eps 0 gives +-1 and eps = 3 a^2 gives +-1/2."""
    for dtype in rows.DTYPES:
        for columns in (2, 4, 6, 8, 24, 64, 100, 256):
            x = explicit(dtype, [halves(columns, 0.0, 1.0), halves(columns, 96.0, 4.0), halves(columns, -20.0, 0.5)])
            yield case(f"exact_halves_{columns}", x, 0.0, ulps=0)
        for columns in (10, 32, 96):
            x = explicit(dtype, [halves(columns, 8.0, 2.0), halves(columns, -8.0, -2.0)])
            yield case(f"exact_eps_{columns}", x, 12.0, ulps=0)
            for kind in dict.fromkeys((dtype, "f32")):
                weight = explicit(kind, np.ldexp(1.0, np.arange(columns) % 5 - 1))
                bias = explicit(kind, np.arange(columns) % 9 - 4.0)
                yield case(f"exact_{columns}", x, 0.0, ulps=0, weight=weight)
                yield case(f"exact_{columns}", x, 0.0, ulps=0, bias=bias)
                yield case(f"exact_{columns}", x, 0.0, ulps=0, weight=weight, bias=bias)
        yield case("exact_one_column", explicit(dtype, [[3.0], [-0.5], [0.0]]), ulps=0, bias=explicit(dtype, [0.75]))
        for columns in (1024, 4096, 65536):
            yield case(f"exact_long_{columns}", constant(dtype, (1, columns), 3.0), ulps=0,
                       bias=constant(dtype, (columns,), -1.5))


def adversarial():
    for dtype in rows.DTYPES:
        least = math.ldexp(1.0, {"f32": -149, "f16": -24, "bf16": -133, "f64": -1074}[dtype])
        big = 6e4 if dtype == "f16" else 1e17
        both = ("weight", "bias")
        yield case("inf", rows.quirky(dtype, (4, 24), 1, at=[(1, 5, INF), (3, 0, -INF)]))
        yield case("infs", rows.quirky(dtype, (3, 40), 2, at=[(1, 39, INF), (1, 3, -INF)]), weights=both)
        yield case("nan", rows.quirky(dtype, (4, 24), 3, at=[(0, 23, NAN), (2, 7, NAN)]))
        yield case("nan_and_inf", rows.quirky(dtype, (3, 40), 4, at=[(1, 0, NAN), (1, 33, INF)]), weights=("bias",))
        yield case("zeros", explicit(dtype, [[0.0] * 20, [-0.0] * 20]))
        yield case("zeros", explicit(dtype, [[0.0] * 20, [-0.0] * 20]), weights=both)
        for columns in (4, 40, 300, 4096):
            x = explicit(dtype, np.resize([-0.0, -1.25, 0.0, 1.25], (2, columns)))
            yield case(f"signs_of_zero_{columns}", x)
            w = explicit(dtype, np.resize([1.0, 1.0, 2.0, 1.0, -1.0, 1.0, -2.0, 1.0], columns))
            yield case(f"signs_of_zero_{columns}", x, weight=w)
            b = explicit(dtype, np.resize([0.0, 1.0, -0.0, -0.0], columns))
            yield case(f"signs_of_zero_{columns}", x, weight=w, bias=b)
        yield case("equal_eps_0", explicit(dtype, [[1.0, -1.0] * 10, [3.0] * 20, [2.0, 0.0] * 10]), 0.0)
        # Denormals whose mean is a denormal, because f32 has no digits below.
        yield case("denormals", explicit(dtype, [halves(20, 0.0, least * 5), halves(20, least * 9, least)]))
        for columns in (3, 37, 100, 1000):
            x = explicit(dtype, np.repeat([[0.1], [-3000.1]], columns, axis=1)) if columns < 100 else \
                constant(dtype, (2, columns), 3000.1)
            yield case(f"all_equal_{columns}", x)
        spread = {"f32": 1.0, "f64": 1.0, "f16": 4.0, "bf16": 40.0}[dtype]  # a few ULPs of 3000, at least
        for columns in (64, 100, 1000):
            yield case(f"huge_mean_{columns}", bell(dtype, (2, columns), spread, 3000.0))
            yield case(f"huge_mean_{columns}", bell(dtype, (2, columns), spread, -3000.0), weights=both)
        if dtype in ("f32", "f64"):
            yield case("mean_of_3000_deviations", bell(dtype, (2, 128), 1.0 / 3000.0, 1.0), 1e-12)
            yield case("mean_of_3000_deviations_large", bell(dtype, (2, 128), 333.0, 1e6))
        # moments.h computes the variance of rows with several waves in one of two ways. These means are on both sides
        # of its limit. The squares of the last mean are out of f32's range, but the differences to it are not.
        for columns, mean in ((1536, 0.4), (1536, 0.6), (1001, -2.7), (2048, 3.0), (5120, -7.0), (4099, 40.0),
                              (20001, 40.0), (24576, -40.0)):
            yield case(f"mean_of_{abs(mean)}_deviations_{columns}".replace(".", "_"), bell(dtype, (3, columns), 1.0, mean),
                       weights=both)
        if dtype == "f16":
            yield case("mean_of_1000_0_deviations_4099", bell(dtype, (3, 4099), 1.0, 1000.0), weights=both)
        if dtype in ("f32", "bf16"):
            yield case("squares_beyond_f32", bell(dtype, (2, 1000), 2e17, 2.5e19))
        yield case("outlier", rows.quirky(dtype, (3, 48), 5, 0.01, at=[(0, 47, 1e4), (2, 0, -3e4)]))
        yield case("large", bell(dtype, (3, 48), big / 4))
        yield case("largest", explicit(dtype, big * (np.arange(96).reshape(2, 48) * 37 % 97 - 48) / 48), weights=both)
        yield case("small_eps_0", bell(dtype, (3, 48), 1e-4 if dtype == "f16" else 1e-14), 0.0)
        yield case("eps_dominates", bell(dtype, (3, 48), 1e-3), 1e3)
        yield case("cancels", explicit(dtype, [halves(32, 1.0, 0.75), halves(32, -5.0, -3.0)]),
                   weight=bell(dtype, (32,), 1.0, 3.0, seed=7), bias=bell(dtype, (32,), 1.0, -3.0, seed=7))
        yield case("weight_inf_nan", bell(dtype, (2, 8)), weight=explicit(dtype, [1, INF, 2, NAN, 0, -INF, 3, -1.0]))
        yield case("weight_inf_nan", bell(dtype, (2, 8)), weight=explicit(dtype, [1, INF, 2, NAN, 0, -INF, 3, -1.0]),
                   bias=explicit(dtype, [INF, 1, NAN, 1, -INF, 1, 1, 0]))
        if dtype in ("f16", "bf16"):
            # The mean is 1 plus a rest below f32's digits. For x = 1 the rest is the result.
            little = 2.0**-22 if dtype == "f16" else 1.5 * 2.0**-26
            row = [1, 3, 2, 2, 2.5, 1.5, 1, 3] + [1, 1.5, 0.5, 1.25, 0.75, 2, 1, 0] + [little] + [0.0] * 7
            yield case("x_next_to_mean", explicit(dtype, [row, row[::-1]]), weight=constant("f32", (24,), 2.0**14))
            # Results just above the largest number, and just under it.
            yield case("overflow", explicit(dtype, [[2.0, -2.0, 1.0, -1.0, 0.5, 0.0, -0.5, 0.0]]),
                       weight=constant(dtype, (8,), 49152.0 if dtype == "f16" else 2.0**127))
    yield from out_of_range()
    yield from small_by_large_weight()
    yield from large_means()
    yield from beside_others()
    yield from rows.one_large(case)
    yield from statistics()


def statistics():
    """Rows whose sums are out of range, or cancel, and means of many deviations."""
    both = {"mean", "rstd"}
    for dtype in rows.DTYPES:
        big = {"f16": 6e4, "bf16": 3e38, "f32": 3e38, "f64": 1e304}[dtype]
        small = {"f16": 6e-5, "bf16": 1e-30, "f32": 1e-30, "f64": 1e-300}[dtype]
        for columns in (3, 40, 600, 5000):
            for name, size, eps in (("large", big / 4, 1e-5), ("tiny", small, 0.0)):
                yield case(f"statistics_{name}_{columns}", bell(dtype, (2, columns), size), eps, scalars=both)
            yield case(f"statistics_equal_{columns}", constant(dtype, (2, columns), -3.0), scalars=both)
            yield case(f"statistics_equal_eps_0_{columns}", constant(dtype, (2, columns), -3.0), 0.0, scalars=both)
        spread = {"f32": 1.0, "f64": 1.0, "f16": 4.0, "bf16": 40.0}[dtype]
        for columns, mean in ((64, 3000.0), (2048, 5 * spread), (2048, 15 * spread), (24576, -40.0 * spread)):
            yield case(f"statistics_mean_{columns}_{abs(mean):g}", bell(dtype, (1, columns), spread, mean), scalars=both)
        yield case("statistics_inf_nan", rows.quirky(dtype, (4, 24), 1, at=[(1, 5, INF), (3, 0, NAN)]), scalars=both)


def beside_others():
    """Equal elements with many digits, whose mean may be wrong in the last digit, next to rows of zeros, infinities and
    NaN."""
    for dtype, columns, exponents in (("f32", 20, range(66, 98)), ("bf16", 20, range(66, 98)), ("f64", 48, range(760, 792))):
        digits = round_to(1.0 + (np.arange(32) * 37 % 64 + 0.3) / 67.0, dtype)
        equal = np.repeat(np.ldexp(digits, np.array(exponents))[:, None], columns, axis=1)
        for name, other in (("zeros", 0.0), ("ones", 1.0), ("nan", NAN), ("inf", INF)):
            x = np.insert(equal, range(0, 32, 4), other, axis=0)
            yield case(f"equal_beside_{name}", explicit(dtype, x))
    for first in (float.fromhex("0x1.4510bep+90"), float.fromhex("0x1.ef60e8p+90")):
        yield case(f"equal_beside_zeros_{'wave_32' if first < 2.0**90 * 1.5 else 'wave_64'}",
                   explicit("f32", np.repeat([[first]] + [[0.0]] * 7, 20, axis=1)))


def out_of_range():
    """Squares, or products with weights, outside the normal numbers of the type of the computation."""
    both = ("weight", "bias")
    for dtype, large, tiny, largest_eps in (("f32", 1e20, 1e-30, 3.4e38), ("bf16", 1e25, 1e-30, 3.4e38),
                                            ("f64", 1e200, 1e-200, 1.7e308)):
        yield case("large_two", explicit(dtype, round_to(np.array([[large, -large], [large, large / 2]]), dtype)))
        yield case("tiny_two", explicit(dtype, round_to(np.array([[tiny, -tiny], [tiny, tiny / 2]]), dtype)), 0.0)
        for name, size, eps in (("large", large, 1e-5), ("tiny", tiny, 0.0)):
            for columns in (48, 1000, 70000, 70001):  # on chip, and split. Rows of 70001 start at any offset to 16 bytes
                yield case(f"{name}_{columns}", bell(dtype, (1, columns), size, offset=columns % 2), eps, weights=both)
            yield case(f"{name}_in_place_70001", bell(dtype, (1, 70001), size, offset=1), eps, in_place=True)
            yield case(f"{name}_every_second_2100", bell(dtype, (1, 2100), size, stride=(4200, 2)), eps)
            yield case(f"{name}_unaligned_rows", bell(dtype, (3, 3001), size, offset=1), eps, weights=both)
        yield case("largest_eps", bell(dtype, (3, 48)), largest_eps)
        yield case("largest_eps_70001", bell(dtype, (1, 70001), large, offset=1), largest_eps)
    # One of two spans is too small to change the sum, but the weight makes its results large.
    for dtype, huge in (("f32", 1e30), ("f64", 1e250)):
        columns = 8213 if dtype == "f32" else 4117
        for at in (100, columns - 100):
            values = np.resize([1.0, -1.0], (1, columns - 1))
            values[0, at:at + 4] *= round_to(huge, dtype)
            yield case(f"large_span_{at}", explicit(dtype, np.append(values, [[0.0]], axis=1)),
                       weight=constant(dtype, (columns,), huge))


def small_by_large_weight():
    """The normalized number is denormal, and the weight makes a normal number of it."""
    for dtype, size, eps in (("f32", 1e-37, 1e4), ("f32", 1e-43, 1e-5), ("bf16", 1e-37, 1e4), ("f64", 1e-307, 1e4)):
        for columns in (2, 40, 300):
            x = round_to(halves(columns, 0.0, size)[None], dtype)
            weight = constant(dtype, (columns,), float(round_to(1e4, dtype)))
            yield case(f"small_by_large_weight_{columns}_eps_{eps:g}".replace("-", "_"), explicit(dtype, x), eps, weight=weight)


def large_means():
    """Large means of split rows: kernels hold the means of spans and of the row in two numbers."""
    for dtype, spread, mean in (("f32", 1.0, 1e6), ("f16", 4.0, 3000.0), ("bf16", 40.0, -3000.0), ("f64", 1.0, 1e13)):
        for columns in (70000, 70001):
            yield case(f"huge_mean_{columns}", bell(dtype, (1, columns), spread, mean, offset=columns % 2), weights=("weight", "bias"))
    for columns in (8213, 70000):
        yield case(f"all_equal_{columns}", constant("f32", (1, columns), 3000.1), weights=("weight",))


def sizes():
    yield from rows.sizes(OP)
    # Each block handles several rows on a device of few units, and prefetches one or two of the next rows.
    both = ("weight", "bias")
    yield OP.case("rounds_40x2560", OP.x("f16", (40, 2560)), both)
    yield OP.case("rounds_12x12288", OP.x("f16", (12, 12288), stride=(12304, 1)), ("weight",))
    yield OP.case("rounds_40x2560", OP.x("bf16", (40, 2560)), both, "f32")
    yield OP.case("rounds_12x12288", OP.x("bf16", (12, 12288)), both, in_place=True)
    # The same with odd rows, whose offsets to 16 bytes are equal or differ, and with clusters, which prefetch the next
    # edges.
    yield OP.case("rounds_30x5377", OP.x("bf16", (30, 5377)), both)
    yield OP.case("rounds_30x10007", OP.x("f16", (30, 10007)), ("weight",))
    yield OP.case("rounds_30x3001", OP.x("f32", (30, 3001)), both)
    yield OP.case("rounds_6x5x3001", OP.x("bf16", (6, 5, 3001), stride=(15111, 3003, 1), offset=3), both)
    yield OP.case("rounds_9x20001", OP.x("bf16", (9, 20001)), both)
    yield OP.case("rounds_7x16393", OP.x("f16", (7, 16393), offset=1), ("weight",), in_place=True)


def case(name, x, eps=1e-5, **rest):
    return OP.case(name if name.startswith("exact") else "adversarial_" + name, x, params={"eps": eps}, **rest)


TOPICS = {
    "smoke": lambda: rows.smoke(OP),
    "exact": exact,
    "adversarial": adversarial,
    "layouts": lambda: rows.layouts(OP),
    "sizes": sizes,
}
