"""y[.., i, ..] = x[.., 0, ..] + .. + x[.., i, ..] along dim."""

import itertools
import math

import numpy as np

import dtypes
from extended import Real
from golden import Case, Expected, View, bell, bits, constant, explicit, index
from ops import rows
from ops.rows import ULPS, at, by, name_of

FLOATS = rows.DTYPES
INTEGERS = ("u8", "i32", "u32", "i64")
DTYPES = FLOATS + INTEGERS
NAN, INF = math.nan, math.inf


def scale_of(dtype, terms, ulps):
    """The scale that allows an error of 2^-20 (f64: 2^-49) of the magnitude `terms`. docs/ops/cumsum.md names this bound."""
    power = dtypes.FLOATS[dtype].mantissa - (49 if dtype == "f64" else 20)
    return np.ldexp(terms, power) / ulps


class Params(dict):
    """A case's params, with the dtypes for the references."""

    def __init__(self, params, x, y):
        super().__init__(params)
        self.x, self.y = x, y


def reference(params, inputs):
    """Integers: the low bits of the sum. Floats: the sums of longdouble have 11 bits more than float64, and its range."""
    x, dim = inputs["x"], params["dim"]
    if params.x in INTEGERS:
        return {"y": Expected(np.cumsum(x.astype(np.int64), axis=dim, dtype=np.int64).astype(dtypes.INTEGERS[params.y]))}
    with np.errstate(all="ignore"):
        values = np.cumsum(x.astype(Real), axis=dim).astype(np.float64) + 0.0
        terms = np.cumsum(np.abs(x).astype(Real), axis=dim).astype(np.float64)
    terms = np.where(np.isfinite(values) & np.isfinite(terms), terms, 0.0)
    return {"y": Expected(values, terms, terms * (1 + x.shape[dim] / 512))}  # PyTorch adds one after another


class CumsumCase(Case):
    """The reference knows no tolerances, so the case turns the magnitudes into a scale."""

    def to_json(self, expected, torch_ulps):
        y = expected["y"]
        if self.ulps == 0:
            return super().to_json({"y": Expected(dtypes.round_to(y.values, self.outputs["y"].dtype))}, torch_ulps)
        return super().to_json({"y": Expected(y.values, scale_of(self.dtype, y.scale, self.ulps))}, torch_ulps)


def torch_reference(torch, params, inputs):
    x = inputs["x"]
    if params.x in FLOATS:
        return {"y": torch.cumsum(x, params["dim"])}
    y = torch.cumsum(x.to(torch.int64) & (0xffffffff if params.x == "u32" else -1), params["dim"])
    return {"y": y.to({"u8": torch.uint8, "i64": torch.int64}.get(params.y, torch.int32))}


def case(name, x, dim, workspace=1, y_dtype=None, y=None, in_place=False, ulps=None):
    y_dtype = y_dtype or x.dtype
    suffix = f"_dim_{dim}_{x.dtype}" + ("" if y_dtype == x.dtype else f"_{y_dtype}")
    suffix += ("" if workspace else "_no_workspace") + ("_in_place" if in_place else "")
    view = View(y_dtype, x.shape, **(y or {}))
    if in_place:
        view.stride, view.offset = x.stride, x.offset
    ulps = 0 if x.dtype in INTEGERS else ULPS[x.dtype] if ulps is None else ulps
    return CumsumCase("cumsum", name + suffix, x.dtype, {"x": x}, {"y": view}, ulps, Params({"dim": dim, "workspace": workspace}, x.dtype, y_dtype),
                      ("y", "x") if in_place else None)


def data(dtype, shape, **layout):
    return bits(dtype, shape, **layout) if dtype in INTEGERS else bell(dtype, shape, 1.5, 0.25, **layout)


def columns(x):
    """The same lines, one element apart from each other in memory. The layout of y is the same."""
    return dict(stride=(1, x.shape[0]))


def widened(dtype, turn):
    return "i64" if dtype in INTEGERS and turn % 2 else dtype


# ---- smoke: every dimension of small shapes

