"""The cases that gather and index_select share, and the meaning of an index."""

import math

import numpy as np

import golden
from golden import Case, Expected, View, bell, bits, explicit, report

DTYPES = ("f32", "f16", "bf16", "f64", "u8", "i8", "i16", "u16", "i32", "u32", "i64", "u64")
FLOATS = DTYPES[:4]
BY_SIZE = ("u8", "u16", "f32", "i64")  # a dtype for each size of elements
INDEX_DTYPES = ("u8", "i16", "i32", "u32", "i64")
MARK = {dtype: int(np.iinfo(golden.dtypes.INTEGERS[dtype]).max) for dtype in INDEX_DTYPES}
LOWEST = {dtype: int(np.iinfo(golden.dtypes.INTEGERS[dtype]).min) for dtype in INDEX_DTYPES}


# ---- the meaning of an index

def meaning(indices, dtype, size):
    """(valid, bad): the indices that name an element, and the indices out of range. The sentinel index is neither."""
    wide = np.array(indices.tolist(), dtype=object).reshape(indices.shape)  # Python's integers do not wrap around
    marked = wide == MARK[dtype]
    inside = (wide >= 0) & (wide < size)
    return (inside & ~marked).astype(bool), (~inside & ~marked).astype(bool)


def reported(before, bad):
    """The report after a call with the indices `bad` out of range, in row-major order."""
    if before is None:
        return {}
    at = np.flatnonzero(bad.reshape(-1))
    count, first = (int(value) % 2**64 for value in before)
    if len(at):
        first = min(first, int(at[0]))
    return {"report": Expected(np.array([count + len(at), first - 2**64 if first >= 2**63 else first], dtype=np.int64))}


def name_of_dtype(kind):
    return {"uint8": "u8", "int16": "i16", "int32": "i32", "uint32": "u32", "int64": "i64"}[np.dtype(kind).name]


def torch_index(torch, index, size):
    """The index for PyTorch, or None if PyTorch would refuse it: a sentinel index, or an index out of range. (u32 is
    i32 here. Negative numbers are out of range in both.)"""
    wide = index.to(torch.int64)
    if wide.numel() == 0:
        return wide
    mark = {torch.uint8: 255, torch.int16: 32767}.get(index.dtype, size)
    usable = int(wide.min()) >= 0 and int(wide.max()) < size and not bool((wide == mark).any())
    return wide if usable else None


# ---- tensors

def data(dtype, shape, **layout):
    """Elements of any bits, or numbers for floats. Elements that share memory are equal."""
    kind = bell if dtype in FLOATS else bits
    stride = layout.get("stride")
    if not stride or not any(step == 0 and extent > 1 for step, extent in zip(stride, shape)):
        return kind(dtype, shape, **layout)
    part = kind(dtype, [1 if step == 0 else extent for step, extent in zip(stride, shape)])
    part.seed = golden.seed_of("data", dtype, str(shape), str(stride))
    return explicit(dtype, np.broadcast_to(part.array(), shape), **layout)


def indices(dtype, shape, size, **layout):
    """Unsorted, repeated and valid indices. If size exceeds the dtype's range, the sentinel index may be among them."""
    bound = min(size, MARK[dtype] + 1)
    stride = layout.get("stride")
    if not stride or not any(step == 0 and extent > 1 for step, extent in zip(stride, shape)):
        return golden.index(dtype, shape, bound, **layout)
    part = golden.index(dtype, [1 if step == 0 else extent for step, extent in zip(stride, shape)], bound)
    part.seed = golden.seed_of("indices", dtype, str(shape), str(stride))
    return explicit(dtype, np.broadcast_to(part.array(), shape), **layout)


