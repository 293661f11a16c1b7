"""The cases that scatter and scatter_add share, and the order of their sources."""

import numpy as np

import golden
from golden import Case, explicit, report
from ops import takes
from ops.takes import BY_SIZE, INDEX_DTYPES, MARK, at, bad_values, by, indices, name_of

DETERMINISTIC = 1


def meaning(inputs, params):
    """(valid, bad) of takes.meaning, for these ops' arguments."""
    index = inputs["index"]
    return takes.meaning(index, takes.name_of_dtype(index.dtype), inputs["y"].shape[params["dim"]])


def in_order(params, inputs):
    """For each position along dim, in order: (targets in y, values of the sources) of all lines with a valid index
    there. Lines share no element of y, so the targets of a position are distinct."""
    x, index, dim = inputs["x"], inputs["index"], params["dim"]
    valid, _ = meaning(inputs, params)
    for j in range(x.shape[dim]):
        here = tuple(slice(j, j + 1) if d == dim else slice(None) for d in range(x.ndim))
        where = list(np.nonzero(valid[here]))
        source = list(where)
        source[dim] = source[dim] + j
        target = list(where)
        target[dim] = index[tuple(source)].astype(np.int64)
        yield tuple(target), x[tuple(source)]


def times(params, inputs):
    """The number of sources of each element of y."""
    count = np.zeros(inputs["y"].shape, dtype=np.int64)
    for target, _ in in_order(params, inputs):
        count[target] += 1
    return count


def torch_arguments(torch, params, inputs):
    """(dim, index) for PyTorch, or None if PyTorch refuses an index."""
    index = takes.torch_index(torch, inputs["index"], inputs["y"].shape[params["dim"]])
    return None if index is None else (params["dim"], index)


# ---- tensors

def unique(dtype, shape, dim, size, seed=1, **layout):
    """Indices that differ along dim, and are equal along dimensions with a stride of 0."""
    stride = layout.get("stride") or golden.contiguous(shape)
    part = [1 if step == 0 and d != dim else extent for d, (step, extent) in enumerate(zip(stride, shape))]
    pool = [size if d == dim else extent for d, extent in enumerate(part)]
    seed = golden.seed_of("unique", str(shape), str(dim), str(size), str(seed))
    order = np.argsort(golden.bits("u32", pool, seed=seed).array(), axis=dim, kind="stable")
    return explicit(dtype, np.broadcast_to(np.take(order, np.arange(shape[dim]), axis=dim), shape), **layout)


