"""q = x / scale, rounded to an 8-bit type."""

import numpy as np

from golden import Case, Expected, View, constant, explicit, uniform
from ops import quantised, rows
from ops.movers import at, by, name_of
from ops.quantised import DTYPES, Params, Q, drawn


def reference(params, inputs):
    return {"q": Expected(quantised.quantise(params.q, quantised.quotient(inputs["x"], inputs["scale"])))}


def torch_reference(torch, params, inputs):
    return {"q": quantised.torch_quantise(torch, params.q, (inputs["x"] / inputs["scale"]).float())}


def case(name, kind, x, scale, q=None):
    name += f"_{x.dtype}_to_{kind}"
    return Case("static_quantize", name, x.dtype, {"x": x, "scale": scale}, {"q": View(kind, x.shape, **(q or {}))}, 0, Params(kind))


def one(value=0.0123, shape=()):
    return explicit("f32", np.full(shape, float(np.float32(value))))


def repeated(values, shape, stride, offset=0):
    """Scales of the shape with a stride of 0 where `values` has a size of 1."""
    values = np.asarray(values, dtype=np.float32).astype(np.float64)
    return explicit("f32", np.broadcast_to(values, shape), stride=stride, offset=offset)


def rows_of_scales(shape, step=1):
    """A scale for each row. Large shapes have equal scales, which need no values in the file."""
    if shape[0] * shape[1] > 300:
        return constant("f32", shape, float(np.float32(0.017)), stride=(step, 0))
    return repeated(scales(shape[0], 1), shape, (step, 0))


def scales(*shape):
    count = int(np.prod(shape))
    return (np.linspace(0.003, 0.09, count) * np.where(np.arange(count) % 5 == 4, -1, 1)).reshape(shape)


def smoke():
    for turn, dtype in enumerate(DTYPES):
        for kind in Q:
            yield case("smoke_2x24", kind, drawn(dtype, (2, 24)), one())
            yield case("smoke_rows", kind, drawn(dtype, (3, 16)), repeated(scales(3, 1), (3, 16), (1, 0)))
        for shape in rows.SMOKE_SHAPES:
            yield case(f"smoke_rank{len(shape)}", Q[(turn + len(shape)) % 5], drawn(dtype, shape), one(shape=(1,)))
        yield case("smoke_rank0", Q[turn], drawn(dtype, ()), one(0.01, (1, 1)))


def exact():
    for kind in Q:
        for dtype in DTYPES:
            x = quantised.hard(kind, dtype)
            yield case("exact_values", kind, explicit(dtype, x), one(1.0))
        # Quotients that are ties, which the inverse of the scale misses.
        ties = np.concatenate([(quantised.values(kind)[1:] + quantised.values(kind)[:-1]) / 2, [0.0]])[:40]
        odd = np.array([[3.0], [5.0], [7.0]])
        yield case("exact_ties", kind, explicit("f32", odd * ties), repeated(odd, (3, 40), (1, 0)))
        yield case("exact_values_rows", kind, explicit("f32", quantised.hard(kind, "f32")[100:181].reshape(3, 27)),
                   repeated([[1.0], [0.5], [-4.0]], (3, 27), (1, 0)))


def adversarial():
    inf, nan = np.inf, np.nan
    special = np.array([0.0, -0.0, inf, -inf, nan, 1.0, -1.0, 3.0, 1e-45, -1e-45, 1e-39, 1e38, -3e38, 7.0, 0.1, -448.0, 5.0])
    for turn, dtype in enumerate(DTYPES):
        x = explicit(dtype, np.resize(quantised.golden.dtypes.round_to(special, dtype), (2, 17)))
        for kind in Q:
            for name, scale in (("one", 1.0), ("third", 1 / 3), ("zero", 0.0), ("inf", inf), ("nan", nan), ("denormal", 1e-40),
                                ("least", 2.0**-149), ("large", 1e38), ("below_limit", 2.0**-61), ("minus", -0.7)):
                if dtype == "f32" or name in ("zero", "third", "denormal"):
                    yield case("adversarial_scale_" + name, kind, x, one(scale))
        yield case("adversarial_rows_of_scales", Q[turn], x, repeated([[0.0], [nan]], (2, 17), (1, 0)))


