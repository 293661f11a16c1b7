"""The dtypes: their values as float64 (or NumPy integers), rounding to them, and errors measured in their ULPs."""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Format:
    mantissa: int      # stored bits
    min_exponent: int  # of the smallest normal number
    max_exponent: int

    @property
    def largest(self):
        return float(np.ldexp(2.0 - 2.0**-self.mantissa, self.max_exponent))

    @property
    def smallest(self):
        """The least denormal."""
        return float(np.ldexp(1.0, self.min_exponent - self.mantissa))


FLOATS = {
    "f64": Format(52, -1022, 1023),
    "f32": Format(23, -126, 127),
    "f16": Format(10, -14, 15),
    "bf16": Format(7, -126, 127),
}
F8 = ("f8_e4m3fn", "f8_e4m3fnuz", "f8_e5m2", "f8_e5m2fnuz")  # as their bits: ops move them, or round to them exactly
INTEGERS = {"u8": np.uint8, "i8": np.int8, "i16": np.int16, "u16": np.uint16,
            "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64,
            **dict.fromkeys(F8, np.uint8)}


def integers(values, dtype):
    """Python or NumPy integers as an array of the dtype. An integer out of range is an error. Lists do not pass through
    float64. NumPy would convert a list of large and small 64-bit integers to float64."""
    kind = np.dtype(INTEGERS[dtype])
    array = values if isinstance(values, np.ndarray) and values.dtype.kind in "iu" else np.array(values, dtype=object)
    if array.size and not np.iinfo(kind).min <= int(array.min()) <= int(array.max()) <= np.iinfo(kind).max:
        raise ValueError(f"values out of range for {dtype}")
    return array.astype(kind)


def bits_of(values, dtype):
    """The elements' bits as uint64. Floats must be values of the dtype. NaN is refused, because its bits are
    unknown."""
    if dtype in INTEGERS:
        kind = np.dtype(INTEGERS[dtype])
        return np.ascontiguousarray(values, dtype=kind).view(f"u{kind.itemsize}").astype(np.uint64)
    values = np.ascontiguousarray(values, dtype=np.float64)
    if np.isnan(values).any() or not np.array_equal(round_to(values, dtype), values):
        raise ValueError(f"not exactly {dtype}")
    if dtype == "f64":
        return values.view(np.uint64)
    if dtype == "f16":
        return values.astype(np.float16).view(np.uint16).astype(np.uint64)
    single = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    return single if dtype == "f32" else single >> np.uint64(16)


def binade(magnitude, dtype):
    """The e with 2^e <= magnitude < 2^(e + 1), and at least min_exponent. Finite values only."""
    smallest = FLOATS[dtype].min_exponent
    _, exponent = np.frexp(magnitude)
    return np.where(np.asarray(magnitude) == 0, smallest, np.maximum(exponent - 1, smallest)).astype(np.int64)


def ulp(value, dtype):
    """The distance between neighbours of the dtype in the binade of |value|. Finite values only."""
    return np.ldexp(1.0, (binade(np.abs(value), dtype) - FLOATS[dtype].mantissa).astype(np.int32))


def round_to(values, dtype):
    """float64 values rounded once to the dtype, to nearest even, as float64. Integers stay as they are.

    NumPy has no bfloat16. One rule for all dtypes is easier to verify than four: scaling by the ULP, a power of two, is
    exact, and rint rounds to even.
    """
    if dtype in INTEGERS:
        return integers(values, dtype)
    values = np.asarray(values, dtype=np.float64)
    if dtype == "f64":
        return values
    finite = np.isfinite(values)
    step = ulp(np.where(finite, values, 0.0), dtype)
    rounded = np.where(finite, np.rint(np.where(finite, values, 0.0) / step) * step, values)
    return np.where(finite & (np.abs(rounded) > FLOATS[dtype].largest), np.copysign(np.inf, values), rounded)


def errors(expected, got, dtype, scale=None):
    """Each element's error in ULPs, by README.md's definition. It is 0 for NaN against NaN, and for equal infinities.
    It is infinite for a zero against a zero of the other sign, unless a sum may cancel (scale)."""
    if dtype in INTEGERS:
        return np.where(np.asarray(expected) == np.asarray(got), 0.0, np.inf)
    expected = np.asarray(expected, dtype=np.float64)
    got = np.asarray(got, dtype=np.float64)
    with np.errstate(over="ignore"):
        limit = FLOATS[dtype].largest + ulp(FLOATS[dtype].largest, dtype) / 2
    expected = np.where(np.abs(expected) >= limit, np.copysign(np.inf, expected), expected)
    finite = np.isfinite(expected) & np.isfinite(got)
    magnitude = np.where(finite, np.abs(expected), 0.0)
    if scale is not None:
        magnitude = np.maximum(magnitude, np.where(finite, scale, 0.0))
    distance = np.abs(np.where(finite, got, 0.0) - np.where(finite, expected, 0.0)) / ulp(magnitude, dtype)
    zero = finite & (got == 0) & (np.abs(expected) <= ulp(0.0, dtype) / 2)
    if scale is not None:
        zero &= np.asarray(scale) == 0
    distance = np.where(zero & (np.signbit(expected) != np.signbit(got)), np.inf, distance)
    same = (np.isnan(expected) & np.isnan(got)) | (expected == got)
    return np.where(finite, distance, np.where(same, 0.0, np.inf))
