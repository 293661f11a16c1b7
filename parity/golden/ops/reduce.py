"""y = the reduction of x over the dimensions whose bits `dims` has."""

import itertools
import math

import numpy as np

import dtypes
import extended
from extended import Real
from golden import Case, Expected, View, bell, constant, explicit
from ops import rows
from ops.rows import DTYPES, ULPS, at, by, name_of

NAN, INF = math.nan, math.inf
SUM, MEAN, MAX, MIN, LOGSUMEXP, ARGMAX, ARGMIN = range(7)
NAMES = ("sum", "mean", "max", "min", "logsumexp", "argmax", "argmin")
POSITIONS = (ARGMAX, ARGMIN)
EXACT = (MAX, MIN, *POSITIONS)


def reduced(shape, dims):
    return [d for d in range(len(shape)) if dims >> d & 1]


def grouped(x, dims):
    """x with a row for each result."""
    axes = reduced(x.shape, dims)
    kept = [d for d in range(x.ndim) if d not in axes]
    count = math.prod(x.shape[d] for d in axes)
    return np.transpose(x, kept + axes).reshape(math.prod(x.shape[d] for d in kept), count)


def scale_of(case_dtype, y_dtype, terms, ulps):
    """The scale that allows an error of 2^-20 (f64: 2^-49) of the magnitude `terms`. docs/ops/reduce.md names this bound."""
    bits = dtypes.FLOATS[y_dtype].mantissa - (49 if case_dtype == "f64" else 20)
    return np.where(np.isfinite(terms), np.ldexp(terms, bits) / ulps, 0.0)


def total(row):
    with np.errstate(invalid="ignore"):
        return extended.total(row.astype(Real))


def log_sum_exp(row):
    greatest = row.max(initial=-INF)
    if math.isnan(greatest) or math.isinf(greatest):
        return greatest
    return Real(greatest) + np.log(total(np.exp(row.astype(Real) - Real(greatest))))


def result(reduction, row):
    """The result, and the magnitude that bounds its error."""
    if reduction in POSITIONS:  # NumPy returns the first NaN
        return (row.argmax() if reduction == ARGMAX else row.argmin()), 0.0
    if reduction in EXACT:
        return (row.max() if reduction == MAX else row.min()) + 0.0, 0.0
    if reduction == LOGSUMEXP:
        value = log_sum_exp(row)
        return value, 0.5 if math.isfinite(value) else 0.0
    count = 1 if reduction == SUM else row.size
    value = total(row) / count
    return value, np.sum(np.abs(row), dtype=Real) / count if row.size and np.isfinite(value) else 0.0


def reference(params, inputs):
    with np.errstate(all="ignore"):
        results = [result(params["reduction"], row) for row in grouped(inputs["x"], params["dims"])]
        if params["reduction"] in POSITIONS:
            return {"y": Expected(np.array([position for position, _ in results], dtype=np.int64))}
        values, magnitudes = (np.array([pair[k] for pair in results], dtype=Real).astype(np.float64) for k in (0, 1))
    return {"y": Expected(values, np.where(np.isfinite(values), magnitudes, 0.0))}


class ReduceCase(Case):
    """The reference knows no dtypes, so the case turns the magnitudes into a scale. PyTorch's float64 sum is in any order, so
    its error is in ULPs of the magnitudes."""

    def to_json(self, expected, torch_ulps):
        y = expected["y"]
        if self.ulps == 0:
            return super().to_json({"y": Expected(y.values)}, torch_ulps)
        scale = scale_of(self.dtype, self.outputs["y"].dtype, y.scale, self.ulps or 1)
        return super().to_json({"y": Expected(y.values, scale)}, torch_ulps)


def torch_reference(torch, params, inputs):
    x = inputs["x"]
    axes = reduced(x.shape, params["dims"])
    if params["reduction"] in POSITIONS:
        flat = x.permute([d for d in range(x.dim()) if d not in axes] + axes)
        flat = flat.reshape(math.prod(x.shape[d] for d in range(x.dim()) if d not in axes), -1)
        return {"y": (torch.argmax if params["reduction"] == ARGMAX else torch.argmin)(flat, dim=1)}
    if not axes:
        return {"y": x.reshape(-1)}
    function = (torch.sum, torch.mean, torch.amax, torch.amin, torch.logsumexp)[params["reduction"]]
    return {"y": function(x, dim=axes).reshape(-1)}