class TakeOp:
    """`shape_of(x_shape, dim, n)`: the shape of an index with n entries along dim."""

    def __init__(self, name, shape_of, y_shape_of):
        self.name, self.shape_of, self.y_shape_of = name, shape_of, y_shape_of

    def case(self, name, x, index, dim, y=None, reports=None):
        inputs = {"x": x, "index": index}
        if reports is not None:
            inputs["report"] = reports
        out = View(x.dtype, self.y_shape_of(x.shape, index.shape, dim), **(y or {}))
        name += f"_{x.dtype}_{index.dtype}" + ("_report" if reports else "")
        return Case(self.name, name, x.dtype, inputs, {"y": out}, 0, {"dim": dim}, in_out=("report",), bitwise=True)

    def simple(self, name, dtype, index_dtype, shape, dim, n, **rest):
        """n valid indices a line."""
        index = indices(index_dtype, self.shape_of(shape, dim, n), shape[dim])
        return self.case(name, data(dtype, shape), index, dim, **rest)


# ---- smoke: each dtype with each index dtype, each rank with each dim

RANKS = [(13,), (5, 7), (3, 4, 5), (2, 3, 4, 3), (2, 3, 2, 3, 2), (2, 1, 3, 2, 2, 3), (2, 2, 1, 3, 2, 1, 3),
         (2, 1, 2, 2, 1, 3, 2, 2)]


