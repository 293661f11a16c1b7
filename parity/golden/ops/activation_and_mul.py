"""y = act(x) * up, element by element."""

import numpy as np

from golden import Case, Expected, View, explicit
from ops import activations, rows
from ops.activations import DTYPES, KINDS, drawn
from ops.movers import at, by, name_of

UP_PLUS_ONE = 64
GPT_OSS = dict(kind="swish", limit=7.0, alpha=1.702, flags=UP_PLUS_ONE)


def clamped(params, inputs, minimum, maximum):
    x, up, limit = inputs["x"], inputs["up"], params["limit"]
    if limit:
        x, up = minimum(x, limit), maximum(minimum(up, limit), -limit)
    return x, up + 1 if params["flags"] else up


def reference(params, inputs):
    limit = float(np.float32(params["limit"]))  # NaN stays NaN
    x, up = clamped(dict(params, limit=limit), inputs, lambda a, b: np.where(a > b, b, a), lambda a, b: np.where(a < b, b, a))
    with np.errstate(all="ignore"):
        y = (activations.act(params["kind"], params["alpha"], x) * up).astype(np.float64)
    return {"y": Expected(y, None, activations.condition(params["kind"], x, y, up))}


def torch_reference(torch, params, inputs):
    x, up = clamped(params, inputs, lambda a, b: a.clamp(max=b), lambda a, b: a.clamp(min=b))
    return {"y": activations.torch_act(torch, params["kind"], params["alpha"], x) * up}


def case(name, x, up, kind="silu", limit=0.0, alpha=None, flags=0, y=None, in_place=None, ulps=None):
    params = {"kind": KINDS.index(kind), "limit": limit, "alpha": activations.ALPHA.get(kind, 0.0) if alpha is None else alpha,
              "flags": flags}
    view = View(x.dtype, x.shape, **(y or {}))
    if in_place:
        source = {"x": x, "up": up}[in_place]
        view = View(x.dtype, x.shape, source.stride, source.offset)
    suffix = f"_{kind}" + (f"_limit_{limit:g}".replace(".", "_") if limit else "") + ("_up_plus_one" if flags else "") + f"_{x.dtype}"
    most = activations.ULPS[x.dtype] if ulps is None else ulps
    return Case("activation_and_mul", name + suffix, x.dtype, {"x": x, "up": up}, {"y": view}, most, params,
                ("y", in_place) if in_place else None)


def pair(name, dtype, shape, x=None, up=None, **more):
    return case(name, drawn(dtype, shape, **(x or {})), drawn(dtype, shape, **(up or {})), **more)


def smoke():
    for dtype in DTYPES:
        for kind in KINDS:
            yield pair("smoke_2x24", dtype, (2, 24), kind=kind)
        for kind in ("silu", "gelu", "relu"):
            yield pair("smoke_2x24", dtype, (2, 24), kind=kind, limit=1.5)
            yield pair("smoke_2x24", dtype, (2, 24), kind=kind, flags=UP_PLUS_ONE)
        yield pair("smoke_gpt_oss", dtype, (2, 24), **GPT_OSS)
        yield pair("smoke_alpha_half", dtype, (3, 24), kind="swish", alpha=0.5)
        yield pair("smoke_alpha_minus_two", dtype, (3, 24), kind="swish", alpha=-2.0)
        for shape in rows.SMOKE_SHAPES:
            yield pair(f"smoke_rank{len(shape)}", dtype, shape)
        yield pair("smoke_rank0", dtype, ())


def exact():
    """Kinds without rounding, and inputs at which the others have an exact result."""
    for dtype in DTYPES:
        x, up = np.arange(-16.0, 16.0).reshape(2, 16) / 4, np.resize([1.0, -2.0, 3.0, 0.5, 0.0], (2, 16))
        for kind in ("relu_squared", "sqr"):
            yield case("exact_squares", explicit(dtype, x), explicit(dtype, np.resize([1.0, -2.0, 0.5], (2, 16))), kind, ulps=0)
        for kind in ("identity", "relu", "leaky_relu", "abs", "neg"):
            yield case("exact_steps", explicit(dtype, x), explicit(dtype, up), kind, alpha=0.25, ulps=0)
            yield case("exact_steps", explicit(dtype, x), explicit(dtype, up), kind, 2.5, 0.25, UP_PLUS_ONE, ulps=0)
        zeros = explicit(dtype, np.resize([0.0, -0.0], (3, 24)))
        for kind in KINDS[7:]:
            if kind != "softplus":
                yield case("exact_zeros", zeros, explicit(dtype, np.full((3, 24), -2.0)), kind, ulps=0)
        large = explicit(dtype, np.full((2, 20), 200.0))
        for kind in ("sigmoid", "silu", "swish", "quick_gelu", "gelu_tanh", "gelu", "tanh", "elu", "softplus"):
            yield case("exact_large", large, explicit(dtype, np.full((2, 20), 1.5)), kind, ulps=0)


