"""A token of each row, drawn by a uniform number. Numbers are chosen so that rounding of weights decides no token."""

import itertools
import math

import numpy as np

from extended import Real
from golden import Case, Expected, View, bell, constant, explicit, seed_of
from ops.rows import at, by, name_of

DTYPES = ("f32", "f16", "bf16")
TOKENS = ("i32", "i64")
NAN, INF = math.nan, math.inf
MARGIN = 2e-5
ABSENT = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0}


def draw(row, numbers):
    """The token, and the least relative distance between numbers that are compared. Sums are in extended precision."""
    row = row.astype(Real)
    if np.isnan(row).any() or row.max() == -INF:
        return -1, 1.0
    order = np.argsort(-row, kind="stable")
    if not numbers["temperature"] > 0:
        return int(order[0]), 1.0
    if numbers["top_k"] > 0:
        order = order[: numbers["top_k"]]
    with np.errstate(all="ignore"):
        weights = np.where(row == row.max(), Real(1), np.exp((row - row.max()) / Real(numbers["temperature"])))
    weights = np.where((row < INF) & (row.max() == INF), Real(0), weights)
    margin = 1.0
    if numbers["top_p"] < 1:
        sums = np.cumsum(weights[order])
        apart = (sums - Real(max(numbers["top_p"], 0)) * sums[-1]) / sums[-1]
        kept = int(np.argmax(apart >= 0)) + 1
        margin = min(margin, float(np.abs(apart[:kept]).min()))
        order = order[:kept]
    if numbers["min_p"] > 0:
        apart = weights[order] - Real(min(numbers["min_p"], 1))
        margin = min(margin, float(np.abs(np.where(weights[order] == 1, Real(1), apart)).min()))
        order = order[apart >= 0]
    left = np.sort(order)
    sums = np.cumsum(weights[left])
    apart = (sums - Real(numbers["uniform"]) * sums[-1]) / sums[-1]
    place = int(np.argmax(apart > 0))
    return int(left[place]), min(margin, float(np.abs(apart[: place + 1]).min()))


def numbers_of(inputs, row):
    numbers = {name: float(inputs[name][row]) if name in inputs else absent for name, absent in ABSENT.items() if name != "top_k"}
    numbers["top_k"] = int(inputs["top_k"][row]) if "top_k" in inputs else 0
    return {**numbers, "uniform": min(max(float(inputs["uniform"][row]), 0.0), 1 - 2.0**-24)}


def reference(params, inputs):
    tokens = []
    for row, logits in enumerate(inputs["x"]):
        token, margin = draw(logits, numbers_of(inputs, row))
        if params.checks and margin < MARGIN:
            raise ValueError(f"row {row} depends on rounding: {margin}")
        tokens.append(token)
    return {"tokens": Expected(np.array(tokens, dtype=np.int64).reshape(len(inputs["x"])))}


def torch_reference(torch, params, inputs):
    """By sorted probabilities, of finite logits and temperatures above 0."""
    x, number = inputs["x"].double(), lambda name: inputs[name].double()[:, None] if name in inputs else ABSENT[name]
    temperature = inputs.get("temperature", torch.ones(1))
    if not params.checks or x.numel() == 0 or not bool(torch.isfinite(x).all()) or not bool((temperature > 0).all()):
        return None
    values, order = torch.sort(x / number("temperature"), dim=-1, descending=True, stable=True)
    p = torch.softmax(values, -1)
    if "top_k" in inputs:
        p = torch.where(torch.arange(p.shape[1]) < number("top_k"), p, 0)
    p = p / p.sum(-1, keepdim=True)
    p = torch.where(p.cumsum(-1) - p < number("top_p"), p, 0)
    p = torch.where(p >= number("min_p") * p[:, :1], p, 0)
    sums = torch.zeros_like(p).scatter(1, order, p).cumsum(-1)
    return {"tokens": (sums > inputs["uniform"].double()[:, None] * sums[:, -1:]).int().argmax(-1)}


class Params(dict):
    checks = True


def case(name, x, numbers, kind="i32", layout=None, checks=True):
    """numbers: tensors by name, with at least `uniform`."""
    params = Params()
    params.checks = checks
    name += f"_{x.dtype}_{kind}" + "".join(f"_{other}" for other in ABSENT if other in numbers)
    return Case("sample", name, x.dtype, {"x": x, **numbers}, {"tokens": View(kind, x.shape[:1], **(layout or {}))}, 0, params, bitwise=True)


