"""What a golden file is made of: tensors, cases, and how they become JSON. README.md specifies the format."""

import dataclasses
import hashlib
import math
import re

import numpy as np

import dtypes
import philox

WHOLE = 160          # results with at most so many elements are stored whole
RANDOM_POSITIONS = 64
CERTAINTY = 8.0      # see row_tolerances


def seed_of(*names):
    """A seed that depends on names alone, so that adding a case changes no other. 53 bits, exact in any JSON reader."""
    return int.from_bytes(hashlib.sha256("/".join(names).encode()).digest()[:8], "little") >> 11


def contiguous(shape):
    """Row-major strides."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


@dataclasses.dataclass
class View:
    """dtype, shape and memory layout: an output, or what a Tensor adds elements to."""
    dtype: str
    shape: tuple
    stride: tuple = None  # None: contiguous
    offset: int = 0

    def header(self):
        out = {"dtype": self.dtype, "shape": list(self.shape)}
        if self.stride is not None and tuple(self.stride) != contiguous(self.shape):
            out["stride"] = list(self.stride)
        if self.offset:
            out["offset"] = self.offset
        return out

    def addresses(self):
        """Where each element is, relative to element 0, in row-major order."""
        where = np.zeros(self.shape, dtype=np.int64)
        for axis, (extent, step) in enumerate(zip(self.shape, self.stride or contiguous(self.shape))):
            along = [1] * len(self.shape)
            along[axis] = extent
            where = where + (np.arange(extent, dtype=np.int64) * step).reshape(along)
        return where.reshape(-1)


@dataclasses.dataclass
class Tensor(View):
    """An input. Its elements are `values` (an array of the shape), or come from the generator `kind`: one of
    philox.GENERATORS with scale and shift, or, for integers, "bits" or "index" with its bound."""
    values: np.ndarray = None
    kind: str = None
    scale: float = 1.0
    shift: float = 0.0
    bound: int = None
    seed: int = None  # None: set by the case, from its name

    def array(self):
        """The elements, rounded to the dtype: float64, or the integer type."""
        if self.kind is None:
            return np.array(dtypes.round_to(self.values, self.dtype), order="C").reshape(self.shape)
        count = math.prod(self.shape)
        if self.kind == "bits":
            kind = np.dtype(dtypes.INTEGERS[self.dtype])
            return philox.bits(self.seed, count).astype(f"u{kind.itemsize}").view(kind).reshape(self.shape)
        if self.kind == "index":
            return dtypes.integers(philox.index(self.seed, count, self.bound), self.dtype).reshape(self.shape)
        raw = philox.GENERATORS[self.kind](self.seed, count, self.scale, self.shift)
        return dtypes.round_to(raw, self.dtype).reshape(self.shape)

    def to_json(self):
        if self.kind is None:
            return {**self.header(), "values": numbers(self.array())}
        numbers_of_kind = {"bits": {}, "index": {"bound": self.bound}}
        rest = numbers_of_kind.get(self.kind, {"scale": self.scale, "shift": self.shift})
        return {**self.header(), "generator": {"kind": self.kind, "seed": self.seed, **rest}}


def explicit(dtype, values, **layout):
    values = dtypes.integers(values, dtype) if dtype in dtypes.INTEGERS else np.asarray(values)
    return Tensor(dtype, values.shape, values=values, **layout)


def bell(dtype, shape, scale=1.0, shift=0.0, **layout):
    return Tensor(dtype, tuple(shape), kind="bell", scale=scale, shift=shift, **layout)


def uniform(dtype, shape, scale=1.0, shift=0.0, **layout):
    return Tensor(dtype, tuple(shape), kind="uniform", scale=scale, shift=shift, **layout)


def constant(dtype, shape, value, **layout):
    return Tensor(dtype, tuple(shape), kind="constant", scale=0.0, shift=value, **layout)


def bits(dtype, shape, **layout):
    """Integers of any bits."""
    return Tensor(dtype, tuple(shape), kind="bits", **layout)


def index(dtype, shape, bound, **layout):
    """Integers in [0, bound)."""
    return Tensor(dtype, tuple(shape), kind="index", bound=bound, **layout)


def report(count=0, first=-1):
    """A hipops_index_report as an i64 tensor: what a case's input `report` holds (-1 stands for 2^64 - 1), and, as an
    Expected, what its output must be."""
    return explicit("i64", [count, first])


@dataclasses.dataclass
class Expected:
    """A reference result: float64 (or integers), of the output's shape.

    scale: magnitude of the terms of a sum that may cancel; part of the file. None where nothing cancels.
    condition: magnitude by which a float64 evaluation may err, for the comparison of the references; None: as scale.
    """
    values: np.ndarray
    scale: np.ndarray = None
    condition: np.ndarray = None


@dataclasses.dataclass
class Case:
    op: str
    name: str
    dtype: str
    inputs: dict            # argument -> Tensor
    outputs: dict           # argument -> View
    ulps: int
    params: dict = dataclasses.field(default_factory=dict)
    in_place: tuple = None
    in_out: tuple = ()      # arguments that are inputs and outputs; their outputs are set from the inputs
    bitwise: bool = False   # no arithmetic: large float outputs have a checksum of their bits, not of their values

    def __post_init__(self):
        if not re.fullmatch("[A-Za-z0-9_-]{1,200}", self.name):  # as hipops-parity reads it; "1e+25" of a number is no such name
            raise ValueError(f"{self.op}: a case's name is {self.name!r}, expected 1 to 200 letters, digits, _ and -")
        for argument in self.in_out:
            if argument in self.inputs:
                t = self.inputs[argument]
                self.outputs = {**self.outputs, argument: View(t.dtype, t.shape, t.stride, t.offset)}
        for argument, tensor in self.inputs.items():
            if tensor.kind is not None and tensor.seed is None:
                tensor.seed = 0 if tensor.kind == "constant" else seed_of(self.op, self.name, argument)

    def arrays(self):
        return {argument: tensor.array() for argument, tensor in self.inputs.items()}

    def to_json(self, expected, torch_ulps):
        out = {"name": self.name, "dtype": self.dtype, "params": self.params,
               "inputs": {argument: tensor.to_json() for argument, tensor in self.inputs.items()},
               "outputs": {argument: result_to_json(self, argument, expected[argument]) for argument in self.outputs}}
        if self.in_place:
            out["in_place"] = list(self.in_place)
        out["tolerance"] = {"ulps": self.ulps}
        out["torch_ulps"] = torch_ulps
        return out


def number(value):
    if isinstance(value, int):
        return value
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


def numbers(values):
    """Plain Python numbers: integers as such, float64 by repr in the end, which reads back bit for bit."""
    return [number(value) for value in np.asarray(values).reshape(-1).tolist()]


def binade_numbers(scale, dtype):
    """Scales as powers of two: only the binade decides the ULP, and 0.5 is shorter than 0.7071067811865476. Where all
    terms are zeros, 0: nothing cancels, and the sum's sign is known."""
    return numbers(np.where(scale == 0, 0.0, np.ldexp(1.0, dtypes.binade(scale, dtype).astype(np.int32))))


