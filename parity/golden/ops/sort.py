"""values = each row's elements in order, indices = their columns. The sort is stable, -0 equals +0, and NaN is the greatest."""

import math

import numpy as np

from golden import Case, Expected, View, bell, bits, constant, explicit, index
from ops import rows
from ops.rows import at, by, name_of

FLOATS = rows.DTYPES
DTYPES = (*FLOATS, "u8", "i32", "u32", "i64")
INDICES = ("i64", "i32", "u32")
DESCENDING = 2048
NAN, INF = math.nan, math.inf


def columns_in_order(row, descending):
    """NumPy's stable sort has NaN last, and equal zeros. A descending stable sort is one of the reversed row, reversed."""
    if not descending:
        return np.argsort(row, kind="stable")
    return (len(row) - 1 - np.argsort(row[::-1], kind="stable"))[::-1]


def reference(params, inputs):
    x = inputs["x"]
    flat = x.reshape(-1, x.shape[-1]) if x.size else x.reshape(0, max(x.shape[-1], 1))
    order = np.array([columns_in_order(row, params["flags"] & DESCENDING) for row in flat], dtype=np.int64).reshape(flat.shape)
    return {"values": Expected(np.take_along_axis(flat, order, 1).reshape(x.shape)), "indices": Expected(order.reshape(x.shape))}


def torch_reference(torch, params, inputs):
    x = inputs["x"]
    if x.dtype == torch.int32:
        return None  # it may be u32, which PyTorch does not sort
    values, indices = torch.sort(x, dim=-1, stable=True, descending=bool(params["flags"] & DESCENDING))
    return {"values": values, "indices": indices if params.index == "i64" else indices.to(torch.int32)}


class Params(dict):
    """A case's params, with the dtype of indices for PyTorch, which has i64."""

    def __init__(self, params, index):
        super().__init__(params)
        self.index = index


