"""dx = dy * act'(x) * up, dup = dy * act(x), element by element."""

import functools

import numpy as np

from golden import Case, Expected, View, bell, explicit
from ops import activation_and_mul, activations, rows
from ops.activation_and_mul import GPT_OSS, UP_PLUS_ONE, sides
from ops.activations import DTYPES, KINDS, drawn
from ops.movers import at, by, name_of


def reference(params, inputs):
    limit, kind, alpha, dy = float(np.float32(params["limit"])), params["kind"], params["alpha"], inputs["dy"]
    x, up = activation_and_mul.clamped(dict(params, limit=limit), inputs, lambda a, b: np.where(a > b, b, a), lambda a, b: np.where(a < b, b, a))
    with np.errstate(all="ignore"):
        product = dy * up
        in_f32 = product.astype(np.float32).astype(np.float64)
        product = np.where(np.isinf(in_f32) | (np.abs(product) < 2.0**-126), in_f32, product)
        dx = activations.gradient(kind, alpha, x, product)
        act = activations.act(kind, alpha, x)
        dup = (act * dy).astype(np.float64)
        if limit:
            dx.values = np.where(inputs["x"] < limit, dx.values, 0)
            dup = np.where(np.abs(inputs["up"]) < limit, dup, 0)
    return {"dx": dx, "dup": Expected(dup, None, activations.condition(kind, x, dup, dy) + activations.LEAST)}


def torch_reference(torch, params, inputs):
    def product(act, x, up):
        x, up = activation_and_mul.clamped(params, {"x": x, "up": up}, lambda a, b: a.clamp(max=b), lambda a, b: a.clamp(min=b))
        return act(torch, params["kind"], params["alpha"], x) * up

    return {output: activations.torch_gradients(torch, params["kind"], inputs["dy"], functools.partial(product, act), inputs["x"], inputs["up"])[i]
            for i, (output, act) in enumerate((("dx", activations.torch_formula), ("dup", activations.torch_act)))}


def case(name, dy, x, up, kind="silu", limit=0.0, alpha=None, flags=0, dx=None, dup=None, in_place=None, absent=None, ulps=None):
    params = {"kind": KINDS.index(kind), "limit": limit, "alpha": activations.ALPHA.get(kind, 0.0) if alpha is None else alpha,
              "flags": flags}
    inputs = {"dy": dy, "x": x, "up": up}
    outputs = {output: View(x.dtype, x.shape, **(layout or {})) for output, layout in (("dx", dx), ("dup", dup)) if output != absent}
    if in_place:
        outputs[in_place[0]] = View(x.dtype, x.shape, inputs[in_place[1]].stride, inputs[in_place[1]].offset)
    suffix = f"_{kind}" + (f"_limit_{limit:g}".replace(".", "_") if limit else "") + ("_up_plus_one" if flags else "") + f"_{x.dtype}"
    most = activations.ULPS[x.dtype] if ulps is None else ulps
    return Case("activation_and_mul_backward", name + suffix, x.dtype, inputs, outputs, most, params, in_place)


def three(name, dtype, shape, dy=None, x=None, up=None, **more):
    return case(name, bell(dtype, shape, 1.5, 0.25, **(dy or {})), drawn(dtype, shape, **(x or {})), drawn(dtype, shape, **(up or {})), **more)


def smoke():
    for dtype in DTYPES:
        for kind in KINDS:
            yield three("smoke_24", dtype, (24,), kind=kind)
        for kind in ("silu", "gelu", "relu"):
            yield three("smoke_24", dtype, (24,), kind=kind, limit=1.5)
            yield three("smoke_24", dtype, (24,), kind=kind, flags=UP_PLUS_ONE)
        yield three("smoke_gpt_oss", dtype, (2, 24), **GPT_OSS)
        for absent in ("dx", "dup"):
            yield three(f"smoke_without_{absent}", dtype, (3, 24), absent=absent)
            yield three(f"smoke_without_{absent}_odd", dtype, (3, 301), absent=absent)
        for shape in [()] + rows.SMOKE_SHAPES:
            yield three(f"smoke_rank{len(shape)}", dtype, shape)


def exact():
    """Kinds without rounding, the ends of a limit, and inputs at which other kinds have an exact result."""
    for dtype in DTYPES:
        x, up = np.arange(-16.0, 16.0).reshape(2, 16) / 4, np.resize([1.0, -2.0, 2.5, 0.5, 0.0], (2, 16))
        dy = np.resize([1.0, -2.0, 0.5], (2, 16))
        for kind in KINDS[:7]:
            yield case("exact_steps", explicit(dtype, dy), explicit(dtype, x), explicit(dtype, up), kind, alpha=0.25, ulps=0)
            yield case("exact_steps", explicit(dtype, dy), explicit(dtype, x), explicit(dtype, up), kind, 2.0, 0.25, UP_PLUS_ONE, ulps=0)
        for kind in KINDS[7:]:
            if kind != "softplus":
                yield case("exact_zeros", explicit(dtype, [2.0, 2.0]), explicit(dtype, [0.0, -0.0]), explicit(dtype, [-2.0, 4.0]), kind, ulps=0)


