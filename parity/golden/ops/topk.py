"""The k greatest or least elements of each row, and their columns. Equal elements are in the order of columns."""

import itertools
import math

import numpy as np

from golden import Case, Expected, View, bell, constant, explicit
from ops.rows import at, by, name_of

DTYPES = ("f32", "f16", "bf16")
INDICES = ("i64", "i32", "u32")
SMALLEST, SORTED, WINDOW = 256, 512, 1024
NAN, INF = math.nan, math.inf


def order_of(row, smallest):
    """The places of a row's elements from the first selected to the last. NaN is greater than all numbers."""
    keys = np.where(np.isnan(row), INF, row if smallest else -row)
    kinds = np.isnan(row) if smallest else ~np.isnan(row)
    return np.lexsort((np.arange(row.size), keys, kinds))


def windows(inputs, rows, columns):
    begin = inputs["row_begin"].reshape(-1) if "row_begin" in inputs else np.zeros(rows, dtype=np.int64)
    begin = np.clip(begin.astype(np.int64), 0, columns)
    length = inputs["lengths"].reshape(-1).astype(np.int64) if "lengths" in inputs else np.full(rows, columns)
    return zip(begin, begin + np.clip(length, 0, columns - begin))


def reference(params, inputs):
    x, k, flags = inputs["x"], params["k"], params["flags"]
    columns = x.shape[-1]
    x = x.reshape(math.prod(x.shape[:-1]), columns)
    values = np.full((x.shape[0], k), INF if flags & SMALLEST else -INF)
    indices = np.full((x.shape[0], k), -1, dtype=np.int64)
    for row, (begin, end) in enumerate(windows(inputs, x.shape[0], columns)):
        found = begin + order_of(x[row, begin:end], flags & SMALLEST)[:k]
        if not flags & SORTED:
            found = np.sort(found)
        values[row, :found.size] = x[row, found]
        indices[row, :found.size] = found - (begin if flags & WINDOW else 0)
    if params.index == "u32":
        indices = indices & 0xFFFFFFFF
    shape = (*inputs["x"].shape[:-1], k)
    return {"values": Expected(values.reshape(shape)), "indices": Expected(indices.reshape(shape))}


def torch_reference(torch, params, inputs):
    """The values. PyTorch does not define which of equal elements it selects, so also of zeros."""
    x, flags = inputs["x"], params["flags"]
    has_windows = "lengths" in inputs or "row_begin" in inputs
    if has_windows or not flags & SORTED or x.numel() == 0 or bool(((x == 0) & x.signbit()).any()):
        return None
    return {"values": torch.topk(x, params["k"], largest=not flags & SMALLEST).values}


class Params(dict):
    index = "i64"


def case(name, x, k, flags=SORTED, index="i64", values=True, workspace=1, layout=None, **of_rows):
    params = Params(k=k, flags=flags, workspace=workspace)
    params.index = index
    shape = (*x.shape[:-1], k)
    outputs = {"values": View(x.dtype, shape, **(layout or {}))} if values else {}
    outputs["indices"] = View(index, shape, **(layout or {}))
    name += f"_k_{k}_{x.dtype}_{index}" + "".join("_" + argument for argument in of_rows)
    name += "".join(f"_{text}" for flag, text in ((SMALLEST, "smallest"), (SORTED, "sorted"), (WINDOW, "window")) if flags & flag)
    name += ("" if values else "_no_values") + ("" if workspace else "_no_workspace")
    return Case("topk", name, x.dtype, {"x": x, **of_rows}, outputs, 0, params, bitwise=True)


def data(dtype, shape, **layout):
    return bell(dtype, shape, 1.5, 0.25, **layout)


def shuffled(count, seed=5):
    return np.random.Generator(np.random.PCG64(seed)).permutation(count)


ORDERS = (SORTED, 0, SORTED | SMALLEST, SMALLEST)


