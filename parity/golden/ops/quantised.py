"""8-bit types: their values, and rounding to them."""

import numpy as np

import golden
from golden import dtypes

Q = dtypes.F8 + ("i8",)
DTYPES = ("f32", "f16", "bf16")
SHAPES = {"f8_e4m3fn": (3, 7, 448.0), "f8_e4m3fnuz": (3, 8, 240.0), "f8_e5m2": (2, 15, 57344.0), "f8_e5m2fnuz": (2, 16, 57344.0)}


class Params(dict):
    """The params of a case, with the type of q."""

    def __init__(self, q, **params):
        super().__init__(**params)
        self.q = q


def values(kind):
    """The finite values of the codes 0, 1, ..., ascending."""
    if kind == "i8":
        return np.arange(128.0)
    stored, bias, largest = SHAPES[kind]
    codes = np.arange(128)
    field, rest = codes >> stored, (codes & ((1 << stored) - 1)) / 2.0**stored
    made = np.ldexp(np.where(field > 0, 1.0, 0.0) + rest, np.maximum(field, 1) - bias)
    return made[made <= largest]


def quantise(kind, wide):
    """The codes of float64 numbers: nearest, of equally near values the even code, saturated."""
    wide = np.asarray(wide, dtype=np.float64)
    if kind == "i8":
        return np.where(np.isnan(wide), 0, np.clip(np.rint(np.where(np.isnan(wide), 0, wide)), -128, 127)).astype(np.int8)
    table, magnitude = values(kind), np.abs(wide)
    above = np.clip(np.searchsorted(table, np.where(np.isnan(wide), 0, magnitude)), 1, len(table) - 1)
    low, high = magnitude - table[above - 1], table[above] - magnitude
    code = np.where((low < high) | ((low == high) & (above % 2 == 1)), above - 1, above)
    fnuz = kind.endswith("fnuz")
    code = code | np.where(np.signbit(wide) & ((code != 0) | (not fnuz)), 0x80, 0)
    return np.where(np.isnan(wide), 0x80 if fnuz else 0x7F, code).astype(np.uint8)


def quotient(x, scale):
    """x / scale, rounded to f32. The wide quotient has more than twice f32's digits, so it is rounded as the exact one."""
    with np.errstate(all="ignore"):
        return (x.astype(np.longdouble) / scale.astype(np.longdouble)).astype(np.float32).astype(np.float64)


def torch_quantise(torch, kind, wide):
    """PyTorch's conversion does not saturate, and keeps the sign of NaN."""
    if kind == "i8":
        return wide.nan_to_num(0.0, float("inf"), float("-inf")).round().clamp(-128, 127).to(torch.int8)
    largest = SHAPES[kind][2]
    codes = wide.float().clamp(-largest, largest).to(getattr(torch, "float8_" + kind[3:])).view(torch.uint8)
    return torch.where(wide.isnan(), 0x80 if kind.endswith("fnuz") else 0x7F, codes)


def hard(kind, dtype):
    """Each value of the type, the points between two values and the numbers next to these, and numbers past the ends."""
    table = values(kind)
    middle = (table[1:] + table[:-1]) / 2
    near = 2.0 ** (-22 if dtype == "f32" else -7)
    chosen = np.concatenate([table, middle, middle * (1 + near), middle * (1 - near)])
    most = dtypes.FLOATS[dtype]
    ends = [table[-1] * f for f in (1 + 2.0**-4, 1 + 2.0**-3, 1.25, 2.0)] + [most.smallest, most.largest, np.inf, 0.0]
    chosen = dtypes.round_to(np.concatenate([chosen, ends]), dtype)
    return np.concatenate([chosen, -chosen[::3], -middle, [np.nan, -np.inf]])


def drawn(dtype, shape, scale=1.0, **layout):
    return golden.bell(dtype, shape, scale=scale, **layout)
