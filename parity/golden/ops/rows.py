"""Shapes, layouts, sizes and cases of the row ops (norms, softmax)."""

import dataclasses

import numpy as np

import golden
from golden import Case, View, bell, explicit, uniform

DTYPES = ("f32", "f16", "bf16", "f64")
ULPS = {"f16": 1, "bf16": 1, "f32": 4, "f64": 4}
SCALAR_ULPS = dict.fromkeys(DTYPES, 4)  # of f32, or f64 for f64


@dataclasses.dataclass(frozen=True)
class RowOp:
    name: str
    optional: tuple       # of the weights: subsets of ("weight", "bias")
    params: dict
    x_scale: float = 1.5
    x_shift: float = 0.25
    case_type: type = Case
    dtypes: tuple = DTYPES
    scalars: dict = dataclasses.field(default_factory=dict)  # outputs of one number a row -> their tolerances

    def weight_paths(self):
        """Every subset of the optional tensors."""
        paths = [()]
        for argument in self.optional:
            paths += [path + (argument,) for path in paths]
        return paths

    def case(self, name, x, weights=(), weight_dtype=None, y=None, in_place=False, ulps=None, params=None,
             w_layout=None, scalars=None, **given):
        """A case from its x. `weights` names the weights to generate. Tensors in `given` are used as they are. `scalars`
        has the layouts of the scalars to return; it may be a set of names."""
        inputs = {"x": x}
        columns = x.shape[-1]
        kinds = {tensor.dtype for tensor in given.values()} | ({weight_dtype or x.dtype} if weights else set())
        for argument in self.optional:
            if argument in given:
                inputs[argument] = given[argument]
            elif argument in weights:
                layout = dict(w_layout or {})
                inputs[argument] = weight(argument, weight_dtype or x.dtype, columns, layout)
        path = "".join("_" + argument for argument in inputs if argument != "x")
        suffix = f"_{x.dtype}{path}" + "".join(f"_{kind}" for kind in sorted(kinds) if kind != x.dtype)
        params = self.params if params is None else params
        if params.get("flags"):
            suffix += f"_flags_{params['flags']}"
        y = View(x.dtype, x.shape, **(y or {}))
        if in_place:
            y.stride, y.offset = x.stride, x.offset
        outputs = {"y": y, **scalar_views(self.scalars, x, scalars)}
        return self.case_type(self.name, name + suffix, x.dtype, inputs, outputs, ULPS[x.dtype] if ulps is None else ulps,
                              params, ("y", "x") if in_place else None)

    def x(self, dtype, shape, **layout):
        return bell(dtype, shape, self.x_scale, self.x_shift, **layout)


def scalar_views(tolerances, x, layouts):
    """The views of scalars of x's rows: f64 if x is f64, otherwise f32."""
    dtype = "f64" if x.dtype == "f64" else "f32"
    views = {}
    for name, ulps in tolerances.items():
        if layouts and name in layouts:
            layout = layouts[name] if isinstance(layouts, dict) else {}
            shape = x.shape[:-1] if "stride" in layout and len(layout["stride"]) < len(x.shape) else (*x.shape[:-1], 1)
            views[name] = View(dtype, shape, ulps=float(ulps[x.dtype]), **layout)
    return views


