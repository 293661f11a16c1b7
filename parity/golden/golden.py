"""The parts of a golden file, tensors and cases, and their form in JSON. README.md specifies the format."""

import dataclasses
import hashlib
import math
import re

import numpy as np

import dtypes
import philox

WHOLE = 160          # the largest number of elements of a result that is stored whole
RANDOM_POSITIONS = 64
CERTAINTY = 8.0      # see row_tolerances


def seed_of(*names):
    """A seed that depends only on names, so that a new case changes no other case. 53 bits, which any JSON reader
    keeps."""
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
    """dtype, shape and memory layout: an output, or an input without its elements."""
    dtype: str
    shape: tuple
    stride: tuple = None  # None: contiguous
    offset: int = 0
    ulps: float = None   # the tolerance of an output. None: the case's

    def header(self):
        out = {"dtype": self.dtype, "shape": list(self.shape)}
        if self.stride is not None and tuple(self.stride) != contiguous(self.shape):
            out["stride"] = list(self.stride)
        if self.offset:
            out["offset"] = self.offset
        return out

    def addresses(self):
        """The offset of each element from element 0, in row-major order."""
        where = np.zeros(self.shape, dtype=np.int64)
        for axis, (extent, step) in enumerate(zip(self.shape, self.stride or contiguous(self.shape))):
            along = [1] * len(self.shape)
            along[axis] = extent
            where = where + (np.arange(extent, dtype=np.int64) * step).reshape(along)
        return where.reshape(-1)


@dataclasses.dataclass
class Tensor(View):
    """An input. Its elements are `values` (an array of the shape), or the generator `kind` makes them: one of
    philox.GENERATORS with scale and shift, or, for integers, "bits" or "index" with its bound."""
    values: np.ndarray = None
    kind: str = None
    scale: float = 1.0
    shift: float = 0.0
    bound: int = None
    seed: int = None  # None: the case sets it from its name

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
    """A hipops_index_report as an i64 tensor, with -1 for 2^64 - 1: the input `report` of a case, and, as an Expected,
    its output."""
    return explicit("i64", [count, first])


@dataclasses.dataclass
class Expected:
    """A reference result: float64 (or integers), of the output's shape.

    scale: magnitude of the terms of a sum that may cancel. It is in the file. None if nothing cancels.
    condition: magnitude of the error of a float64 evaluation, to compare the references. None: the same as scale.
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
    in_out: tuple = ()      # arguments that are inputs and outputs. Their outputs have the layout of the inputs
    bitwise: bool = False   # no arithmetic: large float outputs have a checksum of their bits instead of their values

    def __post_init__(self):
        if not re.fullmatch("[A-Za-z0-9_-]{1,200}", self.name):  # the rule of hipops-parity. A number such as "1e+25" is not allowed in a name
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
    """Plain Python numbers. JSON writes float64 by repr, which a reader restores bit for bit."""
    return [number(value) for value in np.asarray(values).reshape(-1).tolist()]


def binade_numbers(scale, dtype):
    """Scales as powers of two. Only the binade decides the ULP, and 0.5 is shorter than 0.7071067811865476. The scale
    is 0 if all terms are zeros: nothing cancels, and the sum's sign is known."""
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
            out.update(checksums(view, expected, case.ulps if view.ulps is None else view.ulps))
        scale = None if scale is None else scale[positions]
    if scale is not None:
        out["scale"] = binade_numbers(scale, view.dtype)
    if view.ulps is not None:
        out["ulps"] = view.ulps
    return out


def sampled_positions(shape, seed):
    """The ends of the first, a middle and the last row, both sides of wave and block boundaries in the last row, and
    some random positions."""
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
    """The sum, modulo 2^64, of every element's bits times an odd number that depends on its position. It is exact, and
    any single wrong element changes it."""
    weights = np.arange(values.size, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) | np.uint64(1)
    return int(np.sum(dtypes.bits_of(values, view.dtype) * weights, dtype=np.uint64))


def checksums(view, expected, ulps):
    """The signed sum of each row's elements, and the tolerance of the sum.

    If each element may err by t ULPs, the sum errs by at most sum(t ULP). The signs are independent of the errors. So
    the error is larger than K sqrt(sum (t ULP)^2) only with a probability of 2 exp(-K^2 / 2), which is 3e-14 for K = 8
    (Hoeffding). The tolerance also has the error of the float64 sum from the left.
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
    # An exact answer (0 ULPs) has an exact checksum, because the sums have few bits.
    step = ulps * dtypes.ulp(magnitude, view.dtype)
    largest = np.maximum(np.max(step, axis=1), 2.0**-1074)  # the steps are divided by it, because squares of denormals would be 0
    norm = largest * np.sqrt(np.sum((step / largest[:, None]) ** 2, axis=1))
    elements = np.minimum(np.sum(step, axis=1), CERTAINTY * norm)
    partial = np.max(np.abs(np.cumsum(terms, axis=1)), axis=1)
    tolerances = elements + view.shape[-1] * 2.0**-53 * partial * (ulps > 0)
    return {"row_checksums": numbers(np.where(nan, np.nan, sums)),
            "row_tolerances": [round_up(t) for t in np.where(nan, 0.0, tolerances).tolist()]}


def round_up(value, digits=3):
    """Rounds up to three digits: short, and independent of the last bits of a sum."""
    if value < 1e-300:
        return value
    step = 10.0 ** (math.floor(math.log10(value)) + 1 - digits)
    return float(f"{math.ceil(value / step * (1 - 1e-9)) * step:.{digits}g}")


def check_overlap(view, values):
    """Elements that share memory must have the same value."""
    addresses = view.addresses()
    _, first, inverse = np.unique(addresses, return_index=True, return_inverse=True)
    flat = np.asarray(values).reshape(-1)
    return np.array_equal(flat[first][inverse.reshape(-1)], flat, equal_nan=flat.dtype.kind == "f")