def case(name, x, dims, reduction=SUM, y_dtype=None, keeps=False, workspace=1, ulps=None, y=None):
    y_dtype = ("i64", "i32")[len(name) % 2] if reduction in POSITIONS else y_dtype or x.dtype
    shape = tuple(extent if not dims >> d & 1 else 1 for d, extent in enumerate(x.shape) if keeps or not dims >> d & 1)
    suffix = f"_{NAMES[reduction]}_{x.dtype}" + ("" if y_dtype == x.dtype else f"_{y_dtype}")
    suffix += ("" if workspace else "_no_workspace") + ("_kept" if keeps else "")
    params = {"reduction": reduction, "dims": dims, "workspace": workspace}
    return ReduceCase("reduce", name + suffix, x.dtype, {"x": x}, {"y": View(y_dtype, shape, **(y or {}))},
                      0 if reduction in EXACT else ULPS[x.dtype] if ulps is None else ulps, params)


def data(dtype, shape, **layout):
    return bell(dtype, shape, 1.5, 0.25, **layout)


def bits(*dims):
    return sum(1 << d for d in dims)


# ---- smoke: every set of dimensions of small shapes

def smoke():
    turn = 0
    for shape in ((), (7,), (5, 12), (3, 4, 10), (2, 3, 4, 5)):
        for dims in range(1 << len(shape)):
            turn += 1
            for dtype in DTYPES if len(shape) < 3 else (DTYPES[turn % 4],):
                yield case(f"smoke_{name_of(shape) or 'scalar'}_dims_{dims}", data(dtype, shape), dims, (turn + len(dtype)) % len(NAMES),
                           "f32" if turn % 3 == 0 and dtype != "f64" else None, turn % 2 == 0)
    for rank in (5, 6, 7, 8):
        shape = (2, 3, 2, 1, 2, 3, 2, 4)[:rank]
        for dims in (bits(0, rank - 1), bits(*range(1, rank, 2)), (1 << rank) - 1, 1 << rank - 1):
            turn += 1
            yield case(f"smoke_rank{rank}_dims_{dims}", data(DTYPES[turn % 4], shape), dims, turn % len(NAMES), keeps=turn % 2 == 0)


# ---- exact

def exact():
    """Whole numbers whose sums are exact in any order, and in f32. So is the mean of 2^k of them."""
    for dtype, (length, reach) in itertools.product(DTYPES, ((1, 8), (64, 3), (100, 2), (1024, 1))):
        values = np.round(bell("f64", (3, length), reach, seed=length).array())
        values[:, -1] -= values.sum(axis=1)  # 0: exact in f16, too
        yield case(f"exact_zero_{length}", explicit(dtype, values), 2, SUM, ulps=0)
        yield case(f"exact_zero_columns_{length}", explicit(dtype, values.T.copy()), 1, SUM, ulps=0)
        values = values + np.eye(3, length)[[0, 0, 0]]
        yield case(f"exact_one_{length}", explicit(dtype, values), 2, SUM, ulps=0)
        if length & (length - 1) == 0:
            yield case(f"exact_mean_{length}", explicit(dtype, values), 2, MEAN, ulps=0)
            yield case(f"exact_mean_columns_{length}", explicit(dtype, values.T.copy()), 1, MEAN, ulps=0)
    for dtype in DTYPES:
        yield case("exact_ones", constant(dtype, (2, 2048), 1.0), 3, SUM, ulps=0)
        yield case("exact_mean_of_ones", constant(dtype, (300, 301), 1.0), 3, MEAN, ulps=0)
        # f16 ends at 65504, and its sums do not.
        yield case("exact_mean_of_large", constant(dtype, (5, 4096), 60000.0 if dtype == "f16" else 2.0**15), 2, MEAN, ulps=0)
        yield case("exact_nothing_reduced", explicit(dtype, [[1.5, -2.0, INF], [NAN, 0.0, 3.0]]), 0, ulps=0)
        for reduction in EXACT:
            yield case("exact_nothing_reduced", explicit(dtype, [[1.5, -2.0, INF], [NAN, 0.0, 3.0]]), 0, reduction)
        # Equal elements: the first is the result, in vectors, lanes and parts.
        for reduction, length in itertools.product(POSITIONS, (7, 40, 300, 3000, 9000)):
            yield case(f"exact_ties_{length}", constant(dtype, (2, length), 3.0), 2, reduction)
            yield case(f"exact_ties_columns_{length}", constant(dtype, (length, 8), -1.0), 1, reduction)
        # One element is the whole sum.
        for reduction in (LOGSUMEXP,):
            yield case("exact_one_element", explicit(dtype, [[0.0], [-7.5], [96.0], [-INF], [INF], [NAN]]), 2, reduction, ulps=0)
            yield case("exact_one_kept", explicit(dtype, [[-INF] * 40 + [2.5], [2.5] + [-INF] * 40]), 2, reduction, ulps=0)
        yield case("exact_negative_zeros", explicit(dtype, [[-0.0] * 20, [0.0, -0.0] * 10]), 2, ulps=0)
        yield case("exact_negative_zeros", explicit(dtype, [[-0.0] * 20, [0.0, -0.0] * 10]), 1, MEAN, ulps=0)


# ---- adversarial

