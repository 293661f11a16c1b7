"""y[.., j, ..] = x[.., index[.., j, ..], ..] along dim, index and y having one shape."""

import numpy as np

import golden
from golden import Expected, explicit, report
from ops import takes
from ops.takes import at, by, data, indices


def with_extent(shape, dim, n):
    return tuple(n if d == dim else extent for d, extent in enumerate(shape))


OP = takes.TakeOp("gather", with_extent, lambda x_shape, index_shape, dim: tuple(index_shape))


def reference(params, inputs):
    x, index, dim = inputs["x"], inputs["index"], params["dim"]
    valid, bad = takes.meaning(index, takes.name_of_dtype(index.dtype), x.shape[dim])
    y = np.zeros(index.shape, dtype=x.dtype)
    where = np.nonzero(valid)
    source = list(where)
    source[dim] = index[where].astype(np.int64)
    y[where] = x[tuple(source)]
    return {"y": Expected(y), **takes.reported(inputs.get("report"), bad)}


def torch_reference(torch, params, inputs):
    index = takes.torch_index(torch, inputs["index"], inputs["x"].shape[params["dim"]])
    return None if index is None else {"y": torch.gather(inputs["x"], params["dim"], index)}


LAYOUTS = [  # name, x's shape, index's shape, dim, x, y, index
    ("index_padded", (6, 8), (6, 5), 1, {}, {}, by(9, 1)),
    ("index_transposed", (6, 8), (6, 5), 1, {}, {}, by(1, 6)),
    ("index_transposed_dim0", (6, 8), (5, 8), 0, {}, {}, by(1, 5)),
    ("index_step_2", (6, 8), (6, 5), 1, {}, {}, by(10, 2)),
    ("index_negative", (6, 8), (6, 5), 1, {}, {}, by(-5, -1)),
    ("index_expanded_rows", (6, 8), (6, 5), 1, {}, {}, by(0, 1)),
    ("index_expanded_columns", (6, 8), (5, 8), 0, {}, {}, by(1, 0)),
    ("index_expanded_wide", (6, 64), (9, 64), 0, {}, {}, by(1, 0)),
    ("index_expanded_wide_3d", (3, 6, 32), (3, 9, 32), 1, {}, {}, by(0, 1, 0)),
    ("index_expanded_inner", (3, 6, 32), (3, 6, 32), 0, {}, {}, by(6, 1, 0)),
    ("index_expanded_half", (3, 6, 4, 32), (3, 9, 4, 32), 1, {}, {}, by(36, 4, 1, 0)),
    ("index_expanded_all", (6, 48), (7, 48), 0, {}, {}, by(0, 0)),
    ("index_misaligned", (6, 8), (6, 5), 1, {}, {}, at(3)),
    ("index_permuted", (3, 4, 5), (3, 4, 5), 2, {}, {}, by(5, 15, 1)),
    ("x_padded", (6, 8), (6, 5), 1, by(11, 1), {}, {}),
    ("x_transposed", (6, 8), (6, 5), 1, by(1, 6), {}, {}),
    ("x_transposed_dim0", (6, 8), (5, 8), 0, by(1, 6), {}, {}),
    ("x_step_3", (6, 8), (6, 5), 1, by(24, 3), {}, {}),
    ("x_negative", (6, 8), (6, 5), 1, by(-8, -1), {}, {}),
    ("x_negative_dim0", (6, 16), (9, 16), 0, by(-16, 1), {}, by(1, 0)),
    ("x_expanded", (6, 8), (6, 5), 1, by(0, 1), {}, {}),
    ("x_expanded_along_dim", (6, 8), (6, 5), 1, by(1, 0), {}, {}),
    ("x_misaligned", (6, 8), (6, 5), 1, at(1), {}, {}),
    ("y_padded", (6, 8), (6, 5), 1, {}, by(7, 1), {}),
    ("y_transposed", (6, 8), (6, 5), 1, {}, by(1, 6), {}),
    ("y_step_2", (6, 8), (6, 5), 1, {}, by(10, 2), {}),
    ("y_negative", (6, 8), (6, 5), 1, {}, by(-5, -1), {}),
    ("y_misaligned", (6, 8), (6, 5), 1, {}, at(1), {}),
    ("smaller_off_dim", (6, 8), (4, 5), 1, {}, {}, {}),
    ("smaller_off_dim_0", (6, 8), (9, 3), 0, {}, {}, {}),
    ("smaller_3d", (5, 6, 7), (2, 9, 3), 1, {}, {}, {}),
    ("smaller_strided", (5, 6, 7), (2, 9, 3), 1, by(1, 5, 30), by(27, 1, 9), by(3, 6, 1)),
    ("smaller_wide", (6, 64), (9, 32), 0, {}, {}, by(1, 0)),
    ("wide_padded", (6, 64), (9, 64), 0, by(80, 1), by(96, 1), by(1, 0)),
    ("wide_misaligned_x", (6, 64), (9, 64), 0, at(1), {}, by(1, 0)),
    ("wide_misaligned_y", (6, 64), (9, 64), 0, {}, at(2), by(1, 0)),
    ("wide_odd_rows", (6, 63), (9, 63), 0, {}, {}, by(1, 0)),
    ("wide_half_rows", (6, 60), (9, 60), 0, {}, {}, by(1, 0)),
    ("wide_odd_step", (6, 64), (9, 64), 0, by(65, 1), {}, by(1, 0)),
    ("all_strided", (5, 6, 7), (5, 4, 7), 1, by(2, 10, 60), by(-1, 35, 5), by(4, 1, 20)),
    ("rank8", (2, 1, 2, 3, 1, 2, 2, 3), (2, 1, 2, 2, 1, 2, 2, 3), 3, by(1, 0, 2, 4, 7, 12, 24, 48),
     by(48, 5, 24, 12, 1, 6, 3, 1), by(96, 1, 24, 12, 2, 48, 3, 1)),
    ("strides_of_ones", (1, 4, 1, 8), (1, 4, 1, 5), 3, by(-999, 8, 7, 1), by(5, 5, 3, 1), by(77, 5, 0, 1)),
    ("one_of_dim", (4, 1, 16), (4, 1, 16), 1, by(16, 12345, 1), {}, {}),
]


