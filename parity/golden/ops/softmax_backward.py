"""The gradient of softmax: dx = y * (dy - sum(dy * y)) * scale, over the last dimension; and the cases of both
ops."""

import math

import numpy as np

import extended
from extended import Real
from golden import Case, Expected, View, bell, constant, explicit, uniform
from ops import rows
from ops.rows import DTYPES, at, by, name_of

NAN, INF = math.nan, math.inf


def reference(params, inputs):
    dy, y, scale = inputs["dy"], inputs["y"], Real(params["scale"])
    dx, size = np.empty(y.shape, Real), np.empty(y.shape, Real)
    with np.errstate(all="ignore"):
        for row in np.ndindex(*y.shape[:-1]):
            gradient, result = dy[row].astype(Real), y[row].astype(Real)
            products = gradient * result
            dx[row] = result * (gradient - extended.total(products)) * scale
            size[row] = np.abs(result * scale) * (np.abs(gradient) + np.abs(products).sum())
    return {"dx": expected(dx, size)}


def expected(dx, size):
    """The terms of dx may cancel: its error is in ULPs of their magnitude."""
    values = dx.astype(np.float64)
    return Expected(values, np.where(np.isfinite(values) & np.isfinite(size), size, 0).astype(np.float64))


def torch_reference(torch, params, inputs):
    return {"dx": torch.ops.aten._softmax_backward_data(inputs["dy"], inputs["y"], -1, inputs["y"].dtype) * params["scale"]}


class Gradient:
    """The cases of an op of dy and y. result(dtype, shape, **layout) makes y."""

    def __init__(self, op, result, params):
        self.op, self.result, self.params = op, result, params

    def case(self, name, dy, y, dx=None, in_place=None, ulps=None, **params):
        inputs, params = {"dy": dy, "y": y}, {**self.params, **params}
        output = View(y.dtype, y.shape, **(dx or {}))
        if in_place:
            output = View(y.dtype, y.shape, inputs[in_place].stride, inputs[in_place].offset)
        suffix = "".join(f"_{key}_{value:g}".replace(".", "p") for key, value in params.items() if value != self.params[key])
        return Case(self.op, f"{name}_{y.dtype}{suffix}", y.dtype, inputs, {"dx": output}, rows.ULPS[y.dtype] if ulps is None else ulps,
                    params, ("dx", in_place) if in_place else None)

    def both(self, name, dtype, shape, dy=None, y=None, **rest):
        return self.case(name, bell(dtype, shape, 1.5, 0.25, **(dy or {})), self.result(dtype, shape, **(y or {})), **rest)

    def smoke(self):
        for dtype in DTYPES:
            for shape in rows.SMOKE_SHAPES:
                yield self.both(f"smoke_rank{len(shape)}", dtype, shape)

    def adversarial(self):
        for dtype in DTYPES:
            for name, where in (("inf", [(1, 5, INF)]), ("nan", [(0, 23, NAN), (2, 7, NAN)]), ("minus_inf", [(1, 5, -INF)])):
                yield self.case("adversarial_dy_" + name, rows.quirky(dtype, (4, 24), 1, at=where), self.result(dtype, (4, 24)))
            yield self.case("adversarial_y_nan", bell(dtype, (4, 24)),
                            rows.quirky(dtype, (4, 24), 2, 0.125, -1.0, at=[(0, 23, NAN), (2, 7, NAN)]))
            yield self.case("adversarial_large", bell(dtype, (3, 200), 1e4), self.result(dtype, (3, 200)))
            small = {"f16": 1e-6, "bf16": 1e-30, "f32": 1e-30, "f64": 1e-280}[dtype]
            yield self.case("adversarial_small", bell(dtype, (3, 200), small), self.result(dtype, (3, 200)))

    def layouts(self):
        for turn, (name, shape, dy, y, dx) in enumerate(LAYOUTS):
            for dtype in ("f32", ("bf16", "f16", "f64")[turn % 3]):
                gradient = bell(dtype, shape, 1.5, 0.25, **dy)
                if name.startswith("dy_of_one"):
                    part = bell(dtype, (1, 1 if "number" in name else shape[-1]), 1.5, seed=turn).array()
                    gradient = explicit(dtype, np.broadcast_to(part, shape), **dy)
                yield self.case(f"layout_{name}", gradient, self.result(dtype, shape, **y), dx=dx)
        for turn, (shape, layout) in enumerate((((9, 64), {}), ((5, 63), by(65, 1, offset=1)), ((3, 2200), {}), ((2, 33001), {}), ((3, 37), by(1, 3)))):
            for other, source in enumerate(("dy", "y")):
                yield self.both(f"layout_dx_is_{source}_{name_of(shape)}", DTYPES[(turn + other) % 4], shape, in_place=source, **{source: layout})

    def sizes(self):
        shapes = [(rows.rows_for(columns), columns) for columns in rows.COLUMNS[::2]]
        for turn, shape in enumerate(shapes + [(0, 64), (37, 0), (37, 5), (150, 8), (37, 1000), (3, 70001)]):
            yield self.both("size_" + name_of(shape), DTYPES[turn % 4], shape)
        for dtype in DTYPES:
            length = {"f32": 4, "f64": 2}.get(dtype, 8)
            for vectors in (5, 16, 65, 512, 1100, 2048, 2049, 4100):
                for odd in (0, 1):
                    begin = {"offset": odd}
                    yield self.both(f"odd_end_{vectors}" if odd else f"whole_vectors_{vectors}", dtype, (1, vectors * length - odd), begin, begin)
            yield self.both("every_second_2100", dtype, (1, 2100), y={"stride": (4200, 2)})

    def topics(self, exact, adversarial):
        return {"smoke": self.smoke, "exact": exact, "adversarial": lambda: [*self.adversarial(), *adversarial()], "layouts": self.layouts,
                "sizes": self.sizes}