def adversarial():
    for dtype in DTYPES:
        least = math.ldexp(1.0, {"f32": -149, "f16": -24, "bf16": -133, "f64": -1074}[dtype])
        largest = {"f32": 3.4e38, "f16": 65504.0, "bf16": 3.3e38, "f64": 1.7e308}[dtype]
        special = rows.quirky(dtype, (6, 24), 1, at=[(0, 5, INF), (1, 0, INF), (1, 23, -INF), (2, 7, NAN), (3, 1, -INF),
                                                      (4, 2, NAN), (4, 3, INF)])
        for reduction in range(len(NAMES)):
            yield case("adversarial_special_rows", special, 2, reduction)
            yield case("adversarial_special_columns", special, 1, reduction)
            yield case("adversarial_special_all", special, 3, reduction)
            yield case("adversarial_denormals", explicit(dtype, least * (np.arange(60).reshape(3, 20) - 31.0)), 2, reduction)
        yield case("adversarial_overflow", explicit(dtype, [[largest, largest, 0.0, largest], [-largest] * 4, [1.0, 2, 3, 4]]), 2)
        # Terms that cancel.
        half = bell(dtype, (3, 150), 100.0, seed=2).array()
        x = np.concatenate((half, -half[:, 1:], [[1.0]] * 3), axis=1)
        yield case("adversarial_cancel", explicit(dtype, x), 2)
        yield case("adversarial_cancel_columns", explicit(dtype, x.T.copy()), 1)
        yield case("adversarial_huge_mean", bell(dtype, (3, 1000), 4.0 if dtype != "bf16" else 40.0, 3000.0), 2, MEAN)
        # One element is most of the sum, and the others together are not lost.
        x = np.full((2, 3000), 2.0**-13)
        x[:, 77] = 1.0
        yield case("adversarial_one_large", explicit(dtype, x), 2)
        for reduction in (MAX, MIN, LOGSUMEXP, ARGMAX, ARGMIN):
            yield case("adversarial_minus_inf", explicit(dtype, [[-INF] * 40, [-INF] * 39 + [1.0], [INF] * 40]), 2, reduction)
            yield case("adversarial_minus_inf_columns", explicit(dtype, [[-INF, -INF, INF]] * 40), 1, reduction)
            yield case("adversarial_largest", explicit(dtype, [[largest, -largest, 0.0, largest], [-largest] * 4]), 2, reduction)
            yield case("adversarial_negative_nan", explicit(dtype, [[-NAN, 1.0, INF] * 7, [1.0, 2.0, -NAN] * 7]), 2, reduction)
        for low in (-20.0, -88.0, -104.0, -745.0):
            x = np.full((2, 700), low)
            x[0, 300] = 0.0
            yield case(f"adversarial_exp_of_{-low:g}", explicit(dtype, x), 2, LOGSUMEXP)
            yield case(f"adversarial_exp_of_{-low:g}_columns", explicit(dtype, x.T.copy()), 1, LOGSUMEXP)
        yield case("adversarial_ramp", explicit(dtype, np.arange(600.0).reshape(2, 300)), 2, LOGSUMEXP)
        yield case("adversarial_around_0", bell(dtype, (20, 3), 0.1, -math.log(3)), 2, LOGSUMEXP)
        # No element, or no result.
        yield case("adversarial_no_elements", explicit(dtype, np.zeros((3, 0))), 2, LOGSUMEXP)
        yield case("adversarial_no_elements", explicit(dtype, np.zeros((3, 0))), 2)
        yield case("adversarial_no_elements", explicit(dtype, np.zeros((0, 5))), 1, MEAN)
        yield case("adversarial_no_results", explicit(dtype, np.zeros((0, 5))), 2)
    for name, position, value in (("nan", 19999, NAN), ("inf", 3, INF)):
        x = np.resize([0.0, 1.0, 0.5], (1, 20000))
        x[0, position] = value
        for reduction in (SUM, MAX, LOGSUMEXP, ARGMIN):
            yield case(f"adversarial_{name}_in_a_part", explicit("f32", x), 2, reduction)


# ---- layouts

LAYOUTS = [
    ("padded_rows", (5, 24), by(40, 1), {}),
    ("padded_by_one", (5, 33), by(34, 1), {}),
    ("transposed", (6, 40), by(1, 6), {}),
    ("step_2", (3, 34), by(68, 2), by(2)),
    ("negative_columns", (3, 40), by(40, -1), by(-1)),
    ("negative_rows", (3, 40), by(-40, 1), by(3)),
    ("expanded_rows", (4, 32), by(0, 1), {}),
    ("expanded_columns", (4, 32), by(1, 0), {}),
    ("misaligned", (4, 64), at(1), at(1)),
    ("misaligned_by_3", (4, 1000), at(3), {}),
    ("long_odd_rows", (3, 2049), {}, {}),
    ("long_padded", (3, 1000), by(1024, 1), {}),
    ("long_transposed", (8, 1500), by(1, 8), {}),
    ("long_step_2", (2, 3000), by(6000, 2), {}),
]
CUBES = [
    ("contiguous", (3, 20, 32), {}),
    ("permuted", (3, 20, 32), by(20, 1, 60)),
    ("qkv_slice", (9, 4, 16), by(192, 16, 1, offset=64)),
    ("expanded_outer", (3, 2, 32), by(32, 0, 1)),
    ("long_inner", (3, 2, 2100), {}),
    ("long_outer", (300, 2, 16), {}),
    ("long_inner_padded", (2, 3, 4100), by(3 * 4103, 4103, 1)),
]


