"""Nearest neighbour along the last dimensions: the reference and cases of upsample_nearest1d and upsample_nearest2d."""

import numpy as np

from golden import Case, Expected, View
from ops import movers

PYTORCH, CANDLE, EXACT = 0, 1, 2
RULES = {PYTORCH: "pytorch", CANDLE: "candle", EXACT: "exact"}


def is_copied(length, new, dimensions, rule):
    """PyTorch's GPU kernels for two dimensions ignore the scale of a dimension that keeps its size."""
    return rule != CANDLE and dimensions == 2 and length == new


def sources(length, new, dimensions, rule, scale):
    """The source of each of `new` elements among `length`. `dimensions` is the number of resized dimensions. The types
    are part of the definition: each operation is rounded to its own type."""
    i = np.arange(new)
    if new == 0 or is_copied(length, new, dimensions, rule):
        return i
    if rule == PYTORCH and scale == 0 and new in (length, 2 * length):
        return i * length // new
    real = np.float64 if rule == CANDLE else np.float32
    ratio = real(1 / np.float64(scale)) if scale > 0 else real(length) / real(new)
    at = i.astype(real) + (real(0.5) if rule == EXACT else real(0))
    return np.minimum(np.floor(at * ratio), length - 1).astype(np.int64)


def of_torch(torch, length, new, dimensions, rule, scale):
    """The sources by PyTorch. Its channels-last kernels follow the definition of nearest-exact everywhere. In the other
    kernels the compiler fuses the product with the next operation, and 13 pairs of sizes up to 128 differ. With a scale
    the other kernels follow the definition of nearest, as the GPU kernels do. The channels-last kernels ignore the
    scale if a size stays, or doubles."""
    scale = scale or None
    if is_copied(length, new, dimensions, rule):
        return torch.arange(length)
    row = torch.arange(length, dtype=torch.float32)
    if rule == PYTORCH:
        return torch.ops.aten.upsample_nearest1d(row[None, None], [new], scale)[0, 0].long()
    image = row.expand(1, 8, 1, length).contiguous(memory_format=torch.channels_last)
    other = None if scale is None else 1.0
    return torch.ops.aten._upsample_nearest_exact2d(image, [1, new], other, scale)[0, 0, 0].long()


class Params(dict):
    """The rule, the scales, and the sizes of y. The sizes are no params of the op, which reads them from y's shape."""

    def __init__(self, rule, scales, sizes):
        names = ("scale",) if len(sizes) == 1 else ("scale_h", "scale_w")
        super().__init__(rule=rule, **dict(zip(names, scales)))
        self.resized = list(zip(sizes, scales))


def reference(params, inputs):
    x = inputs["x"]
    for axis, (new, scale) in enumerate(params.resized, start=2):
        if x.shape[axis]:
            x = np.take(x, sources(x.shape[axis], new, len(params.resized), params["rule"], scale), axis=axis)
        else:  # y has no elements
            x = np.empty(x.shape[:axis] + (new,) + x.shape[axis + 1:], x.dtype)
    return {"y": Expected(np.ascontiguousarray(x))}


def torch_reference(torch, params, inputs):
    x = inputs["x"]
    if params["rule"] == CANDLE or 0 in x.shape or 0 in dict(params.resized):
        return None
    for axis, (new, scale) in enumerate(params.resized, start=2):
        x = x.index_select(axis, of_torch(torch, x.shape[axis], new, len(params.resized), params["rule"], scale))
    return {"y": x}


def case(op, name, dtype, shape, sizes, rule=PYTORCH, scales=None, x=None, y=None):
    scales = scales or (0.0,) * len(sizes)
    full = f"{name}_{RULES[rule]}_{dtype}"
    tensor = movers.filled(dtype, shape, (op, full), **(x or {}))
    view = View(dtype, tuple(shape[:2]) + tuple(sizes), **(y or {}))
    return Case(op, full, dtype, {"x": tensor}, {"y": view}, 0, Params(rule, scales, sizes), bitwise=True)


def channels_last(shape, gap=0):
    """Strides of [n, c, ...] with the channels innermost."""
    return movers.in_order(shape, (0,) + tuple(range(2, len(shape))) + (1,), gap)
