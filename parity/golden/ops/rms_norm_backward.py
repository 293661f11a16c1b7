"""The gradients of rms_norm: dx, and dw, the sum over all rows."""

import math

import numpy as np

import dtypes
import extended
from dtypes import round_to
from extended import Real
from golden import Expected, View, bell, constant, explicit, uniform
from ops import rms, rows
from ops.rms import ROUND_BEFORE_WEIGHT, WEIGHT_PLUS_ONE
from ops.rows import DTYPES, at, by, name_of

NAN, INF = math.nan, math.inf
ULPS = {"f16": 1, "bf16": 1, "f32": 4, "f64": 4}  # the bound is 8: dx has the roundings of two sums, a reciprocal and a root


class BackwardCase(rms.RmsCase):
    """The reference gives the scale of dw and db as the sum of the magnitudes of its terms. An error of 2^-20 (f64: 2^-49) of
    that is allowed."""

    def to_json(self, expected, torch_ulps):
        for name in ("dw", "db"):
            if name not in self.outputs:
                continue
            sums = expected[name]
            bits = dtypes.FLOATS[self.outputs[name].dtype].mantissa
            error = np.ldexp(sums.scale, -49 if self.dtype == "f64" else -20) + getattr(sums, "ties", 0)
            scale = np.where(np.isfinite(sums.values) & np.isfinite(error), np.ldexp(error, bits) / max(self.ulps, 1), 0.0)
            expected = {**expected, name: Expected(sums.values, None if self.ulps == 0 else scale)}
        if self.ulps == 0:
            expected = {**expected, "dx": Expected(expected["dx"].values)}
        return super().to_json(expected, torch_ulps)


def reference(params, inputs):
    x, dy, flags = inputs["x"], inputs["dy"], params["flags"]
    columns = x.shape[-1]
    weight = inputs["weight"].astype(Real) + (1 if flags & WEIGHT_PLUS_ONE else 0) if "weight" in inputs else np.ones(columns, Real)
    dx, scale = np.empty(x.shape, Real), np.empty(x.shape, Real)
    terms, ties = np.empty(x.shape, Real), np.zeros(x.shape, Real)
    with np.errstate(all="ignore"):
        rstd = inputs["rstd"].reshape(x.shape[:-1]) if "rstd" in inputs else rms.rstd(x, params["eps"]).values
        for row in np.ndindex(*x.shape[:-1]):
            wide, r, gradient = x[row].astype(Real), Real(rstd[row]), dy[row].astype(Real)
            if "rstd" not in inputs:
                r = Real(1) / np.sqrt(extended.total(wide * wide) / Real(max(columns, 1)) + Real(params["eps"]))
            products = gradient * weight * wide
            mean, normalized = extended.total(products) / Real(max(columns, 1)) * r, wide * r
            dx[row] = r * (gradient * weight - normalized * mean)
            scale[row] = np.abs(r) * (np.abs(gradient * weight) + np.abs(normalized * r) * np.abs(products).mean()) if columns else 0
            if flags & ROUND_BEFORE_WEIGHT and inputs.dtype in ("f16", "bf16"):
                exact = normalized.astype(np.float64)
                margin = rms.NEAR * np.maximum(np.abs(exact) * 2.0**-23, 2.0**-149)
                low, high = (round_to(exact + side, inputs.dtype).astype(Real) for side in (-margin, margin))
                normalized = (low + high) / 2
                ties[row] = 2 * np.abs(gradient) * (high - low)  # 4 times the error: dw is rounded, too, and a scale is a binade
            terms[row] = gradient * normalized
        flat = terms.reshape(-1, columns) if columns else terms.reshape(0, 0)
        dw = Expected(np.array([extended.total(column) for column in flat.T], dtype=Real).astype(np.float64) + 0.0,
                      np.abs(flat).sum(axis=0).astype(np.float64))
        dw.ties = ties.reshape(flat.shape).sum(axis=0).astype(np.float64)
    values = dx.astype(np.float64)
    return {"dx": Expected(values, np.where(np.isfinite(values), scale, 0).astype(np.float64)), "dw": dw}