def adversarial():
    for dtype in DTYPES:
        x = activations.hard(dtype)
        for kind in KINDS:
            ups = {"one": 1.0, "large": 6e4 if dtype == "f16" else 1e18}
            if kind in ("relu", "silu", "gelu"):
                ups["zero"] = -0.0
            if kind == "relu":
                ups["inf"] = np.inf
            for name, value in ups.items():
                up = np.full(x.shape, float(activations.round_to(np.float64(value), dtype)))
                yield case(f"adversarial_{name}", x, explicit(dtype, up), kind)
        for more in ({"limit": 7.0}, GPT_OSS):
            yield case("adversarial_x", x, explicit(dtype, np.full(x.shape, 1.25)), **more)
            yield case("adversarial_up", explicit(dtype, np.full(x.shape, 1.25)), x, **more)


def sides(d):
    """The strides of x and up as halves of rows of 2 * d elements."""
    return by(2 * d, 1), by(2 * d, 1, offset=d)


LAYOUTS = [  # name, shape, layouts of x, up, y
    ("halves", (5, 64), *sides(64), None),
    ("halves_of_3d", (2, 3, 48), by(288, 96, 1), by(288, 96, 1, offset=48), None),
    ("halves_odd", (5, 67), *sides(67), None),
    ("halves_long_odd", (3, 1001), *sides(1001), None),
    ("halves_of_two_more", (4, 258), *sides(258), by(264, 1)),
    ("interleaved", (4, 40), by(80, 2), by(80, 2, offset=1), None),
    ("interleaved_odd", (4, 39), by(78, 2), by(78, 2, offset=1), None),
    ("misaligned_x", (4, 256), at(1), None, None),
    ("misaligned_up", (4, 256), None, at(3), None),
    ("misaligned_y", (4, 256), None, None, at(1)),
    ("misaligned_apart", (3, 515), at(1), at(2), at(3)),
    ("misaligned_equally", (1, 333), at(3), at(3), at(3)),
    ("misaligned_rows", (3, 300), by(301, 1, offset=1), by(303, 1), by(305, 1, offset=2)),
    ("run_apart", (1999,), at(1), None, None),
    ("short_misaligned", (7, 20), by(21, 1, offset=1), None, by(23, 1)),
    ("padded", (3, 24), by(40, 1), by(32, 1), by(48, 1)),
    ("transposed", (5, 33), by(1, 5), None, None),
    ("transposed_all", (8, 40), by(1, 8), by(1, 8), by(1, 8)),
    ("transposed_y", (8, 40), None, None, by(1, 8)),
    ("negative", (3, 40), by(-48, -1), None, by(-40, 1)),
    ("negative_all", (3, 40), by(40, -1), by(40, -1), by(40, -1)),
    ("step_3", (3, 34), by(102, 3), by(68, 2), None),
    ("permuted", (2, 2, 3, 16), by(96, 16, 32, 1), None, by(48, 96, 16, 1)),
    ("rank8", (2, 1, 2, 1, 2, 1, 2, 16), by(160, 7, 320, 0, 16, -3, 32, 1), None, by(128, 9, 64, 9, 32, 9, 16, 1)),
]


def layouts():
    for turn, (name, shape, x, up, y) in enumerate(LAYOUTS):
        for dtype in DTYPES:
            yield pair("layout_" + name, dtype, shape, x, up, y=y, kind=KINDS[7 + turn % 10])
    for dtype in DTYPES:
        for name, stride in (("row", (0, 1)), ("column", (1, 0)), ("all", (0, 0))):  # up is broadcast
            values = {"row": np.broadcast_to(np.arange(40.0) / 8, (5, 40)), "column": np.broadcast_to(np.arange(5.0)[:, None], (5, 40)),
                      "all": np.full((5, 40), 0.75)}[name]
            yield case(f"layout_broadcast_{name}", drawn(dtype, (5, 40)), explicit(dtype, values, stride=stride))
        for source in ("x", "up"):
            for name, shape, layout in (("plain", (3, 64), {}), ("odd", (3, 301), by(305, 1, offset=1)), ("transposed", (3, 37), by(1, 3))):
                yield pair(f"layout_{name}_y_is_{source}", dtype, shape, **{source: layout}, in_place=source)


def sizes():
    for turn, n in enumerate((0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 127, 129, 255, 257, 511, 513, 1023, 1025, 2047, 2049,
                              4097, 8191, 16385, 65535, 65537)):
        yield pair(f"size_{n}", DTYPES[turn % 3], (n,), at(turn % 4), at(turn % 4), y=at(turn % 4))
        yield pair(f"size_2x{n}", DTYPES[(turn + 1) % 3], (2, n), *sides(n))
    for dtype in DTYPES:  # more than one access for each work-item, and more than one round
        for shape in ((131, 8192), (130, 8193)):
            if dtype != "f16":
                yield pair("size_" + name_of(shape), dtype, shape, *sides(shape[1]))
        yield pair("size_elements", dtype, (600, 900), by(1800, 2), None)
    for shape in ((0, 4), (4, 0), (1,) * 8):
        yield pair("size_" + name_of(shape), "f32", shape)


TOPICS = {"smoke": smoke, "exact": exact, "adversarial": adversarial, "layouts": layouts, "sizes": sizes}
