"""The references and cases of rope, rope_i and rope_thd. For pair k, with the elements a and b of a token at position
p: a' = a * cos[p, k] - b * sin[p, k],  b' = a * sin[p, k] + b * cos[p, k]. The elements past the pairs are copied."""

import dataclasses
import math

import numpy as np

import golden
from extended import Real
from golden import Case, Expected, View, bell, constant, explicit, uniform
from ops.rows import DTYPES, ULPS

NAN, INF = math.nan, math.inf


@dataclasses.dataclass(frozen=True)
class RotaryOp:
    name: str
    interleaved: bool = False    # pairs are neighbours. Otherwise their distance is half of the pairs' elements
    tokens_first: bool = False   # x is [b, t, h, d]. Otherwise [b, h, t, d]

    def order(self, b, h, t, d):
        """Values for b, h, t and d in the order of x's dimensions. It is its own inverse."""
        return (b, t, h, d) if self.tokens_first else (b, h, t, d)


# ---- the references

def members(op, r):
    """The positions of the first and the second elements of the r / 2 pairs."""
    if op.interleaved:
        return slice(0, r, 2), slice(1, r, 2)
    return slice(0, r // 2), slice(r // 2, r)


def rows_of(op, table, positions, b, t):
    """The rows of cos or sin by token, [b, t, r/2], in a shape that broadcasts to x. NaN for a position outside the
    table."""
    count = table.shape[-2]
    positions = np.broadcast_to(np.arange(t) if positions is None else positions, (b, t)).astype(np.int64)
    inside = (positions >= 0) & (positions < count)
    rows = np.full((b, t, table.shape[-1]), NAN, dtype=Real)
    batch = np.broadcast_to(np.arange(b)[:, None], (b, t))
    rows[inside] = table[positions[inside]] if table.ndim == 2 else table[batch[inside], positions[inside]]
    return np.expand_dims(rows, 2 if op.tokens_first else 1)


def reference(op, inputs):
    x = inputs["x"].astype(Real)
    b, _, t, _ = op.order(*x.shape)
    r = 2 * inputs["cos"].shape[-1]
    cos, sin = (rows_of(op, inputs[name].astype(Real), inputs.get("positions"), b, t) for name in ("cos", "sin"))
    first, second = members(op, r)
    y, scale = x.copy(), np.abs(x)
    with np.errstate(all="ignore"):
        p, q = x[..., first], x[..., second]
        y[..., first] = p * cos - q * sin
        y[..., second] = p * sin + q * cos
        scale[..., first] = np.maximum(np.abs(p * cos), np.abs(q * sin))
        scale[..., second] = np.maximum(np.abs(p * sin), np.abs(q * cos))
        least = np.where(scale > 0, 2.0**-1074, 0.0)  # products may be below float64's range
        y, scale = y.astype(np.float64), np.maximum(scale.astype(np.float64), least)
    scale[~(np.isfinite(scale) & np.isfinite(y))] = 0.0
    return {"y": Expected(y, scale)}


def torch_reference(torch, op, inputs):
    """PyTorch has no such op. This is the formula of models, in PyTorch's arithmetic."""
    x = inputs["x"]
    b, _, t, d = op.order(*x.shape)
    r = 2 * inputs["cos"].shape[-1]
    positions = inputs.get("positions")
    positions = (torch.arange(t) if positions is None else positions.long()).expand(b, t)
    tables = []
    for name in ("cos", "sin"):
        table = inputs[name].expand(b, *inputs[name].shape[-2:])
        outside = (positions < 0) | (positions >= table.shape[1])
        row = torch.full((b, 1, r // 2), NAN, dtype=table.dtype)
        table = torch.cat([table, row], dim=1)
        picked = torch.where(outside, table.shape[1] - 1, positions)[..., None].expand(b, t, r // 2)
        tables.append(table.gather(1, picked).unsqueeze(2 if op.tokens_first else 1))
    cos, sin = tables
    part = x[..., :r]
    p, q = (part[..., 0::2], part[..., 1::2]) if op.interleaved else part.chunk(2, dim=-1)
    pair = p * cos - q * sin, p * sin + q * cos
    rotated = torch.stack(pair, dim=-1).flatten(-2) if op.interleaved else torch.cat(pair, dim=-1)
    return {"y": torch.cat([rotated, x[..., r:]], dim=-1)}


# ---- the parts of a case

def case(op, name, x, cos=None, sin=None, *, batched=False, kind=None, r=None, rows=None, positions=None,
         y=None, in_place=False, ulps=None, layout=None):
    """A case from its x. Without `cos` and `sin` the tables are generated, with `rows` rows (default: x's tokens), for
    `r` elements (default: all pairs), in the dtype `kind` (default: x's)."""
    b, _, t, d = op.order(*x.shape)
    if cos is None:
        r = d // 2 * 2 if r is None else r
        shape = ((b,) if batched else ()) + (t if rows is None else rows, r // 2)
        cos, sin = (uniform(kind or x.dtype, shape, **(layout or {})) for _ in "cs")
    inputs = {"x": x, "cos": cos, "sin": sin}
    suffix = f"_{x.dtype}"
    if len(cos.shape) == 3:
        suffix += "_batched"
    if cos.dtype != x.dtype:
        suffix += f"_table_{cos.dtype}"
    if positions is not None:
        inputs["positions"] = positions
        suffix += f"_positions{len(positions.shape)}d_{positions.dtype}"
    y = View(x.dtype, x.shape, **(y or {}))
    if in_place:
        y.stride, y.offset = x.stride, x.offset
    return Case(op.name, name + suffix, x.dtype, inputs, {"y": y}, ULPS[x.dtype] if ulps is None else ulps, {},
                ("y", "x") if in_place else None)


def make_x(op, dtype, b, h, t, d, **layout):
    return bell(dtype, op.order(b, h, t, d), 1.5, 0.25, **layout)


def angles(dtype, positions, r, base=10000.0):
    """The tables that models use, [positions, r/2]."""
    frequency = base ** (-np.arange(0, r, 2, dtype=np.float64) / r)
    angle = np.asarray(positions, dtype=np.float64)[:, None] * frequency
    return explicit(dtype, np.cos(angle)), explicit(dtype, np.sin(angle))


def kinds_of(dtype):
    return tuple(dict.fromkeys((dtype, "f32")))


# ---- smoke: every dtype of x, tables and positions, on small shapes

HEAD_SIZES = (64, 80, 96, 128, 256, 2, 6)


def smoke(op):
    for turn, d in enumerate(HEAD_SIZES):
        for dtype in DTYPES[turn % 2::2]:
            x = make_x(op, dtype, 2, 2, 1 if d > 64 else 3, d)
            yield case(op, f"smoke_{d}", x, batched=turn % 2 == 1, kind=kinds_of(dtype)[-1 if turn % 3 else 0])
    for dtype in DTYPES:
        for kind in kinds_of(dtype):
            for batched in (False, True):
                yield case(op, "smoke", make_x(op, dtype, 2, 2, 3, 8), batched=batched, kind=kind)
                for turn, shape in enumerate(((3,), (2, 3))):
                    positions = golden.index(("i32", "i64")[(turn + batched) % 2], shape, 9)
                    yield case(op, "smoke", make_x(op, dtype, 2, 2, 3, 8), batched=batched, kind=kind, rows=9,
                               positions=positions)
        # The tables of models, with angles, and one token far from the start.
        x = make_x(op, dtype, 1, 2, 3, 16)
        yield case(op, "smoke_angles", x, *angles("f32", range(3), 16))
        yield case(op, "smoke_angles_far", make_x(op, dtype, 1, 2, 1, 32), *angles("f32", [131071], 32))


# ---- exact: tables of 0, +-1 and powers of two, and small integers

def exact(op):
    for dtype in DTYPES:
        for kind in kinds_of(dtype):
            for d, r in ((16, 16), (24, 16), (7, 4), (10, 0)):
                b, h, t = 2, 1, 2
                shape = op.order(b, h, t, d)
                x = explicit(dtype, (np.arange(math.prod(shape)) * 37 % 101 - 50.0).reshape(shape))
                turns = np.arange(b * t * (r // 2)).reshape(b, t, r // 2)
                cos, sin = np.array([1.0, 0.0, -1.0, 0.0])[turns % 4], np.array([0.0, 1.0, 0.0, -1.0])[turns % 4]
                name = f"exact_quarters_{r}_of_{d}"
                yield case(op, name, x, explicit(kind, cos[0]), explicit(kind, sin[0]), ulps=0)
                yield case(op, name, x, explicit(kind, cos), explicit(kind, sin), ulps=0)
            x = explicit(dtype, (np.arange(72) * 7 % 23 - 11.0).reshape(op.order(1, 3, 3, 8)))
            powers = np.ldexp(1.0, np.arange(12) % 5 - 2).reshape(3, 4)
            signs = np.where(np.arange(12) % 3 == 1, -1.0, 1.0).reshape(3, 4)
            yield case(op, "exact_powers", x, explicit(kind, powers), explicit(kind, signs * powers[::-1]), ulps=0)
        # Copied elements keep every bit: numbers with many digits past the pairs, and a table with angles of 0.
        for d, r in ((24, 8), (33, 8), (9, 0)):
            x = make_x(op, dtype, 1, 1, 2, d)
            one, zero = constant(dtype, (2, r // 2), 1.0), constant(dtype, (2, r // 2), 0.0)
            yield case(op, f"exact_identity_{r}_of_{d}", x, one, zero, ulps=0)
            yield case(op, f"exact_identity_{r}_of_{d}_in_place", x, one, zero, ulps=0, in_place=True)
        yield case(op, "exact_turn_in_place", make_x(op, dtype, 1, 1, 2, 32), constant(dtype, (2, 16), 0.0),
                   constant(dtype, (2, 16), -1.0), ulps=0, in_place=True)


# ---- adversarial

def adversarial(op):
    def quirky(dtype, shape, seed, values):
        x = bell(dtype, shape, 1.0, seed=seed).array()
        flat = x.reshape(-1)
        for i, value in enumerate(values):
            flat[(i * 29 + 3) % flat.size] = value
        return explicit(dtype, x)

    for turn, dtype in enumerate(DTYPES):
        least = math.ldexp(1.0, {"f32": -149, "f16": -24, "bf16": -133, "f64": -1074}[dtype])
        largest = {"f32": 3.4e38, "f16": 65504.0, "bf16": 3.3e38, "f64": 1.7e308}[dtype]
        shape = op.order(1, 2, 2, 16)
        yield case(op, "adversarial_inf", quirky(dtype, shape, 1, [INF, -INF, INF]), r=8)
        yield case(op, "adversarial_nan", quirky(dtype, shape, 2, [NAN, NAN, INF, NAN]), r=8)
        yield case(op, "adversarial_nan_in_place", quirky(dtype, shape, 3, [NAN, -INF]), r=8, in_place=True)
        x = make_x(op, dtype, 1, 2, 2, 16)
        table = [1, 0, INF, NAN, -INF, 0.5, 0, -1]
        yield case(op, "adversarial_table_inf_nan", x, explicit(dtype, [table, table[::-1]]),
                   explicit(dtype, [table[3:] + table[:3], [0.0] * 8]))
        yield case(op, "adversarial_inf_times_0", explicit(dtype, np.full(op.order(1, 1, 2, 8), INF)),
                   explicit(dtype, np.zeros((2, 4))), explicit(dtype, np.ones((2, 4))))
        yield case(op, "adversarial_zeros", explicit(dtype, np.zeros(shape)), r=8)
        signs = [np.resize(values, n) for values, n in (([0.0, -0.0, -0.0], 64), ([1.0, -1.0, 0.0, -0.0, 1.0], 16),
                                                        ([0.0, -0.0, 1.0, 0.0, -1.0, -0.0, 0.0], 16))]
        yield case(op, "adversarial_signs_of_zero", explicit(dtype, signs[0].reshape(shape)),
                   explicit(dtype, signs[1].reshape(2, 8)), explicit(dtype, signs[2].reshape(2, 8)))
        yield case(op, "adversarial_denormals",
                   explicit(dtype, least * (np.arange(64) * 7 % 61 - 30.0).reshape(shape)))
        tiny = explicit(dtype, least * (np.arange(16).reshape(2, 8) - 7.0)), explicit(dtype, np.full((2, 8), least))
        yield case(op, "adversarial_denormal_table", make_x(op, dtype, 1, 2, 2, 16), *tiny)
        # Results just above the largest number, and just under it.
        x = explicit(dtype, largest * np.where(np.arange(64) % 3, 1.0, -1.0).reshape(op.order(1, 2, 2, 16)))
        yield case(op, "adversarial_largest", x, explicit(dtype, np.full((2, 8), 0.75)),
                   explicit(dtype, np.full((2, 8), 0.625)))
        yield case(op, "adversarial_large", bell(dtype, shape, largest / 8))
        yield case(op, "adversarial_small", bell(dtype, shape, 1e-4 if dtype == "f16" else 1e-14))
        # a cos - b sin with two products that are nearly equal, so that their difference is only rounding.
        a = bell(dtype, (1, 2, 2, 8), 1.0, 3.0, seed=5).array()
        near = bell(dtype, (1, 2, 2, 8), 0.01, 0.7, seed=6).array()
        x = np.empty((1, 2, 2, 16))
        first, second = members(op, 16)
        x[..., first], x[..., second] = a, a * (1.0 + 2.0**-6)
        yield case(op, "adversarial_cancels", explicit(dtype, x),
                   explicit(dtype, near[0, 0] * (1.0 + 2.0**-6)), explicit(dtype, near[0, 0]))


# ---- layouts

def at(offset):
    return {"offset": offset}


def layouts(op):
    def by(b, h, t, d, offset=0):
        """Strides by dimension, in the order of x's."""
        return {"stride": op.order(b, h, t, d), "offset": offset}

    def packed(b, h, t, d, part, parts=3):
        """q, k or v of a projection [b, t, parts, h, d]."""
        return by(t * parts * h * d, d, parts * h * d, 1, offset=part * h * d)

    b, h, t, d = 2, 2, 2, 16
    plain_x = {"bhtd": by(h * t * d, t * d, d, 1), "bthd": by(t * h * d, d, h * d, 1),
               "thbd": by(d, b * d, h * b * d, 1), "dthb": by(1, b, b * h, b * h * t),
               "padded": by(h * t * 24, t * 24, 24, 1), "padded_by_one": by(h * t * 17, t * 17, 17, 1),
               "every_other": by(h * t * 2 * d, t * 2 * d, 2 * d, 2)}
    ways = []
    for name, layout in plain_x.items():
        ways += [(f"x_{name}", layout, {}, False, (b, h, t, d)), (f"y_{name}", {}, layout, False, (b, h, t, d)),
                 (f"in_place_{name}", layout, {}, True, (b, h, t, d))]
    ways += [("packed_k", packed(b, h, t, d, 1), {}, False, (b, h, t, d))]
    for part, name in enumerate("qk"):
        ways += [(f"packed_{name}_in_place", packed(b, h, t, d, part), {}, True, (b, h, t, d))]
    # Fewer heads of k than of q. The row of a token has 4 heads of q, 2 of k and 2 of v.
    grouped = by(5 * 8 * 64, 64, 8 * 64, 1, offset=4 * 64)
    ways += [("grouped_k", grouped, {}, False, (1, 2, 5, 64)), ("grouped_k_in_place", grouped, {}, True, (1, 2, 5, 64))]
    ways += [
        ("misaligned_x", at(1), {}, False, (1, 2, 2, 32)),
        ("misaligned_y", {}, at(1), False, (1, 2, 2, 32)),
        ("misaligned_both", at(3), at(3), False, (1, 2, 2, 32)),
        ("misaligned_in_place", at(1), {}, True, (1, 2, 2, 32)),
        ("negative_tokens", by(h * t * d, t * d, -d, 1), {}, False, (b, h, t, d)),
        ("negative_heads_in_place", by(h * t * d, -t * d, d, 1), {}, True, (b, h, t, d)),
        ("negative_elements", by(h * t * d, t * d, d, -1), {}, False, (b, h, t, d)),
        ("negative_y", {}, by(-h * t * d, -t * d, -d, -1), False, (b, h, t, d)),
        ("strides_of_ones", by(-7, 999, 32, 1), by(5, 0, 32, 1), False, (1, 1, 3, 32)),
        ("partial_padded", by(h * t * 56, t * 56, 56, 1), {}, False, (b, h, t, 48)),
        ("partial_in_place", by(h * t * 56, t * 56, 56, 1), {}, True, (b, h, t, 48)),
        ("partial_odd_in_place", by(h * t * 40, t * 40, 40, 1), {}, True, (b, h, t, 35)),
        ("partial_every_other", by(h * t * 70, t * 70, 70, 2), {}, False, (b, h, t, 35)),
    ]
    for turn, (name, x, y, in_place, sizes_of) in enumerate(ways):
        dtype = DTYPES[turn % 4]
        r = 32 if name.startswith("partial") else None
        yield case(op, f"layout_{name}", make_x(op, dtype, *sizes_of, **x), r=r,
                   batched=turn % 3 == 0, kind=kinds_of(dtype)[-1 if turn % 4 == 1 else 0], y=y, in_place=in_place)

    # One head for all, as multi-query attention expands k.
    for dtype in ("f32", "bf16"):
        part = bell(dtype, op.order(2, 1, 3, 16), seed=golden.seed_of(op.name, "expanded", dtype)).array()
        x = explicit(dtype, np.broadcast_to(part, op.order(2, 4, 3, 16)), stride=op.order(48, 0, 16, 1))
        yield case(op, "layout_x_expanded_heads", x)
        # Tables that are parts of wider rows, or of rows with each angle twice. Transposed, misaligned and reversed
        # tables.
        tables = {"doubled": {"stride": (32, 1)}, "padded": {"stride": (24, 1)}, "padded_by_one": {"stride": (17, 1)},
                  "transposed": {"stride": (1, 3)}, "every_other": {"stride": (32, 2)}, "misaligned": at(1),
                  "reversed": {"stride": (-16, 1)}, "mirrored": {"stride": (16, -1)}}
        for turn, (name, layout) in enumerate(tables.items()):
            for kind in kinds_of(dtype)[turn % 2:] or (dtype,):
                yield case(op, f"layout_table_{name}", make_x(op, dtype, 1, 1, 3, 32), kind=kind, layout=layout)
        for kind in kinds_of(dtype):
            yield case(op, "layout_table_batch_inside", make_x(op, dtype, 2, 1, 3, 32), kind=kind, batched=True,
                       layout={"stride": (16, 32, 1)})
            yield case(op, "layout_table_batch_by_one", make_x(op, dtype, 2, 1, 3, 32), kind=kind, batched=True,
                       layout={"stride": (49, 16, 1)})
            cos, sin = uniform(kind, (3, 16), stride=(16, 1)), uniform(kind, (3, 16), stride=(1, 3))
            yield case(op, "layout_table_cos_and_sin_apart", make_x(op, dtype, 1, 1, 3, 32), cos, sin)
            row = np.broadcast_to(uniform(kind, (1, 16), seed=11).array(), (3, 16))
            yield case(op, "layout_table_one_row", make_x(op, dtype, 1, 2, 3, 32), explicit(kind, row, stride=(0, 1)),
                       explicit(kind, row[:, ::-1], stride=(0, 1)))
    for name, layout in {"every_other": {"stride": (2,)}, "reversed": {"stride": (-1,)}, "offset": at(3)}.items():
        for kind in ("i32", "i64"):
            yield case(op, f"layout_positions_{name}", make_x(op, "f32", 2, 1, 4, 8), rows=7,
                       positions=golden.index(kind, (4,), 7, **layout))
    for name, stride in {"transposed": (1, 2), "padded": (9, 1), "reversed": (-4, -1)}.items():
        for kind in ("i32", "i64"):
            yield case(op, f"layout_positions_{name}", make_x(op, "bf16", 2, 1, 4, 8), rows=7,
                       positions=golden.index(kind, (2, 4), 7, stride=stride))
    yield case(op, "layout_positions_equal", make_x(op, "f16", 2, 2, 4, 8), rows=7,
               positions=explicit("i64", np.full((2, 4), 5), stride=(0, 0)))


# ---- sizes

def sizes(op):
    def name_of(*sizes):
        return "size_" + "x".join(str(size) for size in sizes)

    empty = [(0, 2, 3, 8), (2, 0, 3, 8), (2, 2, 0, 8), (2, 2, 3, 0)]
    shapes = [(1, 1, 1, 1), (1, 1, 1, 2), (1, 1, 1, 3), (2, 1, 1, 16), (1, 2, 3, 5), (1, 1, 7, 30), (3, 3, 3, 6),
              (1, 4, 3, 14), (1, 5, 5, 18), (1, 6, 2, 34), (1, 7, 1, 62), (1, 9, 3, 66), (1, 1, 65, 8), (1, 1, 129, 2),
              (2, 33, 2, 32), (1, 32, 1, 128), (4, 8, 1, 64), (1, 3, 17, 72), (2, 5, 9, 130), (1, 2, 7, 256),
              (1, 1, 3, 1000), (1, 2, 2, 4098)]
    for turn, shape in enumerate(empty + shapes):
        kinds = ("f32", "bf16", ("f16", "f64")[turn % 2])
        for dtype in kinds[turn % 3:][:1 if math.prod(shape[:3]) > 20 else 2]:  # a checksum for each row makes the file large
            yield case(op, name_of(*shape), make_x(op, dtype, *shape), batched=turn % 3 == 1,
                       kind=kinds_of(dtype)[-1 if turn % 4 == 2 else 0])
    # The widths of vectors: pairs in the whole row, in all but the last pair, and with a rest that is copied.
    rows = ((8, 8), (16, 16), (32, 16), (64, 48), (34, 32), (40, 16), (33, 16), (48, 40), (20, 16), (128, 2))
    for turn, (d, r) in enumerate(rows):
        for dtype in DTYPES[turn % 2::2]:
            yield case(op, f"{name_of(1, 3, 2, d)}_rotated_{r}", make_x(op, dtype, 1, 3, 2, d), r=r)
    # Enough work for four heads a work-item, with a number of heads that is a multiple of four or not.
    for dtype in DTYPES:
        d = {"f32": 16384, "f16": 32768, "bf16": 32768, "f64": 8192}[dtype]
        yield case(op, name_of(1, 8, 4, d), make_x(op, dtype, 1, 8, 4, d), kind=kinds_of(dtype)[-1])
        yield case(op, name_of(1, 8, 4, 4098), make_x(op, dtype, 1, 8, 4, 4098), kind=kinds_of(dtype)[-1])
        yield case(op, f"{name_of(2, 5, 2, d)}_rotated_half", make_x(op, dtype, 2, 5, 2, d), r=d // 2, batched=True)
        yield case(op, f"{name_of(2, 7, 2, 4197)}_rotated_2000", make_x(op, dtype, 2, 7, 2, 4197), r=2000, batched=True)
    yield case(op, name_of(1, 1, 2, 65538), make_x(op, "f32", 1, 1, 2, 65538))


# ---- indices: positions

def indices(op):
    for dtype in DTYPES:
        def at_positions(name, shape, kind, positions, dtype=dtype, **rest):
            return case(op, f"indices_{name}", make_x(op, dtype, *shape), positions=explicit(kind, positions), **rest)

        for kind in ("i32", "i64"):
            # Decoding: one token, far into the table. Then a batch of tokens, each at its own position.
            yield at_positions("decode", (1, 2, 1, 32), kind, [4095], rows=4096)
            yield at_positions("decode", (4, 1, 1, 16), kind, [[511], [0], [17], [256]], rows=512)
            repeated = [2, 0, 2, 2, 1]
            yield at_positions("repeated", (1, 2, 5, 8), kind, repeated, rows=3)
            yield at_positions("repeated", (2, 1, 5, 8), kind, [repeated, [1] * 5], rows=3, batched=True)
            ends = np.iinfo(kind.replace("i", "int"))
            outside = [-1, 7, 8, 6, ends.max, ends.min, 0]
            yield at_positions("outside", (1, 1, 7, 12), kind, outside, rows=7, r=8)
            yield at_positions("outside_in_place", (1, 1, 7, 12), kind, outside, rows=7, r=8, in_place=True)
            yield at_positions("outside", (2, 1, 4, 8), kind, [outside[:4], outside[3:]], rows=7, batched=True)
            yield at_positions("no_rows", (1, 2, 3, 10), kind, [0, 1, -1], rows=0, r=8)
        yield at_positions("beyond_32_bits", (1, 1, 4, 16), "i64", [2**32, 2**32 + 3, 5, -2**32 + 1], rows=7)
        yield at_positions("prefill_at_100", (1, 2, 3, 16), "i32", [100, 101, 102], rows=128)
        # More rows than tokens. Without positions the first rows are used.
        yield case(op, "indices_long_table", make_x(op, dtype, 1, 2, 3, 16), rows=50)
    none = explicit("i64", np.zeros((2, 0), dtype=np.int64))
    yield case(op, "indices_no_tokens", make_x(op, "f32", 2, 2, 0, 16), rows=5, positions=none)
    for dtype, kind, shape in (("bf16", "i64", (2, 60)), ("f32", "i32", (60,))):
        yield case(op, "indices_many", make_x(op, dtype, 2, 1, 60, 16), rows=1000,
                   positions=golden.index(kind, shape, 1000))


def topics(op):
    every = (smoke, exact, adversarial, layouts, sizes, indices)
    return {topic.__name__: lambda topic=topic: topic(op) for topic in every}
