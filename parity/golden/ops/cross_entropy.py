"""The loss of each row of logits, and its gradient. With lse = log(sum(exp(x))) and s = label_smoothing:

    loss = (1 - s) * (lse - x[target]) + s * (lse - mean(x)) + z_loss * lse^2
    dx = dloss * (exp(x - lse) * (1 + 2 * z_loss * lse) - s / classes - (1 - s at the target, otherwise 0))
"""

import math

import numpy as np

import extended
from extended import Real
from golden import Case, Expected, View, bell, constant, explicit, index, report
from ops import rows
from ops.rows import DTYPES, at, by, name_of

NAN, INF = math.nan, math.inf
PARAMS = {"ignore_index": -100, "label_smoothing": 0.0, "z_loss": 0.0, "flags": 0}


def reference(params, inputs):
    x, target = inputs["x"], inputs["target"]
    s, z, n = Real(params["label_smoothing"]), Real(params["z_loss"]), x.shape[-1]
    of_rows = {name: np.zeros(target.shape, Real) for name in ("loss", "loss_scale", "size", "lse", "lse_scale")}
    dx, scale, condition = (np.zeros(x.shape, Real) for _ in range(3))
    wrong = []
    with np.errstate(all="ignore"):
        for number, row in enumerate(np.ndindex(*x.shape[:-1])):
            place = row + (0,) * (len(target.shape) - len(row))
            logits, named = x[row], int(target[place])
            top = logits.max()
            high, low = extended.difference(logits, top)
            distance = high.astype(Real) + low.astype(Real)
            total = extended.total(np.exp(distance))
            log_sum = np.log(total)
            lse = Real(-INF) if top == -INF else top + log_sum
            size = np.abs(Real(top)) + log_sum
            of_rows["lse"][place], of_rows["lse_scale"][place], of_rows["size"][place] = lse, max(size, 1), 1 + size
            if named != params["ignore_index"] and not 0 <= named < n:
                wrong.append(number)
            if named == params["ignore_index"] or not 0 <= named < n:
                continue
            loss = log_sum - distance[named]
            if s != 0:
                loss = (1 - s) * loss + s * (log_sum - extended.total(distance) / n)
            loss += z * lse * lse
            # The sum of powers is 1 or more, and is rounded: the scale is at least 1.
            of_rows["loss"][place], of_rows["loss_scale"][place] = loss, max(np.abs(loss) + 2 * z * size * size, 1)
            power = np.exp(distance) / total
            at_target = np.where(np.arange(n) == named, 1 - s, Real(0))
            factor = Real(inputs["dloss"][place]) if "dloss" in inputs else Real(1)
            dx[row] = factor * power * (1 + 2 * z * lse)
            for others in (s / n, at_target) if s != 0 else (at_target,):  # -0 - 0 is -0
                dx[row] -= factor * others
            scale[row] = np.abs(factor) * (power * (1 + 2 * z * size) + s / n + at_target)
            condition[row] = scale[row] * (1 + size + np.abs(distance - log_sum))  # PyTorch rounds the logarithm of a power
    results = {"loss": expected(of_rows["loss"], of_rows["loss_scale"], of_rows["size"]), "lse": expected(of_rows["lse"], of_rows["lse_scale"]),
               "dx": expected(dx, scale, condition)}
    if "report" in inputs:
        count, first = inputs["report"]
        results["report"] = Expected(np.array([count + len(wrong), min(wrong + ([] if first == -1 else [int(first)]), default=-1)]))
    return results


def expected(values, *magnitudes):
    values = values.astype(np.float64)
    return Expected(values, *(np.where(np.isfinite(values) & np.isfinite(m), m, 0).astype(np.float64) for m in magnitudes))


