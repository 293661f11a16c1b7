"""y = x, from any strides to any strides."""

import itertools
import math

import numpy as np

from golden import Case, Expected, View, explicit
from ops import movers
from ops.movers import at, by, in_order, name_of, of_size

NAN, INF = math.nan, math.inf


def reference(params, inputs):
    del params
    return {"y": Expected(inputs["x"])}


def torch_reference(torch, params, inputs):
    del params
    return {"y": torch.empty_like(inputs["x"]).copy_(inputs["x"])}


def copy(name, dtype, shape, x=None, y=None, tensor=None):
    if tensor is None:
        tensor = movers.filled(dtype, tuple(shape), ("strided_copy", name, dtype), **(x or {}))
    outputs = {"y": View(dtype, tensor.shape, **(y or {}))}
    return Case("strided_copy", f"{name}_{dtype}", dtype, {"x": tensor}, outputs, 0, bitwise=True)


def smoke():
    """Every dtype: contiguous, transposed, and with gaps. Every rank."""
    for dtype in movers.DTYPES:
        yield copy("smoke_plain", dtype, (3, 37))
        yield copy("smoke_transposed", dtype, (17, 33), by(1, 17))
        yield copy("smoke_gaps", dtype, (4, 9), by(30, 3), by(27, 2))
    shape = (2, 3, 2, 2, 3, 2, 2, 2)
    for size in movers.SIZES:
        for rank in range(9):
            mixed = tuple(range(1, rank, 2)) + tuple(range(0, rank, 2))  # no dimension is next to its neighbours
            yield copy(f"smoke_rank{rank}", of_size(size, rank), shape[:rank],
                       in_order(shape[:rank], mixed) if rank else None)


def exact():
    """Each kernel, with its layout, and with work for several blocks."""
    for turn, size in enumerate(movers.SIZES):
        n = 16 // size  # elements in 16 bytes
        dtype = of_size(size, turn)
        yield copy("exact_run", dtype, (5000,))
        yield copy("exact_rows_of_16", dtype, (60, 21 * n), by(40 * n, 1), by(24 * n, 1))
        yield copy("exact_rows_of_one_vector", dtype, (37, 5, n), by(n, 37 * n, 1))
        yield copy("exact_elements", dtype, (70, 21), by(44, 2), by(65, 3))
        yield copy("exact_tile_wide", dtype, (12 * n, 20 * n), by(1, 12 * n))
        yield copy("exact_tile_wide_batch", dtype, (3, 8 * n, 9 * n), by(80 * n * n, 1, 8 * n),
                   by(144 * n * n, 9 * n, 1))
        yield copy("exact_tile_any", dtype, (67, 131), by(1, 67))
        yield copy("exact_tile_any_batch", dtype, (2, 35, 3, 41), by(4305, 1, 1435, 35))
        # Long rows, and long lines of transposes, that begin at any offset.
        c = 400 // size + 1
        yield copy("exact_rows_apart", dtype, (3, 5, c), by(5 * c + 7, c, 1, offset=1), by(5 * (c + 3), c + 3, 1))
        yield copy("exact_rows_backwards", dtype, (7, c), by(-c, 1), by(c + 1, 1, offset=3))
        yield copy("exact_run_apart", dtype, (5000,), at(1), at(2))
        yield copy("exact_lines_apart", dtype, (2, 139, 261), by(36279, 1, 139), None)
        yield copy("exact_lines_of_vectors", dtype, (2, 128, 128), by(16384, 1, 128), None)
        yield copy("exact_lines_with_gaps", dtype, (150, 140), by(1, 153, offset=1), by(149, 1))
        yield copy("exact_tile_with_gaps", dtype, (70, 66), by(2, 140), by(140, 2))
        for unit in (2, 4, 8):
            if unit > size:
                m = unit // size  # elements of a unit, about 24 bytes in a row
                yield copy(f"exact_rows_of_{unit}", dtype, (90, 3 * m), by(4 * m, 1), by(5 * m, 1))
                yield copy(f"exact_tile_of_{unit}", dtype, (40, 33, m), by(m, 41 * m, 1))


