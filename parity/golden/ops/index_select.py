"""y[.., j, ..] = x[.., index[j], ..], the 1-D index being along dim."""

import numpy as np

from golden import Expected, explicit, report
from ops import takes
from ops.takes import at, by, data, indices


def y_shape(x_shape, index_shape, dim):
    return tuple(x_shape[:dim]) + tuple(index_shape) + tuple(x_shape[dim + 1:])


OP = takes.TakeOp("index_select", lambda x_shape, dim, n: (n,), y_shape)


def reference(params, inputs):
    x, index, dim = inputs["x"], inputs["index"], params["dim"]
    valid, bad = takes.meaning(index, takes.name_of_dtype(index.dtype), x.shape[dim])
    y = np.zeros(y_shape(x.shape, index.shape, dim), dtype=x.dtype)
    before = (slice(None),) * dim
    for j in np.flatnonzero(valid):
        y[before + (j,)] = x[before + (int(index[j]),)]
    return {"y": Expected(y), **takes.reported(inputs.get("report"), bad)}


def torch_reference(torch, params, inputs):
    index = takes.torch_index(torch, inputs["index"], inputs["x"].shape[params["dim"]])
    return None if index is None else {"y": torch.index_select(inputs["x"], params["dim"], index)}


LAYOUTS = [  # name, x's shape, n, dim, x, y, index
    ("index_step_2", (6, 8), 9, 0, {}, {}, by(2)),
    ("index_step_3_dim1", (6, 8), 9, 1, {}, {}, by(3)),
    ("index_negative", (6, 8), 9, 0, {}, {}, by(-1)),
    ("index_negative_step", (6, 8), 9, 1, {}, {}, by(-2, offset=5)),
    ("index_expanded", (6, 8), 9, 0, {}, {}, by(0)),
    ("index_expanded_dim1", (6, 8), 9, 1, {}, {}, by(0)),
    ("index_expanded_columns", (6, 1), 9, 0, {}, {}, by(0)),
    ("index_misaligned", (6, 8), 9, 1, {}, {}, at(3)),
    ("index_of_one", (6, 16), 1, 0, {}, {}, by(99)),
    ("x_padded", (6, 64), 9, 0, by(80, 1), {}, {}),
    ("x_odd_step", (6, 64), 9, 0, by(65, 1), {}, {}),
    ("x_transposed", (6, 8), 9, 0, by(1, 6), {}, {}),
    ("x_transposed_dim1", (6, 8), 9, 1, by(1, 6), {}, {}),
    ("x_step_3", (6, 8), 9, 0, by(24, 3), {}, {}),
    ("x_negative", (6, 8), 9, 0, by(-8, -1), {}, {}),
    ("x_negative_rows", (6, 64), 9, 0, by(-64, 1), {}, {}),
    ("x_expanded_rows", (6, 32), 9, 0, by(0, 1), {}, {}),
    ("x_expanded_columns", (6, 8), 9, 0, by(1, 0), {}, {}),
    ("x_expanded_outer", (3, 6, 32), 9, 1, by(0, 32, 1), {}, {}),
    ("x_misaligned", (6, 64), 9, 0, at(1), {}, {}),
    ("x_misaligned_half", (6, 64), 9, 0, at(8), {}, {}),
    ("x_permuted", (4, 5, 16), 7, 1, by(16, 64, 1), {}, {}),
    ("x_permuted_inner", (4, 5, 16), 7, 1, by(80, 1, 5), {}, {}),
    ("y_padded", (6, 64), 9, 0, {}, by(96, 1), {}),
    ("y_odd_step", (6, 64), 9, 0, {}, by(67, 1), {}),
    ("y_transposed", (6, 8), 9, 0, {}, by(1, 9), {}),
    ("y_step_2", (6, 8), 9, 0, {}, by(16, 2), {}),
    ("y_negative", (6, 8), 9, 0, {}, by(-8, -1), {}),
    ("y_negative_rows", (6, 64), 9, 0, {}, by(-64, 1), {}),
    ("y_misaligned", (6, 64), 9, 0, {}, at(1), {}),
    ("y_permuted", (4, 5, 16), 7, 1, {}, by(16, 64, 1), {}),
    ("misaligned_alike", (6, 64), 9, 0, at(3), at(3), at(1)),
    ("odd_rows", (6, 63), 9, 0, {}, {}, {}),
    ("half_rows", (6, 60), 9, 0, {}, {}, {}),
    ("dim_last", (3, 4, 20), 9, 2, {}, {}, {}),
    ("dim_middle", (3, 9, 32), 5, 1, {}, {}, {}),
    ("dim_middle_odd", (3, 9, 31), 5, 1, {}, {}, {}),
    ("one_row", (3, 1, 32), 4, 1, by(32, 12345, 1), {}, {}),
    ("one_index", (3, 9, 32), 1, 1, {}, {}, {}),
    ("one_index_one_row", (4, 1, 12), 1, 1, {}, {}, {}),
    ("all_strided", (5, 6, 7), 4, 1, by(2, 10, 60), by(-1, 35, 5), by(-3)),
    ("rank8", (2, 1, 2, 3, 1, 2, 2, 4), 2, 3, by(1, 0, 2, 4, 7, 12, 24, 48), by(64, 5, 32, 16, 1, 8, 4, 1), by(2)),
    ("strides_of_ones", (1, 4, 1, 8), 5, 1, by(-999, 8, 7, 1), by(5, 8, 3, 1), {}),
]


def layouts():
    for turn, (name, shape, n, dim, x, y, index) in enumerate(LAYOUTS):
        for dtype in (takes.BY_SIZE[turn % 4], takes.BY_SIZE[(turn + 1 + turn // 4 % 3) % 4]):
            given = indices(takes.INDEX_DTYPES[turn % 5], (n,), shape[dim], **index)
            yield OP.case("layout_" + name, data(dtype, shape, **x), given, dim, y)


def index_cases():
    yield from takes.index_cases(OP)
    # One index for many elements is counted once.
    for dtype, shape, dim in (("f32", (3, 6, 32), 1), ("u8", (3, 6, 7), 1), ("f64", (6, 5, 5, 2), 0),
                              ("u16", (4, 3, 6), 2), ("f32", (40, 6, 512), 1), ("f32", (4, 6, 1), 1),
                              ("u8", (6, 301), 0), ("u16", (3, 6, 151), 1), ("f32", (6, 77), 0), ("u8", (6, 900), 0)):
        index = explicit("i16", [3, 6, -1, 5, 32767, 2, 6])
        for reports in (report(), None):
            yield OP.case(f"indices_once_{takes.name_of(shape)}", data(dtype, shape), index, dim, reports=reports)
    for dtype, shape in (("f32", (4, 1, 12)), ("f32", (4, 5, 12)), ("u8", (16, 1, 1))):
        name = f"indices_one_{takes.name_of(shape)}"
        yield OP.case(name, data(dtype, shape), explicit("i64", [-1]), 1, reports=report())
    nothing = explicit("u16", np.zeros(0, dtype=int))
    yield OP.case("indices_expanded_of_nothing", nothing, explicit("i32", [3] * 16, stride=(0,)), 0, reports=report())
    index = explicit("u32", [2**31 + 1] * 9, stride=(0,))
    yield OP.case("indices_expanded", data("f32", (5, 16)), index, 0, reports=report())


TOPICS = {
    "smoke": lambda: takes.smoke(OP),
    "exact": lambda: takes.exact(OP),
    "layouts": layouts,
    "indices": index_cases,
    "sizes": lambda: takes.sizes(OP),
}
