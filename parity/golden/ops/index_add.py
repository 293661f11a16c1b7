"""y[.., index[j], ..] += x[.., j, ..], the 1-D index being along dim, in place in y.

The op defines the order of the sums (sums.py): in f32, or f64 for f64, and the sum is rounded once. The reference makes
the same roundings, and every answer is exact.
"""

import math

import numpy as np

import dtypes
import golden
from golden import Case, Expected, Tensor, constant, explicit, report
from ops import sums, takes
from ops.takes import at, by, data, indices, name_of

DTYPES = ("f32", "f16", "bf16", "f64", "u8", "i32", "u32", "i64")
INDEX_DTYPES = takes.INDEX_DTYPES
MANY = 300  # indices that are sorted with a workspace. Up to 256 are not sorted
LONG = 2600  # indices that give one row a segment for several blocks
LONG_AT_HAND = 1200  # the same, with few enough indices for a block's memory
NAN, INF = math.nan, math.inf


class Params(dict):
    """A case's params, with more attributes for the reference."""

    def __init__(self, params, dtype):
        super().__init__(params)
        self.dtype = dtype


def reference(params, inputs):
    y, x, index, dim = inputs["y"], inputs["x"], inputs["index"], params["dim"]
    valid, bad = takes.meaning(index, takes.name_of_dtype(index.dtype), y.shape[dim])
    report_after = takes.reported(inputs.get("report"), bad)
    floating = params.dtype in dtypes.FLOATS
    summed = (np.float64 if params.dtype == "f64" else np.float32) if floating else y.dtype
    total, terms = (np.moveaxis(tensor, dim, 0).astype(summed) for tensor in (y, x))
    magnitude, count = np.abs(total.astype(np.float64)), np.ones(len(total))
    with np.errstate(all="ignore"):
        sources = np.flatnonzero(valid)
        rows = index[sources].astype(np.int64)
        by_row = sources[np.argsort(rows, kind="stable")]
        for row, of_row in zip(*grouped(np.sort(rows), by_row)):
            total[row:row + 1] = sums.in_order(total[row:row + 1], terms[of_row][:, None])
            magnitude[row] += np.abs(terms[of_row].astype(np.float64)).sum(axis=0)
            count[row] += len(of_row)
    if not floating:
        return {"y": Expected(np.moveaxis(total, 0, dim)), **report_after}
    result = dtypes.round_to(np.moveaxis(total, 0, dim).astype(np.float64), params.dtype)
    with np.errstate(all="ignore"):
        lost = sums.loss(params.dtype, count).reshape([-1] + [1] * (y.ndim - 1))
        condition = magnitude * lost + dtypes.FLOATS[params.dtype].smallest * 2.0**50
    return {"y": Expected(result, condition=np.moveaxis(condition, 0, dim)), **report_after}


def grouped(keys, values):
    """The different keys of sorted keys, and the values of each."""
    distinct, begins = np.unique(keys, return_index=True)
    return distinct, np.split(values, begins[1:])


def torch_reference(torch, params, inputs):
    y, x, dim = inputs["y"], inputs["x"], params["dim"]
    index = inputs["index"].to(torch.int64)
    mark = {torch.uint8: 255, torch.int16: 32767}.get(inputs["index"].dtype, y.shape[dim])
    valid = torch.nonzero((index >= 0) & (index < y.shape[dim]) & (index != mark)).reshape(-1)
    index, x = index[valid], torch.index_select(x, dim, valid)
    wide = torch.index_add(y.to(torch.float64), dim, index, x.to(torch.float64))
    if y.is_floating_point() and wide.numel() and not float(wide.abs().max()) < 3e4:
        return None  # sums that leave a narrow type's range, and not float64's
    return {"y": torch.index_add(y, dim, index, x)}


# ---- cases

def case(name, y, x, index, dim, workspace, reports=False):
    inputs = {"x": x, "y": y, "index": index}
    if reports:
        inputs["report"] = reports if isinstance(reports, Tensor) else report()
    suffix = ("_report" if reports else "") + ("_workspace" if workspace else "")
    return Case("index_add", f"{name}_{y.dtype}_{index.dtype}{suffix}", y.dtype, inputs, {}, 0,
                Params({"dim": dim, "workspace": workspace}, y.dtype), in_out=("y", "report"), bitwise=True)


def shape_with(shape, dim, n):
    return tuple(shape[:dim]) + (n,) + tuple(shape[dim + 1:])


