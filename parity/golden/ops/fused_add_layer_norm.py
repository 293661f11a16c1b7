"""h = x + residual; residual_out = h; y = (h - mean(h)) * rstd * weight + bias, over the last dimension."""

import math

import numpy as np

from dtypes import round_to
from golden import Case, Expected, View, bell, constant, explicit
from ops import layer_norm, rows
from ops.fused_add_rms_norm import LAYOUTS, drawn
from ops.rms import ROUND_SUM, Arrays

DTYPES = ("f32", "f16", "bf16")
SCALARS = set(layer_norm.OP.scalars)
NAN, INF = math.nan, math.inf


class FusedCase(Case):
    def arrays(self):
        arrays = Arrays(super().arrays())
        arrays.dtype = self.dtype
        return arrays


def reference(params, inputs):
    with np.errstate(all="ignore"):
        h = (inputs["x"] + inputs["residual"]).astype(np.float32).astype(np.float64)  # in f32, as the op computes it
    summed = round_to(h, inputs.dtype) if params["flags"] & ROUND_SUM else h
    return {**layer_norm.reference(params, {**inputs, "x": summed}), "residual_out": Expected(h)}


def torch_reference(torch, params, inputs):
    if params["flags"]:
        return None
    h = (inputs["x"] + inputs["residual"]).float().to(inputs["x"].dtype)  # the op adds in f32
    return {**layer_norm.torch_reference(torch, params, {**inputs, "x": h}), "residual_out": h}


def case(name, x, residual, flags=0, eps=1e-5, y=None, residual_out=None, in_place=None, scalars=(), ulps=None, **columns):
    inputs = {"x": x, "residual": residual, **columns}
    outputs = {"y": View(x.dtype, x.shape, **(y or {})), "residual_out": View(x.dtype, x.shape, **(residual_out or {})),
               **rows.scalar_views(layer_norm.OP.scalars, x, scalars)}
    if in_place:
        output, source = in_place
        outputs[output] = View(x.dtype, x.shape, inputs[source].stride, inputs[source].offset)
    kinds = "".join(f"_{argument}" + ("" if t.dtype == x.dtype else "_" + t.dtype) for argument, t in columns.items())
    suffix = f"_{x.dtype}{kinds}" + (f"_flags_{flags}" if flags else "")
    return FusedCase("fused_add_layer_norm", name + suffix, x.dtype, inputs, outputs, rows.ULPS[x.dtype] if ulps is None else ulps,
                     {"eps": eps, "flags": flags}, in_place)


def columns_of(turn, dtype, count, layout=None):
    """None, a weight, a bias, or both, in the rows' dtype or in f32."""
    kind = "f32" if turn % 3 == 1 else dtype
    names = ((), ("weight",), ("bias",), ("weight", "bias"))[turn % 4]
    return {name: rows.weight(name, kind, count, layout or {}) for name in names}


def smoke():
    for turn, shape in enumerate(rows.SMOKE_SHAPES):
        for other, dtype in enumerate(DTYPES):
            yield case(f"smoke_rank{len(shape)}", drawn(dtype, shape), drawn(dtype, shape), **columns_of(turn + other, dtype, shape[-1]))
    for dtype in DTYPES:
        for turn in range(4):
            yield case(f"smoke_3x40_{turn}", drawn(dtype, (3, 40)), drawn(dtype, (3, 40)), ROUND_SUM, scalars=SCALARS,
                       **columns_of(turn, dtype, 40))
        yield case("smoke_2x2048", drawn(dtype, (2, 2048)), drawn(dtype, (2, 2048)), ROUND_SUM)


def exact():
    """x and residual are halves of rows of mean +- a, with variance a^2."""
    for dtype in DTYPES:
        for columns in (2, 6, 8, 24, 100, 256):
            half = explicit(dtype, [layer_norm.halves(columns, 0.0, 0.5), layer_norm.halves(columns, 48.0, 2.0)])
            for flags in (0, ROUND_SUM):
                yield case(f"exact_halves_{columns}", half, half, flags, 0.0, ulps=0)
            weight = explicit(dtype, np.ldexp(1.0, np.arange(columns) % 5 - 1))
            yield case(f"exact_halves_{columns}", half, half, 0, 0.0, ulps=0, weight=weight, bias=explicit(dtype, np.arange(columns) % 9 - 4.0))


