"""y[n, c, i, j] = x[n, c, source(i), source(j)], nearest neighbour."""

from ops import movers, upsample
from ops.movers import at, by, in_order, of_size
from ops.upsample import RULES, channels_last, reference, torch_reference  # noqa: the same for both


def case(*args, **rest):
    return upsample.case("upsample_nearest2d", *args, **rest)


def smoke():
    for turn, dtype in enumerate(movers.DTYPES):
        for (h, w), new in (((3, 5), (7, 12)), ((12, 7), (5, 3)), ((4, 3), (8, 6))):
            yield case(f"smoke_{h}x{w}_to_{new[0]}x{new[1]}", dtype, (2, 3, h, w), new, (turn + w) % 3)


def exact():
    """Every kernel, with every rule, and with work for several blocks."""
    turn = 0
    for size in movers.SIZES:
        n = 16 // size
        for rule in RULES:
            turn += 1
            dtype = of_size(size, turn)
            yield case("exact_row", dtype, (2, 3, 7, 20), (11, 7 * n), rule)
            yield case("exact_row_down", dtype, (3, 5, 40, 130), (13, 4 * n), rule)
            yield case("exact_twice", dtype, (2, 5, 9, 4 * n), (18, 8 * n), rule)
            yield case("exact_four_times", dtype, (2, 5, 9, 4 * n), (36, 16 * n), rule)
            yield case("exact_run", dtype, (5, 7, 5, 9), (11, 13), rule)
            yield case("exact_apart", dtype, (5, 7, 11, 23), (6, 9), rule)
            yield case("exact_run_twice", dtype, (3, 11, 8, 9), (16, 18), rule)
            x, y = (2, 4 * n, 5, 6), (2, 4 * n, 10, 12)
            yield case("exact_channels_last_twice", dtype, x, y[2:], rule, x=channels_last(x), y=channels_last(y))
            steps = by(1155, 385, 77, 2), by(270 * n, 90 * n, 7 * n, 1)
            yield case("exact_row_steps", dtype, (2, 3, 5, 33), (9, 5 * n), rule, x=steps[0], y=steps[1])
            yield case("exact_any", dtype, (2, 3, 5, 9), (11, 13), rule, y=at(1))
            x, y = (2, 4 * n, 5, 6), (2, 4 * n, 9, 13)
            yield case("exact_channels_last", dtype, x, y[2:], rule, x=channels_last(x), y=channels_last(y))
            x, y = (2, 3, 5, 7), (2, 3, 9, 23)
            yield case("exact_channels_last_3", dtype, x, y[2:], rule, x=channels_last(x), y=channels_last(y))
            yield case("exact_same_width", dtype, (2, 3, 5, 6 * n), (8, 6 * n), rule)
    for unit in (2, 4, 8):
        for size in movers.SIZES:
            if size < unit:
                x, y = (2, 3 * unit // size, 5, 7), (2, 3 * unit // size, 11, 13)
                yield case(f"exact_units_of_{unit}", of_size(size, unit), x, y[2:], unit // 4, x=channels_last(x),
                           y=channels_last(y))


def adversarial():
    for turn, (h, w, new) in enumerate([(26, 2, (11, 98)), (2, 26, (98, 11)), (2, 3, (41, 125)), (7, 127, (59, 9)),
                                        (5, 9, (1, 9)), (9, 5, (9, 1)), (1, 1, (3, 5)), (9, 18, (18, 9)),
                                        (64, 3, (49, 10))]):
        for rule in RULES:
            dtype = of_size(movers.SIZES[turn % 4], turn)
            yield case(f"adversarial_{h}x{w}_to_{new[0]}x{new[1]}", dtype, (1, 1, h, w), new, rule)
    scales = [(5, 7, (10, 7), (2.1, 1.1)), (5, 7, (10, 14), (0.0, 2.5)), (5, 7, (10, 14), (2.5, 0.0)),
              (9, 9, (9, 18), (0.5, 0.5)), (10, 10, (23, 33), (2.3, 3.3)), (12, 12, (5, 50), (1e30, 1e-9)),
              (6, 6, (6, 12), (1.0, 2.0)), (1, 2, (1, 2), (1.3, 1.3)), (3, 4, (3, 6), (1.3, 1.5)),
              (10, 20, (10, 21), (1.09, 1.09)), (8, 9, (16, 9), (0.0, 0.7))]
    for h, w, new, given in scales:
        for rule in RULES:
            name = f"adversarial_scale_{h}x{w}_to_{new[0]}x{new[1]}_by_{given[0]:g}_{given[1]:g}"
            name = name.replace(".", "p").replace("+", "")
            yield case(name, "i32", (1, 2, h, w), new, rule, given)


def layouts():
    shape, new, y_shape = (2, 5, 4, 16), (7, 24), (2, 5, 7, 24)
    cases = [("padded", by(500, 90, 20, 1), by(1600, 240, 32, 1)),
             ("channels_first", in_order(shape, (1, 0, 2, 3)), None),
             ("backwards", in_order(shape, (3, 2, 1, 0)), in_order(y_shape, (3, 2, 1, 0))),
             ("y_channels_last", None, channels_last(y_shape)), ("x_channels_last", channels_last(shape), None),
             ("width_first", in_order(shape, (0, 1, 3, 2)), in_order(y_shape, (0, 1, 3, 2))),
             ("expanded_n", by(0, 64, 16, 1), None), ("expanded_h", by(80, 16, 0, 1), None),
             ("expanded_w", by(20, 4, 1, 0), None), ("negative", by(320, 64, -16, -1), None),
             ("negative_y", None, by(-840, 168, -24, -1)), ("steps", by(1280, 256, 48, 2), by(2520, 504, 72, 3)),
             ("misaligned_x", at(1), None), ("misaligned_y", None, at(1)), ("windows", by(7, 3, 2, 1), None),
             ("channels_last_padded", channels_last(shape, 3), channels_last(y_shape, 3))]
    turn = 0
    for name, x, y in cases:
        for size in movers.SIZES[turn % 2::2]:
            turn += 1
            yield case(f"layout_{name}", of_size(size, turn), shape, new, turn % 3, x=x, y=y)
        turn += 1


def sizes():
    for turn, (shape, new) in enumerate([((0, 3, 5, 4), (7, 4)), ((3, 0, 5, 4), (7, 4)), ((3, 2, 5, 4), (0, 4)),
                                         ((2, 2, 0, 3), (4, 0)), ((2, 2, 3, 0), (0, 4)), ((1, 1, 1, 1), (1, 1)),
                                         ((1, 1, 1, 1), (65, 67)), ((1, 1, 65, 67), (1, 1)),
                                         ((1, 3, 31, 33), (64, 256)), ((1, 2, 257, 255), (128, 64)),
                                         ((257, 3, 2, 3), (3, 5)), ((3, 257, 3, 2), (2, 4)),
                                         ((1, 1, 3, 10007), (2, 32768)), ((1, 1, 10007, 3), (16385, 2)),
                                         ((1, 2, 128, 128), (256, 256))]):
        for rule in RULES:
            size = movers.SIZES[(turn + rule) % 4]
            yield case(f"size_{movers.name_of(shape)}_to_{new[0]}x{new[1]}", of_size(size, turn), shape, new, rule)
    # With tiles of rows, or, for elements of 4 bytes and more in both dimensions, with periods. Periods of whole
    # vectors and not, of a part of a plane and of several planes.
    for turn, (size, shape, new) in enumerate([(2, (5, 33, 30, 127), (60, 254)), (4, (5, 11, 60, 120), (100, 200)),
                                               (4, (1700, 3, 2, 60), (3, 130)), (8, (4, 7, 90, 61), (120, 130)),
                                               (1, (2, 80, 97, 128), (130, 203)), (4, (29, 20, 9, 60), (9, 200)),
                                               (8, (4, 14, 90, 60), (90, 130))]):
        name = f"size_tiles_{movers.name_of(shape)}_to_{new[0]}x{new[1]}"
        yield case(name, of_size(size, turn), shape, new, turn % 3, x=at(turn % 2))
    # Enough vectors for several on each work-item, each from another plane.
    yield case("size_many_planes_larger", "f32", (4, 512, 13, 13), (32, 32), 1)
    yield case("size_many_planes_smaller", "u8", (4, 513, 32, 60), (64, 32), 2)
    yield case("size_tiles_half_used", "u16", (11300, 1, 2, 60), (2, 200), 1, (4.0, 0.0))  # one row of each plane


TOPICS = {"smoke": smoke, "exact": exact, "adversarial": adversarial, "layouts": layouts, "sizes": sizes}