def torch_reference(torch, params, inputs):
    if "report" in inputs or params["z_loss"] or not inputs["x"].numel():
        return None
    x = inputs["x"].detach().clone().requires_grad_()
    target = inputs["target"].reshape(x.shape[:-1]).long()
    left_out = target == params["ignore_index"]
    if (~left_out & ((target < 0) | (target >= x.shape[-1]))).any() or not torch.isfinite(x[left_out]).all():
        return None  # in a row that is left out PyTorch's gradient is 0 * x
    flat = x.reshape(-1, x.shape[-1])
    loss = torch.nn.functional.cross_entropy(flat, target.reshape(-1), ignore_index=params["ignore_index"],
                                             label_smoothing=params["label_smoothing"], reduction="none")
    loss.backward(inputs["dloss"].reshape(-1).to(loss.dtype) if "dloss" in inputs else torch.ones_like(loss))
    results = {"loss": loss.detach().reshape(target.shape), "dx": x.grad}
    if not torch.isposinf(x).any():  # there PyTorch's logsumexp is infinite
        results["lse"] = x.detach().logsumexp(-1)
    return results


def case(name, x, target=None, outputs=("loss", "lse", "dx"), layouts=None, in_place=False, ulps=None, loss_ulps=None, dloss=None, given=None, target_layout=None,
         **params):
    """`target`: integers, a dtype, or None for i64. `given`: a report's count and first."""
    params, of_rows = {**PARAMS, **params}, x.shape[:-1]
    scalar = "f64" if x.dtype == "f64" else "f32"
    if target is None or isinstance(target, str):
        target = index(target or "i64", of_rows, x.shape[-1], **(target_layout or {}))
    elif not hasattr(target, "kind"):
        target = explicit("i64", target, **(target_layout or {}))
    inputs = {"x": x, "target": target}
    if dloss is not None:
        inputs["dloss"] = dloss
    if given:
        inputs["report"] = report(*given)
    layouts = layouts or {}
    if ulps is None:
        loss_ulps = 4.0
    views = {output: View(x.dtype, x.shape, **layouts.get(output, {})) if output == "dx" else
             View(scalar, of_rows, ulps=loss_ulps, **layouts.get(output, {})) for output in outputs}
    if in_place:
        views["dx"] = View(x.dtype, x.shape, x.stride, x.offset)
    suffix = "".join(f"_{key}_{value:g}".replace(".", "p").replace("-", "m") for key, value in params.items() if value != PARAMS[key])
    suffix += "".join("_no_" + output for output in ("lse", "dx") if output not in outputs) + ("_i32" if target.dtype == "i32" else "")
    suffix += ("_dloss" if dloss is not None else "") + ("_report" if given else "")
    return Case("cross_entropy", f"{name}_{x.dtype}{suffix}", x.dtype, inputs, views, rows.ULPS[x.dtype] if ulps is None else ulps, params,
                ("dx", "x") if in_place else None, in_out=("report",))


def logits(dtype, shape, **layout):
    return bell(dtype, shape, 2.0, 0.5, **layout)


def factors(dtype, shape, **layout):
    return bell("f64" if dtype == "f64" else "f32", shape, 0.5, 0.25, **layout)


def smoke():
    ways = ({}, {"label_smoothing": 0.1}, {"z_loss": 1e-3}, {"label_smoothing": 0.3, "z_loss": 0.01})
    for dtype in DTYPES:
        for turn, shape in enumerate(rows.SMOKE_SHAPES):
            yield case(f"smoke_rank{len(shape)}", logits(dtype, shape), ("i64", "i32")[turn % 2], **ways[turn % 4])
        for turn, outputs in enumerate((("loss",), ("loss", "dx"), ("loss", "lse"))):
            yield case("smoke_4x32", logits(dtype, (4, 32)), outputs=outputs, **ways[turn])
            yield case("smoke_5x77", logits(dtype, (5, 77)), outputs=outputs, **ways[turn + 1])
        for way in ways:
            yield case("smoke_3x40", logits(dtype, (3, 40)), "i32", dloss=factors(dtype, (3,)), **way)
        yield case("smoke_ignored", logits(dtype, (6, 40)), [3, -100, 7, -100, 39, 0], label_smoothing=0.1)
        yield case("smoke_ignored", logits(dtype, (6, 24)), [3, 5, 7, 5, 23, 0], ignore_index=5, dloss=factors(dtype, (6,)))
        yield case("smoke_out_of_range", logits(dtype, (6, 24)), [3, 24, -1, -100, 23, 2**40], given=(0, -1))
        yield case("smoke_out_of_range", logits(dtype, (6, 23)), explicit("i32", [3, 22, -2, -100, -2**31, 2**31 - 1]), given=(7, 1))
        yield case("smoke_in_range", logits(dtype, (2, 3, 24)), given=(2, 9))


