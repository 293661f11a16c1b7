"""y = 2 * x, element by element."""

import numpy as np

from golden import Expected, explicit
from ops import rows

OP = rows.RowOp("@op@", (), {})


def reference(params, inputs):
    del params
    return {"y": Expected(2.0 * inputs["x"])}


def torch_reference(torch, params, inputs):
    del torch, params
    return {"y": 2 * inputs["x"]}


def exact():
    for dtype in rows.DTYPES:
        yield OP.case("exact_small", explicit(dtype, np.arange(-16.0, 16.0).reshape(2, 16)), ulps=0)
        yield OP.case("exact_special", explicit(dtype, [[0.0, -0.0, np.inf, -np.inf, np.nan]]), ulps=0)


TOPICS = {
    "smoke": lambda: rows.smoke(OP),
    "exact": exact,
    "layouts": lambda: rows.layouts(OP),
    "sizes": lambda: rows.sizes(OP),
}
