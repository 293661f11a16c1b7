"""The k best experts of each token, and their weights. Equal choices are in the order of experts."""

import itertools
import math

import numpy as np

from extended import Real, total
from golden import Case, Expected, View, bell, explicit
from ops.rows import at, by, name_of

DTYPES = ("f32", "f16", "bf16")
IDS = ("i32", "i64", "u32")
SIGMOID, RENORMALIZE = 4096, 8192
NAN, INF = math.nan, math.inf
ULPS = 4  # the op promises 8, and has up to 3.2 in these cases


def best(choices, count):
    """The places of the greatest choices, in order. NaN is greater than all numbers."""
    keys = np.where(np.isnan(choices), 0.0, -choices)
    return np.lexsort((np.arange(choices.size), keys, ~np.isnan(choices)))[:count]


def scores_of(logits, is_sigmoid):
    logits = logits.astype(Real)
    with np.errstate(all="ignore"):
        if is_sigmoid:
            return 1 / (1 + np.exp(-logits))
        if not np.isfinite(logits.max()):  # also of a NaN
            return np.full(logits.shape, Real(NAN))
        terms = np.exp(logits - logits.max())
        return terms / total(terms)


def check_margins(choices, exact, kept):
    """Rounding must not decide a choice: f32 errs by less than 1e-5 of a choice here."""
    ordered = np.sort(exact[np.isfinite(exact)])
    gaps = np.diff(ordered)
    if kept and np.any((gaps > 0) & (gaps < 1e-5 * np.maximum(np.abs(ordered[1:]), 1e-3))):
        raise ValueError("a choice depends on rounding")
    return choices