def torch_reference(torch, params, inputs):
    if params["flags"] & ROUND_BEFORE_WEIGHT or "rstd" in inputs or inputs["x"].numel() == 0:
        return None
    x = inputs["x"].detach().requires_grad_()
    weight = inputs["weight"].detach().requires_grad_() if "weight" in inputs else None
    used = weight + 1 if weight is not None and params["flags"] & WEIGHT_PLUS_ONE else weight
    torch.nn.functional.rms_norm(x, x.shape[-1:], used, params["eps"]).backward(inputs["dy"])
    return {"dx": x.grad} if weight is None else {"dx": x.grad, "dw": weight.grad}


def case(name, x, dy, weight=None, dw=True, rstd=None, flags=0, eps=1e-5, dx=None, dw_layout=None, in_place=None, ulps=None):
    inputs = {"dy": dy, "x": x}
    outputs = {"dx": View(x.dtype, x.shape, **(dx or {}))}
    if in_place:
        outputs["dx"] = View(x.dtype, x.shape, inputs[in_place].stride, inputs[in_place].offset)
    if weight is not None:
        inputs["weight"] = weight
        if dw:
            outputs["dw"] = View(weight.dtype, weight.shape, **(dw_layout or {}))
    if rstd is not None:
        inputs["rstd"] = rstd
    suffix = f"_{x.dtype}" + ("" if weight is None else "_weight" + ("" if weight.dtype == x.dtype else "_" + weight.dtype))
    suffix += ("_rstd" if rstd is not None else "") + (f"_flags_{flags}" if flags else "")
    return BackwardCase("rms_norm_backward", name + suffix, x.dtype, inputs, outputs, ULPS[x.dtype] if ulps is None else ulps,
                        {"eps": eps, "flags": flags, "workspace": 1}, ("dx", in_place) if in_place else None)


def data(dtype, shape, scale=1.5, shift=0.25, **layout):
    return bell(dtype, shape, scale, shift, **layout)


def weight_of(dtype, columns, **layout):
    return rows.weight("weight", dtype, columns, layout)


def rstd_of(dtype, shape, **layout):
    return uniform("f64" if dtype == "f64" else "f32", shape, 0.25, 0.75, **layout)


def smoke():
    for turn, shape in enumerate(rows.SMOKE_SHAPES):
        for other, dtype in enumerate(DTYPES[:3] if turn else DTYPES):
            kind = (None, dtype, "f32")[(turn + other) % 3]
            yield case(f"smoke_rank{len(shape)}", data(dtype, shape), data(dtype, shape), kind and weight_of(kind, shape[-1]),
                       rstd=rstd_of(dtype, shape[:-1]) if turn % 2 else None)
    for dtype in DTYPES:
        for turn, flags in enumerate((WEIGHT_PLUS_ONE, ROUND_BEFORE_WEIGHT, WEIGHT_PLUS_ONE | ROUND_BEFORE_WEIGHT)):
            yield case("smoke_5x40", data(dtype, (5, 40)), data(dtype, (5, 40)), weight_of(dtype if turn else "f32", 40), flags=flags)
        yield case("smoke_without_dw", data(dtype, (3, 32)), data(dtype, (3, 32)), weight_of(dtype, 32), dw=False)


