"""y = x - max(x) - log(sum(exp(x - max(x)))), over the last dimension."""

import math

import numpy as np

import extended
from extended import Real
from golden import Expected, explicit
from ops import rows

OP = rows.RowOp("log_softmax", (), {}, x_scale=2.0, x_shift=0.0)
NAN, INF = math.nan, math.inf


def reference(params, inputs):
    del params
    x = inputs["x"]
    y = np.empty(x.shape, dtype=np.float64)
    for row, out in zip(*(a.reshape(-1, max(x.shape[-1], 1)) for a in (x, y))):
        top = row.max()
        if math.isnan(top) or math.isinf(top):
            out[:] = NAN
            continue
        high, low = extended.difference(row, top)
        with np.errstate(all="ignore"):
            d = high.astype(Real) + low.astype(Real)
            out[:] = d - np.log(extended.total(np.exp(d)))
    # The sum is 1 or more, and is rounded: the scale is at least 1.
    return {"y": Expected(y, np.where(np.isfinite(y), np.maximum(np.abs(y), 1.0), 0.0))}


def torch_reference(torch, params, inputs):
    del torch, params
    return {"y": inputs["x"].log_softmax(dim=-1)}


def exact():
    """Rows with one finite number; all other elements are -inf."""
    for dtype in rows.DTYPES:
        for columns in (1, 4, 16, 50):
            values = np.full((3, columns), -INF)
            values[range(3), (0, columns // 2, columns - 1)] = (5.0, -0.25, 0.0)
            yield OP.case(f"exact_one_of_{columns}", explicit(dtype, values), ulps=0)


def adversarial():
    for dtype in rows.DTYPES:
        for name, at in (("inf", [(1, 5, INF)]), ("nan", [(0, 23, NAN), (2, 7, NAN)]), ("minus_inf", [(1, 5, -INF)])):
            yield OP.case("adversarial_" + name, rows.quirky(dtype, (4, 24), 1, at=at))
        yield OP.case("adversarial_all_minus_inf", explicit(dtype, [[1.0, 2.0] * 9, [-INF] * 18]))
        yield OP.case("adversarial_one_large", rows.quirky(dtype, (2, 100), 2, at=[(0, 37, 20.0), (1, 99, 9.0)]))


def sizes():
    shapes = [(rows.rows_for(columns), columns) for columns in rows.COLUMNS[::2]] + [(0, 64), (37, 0), (37, 5), (150, 8), (37, 1000), (3, 70001)]
    for turn, shape in enumerate(shapes):
        yield OP.case("size_" + rows.name_of(shape), OP.x(rows.DTYPES[turn % 4], shape))
    for dtype in rows.DTYPES:
        length = {"f32": 4, "f64": 2}.get(dtype, 8)
        for vectors in (16, 65, 512, 2048, 2049, 4100):
            for odd in (0, 1):
                yield OP.case(f"odd_end_{vectors}" if odd else f"whole_vectors_{vectors}", OP.x(dtype, (1, vectors * length - odd), offset=odd))
        yield OP.case("every_second_2100", OP.x(dtype, (1, 2100), stride=(4200, 2)))


TOPICS = {
    "smoke": lambda: rows.smoke(OP),
    "exact": exact,
    "adversarial": adversarial,
    "layouts": lambda: rows.layouts(OP),
    "sizes": sizes,
}
