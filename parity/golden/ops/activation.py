"""y = act(x), element by element."""

import itertools

import numpy as np

from golden import Case, Expected, View, explicit
from ops import activations, rows
from ops.activations import DTYPES, KINDS, drawn
from ops.movers import at, by


def reference(params, inputs):
    x = inputs["x"]
    y = activations.act(params["kind"], params["alpha"], x).astype(np.float64)
    return {"y": Expected(y, None, activations.condition(params["kind"], x, y, 1.0))}


def torch_reference(torch, params, inputs):
    return {"y": activations.torch_act(torch, params["kind"], params["alpha"], inputs["x"])}


def case(name, x, kind, alpha=None, y=None, in_place=False, ulps=None):
    params = {"kind": KINDS.index(kind), "alpha": activations.ALPHA.get(kind, 0.0) if alpha is None else alpha}
    view = View(x.dtype, x.shape, **(y or {}))
    if in_place:
        view = View(x.dtype, x.shape, x.stride, x.offset)
    most = activations.ULPS[x.dtype] if ulps is None else ulps
    return Case("activation", f"{name}_{kind}_{x.dtype}", x.dtype, {"x": x}, {"y": view}, most, params,
                ("y", "x") if in_place else None)


def smoke():
    for dtype in DTYPES:
        for kind in KINDS:
            yield case("smoke_3x24", drawn(dtype, (3, 24)), kind)
        for turn, shape in enumerate([()] + rows.SMOKE_SHAPES):
            yield case(f"smoke_rank{len(shape)}", drawn(dtype, shape), KINDS[7 + turn])
        yield case("smoke_alpha_minus_two", drawn(dtype, (3, 24)), "swish", -2.0)


def exact():
    for dtype in DTYPES:
        x = explicit(dtype, np.arange(-16.0, 16.0).reshape(2, 16) / 4)
        for kind in ("identity", "relu", "relu_squared", "leaky_relu", "abs", "neg", "sqr"):
            yield case("exact_steps", x, kind, 0.25, ulps=0)
        for kind in KINDS[7:]:
            if kind != "softplus":
                yield case("exact_zeros", explicit(dtype, [0.0, -0.0]), kind, ulps=0)


def adversarial():
    for dtype in DTYPES:
        for kind in KINDS:
            yield case("adversarial", activations.hard(dtype), kind)


LAYOUTS = [  # name, shape, layouts of x and y
    ("padded", (3, 24), by(40, 1), by(48, 1)),
    ("padded_by_one", (3, 300), by(301, 1, offset=1), by(303, 1)),
    ("misaligned_x", (4, 256), at(1), None),
    ("misaligned_y", (4, 256), None, at(1)),
    ("misaligned_equally", (333,), at(3), at(3)),
    ("run_apart", (1999,), at(1), at(2)),
    ("short_rows", (7, 20), by(21, 1, offset=1), by(23, 1)),
    ("transposed", (5, 33), by(1, 5), None),
    ("transposed_both", (8, 40), by(1, 8), by(1, 8)),
    ("negative", (3, 40), by(-48, -1), by(-40, 1)),
    ("every_second", (3, 34), by(68, 2), None),
    ("rank8", (2, 1, 2, 1, 2, 1, 2, 16), by(160, 7, 320, 0, 16, -3, 32, 1), by(128, 9, 64, 9, 32, 9, 16, 1)),
]


def layouts():
    for turn, (name, shape, x, y) in enumerate(LAYOUTS):
        for dtype in DTYPES:
            yield case("layout_" + name, drawn(dtype, shape, **(x or {})), KINDS[7 + turn % 10], y=y)
    for dtype in DTYPES:
        yield case("layout_broadcast_row", explicit(dtype, np.broadcast_to(np.arange(40.0) / 8, (5, 40)), stride=(0, 1)), "silu")
        for name, shape, layout in (("plain", (3, 64), {}), ("odd", (3, 301), by(305, 1, offset=1)), ("transposed", (3, 37), by(1, 3))):
            yield case(f"layout_in_place_{name}", drawn(dtype, shape, **layout), "gelu", in_place=True)
    for turn, n in enumerate((0, 1, 2, 7, 8, 9, 17, 33, 127, 129, 257, 1025, 4097, 65537)):
        yield case(f"size_{n}", drawn(DTYPES[turn % 3], (n,)), "silu")
        yield case(f"size_3x{n}", drawn(DTYPES[(turn + 1) % 3], (3, n), stride=(n + turn % 5, 1)), "tanh")
    for dtype in DTYPES:  # several rounds for each work-item
        yield case("size_200x8192", drawn(dtype, (200, 8192)), "relu")


TOPICS = {"exact": exact, "adversarial": adversarial, "layouts": lambda: itertools.chain(smoke(), layouts())}
