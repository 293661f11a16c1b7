"""y[.., index[.., j, ..], ..] += x[.., j, ..] along dim, in place in y; x and index have one shape.

The expected result depends on the promise:

Deterministic: the order of sums.py, with each sum rounded. f32 in f32, f64 in f64, 16-bit types in f32 and to their own
type at the end. 0 ULPs, so that another order is an error.

Integers: the sum modulo 2^bits. 0 ULPs.

Any order: the exact sum. With k additions to an element, each rounding is at most half an ULP of the sum of the terms'
magnitudes. The tolerance is k / 2 ULPs of that sum (`scale`).

16-bit types in any order with the workspace: the exact sum, rounded once, 1 ULP of it. The error of f32 is k / 2 ULPs
of f32 of the sum of magnitudes. For k up to 8 this is under half an ULP of 2^-10 of that sum in f16 and bf16, which is
the scale.
"""

import itertools
import math

import numpy as np

import dtypes
import golden
from golden import Expected, bits, constant, explicit, report
from ops import scatters, sums, takes
from ops.scatters import DETERMINISTIC
from ops.takes import name_of

FLOATS = takes.FLOATS
HALVES = ("f16", "bf16")
MOST_ADDITIONS = 8  # to an element of a case with a tolerance


class Params(dict):
    """A case's params, with more attributes for the reference."""

    def __init__(self, params, dtype, exact, overflows):
        super().__init__(params)
        self.dtype, self.exact, self.overflows = dtype, exact, overflows


def data(dtype, shape, turn, **layout):
    del turn
    return takes.data(dtype, shape, **layout)


def ways(dtype):
    if dtype in HALVES:
        return ((0, 0), (0, 1), (DETERMINISTIC, 1))
    return ((0, 0), (DETERMINISTIC, 0))


def ulps(case):
    flags, workspace = case.params["flags"], case.params["workspace"]
    if flags == DETERMINISTIC or case.dtype not in FLOATS:
        return 0
    most = int(scatters.times(case.params, case.arrays()).max(initial=0))
    if most > MOST_ADDITIONS:
        raise ValueError(f"{case.name}: {most} additions to an element")
    return 1 if workspace else (most + 1) // 2


class ScatterAddOp(scatters.ScatterOp):
    def case(self, name, x, *rest, exact=False, **more):
        case = super().case(name, x, *rest, exact=exact, **more)
        case.params = Params(case.params, case.dtype, exact, "overflow" in name)
        return case


OP = ScatterAddOp("scatter_add", FLOATS + ("u8", "i32", "u32", "i64"), data, ways, lambda flags, dtype: True, ulps)


def reference(params, inputs):
    _, bad = scatters.meaning(inputs, params)
    reported = takes.reported(inputs.get("report"), bad)
    y = inputs["y"].copy()
    if params.dtype not in FLOATS:
        for target, values in scatters.in_order(params, inputs):
            y[target] += values
        return {"y": Expected(y), **reported}

    terms, low = np.abs(y), np.zeros_like(y)
    kind, sources = np.float64 if params.dtype == "f64" else np.float32, {}
    with np.errstate(all="ignore"):
        for target, values in scatters.in_order(params, inputs):
            terms[target] += np.abs(values)
            if params["flags"] == DETERMINISTIC:
                for place, value in zip(zip(*target), values.astype(kind)):
                    sources.setdefault(place, []).append(value)
                continue
            before = y[target]
            total = before + values  # the next lines compute the rounding error (Knuth)
            part = total - before
            y[target], low[target] = total, low[target] + ((before - (total - part)) + (values - part))
        if params["flags"] == DETERMINISTIC:
            for place, values in sources.items():
                y[place] = sums.in_order(kind(y[place]), values)
            y = dtypes.round_to(y, params.dtype)
            lost = sums.loss(params.dtype, 1 + scatters.times(params, inputs))
            # The sum of terms of -0 may be 0.
            return {"y": Expected(y, None, finite(terms * lost + dtypes.FLOATS[params.dtype].smallest)), **reported}
        y = np.where(np.isfinite(y) & (low != 0), y + low, y)  # 0 + -0.0 would be 0
    if params.exact:
        return {"y": Expected(y), **reported}
    return {"y": Expected(y, finite(terms * (2.0**-10 if params["workspace"] else 1.0)), finite(terms)), **reported}


def finite(magnitude):
    """The magnitude, and 0 if a term is not finite, which has no ULP."""
    return np.where(np.isfinite(magnitude), magnitude, 0.0)


