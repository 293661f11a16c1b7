"""y = exp(x - max(x)) / sum(exp(x - max(x))), over the last dimension."""

import math

import numpy as np

import extended
from extended import Real
from golden import Expected, bell, constant, explicit, uniform
from ops import rows

OP = rows.RowOp("softmax", (), {}, x_scale=2.0, x_shift=0.0)
NAN, INF = math.nan, math.inf


def reference(params, inputs):
    del params
    x = inputs["x"]
    y, condition = (np.empty(x.shape, dtype=np.float64) for _ in range(2))
    flat = [a.reshape(-1, max(x.shape[-1], 1)) for a in (x, y, condition)]
    for row, out, sensitivity in zip(*flat):
        top = row.max()
        if math.isnan(top) or math.isinf(top):
            out[:], sensitivity[:] = NAN, 0.0
            continue
        d, rest = extended.difference(row, top)
        with np.errstate(all="ignore"):
            e = np.exp(d.astype(Real)) * (Real(1) + rest.astype(Real))
            out[:] = e / extended.total(e)
            # float64 rounds x - max, and exp turns this absolute error into a relative error.
            sensitivity[:] = np.where(out == 0, 0.0, out * (1.0 - d))
    return {"y": Expected(y, None, condition)}


def torch_reference(torch, params, inputs):
    del params
    return {"y": torch.nn.functional.softmax(inputs["x"], dim=-1)}


def exact():
    """2^k equal elements give 2^-k each, and -inf gives 0 next to any elements."""
    for dtype in rows.DTYPES:
        for columns in (1, 2, 4, 8, 16, 32):
            yield case(f"exact_equal_{columns}", explicit(dtype, np.repeat([[0.0], [-7.5], [96.0]], columns, axis=1)))
        for columns in (64, 128, 256, 512, 1024, 4096, 8192, 65536):
            yield case(f"exact_equal_{columns}", constant(dtype, (1, columns), 5.0))
        for columns, kept in ((3, 1), (3, 2), (17, 4), (33, 16), (64, 1), (80, 64)):
            for mask in (-INF, -1100.0):  # exp(-1100) is 0, in f64 too
                values = np.full((3, columns), mask)
                values[0, :kept] = 1.25
                values[1, columns - kept:] = -3.0
                values[2, np.arange(kept) * 5 % columns if columns % 5 else slice(kept)] = 0.0
                yield case(f"exact_{'inf' if mask == -INF else 'far'}_{kept}_of_{columns}", explicit(dtype, values))
        yield case("exact_causal", explicit(dtype, np.where(np.tri(8, dtype=bool), 2.0, -INF)[[0, 1, 3, 7]]))
        values = np.full((1, 1500), -INF)
        values[0, 37:37 + 1024] = 2.0
        yield case("exact_window", explicit(dtype, values))


