"""rows of cols elements, from one pitch to another: strided_copy of two dimensions."""

import numpy as np

from golden import Case, View, explicit
from ops import movers
from ops.movers import of_size
from ops.strided_copy import reference, torch_reference  # noqa: the same op


def copy(name, dtype, rows, cols, x_stride, y_stride, x_offset=0, y_offset=0, tensor=None):
    x = {"stride": (x_stride, 1), "offset": x_offset}
    if tensor is None:
        tensor = movers.filled(dtype, (rows, cols), ("copy2d", name, dtype), **x)
    y = View(dtype, (rows, cols), (y_stride, 1), y_offset)
    return Case("copy2d", f"{name}_{dtype}", dtype, {"x": tensor}, {"y": y}, 0, bitwise=True)


def smoke():
    for dtype in movers.DTYPES:
        yield copy("smoke", dtype, 5, 12, 20, 16)
        yield copy("smoke_without_gaps", dtype, 5, 12, 12, 12)


def exact():
    for turn, size in enumerate(movers.SIZES):
        n = 16 // size
        for name, cols, pitch in (("vectors", 30 * n, 32 * n), ("halves", 30 * n + n // 2, 31 * n + n // 2),
                                  ("odd", 30 * n + 1, 31 * n + 1)):
            yield copy(f"exact_{name}", of_size(size, turn), 40, cols, pitch, pitch + n * (turn % 2))


def adversarial():
    for dtype, values in (("u16", [0x7C01, 0xFFFF, 0x8000]), ("u32", [0x7F800001, 0xFFFFFFFF, 1]),
                          ("u64", [0x7FF0000000000001, 2**64 - 1, 2**63])):
        block = np.array(values * 8, dtype=np.uint64).reshape(3, 8)
        tensor = explicit(dtype, block.astype(dtype.replace("u", "uint")), stride=(11, 1), offset=1)
        yield copy("adversarial_nan_payloads", dtype, 3, 8, 11, 9, tensor=tensor)
    yield copy("adversarial_pitch_unused", "f32", 1, 9, -123456789, 1)  # one row has no pitch
    yield copy("adversarial_pitch_far", "u8", 2, 3, 100003, -3 + 100003)


def layouts():
    cases = [("padded", 6, 24, 40, 32), ("padded_by_one", 6, 24, 25, 25), ("x_repeats", 6, 24, 0, 24),
             ("x_negative", 6, 24, -24, 24), ("x_negative_padded", 6, 25, -31, 40), ("x_slides", 9, 24, 1, 24),
             ("x_slides_by_16", 9, 64, 16, 64), ("x_far", 3, 5, 1000, 5),
             ("x_far_back", 3, 5, -1000, 5), ("padded_to_vectors", 6, 37, 48, 64)]
    for turn, (name, rows, cols, x_stride, y_stride) in enumerate(cases):
        for size in movers.SIZES:
            offset = turn % 3
            yield copy(f"layout_{name}", of_size(size, turn), rows, cols, x_stride, y_stride, offset,
                       offset if turn % 2 else 0)


def sizes():
    shapes = [(0, 5), (5, 0), (1, 1), (1, 17), (17, 1), (2, 2), (3, 255), (1, 4097), (255, 3), (64, 63), (33, 129),
              (1025, 16), (3, 65537)]
    for turn, (rows, cols) in enumerate(shapes):
        for size in (movers.SIZES[turn % 4], movers.SIZES[(turn + 2) % 4]):
            gap = turn % 3
            pitch = max(cols, 1)
            yield copy(f"size_{rows}x{cols}", of_size(size, turn), rows, cols, pitch + gap, pitch + 16 * (turn % 2))


TOPICS = {"smoke": smoke, "exact": exact, "adversarial": adversarial, "layouts": layouts, "sizes": sizes}