LAYOUTS = [  # name, shape, layouts of x and q
    ("misaligned_x", (4, 256), at(1), None),
    ("misaligned_q", (4, 256), None, at(1)),
    ("misaligned_by_8_bytes", (4, 256), at(4), at(4)),
    ("misaligned_by_4_bytes", (4, 256), at(2), None),
    ("misaligned_rows", (3, 300), by(301, 1, offset=1), by(303, 1)),
    ("rows_of_12", (5, 12), by(12, 1), None),
    ("rows_of_4_more", (5, 44), by(44, 1), by(48, 1)),
    ("short", (7, 5), by(9, 1), by(6, 1)),
    ("padded", (3, 24), by(40, 1), by(48, 1)),
    ("transposed", (5, 33), by(1, 5), None),
    ("transposed_all", (8, 40), by(1, 8), by(1, 8)),
    ("transposed_q", (8, 40), None, by(1, 8)),
    ("negative", (3, 40), by(-48, -1), by(-40, 1)),
    ("negative_all", (3, 40), by(40, -1), by(40, -1)),
    ("step_3", (3, 34), by(102, 3), by(68, 2)),
    ("permuted", (2, 2, 3, 16), by(96, 16, 32, 1), by(48, 96, 16, 1)),
]


def layouts():
    for turn, (name, shape, x, q) in enumerate(LAYOUTS):
        for other, dtype in enumerate(DTYPES):
            kind = Q[(turn + other) % 5]
            yield case("layout_" + name, kind, drawn(dtype, shape, **(x or {})), one(), q)
            if len(shape) == 2 and other == turn % 3:
                rows_of = rows_of_scales(shape, 2)
                yield case(f"layout_{name}_scale_a_row", kind, drawn(dtype, shape, **(x or {})), rows_of, q)
    for turn, dtype in enumerate(DTYPES):
        for name, values, stride in (("columns", scales(1, 40), (0, 1)), ("columns_back", scales(1, 40), (0, -1)),
                                     ("each", scales(5, 40), (40, 1)), ("each_transposed", scales(5, 40), (1, 5))):
            yield case(f"layout_scale_{name}", Q[turn], drawn(dtype, (5, 40)), repeated(values, (5, 40), stride))
        for name, stride in (("rows_first", (4, 1, 0)), ("columns_first", (1, 5, 0))):  # a scale for each 16 columns of 64
            yield case(f"layout_groups_{name}", Q[turn + 1], drawn(dtype, (5, 4, 16)), repeated(scales(5, 4, 1), (5, 4, 16), stride))
        yield case("layout_groups_of_12", Q[turn + 2], drawn(dtype, (3, 5, 12)), repeated(scales(3, 5, 1), (3, 5, 12), (5, 1, 0)))


def sizes():
    for turn, n in enumerate((0, 1, 7, 8, 9, 15, 16, 17, 63, 65, 127, 129, 255, 257, 1023, 1025, 2047, 4097, 16385, 65537)):
        yield case(f"size_{n}", Q[turn % 5], drawn(DTYPES[turn % 3], (n,), **at(turn % 4)), one(), at(turn % 3))
        x = drawn(DTYPES[(turn + 1) % 3], (2, n), **by(n + turn % 5, 1))
        yield case(f"size_2x{n}", Q[(turn + 1) % 5], x, rows_of_scales((2, n)) if n else one())
    for turn, (dtype, shape) in enumerate((("bf16", (131, 8192)), ("f32", (130, 8193)), ("f16", (600, 900)))):  # several rounds
        yield case("size_" + name_of(shape), Q[turn], uniform(dtype, shape, 500.0), one(1.1))
    for shape in ((0, 4), (4, 0), (1,) * 8):
        yield case("size_" + name_of(shape), "f8_e4m3fn", drawn("f32", shape), one())


TOPICS = {"smoke": smoke, "exact": exact, "adversarial": adversarial, "layouts": layouts, "sizes": sizes}
