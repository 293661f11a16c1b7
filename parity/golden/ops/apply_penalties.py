"""Logits, lowered for tokens that occur. Each operation rounds to f32, so results are exact."""

import itertools
import math

import numpy as np

import dtypes
from golden import Case, Expected, View, bell, explicit, index, seed_of
from ops.rows import at, by, name_of

DTYPES = ("f32", "f16", "bf16")
NAN, INF = math.nan, math.inf
NUMBERS = {"repetition": 1.0, "frequency": 0.0, "presence": 0.0}
TORCH = {"f32": "float32", "f16": "float16", "bf16": "bfloat16"}


def reference(params, inputs):
    logits = inputs["x"].astype(np.float32)
    prompt = inputs.get("prompt", np.zeros(logits.shape, np.uint8)) != 0
    counts = np.maximum(inputs.get("counts", np.zeros(logits.shape, np.int32)), 0)
    repetition, frequency, presence = (inputs.get(name, np.full(len(logits), absent)).astype(np.float32)[:, None] for name, absent in NUMBERS.items())
    with np.errstate(all="ignore"):
        x = np.where(logits > 0, logits / repetition, logits * repetition)
        x = np.where(counts > 0, x - frequency * counts.astype(np.float32) - presence, x)
    return {"y": Expected(dtypes.round_to(np.where(prompt | (counts > 0), x, logits).astype(np.float64), params.dtype))}


def torch_reference(torch, params, inputs):
    """vLLM's lines, which multiply and subtract for all tokens, so numbers must be finite."""
    if not all(bool(torch.isfinite(inputs[name]).all()) for name in NUMBERS if name in inputs):
        return None
    logits = inputs["x"].float()
    counts = inputs.get("counts", torch.zeros(logits.shape)).clamp(min=0)
    prompt = inputs.get("prompt", torch.zeros(logits.shape)) != 0
    repetition, frequency, presence = (inputs.get(name, torch.full(logits.shape[:1], absent)).float()[:, None] for name, absent in NUMBERS.items())
    repetition = torch.where(prompt | (counts > 0), repetition, 1.0)
    logits = torch.where(logits > 0, logits / repetition, logits * repetition)
    logits = logits - frequency * counts
    logits = logits - presence * (counts > 0)
    return {"y": logits.to(getattr(torch, TORCH[params.dtype]))}


class Params(dict):
    dtype = None


def case(name, x, given, y=None, in_place=False):
    params = Params()
    params.dtype = x.dtype
    view = View(x.dtype, x.shape, **(y or {}))
    if in_place:
        view = View(x.dtype, x.shape, x.stride, x.offset)
    name += f"_{x.dtype}" + "".join(f"_{other}" for other in given) + ("_in_place" if in_place else "")
    return Case("apply_penalties", name, x.dtype, {"x": x, **given}, {"y": view}, 0, params, ("y", "x") if in_place else None, bitwise=True)


ALL = ("prompt", "counts", *NUMBERS)
LEAST = {"repetition": 0.5, "frequency": -0.5, "presence": -1.0}


def tensors(name, shape, given, layouts=None, often=3):
    """Masks and counts that are 0 at most places (often of 16 are not) or, if often is 0, at few; three decimals for each row."""
    rng = np.random.Generator(np.random.PCG64(seed_of("apply_penalties", name)))
    layouts, made = layouts or {}, {}
    for other in given:
        if other not in NUMBERS and often == 0:
            made[other] = index({"prompt": "u8", "counts": "i32"}[other], shape, 2 + 3 * (other == "counts"), **layouts.get(other, {}))
            continue
        if other in NUMBERS:
            values = np.round(LEAST[other] + 2 * rng.random(shape[0]), 3)
        else:
            values = index("i32", shape, 16, seed=seed_of("apply_penalties", name, other)).array()
            values = np.where(values < often, 255 - values if other == "prompt" else 6 * values + 1, 0)
        made[other] = explicit({"prompt": "u8", "counts": "i32"}.get(other, "f32"), values, **layouts.get(other, {}))
    return made


def drawn(name, dtype, shape, given=ALL, x=None, y=None, in_place=False, layouts=None, often=3):
    logits = bell(dtype, shape, 4.0, 0.25, **(x or {}))
    return case(name, logits, tensors(name, shape, given, layouts, often), y, in_place)


