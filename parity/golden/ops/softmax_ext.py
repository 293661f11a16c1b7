"""y = softmax(x * scale + slope * mask) over the last dimension, with a sink in the sum."""

import math

import numpy as np

import extended
from extended import Real
from golden import Expected, View, bell, contiguous, explicit, index
from ops import rows
from ops.rms import RmsCase

MASKED_ROW_ZERO = 32
DTYPES = ("f32", "f16", "bf16")
NAN, INF = math.nan, math.inf


def scores_of(params, inputs):
    x = inputs["x"]
    scale = np.float64(np.float32(params["scale"]))
    rows_shape = (*x.shape[:-1], 1)
    slope = inputs["alibi_slopes"].reshape(rows_shape) if "alibi_slopes" in inputs else 1.0
    sink = inputs["sinks"].reshape(rows_shape) if "sinks" in inputs else np.full(rows_shape, -INF)
    mask = inputs.get("mask", np.zeros(x.shape))
    if mask.dtype == np.uint8:
        mask = np.where(mask != 0, 0.0, -INF)
    with np.errstate(all="ignore"):
        scores = x.astype(Real) * Real(scale) + np.asarray(slope).astype(Real) * mask.astype(Real)
    return np.where(mask == -INF, Real(-INF), scores), sink


def reference(params, inputs):
    scores, sinks = scores_of(params, inputs)
    y, terms = np.zeros(scores.shape), np.zeros(scores.shape)
    flat = [a.reshape(-1, max(scores.shape[-1], 1)) for a in (scores, y, terms)]
    for row, sink, out, size in zip(flat[0], sinks.reshape(-1), *flat[1:]):
        top = np.maximum(row.max(), Real(sink))
        if top == -INF:
            out[:] = 0.0 if params["flags"] & MASKED_ROW_ZERO else NAN
            continue
        if math.isnan(top) or math.isinf(top):
            out[:] = NAN
            continue
        with np.errstate(all="ignore"):
            e = np.exp(np.append(row, Real(sink)) - top)
            out[:] = e[:-1] / extended.total(e)
            # A score is rounded to f32, so its exponential errs by the score's size times f32's last digit.
            size[:] = out * np.maximum(np.where(np.isfinite(row), np.abs(row), 1.0), max(abs(top), 1.0)).astype(np.float64)
    return {"y": Expected(y, terms if inputs.dtype == "f32" else None, terms)}


def torch_reference(torch, params, inputs):
    x = inputs["x"]
    rows_shape = (*x.shape[:-1], 1)
    slope = inputs["alibi_slopes"].reshape(rows_shape) if "alibi_slopes" in inputs else 1.0
    scores = x * float(np.float32(params["scale"]))
    if "mask" in inputs:
        mask = inputs["mask"]
        masked = mask == 0 if mask.dtype == torch.uint8 else mask == -INF
        if mask.dtype != torch.uint8:
            scores = scores + slope * mask
        scores = scores.masked_fill(masked, -INF)
    sink = inputs["sinks"].reshape(rows_shape).to(scores.dtype) if "sinks" in inputs else scores.new_full(rows_shape, -INF)
    scores = torch.cat([scores, sink], -1)
    y = scores.softmax(-1)[..., :-1]
    if params["flags"] & MASKED_ROW_ZERO:
        y = y.masked_fill((scores == -INF).all(-1, keepdim=True), 0.0)
    return {"y": y}


def case(name, x, mask=None, slopes=None, sinks=None, scale=1.0, flags=0, y=None, in_place=False, ulps=None):
    inputs = {"x": x, "mask": mask, "alibi_slopes": slopes, "sinks": sinks}
    inputs = {argument: tensor for argument, tensor in inputs.items() if tensor is not None}
    output = View(x.dtype, x.shape, **(y or {}))
    if in_place:
        output.stride, output.offset = x.stride, x.offset
    kinds = "".join(f"_{argument}" + (f"_{t.dtype}" if argument == "mask" else "") for argument, t in inputs.items() if argument != "x")
    name += f"_{x.dtype}{kinds}" + (f"_flags_{flags}" if flags else "")
    return RmsCase("softmax_ext", name, x.dtype, inputs, {"y": output}, rows.ULPS[x.dtype] if ulps is None else ulps,
                   {"scale": scale, "flags": flags}, ("y", "x") if in_place else None)


def x_of(dtype, shape, **layout):
    return bell(dtype, shape, 2.0, **layout)


def mask_of(dtype, shape, broadcast=(), seed=1, **layout):
    """One element of four is masked. `broadcast` lists the dimensions along which elements repeat."""
    part = tuple(1 if d in broadcast else extent for d, extent in enumerate(shape))
    values, masked = bell("f16", part, 1.0, seed=seed).array(), index("u8", part, 4, seed=seed).array() == 0
    values = np.where(masked, 0, 1) if dtype == "u8" else np.where(masked, -INF, np.round(values * 8) / 8)
    stride = [0 if d in broadcast else step for d, step in enumerate(contiguous(part))]
    return explicit(dtype, np.broadcast_to(values, shape), **({"stride": tuple(stride)} if broadcast else {}), **layout)