def layouts():
    turn = 0
    for name, shape, x, y in LAYOUTS:
        for dims in (1, 2, 3):
            for dtype in ("f32", DTYPES[1 + turn % 3]):
                turn += 1
                tensor = data(dtype, shape, **x)
                if 0 in (tensor.stride or ()):
                    tensor = shared(name, tensor, x)
                yield case(f"layout_{name}_dims_{dims}", tensor, dims, turn % len(NAMES), y=y if dims != 3 else {}, workspace=turn // 2 % 2)
    for name, shape, x in CUBES:
        for dims in range(1, 8):
            turn += 1
            tensor = data(DTYPES[turn % 4], shape, **x)
            if 0 in (tensor.stride or ()):
                tensor = shared(name, tensor, x)
            y = {"stride": (1, 3)} if dims in (1, 2, 4) and min(shape) > 2 and shape[0] == 3 and dims != 1 else {}
            yield case(f"layout_{name}_dims_{dims}", tensor, dims, turn % len(NAMES), keeps=not y and turn % 2 == 0, y=y)
    yield case("layout_y_transposed", data("f32", (9, 7, 50)), 4, y=by(1, 9))
    yield case("layout_y_transposed", data("bf16", (50, 9, 8)), 1, y=by(1, 9))
    yield case("layout_rank8", data("f32", (2, 1, 2, 1, 2, 1, 2, 16), **by(160, 7, 320, 0, 16, -3, 32, 1)), bits(2, 7))


def shared(name, tensor, layout):
    """Explicit values for a view whose elements share memory."""
    stepped = tuple(1 if step == 0 else extent for extent, step in zip(tensor.shape, tensor.stride))
    part = bell(tensor.dtype, stepped, 1.5, 0.25, seed=len(name)).array()
    return explicit(tensor.dtype, np.broadcast_to(part, tensor.shape), **layout)


# ---- sizes

LENGTHS = [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 513, 1023, 1025, 2047,
           2048, 2049, 4095, 4097, 8191, 8192, 8193, 16384, 16391]
LONG = [32768, 65535, 65537, 131072, 200003]


def sizes():
    turn = 0
    for length in LENGTHS + LONG:
        turn += 1
        for dtype in (DTYPES[turn % 4], DTYPES[(turn + 1 + turn // 4 % 3) % 4]):
            count = 5 if length < 1000 else 2
            yield case(f"size_{count}x{length}", data(dtype, (count, length)), 2, turn % len(NAMES), workspace=turn % 2)
            yield case(f"size_{length}x{count}", data(dtype, (length, count)), 1, (turn + 1) % len(NAMES), workspace=turn // 2 % 2)
    # Rows in parts, for each dtype; and in parts of several dimensions.
    for dtype in DTYPES:
        for workspace, reduction in itertools.product((0, 1), (SUM, MIN, LOGSUMEXP, ARGMAX)):
            yield case("size_3x40000", data(dtype, (3, 40000)), 2, reduction, workspace=workspace)
            yield case("size_3x2x9000", data(dtype, (3, 2, 9000)), 5, reduction, workspace=workspace)
            yield case("size_700x48", data(dtype, (700, 48)), 1, reduction, workspace=workspace)
            yield case("size_5000x8", data(dtype, (5000, 8)), 1, reduction, workspace=workspace)
            yield case("size_9000x3", data(dtype, (9000, 3)), 1, reduction, workspace=workspace)
    for turn, (shape, dims) in enumerate((((1000, 3), 2), ((3, 1000), 1), ((2000, 16), 2), ((16, 2000), 1), ((257, 257), 1), ((257, 257), 2),
                                          ((64, 31, 33), 2), ((7, 300, 40), 2), ((33, 1030), 3), ((4096, 64), 1), ((100, 1000), 1))):
        for dtype in ("f32", ("bf16", "f16", "f64")[turn % 3]):
            yield case(f"size_{name_of(shape)}_dims_{dims}", data(dtype, shape), dims, turn % len(NAMES))


TOPICS = {"smoke": smoke, "exact": exact, "adversarial": adversarial, "layouts": layouts, "sizes": sizes}