def statistics(op, case=None):
    """Scalars of rows: in each body of a kernel and each layout, of scalars with strides, each alone, and in place."""
    case, every = case or op.case, set(op.scalars)
    for turn, dtype in enumerate(op.dtypes):
        length = {"f32": 4, "f64": 2}.get(dtype, 8)
        for shape in ((3, 40), (2, 3, 16), (37, 5), (150, 8), (2, 64 * length), (2, 600 * length), (1, 4100 * length), (1, 8200 * length)):
            yield case("statistics_" + name_of(shape), op.x(dtype, shape), scalars=every)
            if shape[-1] % length == 0 and shape[-1] > 40:
                odd = (*shape[:-1], shape[-1] - 1)
                yield case("statistics_" + name_of(odd), op.x(dtype, odd, offset=1), scalars=every)
        yield case("statistics_in_place_40001", op.x(dtype, (1, 40001)), in_place=True, scalars=every)
        for columns in (30, 2100):
            yield case(f"statistics_every_second_{columns}", op.x(dtype, (2, columns), stride=(2 * columns, 2)), scalars=every)
        yield case("statistics_strides", op.x(dtype, (2, 3, 16)),
                   scalars=dict(zip(op.scalars, ({"stride": (1, 2), "offset": 1}, {"stride": (7, 2, 1)}) if turn % 2 else
                                    ({"stride": (40, -13, 5)}, {"stride": (3, 1)}))))
        for name in op.scalars:
            yield case(f"statistics_{name}_alone", op.x(dtype, (5, 3, 24)), scalars={name})


def weight(argument, dtype, columns, layout):
    scale, shift = (0.5, 1.0) if argument == "weight" else (1.0, 0.0)
    if layout.get("stride") == (0,):  # one element for all
        return explicit(dtype, np.full(columns, shift + 0.375), **layout)
    return uniform(dtype, (columns,), scale, shift, **layout)


def name_of(shape):
    return "x".join(str(extent) for extent in shape)


# ---- smoke: every dtype, rank and set of optional tensors, on small shapes

SMOKE_SHAPES = [(64,), (3, 40), (2, 3, 16), (2, 1, 3, 24), (1, 2, 2, 2, 17), (2, 1, 2, 1, 2, 8), (1, 2, 1, 2, 1, 2, 9),
                (2, 1, 1, 2, 1, 2, 1, 12)]


def smoke(op):
    for dtype in DTYPES:
        for shape in SMOKE_SHAPES:
            yield op.case(f"smoke_rank{len(shape)}", op.x(dtype, shape))
    turn = 0
    for dtype in DTYPES:
        for path in op.weight_paths()[1:]:
            for weight_dtype in (dtype, "f32")[:1 if dtype == "f32" else 2]:
                for shape in ((4, 32), SMOKE_SHAPES[turn % 8]):
                    yield op.case("smoke_" + name_of(shape) + (f"_{len(shape)}d" if len(shape) > 2 else ""),
                                  op.x(dtype, shape), path, weight_dtype)
                turn += 3


# ---- adversarial