GIVEN = [given for count in range(6) for given in itertools.combinations(ALL, count)]


def smoke():
    for turn, (given, dtype) in enumerate(itertools.product(GIVEN, DTYPES)):
        yield drawn("smoke_2x21", dtype, (2, 21), given, in_place=turn % 2 == 1)


def numbers(**values):
    return {name: explicit("f32", np.array(row)) for name, row in values.items()}


def exact():
    """Powers of two: each operation is exact."""
    x = np.resize(np.arange(-8.0, 8.0) / 2, (4, 24))
    prompt = np.arange(96).reshape(4, 24) % 3 == 0
    counts = np.where(np.arange(96).reshape(4, 24) % 5 < 2, np.arange(96).reshape(4, 24) % 4, 0)
    for dtype, in_place in itertools.product(DTYPES, (False, True)):
        logits, tokens, often = explicit(dtype, x), explicit("u8", prompt * 255), explicit("i32", counts)
        halves = numbers(repetition=[2.0, 0.5, 1.0, 4.0], frequency=[0.5, 0.25, 0.0, -0.5], presence=[1.0, -0.5, 0.0, 0.25])
        yield case("exact_halves", logits, {"prompt": tokens, "counts": often, **halves}, in_place=in_place)
        yield case("exact_prompt", logits, {"prompt": tokens, **halves}, in_place=in_place)
        yield case("exact_none_occur", logits, {"prompt": explicit("u8", 0 * prompt), "counts": explicit("i32", 0 * counts), **halves}, in_place=in_place)
        yield case("exact_all_occur", logits, {"prompt": explicit("u8", 0 * prompt + 1), "counts": explicit("i32", 0 * counts + 1), **halves},
                   in_place=in_place)
        yield case("exact_neutral", logits, {"prompt": tokens, "counts": often, **numbers(repetition=[1.0] * 4, frequency=[0.0] * 4, presence=[0.0] * 4)},
                   in_place=in_place)
        yield case("exact_nothing", logits, {}, in_place=in_place)


def hard(dtype):
    largest, least = {"f32": (float(np.finfo(np.float32).max), 2.0**-149), "f16": (65504.0, 2.0**-24), "bf16": (math.ldexp(255.0, 120), 2.0**-133)}[dtype]
    return [NAN, INF, -INF, largest, -largest, least, -least, 0.0, -0.0, 1.0, -1.0, 3.0, -3.0, 2.0**-126 if dtype != "f16" else 2.0**-14]


def adversarial():
    for dtype, in_place in itertools.product(DTYPES, (False, True)):
        x = np.tile(np.array(hard(dtype)), (8, 1))
        prompt, counts = np.ones(x.shape), np.tile(np.arange(14) % 3, (8, 1))
        special = {"repetition": [1.0, 0.0, -0.0, INF, NAN, -2.0, 1e-38, 3.0], "frequency": [0.0, INF, 1.0, -INF, 1e38, NAN, 1e-45, 0.7],
                   "presence": [INF, 0.0, -1.0, NAN, -1e38, 1.0, 1e-45, 0.3]}
        for names in (("repetition",), ("frequency",), ("presence",), tuple(NUMBERS)):
            given = {"prompt": explicit("u8", prompt), "counts": explicit("i32", counts), **numbers(**{name: special[name] for name in names})}
            yield case("adversarial_hard", explicit(dtype, x), given, in_place=in_place)
        # A token that does not occur keeps its bits.
        yield case("adversarial_absent", explicit(dtype, x), {"prompt": explicit("u8", 0 * prompt), "counts": explicit("i32", -counts), **numbers(**special)},
                   in_place=in_place)
        many = np.array([[2**31 - 1, -2**31, 2**24 + 1, 2**24 + 3, -1, 33554435, 7, 0]] * 2)
        yield case("adversarial_counts", explicit(dtype, np.full((2, 8), 2.5)), {"counts": explicit("i32", many), **numbers(frequency=[1e-6, -0.001])},
                   in_place=in_place)
        bits = np.array([[1, 2, 4, 8, 16, 32, 64, 128, 255, 254, 0, 0]])
        yield case("adversarial_mask", explicit(dtype, np.full((1, 12), 3.0)), {"prompt": explicit("u8", bits), **numbers(repetition=[1.5])}, in_place=in_place)
        thirds = bell(dtype, (2, 70), 9.0, 0.0)
        thirds.seed = seed_of("apply_penalties", "thirds")
        yield case("adversarial_cancelling", thirds, {"counts": explicit("i32", np.full((2, 70), 7)), **numbers(repetition=[1.1, 0.9], frequency=[0.7, 0.3])},
                   in_place=in_place)