def case(name, x, turn=0, values=None, indices=None, outputs=None):
    """`turn` picks the order, the outputs and the dtype of indices."""
    outputs = outputs or ("both", "both", "indices", "values")[turn % 4]
    index_dtype = INDICES[turn % 3]
    flags = DESCENDING * (turn // 2 % 2)
    views = {}
    if outputs != "indices":
        views["values"] = View(x.dtype, x.shape, **(values or {}))
    if outputs != "values":
        views["indices"] = View(index_dtype, x.shape, **(indices or {}))
    suffix = f"_{x.dtype}" + (f"_{index_dtype}" if outputs != "values" else "") + ("" if outputs == "both" else f"_{outputs}")
    suffix += "_descending" if flags else ""
    workspace = int(len(x.shape) > 0 and x.shape[-1] > 4096)
    return Case("sort", name + suffix, x.dtype, {"x": x}, views, 0, Params({"flags": flags, "workspace": workspace}, index_dtype), bitwise=True)


def data(dtype, shape, **layout):
    return bell(dtype, shape, 1.5, 0.25, **layout) if dtype in FLOATS else bits(dtype, shape, **layout)


def smoke():
    turn = 0
    for shape in ((7,), (5, 12), (3, 4, 10), (2, 3, 2, 1, 2, 3, 2, 4), (300,), (3, 1000)):
        for dtype in DTYPES:
            for _ in range(2 if len(shape) < 3 else 1):
                turn += 1
                yield case(f"smoke_{name_of(shape)}_{turn % 4}", data(dtype, shape), turn)


def exact():
    """Orders with known results, each in a row of its own: in a block of rows, in a block, and in passes."""
    for dtype in DTYPES:
        for length in (33, 700, 4200):
            ramp = np.arange(length) % 200 if dtype in ("u8", "bf16") else np.arange(length) % 2000
            x = np.array([np.sort(ramp), np.sort(ramp)[::-1], ramp[::-1]]) if length > 1000 else np.array([
                np.zeros(length), ramp, np.sort(ramp), ramp[::-1], np.arange(length) % 2])
            x = x if dtype in FLOATS else x.astype(np.int64)
            for turn in (0, 3) if length < 1000 else (0,):
                yield case(f"exact_orders_{length}", explicit(dtype, x), turn, outputs="both")
        yield case("exact_one_column", data(dtype, (9, 1)))
        yield case("exact_equal", constant(dtype, (1, 4200), 3.0) if dtype in FLOATS else explicit(dtype, np.full((1, 4200), 3)), 3)


def adversarial():
    for dtype in FLOATS:
        least = math.ldexp(1.0, {"f32": -149, "f16": -24, "bf16": -133, "f64": -1074}[dtype])
        largest = {"f32": 3.4028234663852886e38, "f16": 65504.0, "bf16": 3.3895313892515355e38, "f64": 1.7976931348623157e308}[dtype]
        special = np.array([NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, least, -least, largest, -largest, 0.0, -0.0, NAN, INF, -INF, 2.0])
        for turn, columns in enumerate((17, 40, 900, 4097)):
            x = np.resize(special, (2, columns))
            x[1] = x[1][::-1]
            for descending in (0, 2) if columns < 1000 else ((0, 2)[dtype in ("f16", "f64")],):
                yield case(f"adversarial_special_{columns}", explicit(dtype, x), descending + turn % 2 * 4, outputs="indices")
        # Values with NaN cannot be compared bit by bit.
        zeros = np.resize([0.0, -0.0, -0.0, 0.0, 0.0, least, -least], (2, 4200))
        for turn in (0, 3):
            yield case("adversarial_zeros", explicit(dtype, zeros), turn, outputs="both")
            yield case("adversarial_zeros_short", explicit(dtype, zeros[:, :60].copy()), turn, outputs="both")
    for dtype in ("u8", "i32", "u32", "i64"):
        info = np.iinfo({"u8": np.uint8, "i32": np.int32, "u32": np.uint32, "i64": np.int64}[dtype])
        ends = [info.max, info.min, 0, info.max, 1, info.max - 1, info.min + 1, info.min, info.max // 2, info.max // 2 + 1]
        for columns in (10, 500, 4200):
            x = np.array([[ends[(i * 7 + r) % 10] for i in range(columns)] for r in range(1 if columns > 1000 else 2)], dtype=info.dtype)
            for turn in (0, 3) if columns < 1000 else (0,):
                yield case(f"adversarial_ends_{columns}", explicit(dtype, x), turn, outputs="both")
        yield case("adversarial_high_digit", explicit(dtype, (np.arange(4200) % 97 * (info.max // 97)).astype(info.dtype).reshape(1, 4200)), 0)
    for dtype in ("f32", "i64"):
        for shape in ((0, 5), (3, 0), (0,)):
            yield case(f"adversarial_no_elements_{name_of(shape)}", explicit(dtype, np.zeros(shape, dtype=np.float64 if dtype == "f32" else np.int64)))


LAYOUTS = [
    ("padded", (5, 24), by(40, 1), by(32, 1), by(30, 1)),
    ("transposed", (6, 40), by(1, 6), {}, {}),
    ("out_transposed", (6, 40), {}, by(1, 6), by(1, 6)),
    ("step_2", (3, 34), by(68, 2), by(68, 2), by(102, 3)),
    ("negative", (3, 40), by(-40, -1), by(40, -1), by(-40, 1)),
    ("expanded_rows", (4, 32), by(0, 1), {}, {}),
    ("expanded_columns", (4, 32), by(1, 0), {}, {}),
    ("misaligned", (4, 64), at(1), at(3), at(1)),
    ("long_padded", (2, 5000), by(5003, 1), by(5001, 1), {}),
    ("long_transposed", (3, 5000), by(1, 3), by(1, 3), by(1, 3)),
    ("cube", (3, 20, 32), by(20, 1, 60), {}, {}),
    ("slice", (9, 4, 16), by(192, 16, 1, offset=64), {}, {}),
    ("long_cube", (2, 2, 4500), by(9001, 4500, 1), {}, {}),
]


def layouts():
    turn = 0
    for name, shape, x, values, indices in LAYOUTS:
        for dtype in ("f32", DTYPES[1 + turn % 7]):
            turn += 1
            tensor = data(dtype, shape, **x)
            if 0 in (tensor.stride or ()):
                stepped = tuple(1 if step == 0 else extent for extent, step in zip(shape, tensor.stride))
                tensor = explicit(dtype, np.broadcast_to(data(dtype, stepped, seed=turn).array(), shape), **x)
            yield case(f"layout_{name}", tensor, 0, values, indices)


LENGTHS = [1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 129, 255, 256, 257, 511, 513, 1023, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 8191, 8192,
           8193, 16385]


def sizes():
    turn = 0
    for length in LENGTHS:
        for _ in range(2):
            turn += 1
            count = 40 if length < 20 else 5 if length < 300 else 2
            yield case(f"size_{count}x{length}", data(DTYPES[(turn + turn // 8) % 8], (count, length)), turn)
    for turn, dtype in enumerate(DTYPES):
        yield case("size_300x10", data(dtype, (300, 10)), turn)
        yield case("size_2x9001", data(dtype, (2, 9001)), turn + 1)
        yield case("size_3x5000_few", index(dtype, (3, 5000), 7) if dtype not in FLOATS else bell(dtype, (3, 5000), 0.01, 1.0), turn)
    for dtype, length in (("f32", 65537), ("bf16", 70001), ("i64", 40000)):
        yield case(f"size_1x{length}", data(dtype, (1, length)), 0)


TOPICS = {"smoke": smoke, "exact": exact, "adversarial": adversarial, "layouts": layouts, "sizes": sizes}