def smoke():
    turn = 0
    for dtype, flags in itertools.product(DTYPES, ORDERS):
        for shape, k in (((4, 12), 3), ((7,), 7), ((2, 3, 33), 5), ((3, 300), 1)):
            turn += 1
            yield case(f"smoke_{name_of(shape)}", data(dtype, shape), k, flags, INDICES[turn % 3], turn % 4 != 0)
    for rank in (4, 5, 6, 7, 8):
        shape = (2, 3, 1, 2, 1, 2, 2, 1)[8 - rank + 1:] + (20,)
        yield case(f"smoke_rank{rank}", data(DTYPES[rank % 3], shape), rank, ORDERS[rank % 4], INDICES[rank % 3])


def exact():
    """Rows in which equal elements, or the order of elements, decide."""
    turn = 0
    for columns, ks in ((40, (1, 7, 40)), (600, (1, 50, 300, 600)), (5000, (100, 2048, 2500)), (9000, (8,))):
        x = np.arange(columns, dtype=np.float64)
        rows = {"equal": np.full(columns, 3.0), "ascending": np.minimum(x, 2040.0), "descending": np.minimum(x, 2040.0)[::-1],
                "two": np.where(shuffled(columns) % 5 == 0, 1.0, -1.0), "zeros": np.where(shuffled(columns) % 2 == 0, 0.0, -0.0),
                "shuffled": shuffled(columns) % 256 - 100.0}
        for (name, row), k in itertools.product(rows.items(), ks):
            turn += 1
            yield case(f"exact_{name}_{columns}", explicit_row(DTYPES[turn % 3], row), k, ORDERS[turn // 3 % 4], INDICES[turn % 3],
                       turn % 5 != 0, turn % 2 if k <= 2048 else 1)


def explicit_row(dtype, row):
    """A row of few numbers is in the file."""
    if np.all(row == row[0]) and np.all(np.signbit(row) == np.signbit(row[0])):
        return constant(dtype, (1, row.size), float(row[0]))
    return explicit(dtype, row.reshape(1, -1))


def adversarial():
    turn = 0
    for dtype, flags in itertools.product(DTYPES, ORDERS):
        least = math.ldexp(1.0, {"f32": -149, "f16": -24, "bf16": -133}[dtype])
        largest = {"f32": float(np.finfo(np.float32).max), "f16": 65504.0, "bf16": math.ldexp(255.0, 120)}[dtype]
        special = [[NAN, 1.0, INF, -INF, NAN, -0.0, 0.0, least, -least, largest, -largest, 1.0, -1.0, INF],
                   [-INF] * 13 + [NAN], [INF] * 13 + [-INF], [-0.0, 0.0] * 7, [NAN] * 14,
                   [0.0, -least, least, -0.0, -2 * least, 2 * least, 1.0, -1.0, -0.0, 0.0, NAN, -INF, INF, 3.0]]
        for k in (1, 5, 14):
            turn += 1
            yield case("adversarial_special", explicit(dtype, special), k, flags, INDICES[turn % 3])
        wide = np.tile(np.array(special), 40)  # 560 columns
        for k in (3, 130, 400):
            turn += 1
            yield case("adversarial_special_560", explicit(dtype, wide[turn % 6:turn % 6 + 1]), k, flags, INDICES[turn % 3],
                       k < 400)  # a NaN has no checksum
        # Windows: short, empty, negative, past the end.
        lengths = [12, 3, 0, -5, 100, 12, 40, 2**31 - 1]
        begins = [0, 2, 5, 1, 38, 40, -3, -2**31]
        for k, columns in ((6, 40), (2, 40)):
            turn += 1
            x = data(dtype, (8, columns))
            yield case("adversarial_window", x, k, flags, INDICES[turn % 3], lengths=explicit("i32", lengths))
            yield case("adversarial_window", x, k, flags | WINDOW, "i32", lengths=explicit("i64", [[n] for n in lengths]),
                       row_begin=explicit("i32", begins))
            yield case("adversarial_window", x, k, flags, "u32", row_begin=explicit("i64", begins))
    for turn, (k, flags) in enumerate(itertools.product((5, 300, 2100), ORDERS)):
        x = data(DTYPES[turn % 3], (4, 12000))
        lengths, begins = explicit("i64", [9000, 250, 2049, 2**62]), explicit("i64", [2500, 11900, 4099, -2**63])
        yield case("adversarial_long_window", x, k, flags | WINDOW * (turn % 2), INDICES[turn % 3], workspace=1, lengths=lengths,
                   row_begin=begins)
    # Equal elements of several parts. A part without elements, or with few. NaN is the last with HIPOPS_SMALLEST.
    for k, flags in itertools.product((300, 2048), (SORTED, SORTED | SMALLEST)):
        yield case("adversarial_equal_parts", constant("bf16" if k == 300 else "f32", (4, 12000), -0.0), k, flags, "i32",
                   lengths=lengths, row_begin=begins)
    last = np.where(np.arange(4500) < 4000, 0.0, NAN).reshape(1, -1)
    yield case("adversarial_last_of_parts", explicit("f32", last), 300, SORTED | SMALLEST, values=False,
                   row_begin=explicit("i32", [4000]))
    yield case("adversarial_no_rows", explicit("f32", np.zeros((0, 5))), 3)


LAYOUTS = [
    ("padded_rows", (5, 24), by(40, 1), {}),
    ("padded_by_one", (5, 33), by(34, 1), {}),
    ("transposed", (6, 40), by(1, 6), {}),
    ("step_2", (3, 34), by(68, 2), by(14, 2)),
    ("negative_columns", (3, 40), by(40, -1), by(7, -1)),
    ("negative_rows", (3, 40), by(-40, 1), by(-7, 1)),
    ("misaligned", (4, 64), at(1), at(1)),
    ("misaligned_by_3", (4, 1000), at(3), at(3)),
    ("results_transposed", (4, 70), {}, by(1, 4)),
    ("long_odd_rows", (3, 2049), {}, {}),
    ("long_misaligned", (2, 5000), at(5), {}),
    ("long_transposed", (8, 1500), by(1, 8), {}),
    ("long_step_3", (2, 3000), by(9000, 3), {}),
    ("long_padded", (2, 9000), by(9001, 1), {}),
]


def layouts():
    turn = 0
    for name, shape, x, result in LAYOUTS:
        for dtype in DTYPES:
            turn += 1
            yield case(f"layout_{name}", data(dtype, shape, **x), 7, ORDERS[turn % 4], INDICES[turn % 3], layout=result)
    for dtype, k in itertools.product(DTYPES, (300, 2100)):
        yield case("layout_long_misaligned", data(dtype, (2, 9001), **at(1)), k, SORTED)
        yield case("layout_long_transposed", data(dtype, (2, 9001), **by(1, 2)), k, 0)
    yield case("layout_expanded", explicit("f32", np.tile(shuffled(50) - 20.0, (3, 1)), **by(0, 1)), 7)
    yield case("layout_rank4", data("bf16", (2, 3, 4, 40), **by(500, 40, 125, 1)), 4)


def sizes():
    turn = 0
    for columns in (1, 2, 3, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 129, 255, 256, 257, 511, 512, 513, 1017, 1023, 1024, 1025, 4095,
                    4096, 4097, 8191, 8192, 8193):
        for k in sorted({1, 2, 8, 50, 128, 129, 256, 257, columns // 2, columns - 1, columns}):
            if not 1 <= k <= columns or (columns > 300 and (turn + k) % 3):
                turn += 1
                continue
            turn += 1
            rows = 5 if columns < 300 else 2
            yield case(f"size_{rows}x{columns}", data(DTYPES[turn % 3], (rows, columns)), k, ORDERS[turn % 4], INDICES[turn // 2 % 3],
                       turn % 7 != 0, turn % 2 if k <= 2048 else 1)
    for dtype, k, workspace in itertools.product(DTYPES, (1, 50, 256, 300, 2048), (0, 1)):
        yield case("size_1x40000", data(dtype, (1, 40000)), k, SORTED, workspace=workspace)
    for dtype, k, flags in itertools.product(DTYPES, (2049, 5000, 20000), ORDERS):
        yield case("size_2x20000", data(dtype, (2, 20000)), k, flags, "i32")
    yield case("size_1x70000", data("f32", (1, 70000)), 65536, SORTED)
    yield case("size_1x70000", data("bf16", (1, 70000)), 65536, SORTED | SMALLEST, "u32")


TOPICS = {"smoke": smoke, "exact": exact, "adversarial": adversarial, "layouts": layouts, "sizes": sizes}
