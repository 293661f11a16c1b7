"""The order of a sum, which hipops.h promises for index_add, and for scatter_add with HIPOPS_DETERMINISTIC."""

import functools
import operator

import numpy as np

CHUNK = 128  # sources of a chunk, and sums of a group


def in_order(first, sources):
    """`first` is y's element, or a row of y's elements with a row of each source. NumPy rounds each sum to their type."""
    def chunks(values):
        return [values[begin:begin + CHUNK] for begin in range(0, len(values), CHUNK)]

    def total(start, values):
        return functools.reduce(operator.add, values, start)

    sums = [total(np.zeros_like(first) if number else first, chunk) for number, chunk in enumerate(chunks(sources))]
    while len(sums) > 1:
        sums = [total(group[0], group[1:]) for group in chunks(sums)]
    return sums[0] if sums else first


def loss(dtype, count):
    """The largest error of a sum of `count` terms, in float64 roundings of the terms' magnitude: one rounding of the
    sum's type for each term, and the final rounding."""
    return count * 2.0**(0 if dtype == "f64" else 29) + (2.0**42 if dtype in ("f16", "bf16") else 0.0)
