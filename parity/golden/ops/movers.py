"""Dtypes, tensors and layouts for the ops that move elements bit for bit."""

import numpy as np

import dtypes
import golden
from golden import bell, bits, explicit

# Dtypes by size. Cases use the dtypes of a size in turn.
BY_SIZE = {1: ("u8", "i8"), 2: ("f16", "u16", "bf16", "i16"), 4: ("f32", "i32", "u32"), 8: ("i64", "f64", "u64")}
SIZES = tuple(BY_SIZE)
DTYPES = tuple(dtype for size in SIZES for dtype in BY_SIZE[size]) + dtypes.F8


def of_size(size, turn):
    return BY_SIZE[size][turn % len(BY_SIZE[size])]


def at(offset):
    return {"offset": offset}


def by(*stride, offset=0):
    return {"stride": stride, "offset": offset}


def name_of(shape):
    return "x".join(str(extent) for extent in shape) or "scalar"


def in_order(shape, order, gap=0):
    """The layout of a tensor of this shape with the dimensions in this order in memory, the outermost first, and with a
    gap between rows."""
    stride, step = [0] * len(shape), 1
    for place, d in enumerate(reversed(order)):
        stride[d] = step
        step *= max(shape[d], 1)
        if place == 0:
            step += gap
    return {"stride": tuple(stride)}


def filled(dtype, shape, seed, **layout):
    """Elements of any bits, or for floats of any value. Elements that share memory are equal."""
    plain = bits if dtype in dtypes.INTEGERS else bell
    view = golden.View(dtype, tuple(shape), **layout)
    where = view.addresses()
    if len(np.unique(where)) == len(where):
        return plain(dtype, shape, **layout)
    where = where - where.min()
    memory = plain(dtype, (int(where.max()) + 1,), seed=golden.seed_of(*seed)).array()
    return explicit(dtype, memory[where].reshape(shape), **layout)