def exact():
    """Rows with one finite number: all sums and powers are 0 or 1."""
    for dtype in DTYPES:
        for columns in (1, 4, 16, 50):
            values = np.full((3, columns), -INF)
            values[range(3), (0, columns // 2, columns - 1)] = (5.0, -0.25, 0.0)
            yield case(f"exact_one_of_{columns}", explicit(dtype, values), [0, columns // 2, columns - 1], ulps=0)
            yield case(f"exact_left_out_{columns}", explicit(dtype, values), [-100] * 3, outputs=("loss", "dx"), ulps=0, label_smoothing=0.5)


def adversarial():
    for dtype in DTYPES:
        few = explicit("f64" if dtype == "f64" else "f32", [0.25, -2.0, 1.0])
        for columns in (1, 4, 64, 1024, 4096, 16384, 65536):
            for smoothing in (0.0, 1.0):  # dx is exact; with 1 all elements of dx are 0
                if smoothing == 1 or columns <= {"f16": 1024, "bf16": 64}.get(dtype, columns):  # 1 / columns - 1 is a value of the dtype
                    yield case(f"adversarial_equal_{columns}", constant(dtype, (3, columns), -1.5), outputs=("loss", "dx"), ulps=0, loss_ulps=4.0,
                               dloss=few, label_smoothing=smoothing)
        for name, where in (("inf", [(1, 5, INF)]), ("nan", [(0, 23, NAN), (2, 7, NAN)]), ("minus_inf", [(1, 5, -INF), (2, 7, -INF)])):
            for smoothing in (0.0, 0.1):
                yield case("adversarial_" + name, rows.quirky(dtype, (4, 24), 1, at=where), [3, 4, 7, 23], label_smoothing=smoothing)
            yield case(f"adversarial_{name}_left_out", rows.quirky(dtype, (4, 24), 1, at=where), [-100] * 4)
        yield case("adversarial_all_minus_inf", explicit(dtype, [[1.0, 2.0] * 9, [-INF] * 18]), [4, 5])
        yield case("adversarial_one_large", rows.quirky(dtype, (3, 100), 2, at=[(0, 37, 20.0), (1, 99, 9.0), (2, 5, 60.0)]), [37, 4, 5])
        yield case("adversarial_low", bell(dtype, (3, 200), 20.0, -40.0), z_loss=1e-4)
        yield case("adversarial_large", bell(dtype, (3, 200), 1e4), z_loss=1e-4, label_smoothing=0.2)
        yield case("adversarial_alike", bell(dtype, (3, 200), 1e-3, 30.0), label_smoothing=1.0)
        yield case("adversarial_two_values", explicit(dtype, np.where(np.arange(800) % 400 == 7, 6.5, -4.0).reshape(2, 400)), [7, 8])
    yield case("adversarial_rising", explicit("f32", np.linspace(-20.0, 20.0, 3500)[np.newaxis], **by(7000, 2)), [3499])


LAYOUTS = [  # shape; x, dx, target, loss, lse, dloss
    ("padded", (5, 64), by(80, 1), by(88, 1), {}, by(2), {}, {}),
    ("padded_by_one", (5, 64), by(65, 1), by(67, 1), by(3), {}, {}, {}),
    ("misaligned", (2, 64), at(1), at(3), {}, at(1), {}, {}),
    ("misaligned_x", (2, 640), at(1), {}, {}, {}, {}, {}),
    ("misaligned_alike", (2, 63), by(64, 1, offset=1), by(64, 1, offset=1), {}, {}, {}, {}),
    ("misaligned_dx", (2, 640), {}, at(1), at(1), {}, at(2), {}),
    ("odd_rows_long", (3, 2049), {}, {}, {}, {}, {}, {}),
    ("transposed", (6, 33), by(1, 6), by(1, 6), {}, {}, {}, {}),
    ("steps", (3, 34), by(68, 2), by(-40, -1), by(-1), by(5), by(-2), by(3)),
    ("negative_x", (3, 40), by(-40, -1), {}, {}, {}, {}, {}),
    ("one_dloss", (4, 32), {}, {}, {}, {}, {}, by(0)),
    ("permuted", (2, 2, 3, 16), by(96, 16, 32, 1), {}, by(1, 6, 2), {}, by(6, 3, 1), by(0, 1, 0)),
    ("permuted_long", (2, 3, 2, 1032), by(6192, 1032, 3096, 1), {}, {}, {}, {}, {}),
    ("rank8", (2, 1, 2, 1, 2, 1, 2, 16), by(160, 7, 320, 0, 16, -3, 32, 1), by(128, 9, 64, 9, 32, 9, 16, 1), {}, {}, {}, {}),
]


def layouts():
    for turn, (name, shape, x, dx, target, loss, lse, dloss) in enumerate(LAYOUTS):
        for dtype in ("f32", ("bf16", "f16", "f64")[turn % 3]):
            of_rows = factors(dtype, shape[:-1], **dloss)
            if dloss.get("stride") and 0 in dloss["stride"]:
                part = factors(dtype, tuple(1 if step == 0 else extent for extent, step in zip(shape, dloss["stride"])), seed=turn)
                of_rows = explicit(part.dtype, np.broadcast_to(part.array(), shape[:-1]), **dloss)
            yield case(f"layout_{name}", logits(dtype, shape, **x), layouts={"dx": dx, "loss": loss, "lse": lse}, dloss=of_rows, target_layout=target,
                       label_smoothing=(0.0, 0.1)[turn % 2])
    for turn, (shape, layout) in enumerate((((9, 64), {}), ((5, 63), by(65, 1, offset=1)), ((3, 2200), {}), ((2, 33001), {}), ((3, 37), by(1, 3)),
                                            ((1, 70000), {}), ((2, 9000), by(18000, 2)))):
        for dtype in ("f32", DTYPES[1 + turn % 3]):
            yield case(f"layout_in_place_{name_of(shape)}", logits(dtype, shape, **layout), in_place=True)


def sizes():
    shapes = [(rows.rows_for(columns), columns) for columns in rows.COLUMNS[1::2]]
    for turn, shape in enumerate(shapes + [(0, 64), (37, 5), (150, 8), (37, 1000), (3, 50257), (2, 128256)]):
        yield case("size_" + name_of(shape), logits(DTYPES[turn % 4], shape), ("i64", "i32")[turn // 4 % 2], outputs=("loss", "dx"),
                   label_smoothing=(0.0, 0.1)[turn % 3 % 2])
    for dtype in DTYPES:
        length = {"f32": 4, "f64": 2}.get(dtype, 8)
        for vectors in (5, 16, 65, 512, 2048, 4100, 8300):
            for odd in (0, 1):
                yield case(f"odd_end_{vectors}" if odd else f"whole_vectors_{vectors}", logits(dtype, (1, vectors * length - odd), offset=odd),
                           outputs=("loss", "dx"))
        yield case("every_second_2100", logits(dtype, (1, 2100), stride=(4200, 2)))
    for dtype in ("f32", "bf16"):  # more rows than one for a block of the kernels that load rows ahead
        yield case("rows_of_4100_vectors", logits(dtype, (3, 65600 // (4 if dtype == "f32" else 2))), outputs=("loss", "dx"))


TOPICS = {"smoke": smoke, "exact": exact, "adversarial": adversarial, "layouts": layouts, "sizes": sizes}
