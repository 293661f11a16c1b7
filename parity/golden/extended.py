"""Arithmetic beyond float64: exact sums, and np.longdouble (64-bit mantissa on x86) for the rest.

Sums use math.fsum, which is exact in any order. So neither NumPy's version nor its order of additions can change a
golden file, and a mean of 3000 standard deviations costs no digit.
"""

import fractions
import math

import numpy as np

Real = np.longdouble
MANTISSA = np.finfo(Real).nmant + 1
PRECISION = f"longdouble ({MANTISSA}-bit mantissa)"


def sum_in_two(terms):
    """The sum of finite float64 as two float64: the rounded sum, and the rest."""
    terms = list(terms)
    high = math.fsum(terms)
    return high, math.fsum(terms + [-high])


def total(values):
    """The sum of Real values, with about one rounding to Real. It is not finite if a term is not."""
    if not np.isfinite(values).all():
        return np.sum(values)
    _, exponents = np.frexp(values)
    power = int(np.max(exponents[values != 0], initial=-(2**15)))
    power = 0 if -500 < power < 900 or not values.any() else power  # the squares of some float64 are out of float64's range
    values = np.ldexp(values, -power)
    high = values.astype(np.float64)
    low = (values - high).astype(np.float64)
    s, rest = sum_in_two(high.tolist() + (low.tolist() if low.any() else []))
    return np.ldexp(Real(s) + Real(rest), power)


def mean_in_two(row):
    """The mean of a finite float64 row as two float64."""
    s, rest = sum_in_two(row.tolist())
    mean = (fractions.Fraction(s) + fractions.Fraction(rest)) / len(row)
    high = float(mean)
    return high, float(mean - fractions.Fraction(high))


def difference(a, b):
    """a - b of float64 as two float64 whose sum is exact (Knuth). Infinities and NaN are in the first."""
    with np.errstate(invalid="ignore", over="ignore"):
        high = a - b
        back = high - a
        low = (a - (high - back)) - (b + back)
    return high, np.where(np.isfinite(high), low, 0.0)