def chosen(x, given, name, k_dtype="i32", layout=None, most_k=50):
    """Numbers of each row that keep a margin. given: names of the optional tensors."""
    choices = np.random.Generator(np.random.PCG64(seed_of("sample", name, x.dtype)))
    of_rows = {other: [] for other in ("uniform", *given)}
    for row in x.array():
        for _ in range(1000):
            numbers = {"uniform": float(np.float32(choices.integers(0, 1000) / 1000)),
                       "temperature": float(np.float32(choices.integers(100, 2500) / 1000)),
                       "top_k": int(choices.integers(1, min(len(row), most_k) + 1)),
                       "top_p": float(np.float32(choices.integers(1, 1000) / 1000)), "min_p": float(np.float32(choices.integers(1, 500) / 1000))}
            numbers.update({other: absent for other, absent in ABSENT.items() if other not in given})
            if draw(row, numbers)[1] > MARGIN:
                break
        else:
            raise ValueError(f"{name}: no numbers have a margin")
        for other in of_rows:
            of_rows[other].append(numbers[other])
    return {other: explicit(k_dtype if other == "top_k" else "f32", np.array(values), **(layout or {})) for other, values in of_rows.items()}


def logits(name, dtype, shape, scale=2.0, **layout):
    x = bell(dtype, shape, scale, 0.25, **layout)
    x.seed = seed_of("sample", name, dtype)
    return x


def drawn(name, dtype, shape, given, kind="i32", scale=2.0, layout=None, result=None, **of_chosen):
    x = logits(name, dtype, shape, scale, **(layout or {}))
    return case(name, x, chosen(x, given, name, **of_chosen), kind, result)


GIVEN = [given for count in range(5) for given in itertools.combinations(ABSENT, count)]


