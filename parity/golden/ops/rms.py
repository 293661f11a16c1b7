"""The last step of rms_norm and fused_add_rms_norm: its flags and its reference."""

import numpy as np

import dtypes
import extended
from dtypes import round_to
from extended import Real
from golden import Case, Expected
from ops.rows import ULPS

ROUND_SUM, WEIGHT_PLUS_ONE, ROUND_BEFORE_WEIGHT = 2, 4, 8
NEAR = 4  # the largest error of the normalized number, in ULPs of f32, the type of the computation for 16-bit types


class Arrays(dict):
    """Inputs by name, and the case's dtype. Some flags round intermediate results to it."""
    dtype = None


class RmsCase(Case):
    def arrays(self):
        arrays = Arrays(super().arrays())
        arrays.dtype = self.dtype
        return arrays


def normalized(x, eps):
    """x / sqrt(mean(x^2) + eps), in Real."""
    y = np.empty(x.shape, dtype=Real)
    columns = max(x.shape[-1], 1)
    with np.errstate(all="ignore"):
        for row, out in zip(x.reshape(-1, columns), y.reshape(-1, columns)):
            wide = row.astype(Real)
            out[:] = wide / np.sqrt(extended.total(wide * wide) / Real(len(row)) + Real(eps))
    return y


def rstd(x, eps):
    """1 / sqrt(mean(x^2) + eps) of each row, as the Expected of a scalar of rows."""
    out = np.empty(x.shape[:-1], dtype=np.float64)
    with np.errstate(all="ignore"):
        for row in np.ndindex(*out.shape):
            wide = x[row].astype(Real)
            out[row] = Real(1) / np.sqrt(extended.total(wide * wide) / Real(max(len(wide), 1)) + Real(eps))
    return Expected(out)


def weighed(x, inputs, flags):
    """The normalized number times the weight, by the flags, and its `scale`, which is None if no element needs one."""
    if "weight" not in inputs:
        return x.astype(np.float64), None
    weight = inputs["weight"] + (1.0 if flags & WEIGHT_PLUS_ONE else 0.0)
    with np.errstate(all="ignore"):
        # f32 and f64 are their own types of computation. Their tolerance is larger than one more rounding.
        if not flags & ROUND_BEFORE_WEIGHT or inputs.dtype not in ("f16", "bf16"):
            return (x * weight).astype(np.float64), None
        exact, dtype = x.astype(np.float64), inputs.dtype
        margin = NEAR * np.maximum(np.abs(exact) * 2.0**-23, 2.0**-149)
        low, high = round_to(exact - margin, dtype), round_to(exact + margin, dtype)
        y = (low + high) / 2 * weight
        both = (low < high) & np.isfinite(y)
        return y, scale_of_ties(low, y, weight, both, dtype) if both.any() else None


def scale_of_ties(low, y, weight, both, dtype):
    """Near a tie, a right computation may round up or down, so y is the product of the tie itself. The products of both
    neighbours differ by half an ULP times the weight, and are then rounded. The scale is a number with half an ULP of
    that size. Elsewhere it is 0."""
    distance = np.where(both, dtypes.ulp(np.where(both, low, 0.0), dtype) * np.abs(np.where(both, weight, 0.0)), 0.0)
    fraction, exponent = np.frexp(distance + dtypes.ulp(np.where(both, y, 0.0), dtype))
    power = exponent - (fraction == 0.5) + dtypes.FLOATS[dtype].mantissa
    return np.where(both, np.ldexp(1.0, power.astype(np.int32)), 0.0)


def tolerance(dtype, inputs, flags):
    """The tolerance in ULPs. After the normalized number is rounded, the only errors are the roundings of the product,
    of 1 + weight, and of the product in f32."""
    only_product = flags & ROUND_BEFORE_WEIGHT and "weight" in inputs and dtype in ("f16", "bf16")
    return 0.501 if only_product else ULPS[dtype]