def for_heads(values, shape, dim=1):
    """One number for each index of dimension `dim`, for all rows of the shape."""
    along = [1] * (len(shape) - 1)
    along[dim] = -1
    stride = tuple(int(d == dim) for d in range(len(shape) - 1))
    return explicit("f32", np.broadcast_to(np.reshape(values, along), shape[:-1]), stride=stride)


SHAPE = (2, 3, 2, 24)  # batch, heads, queries, keys
SLOPES, SINKS = (0.5, 0.25, 1.0), (0.5, -2.0, 3.0)


def smoke():
    for dtype in DTYPES:
        for turn, kind in enumerate((None, dtype, "f32", "u8")):
            mask = kind and mask_of(kind, SHAPE, (1,))
            yield case(f"smoke_{turn}", x_of(dtype, SHAPE), mask, scale=0.125)
            yield case(f"smoke_heads_{turn}", x_of(dtype, SHAPE), mask, for_heads(SLOPES, SHAPE) if mask else None, for_heads(SINKS, SHAPE),
                       scale=0.125, flags=MASKED_ROW_ZERO * (turn % 2))
    for turn, shape in enumerate(rows.SMOKE_SHAPES):
        dtype = DTYPES[turn % 3]
        yield case(f"smoke_rank{len(shape)}", x_of(dtype, shape), mask_of(("f32", "u8", dtype)[turn % 3], shape), scale=-1.5)
    yield case("smoke_packed_heads", x_of("bf16", (4, 3, 24)), mask_of("bf16", (4, 3, 24), (1,)), for_heads(SLOPES, (4, 3, 24)),
               for_heads(SINKS, (4, 3, 24)), scale=0.1)  # [tokens, heads, keys]


def exact():
    """2^k equal scores give 2^-k each. A sink with that score is one of them."""
    for dtype in DTYPES:
        for columns, kept in ((9, 1), (17, 8), (40, 32)):
            takes_part = np.arange(columns) % columns < kept
            x = explicit(dtype, np.where(takes_part, 3.0, 60.0)[None])
            for kind in ("u8", dtype):
                mask = explicit(kind, takes_part[None] * 1 if kind == "u8" else np.where(takes_part, 0.0, -INF)[None])
                yield case(f"exact_{kept}_of_{columns}", x, mask, scale=0.5, ulps=0)
        equal = explicit(dtype, np.full((3, 15), 2.0))
        yield case("exact_with_sink", equal, None, None, explicit("f32", [4.0, 4.0, 4.0]), scale=2.0, ulps=0)
        yield case("exact_slope", equal, explicit(dtype, np.full((3, 15), -4.0)), explicit("f32", [0.5, 0.25, 1.0]),
                   explicit("f32", [0.0, 1.0, -2.0]), ulps=0)
        masked = explicit(dtype, [[1.0] * 16, [NAN] * 16, [INF] * 16])
        rows_of_mask = explicit("u8", [[1] * 16, [0] * 16, [0] * 16])
        for flags in (0, MASKED_ROW_ZERO):
            yield case("exact_masked_row", masked, rows_of_mask, flags=flags, ulps=0)
            yield case("exact_masked_row_sink", masked, rows_of_mask, None, explicit("f32", [-INF, 0.0, -INF]), flags=flags, ulps=0)
            yield case("exact_all_minus_inf", explicit(dtype, [[-INF] * 9, [0.5] * 8 + [-INF]]), flags=flags, ulps=0)