def reference(params, inputs):
    x, k, flags, groups = inputs["x"], params["k"], params["flags"], params["groups"]
    tokens, experts = x.shape
    weights, ids = np.zeros((tokens, k)), np.zeros((tokens, k), dtype=np.int64)
    for token, row in enumerate(x):
        scores = scores_of(row, flags & SIGMOID)
        choices = row.astype(np.float64)
        if "bias" in inputs:
            exact = scores + inputs["bias"]
            choices = check_margins(exact.astype(np.float32).astype(np.float64), exact, params.checks)
        if groups > 1:
            of_group = np.sort(np.where(np.isnan(choices), INF, choices).reshape(groups, -1), axis=1)
            two = "bias" in inputs and of_group.shape[1] > 1
            of_group = of_group[:, -1] + of_group[:, -2] if two else of_group[:, -1]
            if two:
                check_margins(of_group, of_group, params.checks)
            kept = np.zeros(groups, dtype=bool)
            kept[best(of_group, params["topk_groups"])] = True
            allowed = np.flatnonzero(np.repeat(kept, experts // groups))
            chosen = allowed[best(choices[allowed], k)]
        else:
            chosen = best(choices, k)
        of_chosen = scores[chosen]
        with np.errstate(all="ignore"):
            if flags & RENORMALIZE and np.isfinite(scores).all():
                of_chosen = scores_of(row[chosen], False) if not flags & SIGMOID else of_chosen / (total(of_chosen) or 1)
            elif flags & RENORMALIZE:
                of_chosen = of_chosen / np.sum(of_chosen)
        weights[token], ids[token] = of_chosen * Real(np.float32(params["scale"])), chosen
    out = {"weights": Expected(weights), "ids": Expected(ids)}
    if params.slots:
        out["token_expert"] = Expected(np.arange(k) * tokens + np.arange(tokens)[:, None])
    return out


def torch_reference(torch, params, inputs):
    """The weights without a bias, which do not depend on which of equal experts are chosen."""
    x, flags, groups = inputs["x"], params["flags"], params["groups"]
    if "bias" in inputs or groups > 1 or x.numel() == 0 or not bool(torch.isfinite(x).all()):
        return None
    x = x.float() if x.element_size() == 2 else x
    scores = torch.sigmoid(x) if flags & SIGMOID else torch.softmax(x, -1)
    weights = torch.topk(scores, params["k"]).values
    if flags & RENORMALIZE:
        weights = weights / weights.sum(-1, keepdim=True)
    return {"weights": weights * float(np.float32(params["scale"]))}


class Params(dict):
    slots, checks = None, True


def case(name, x, k, flags=0, bias=None, groups=(0, 0), scale=1.0, kind="i32", slots=None, layout=None, checks=True, ulps=ULPS):
    params = Params(k=k, groups=groups[0], topk_groups=groups[1], scale=scale, flags=flags)
    params.slots, params.checks = slots, checks
    shape = (x.shape[0], k)
    outputs = {"weights": View("f32", shape, **(layout or {})), "ids": View(kind, shape, **(layout or {}))}
    if slots:
        outputs["token_expert"] = View(slots, shape, **(layout or {}))
    name += f"_k_{k}_{x.dtype}_{kind}" + (f"_slots_{slots}" if slots else "") + ("_bias" if bias is not None else "")
    name += ("_sigmoid" if flags & SIGMOID else "_softmax") + ("_renormalize" if flags & RENORMALIZE else "")
    name += (f"_groups_{groups[0]}_{groups[1]}" if groups[0] else "") + ("_scaled" if scale != 1 else "")
    return Case("topk_softmax", name, x.dtype, {"x": x} if bias is None else {"x": x, "bias": bias}, outputs, ulps, params)


def logits(dtype, shape, **layout):
    return bell(dtype, shape, 2.0, 0.25, **layout)


def shuffled(count, seed=5):
    return np.random.Generator(np.random.PCG64(seed)).permutation(count)


def bias_of(experts, seed=5, step=4.0, **layout):
    """Steps are larger than a score, so the bias decides."""
    return explicit("f32", (shuffled(experts, seed) - experts // 2) * step, **layout)


FLAGS = (0, SIGMOID, RENORMALIZE, SIGMOID | RENORMALIZE)


def smoke():
    turn = 0
    for dtype, flags in itertools.product(DTYPES, FLAGS):
        for experts, k in ((8, 2), (60, 4), (128, 8), (256, 8)):
            turn += 1
            x = logits(dtype, (5, experts))
            yield case(f"smoke_5x{experts}", x, k, flags, kind=IDS[turn % 3], slots=(None, "i32", "u32", "i64")[turn % 4])
            yield case(f"smoke_5x{experts}", x, k, flags, bias_of(experts), scale=(1.0, 2.5)[turn % 2], kind=IDS[turn // 3 % 3])
            yield case(f"smoke_5x{experts}", x, k, flags, groups=(4, 2), kind=IDS[turn // 2 % 3], scale=(2.5, 1.0)[turn % 2])
    yield case("smoke_deepseek", explicit("f32", spread(3, 256)), 8, SIGMOID | RENORMALIZE, explicit("f32", spread(1, 256)[0] / 16),
               (8, 4), 2.5)


def spread(rows, columns):
    """Distinct numbers whose scores are distinct by more than f32's error, also in sums of two."""
    return np.stack([(shuffled(columns, seed) - columns / 2) / columns * 6 for seed in range(rows)])


def ties(name, turns, ulps):
    """Logits whose scores have few bits, so sums with the bias are exact: ties are ties on every device."""
    turn = 0
    for experts in (16, 64, 256, 1024):
        for dtype, flags in itertools.product(DTYPES, turns):
            turn += 1
            if experts > 64 and turn % 3 != experts // 256 % 3:
                continue
            if flags & SIGMOID:
                x = np.stack([np.array([0.0, INF, -INF])[shuffled(experts, seed) % 3] for seed in (1, 2, 3)])
            else:  # a power of two of equal logits
                x = np.stack([np.where(shuffled(experts, seed) < experts // seed, 1.5, -INF) for seed in (1, 2, 4)])
            x, bias = explicit(dtype, x), explicit("f32", shuffled(experts, 9) % 5 / 8.0)
            for groups in ((0, 0), (8, 3), (16, 5)):
                k = min(8, experts // 16 * 3)
                yield case(f"{name}_3x{experts}", x, k, flags, None, groups, kind=IDS[turn % 3], checks=False, ulps=ulps)
                yield case(f"{name}_3x{experts}", x, k, flags, bias, groups, kind=IDS[turn % 3], checks=False, ulps=ulps)


def exact():
    """Weights of few bits."""
    yield from ties("exact", (0, SIGMOID), 0)
    for experts, k in ((1, 1), (7, 4), (32, 8), (300, 8)):
        for dtype in DTYPES:
            for name, value in (("zeros", np.where(shuffled(experts) % 2 == 0, 0.0, -0.0)), ("equal", np.full(experts, 3.0))):
                yield case(f"exact_{name}_{experts}", explicit(dtype, np.stack([value, value])), k, RENORMALIZE, ulps=0)


def adversarial():
    turn = 0
    for dtype, flags in itertools.product(DTYPES, FLAGS):
        largest = {"f32": float(np.finfo(np.float32).max), "f16": 65504.0, "bf16": math.ldexp(255.0, 120)}[dtype]
        special = [[NAN, 1.0, 2.0, -1.0, NAN, -0.0, 0.0, 3.0], [-INF] * 7 + [NAN], [-INF, 1.0, -INF, 0.5, -INF, 2.0, -INF, -INF],
                   [NAN] * 8, [largest, -largest, 1.0, largest, 0.0, -1.0, 2.0, -largest]]
        infinite = [[INF, 1.0, 2.0, INF, -INF, -0.0, 0.0, 3.0], [-INF] * 8, [INF] * 8]
        for k in (1, 3, 8):
            turn += 1
            if not (flags == SIGMOID | RENORMALIZE and k > 3):
                yield case("adversarial_special", explicit(dtype, special), k, flags, kind=IDS[turn % 3])
            yield case("adversarial_infinite", explicit(dtype, infinite), k, flags, kind=IDS[turn % 3])
            # A bias removes experts, or prefers them; of a token with a NaN, too.
            bias = explicit("f32", [-INF, 9.0, INF, -INF, 0.0, -5.0, NAN, 5.0])
            yield case("adversarial_bias", explicit(dtype, special[:1] + special[2:4] + infinite[:1]), k, flags, bias, checks=False)
        wide = explicit(dtype, np.tile(np.array([special[0], special[2]]), 5))
        yield case("adversarial_groups", wide, 4, flags, groups=(5, 2))
        if not flags & RENORMALIZE:
            yield case("adversarial_far_logits", explicit(dtype, [np.linspace(-90, 90, 40), np.linspace(-60, 3, 40)]), 40, flags)
        yield case("adversarial_far_bias", explicit(dtype, [np.linspace(-40, 40, 40)]), 5, flags, explicit("f32", np.arange(40) * -4.0))
    yield from ties("adversarial_ties", (RENORMALIZE, SIGMOID | RENORMALIZE), ULPS)
    yield case("adversarial_groups_of_one", explicit("f32", spread(2, 32)), 3, SIGMOID, bias_of(32), (32, 5))
    yield case("adversarial_groups_of_two", explicit("f32", spread(2, 64)), 4, 0, bias_of(64, 5, 4.0 / 3), (32, 2))
    yield case("adversarial_no_tokens", explicit("f32", np.zeros((0, 8))), 2)


LAYOUTS = [
    ("padded", (5, 64), by(72, 1), by(13, 1)),
    ("padded_by_one", (5, 64), by(65, 1), by(9, 1)),
    ("transposed", (6, 40), by(1, 6), by(1, 6)),
    ("step_2", (3, 34), by(68, 2), by(14, 2)),
    ("negative_experts", (3, 40), by(40, -1), by(7, -1)),
    ("negative_tokens", (3, 40), by(-40, 1), by(-7, 1)),
    ("misaligned", (4, 64), at(1), at(1)),
    ("many_misaligned", (4, 1000), at(3), at(3)),
    ("many_transposed", (4, 513), by(1, 4), {}),
    ("expanded", (4, 72), by(0, 0), {}),
]


def layouts():
    turn = 0
    for name, shape, x, result in LAYOUTS:
        for dtype in DTYPES:
            turn += 1
            values = explicit(dtype, np.full(shape, 0.5), **x) if name == "expanded" else logits(dtype, shape, **x)
            yield case(f"layout_{name}", values, 7, FLAGS[turn % 4], kind=IDS[turn % 3], slots=IDS[turn // 3 % 3], layout=result)
    x = explicit("f32", spread(3, 40))
    yield case("layout_bias_step_2", x, 5, 0, bias_of(40, **by(2)))
    yield case("layout_bias_reversed", x, 5, SIGMOID, bias_of(40, **by(-1)))


def sizes():
    turn = 0
    for experts in (1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 160, 255, 256, 257, 264, 384, 511, 512, 513,
                    520, 768, 1023, 1024):
        for k in sorted({1, 2, 6, 8, 32, 33, experts // 2, experts}):
            if not 1 <= k <= experts or (k > 33 and turn % 3):
                turn += 1
                continue
            turn += 1
            tokens = (1, 3, 9, 20)[turn % 4] if experts < 300 else 1 + turn % 3
            x = logits(DTYPES[turn % 3], (tokens, experts))
            bias = bias_of(experts) if turn % 3 == 0 else None
            divisors = [g for g in (2, 3, 4, 5, 8, 16, 27, 32) if experts % g == 0]
            groups = (0, 0)
            if bias is None and divisors and turn % 2:
                count = divisors[turn % len(divisors)]
                groups = (count, min(count, -(-k // (experts // count)) + turn % 3))
            yield case(f"size_{name_of((tokens, experts))}", x, k, FLAGS[turn % 4], bias, groups, kind=IDS[turn // 2 % 3])
    yield case("size_700x40", logits("bf16", (700, 40)), 4, RENORMALIZE)
    yield case("size_300x256", logits("f16", (300, 256)), 8, RENORMALIZE, groups=(8, 4))


TOPICS = {"smoke": smoke, "exact": exact, "adversarial": adversarial, "layouts": layouts, "sizes": sizes}