def torch_reference(torch, params, inputs):
    if params.overflows:  # float64 does not overflow
        return None
    found = scatters.torch_arguments(torch, params, inputs)
    return None if found is None else {"y": torch.scatter_add(inputs["y"], *found, inputs["x"])}


def every_way(name, x, y, index, dim, exact=False, only=lambda way: True):
    for way in ways(x.dtype):
        if only(way):
            yield OP.case(name, x, y, index, dim, way, exact=exact)


def whole(dtype, shape, seed):
    """Integers from -8 to 8. Every sum that occurs is exact in every type."""
    values = golden.index("i32", shape, 17, seed=golden.seed_of("whole", dtype, str(shape), str(seed))).array()
    return explicit(dtype, values - 8.0)


def exact():
    """Whole numbers, whose sums are equal in any order, for any number of equal indices."""
    for dtype in FLOATS:
        for shape, dim, size in (((20,), 0, 3), ((5, 9), 1, 4), ((3, 12, 4), 1, 5), ((2, 24), 1, 1), ((30, 4), 0, 7)):
            y_shape = tuple(size if d == dim else extent for d, extent in enumerate(shape))
            yield from every_way(
                f"exact_{name_of(shape)}_dim{dim}_into_{size}",
                whole(dtype, shape, 0),
                whole(dtype, y_shape, 1),
                golden.index("i32", shape, size),
                dim,
                exact=True,
            )
        # y of whole 32-bit words, of a number of words and a half, at half a word, and with rows that begin in the
        # middle of a word.
        for name, layout in (("odd", {}), ("even", {}), ("shifted", {"offset": 1}), ("padded_odd", {"stride": (9, 1)}),
                             ("padded_even", {"stride": (10, 1)})):
            columns = 5 if name == "odd" else 6
            y = whole(dtype, (4, columns), 2)
            y = golden.Tensor(dtype, y.shape, values=y.values, **layout)
            yield from every_way(
                f"exact_words_{name}", whole(dtype, (4, 12), 3), y, golden.index("i64", (4, 12), columns), 1, exact=True
            )
        # Elements that no index names keep their bits. A checksum of bits compares them, because -0.0 equals 0.0. The
        # neighbours of changed elements are in the same words, on either side.
        for name, first in (("odd", 1), ("even", 0)):
            index = explicit("i32", np.arange(first, 240, 4))
            for case in every_way(
                f"exact_bits_beside_{name}",
                constant(dtype, (60,), 3.0),
                constant(dtype, (240,), -0.0),
                index,
                0,
                exact=True,
            ):
                case.bitwise = True
                yield case
        ones = constant(dtype, (200, 37), 1.0)
        yield from every_way(
            "exact_ones", ones, constant(dtype, (3, 37), 2.0), golden.index("u8", (200, 37), 3), 0, exact=True
        )
    # Rows that have one index each. More than 256 of them are added whole if the order is fixed.
    for dtype in HALVES:
        for name, index in (
            ("same", constant("i32", (300, 64), 2)),
            ("expanded", constant("i16", (300, 64), 3, stride=(1, 0))),
            ("differ", golden.index("i64", (300, 64), 5)),
        ):
            x, y = constant(dtype, (300, 64), 1.0), constant(dtype, (5, 64), 2.0)
            yield from every_way(f"exact_rows_{name}", x, y, index, 0, exact=True, only=lambda way: way[1] == 1)
        # Few sources for a large y.
        yield from every_way("exact_few_of_100", whole(dtype, (4, 64), 4), whole(dtype, (100, 64), 5),
                             golden.index("i32", (4, 64), 100), 0, exact=True, only=lambda way: way == (0, 1))
    for dtype in ("u8", "i32", "u32", "i64"):  # sums that wrap around
        for shape, dim, size in (((200,), 0, 3), ((40, 16), 0, 5), ((3, 60, 4), 1, 2)):
            y_shape = tuple(size if d == dim else extent for d, extent in enumerate(shape))
            yield from every_way(f"exact_wrapping_{name_of(shape)}_dim{dim}", bits(dtype, shape), bits(dtype, y_shape),
                                 golden.index("i16", shape, size), dim)