def result_to_json(case, argument, expected):
    view = case.outputs[argument]
    out = view.header()
    values = expected.values.reshape(-1)
    scale = None if expected.scale is None else expected.scale.reshape(-1)
    if values.size <= WHOLE:
        out["values"] = numbers(values)
    else:
        positions = sampled_positions(view.shape, seed_of(case.op, case.name, argument, "positions"))
        out["positions"] = positions.tolist()
        out["values"] = numbers(values[positions])
        if view.dtype in dtypes.INTEGERS or case.bitwise:
            out["checksum"] = checksum(view, values)
        else:
            out.update(checksums(view, expected, case.ulps))
        scale = None if scale is None else scale[positions]
    if scale is not None:
        out["scale"] = binade_numbers(scale, view.dtype)
    return out


def sampled_positions(shape, seed):
    """The ends of the first, a middle and the last row, in the last one both sides of wave
    and block boundaries, and some at random."""
    columns = shape[-1]
    count = math.prod(shape)
    rows = count // columns
    ends = set(range(min(8, columns))) | set(range(max(0, columns - 8), columns))
    boundaries = {2**k - side for k in range(4, 20, 2) for side in (0, 1) if 2**k < columns}
    chosen = {row * columns + column for row in (0, rows // 2, rows - 1) for column in ends}
    chosen |= {(rows - 1) * columns + column for column in boundaries}
    random = (philox.words(seed, RANDOM_POSITIONS)[0] * np.uint64(count)) >> np.uint64(32)
    return np.array(sorted(chosen | set(random.tolist())), dtype=np.int64)


def signs(columns):
    j = np.arange(columns, dtype=np.uint64) * np.uint64(2654435769)
    return np.where((j >> np.uint64(16)) & np.uint64(1), 1.0, -1.0)


def checksum(view, values):
    """The sum, modulo 2^64, of every element's bits times an odd number that depends on its position: exact, and no
    single wrong element keeps it."""
    weights = np.arange(values.size, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) | np.uint64(1)
    return int(np.sum(dtypes.bits_of(values, view.dtype) * weights, dtype=np.uint64))


def checksums(view, expected, ulps):
    """Per row, the signed sum of the elements, and how far it may be off.

    If each element may err by t ULPs, the sum errs by sum(t ULP) at worst; but the signs have nothing to do with the
    errors, so it stays within K sqrt(sum (t ULP)^2) but for a chance of 2 exp(-K^2 / 2), which is 3e-14 for K = 8
    (Hoeffding). Added to that is what summing in float64 from the left may lose.
    """
    rows = expected.values.reshape(-1, view.shape[-1]).astype(np.float64)
    nan = np.isnan(rows).all(axis=1)
    if not np.isfinite(rows[~nan]).all():
        raise ValueError("checksums of results that are not finite")
    rows = np.where(nan[:, None], 0.0, rows)
    terms = rows * signs(view.shape[-1])
    sums = [math.fsum(row) for row in terms.tolist()]
    magnitude = np.abs(rows)
    if expected.scale is not None:
        magnitude = np.maximum(magnitude, expected.scale.reshape(rows.shape))
    # An exact answer (0 ULPs) leaves no room; nor does its checksum need any, for sums of few bits.
    step = ulps * dtypes.ulp(magnitude, view.dtype)
    largest = np.maximum(np.max(step, axis=1), 2.0**-1074)  # divided by, as squares of denormals would vanish
    norm = largest * np.sqrt(np.sum((step / largest[:, None]) ** 2, axis=1))
    elements = np.minimum(np.sum(step, axis=1), CERTAINTY * norm)
    partial = np.max(np.abs(np.cumsum(terms, axis=1)), axis=1)
    tolerances = elements + view.shape[-1] * 2.0**-53 * partial * (ulps > 0)
    return {"row_checksums": numbers(np.where(nan, np.nan, sums)),
            "row_tolerances": [round_up(t) for t in np.where(nan, 0.0, tolerances).tolist()]}


def round_up(value, digits=3):
    """To three digits, upwards: short, and free of what the last bits of a sum depend on."""
    if value < 1e-300:
        return value
    step = 10.0 ** (math.floor(math.log10(value)) + 1 - digits)
    return float(f"{math.ceil(value / step * (1 - 1e-9)) * step:.{digits}g}")


def check_overlap(view, values):
    """Elements that share memory must be the same value, or no buffer could hold them."""
    addresses = view.addresses()
    _, first, inverse = np.unique(addresses, return_index=True, return_inverse=True)
    flat = np.asarray(values).reshape(-1)
    return np.array_equal(flat[first][inverse.reshape(-1)], flat, equal_nan=flat.dtype.kind == "f")