def smoke(op):
    for at, dtype in enumerate(DTYPES + golden.dtypes.F8):
        for turn, index_dtype in enumerate(INDEX_DTYPES):
            shape = ((6, 8), (4, 3, 5), (9,), (3, 16))[(at + turn) % 4]
            dim = (at // 2 + turn) % len(shape)
            yield op.simple("smoke_" + name_of(shape) + f"_dim{dim}", dtype, index_dtype, shape, dim, 4,
                            reports=report() if turn % 2 else None)
    turn = 0
    for shape in RANKS:
        for dim in range(len(shape)):
            name = f"smoke_rank{len(shape)}_dim{dim}"
            yield op.simple(name, BY_SIZE[turn % 4], INDEX_DTYPES[turn % 5], shape, dim, 3)
            turn += 1


# ---- exact: bits that arithmetic would change

def exact(op):
    """Infinities, NaN, denormals and zeros of both signs. Integer dtypes hold NaN with all their bits."""
    inf, nan = math.inf, math.nan
    for dtype in FLOATS:
        least = math.ldexp(1.0, {"f32": -149, "f16": -24, "bf16": -133, "f64": -1074}[dtype])
        values = [0.0, -0.0, inf, -inf, nan, least, -least, 1.0]
        for shape in ((8,), (2, 4), (4, 2)):
            x = explicit(dtype, np.array(values).reshape(shape))
            for dim in range(len(shape)):
                name = f"exact_special_{name_of(shape)}_dim{dim}"
                yield op.case(name, x, indices("i64", op.shape_of(shape, dim, 6), shape[dim]), dim)
    for dtype, quiet, signalling in (("u16", 0x7E01, 0x7C01), ("u16", 0x7FC1, 0x7F81), ("u32", 0x7FC01234, 0x7F801234),
                                     ("u64", 0x7FF8000000001234, 0x7FF0000000001234)):
        sign = 1 << (8 * np.dtype(golden.dtypes.INTEGERS[dtype]).itemsize - 1)
        values = [quiet, signalling, quiet | sign, signalling | sign, 0, sign, 1, 2 * sign - 1]
        for shape in ((8,), (2, 4), (1, 8)):
            x = explicit(dtype, np.array(values, dtype=object).reshape(shape).tolist())
            name = f"exact_nan_{quiet:x}_{name_of(shape)}"
            yield op.case(name, x, indices("u32", op.shape_of(shape, 0, 8), shape[0]), 0)


# ---- indices

def bad_values(dtype, size):
    """Indices out of range for a dimension of `size`, with the ends of the dtype."""
    candidates = [size, size + 1, MARK[dtype] - 1, -1, -size, LOWEST[dtype], 2**31, 2**32, -2**32, 2**62, 2**31 - 2]
    top, low = MARK[dtype], LOWEST[dtype]
    return [v for v in dict.fromkeys(candidates) if low <= v < top and not 0 <= v < size]


def mixed(dtype, shape, size, wrong, seed):
    """Valid indices with `wrong` spread among them. If their number is no multiple of 3, each wrong index has a place
    of its own."""
    values = golden.index(dtype, shape, min(size, MARK[dtype]), seed=seed).array().reshape(-1)
    values = np.array(values.tolist(), dtype=object)
    count = len(values)
    for k, value in enumerate(wrong):
        values[(5 + k * 3) % count] = value
    return explicit(dtype, values.reshape(shape).tolist())


def index_cases(op):
    """Each index dtype: no index, equal indices, the ends, the sentinel index, out of range. With a report and without.
    Along dim and across it, and in rows that are moved whole, because kernels count these in another way."""
    turn = 0
    for index_dtype in INDEX_DTYPES:
        for kind, (shape, dim) in (("any", ((9, 6), 1)), ("outer", ((9, 5), 0)), ("wide", ((9, 16), 0))):
            turn += 1
            dtype = ("f32", "u32", "f64", "i64")[turn % 4] if kind == "wide" else BY_SIZE[turn % 4]
            x, size, n = data(dtype, shape), shape[dim], 13
            like = op.shape_of(shape, dim, n)
            for reports in (None, report()):
                def case(name, index, reports=reports):
                    return op.case(f"indices_{name}_{kind}", x, index, dim, reports=reports)
                yield case("mark", mixed(index_dtype, like, size, [MARK[index_dtype]] * 3, turn))
                yield case("out_of_range", mixed(index_dtype, like, size, bad_values(index_dtype, size), turn))
                wrong = [MARK[index_dtype], size, MARK[index_dtype], MARK[index_dtype] - 1]
                yield case("mixed", mixed(index_dtype, like, size, wrong, turn))
            yield case("none_right", explicit(index_dtype, np.full(like, size)))
            yield case("all_marks", explicit(index_dtype, np.full(like, MARK[index_dtype], dtype=object).tolist()))
            yield case("same", explicit(index_dtype, np.full(like, size - 1)), None)
            yield case("begun_report", mixed(index_dtype, like, size, [size] * 2, turn), report(7, 6))
            yield case("ends", explicit(index_dtype, np.broadcast_to(ends(like, dim, size), like)), None)
    for dtype in BY_SIZE:
        for shape in ((6, 4), (4, 6)):
            for dim in (0, 1):
                empty = explicit("i32", np.zeros(op.shape_of(shape, dim, 0), dtype=int))
                name = f"indices_empty_{name_of(shape)}_dim{dim}"
                yield op.case(name, data(dtype, shape), empty, dim, reports=report())
        none = explicit(dtype, np.zeros((0, 4), dtype=int))
        for n in (1, 5):
            index = explicit("i16", np.zeros(op.shape_of((0, 4), 0, n), dtype=int))
            yield op.case(f"indices_of_nothing_{n}", none, index, 0, reports=report())
        marks = explicit("u8", np.full(op.shape_of((0, 4), 0, 2), 255))
        yield op.case("indices_of_nothing_marks", none, marks, 0, reports=report())
    # Dimensions that are longer than the sentinel index, and indices beyond 8 and 16 bits.
    for shape, dim, index_dtype, values in (
            ((300, 3), 0, "u8", [254, 255, 0]), ((2, 300), 1, "u8", [255, 254, 255]),
            ((300, 8), 0, "i16", [255, 256, 299]),
            ((32770, 2), 0, "i16", [32766, 32767, 0]), ((32770,), 0, "i32", [32767, 32769, 32768]),
            ((70000,), 0, "u32", [65535, 65536, 69999]), ((70000,), 0, "i64", [69999, 0, 65536])):
        like = op.shape_of(shape, dim, 3)
        along = np.array(values).reshape([3 if d == dim else 1 for d in range(len(shape))] if len(like) > 1 else [3])
        index = explicit(index_dtype, np.broadcast_to(along, like))
        yield op.case(f"indices_long_{name_of(shape)}", data("u16", shape), index, dim, reports=report())
    # Many indices out of range, in many waves at the same time.
    for shape, dim, n in (((100, 37), 0, 1000), ((37, 100), 1, 500), ((100, 64), 0, 999), ((1000,), 0, 5000)):
        for index_dtype in ("i16", "i32", "u32", "i64"):
            many = golden.index(index_dtype, op.shape_of(shape, dim, n), shape[dim] + 11)
            yield op.case(f"indices_many_{name_of(shape)}_dim{dim}", data("f32", shape), many, dim, reports=report())


def ends(like, dim, size):
    """0 and size - 1 in turn along dim."""
    if len(like) == 1:
        dim = 0
    along = np.where(np.arange(like[dim]) % 2, 0, size - 1)
    return along.reshape([like[dim] if d == dim else 1 for d in range(len(like))])


# ---- sizes

def sizes(op):
    """Around waves, blocks and tiles of blocks (1024 units), an element at a time and in vectors of 2 to 16 bytes."""
    turn = 0
    for n in (1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 257, 511, 1023, 1024, 1025, 2047, 2048, 2049, 4099,
              65535, 65536, 65537, 262147):
        turn += 1
        yield op.simple(f"size_{n}_of_101", BY_SIZE[turn % 4], INDEX_DTYPES[turn % 5], (101,), 0, n)
    for dtype in BY_SIZE:
        for columns in (1, 2, 3, 4, 6, 8, 12, 16, 24, 40, 48, 100, 127, 128, 1000, 1024, 1025, 4096, 4104):
            turn += 1
            rows = 3 + 1100 // columns
            yield op.simple(f"size_rows_{columns}", dtype, INDEX_DTYPES[turn % 5], (11, columns), 0, rows)
    for shape, dim, n in (((50, 70), 1, 33), ((50, 70), 0, 129), ((7, 30, 11), 1, 45), ((5, 30, 64), 1, 17),
                          ((3, 5, 30, 32), 2, 19), ((300, 300), 1, 300), ((1, 5000), 1, 5000), ((5000, 1), 0, 5000),
                          ((64, 1, 64), 1, 3), ((2, 3, 1000), 2, 999)):
        for dtype in BY_SIZE[turn % 2::2]:
            yield op.simple(f"size_{name_of(shape)}_dim{dim}_{n}", dtype, INDEX_DTYPES[1 + turn % 4], shape, dim, n)
        turn += 1
    # Rows of x that are staged. One at a time because of gaps, by vectors of y and by elements. And two at a time.
    for turn, (dtype, size) in enumerate(zip(BY_SIZE, (3000, 2000, 1500, 1000))):
        index = indices(INDEX_DTYPES[1 + turn], op.shape_of((64, size), 1, 1028 + turn % 2), size)
        x = data(dtype, (64, size), **by(size + 3, 1))
        yield op.case(f"size_staged_{size}", x, index, 1, reports=report() if turn % 2 else None)
    index = indices("i64", op.shape_of((129, 8192), 1, 2050), 8192)
    yield op.case("size_staged_8192", data("bf16", (129, 8192)), index, 1)
    # Rows of 40 and 120 kB: too large for several blocks on a unit, also on GPUs with more shared memory.
    for dtype, size, n in (("u8", 40001, 2504), ("u16", 20001, 2504), ("f32", 10001, 2504), ("i64", 5001, 2504),
                           ("u16", 60001, 7504)):
        index = golden.index("i32", op.shape_of((65, size), 1, n), size + 5)
        yield op.case(f"size_staged_{size}", data(dtype, (65, size)), index, 1, reports=report())
    for shape, dim in (((0, 5), 0), ((5, 0), 1), ((4, 0, 3), 0), ((4, 0, 3), 2), ((0,), 0)):
        at = op.shape_of(shape, dim, 0)
        yield op.case(f"size_{name_of(shape)}_dim{dim}", explicit("f32", np.zeros(shape)),
                      explicit("i64", np.zeros(at, dtype=int)), dim, reports=report())


# ---- helpers

def name_of(shape):
    return "x".join(str(extent) for extent in shape)


def at(offset):
    return {"offset": offset}


def by(*stride, offset=0):
    return {"stride": stride, "offset": offset}