def exact():
    """Rows of +-2^k have a power of two as rstd, and small whole numbers have exact sums. So have rows that get such an rstd."""
    for dtype in DTYPES:
        for columns, count in ((2, 3), (8, 5), (64, 12), (256, 3)):
            c = np.ldexp(1.0, np.arange(count) % 3 - 1)[:, None]
            sign = np.where(np.arange(columns) * 7 % 5 < 3, 1.0, -1.0)
            dy = (np.arange(count * columns).reshape(count, columns) * 11 % 7 - 3.0)
            weight = np.arange(columns) % 3 - 1.0
            dy[:, 0] -= (dy * weight * sign).sum(axis=1) % columns * (weight * sign)[0]  # the mean is a whole number
            if np.abs(dy).max() > 128:
                dy = np.where(np.arange(columns) % 2 == 0, 2.0, -1.0) * np.ones((count, 1))
                dy[:, ::4] *= 0
                weight = np.ones(columns)
                sign = np.where(np.arange(columns) % 4 < 2, 1.0, -1.0)  # the mean is 0
            yield case(f"exact_{count}x{columns}", explicit(dtype, c * sign), explicit(dtype, dy), explicit(dtype, weight), eps=0.0, ulps=0)
        for columns in (1024, 4096, 16384, 32768):
            shape = (6, columns)
            yield case(f"exact_long_{columns}", constant(dtype, shape, -4.0), constant(dtype, shape, 3.0), constant("f32", (columns,), -2.0),
                       eps=0.0, ulps=0)
    for dtype in ("f32", "bf16"):
        zero = explicit(dtype, np.resize([1.0, -2.0, 3.0], (4, 30)))
        yield case("exact_dy_0", zero, explicit(dtype, np.resize([0.0, -0.0], (4, 30))), weight_of("f32", 30), ulps=0,
                   rstd=explicit("f32", [0.5, 2.0, 1.0, 0.25]))


def adversarial():
    for dtype in DTYPES:
        big = {"f16": 6e4, "bf16": 1e15, "f32": 1e15, "f64": 1e100}[dtype]
        small = {"f16": 6e-5, "bf16": 1e-15, "f32": 1e-15, "f64": 1e-100}[dtype]
        plain, weight = rows.quirky(dtype, (4, 24), 1), weight_of(dtype, 24)
        yield case("adversarial_x_inf_nan", rows.quirky(dtype, (4, 24), 2, at=[(1, 5, INF), (3, 0, NAN)]), plain, weight)
        yield case("adversarial_dy_inf_nan", plain, rows.quirky(dtype, (4, 24), 3, at=[(0, 23, NAN), (2, 7, -INF)]), weight)
        yield case("adversarial_rstd_inf_nan", plain, plain, weight, rstd=explicit("f64" if dtype == "f64" else "f32", [1.0, INF, NAN, 0.5]))
        yield case("adversarial_zeros", explicit(dtype, np.zeros((3, 40))), data(dtype, (3, 40)), weight_of(dtype, 40))
        yield case("adversarial_large", data(dtype, (3, 40), big / 8), data(dtype, (3, 40)), weight_of(dtype, 40))
        yield case("adversarial_small", data(dtype, (3, 40), small, small), data(dtype, (3, 40)), weight_of(dtype, 40), eps=0.0)
        # dy * weight is a multiple of x, and dx is 0 except for roundings. The terms of dw cancel over the rows.
        x = bell(dtype, (3, 48), 1.0, seed=7).array()
        yield case("adversarial_cancel", explicit(dtype, x), explicit(dtype, x))
        both = explicit(dtype, np.concatenate((x, -x)))
        yield case("adversarial_cancel_rows", both, explicit(dtype, np.ones((6, 48))), weight_of("f32", 48))
        yield case("adversarial_huge_mean", data(dtype, (2, 300), 40.0 if dtype == "bf16" else 1.0, 3000.0), data(dtype, (2, 300)))
    yield case("adversarial_overflow", constant("f16", (2, 40), 2.0), constant("f16", (2, 40), 6e4), constant("f16", (40,), -8.0))


LAYOUTS = [  # shape; x, dy, dx, weight, dw
    ("padded", (5, 64), by(80, 1), by(72, 1), by(88, 1), {}, {}),
    ("padded_by_one", (5, 64), by(65, 1), {}, by(67, 1), {}, {}),
    ("misaligned", (5, 64), at(1), at(2), at(3), at(1), at(1)),
    ("misaligned_dw", (5, 64), {}, {}, {}, {}, at(1)),
    ("transposed", (6, 33), by(1, 6), {}, by(1, 6), {}, {}),
    ("steps", (3, 34), by(68, 2), by(102, 3), by(-40, -1), by(2), by(-3)),
    ("dy_of_one_row", (4, 32), {}, by(0, 1), {}, by(-1), by(2)),
    ("dy_of_one_number", (4, 32), {}, by(0, 0), {}, {}, {}),
    ("permuted", (2, 2, 3, 16), by(96, 16, 32, 1), {}, {}, {}, {}),
    ("permuted_long", (2, 3, 2, 1032), by(6192, 1032, 3096, 1), {}, {}, {}, {}),
    ("rank8", (2, 1, 2, 1, 2, 1, 2, 16), by(160, 7, 320, 0, 16, -3, 32, 1), {}, by(128, 9, 64, 9, 32, 9, 16, 1), {}, {}),
]