def adversarial():
    for dtype in DTYPES:
        large = float(round_to({"f16": 3e4, "bf16": 1e30, "f32": 1e30}[dtype], dtype))
        tiny = {"f16": 6e-5, "bf16": 1e-30, "f32": 1e-30}[dtype]
        plain = rows.quirky(dtype, (4, 24), 1)
        yield case("adversarial_inf", rows.quirky(dtype, (4, 24), 2, at=[(1, 5, INF), (3, 0, -INF)]), plain, scalars=SCALARS)
        yield case("adversarial_nan", plain, rows.quirky(dtype, (4, 24), 3, at=[(0, 23, NAN), (2, 7, NAN)]), scalars=SCALARS)
        yield case("adversarial_zeros", explicit(dtype, [[0.0] * 20, [-0.0] * 20]), explicit(dtype, [[0.0] * 20, [-0.0] * 20]))
        for columns in (3, 40, 300, 20000):
            for name, size in (("large", large / 4), ("tiny", tiny)):
                x = bell(dtype, (2, columns), size)
                for eps in (0.0, 1e-5):
                    yield case(f"adversarial_{name}_{columns}_eps_{eps:g}", x, constant(dtype, x.shape, 0.0), eps=eps, scalars=SCALARS)
            yield case(f"adversarial_all_equal_{columns}", constant(dtype, (2, columns), 3000.0), constant(dtype, (2, columns), -40.0))
        spread = {"f32": 1.0, "f16": 4.0, "bf16": 40.0}[dtype]
        for columns in (64, 1000, 4096):
            yield case(f"adversarial_huge_mean_{columns}", bell(dtype, (2, columns), spread, 3000.0), drawn(dtype, (2, columns)),
                       scalars=SCALARS, **columns_of(3, dtype, columns))
        for name, size in (("large", large / 4), ("tiny", tiny)):
            x = bell(dtype, (3, 3001), size, offset=1)
            yield case(f"adversarial_{name}_unaligned_rows", x, constant(dtype, x.shape, 0.0, offset=1), eps=0.0, scalars=SCALARS)
        yield case("adversarial_largest_eps", plain, plain, eps=3e38)


def layouts():
    for turn, (name, shape, x, residual, y, out, column) in enumerate(LAYOUTS):
        for dtype in ("f32", ("bf16", "f16")[turn % 2]):
            yield case(f"layout_{name}", drawn(dtype, shape, **x), drawn(dtype, shape, **residual), y=y, residual_out=out,
                       **columns_of(3 if column else turn, dtype, shape[-1], column))
    for output in ("y", "residual_out"):
        for source in ("x", "residual"):
            for dtype in DTYPES:
                for shape, layout in (((3, 64), {}), ((2, 63), dict(stride=(65, 1), offset=1)), ((2, 5000), {}), ((3, 37), dict(stride=(1, 3)))):
                    own = {source: layout}
                    yield case(f"layout_{output}_is_{source}_{rows.name_of(shape)}", drawn(dtype, shape, **own.get("x", {})),
                               drawn(dtype, shape, **own.get("residual", {})), in_place=(output, source))
    for dtype in DTYPES:
        for turn, layouts_of in enumerate(({"mean": dict(stride=(1, 2)), "rstd": dict(stride=(7, 2, 1))}, {"rstd": dict(stride=(-5, 9), offset=1)})):
            yield case(f"layout_statistics_{turn}", drawn(dtype, (2, 3, 40)), drawn(dtype, (2, 3, 40)), scalars=layouts_of)


def sizes():
    shapes = [(rows.rows_for(columns), columns) for columns in rows.COLUMNS[::2]] + [(0, 64), (37, 0), (37, 5), (199, 64), (37, 1000), (3, 70001)]
    for turn, shape in enumerate(shapes):
        dtype = DTYPES[turn % 3]
        yield case("size_" + rows.name_of(shape), drawn(dtype, shape), drawn(dtype, shape), **columns_of(turn, dtype, shape[-1]),
                   scalars=SCALARS if shape[-1] > 0 and shape[0] < 100 else ())
    for dtype in DTYPES:
        length = 4 if dtype == "f32" else 8
        for turn, vectors in enumerate((16, 64, 65, 512, 2048, 2049, 4100)):
            for odd in (0, 1):
                shape = (1, vectors * length - odd)
                yield case(f"odd_end_{vectors}" if odd else f"whole_vectors_{vectors}", drawn(dtype, shape, offset=odd), drawn(dtype, shape),
                           scalars=SCALARS, **columns_of(turn + odd, dtype, shape[1]))
        yield case("every_second_2100", drawn(dtype, (1, 2100), stride=(4200, 2)), drawn(dtype, (1, 2100)), scalars=SCALARS)


TOPICS = {"smoke": smoke, "exact": exact, "adversarial": adversarial, "layouts": layouts, "sizes": sizes}