def smoke():
    for turn, (dtype, given) in enumerate(itertools.product(DTYPES, GIVEN)):
        yield drawn("smoke_5x100", dtype, (5, 100), given, TOKENS[turn % 2], k_dtype=TOKENS[turn // 2 % 2])


def filled(rows, **numbers):
    """Tensors of one number for all rows, or of a list."""
    return {name: explicit("i32" if name == "top_k" else "f32", np.resize(np.array(values), rows)) for name, values in numbers.items()}


def exact():
    """Weights that are 1 or 0: sums, and comparisons with them, are exact."""
    eighths = np.arange(8) / 8.0
    for dtype in DTYPES:
        for name, count in (("one", 1), ("eight", 8), ("some", 600), ("more_than_a_tile", 20000)):
            x = constant(dtype, (8, count), -1.5)
            for given in ({}, {"top_k": [4, 1, 8, 16, 400, 0, -3, 2]}, {"top_p": [0.5, 0.25, 0.75, 0.125, 0.0625, 1.0, 0.0, -1.0]},
                          {"top_k": [4], "top_p": [0.5, 0.25], "min_p": [1.0]}):
                yield case(f"exact_{name}", x, filled(8, uniform=eighths, **given), checks=False)
        holes = np.where(np.arange(8 * 96).reshape(8, 96) % 3 == 1, 0.0, -INF)
        holes[3], holes[5, :40] = -0.0, -INF
        yield case("exact_holes", explicit(dtype, holes), filled(8, uniform=eighths), "i64", checks=False)
        yield case("exact_holes", explicit(dtype, holes), filled(8, uniform=eighths, top_k=[8, 2, 16], top_p=[0.5]), checks=False)
        yield case("exact_greedy", logits("exact_greedy", dtype, (8, 1000)), filled(8, uniform=eighths, temperature=[0.0, -1.0], top_p=[0.5]))
        yield case("exact_greedy_ties", explicit(dtype, np.tile(np.arange(300) * 7 % 11.0, (2, 1))), filled(2, uniform=[0.9], temperature=[0.0]))
        yield case("exact_first_and_last", explicit(dtype, np.zeros((6, 77))), filled(6, uniform=[0.0, -1.0, 1.0, 5.0, 1 - 2.0**-24, -0.0]), checks=False)


def adversarial():
    for dtype in DTYPES:
        largest = {"f32": float(np.finfo(np.float32).max), "f16": 65504.0, "bf16": math.ldexp(255.0, 120)}[dtype]
        rows = [[NAN, 1, 2, -1, NAN, -0.0, 0, 3], [-INF] * 8, [INF] * 8, [-INF, 1, -INF, 1, -INF, -INF, -INF, -INF], [NAN] * 8,
                [largest, -largest, 1, largest, 0, -1, 2, -largest], [INF, NAN, 1, 2, 3, 4, 5, 6], [0, INF, 1, -INF, INF, 3, INF, -largest],
                [-INF] * 7 + [-largest], [-0.0, 0, -0.0, 0, -0.0, 0, -INF, 0]]
        x = explicit(dtype, np.array(rows))
        yield case("adversarial_greedy", x, filled(len(rows), uniform=[0.5], temperature=[0.0]))
        for given in ({}, {"temperature": [0.01]}, {"top_k": [2]}, {"top_p": [0.4]}, {"min_p": [0.3]},
                      {"top_k": [3], "top_p": [0.5], "min_p": [0.01], "temperature": [0.7]}):
            yield case("adversarial_special", x, filled(len(rows), uniform=[0.15, 0.6, 0.9], **given), checks=False)
        for shape in ((0, 8), (0, 1)):
            yield case(f"adversarial_{name_of(shape)}", explicit(dtype, np.zeros(shape)), filled(0, uniform=[0.0], top_k=[3], top_p=[0.5]))
        yield drawn("adversarial_far_logits", dtype, (6, 500), ("temperature",), scale=60.0)
        yield drawn("adversarial_nearly_equal", dtype, (6, 64), ("temperature", "top_p"), scale=0.01)
        alike = explicit(dtype, np.arange(6 * 200).reshape(6, 200) * 31 % 7 / 2)
        yield case("adversarial_many_ties", alike, chosen(alike, tuple(ABSENT), "adversarial_many_ties", most_k=150))


LAYOUTS = [
    ("padded", (5, 64), by(72, 1), by(3)),
    ("padded_by_one", (5, 64), by(65, 1), {}),
    ("transposed", (6, 40), by(1, 6), by(2)),
    ("step_2", (3, 34), by(68, 2), {}),
    ("negative_columns", (3, 40), by(40, -1), by(-1)),
    ("negative_rows", (3, 40), by(-40, 1), {}),
    ("misaligned", (4, 64), at(1), at(1)),
    ("long_misaligned", (3, 5003), at(3), {}),
    ("long_transposed", (3, 2000), by(1, 3), {}),
]


def layouts():
    turn = 0
    for name, shape, x, result in LAYOUTS:
        for dtype in DTYPES:
            turn += 1
            yield drawn(f"layout_{name}", dtype, shape, GIVEN[turn * 5 % 16], TOKENS[turn % 2], layout=x, result=result)
    for step in (0, -1, 3):
        name = f"layout_numbers_by_{step}".replace("-", "minus_")
        x = logits(name, "f32", (4, 100))
        if step == 0:
            x = explicit("f32", np.tile(x.array()[:1], (4, 1)))
        numbers = chosen(x, tuple(ABSENT), name, layout=by(step) if step else None)
        if step == 0:
            numbers = {other: explicit(tensor.dtype, np.resize(tensor.array()[:1], 4), **by(0)) for other, tensor in numbers.items()}
        yield case(name, x, numbers)


def sizes():
    turn = 0
    for columns in (1, 2, 3, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 129, 255, 256, 257, 1000, 1023, 1024, 1025, 4095, 4096, 4097, 8191, 8193, 16383,
                    16384, 16385, 32000, 32768, 50257):
        for dtype in DTYPES:
            for repeat in range(2):
                turn += 1
                rows = (1, 3, 6)[turn % 3] if columns < 5000 else 1 + turn % 2
                scale = 2.0 if columns < 2000 else 4.0
                yield drawn(f"size_{name_of((rows, columns))}_{repeat}", dtype, (rows, columns), GIVEN[turn * 7 % 16], TOKENS[turn % 2], scale=scale,
                            most_k=(50, 3000)[turn // 2 % 2])
    for dtype in DTYPES:
        yield drawn("size_2x151936", dtype, (2, 151936), tuple(ABSENT), scale=4.0)
    yield drawn("size_300x20", "f32", (300, 20), tuple(ABSENT))
    yield drawn("size_2x131072", "bf16", (2, 131072), ("top_k", "top_p"), scale=3.0)


TOPICS = {"smoke": smoke, "exact": exact, "adversarial": adversarial, "layouts": layouts, "sizes": sizes}