def layouts():
    turn = 0
    for size in movers.SIZES:
        for order in itertools.permutations(range(3)):  # of x; y in its turn
            turn += 1
            yield copy("layout_x_" + "".join(map(str, order)), of_size(size, turn), (6, 18, 20),
                       in_order((6, 18, 20), order))
            if turn % 2:
                yield copy("layout_y_" + "".join(map(str, order)), of_size(size, turn), (6, 18, 20), None,
                           in_order((6, 18, 20), order, gap=turn % 3))
    for order in ((0, 2, 1, 3), (0, 3, 1, 2), (0, 2, 3, 1), (3, 2, 1, 0), (1, 0, 3, 2), (2, 3, 0, 1)):
        turn += 1
        yield copy("layout_4d_" + "".join(map(str, order)), of_size(movers.SIZES[turn % 4], turn), (2, 7, 16, 24),
                   in_order((2, 7, 16, 24), order))
    for order in ((0, 3, 1, 4, 2), (4, 3, 2, 1, 0), (2, 0, 4, 1, 3), (1, 4, 0, 2, 3)):
        turn += 1
        yield copy("layout_5d_" + "".join(map(str, order)), of_size(movers.SIZES[turn % 4], turn), (2, 4, 3, 18, 8),
                   in_order((2, 4, 3, 18, 8), order))
    several = [
        ("slice_of_qkv", (3, 3, 16), by(144, 16, 1, offset=48), None),
        ("expanded_rows", (9, 32), by(0, 1), None),
        ("expanded_columns", (32, 9), by(1, 0), None),
        ("expanded_all", (5, 7), by(0, 0), None),
        ("expanded_outer", (3, 4, 33), by(33, 0, 1), by(1, 3, 12)),
        ("windows", (9, 8), by(1, 1), None),
        ("windows_tiled", (40, 40), by(1, 2), None),
        ("negative", (130,), by(-1), None),
        ("negative_rows", (5, 32), by(-32, 1), None),
        ("negative_columns", (5, 33), by(33, -1), None),
        ("negative_alike", (5, 32), by(-32, -1), by(-40, -1)),
        ("negative_y", (5, 32), None, by(-32, -1)),
        ("negative_transposed", (35, 36), by(-1, -35), None),
        ("negative_transposed_wide", (32, 48), by(1, -32), by(-48, 1)),
        ("transposed_both", (8, 30), by(1, 8), by(1, 8)),
        ("transposed_y", (33, 34), None, by(1, 33)),
        ("transposed_gaps", (34, 35), by(2, 70), by(72, 2)),
        ("short_and_long", (3, 700), by(1, 3), None),
        ("long_and_short", (700, 3), by(1, 700), None),
        ("misaligned_alike", (333,), at(3), at(3)),
        ("misaligned_apart", (333,), at(1), at(2)),
        ("misaligned_x", (4, 64), at(1), None),
        ("misaligned_rows", (7, 64), by(65, 1, offset=1), by(67, 1, offset=1)),
        ("misaligned_tile", (64, 64), by(1, 64, offset=1), None),
        ("misaligned_tile_y", (64, 64), by(1, 64), at(1)),
        ("misaligned_tile_pitch", (64, 64), by(1, 65), by(67, 1)),
        ("steps_of_ones", (1, 4, 1, 40), by(-999, 40, 0, 1), by(5, 40, 7, 1)),
        ("padded", (6, 31), by(40, 1), by(33, 1)),
        ("padded_to_vectors", (7, 37), by(48, 1), by(64, 1)),
        ("padded_to_vectors_by_twos", (7, 46), by(48, 1), by(64, 1)),
    ]
    for turn, (name, shape, x, y) in enumerate(several):
        for size in (movers.SIZES[turn % 4], movers.SIZES[(turn + 1) % 4]):
            yield copy("layout_" + name, of_size(size, turn), shape, x, y)


def sizes():
    """Runs of any number of bytes, and tiles with edges of every length."""
    for turn, n in enumerate((0, 1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 33, 47, 63, 65, 255, 257, 1023, 1025, 4095, 4097,
                              16383, 16385, 65537, 262147)):
        for size in (1, movers.SIZES[1 + turn % 3]):
            offset = turn % 5
            yield copy(f"size_{n}", of_size(size, turn), (n,), at(offset), at(offset if turn % 2 else (offset + 1) % 4))
    edges = (15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129)
    for turn, i in enumerate(edges):
        for step, size in enumerate(movers.SIZES):
            j = edges[(turn * 5 + step * 4 + 3) % len(edges)]
            yield copy(f"size_{i}x{j}", of_size(size, turn), (i, j), by(1, i))
    for size in movers.SIZES:
        n = 16 // size
        for i, j in ((n * 2 if n >= 8 else 16, 256), (144, 16), (16 * n, 8 * n)):
            yield copy(f"size_wide_{i}x{j}", of_size(size, i), (i, j), by(1, i))
    for turn, shape in enumerate(((0, 4), (4, 0), (2, 0, 3), (1,) * 8, (1, 1), (300, 1, 2), (2, 1, 300))):
        yield copy("size_" + name_of(shape), of_size(movers.SIZES[turn % 4], turn), shape)


def adversarial():
    """Bits that arithmetic would change: payloads of NaN, signalling NaN, denormals, signs of zeros."""
    patterns = {
        "u16": [0x7C01, 0x7E00, 0x7FFF, 0xFC01, 0xFFFF, 0x0001, 0x8000, 0x7F81, 0xFF81, 0x7C00],
        "u32": [0x7F800001, 0x7FC00000, 0x7FFFFFFF, 0xFF800001, 0xFFFFFFFF, 1, 0x80000000, 0x7FA00000, 0x00400000],
        "u64": [0x7FF0000000000001, 0x7FF8000000000000, 2**64 - 1, 0xFFF0000000000001, 1, 2**63, 0x7FF4000000000000]
    }
    for dtype, values in patterns.items():
        block = np.array([values[(3 * i + i // 7) % len(values)] for i in range(24 * 20)],
                         dtype=np.uint64).reshape(24, 20)
        for name, y in (("plain", None), ("transposed", by(1, 24)), ("gaps", by(60, 2))):
            yield copy(f"adversarial_nan_payloads_{name}", dtype, None, None, y,
                       explicit(dtype, block.astype(dtype.replace("u", "uint"))))
    for dtype, least in (("f32", -149), ("f16", -24), ("bf16", -133), ("f64", -1074)):
        values = np.array([0.0, -0.0, INF, -INF, NAN, math.ldexp(1.0, least), -math.ldexp(3.0, least), 1.5] * 12)
        yield copy("adversarial_specials", dtype, None, None, None, explicit(dtype, values))
        yield copy("adversarial_specials_transposed", dtype, None, None, by(1, 4),
                   explicit(dtype, values.reshape(4, 24)))
    for dtype, width in (("i8", 8), ("i16", 16), ("i32", 32), ("i64", 64)):
        low, high = -2**(width - 1), 2**(width - 1) - 1
        yield copy("adversarial_extremes", dtype, None, None, by(3),
                   explicit(dtype, [low, high, -1, 0, 1, low + 1, high - 1] * 5))


TOPICS = {"smoke": smoke, "exact": exact, "adversarial": adversarial, "layouts": layouts, "sizes": sizes}