def smoke():
    turn = 0
    for shape in ((7,), (5, 12), (3, 4, 10), (2, 3, 4, 5), (1, 1), (2, 3, 2, 1, 2, 3, 2, 4)):
        for dim in range(len(shape)):
            for dtype in DTYPES if len(shape) < 3 else (DTYPES[turn % 8], DTYPES[(turn + 3) % 8]):
                turn += 1
                yield case(f"smoke_{name_of(shape)}", data(dtype, shape), dim, turn % 2, widened(dtype, turn // 2))


# ---- exact

def exact():
    """Whole numbers whose sums are exact in f32, and in the dtype."""
    for dtype in FLOATS:
        for length in (1, 9, 64, 300, 1100):
            x = np.where(np.arange(length) % 3 == 0, 2.0, -1.0) * np.array([[1.0], [3.0], [-5.0]])
            yield case(f"exact_small_{length}", explicit(dtype, x), 1, ulps=0)
            yield case(f"exact_small_columns_{length}", explicit(dtype, x, **columns(x)), 1, y=columns(x), ulps=0)
        yield case("exact_ones", constant(dtype, (2, 250), 1.0), 1, ulps=0)
        # f16 ends at 65504, bf16 has 8 digits: sums are in f32.
        yield case("exact_rounded", constant(dtype, (3, 4000), 1.0), 1, ulps=0)
        yield case("exact_rounded_columns", constant(dtype, (3, 4000), 1.0, stride=(1, 3)), 1, y=by(1, 3), ulps=0)
        yield case("exact_zeros", explicit(dtype, [[-0.0] * 20, [0.0, -0.0] * 10]), 1, ulps=0)
        yield case("exact_zeros", explicit(dtype, [[-0.0] * 20, [0.0, -0.0] * 10]), 0, ulps=0)
        yield case("exact_back_to_zero", explicit(dtype, [[1.5, -1.5, 2.0, -2.0] * 9]), 1, ulps=0)
    for dtype in INTEGERS:
        low, high = (np.iinfo(dtypes.INTEGERS[dtype]).min, np.iinfo(dtypes.INTEGERS[dtype]).max)
        for values in ([high] * 40, [low] * 40, [low, high] * 20, [1] * 400):
            x = explicit(dtype, np.array([values] * 3, dtype=dtypes.INTEGERS[dtype]))
            for y_dtype in dict.fromkeys((dtype, "i64")):
                name = f"exact_{len(values)}_of_{'low' if values[0] == low else 'high' if values[0] == high else 'one'}"
                name += "_and_high" if len(set(values)) > 1 else ""
                yield case(name, x, 1, y_dtype=y_dtype)
                yield case(name, x, 0, y_dtype=y_dtype)
        yield case("exact_mask", index(dtype, (3, 5000), 2), 1, y_dtype="i64")


# ---- adversarial

def adversarial():
    for dtype in FLOATS:
        least = math.ldexp(1.0, {"f32": -149, "f16": -24, "bf16": -133, "f64": -1074}[dtype])
        special = rows.quirky(dtype, (6, 24), 1, at=[(0, 5, INF), (1, 0, INF), (1, 23, -INF), (2, 7, NAN), (3, 1, -INF),
                                                      (4, 2, NAN), (4, 3, INF)])
        yield case("adversarial_special", special, 1)
        yield case("adversarial_special", special, 0)
        yield case("adversarial_denormals", explicit(dtype, least * (np.arange(60).reshape(3, 20) - 31.0)), 1)
        # Terms that cancel.
        half = bell(dtype, (3, 150), 100.0, seed=2).array()
        x = np.concatenate((half, -half[:, 1:], [[1.0]] * 3), axis=1)
        yield case("adversarial_cancel", explicit(dtype, x), 1)
        yield case("adversarial_cancel", explicit(dtype, x.T.copy()), 0)
        # One element is most of the sum, and the others together are not lost.
        x = np.full((1, 2500), 2.0**-13)
        x[:, 77] = 1.0
        yield case("adversarial_one_large", explicit(dtype, x), 1)
        yield case("adversarial_one_large_columns", explicit(dtype, x, **columns(x)), 1, y=columns(x))
        yield case("adversarial_thirds", constant(dtype, (2, 30000), 1 / 3), 1)
        yield case("adversarial_thirds_columns", constant(dtype, (2, 30000), 1 / 3, stride=(1, 2)), 1, y=by(1, 2))
        for shape, dim in (((3, 0), 1), ((0, 5), 0), ((0, 5), 1)):
            yield case(f"adversarial_no_elements_{name_of(shape)}", explicit(dtype, np.zeros(shape)), dim)
    yield case("adversarial_overflow", explicit("f16", [[60000.0, 60000.0, -60000.0, 1.0]]), 1)


# ---- layouts

LAYOUTS = [
    ("padded", (5, 24), by(40, 1), by(32, 1)),
    ("padded_by_one", (5, 33), by(34, 1), {}),
    ("transposed", (6, 40), by(1, 6), {}),
    ("y_transposed", (6, 40), {}, by(1, 6)),
    ("both_transposed", (40, 64), by(1, 40), by(1, 40)),
    ("step_2", (3, 34), by(68, 2), by(68, 2)),
    ("negative_columns", (3, 40), by(40, -1), by(40, -1)),
    ("negative_rows", (3, 40), by(-40, 1), by(-40, 1)),
    ("expanded_rows", (4, 32), by(0, 1), {}),
    ("expanded_columns", (4, 32), by(1, 0), {}),
    ("misaligned", (4, 64), at(1), at(1)),
    ("misaligned_apart", (4, 64), at(1), at(2)),
    ("misaligned_x", (3, 1000), at(3), {}),
    ("misaligned_y", (3, 1001), {}, at(1)),
    ("long_odd", (3, 2049), {}, {}),
    ("long_padded", (3, 5000), by(5003, 1), by(5001, 1)),
    ("long_transposed", (8, 1500), by(1, 8), by(1, 8)),
    ("long_step_2", (2, 3000), by(6000, 2), {}),
]
CUBES = [
    ("contiguous", (3, 20, 32), {}, {}),
    ("permuted", (3, 20, 32), by(20, 1, 60), {}),
    ("both_permuted", (3, 20, 32), by(20, 1, 60), by(20, 1, 60)),
    ("slice", (9, 4, 16), by(192, 16, 1, offset=64), {}),
    ("expanded", (3, 2, 32), by(32, 0, 1), {}),
    ("long_middle", (2, 24, 700), by(16800, 1, 24), by(16800, 1, 24)),
]


def layouts():
    turn = 0
    for name, shape, x, y in LAYOUTS + CUBES:
        for dim in range(len(shape)):
            for dtype in ("f32", DTYPES[1 + turn % 7]):
                turn += 1
                tensor = data(dtype, shape, **x)
                if 0 in (tensor.stride or ()):
                    stepped = tuple(1 if step == 0 else extent for extent, step in zip(shape, tensor.stride))
                    tensor = explicit(dtype, np.broadcast_to(data(dtype, stepped, seed=turn).array(), shape), **x)
                yield case(f"layout_{name}", tensor, dim, turn // 2 % 2, widened(dtype, turn // 4), y)
        if x == y and "expanded" not in name:
            yield case(f"layout_{name}", data(DTYPES[turn % 8], shape, **x), turn % len(shape), in_place=True)
    yield case("layout_rank8", data("f32", (2, 1, 2, 1, 2, 1, 2, 16), **by(160, 7, 320, 0, 16, -3, 32, 1)), 2)


# ---- sizes

LENGTHS = [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 513, 1023, 1025, 2047, 2048, 2049,
           4095, 4097, 8191, 8192, 8193, 16384, 16391]
LONG = [32768, 65535, 65537, 131072, 200003]


def sizes():
    turn = 0
    for length in LENGTHS + LONG:
        turn += 1
        for dtype in (DTYPES[turn % 8], DTYPES[(turn + 1 + turn // 8 % 7) % 8]):
            count = 5 if length < 1000 else 2
            yield case(f"size_{count}x{length}", data(dtype, (count, length)), 1, turn % 2, widened(dtype, turn // 2))
            yield case(f"size_columns_{count}x{length}", data(dtype, (count, length), stride=(1, count)), 1, turn // 2 % 2,
                       widened(dtype, turn // 4), by(1, count))
    for dtype, workspace in itertools.product(DTYPES, (0, 1)):
        yield case("size_3x40000", data(dtype, (3, 40000)), 1, workspace)
        yield case("size_3x39999", data(dtype, (3, 39999)), 1, workspace)
        yield case("size_columns_16x5000", data(dtype, (16, 5000), stride=(1, 16)), 1, workspace, y=by(1, 16))
        yield case("size_columns_5x3000", data(dtype, (5, 3000), stride=(1, 5)), 1, workspace, y=by(1, 5))
        yield case("size_columns_2x48x700", data(dtype, (2, 48, 700), stride=(33600, 1, 48)), 2, workspace, y=by(33600, 1, 48))
        yield case("size_300x260", data(dtype, (300, 260)), 0, workspace)
        yield case("size_70x256", data(dtype, (70, 256)), 1, workspace)
        yield case("size_40x1024", data(dtype, (40, 1024)), 1, workspace)
        yield case("size_900x3", data(dtype, (900, 3)), 1, workspace)


TOPICS = {"smoke": smoke, "exact": exact, "adversarial": adversarial, "layouts": layouts, "sizes": sizes}