def layouts():
    for turn, (name, shape, like, dim, x, y, index) in enumerate(LAYOUTS):
        for dtype in (takes.BY_SIZE[turn % 4], takes.BY_SIZE[(turn + 1 + turn // 4 % 3) % 4]):
            given = indices(takes.INDEX_DTYPES[turn % 5], like, shape[dim], **index)
            yield OP.case("layout_" + name, data(dtype, shape, **x), given, dim, y)


def index_cases():
    yield from takes.index_cases(OP)
    # Rows moved by an expanded index, in which each element is counted.
    for turn, index_dtype in enumerate(takes.INDEX_DTYPES):
        along = [3, 6, takes.MARK[index_dtype] - 1, 5, 2, 6, takes.MARK[index_dtype]]
        for dtype, columns in (("f32", 32), ("u8", 32), ("u16", 12), ("f64", 6), ("u8", 7), ("u8", 301), ("u16", 151),
                               ("f32", 33), ("f32", 77)):
            whole = np.array([[value] * columns for value in along], dtype=object).tolist()
            index = explicit(index_dtype, whole, stride=(1, 0))
            reports = None if (turn + columns) % 3 == 0 else report()
            yield OP.case(f"indices_expanded_{columns}", data(dtype, (6, columns)), index, 0, reports=reports)


def sizes():
    yield from takes.sizes(OP)
    # Columns of x that are staged in panels. The last panel may overlap the panel before: 40 columns are two panels of
    # 32, 24 are two of 16, 72 are five of 16, and 22 are three of 8. The last two cases have 38 and 115 kB.
    for turn, (dtype, shape, n) in enumerate((("u8", (33, 100, 96), 50), ("u16", (64, 33, 40), 64), ("f32", (32, 50, 24), 64),
                                              ("f32", (20, 20, 72), 64), ("i64", (32, 20, 22), 130), ("f32", (8, 600, 128), 152),
                                              ("u16", (4, 1800, 512), 228))):
        like = with_extent(shape, 1, n)
        for wrong in (0, 7):
            index = golden.index(takes.INDEX_DTYPES[1 + turn % 4], like, shape[1] + wrong)
            yield OP.case(f"size_panels_{takes.name_of(shape)}_{wrong}", data(dtype, shape), index, 1,
                          reports=report() if wrong else None)
    # x has gaps. y and the index are not aligned, so that their elements move one by one.
    given = golden.index("i32", (64, 64, 40), 40)
    yield OP.case("size_panels_gaps", data("u16", (64, 33, 40), **by(33 * 48 + 8, 48, 1, offset=8)), given, 1, by(64 * 41, 41, 1),
                  reports=report())
    given = golden.index("i64", (2, 12, 70, 64), 33, stride=(12 * 70 * 65, 70 * 65, 65, 1))
    yield OP.case("size_panels_4d", data("f32", (2, 12, 33, 64)), given, 2, reports=report())


TOPICS = {
    "smoke": lambda: takes.smoke(OP),
    "exact": lambda: takes.exact(OP),
    "layouts": layouts,
    "indices": index_cases,
    "sizes": sizes,
}
