"""y = x / sqrt(mean(x^2) + eps) * weight, over the last dimension."""

import math

import numpy as np

import extended
from extended import Real
from golden import Expected, bell, constant, explicit
from ops import rows

OP = rows.RowOp("rms_norm", ("weight",), {"eps": 1e-5})
NAN, INF = math.nan, math.inf


def reference(params, inputs):
    x = inputs["x"]
    weight = inputs.get("weight", np.ones(x.shape[-1]))
    y = np.empty(x.shape, dtype=np.float64)
    for row, out in zip(x.reshape(-1, max(x.shape[-1], 1)), y.reshape(-1, max(x.shape[-1], 1))):
        wide = row.astype(Real)
        with np.errstate(all="ignore"):
            out[:] = wide / np.sqrt(extended.total(wide * wide) / Real(len(row)) + Real(params["eps"])) * weight
    return {"y": Expected(y)}


def torch_reference(torch, params, inputs):
    x = inputs["x"]
    return {"y": torch.nn.functional.rms_norm(x, x.shape[-1:], inputs.get("weight"), params["eps"])}


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
        if dtype in ("f16", "bf16"):  # each weight an eighth of an ULP further: the results are their nearest neighbours
            ulp = 2.0**-10 if dtype == "f16" else 2.0**-7
            eighths = (1 + np.arange(37) * ulp / 8) * np.where(np.arange(37) % 2 == 1, -4.0, 0.5)
            yield case("rounding", explicit(dtype, [[1.0] * 37, [-1.0] * 37]), 0.0, ulps=0.5, weight=explicit("f32", eighths))
        yield case("weight_inf_nan", bell(dtype, (2, 8)), weight=explicit(dtype, [1, INF, 2, NAN, 0, -INF, 3, -1.0]))
        if dtype == "f16":  # beyond 65504, and just under it
            yield case("overflow", explicit(dtype, [[2.0, -2.0, 1.0, 1.0, 0.5, 0.0, 0.0, 0.25]]),
                       weight=constant(dtype, (8,), 49152.0))
        if dtype == "bf16":
            yield case("overflow", explicit(dtype, [[2.0, -2.0, 1.0, 1.0, 0.5, 0.0, 0.0, 0.25]]),
                       weight=constant(dtype, (8,), 2.0**127))


def case(name, x, eps=1e-5, **rest):
    return OP.case(name if name.startswith("exact") else "adversarial_" + name, x, params={"eps": eps}, **rest)


TOPICS = {
    "smoke": lambda: rows.smoke(OP),
    "exact": exact,
    "adversarial": adversarial,
    "layouts": lambda: rows.layouts(OP),
    "sizes": lambda: rows.sizes(OP),
}