def adversarial():
    for dtype in DTYPES:
        x = activations.hard_for_slopes(dtype)

        def full(value):
            return explicit(dtype, np.full(x.shape, float(activations.round_to(np.float64(value), dtype))))

        for kind in KINDS:
            yield case("adversarial", full(1.0), x, full(1.25), kind)
        for kind in ("relu", "silu", "gelu"):
            yield case("adversarial_large", full(60.0 if dtype == "f16" else 1e18), x, full(-1e3), kind)
            yield case("adversarial_zero", full(-0.0), x, full(2.0), kind)
        for more in ({"limit": 7.0}, GPT_OSS):
            yield case("adversarial_x", full(-0.75), x, full(1.25), **more)
            yield case("adversarial_up", full(-0.75), full(1.25), x, **more)


LAYOUTS = [  # name, shape, layouts of dy, x, up, dx, dup
    ("halves", (5, 64), None, *sides(64), None, None),
    ("halves_to_halves", (5, 64), None, *sides(64), *sides(64)),
    ("halves_odd", (5, 67), None, *sides(67), *sides(67)),
    ("halves_long_odd", (3, 1001), None, *sides(1001), None, None),
    ("halves_long_odd_to_halves", (3, 1001), None, *sides(1001), *sides(1001)),
    ("interleaved", (4, 40), None, by(80, 2), by(80, 2, offset=1), None, None),
    ("interleaved_to_halves", (4, 40), None, by(80, 2), by(80, 2, offset=1), *sides(40)),
    ("interleaved_odd", (4, 39), None, by(78, 2), by(78, 2, offset=1), None, None),
    ("misaligned_up", (4, 256), None, None, at(3), None, None),
    ("misaligned_dup", (4, 256), None, None, None, None, at(1)),
    ("misaligned_outputs", (3, 515), None, None, None, at(1), at(1)),
    ("misaligned_apart", (3, 515), at(1), at(2), at(3), at(1), at(2)),
    ("misaligned_equally", (1, 333), at(3), at(3), at(3), at(3), at(3)),
    ("misaligned_rows", (3, 300), by(303, 1), by(301, 1, offset=1), by(303, 1), by(305, 1, offset=2), by(309, 1, offset=2)),
    ("misaligned_rows_equally", (3, 300), by(303, 1), by(301, 1, offset=1), by(303, 1), by(305, 1, offset=1), by(313, 1, offset=1)),
    ("transposed", (5, 33), by(1, 5), None, None, None, None),
    ("transposed_dup", (8, 40), None, None, None, None, by(1, 8)),
    ("negative", (3, 40), by(-48, -1), None, None, by(-40, 1), None),
    ("rank8", (2, 1, 2, 1, 2, 1, 2, 16), None, by(160, 7, 320, 0, 16, -3, 32, 1), None, by(128, 9, 64, 9, 32, 9, 16, 1), None),
]


def layouts():
    for turn, (name, shape, dy, x, up, dx, dup) in enumerate(LAYOUTS):
        for dtype in DTYPES:
            yield three("layout_" + name, dtype, shape, dy, x, up, dx=dx, dup=dup, kind=KINDS[7 + turn % 10])
    for dtype in DTYPES:
        yield case("layout_dy_of_one_number", explicit(dtype, np.full((5, 40), 0.75), stride=(0, 0)), drawn(dtype, (5, 40)), drawn(dtype, (5, 40)))
        for output, source in (("dx", "dy"), ("dx", "x"), ("dup", "up"), ("dup", "dy")):
            for name, shape, layout in (("plain", (3, 64), {}), ("odd", (3, 301), by(305, 1, offset=1)), ("transposed", (3, 37), by(1, 3))):
                yield three(f"layout_{name}_{output}_is_{source}", dtype, shape, **{source: layout}, in_place=(output, source))


def sizes():
    for turn, n in enumerate((0, 1, 3, 8, 9, 31, 65, 129, 257, 1023, 2049, 16385, 65537)):
        yield three(f"size_{n}", DTYPES[turn % 3], (n,), at(turn % 4), at(turn % 4), at(turn % 4), dx=at(turn % 4), dup=at(turn % 4))
        yield three(f"size_2x{n}", DTYPES[(turn + 1) % 3], (2, n), None, *sides(n))
    for dtype in DTYPES:  # more than one access for each work-item, and more than one round
        yield three("size_131x8192", dtype, (131, 8192), None, *sides(8192))
        yield three("size_elements", dtype, (600, 900), None, by(1800, 2), None)
    for shape in ((0, 4), (4, 0)):
        yield three("size_" + name_of(shape), "f32", shape)


TOPICS = {"smoke": smoke, "exact": exact, "adversarial": adversarial, "layouts": layouts, "sizes": sizes}
