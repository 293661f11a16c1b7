"""dx = dy * act'(x), element by element."""

import itertools

import numpy as np

from golden import Case, View, bell, constant, explicit
from ops import activations, rows
from ops.activations import DTYPES, KINDS, drawn
from ops.movers import at, by


def reference(params, inputs):
    return {"dx": activations.gradient(params["kind"], params["alpha"], inputs["x"], inputs["dy"])}


def torch_reference(torch, params, inputs):
    kind = params["kind"]
    return {"dx": activations.torch_gradients(torch, kind, inputs["dy"], lambda x: activations.torch_formula(torch, kind, params["alpha"], x), inputs["x"])[0]}


def case(name, dy, x, kind, alpha=None, dx=None, in_place=None, ulps=None):
    params = {"kind": KINDS.index(kind), "alpha": activations.ALPHA.get(kind, 0.0) if alpha is None else alpha}
    inputs = {"dy": dy, "x": x}
    view = View(x.dtype, x.shape, **(dx or {}))
    if in_place:
        view = View(x.dtype, x.shape, inputs[in_place].stride, inputs[in_place].offset)
    most = activations.ULPS[x.dtype] if ulps is None else ulps
    return Case("activation_backward", f"{name}_{kind}_{x.dtype}", x.dtype, inputs, {"dx": view}, most, params, ("dx", in_place) if in_place else None)


def both(name, dtype, shape, kind, dy=None, x=None, **more):
    return case(name, bell(dtype, shape, 1.5, 0.25, **(dy or {})), drawn(dtype, shape, **(x or {})), kind, **more)


def smoke():
    for dtype in DTYPES:
        for kind in KINDS:
            yield both("smoke_2x24", dtype, (2, 24), kind)
        for turn, shape in enumerate([()] + rows.SMOKE_SHAPES):
            yield both(f"smoke_rank{len(shape)}", dtype, shape, KINDS[7 + turn])
        yield both("smoke_alpha_minus_two", dtype, (2, 24), "swish", alpha=-2.0)


def exact():
    for dtype in DTYPES:
        x = explicit(dtype, np.arange(-16.0, 16.0).reshape(2, 16) / 4)
        for kind in KINDS[:7]:
            yield case("exact_steps", explicit(dtype, np.resize([1.0, -2.0, 3.0, 0.5], (2, 16))), x, kind, 0.25, ulps=0)
        zeros, dy = explicit(dtype, [0.0, -0.0]), explicit(dtype, [2.0, 2.0])
        for kind in KINDS[:7]:
            yield case("exact_zeros", dy, zeros, kind, 0.25, ulps=0)
        for kind in KINDS[7:]:
            yield case("exact_zeros", dy, zeros, kind, ulps=0)


def adversarial():
    for dtype in DTYPES:
        x = activations.hard_for_slopes(dtype)
        for kind in KINDS:
            gradients = {"one": 1.0, "large": -6e4 if dtype == "f16" else -1e18}
            if kind in ("silu", "gelu"):
                gradients["zero"] = -0.0
            if kind in ("relu", "relu_squared"):
                gradients["inf"] = np.inf
            for name, value in gradients.items():
                yield case(f"adversarial_{name}", constant(dtype, x.shape, float(activations.round_to(np.float64(value), dtype)))
                           if np.isfinite(value) else explicit(dtype, np.full(x.shape, value)), x, kind)


LAYOUTS = [  # name, shape, layouts of dy, x and dx
    ("padded", (3, 24), by(32, 1), by(40, 1), by(48, 1)),
    ("misaligned_rows", (3, 300), by(303, 1), by(301, 1, offset=1), by(305, 1, offset=2)),
    ("misaligned_x", (4, 256), None, at(1), None),
    ("misaligned_dx", (4, 256), None, None, at(1)),
    ("misaligned_equally", (333,), at(3), at(3), at(3)),
    ("run_apart", (1999,), None, at(1), at(2)),
    ("dy_of_one_number", (4, 33), by(0, 0), None, None),
    ("dy_of_one_row", (4, 64), by(0, 1), None, None),
    ("transposed", (5, 33), by(1, 5), by(1, 5), None),
    ("transposed_all", (8, 40), by(1, 8), by(1, 8), by(1, 8)),
    ("negative", (3, 40), None, by(-48, -1), by(-40, 1)),
    ("interleaved", (4, 40), by(80, 2), by(80, 2, offset=1), None),
    ("rank8", (2, 1, 2, 1, 2, 1, 2, 16), None, by(160, 7, 320, 0, 16, -3, 32, 1), by(128, 9, 64, 9, 32, 9, 16, 1)),
]


def layouts():
    for turn, (name, shape, dy, x, dx) in enumerate(LAYOUTS):
        for dtype in DTYPES:
            if name.startswith("dy_of_one"):
                part = bell(dtype, (1, 1 if "number" in name else shape[-1]), 1.5, seed=turn).array()
                yield case(f"layout_{name}", explicit(dtype, np.broadcast_to(part, shape), **dy), drawn(dtype, shape), KINDS[7 + turn % 10])
            else:
                yield both("layout_" + name, dtype, shape, KINDS[7 + turn % 10], dy, x, dx=dx)
    for dtype in DTYPES:
        for source in ("dy", "x"):
            for name, shape, layout in (("plain", (3, 64), {}), ("odd", (3, 301), by(305, 1, offset=1)), ("transposed", (3, 37), by(1, 3))):
                yield both(f"layout_{name}_dx_is_{source}", dtype, shape, "gelu", **{source: layout}, in_place=source)
    for turn, n in enumerate((0, 1, 7, 9, 33, 129, 1025, 4097, 65537)):
        yield both(f"size_{n}", DTYPES[turn % 3], (n,), "silu")
        yield both(f"size_3x{n}", DTYPES[(turn + 1) % 3], (3, n), "gelu_tanh", x={"stride": (n + turn % 5, 1)})
    for dtype in DTYPES:  # several rounds for each work-item
        yield both("size_200x8192", dtype, (200, 8192), "relu")


TOPICS = {"exact": exact, "adversarial": adversarial, "layouts": lambda: itertools.chain(smoke(), layouts())}