LAYOUTS = [  # shape; dy, y, dx
    ("padded", (5, 64), by(80, 1), by(72, 1), by(88, 1)),
    ("padded_by_one", (5, 64), by(65, 1), {}, by(67, 1)),
    ("misaligned", (2, 64), at(1), at(2), at(3)),
    ("misaligned_alike", (2, 63), by(64, 1, offset=1), by(64, 1, offset=1), by(64, 1, offset=1)),
    ("misaligned_dx", (2, 64), {}, {}, at(1)),
    ("misaligned_y_long", (2, 4100), {}, at(1), {}),
    ("odd_rows_long", (3, 2049), {}, {}, {}),
    ("transposed", (6, 33), by(1, 6), {}, by(1, 6)),
    ("steps", (3, 34), by(68, 2), by(102, 3), by(-40, -1)),
    ("negative_y", (3, 40), {}, by(-40, -1), {}),
    ("dy_of_one_row", (4, 32), by(0, 1), {}, {}),
    ("dy_of_one_number", (4, 32), by(0, 0), {}, {}),
    ("dy_of_one_number_long", (2, 3000), by(0, 0), {}, {}),
    ("permuted", (2, 2, 3, 16), {}, by(96, 16, 32, 1), {}),
    ("permuted_long", (2, 3, 2, 1032), by(6192, 1032, 3096, 1), {}, {}),
    ("rank8", (2, 1, 2, 1, 2, 1, 2, 16), by(160, 7, 320, 0, 16, -3, 32, 1), by(128, 9, 64, 9, 32, 9, 16, 1), {}),
]


def probabilities(dtype, shape, **layout):
    """About softmax's results. A row's sum need not be 1."""
    each = 1.0 / max(shape[-1], 1)
    return uniform(dtype, shape, each, each, **layout)


OP = Gradient("softmax_backward", probabilities, {"scale": 1.0, "flags": 0})


def exact():
    """Powers of two as y, and small whole numbers as dy: all sums and products are exact."""
    for dtype in DTYPES:
        for columns in (1, 4, 16, 50, 256):
            y = np.ldexp(1.0, -(np.arange(3 * columns).reshape(3, columns) * 7 % 3) - 2)
            dy = np.arange(3 * columns).reshape(3, columns) * 11 % 5 - 2.0
            if columns > 16:
                dy *= np.arange(columns) < 5
            for scale in (1.0, 0.25):
                yield OP.case(f"exact_{columns}", explicit(dtype, dy), explicit(dtype, y), ulps=0, scale=scale)
        for columns in (1024, 4096, 16384, 32768):
            yield OP.case(f"exact_long_{columns}", constant(dtype, (6, columns), 3.0), constant(dtype, (6, columns), 0.5 / columns), ulps=0)


def adversarial():
    for dtype in DTYPES:
        one = np.zeros((3, 40))
        one[range(3), (0, 20, 39)] = 1.0  # all of the row's probability: dx is 0
        yield OP.case("adversarial_one_of_40", bell(dtype, (3, 40)), explicit(dtype, one), ulps=0)
        yield OP.case("adversarial_masked", bell(dtype, (2, 40)), explicit(dtype, np.zeros((2, 40))), ulps=0)
        for scale in (0.0, -0.7, 1000.0):
            yield OP.both("adversarial_scale", dtype, (3, 40), scale=scale)
        yield OP.case("adversarial_equal_dy", constant(dtype, (3, 40), 1000.0), uniform(dtype, (3, 40), 1 / 40, 1 / 40))
    for dtype, tiny in (("f32", 2e-41), ("f64", 1e-318)):  # dy is so large that dx has more digits than y * scale
        yield OP.case("adversarial_denormal_y", bell(dtype, (2, 40), 1e3), uniform(dtype, (2, 40), tiny, tiny), scale=0.7)


TOPICS = OP.topics(exact, adversarial)