def adversarial():
    inf, nan = math.inf, math.nan
    for dtype in FLOATS:
        index = explicit("i32", [[0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3]])

        def given(name, x, y, only=lambda way: True, dtype=dtype, index=index):
            yield from every_way("adversarial_" + name, explicit(dtype, [x]), explicit(dtype, [y]), index, 1, only=only)

        in_order = lambda way: way[0] == DETERMINISTIC
        largest = dtypes.FLOATS[dtype].largest
        least = dtypes.FLOATS[dtype].smallest
        step = 2.0 ** (dtypes.FLOATS[dtype].mantissa + 1)  # step + 1 is step
        yield from given(
            "infinities",
            [inf, -inf, inf, 1.0, nan, 1.0, inf, 0.0, 1.0, -2.0, -inf, 3.0],
            [1.0, 2.0, 3.0, inf, 4.0, nan, 5.0, -inf],
        )
        yield from given(
            "zeros",
            [0.0, -0.0, 0.0, -0.0, 1.0, -1.0, 0.0, -0.0, 0.0, -0.0, -0.0, 0.0],
            [-0.0, -0.0, 0.0, 0.0, -1.0, 1.0, -0.0, 0.0],
        )
        yield from given(
            "overflow",
            [largest, -largest, largest, 1.0, 0.0, largest, -largest, 1.0, largest, -largest, largest, 0.0],
            [largest, -largest, 0.0, largest, -largest, largest, -largest, 2.0],
            in_order,
        )
        # Some atomics flush denormals of f32 to 0, so these cases are only for a fixed order.
        yield from given(
            "denormals",
            [least, -least, 3 * least, least, least, 0.0, 5 * least, least, least, -least, least, 2 * least],
            [0.0, least, -least, 7 * least, -least, least, 0.0, -3 * least],
            in_order,
        )
        # The sums have this value only in this order.
        yield from given("order", [step, 1.0, step, 1.0, step, -step, 1.0, 0.5, 1.0, -step, -step, 1.0],
                         [1.0, step, 1.0, step, -step, 1.0, step, -0.5], in_order)
        many = np.tile([step, 1.0, -step, 1.0, 0.5, -0.25, 1.0, 1.0], 30)
        yield from every_way(
            "adversarial_order_long",
            explicit(dtype, np.stack([many, many[::-1], np.roll(many, 3)], axis=1)),
            explicit(dtype, np.full((2, 3), 0.125)),
            golden.index("i64", (240, 3), 2),
            0,
            only=in_order,
        )
        if dtype in HALVES:  # rounded once: each of 16 sources alone would be lost
            x = np.full((16, 2), 0.25 if dtype == "f16" else 0.5)
            y = explicit(dtype, [[step, -step]])
            yield from every_way(
                "adversarial_rounded_once",
                explicit(dtype, x),
                y,
                explicit("u32", np.zeros((16, 2), dtype=int)),
                0,
                exact=True,
                only=lambda way: way[1] == 1,
            )


def chunks():
    """In order: more sources than a chunk has, and than a group of chunks. With a workspace and without."""
    turn = 0
    for dtype in FLOATS:
        for shape, dim, size in (
            ((9, 4), 0, 3),
            ((3, 100), 1, 7),
            ((128, 3), 0, 1),
            ((129, 3), 0, 1),
            ((257,), 0, 1),
            ((2, 300, 2), 1, 2),
            ((4, 2000), 1, 3),
            ((16385, 1), 0, 1),
            ((2, 40001), 1, 2),
            ((700, 6), 0, 90),
            ((2100, 64), 0, 5),
        ):
            turn += 1
            y_shape = tuple(size if d == dim else extent for d, extent in enumerate(shape))
            # Some indices are out of range.
            index = golden.index(("i16", "i32", "u32", "i64")[turn % 4], shape, size + turn % 2)
            for way in ((DETERMINISTIC, 0), (DETERMINISTIC, 1)):
                yield OP.case(f"adversarial_chunks_{name_of(shape)}_into_{size}", data(dtype, shape, 0),
                              data(dtype, y_shape, 1), index, dim, way, reports=report() if turn % 2 else None)
        for name, value in (("equal", 0.1), ("zeros", -0.0)):
            yield OP.case(f"adversarial_chunks_{name}_300", constant(dtype, (300, 2), value),
                          constant(dtype, (3, 2), value), constant("i32", (300, 2), 1), 0, (DETERMINISTIC, 0))
        # Each row has one index.
        yield OP.case("adversarial_chunks_rows_2100", data(dtype, (2100, 64), 0), data(dtype, (3, 64), 1),
                      constant("i64", (2100, 64), 2), 0, (DETERMINISTIC, 1))


TOPICS = {
    "smoke": lambda: scatters.smoke(OP),
    "exact": exact,
    "adversarial": lambda: itertools.chain(adversarial(), chunks()),
    "layouts": lambda: scatters.layouts(OP),
    "indices": lambda: scatters.index_cases(OP),
    "sizes": lambda: scatters.sizes(OP),
}