def adversarial():
    for dtype in DTYPES:
        at = [(1, 5, INF), (2, 7, NAN), (3, 0, -INF)]
        x = rows.quirky(dtype, (4, 24), 1, at=at)
        takes_part = np.ones((4, 24))
        yield case("adversarial_inf_nan", x, scale=0.5)
        takes_part[[1, 2], [5, 7]] = 0
        yield case("adversarial_inf_nan_masked", x, explicit("u8", takes_part), scale=0.5)
        yield case("adversarial_inf_nan_minus_inf", x, explicit(dtype, np.where(takes_part == 0, -INF, 0.5)), scale=0.5)
        mask = np.zeros((5, 24))
        mask[0, 3], mask[1, 4], mask[2, :], mask[3, 1:] = NAN, INF, -INF, -INF
        x = rows.quirky(dtype, (5, 24), 2)
        for flags in (0, MASKED_ROW_ZERO):
            yield case("adversarial_mask", x, explicit("f32", mask), flags=flags)
        mask = np.where(np.arange(24) % 3 == 0, -INF, -1.0) * np.ones((5, 1))
        for slopes in ([0.0, -0.0, -0.5, 2.0, 1e-30], [INF, NAN, -INF, 0.0, 1.0]):
            yield case(f"adversarial_slopes_{slopes[3]:g}", x, explicit("f32", mask), explicit("f32", slopes))
        yield case("adversarial_sinks", x, None, None, explicit("f32", [INF, -INF, NAN, 20.0, -60.0]))
        yield case("adversarial_far_sink", explicit(dtype, np.zeros((3, 8)) - [[90.0], [98.0], [300.0]]), None, None,
                   explicit("f32", [0.0, 0.0, 0.0]))
        yield case("adversarial_zeros", explicit(dtype, [[0.0, -0.0] * 9, [-0.0] * 18]), explicit(dtype, np.full((2, 18), -0.0)), scale=-1.0)
        yield case("adversarial_scale_0", x, scale=0.0)
        yield case("adversarial_large", rows.quirky(dtype, (3, 40), 3, 30.0), mask_of("f32", (3, 40)), scale=2.0)
        yield case("adversarial_booleans", x, explicit("u8", np.arange(5 * 24).reshape(5, 24) * 37 % 256 // 32 * 32))


def layouts():
    for dtype in DTYPES:
        for kind in dict.fromkeys(("f32", "u8", dtype)):
            for dims in ((0,), (0, 1), (0, 1, 2), (2,)):
                yield case("layout_broadcast_" + "".join(map(str, dims)), x_of(dtype, SHAPE), mask_of(kind, SHAPE, dims),
                           for_heads(SLOPES, SHAPE), scale=0.5)
            yield case("layout_misaligned_mask", x_of(dtype, (2, 64)), mask_of(kind, (2, 64), offset=1))
            yield case("layout_padded_mask", x_of(dtype, (3, 64)), mask_of(kind, (3, 64), stride=(67, 1), offset=3))
            yield case("layout_step_2_mask", x_of(dtype, (3, 64)), mask_of(kind, (3, 64), stride=(-140, 2)))
            yield case("layout_odd", x_of(dtype, (3, 75), offset=1), mask_of(kind, (3, 75), offset=2), y={"offset": 3})
            yield case("layout_one_for_all_columns", x_of(dtype, (3, 48)), mask_of(kind, (3, 48), (1,)))
        yield case("layout_transposed", x_of(dtype, (5, 33), stride=(1, 5)), mask_of("f32", (5, 33), stride=(1, 5)), y={"stride": (1, 5)})
        yield case("layout_heads_inside", x_of(dtype, (2, 3, 2, 8), **{"stride": (48, 8, 24, 1)}), mask_of("u8", (2, 3, 2, 8), (0, 1)),
                   for_heads(SLOPES, (2, 3, 2, 8)), for_heads(SINKS, (2, 3, 2, 8)))
        yield case("layout_in_place", x_of(dtype, (3, 64)), mask_of(dtype, (3, 64)), in_place=True)
        yield case("layout_scalars", x_of(dtype, (2, 3, 32)), mask_of("f32", (2, 3, 32), (1,)),
                   explicit("f32", [[1.0, 0.5, 0.25], [2.0, 0.0, 1.5]], stride=(-7, 2), offset=1),
                   explicit("f32", [[[1.0], [0.5], [-4.0]], [[2.0], [0.0], [3.0]]], stride=(1, 2, 9)))


def sizes():
    for turn, columns in enumerate((1, 2, 7, 8, 31, 33, 64, 129, 255, 1000, 1024, 2048, 4097, 8192, 8200)):
        dtype = DTYPES[turn % 3]
        kind = ("u8", "f32", dtype)[turn // 3 % 3]
        mask = index("u8", (2, columns), 3) if kind == "u8" else bell(kind, (2, columns))
        yield case(f"size_2x{columns}", x_of(dtype, (2, columns)), mask, explicit("f32", [0.5, 0.25]), explicit("f32", [2.0, -1.0]))
    for shape in ((0, 64), (37, 0), (37, 5), (150, 8)):
        yield case("size_" + rows.name_of(shape), x_of("bf16", shape), bell("f32", shape) if 0 not in shape else None)
    for dtype in DTYPES:
        length = 4 if dtype == "f32" else 8
        for vectors, kind in ((64, "f32"), (600, "u8"), (1100, dtype), (2052, "f32")):
            for odd in (0, 1):
                shape = (1, vectors * length - odd)
                mask = index("u8", shape, 3, offset=odd) if kind == "u8" else bell(kind, shape, offset=odd)
                yield case(f"odd_end_{vectors}" if odd else f"whole_vectors_{vectors}", x_of(dtype, shape, offset=odd), mask)
        shape = (1, 16400 * length)  # longer than a cluster holds
        yield case("odd_start_16400", x_of(dtype, shape, offset=1), index("u8", shape, 3, offset=1))
        yield case("every_second_2100", x_of(dtype, (1, 2100), stride=(4200, 2)), bell("f32", (1, 2100)), None, explicit("f32", [3.0]))


TOPICS = {"smoke": smoke, "exact": exact, "adversarial": adversarial, "layouts": layouts, "sizes": sizes}
