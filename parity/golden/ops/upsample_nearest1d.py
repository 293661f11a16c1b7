"""y[n, c, i] = x[n, c, source(i)], nearest neighbour."""

from ops import movers, upsample
from ops.movers import at, by, in_order, of_size
from ops.upsample import RULES, channels_last, reference, torch_reference  # noqa: the same for both

# Sizes for which another precision of the ratio or of the product, or another rule, gives another element.
TRAPS = [(26, 11), (2, 98), (2, 41), (3, 125), (7, 59), (127, 9), (55, 121), (64, 49), (1, 5), (5, 1), (10, 3), (3, 10),
         (128, 127), (127, 128), (9, 9), (9, 18), (18, 9), (65, 91), (100, 7)]


def case(*args, **rest):
    return upsample.case("upsample_nearest1d", *args, **rest)


def smoke():
    for turn, dtype in enumerate(movers.DTYPES):
        for length, new in ((5, 12), (12, 5), (7, 14)):
            yield case(f"smoke_{length}_to_{new}", dtype, (2, 3, length), (new,), (turn + new) % 3)


def exact():
    """Every kernel, with every rule, and with work for several blocks."""
    turn = 0
    for size in movers.SIZES:
        n = 16 // size
        for rule in RULES:
            turn += 1
            dtype = of_size(size, turn)
            yield case("exact_row", dtype, (2, 3, 100), (96 * n,), rule)
            yield case("exact_row_down", dtype, (3, 37, 130), (4 * n,), rule)
            yield case("exact_row_twice", dtype, (2, 5, 40 * n), (80 * n,), rule)
            yield case("exact_row_four_times", dtype, (2, 5, 40 * n), (160 * n,), rule)
            yield case("exact_run", dtype, (5, 7, 33), (71,), rule)
            yield case("exact_apart", dtype, (5, 7, 71), (33,), rule)
            yield case("exact_row_steps", dtype, (2, 3, 33), (5 * n,), rule, x=by(231, 77, 2), y=by(21 * n, 7 * n, 1))
            yield case("exact_any", dtype, (2, 7, 33), (71,), rule, y=at(1))
            x, y = (2, 8 * n, 13), (2, 8 * n, 29)
            yield case("exact_channels_last", dtype, x, y[2:], rule, x=channels_last(x), y=channels_last(y))
            x, y = (2, 3, 13), (2, 3, 130)
            yield case("exact_channels_last_3", dtype, x, y[2:], rule, x=channels_last(x), y=channels_last(y))
    for unit in (2, 4, 8):
        for size in movers.SIZES:
            if size < unit:
                x, y = (2, 3 * unit // size, 13), (2, 3 * unit // size, 129)
                yield case(f"exact_units_of_{unit}", of_size(size, unit), x, y[2:], unit // 4, x=channels_last(x),
                           y=channels_last(y))


def adversarial():
    for turn, (length, new) in enumerate(TRAPS):
        for rule in RULES:
            dtype = of_size(movers.SIZES[turn % 4], turn)
            yield case(f"adversarial_{length}_to_{new}", dtype, (1, 1, length), (new,), rule)
    scales = [(5, 10, 2.1), (7, 7, 1.1), (9, 9, 0.5), (10, 23, 2.3), (10, 20, 0.25), (10, 20, 2.0), (10, 20, 1.9999),
              (33, 41, 1.25), (33, 40, 1.2345678), (12, 50, 1e-9), (12, 50, 1e30), (6, 6, 1.0), (6, 9, 1.0),
              (100, 33, 1 / 3), (1, 7, 7.5)]
    for length, new, scale in scales:
        for rule in RULES:
            name = f"adversarial_scale_{length}_to_{new}_by_{scale:g}".replace(".", "p").replace("+", "")
            yield case(name, "i32", (1, 2, length), (new,), rule, (scale,))


def layouts():
    shape, new = (2, 5, 16), (24,)
    cases = [("padded", by(100, 20, 1), by(200, 32, 1)), ("channels_first", in_order(shape, (1, 0, 2)), None),
             ("length_outermost", in_order(shape, (2, 1, 0)), in_order((2, 5, 24), (2, 1, 0))),
             ("y_channels_last", None, channels_last((2, 5, 24))), ("x_channels_last", channels_last(shape), None),
             ("expanded_n", by(0, 16, 1), None), ("expanded_c", by(16, 0, 1), None),
             ("expanded_length", by(5, 1, 0), None), ("negative", by(80, 16, -1), None),
             ("negative_y", None, by(-120, 24, -1)), ("negative_rows", by(-80, -16, 1), by(-120, -24, 1)),
             ("steps", by(160, 32, 2), by(360, 72, 3)), ("misaligned_x", at(1), None), ("misaligned_y", None, at(1)),
             ("windows", by(7, 3, 1), None)]
    turn = 0
    for name, x, y in cases:
        for size in movers.SIZES[turn % 2::2]:
            turn += 1
            yield case(f"layout_{name}", of_size(size, turn), shape, new, turn % 3, x=x, y=y)
        turn += 1


def sizes():
    for turn, (shape, new) in enumerate([((0, 3, 5), 7), ((3, 0, 5), 7), ((3, 2, 5), 0), ((2, 2, 0), 0), ((1, 1, 1), 1),
                                         ((1, 1, 1), 4097), ((1, 1, 4097), 1), ((1, 3, 1023), 4096),
                                         ((1, 2, 65537), 1024), ((2, 1, 65536), 32768), ((3, 1, 8192), 16384),
                                         ((257, 3, 5), 8), ((3, 257, 8), 3), ((1, 1, 10007), 65536),
                                         ((1, 1, 1000), 65537), ((1, 64, 31), 96)]):
        for rule in RULES:
            size = movers.SIZES[(turn + rule) % 4]
            yield case(f"size_{movers.name_of(shape)}_to_{new}", of_size(size, turn), shape, (new,), rule)
    for size, shape, new in ((1, (17, 1031, 101), 205), (2, (1, 9001, 31), 197), (4, (9, 580, 60), 200),
                             (8, (52, 60, 60), 160)):  # with tiles of rows
        yield case(f"size_tiles_{movers.name_of(shape)}_to_{new}", of_size(size, size), shape, (new,), size % 3)


TOPICS = {"smoke": smoke, "exact": exact, "adversarial": adversarial, "layouts": layouts, "sizes": sizes}