def simple(name, dtype, index_dtype, shape, dim, n, workspace, **rest):
    """n valid indices into y of this shape."""
    x = data(dtype, shape_with(shape, dim, n))
    return case(name, data(dtype, shape), x, indices(index_dtype, (n,), shape[dim]), dim, workspace, **rest)


# ---- smoke: each dtype with each index dtype, each rank with each dim, with few indices and with many

def smoke():
    for turn, dtype in enumerate(DTYPES):
        for k, index_dtype in enumerate(INDEX_DTYPES):
            shape = ((6, 8), (4, 3, 5), (9,), (3, 16))[(turn + k) % 4]
            dim = (turn // 2 + k) % len(shape)
            for n, workspace in ((7, 0), (7, 1), (MANY, 1))[k % 2:]:
                yield simple(f"smoke_{name_of(shape)}_dim{dim}_{n}", dtype, index_dtype, shape, dim, n, workspace)
    turn = 0
    for shape in takes.RANKS:
        for dim in range(len(shape)):
            n, workspace = ((3, 0), (MANY, 1), (MANY, 0))[turn % 3]
            yield simple(f"smoke_rank{len(shape)}_dim{dim}_{n}", DTYPES[turn % 8], INDEX_DTYPES[turn % 5], shape, dim, n,
                         workspace, reports=turn % 2 == 1)
            turn += 1
    # Each dtype in vectors of 16 bytes and by elements, without a sort and with one.
    for turn, dtype in enumerate(DTYPES):
        for columns in (48, 33):
            for n, workspace in ((9, 0), (MANY, 1)):
                yield simple(f"smoke_rows_{columns}_{n}", dtype, INDEX_DTYPES[turn % 5], (3, columns), 0, n, workspace)


# ---- exact: results that are known without arithmetic

def exact():
    """Sums whose terms are all 1, integers that wrap around, and single sources, which move bits."""
    for turn, dtype in enumerate(DTYPES):
        for n in (10, MANY, 2000):
            for workspace in (0, 1):
                y, x = constant(dtype, (5, 16), 0), constant(dtype, (n, 16), 1)
                yield case(f"exact_ones_{n}", y, x, indices(INDEX_DTYPES[turn % 5], (n,), 5), 0, workspace)
    for dtype in ("u8", "i32", "u32", "i64"):
        ends = {"u8": (255, 1, 128), "i32": (2**31 - 1, 1, -2**31), "u32": (2**32 - 1, 1, 2**31),
                "i64": (2**63 - 1, 1, -2**63)}[dtype]
        for workspace in (0, 1):
            for n in (1, 2, 3, 6):
                y = explicit(dtype, [[ends[0]] * 4, [ends[2]] * 4])
                x = explicit(dtype, [[end] * 4 for end in (ends * 2)[:n]])
                yield case(f"exact_wrap_{n}", y, x, golden.index("i32", (n,), 2), 0, workspace)
            yield simple("exact_wrap_1000", dtype, "u8", (2, 5), 0, 1000, workspace)
    for dtype in dtypes.FLOATS:
        for n in (4, MANY):
            for workspace in (0, 1):
                # Each row has at most one source: y + x, and x is a power of two, so that the sum needs no rounding.
                y = constant(dtype, (2 * n, 2), 0.25)
                x = explicit(dtype, np.exp2(np.arange(n * 2).reshape(n, 2) % 7 - 3.0))
                index = explicit("i16", (np.arange(n) * 7 % n * 2).tolist())  # 7 has no divisor in common with n
                yield case(f"exact_single_{n}", y, x, index, 0, workspace)


# ---- adversarial: sums that depend on the order, on the type of the sum, or on the moment of rounding

def adversarial():
    for dtype in dtypes.FLOATS:
        big = 2.0**(dtypes.FLOATS[dtype].mantissa + 1)  # adding 1 does not change it in the type itself
        least, largest = dtypes.FLOATS[dtype].smallest, dtypes.FLOATS[dtype].largest
        sums = {
            # In order, `big` swallows each later 1 in f32 and f64, but no earlier 1. 16-bit types are summed in f32 and
            # keep each 1.
            "swallowed": [big] + [1.0] * 9,
            "kept": [1.0] * 9 + [big],
            "cancels": [big, 1.0, -big, 1.0],
            "cancels_late": [1.0, big, 0.5, -big],
            "thirds": [1 / 3, 0.1, -0.7, 2.3],
            "denormals": [least, 3 * least, -least],
            "zeros": [-0.0, -0.0],
            "halfway": [1.0, 2.0**-(dtypes.FLOATS[dtype].mantissa + 1)],
            "overflow": [largest / 2, largest / 2, largest / 2],
            "inf": [1.0, INF, 2.0],
            "inf_minus_inf": [INF, 1.0, -INF],
            "nan": [1.0, NAN, 2.0],
        }
        if dtype == "f16":  # exceeds 65504 on its way, in f32, and returns
            sums["over_and_back"] = [largest] * 3 + [-largest] * 3
        many = ("swallowed", "kept", "cancels", "thirds", "inf", "nan", "over_and_back")
        for name, values in sums.items():
            values = dtypes.round_to(np.array(values), dtype)
            y = explicit(dtype, np.full((3, 1), -0.0 if name == "zeros" else 0.0))
            for n in (len(values), MANY)[:1 + (name in many)]:
                x = explicit(dtype, np.resize(values, n).reshape(n, 1))
                for workspace in (0, 1):
                    yield case(f"adversarial_{name}_{n}", y, x, constant("i32", (n,), 1), 0, workspace)
        # y itself is the first term.
        y = explicit(dtype, [[big], [-big], [NAN], [INF], [-0.0]])
        for n in (5, MANY):
            x = constant(dtype, (n, 1), 1)
            index = explicit("u8", [0, 1, 0, 1, 3] if n == 5 else (np.arange(n) % 4).tolist())
            for workspace in (0, 1):
                yield case(f"adversarial_y_first_{n}", y, x, index, 0, workspace)
    yield from chunks()
    # A row with more sources than fit in its block's list, so that several blocks add them. The block has its sources
    # in global memory, or in shared memory.
    for long in (LONG, LONG_AT_HAND):
        for dtype in ("f32", "f16", "bf16"):
            rows = np.where(np.arange(long) % 4 != 1, 17, np.arange(long) % 40)
            for workspace in (0, 1):
                yield case(f"adversarial_long_list_{long}", data(dtype, (40, 24)), data(dtype, (long, 24)),
                           explicit("i16", rows.tolist()), 0, workspace)
    # Three rows of 133, 129 and 128 sources among rows of 30.
    rows = np.arange(6000) * 7 % 200
    rows[rows % 20 == 0] = np.repeat((7, 8, 9), (103, 99, 98))
    for dtype, columns in (("f32", 4), ("bf16", 8)):
        yield case("adversarial_chunks_among_others_6000", data(dtype, (200, columns)), data(dtype, (6000, columns)),
                   explicit("u8", rows.tolist()), 0, 1)
    # Rows of some sources each, and one row with many: with all indices of some batches, or some indices of each batch.
    rows = np.arange(5000) * 37 % 700
    rows[np.arange(5000) // 256 % 3 == 0] = 7
    for dtype, columns in (("f32", 4), ("bf16", 8)):
        yield case("adversarial_crowded_5000", data(dtype, (700, columns)), data(dtype, (5000, columns)),
                   explicit("i32", rows.tolist()), 0, 1)
    rows = np.arange(17000) * 37 % 600
    rows[::8] = 9
    yield case("adversarial_frequent_17000", data("f32", (600, 4)), data("f32", (17000, 4)),
               explicit("i32", rows.tolist()), 0, 1)
    # More groups of chunks than a block has waves.
    yield case("adversarial_chunks_one_row_300000", data("f32", (3, 1)), data("f32", (300000, 1)),
               constant("u8", (300000,), 1), 0, 1)


def chunks():
    """Elements with more sources than a chunk has, and than a group of chunks."""
    turn = 0

    def made(name, dtype, n, index, rows=3, x=None, y=None):
        nonlocal turn
        turn += 1
        columns = 1 + turn % 4
        for workspace in (0, 1)[:1 + (n > 256)]:
            yield case(f"adversarial_chunks_{name}_{n}", y or data(dtype, (rows, columns)),
                       x or data(dtype, (n, columns)), index, 0, workspace)

    for dtype in dtypes.FLOATS:
        for n in (127, 128, 129, 256, 257, 300, 16384, 16385, 40001):
            yield from made("one_row", dtype, n, constant("u8", (n,), 1))
        for n in (129, 300, 16400):
            yield from made("equal", dtype, n, constant("i16", (n,), 2), x=constant(dtype, (n, 2), 0.1),
                            y=constant(dtype, (3, 2), 0.1))
        # The first chunk of terms of -0 is -0, each other chunk is 0.
        for n in (128, 129, 300):
            yield from made("zeros", dtype, n, constant("i64", (n,), 0), x=constant(dtype, (n, 1), -0.0),
                            y=constant(dtype, (2, 1), -0.0))
        # Row 0 has 1500 sources, row 1 has 750, row 2 has 375.
        place = np.arange(1, 3001)
        yield from made("skewed", dtype, 3000, explicit("i32", np.log2(place & -place).astype(int).tolist()), rows=12)
        for n, rows in ((5000, 23), (20000, 2), (20000, 150)):
            yield from made(f"of_{rows}", dtype, n, golden.index("i32", (n,), rows), rows=rows)
        yield simple("adversarial_chunks_along_rows_900", dtype, "u8", (2, 3), 1, 900, 0)


# ---- layouts

LAYOUTS = [  # name, y's shape, dim, x, y, index. layouts() adds the length of x and of the index in dim
    ("index_step_2", (6, 8), 0, {}, {}, by(2)),
    ("index_negative", (6, 8), 1, {}, {}, by(-1)),
    ("index_negative_step", (6, 8), 0, {}, {}, by(-2, offset=5)),
    ("index_expanded", (6, 8), 0, {}, {}, by(0)),
    ("index_misaligned", (6, 8), 1, {}, {}, at(3)),
    ("x_padded", (6, 32), 0, by(48, 1), {}, {}),
    ("x_odd_step", (6, 32), 0, by(33, 1), {}, {}),
    ("x_transposed", (6, 8), 0, "transposed", {}, {}),
    ("x_transposed_dim1", (6, 8), 1, "transposed", {}, {}),
    ("x_negative", (6, 16), 0, by(-16, 1), {}, {}),
    ("x_negative_both", (6, 8), 0, by(-8, -1), {}, {}),
    ("x_expanded_rows", (6, 32), 0, by(0, 1), {}, {}),
    ("x_expanded_columns", (6, 8), 0, by(1, 0), {}, {}),
    ("x_misaligned", (6, 32), 0, at(1), {}, {}),
    ("y_padded", (6, 32), 0, {}, by(48, 1), {}),
    ("y_odd_step", (6, 32), 0, {}, by(35, 1), {}),
    ("y_transposed", (6, 8), 0, {}, by(1, 6), {}),
    ("y_transposed_dim1", (6, 8), 1, {}, by(1, 6), {}),
    ("y_step_2", (6, 8), 0, {}, by(16, 2), {}),
    ("y_negative", (6, 8), 0, {}, by(-8, -1), {}),
    ("y_misaligned", (6, 32), 0, {}, at(1), {}),
    ("misaligned_alike", (6, 32), 0, at(3), at(3), at(1)),
    ("odd_rows", (6, 31), 0, {}, {}, {}),
    ("half_rows", (6, 28), 0, {}, {}, {}),
    ("dim_middle", (3, 4, 16), 1, {}, {}, {}),
    ("dim_middle_odd", (3, 4, 9), 1, {}, {}, {}),
    ("dim_last", (3, 4, 7), 2, {}, {}, {}),
    ("dim_last_y_permuted", (2, 5, 16), 2, {}, by(5, 1, 10), {}),
    ("y_permuted", (4, 5, 8), 1, {}, by(8, 32, 1), {}),
    ("one_row", (3, 1, 16), 1, {}, by(16, 12345, 1), {}),
    ("one_column", (9, 1), 0, {}, by(3, 99), {}),
    ("strides_of_ones", (1, 4, 1, 8), 1, "ones", by(5, 8, 3, 1), {}),
    ("rank8", (2, 1, 2, 3, 1, 2, 2, 4), 3, {}, by(96, 5, 48, 16, 1, 8, 4, 1), by(2)),
]


def x_layout(layout, shape):
    if layout == "transposed":
        return by(1, shape[0])
    return by(-999, 8, 7, 1) if layout == "ones" else layout


def layouts():
    for turn, (name, shape, dim, x_given, y, index) in enumerate(LAYOUTS):
        dtypes_of = (("f32", "bf16", "f64", "u8", "f16", "i64", "i32", "u32")[turn % 8], ("f32", "bf16")[turn % 2])
        for dtype, n, workspace in zip(dtypes_of, (9, MANY), (0, 1)):
            x_shape = shape_with(shape, dim, n)
            layout = x_layout(x_given, x_shape)
            # The file lists elements that share memory one by one, so a large tensor gets one value for all.
            is_varied = "expanded" not in name or n != MANY
            x = data(dtype, x_shape, **layout) if is_varied else constant(dtype, x_shape, 1.25, **layout)
            at_rows = indices(INDEX_DTYPES[turn % 5], (n,), shape[dim], **index)
            yield case(f"layout_{name}_{n}", data(dtype, shape, **y), x, at_rows, dim, workspace)
    # One index, or one row, may have any stride.
    for workspace in (0, 1):
        x = data("f32", (3, 1, 8), stride=(8, -7, 1))
        yield case("layout_one_index", data("f32", (3, 4, 8)), x, explicit("i64", [2], stride=(-99,)), 1, workspace)
        y, index = data("f32", (1, 8), stride=(77, 1)), constant("i64", (MANY,), 0, stride=(0,))
        yield case("layout_to_one_row", y, data("f32", (MANY, 8)), index, 0, workspace)


# ---- indices

def index_cases():
    """Each index dtype: no index, equal indices, backwards, the sentinel index, out of range. With a report and
    without."""
    turn = 0
    for index_dtype in INDEX_DTYPES:
        for n in (7, MANY):
            for workspace in (0, 1):
                turn += 1
                dtype, shape = DTYPES[turn % 8], ((9, 6), (9, 16), (5, 9))[turn % 3]
                dim = 1 if shape[0] == 5 else 0
                size, y, x = shape[dim], data(dtype, shape), data(dtype, shape_with(shape, dim, n))

                def made(name, index, reports=False):
                    return case(f"indices_{name}_{n}", y, x, index, dim, workspace, reports)
                wrong = takes.bad_values(index_dtype, size)
                if n == 7:
                    yield made("mark", takes.mixed(index_dtype, (n,), size, [takes.MARK[index_dtype]] * 3, turn), True)
                    yield made("out_of_range", takes.mixed(index_dtype, (n,), size, wrong, turn))
                    yield made("all_marks", explicit(index_dtype, [takes.MARK[index_dtype]] * n), True)
                yield made("out_of_range", takes.mixed(index_dtype, (n,), size, wrong, turn), True)
                if n == 7 or workspace:
                    wrong = [takes.MARK[index_dtype], size, wrong[-1]]
                    yield made("mixed", takes.mixed(index_dtype, (n,), size, wrong, turn), report(7, 6))
                    yield made("backwards", explicit(index_dtype, [(n - j) % size for j in range(n)]))
                yield made("none_right", constant(index_dtype, (n,), size), True)
                yield made("same", constant(index_dtype, (n,), size - 1))
    for workspace in (0, 1):
        for dtype in ("f32", "u8"):
            x, none = (Tensor(kind, shape, values=np.zeros(shape)) for kind, shape in ((dtype, (0, 4)), ("i32", (0,))))
            yield case("indices_empty", data(dtype, (6, 4)), x, none, 0, workspace, True)
        # y has no rows. The op reports the indices, and adds nothing.
        for n in (5, MANY):
            y = Tensor("f32", (0, 4), values=np.zeros((0, 4)))
            index = explicit("i16", [0, 1, 32767, -1, 0] * (n // 5))
            yield case(f"indices_of_nothing_{n}", y, data("f32", (n, 4)), index, 0, workspace, True)
        # Sentinel indices that would be rows.
        for n in (3, MANY):
            index = explicit("u8", [254, 255, 0] * (n // 3))
            yield case(f"indices_long_{n}", data("f32", (300, 3)), data("f32", (n, 3)), index, 0, workspace, True)
            index = explicit("i16", [32766, 32767, 0] * (n // 3))
            yield case(f"indices_long_{n}", data("bf16", (32770,)), data("bf16", (n,)), index, 0, workspace, True)
        # Few indices, with rows that several waves share.
        for k, (dtype, columns) in enumerate((("f32", 300), ("bf16", 99), ("u8", 1040))):
            y, index = data(dtype, (6, columns)), golden.index(("i64", "i32", "i16")[k], (40,), 8)
            yield case(f"indices_parts_{columns}", y, data(dtype, (40, columns)), index, 0, workspace, True)
        # Many indices out of range, in many waves at the same time.
        for shape, dim, n in (((100, 5), 0, 1000), ((5, 100), 1, 500), ((1000,), 0, 5000)):
            for k, index_dtype in enumerate(("i16", "i32", "u32", "i64")):
                many = golden.index(index_dtype, (n,), shape[dim] + 11)
                y, x = data(DTYPES[k], shape), data(DTYPES[k], shape_with(shape, dim, n))
                yield case(f"indices_many_{name_of(shape)}", y, x, many, dim, workspace, True)
        # All sources for one row, and for the first and the last row.
        for n in (3000, 5003):
            y, x = data("f16", (200, 8)), data("f16", (n, 8))
            yield case(f"indices_one_row_{n}", y, x, constant("i32", (n,), 100), 0, workspace)
            y, x = data("f32", (3, 1)), data("f32", (3, n))
            yield case(f"indices_only_row_{n}", y, x, constant("u8", (n,), 0), 1, workspace)


# ---- sizes

NUMBERS = [1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 513, 1023, 1024, 1025, 2047, 2048, 2049,
           4095, 4097, 10000]


def sizes():
    turn = 0
    # Numbers of indices around waves, the steps of a scan, and the ranges of the sorting blocks.
    for n in NUMBERS:
        for workspace in (0, 1):
            if n <= 256 and workspace:
                continue
            turn += 1
            yield simple(f"size_{n}_of_29", DTYPES[turn % 8], INDEX_DTYPES[turn % 5], (29, 4), 0, n, workspace)
    # Numbers of rows with one, two and three digits.
    for rows in (1, 2, 3, 255, 256, 257, 4096, 32769, 65535, 65536, 65537, 70001):
        turn += 1
        for n, workspace in ((50, 0), (700, 1)):
            index_dtype = ("i32", "u32", "i64")[turn % 3]
            yield simple(f"size_{n}_of_{rows}", DTYPES[turn % 8], index_dtype, (rows,), 0, n, workspace, reports=True)
    # More than two digits need two sorts.
    for n in (700, 3000):
        yield simple(f"size_{n}_of_1048577", "u8", "i32", (1048577,), 0, n, 1, reports=True)
    # Long segments for few rows.
    for k, dtype in enumerate(DTYPES):
        yield simple("size_1500_of_2", dtype, INDEX_DTYPES[k % 5], (2, 40), 0, 1500, 1)
    # Columns, in vectors and by elements.
    for columns in (1, 2, 3, 4, 8, 12, 16, 24, 31, 32, 33, 48, 64, 100, 127, 128, 255, 256, 257, 513, 1024, 1040):
        turn += 1
        for n, workspace in ((17, 0), (257, 1)):
            dtype = DTYPES[(turn + workspace) % 8]
            yield simple(f"size_{n}_rows_{columns}", dtype, INDEX_DTYPES[turn % 5], (4, columns), 0, n, workspace)
    for shape, dim, n in (((50, 70), 1, 333), ((7, 30, 11), 1, 450), ((3, 5, 30, 32), 2, 290), ((64, 1, 64), 1, 300),
                          ((2, 3, 1000), 2, 999), ((1, 5000), 1, 5000), ((5000, 1), 0, 5000), ((257, 257), 1, 257)):
        for workspace, kinds in ((1, DTYPES[:4]), (0, DTYPES)):
            turn += 1
            yield simple(f"size_{name_of(shape)}_dim{dim}_{n}", kinds[turn % len(kinds)], INDEX_DTYPES[1 + turn % 4], shape, dim,
                         n, workspace)
    # More than 65536 indices, with the largest ranges that a block sorts, and more ranges than a block joins in one
    # step.
    for rows, n, dtype, index_dtype in ((13, 65536, "bf16", "u8"), (1000, 65537, "f32", "i32"),
                                        (70001, 70001, "u32", "u32"), (300, 131073, "f16", "i64"),
                                        (20000, 300001, "f32", "i32"), (3000, 1050001, "u8", "i32")):
        yield simple(f"size_{n}_of_{rows}", dtype, index_dtype, (rows, 2), 0, n, 1, reports=True)
    yield simple("size_65537_of_5", "f32", "i32", (5, 2), 0, 65537, 0, reports=True)
    # Nothing.
    for y_shape, x_shape, dim in (((0, 5), (0, 5), 0), ((5, 0), (3, 0), 0), ((4, 0, 3), (4, 0, 2), 2), ((0,), (0,), 0)):
        for workspace in (0, 1):
            index = explicit("i64", [0] * x_shape[dim])
            yield case(f"size_{name_of(y_shape)}_dim{dim}", Tensor("f32", y_shape, values=np.zeros(y_shape)),
                       Tensor("f32", x_shape, values=np.zeros(x_shape)), index, dim, workspace, True)


TOPICS = {
    "smoke": smoke,
    "exact": exact,
    "adversarial": adversarial,
    "layouts": layouts,
    "indices": index_cases,
    "sizes": sizes,
}
