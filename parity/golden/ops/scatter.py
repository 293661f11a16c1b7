"""y[.., index[.., j, ..], ..] = x[.., j, ..] along dim, in place in y; x and index have one shape."""

import math

import numpy as np

from golden import Expected, explicit
from ops import scatters, takes
from ops.scatters import DETERMINISTIC

# Without DETERMINISTIC the op may keep any source, so the sources of one element must be equal.
OP = scatters.ScatterOp(
    "scatter",
    takes.DTYPES,
    lambda dtype, shape, turn, **layout: takes.data(dtype, shape, **layout),
    lambda dtype: ((0, 0), (DETERMINISTIC, 0), (DETERMINISTIC, 1)),
    lambda flags, dtype: flags == DETERMINISTIC,
    None,
)


def reference(params, inputs):
    y = inputs["y"].copy()
    for target, values in scatters.in_order(params, inputs):
        y[target] = values
    _, bad = scatters.meaning(inputs, params)
    return {"y": Expected(y), **takes.reported(inputs.get("report"), bad)}


def torch_reference(torch, params, inputs):
    """One source after the other along dim on the CPU, so that the last one is kept."""
    found = scatters.torch_arguments(torch, params, inputs)
    return None if found is None else {"y": torch.scatter(inputs["y"], *found, inputs["x"])}


def exact():
    """Infinities, NaN, denormals and zeros of both signs. Integer dtypes hold NaN with all their bits."""
    inf, nan = math.inf, math.nan
    for dtype in takes.FLOATS:
        least = math.ldexp(1.0, {"f32": -149, "f16": -24, "bf16": -133, "f64": -1074}[dtype])
        values = np.array([0.0, -0.0, inf, -inf, nan, least, -least, 1.0])
        for way in OP.ways(dtype):
            for shape, dim in (((8,), 0), ((2, 4), 0), ((2, 4), 1), ((4, 2), 1)):
                y_shape = tuple(extent + 2 if d == dim else extent for d, extent in enumerate(shape))
                y = explicit(dtype, np.resize(values[::-1], y_shape))
                yield OP.case(
                    f"exact_special_{takes.name_of(shape)}_dim{dim}",
                    explicit(dtype, values.reshape(shape)),
                    y,
                    scatters.unique("i64", shape, dim, y_shape[dim]),
                    dim,
                    way,
                )
    for dtype, quiet, signalling in (("u16", 0x7E01, 0x7C01), ("u16", 0x7FC1, 0x7F81), ("u32", 0x7FC01234, 0x7F801234),
                                     ("u64", 0x7FF8000000001234, 0x7FF0000000001234)):
        sign = 1 << (8 * np.dtype(scatters.golden.dtypes.INTEGERS[dtype]).itemsize - 1)
        values = np.array([quiet, signalling, quiet | sign, signalling | sign, 0, sign, 1, 2 * sign - 1], dtype=object)
        for way in OP.ways(dtype):
            for shape in ((8,), (2, 4), (1, 8)):
                dim = len(shape) - 1
                yield OP.case(
                    f"exact_nan_{quiet:x}_{takes.name_of(shape)}",
                    explicit(dtype, values.reshape(shape).tolist()),
                    explicit(dtype, values[::-1].reshape(shape).tolist()),
                    scatters.unique("u32", shape, dim, shape[dim]),
                    dim,
                    way,
                )


TOPICS = {
    "smoke": lambda: scatters.smoke(OP),
    "exact": exact,
    "layouts": lambda: scatters.layouts(OP),
    "indices": lambda: scatters.index_cases(OP),
    "sizes": lambda: scatters.sizes(OP),
}