LAYOUTS = [  # name, shape, layouts of x and y, of the others
    ("padded", (2, 64), by(72, 1), by(80, 1), {"counts": by(65, 1), "prompt": by(67, 1)}),
    ("padded_equally", (3, 46), by(48, 1), by(48, 1), {"counts": by(48, 1), "prompt": by(48, 1)}),
    ("odd_rows", (5, 31), None, None, {}),
    ("odd_rows_apart", (5, 31), by(32, 1), by(33, 1), {"counts": by(35, 1)}),
    ("misaligned", (2, 64), at(1), at(1), {}),
    ("misaligned_apart", (3, 51), at(1), at(2), {"counts": at(3), "prompt": at(5)}),
    ("misaligned_equally", (3, 48), at(3), at(3), {"counts": at(3), "prompt": at(3)}),
    ("transposed", (4, 20), by(1, 4), by(1, 4), {"counts": by(1, 4), "prompt": by(1, 4)}),
    ("transposed_x", (4, 20), by(1, 4), None, {}),
    ("transposed_counts", (4, 20), None, None, {"counts": by(1, 4)}),
    ("step_2", (3, 34), by(68, 2), by(102, 3), {"counts": by(68, 2), "prompt": by(102, 3)}),
    ("negative_columns", (3, 40), by(40, -1), by(-40, -1), {"counts": by(40, -1), "prompt": by(-40, -1)}),
    ("negative_rows", (3, 40), by(-40, 1), by(-48, 1), {"counts": by(-56, 1), "prompt": by(-41, 1)}),
    ("numbers", (4, 40), None, None, {"repetition": by(-1), "frequency": by(3), "presence": by(-2)}),
    ("one_column", (6, 1), by(3, 99), by(2, 0), {"counts": by(5, 7)}),
]


def layouts():
    turn = 0
    for name, shape, x, y, others in LAYOUTS:
        for dtype in DTYPES:
            turn += 1
            yield drawn(f"layout_{name}", dtype, shape, x=x, y=y, in_place=turn % 2 == 0, layouts=others)
            if turn % 3 == 0:
                yield drawn(f"layout_{name}", dtype, shape, ("prompt", "repetition"), x=x, y=y, in_place=turn % 2 == 1, layouts=others)
    for in_place in (False, True):  # one mask, one row of counts and one number for all rows
        shape = (5, 30)
        whole = tensors("layout_expanded", (1, 30), ALL)
        rows = {name: explicit(t.dtype, np.repeat(t.array(), 5, 0), **by(0, *[1] * (len(t.shape) - 1))) for name, t in whole.items()}
        yield case("layout_expanded", bell("bf16", shape, 4.0), rows, in_place=in_place)


def sizes():
    for turn, columns in enumerate((1, 2, 7, 8, 9, 15, 16, 17, 31, 63, 65, 127, 129, 255, 257, 509, 511, 513, 516, 1015, 1016, 1017, 1018, 1023, 1024, 1025, 2047, 2049, 4097)):
        rows = 3 if columns < 300 else 2
        yield drawn(f"size_{rows}x{columns}", DTYPES[turn % 3], (rows, columns), in_place=turn % 2 == 0, often=1 if columns < 300 else 0)
    for turn, dtype in enumerate(DTYPES):
        yield drawn("size_1x9001", dtype, (1, 9001), in_place=turn % 2 == 0, often=0)
        yield drawn("size_sparse_2x1301", dtype, (2, 1301), ("counts", "repetition"), in_place=turn % 2 == 1, often=1)
    yield drawn("size_700x9", "f16", (700, 9), often=0)
    for shape in ((0, 8), (8, 0), (0, 0)):
        yield drawn("size_" + name_of(shape), "f32", shape)


TOPICS = {"smoke": smoke, "exact": exact, "adversarial": adversarial, "layouts": layouts, "sizes": sizes}