def one_large(case):
    """Short rows with one large element. Each other square is below half a digit of f32 next to it, but their sum is
    not."""
    for columns in (41, 50, 61, 63):
        x = np.full((6, columns), 2.0**-13)
        x[np.arange(6), np.arange(6) * (columns - 1) // 5] = 1.0
        yield case(f"one_large_{columns}", explicit("f32", x), 0.0)


# ---- layouts

@dataclasses.dataclass(frozen=True)
class Layout:
    name: str
    shape: tuple
    x: dict = dataclasses.field(default_factory=dict)
    y: dict = dataclasses.field(default_factory=dict)
    weight: dict = dataclasses.field(default_factory=dict)
    in_place: bool = False


def at(offset):
    return {"offset": offset}


def by(*stride, offset=0):
    return {"stride": stride, "offset": offset}


LAYOUTS = [
    Layout("padded_rows", (3, 24), by(40, 1)),
    Layout("padded_by_one", (3, 24), by(25, 1)),
    Layout("padded_x_and_y", (3, 24), by(40, 1), by(32, 1)),
    Layout("padded_y", (3, 24), {}, by(37, 1)),
    Layout("transposed", (5, 33), by(1, 5)),
    Layout("transposed_y", (5, 33), {}, by(1, 5)),
    Layout("transposed_both", (8, 16), by(1, 8), by(1, 8)),
    Layout("step_2", (3, 34), by(68, 2)),
    Layout("step_2_to_step_3", (3, 34), by(68, 2), by(102, 3)),
    Layout("negative_columns", (3, 40), by(40, -1)),
    Layout("negative_rows", (3, 40), by(-40, 1)),
    Layout("negative_both", (3, 40), by(-48, -1), at(1)),
    Layout("negative_y", (3, 40), {}, by(-40, -1)),
    Layout("expanded_rows", (4, 32), by(0, 1)),
    Layout("expanded_columns", (4, 32), by(1, 0)),
    Layout("expanded_outer", (3, 2, 32), by(32, 0, 1)),
    Layout("misaligned_x", (2, 64), at(1)),
    Layout("misaligned_y", (2, 64), {}, at(1)),
    Layout("misaligned_weight", (2, 64), {}, {}, at(1)),
    Layout("misaligned_alike", (2, 64), at(3), at(3), at(3)),
    Layout("misaligned_apart", (2, 64), at(1), at(2), at(3)),
    Layout("misaligned_padded", (2, 63), by(65, 1, offset=1), by(71, 1, offset=5)),
    Layout("permuted_outer", (2, 2, 3, 16), by(96, 16, 32, 1)),
    Layout("permuted_inner", (2, 2, 3, 12), by(72, 3, 1, 6)),
    Layout("permuted_y", (2, 2, 3, 12), {}, by(12, 24, 48, 1)),
    Layout("qkv_slice", (3, 3, 16), by(144, 16, 1, offset=48)),
    Layout("rank8", (2, 1, 2, 1, 2, 1, 2, 16), by(160, 7, 320, 0, 16, -3, 32, 1), by(128, 9, 64, 9, 32, 9, 16, 1)),
    Layout("strides_of_ones", (1, 4, 1, 40), by(-999, 40, 0, 1), by(5, 40, 7, 1)),
    Layout("one_column", (6, 1), by(3, 99), by(2, 0)),
    Layout("weight_step_2", (2, 48), {}, {}, by(2)),
    Layout("weight_negative", (2, 48), {}, {}, by(-1)),
    Layout("weight_expanded", (2, 48), {}, {}, by(0)),
    Layout("in_place", (3, 64), in_place=True),
    Layout("in_place_padded", (3, 40), by(48, 1), in_place=True),
    Layout("in_place_transposed", (5, 33), by(1, 5), in_place=True),
    Layout("in_place_misaligned", (2, 63), by(64, 1, offset=1), in_place=True),
    Layout("in_place_long", (2, 4096), in_place=True),
    Layout("long_padded", (3, 1000), by(1024, 1), by(1003, 1)),
    Layout("long_misaligned", (2, 4100), at(1), at(1), at(1)),
    Layout("long_misaligned_y", (2, 2048), {}, at(1)),
    Layout("long_odd_rows", (3, 2049)),
    Layout("long_transposed", (3, 1500), by(1, 3)),
    Layout("long_step_2_in_place", (2, 3000), by(6000, 2), in_place=True),
]


def layouts(op):
    for turn, layout in enumerate(LAYOUTS):
        if layout.weight and not op.optional:
            continue
        for dtype in ("f32", ("bf16", "f16", "f64")[turn % 3]):
            x = op.x(dtype, layout.shape, **layout.x)
            if any(step == 0 and extent > 1 for step, extent in zip(x.stride or (), x.shape)):
                x = shared_elements(op, layout, x)
            weight_dtype = dtype if turn % 4 < 2 else "f32"
            yield op.case(f"layout_{layout.name}", x, op.optional, weight_dtype, y=layout.y, in_place=layout.in_place,
                          w_layout=layout.weight)


def shared_elements(op, layout, x):
    """Explicit values for a view whose elements share memory, equal along the dimensions with a stride of 0."""
    stepped = tuple(1 if step == 0 else extent for extent, step in zip(x.shape, x.stride))
    part = bell(x.dtype, stepped, op.x_scale, op.x_shift, seed=golden.seed_of(op.name, layout.name, x.dtype)).array()
    return explicit(x.dtype, np.broadcast_to(part, x.shape), **layout.x)


# ---- sizes

COLUMNS = [0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 513, 1023, 1024,
           1025, 2047, 2048, 2049, 4095, 4096, 4097, 5120, 8191, 8192, 8193, 16383, 16384, 16385, 32768, 65535, 65536,
           65537, 131072, 262144, 262147]
MANY_ROWS = [(0, 64), (37, 0), (1, 100), (2, 97), (37, 5), (199, 1), (199, 64), (37, 129), (37, 1000), (1025, 3),
             (1025, 32), (5, 40000), (3, 70001), (2, 300000), (1, 600008)]


def rows_for(columns):
    if columns < 48:
        return 3
    return 2 if columns < 4095 else 1


def sizes(op):
    shapes = [(rows_for(columns), columns) for columns in COLUMNS]
    paths = op.weight_paths()
    for turn, shape in enumerate(shapes + MANY_ROWS):
        kinds = ("f32", "bf16", ("f16", "f64")[turn % 2])
        for dtype in kinds if shape[0] < 100 else kinds[turn % 2:][:1]:  # a checksum for each row makes the file large
            path = paths[(turn // 2) % len(paths)]
            yield op.case("size_" + name_of(shape), op.x(dtype, shape), path, "f32" if turn % 3 == 0 else dtype)
    yield from each_reach(op, paths)
    if op.scalars:
        yield from statistics(op)


# Numbers of 16-byte vectors at which kernels may change.
VECTORS = (2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 1100, 2048, 2052)
# Rows and vectors: not few rows for a device of up to 19 units.
FOR_ALL_UNITS = ((150, 160), (40, 1024))
BEYOND_A_BLOCK = 4100  # vectors: too many for a block of 512 work-items to hold on chip
TWO_EACH = 600  # more vectors than work-items
BEYOND_ANY_BLOCK = 8200  # too many for a block of 1024


def each_reach(op, paths):
    """Rows of each length in every dtype: whole vectors; one element less, at an odd address; a few columns; every
    second element."""
    for dtype in DTYPES:
        elements = 16 // {"f32": 4, "f64": 8}.get(dtype, 2)
        for turn, (rows, vectors) in enumerate([(1, vectors) for vectors in VECTORS] + list(FOR_ALL_UNITS) +
                                                [(1, BEYOND_A_BLOCK), (1, TWO_EACH)]):
            columns = vectors * elements
            path = paths[turn % len(paths)]
            name = str(columns) if rows == 1 else name_of((rows, columns))
            yield op.case(f"whole_vectors_{name}", op.x(dtype, (rows, columns)), path)
            if vectors > 4:
                name = str(columns - 1) if rows == 1 else name_of((rows, columns - 1))
                yield op.case(f"odd_end_{name}", op.x(dtype, (rows, columns - 1), offset=1), path)
        for turn, columns in enumerate(vectors * elements - end for vectors in (BEYOND_A_BLOCK, BEYOND_ANY_BLOCK)
                                       for end in (0, 1)):  # in place this row is not split
            yield op.case(f"in_place_{columns}", op.x(dtype, (1, columns)), paths[turn % len(paths)], in_place=True)
        for turn, columns in enumerate((3, 7, 13, 29)):
            yield op.case(f"one_piece_{columns}", op.x(dtype, (5, columns), offset=1), paths[turn % len(paths)])
        for turn, columns in enumerate((3, 30, 120, 1000, 2100)):
            yield op.case(f"every_second_{columns}", op.x(dtype, (1, columns), stride=(2 * columns, 2)), paths[turn % len(paths)])


# ---- helpers of the ops' own topics

def quirky(dtype, shape, seed, scale=1.0, shift=0.0, at=()):
    """Explicit bell-distributed values, some overwritten by `at`: [(row, column, value), ...]."""
    values = bell(dtype, shape, scale, shift, seed=seed).array()
    for row, column, value in at:
        values[row, column] = value
    return explicit(dtype, values)