def adversarial():
    for dtype in rows.DTYPES:
        least = math.ldexp(1.0, {"f32": -149, "f16": -24, "bf16": -133, "f64": -1074}[dtype])
        largest = {"f32": 3.4e38, "f16": 65504.0, "bf16": 3.3e38, "f64": 1.7e308}[dtype]
        yield case("inf", rows.quirky(dtype, (4, 24), 1, at=[(1, 5, INF), (3, 0, INF), (3, 1, -INF)]))
        yield case("minus_inf", rows.quirky(dtype, (4, 24), 2, at=[(1, 5, -INF), (3, 0, -INF), (3, 23, -INF)]))
        yield case("all_minus_inf", explicit(dtype, [[1.0, 2.0, 0.5] * 7, [-INF] * 21, [-1.0, 0.0, 0.25] * 7]))
        yield case("nan", rows.quirky(dtype, (4, 24), 3, at=[(0, 23, NAN), (2, 7, NAN)]))
        yield case("nan_and_inf",
                   rows.quirky(dtype, (4, 40), 4, at=[(1, 0, NAN), (1, 33, INF), (3, 2, NAN), (3, 3, -INF)]))
        yield case("zeros", explicit(dtype, [[0.0] * 20, [-0.0] * 20, [0.0, -0.0] * 10]))
        yield case("denormals", explicit(dtype, least * (np.arange(60).reshape(3, 20) - 31.0)))
        yield case("all_equal", explicit(dtype, np.repeat([[0.1], [-3000.1], [1e4]], 37, axis=1)))
        yield case("around_95", uniform(dtype, (3, 64), 5.0, 95.0))
        yield case("around_minus_95", uniform(dtype, (3, 64), 5.0, -95.0))
        yield case("spread", bell(dtype, (3, 64), 10.0))
        yield case("wide_spread", bell(dtype, (3, 64), 40.0))
        yield case("huge_mean", bell(dtype, (2, 100), 40.0 if dtype == "bf16" else 4.0, 3000.0))
        yield case("exp_88", explicit(dtype, [[-88, 0, 88, 87.5] * 4, [88] * 8 + [0] * 8, [0] * 8 + [-88] * 8,
                                              [-87, -87.5, -88, -88.5, -89, -95, -100, -103, -103.5, -104, -105, -110,
                                               0, 0, 1, -86]]))
        yield case("ramp", explicit(dtype, -np.arange(128.0).reshape(1, 128)))
        yield case("ramp_up", explicit(dtype, np.arange(128.0).reshape(1, 128)))
        if dtype == "f64":
            yield case("exp_700", explicit(dtype, [[-700, 0, 700, 1] * 4, [700] * 8 + [0] * 8, [0] * 8 + [-700] * 8,
                                                   [-700, -707, -708, -708.5, -709, -720, -740, -744, -745, -745.5,
                                                    -746, -800, 0, 0, 1, -690]]))
            yield case("ramp_700", explicit(dtype, -6.0 * np.arange(128.0).reshape(1, 128)))
        yield case("one_outlier", explicit(dtype, [[0.0] * 30 + [1000.0], [1000.0] + [0.5] * 30,
                                                   [3.0] * 15 + [20.0] + [3.0] * 15]))
        yield case("one_low", explicit(dtype, [[0.0] * 30 + [-1000.0], [-20.0] + [0.5] * 30]))
        yield case("extremes", explicit(dtype, [[largest, -largest, 0.0, largest], [-largest] * 4,
                                                [-largest, 0, 0, 1]]))
    yield from split()
    yield from dominant()


def split():
    """Rows of f32 and f64 whose spans differ: a rising row, a row with one empty span, and a row with all its weight in
    one span."""
    for dtype, columns in (("f32", 8213), ("f64", 6165)):
        rise = np.floor(np.arange(columns) / 64.0)
        for name, values in (("rising", rise), ("steep", np.floor(rise * 8))):
            yield case(f"{name}_{columns}", explicit(dtype, values[None]))
        tile = 4096 if dtype == "f32" else 2048
        for name, begin, end in (("first", 0, tile + 9), ("last", tile - 9, columns)):
            values = np.resize([0.0, 1.0, 0.5], columns)
            values[begin:end] = -INF
            yield case(f"minus_inf_{name}_{columns}", explicit(dtype, values[None]))
        for name, value, at in () if dtype == "f64" else (("nan", NAN, columns - 9), ("inf", INF, 2), ("all_minus_inf", -INF, slice(None))):
            values = np.zeros(columns)
            values[at] = value
            yield case(f"{name}_{columns}", explicit(dtype, values[None]))


def dominant():
    """One element is most of the sum. y's stride selects the kernels for strided rows."""
    for columns in (96, 128, 5120):
        values = np.round(bell("f64", (1, columns), 1.0, seed=columns).array() * 8) / 8
        for size in (5.0, 12.0):
            x = np.where(np.arange(columns) == columns // 3, size, values)
            yield case(f"dominant_{size:g}_{columns}", explicit("f64", x), y={"stride": (2 * columns, 2)})


def case(name, x, **rest):
    if name.startswith("exact"):
        return OP.case(name, x, ulps=0)
    return OP.case("adversarial_" + name, x, **rest)


def sizes():
    yield from rows.sizes(OP)
    # More columns than a block of the CPU runtime holds in registers, and more rows than two blocks handle in one
    # round.
    yield OP.case("tail_5x33000", OP.x("f32", (5, 33000)))
    # The same in 16 bits: more columns than 1024 work-items hold in eight vectors, and more than a cluster of eight
    # blocks of 512 holds.
    for dtype in ("f16", "bf16"):
        for shape in ((5, 65552), (2, 262208)):
            yield OP.case(f"full_{rows.name_of(shape)}", OP.x(dtype, shape))
    # Streamed rows with a later tile whose maximum exceeds the earlier maximum by more than the limit for the running
    # sum.
    for dtype in rows.DTYPES:
        yield OP.case("steep_30001", bell(dtype, (1, 30001), 40.0, stride=(60002, 2)))


TOPICS = {
    "smoke": lambda: rows.smoke(OP),
    "exact": exact,
    "adversarial": adversarial,
    "layouts": lambda: rows.layouts(OP),
    "sizes": sizes,
}