def layouts():
    for turn, (name, shape, x, dy, dx, weight, dw) in enumerate(LAYOUTS):
        for dtype in ("f32", DTYPES[1 + turn % 3]):
            gradient = data(dtype, shape, **dy)
            if name.startswith("dy_of_one"):
                part = bell(dtype, (1, 1 if "number" in name else 32), 1.5, seed=turn).array()
                gradient = explicit(dtype, np.broadcast_to(part, shape), **dy)
            yield case(f"layout_{name}", data(dtype, shape, **x), gradient, weight_of("f32" if turn % 2 else dtype, shape[-1], **weight),
                       dx=dx, dw_layout=dw)
    for turn, (shape, layout) in enumerate((((9, 64), {}), ((5, 63), by(65, 1, offset=1)), ((3, 2200), {}), ((3, 37), by(1, 3)))):
        for other, source in enumerate(("dy", "x")):
            dtype = DTYPES[(turn + other) % 4]
            own = {source: layout}
            yield case(f"layout_dx_is_{source}_{name_of(shape)}", data(dtype, shape, **own.get("x", {})), data(dtype, shape, **own.get("dy", {})),
                       weight_of(dtype, shape[-1]), in_place=source)
    for turn, layout in enumerate((by(1, 2), by(7, 2, 1), by(0, 0), by(-5, 9, offset=1))):
        shape = (2, 3, 1) if len(layout["stride"]) == 3 else (2, 3)
        rstd = explicit("f32", np.full(shape, 0.625), **layout) if layout["stride"] == (0, 0) else rstd_of("bf16", shape, **layout)
        yield case(f"layout_rstd_{turn}", data("bf16", (2, 3, 40)), data("bf16", (2, 3, 40)), weight_of("f32", 40), rstd=rstd)


# Rows and vectors of 16 bytes: rows of a wave's part, of a wave and of a block, with one chunk, several, and a part of one.
REACHES = [(1, 1), (70, 1), (300, 2), (3, 5), (130, 8), (260, 16), (9, 33), (50, 64), (3, 128), (5, 129), (37, 160), (5, 520), (2, 1024),
           (3, 1025), (2, 2048), (2, 2049)]


def further_sizes(case):
    for shape in ((3, 1), (9, 3), (3, 63), (2, 4100), (130, 5)):
        yield case(f"size_{name_of(shape)}", data("f64", shape), data("f64", shape), weight_of("f32" if shape[1] == 63 else "f64", shape[1]))
    for dtype in ("f32", "f16"):
        yield case("size_700x3", data(dtype, (700, 3)), data(dtype, (700, 3)), weight_of(dtype, 3))
        yield case("size_0x24", data(dtype, (0, 24)), data(dtype, (0, 24)), weight_of(dtype, 24), rstd=rstd_of(dtype, (0,)))
        yield case("size_5x0", data(dtype, (5, 0)), data(dtype, (5, 0)), weight_of(dtype, 0))
    yield case("size_2x70001", data("bf16", (2, 70001)), data("bf16", (2, 70001)), weight_of("f32", 70001))


def sizes():
    for turn, (count, vectors) in enumerate(REACHES):
        for other in range(2):
            dtype = DTYPES[(turn + 2 * other) % 3]
            columns = vectors * (4 if dtype == "f32" else 8)
            if other and count <= 70:
                columns -= 1
            shape = (count, columns)
            yield case(f"size_{name_of(shape)}", data(dtype, shape), data(dtype, shape), weight_of("f32" if turn % 3 else dtype, columns),
                       rstd=rstd_of(dtype, (count,)) if turn % 2 else None)
    yield from further_sizes(case)


TOPICS = {"smoke": smoke, "exact": exact, "adversarial": adversarial, "layouts": layouts, "sizes": sizes}