class ScatterOp:
    """data(dtype, shape, turn, **layout): elements for x and y. ways(dtype): the (flags, workspace) pairs of the op. If
    may_repeat(flags, dtype) is false, no order is promised, and an index may repeat only for equal sources. ulps(case):
    its tolerance, or None for an op that moves bits."""

    def __init__(self, name, dtypes, data, ways, may_repeat, ulps):
        self.name, self.dtypes, self.data, self.ways, self.may_repeat, self.ulps = (
            name,
            dtypes,
            data,
            ways,
            may_repeat,
            ulps,
        )

    def case(self, name, x, y, index, dim, way, reports=None, exact=False):
        flags, workspace = way
        inputs = {"x": x, "y": y, "index": index}
        if reports is not None:
            inputs["report"] = reports
        name = (
            f"{name}_{x.dtype}_{index.dtype}"
            + ("_deterministic" if flags else "")
            + ("_workspace" if workspace else "")
            + ("_report" if reports else "")
        )
        case = Case(
            self.name,
            name,
            x.dtype,
            inputs,
            {},
            0,
            {"dim": dim, "flags": flags, "workspace": workspace},
            in_out=("y", "report"),
            bitwise=self.ulps is None,
        )
        if self.ulps is not None and not exact:
            case.ulps = self.ulps(case)
        return case

    def simple(
        self, name, dtype, index_dtype, shape, dim, size, way, x=None, y=None, index=None, y_shape=None, turn=0, **rest
    ):
        """Sources of `shape` into a y of the same shape, or of y_shape, with `size` along dim. x, y and index are
        layouts."""
        y_shape = tuple(size if d == dim else extent for d, extent in enumerate(y_shape or shape))
        make = indices if self.may_repeat(way[0], dtype) else lambda *a, **k: unique(a[0], a[1], dim, a[2], turn, **k)
        return self.case(
            name,
            self.data(dtype, shape, turn, **(x or {})),
            self.data(dtype, y_shape, turn + 1, **(y or {})),
            make(index_dtype, shape, size, **(index or {})),
            dim,
            way,
            **rest,
        )

    def way(self, dtype, turn):
        ways = self.ways(dtype)
        return ways[turn % len(ways)]

    def size_for(self, way, dtype, n):
        """The size of y along dim for n sources. It is less than n if indices may repeat."""
        return max(n * 2 // 3, 1) if self.may_repeat(way[0], dtype) else n + n // 3


# ---- smoke: each dtype with each index dtype and way, each rank with each dim

def smoke(op):
    for i, dtype in enumerate(op.dtypes + (golden.dtypes.F8 if op.name == "scatter" else ())):
        for turn, index_dtype in enumerate(INDEX_DTYPES):
            shape = ((6, 8), (4, 3, 5), (9,), (3, 16))[(i + turn) % 4]
            dim = (i // 2 + turn) % len(shape)
            way = op.way(dtype, i + turn)
            yield op.simple(
                "smoke_" + name_of(shape) + f"_dim{dim}",
                dtype,
                index_dtype,
                shape,
                dim,
                op.size_for(way, dtype, shape[dim]),
                way,
                reports=report() if turn % 2 else None,
                turn=turn,
            )
    turn = 0
    for shape in takes.RANKS:
        for dim in range(len(shape)):
            turn += 1
            dtype = op.dtypes[turn % len(op.dtypes)]
            for way in op.ways(dtype):
                yield op.simple(f"smoke_rank{len(shape)}_dim{dim}", dtype, INDEX_DTYPES[turn % 5], shape, dim,
                                op.size_for(way, dtype, shape[dim] + 1), way, turn=turn)


# ---- layouts

LAYOUTS = [  # name, shape of x and index, dim, x, y, index, y's shape off dim (None: the same); y is 9 along dim
    ("index_padded", (6, 5), 1, {}, {}, by(9, 1), None),
    ("index_transposed", (6, 5), 1, {}, {}, by(1, 6), None),
    ("index_transposed_dim0", (5, 8), 0, {}, {}, by(1, 5), None),
    ("index_step_2", (6, 5), 1, {}, {}, by(10, 2), None),
    ("index_negative", (6, 5), 1, {}, {}, by(-5, -1), None),
    ("index_expanded_rows", (6, 5), 1, {}, {}, by(0, 1), None),
    ("index_expanded_columns", (5, 8), 0, {}, {}, by(1, 0), None),
    ("index_expanded_wide", (7, 64), 0, {}, {}, by(1, 0), None),
    ("index_expanded_wide_3d", (3, 7, 32), 1, {}, {}, by(0, 1, 0), None),
    ("index_expanded_inner", (3, 6, 32), 0, {}, {}, by(6, 1, 0), None),
    ("index_expanded_half", (3, 7, 4, 32), 1, {}, {}, by(28, 4, 1, 0), None),
    ("index_misaligned", (6, 5), 1, {}, {}, at(3), None),
    ("index_permuted", (3, 4, 5), 2, {}, {}, by(5, 15, 1), None),
    ("x_padded", (6, 5), 1, by(11, 1), {}, {}, None),
    ("x_transposed", (6, 5), 1, by(1, 6), {}, {}, None),
    ("x_step_3", (6, 5), 1, by(24, 3), {}, {}, None),
    ("x_negative", (6, 5), 1, by(-5, -1), {}, {}, None),
    ("x_negative_dim0", (8, 16), 0, by(-16, 1), {}, by(1, 0), None),
    ("x_expanded", (6, 5), 1, by(0, 1), {}, {}, None),
    ("x_expanded_along_dim", (6, 5), 1, by(1, 0), {}, {}, None),
    ("x_misaligned", (6, 5), 1, at(1), {}, {}, None),
    ("y_padded", (6, 5), 1, {}, by(13, 1), {}, None),
    ("y_padded_even", (6, 5), 1, {}, by(14, 1), {}, None),
    ("y_transposed", (6, 5), 1, {}, by(1, 6), {}, None),
    ("y_step_2", (6, 5), 1, {}, by(20, 2), {}, None),
    ("y_negative", (6, 5), 1, {}, by(-9, -1), {}, None),
    ("y_negative_rows", (6, 5), 1, {}, by(-10, 1), {}, None),
    ("y_misaligned", (6, 5), 1, {}, at(1), {}, None),
    ("y_misaligned_by_2", (6, 5), 1, {}, at(2), {}, None),
    ("smaller_off_dim", (4, 5), 1, {}, {}, {}, (6, 0)),
    ("smaller_off_dim_0", (8, 3), 0, {}, {}, {}, (0, 8)),
    ("smaller_3d", (2, 7, 3), 1, {}, {}, {}, (5, 0, 7)),
    ("smaller_strided", (2, 7, 3), 1, by(1, 2, 30), by(63, 1, 9), by(3, 6, 1), (5, 0, 7)),
    ("smaller_wide", (8, 32), 0, {}, {}, by(1, 0), (0, 64)),
    ("smaller_one", (1, 7), 1, {}, {}, {}, (6, 0)),
    ("wide_padded", (8, 64), 0, by(80, 1), by(96, 1), by(1, 0), None),
    ("wide_misaligned_x", (8, 64), 0, at(1), {}, by(1, 0), None),
    ("wide_misaligned_y", (8, 64), 0, {}, at(2), by(1, 0), None),
    ("wide_odd_rows", (8, 63), 0, {}, {}, by(1, 0), None),
    ("wide_half_rows", (8, 60), 0, {}, {}, by(1, 0), None),
    ("wide_odd_step", (8, 64), 0, by(65, 1), {}, by(1, 0), None),
    ("all_strided", (5, 6, 7), 1, by(2, 10, 60), by(-1, 35, 5), by(4, 20, 120), None),
    (
        "rank8",
        (2, 1, 2, 4, 1, 2, 2, 3),
        3,
        by(1, 0, 2, 4, 7, 16, 32, 64),
        by(216, 5, 108, 12, 1, 6, 3, 1),
        by(96, 1, 48, 12, 2, 6, 3, 1),
        None,
    ),
    ("strides_of_ones", (1, 4, 1, 5), 3, by(-999, 5, 7, 1), by(5, 9, 3, 1), by(77, 5, 0, 1), None),
    ("one_of_dim", (4, 1, 16), 1, by(16, 12345, 1), {}, by(1, 1, 0), None),
]


def layouts(op):
    for turn, (name, shape, dim, x, y, index, wider) in enumerate(LAYOUTS):
        y_shape = tuple(wider[d] or shape[d] for d in range(len(shape))) if wider else None
        for step in range(2):
            dtype = op.dtypes[(turn + step * (1 + turn // 4)) % len(op.dtypes)]
            for way in op.ways(dtype)[step:] if "wide" in name else [op.way(dtype, turn + step)]:
                yield op.simple(
                    "layout_" + name + ("_again" if step else ""),
                    dtype,
                    INDEX_DTYPES[turn % 5],
                    shape,
                    dim,
                    9,
                    way,
                    x,
                    y,
                    index,
                    y_shape,
                    turn,
                )


# ---- indices

def indices_with(dtype, shape, dim, size, may_repeat, seed):
    """Returns a function that mixes wrong indices into valid indices. 11 has no divisor in common with any number of
    elements here, so each wrong index has a place of its own."""
    if may_repeat:
        tensor = golden.index(dtype, shape, min(size, MARK[dtype]), seed=seed)
    else:
        tensor = unique(dtype, shape, dim, max(size, shape[dim]), seed)

    def among(wrong):
        values = np.array(tensor.array().tolist(), dtype=object).reshape(-1)
        for k, value in enumerate(wrong):
            values[(5 + k * 11) % len(values)] = value
        return explicit(dtype, values.reshape(shape).tolist())

    return among


def index_cases(op):
    """Each index dtype: no index, backwards, the sentinel index, out of range. With a report and without. The ways
    alternate."""
    turn = 0
    for index_dtype in INDEX_DTYPES:
        for kind, (shape, dim, size) in (
            ("last", ((9, 6), 1, 7)),
            ("first", ((7, 5), 0, 9)),
            ("middle", ((2, 7, 4), 1, 9)),
        ):
            turn += 1
            dtype = op.dtypes[turn % len(op.dtypes)]
            y_shape = tuple(size if d == dim else extent for d, extent in enumerate(shape))
            valid = {repeats: indices_with(index_dtype, shape, dim, size, repeats, turn) for repeats in (True, False)}
            mark = MARK[index_dtype]
            named = [  # name, indices that repeat or not, report
                ("mark", lambda some: some([mark] * 3), None),
                ("out_of_range", lambda some: some(bad_values(index_dtype, size)), None if turn % 4 == 3 else report()),
                ("mixed", lambda some: some([mark, size, mark, mark - 1]), report()),
                ("none_right", lambda some: explicit(index_dtype, np.full(shape, size)), report()),
                (
                    "all_marks",
                    lambda some: explicit(index_dtype, np.full(shape, mark, dtype=object).tolist()),
                    report(),
                ),
                ("begun_report", lambda some: some([size] * 2), report(7, 6)),
            ]
            for k, (name, make, reports) in enumerate(named):
                way = op.way(dtype, turn + k)
                yield op.case(f"indices_{name}_{kind}", op.data(dtype, shape, turn), op.data(dtype, y_shape, turn + 1),
                              make(valid[op.may_repeat(way[0], dtype)]), dim, way, reports)
            for k, way in enumerate(op.ways(dtype)):
                x, y = op.data(dtype, shape, turn), op.data(dtype, y_shape, turn + 1)
                if op.may_repeat(way[0], dtype) and (k + turn) % 2:
                    yield op.case(
                        f"indices_same_{kind}", x, y, explicit(index_dtype, np.full(shape, size - 1)), dim, way
                    )
                elif op.may_repeat(way[0], dtype):
                    ends = explicit(index_dtype, np.broadcast_to(takes.ends(shape, dim, size), shape))
                    yield op.case(f"indices_ends_{kind}", x, y, ends, dim, way)
                elif shape[dim] <= size:
                    along = np.arange(shape[dim])[::-1].reshape([-1 if d == dim else 1 for d in range(len(shape))])
                    yield op.case(
                        f"indices_backwards_{kind}",
                        x,
                        y,
                        explicit(index_dtype, np.broadcast_to(along, shape)),
                        dim,
                        way,
                    )
    # Each element of an expanded index is counted.
    for dtype, columns in (
        (op.dtypes[0], 32),
        (op.dtypes[4], 32),
        (op.dtypes[1], 12),
        (op.dtypes[3], 6),
        (op.dtypes[4], 7),
    ):
        along = np.array([[3], [6], [-1], [5], [2], [7], [32767]])
        index = explicit("i16", np.broadcast_to(along, (7, columns)), stride=(1, 0))
        for k, way in enumerate(op.ways(dtype)):
            for reports in (report(), None)[:1 + k % 2]:
                yield op.case(
                    f"indices_expanded_{columns}",
                    op.data(dtype, (7, columns), 0),
                    op.data(dtype, (6, columns), 1),
                    index,
                    0,
                    way,
                    reports,
                )
    # Sources without elements. And a y without elements, so that every index is out of range.
    for dtype in op.dtypes[::2]:
        for way in op.ways(dtype):
            for shape, dim in (((6, 0), 1), ((0, 4), 0)):
                y_shape = (6, 4)
                empty = golden.Tensor(dtype, shape, values=np.zeros(shape))
                none = golden.Tensor("i32", shape, values=np.zeros(shape, dtype=np.int32))
                yield op.case(
                    f"indices_empty_{name_of(shape)}_dim{dim}",
                    empty,
                    op.data(dtype, y_shape, 1),
                    none,
                    dim,
                    way,
                    report(),
                )
            nothing = golden.Tensor(dtype, (0, 4), values=np.zeros((0, 4)))
            for n in (1, 5):
                yield op.case(
                    f"indices_of_nothing_{n}",
                    op.data(dtype, (n, 4), 0),
                    nothing,
                    explicit("i16", np.zeros((n, 4), dtype=int)),
                    0,
                    way,
                    report(),
                )
    # Dimensions that are longer than the sentinel index, and indices beyond 8 and 16 bits.
    for turn, (size, index_dtype, values) in enumerate(
        (
            (300, "u8", [254, 255, 0]),
            (300, "i16", [255, 256, 299]),
            (32770, "i16", [32766, 32767, 0]),
            (32770, "i32", [32767, 32769, 32768]),
            (70000, "u32", [65535, 65536, 69999]),
            (70000, "i64", [69999, 0, 65536]),
        )
    ):
        for dim in (0, 1):
            shape, y_shape = ((3,), (size,)) if dim == 0 else ((2, 3), (2, size))
            dtype = op.dtypes[(turn + dim) % len(op.dtypes)]
            index = explicit(index_dtype, np.broadcast_to(np.array(values), shape))
            yield op.case(
                f"indices_long_{name_of(y_shape)}",
                op.data(dtype, shape, 0),
                op.data(dtype, y_shape, 1),
                index,
                dim,
                op.way(dtype, turn + dim),
                report(),
            )


# ---- sizes

def tensors_of(op, dtype, shape, dim, size, way, index_dtype, turn):
    """A case of any size with a small file. If indices must not repeat, all sources are equal."""
    y_shape = tuple(size if d == dim else extent for d, extent in enumerate(shape))
    y, index = op.data(dtype, y_shape, turn + 1), golden.index(index_dtype, shape, min(size, MARK[index_dtype]))
    if op.may_repeat(way[0], dtype):
        return op.data(dtype, shape, turn), y, index
    zeros = golden.index(dtype, shape, 1) if dtype in golden.dtypes.INTEGERS else golden.constant(dtype, shape, 77.0)
    return zeros, y, index


def sizes(op):
    """Around waves, blocks and tiles of blocks (1024 units)."""
    turn = 0
    for n in (1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 257, 511, 1023, 1024, 1025, 2049, 4099, 65537):
        turn += 1
        dtype = op.dtypes[turn % len(op.dtypes)]
        for way in op.ways(dtype) if n in (1, 64, 257, 1025, 4099) else [op.way(dtype, turn)]:
            yield op.case(
                f"size_{n}_into_{n + 3}",
                *tensors_of(op, dtype, (n,), 0, n + 3, way, INDEX_DTYPES[1 + turn % 4], turn),
                0,
                way,
            )
    for shape, dim, size in (
        ((20, 70), 1, 93),
        ((50, 70), 0, 24),
        ((7, 30, 11), 1, 45),
        ((5, 30, 64), 1, 37),
        ((3, 5, 30, 32), 2, 39),
        ((30, 300), 1, 401),
        ((1, 5000), 1, 6000),
        ((700, 1), 0, 900),
        ((16, 1, 64), 1, 3),
        ((2, 3, 1000), 2, 1200),
        ((16, 1025), 0, 23),
        ((3, 1100), 1, 1400),
    ):
        turn += 1
        for i, dtype in enumerate(op.dtypes[turn % 3::3]):
            way = op.way(dtype, i + turn)
            yield op.case(f"size_{name_of(shape)}_dim{dim}_into_{size}",
                          *tensors_of(op, dtype, shape, dim, size, way, INDEX_DTYPES[1 + turn % 4], turn), dim, way)
    # Rows that move in units of 1 to 16 bytes.
    for i, dtype in enumerate(op.dtypes):
        for columns in ((1, 4, 8, 24), (2, 6, 16, 1025), (3, 12, 40), (8, 16, 127))[i % 4]:
            turn += 1
            rows = 3 + 60 // columns
            for way in (op.way(dtype, turn), op.way(dtype, turn + 1))[:1 + turn % 2]:
                yield op.simple(
                    f"size_rows_{columns}",
                    dtype,
                    INDEX_DTYPES[turn % 5],
                    (rows, columns),
                    0,
                    op.size_for(way, dtype, rows),
                    way,
                    index=by(1, 0),
                    turn=turn,
                )
