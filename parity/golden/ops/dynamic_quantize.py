"""scale = max|x| / most of each row, of each group of its columns, or of x, and q = x / scale, rounded to an 8-bit type."""

import numpy as np

from golden import Case, Expected, View, explicit, uniform
from ops import quantised, rows
from ops.movers import at, by, name_of
from ops.quantised import DTYPES, Params, Q, drawn

FNUZ_240 = 128
WHOLE_TENSOR = -1
MOST = {"f8_e4m3fn": 448.0, "f8_e4m3fnuz": 224.0, "f8_e5m2": 57344.0, "f8_e5m2fnuz": 57344.0, "i8": 127.0}


def constants(params):
    most = np.float32(240.0 if params.q == "f8_e4m3fnuz" and params["flags"] else MOST[params.q])
    return most, np.float32(2.0**-23) if params.q == "i8" else np.float32(1) / (most * np.float32(512))


def groups_of(params, x):
    if params["group"] == WHOLE_TENSOR:
        return x.reshape(1, -1)
    group = params["group"] or x.shape[-1]
    return x.reshape(*x.shape[:-1], x.shape[-1] // group, group)


def reference(params, inputs):
    most, least = constants(params)
    x = groups_of(params, inputs["x"])
    with np.errstate(all="ignore"):
        largest = np.abs(x).max(-1, keepdims=True)  # NaN if an element is
        if "scale_ub" in inputs:
            largest = np.where(largest > inputs["scale_ub"], inputs["scale_ub"], largest)
        scale = quantised.quotient(largest, np.asarray(most))
        scale = np.where(scale < least, np.float64(least), scale)
    q = quantised.quantise(params.q, quantised.quotient(x, scale))
    return {"q": Expected(q.reshape(inputs["x"].shape)), "scale": Expected(scale.reshape(params.scales))}


def torch_reference(torch, params, inputs):
    most, least = constants(params)
    x = groups_of(params, inputs["x"]).float()
    if x.numel() == 0:
        return None
    largest = x.abs().amax(-1, keepdim=True)
    if "scale_ub" in inputs:
        largest = torch.minimum(largest, inputs["scale_ub"].float())
    scale = torch.where(largest / float(most) < float(least), float(least), largest / float(most))
    q = quantised.torch_quantise(torch, params.q, x / scale)
    return {"q": q.reshape(inputs["x"].shape), "scale": scale.reshape(params.scales)}


def case(name, kind, x, group=0, flags=0, bound=None, q=None, scale=None, keeps=True, workspace=0):
    """keeps: the scale of rows has the last dimension, of size 1."""
    params = Params(kind, group=group, flags=flags, workspace=workspace)
    is_whole = group == WHOLE_TENSOR
    params.scales = (1,) * keeps if is_whole else x.shape[:-1] + ((x.shape[-1] // group,) if group else (1,) if keeps else ())
    inputs = {"x": x} if bound is None else {"x": x, "scale_ub": explicit("f32", np.float64(np.float32(bound)))}
    outputs = {"q": View(kind, x.shape, **(q or {})), "scale": View("f32", params.scales, **(scale or {}))}
    name += ("_whole" if is_whole else f"_group_{group}" if group else "") + ("_workspace" if workspace else "") + ("_240" if flags else "") + ("_bound" if bound is not None else "")
    return Case("dynamic_quantize", f"{name}_{x.dtype}_to_{kind}", x.dtype, inputs, outputs, 0, params)


def smoke():
    for turn, dtype in enumerate(DTYPES):
        for kind in Q:
            yield case("smoke_2x24", kind, drawn(dtype, (2, 24)), keeps=False)
            yield case("smoke_2x24", kind, drawn(dtype, (2, 24)), 8)
            yield case("smoke_2x24", kind, drawn(dtype, (2, 24)), bound=0.5)
        yield case("smoke_2x24", "f8_e4m3fnuz", drawn(dtype, (2, 24)), flags=FNUZ_240)
        yield case("smoke_2x24", Q[turn], drawn(dtype, (2, 24)), 12, FNUZ_240, 1.25)
        for other, kind in enumerate(Q):
            yield case("smoke_2x24", kind, drawn(dtype, (2, 24)), WHOLE_TENSOR, workspace=other % 2)
        yield case("smoke_2x24", "f8_e4m3fnuz", drawn(dtype, (2, 24)), WHOLE_TENSOR, FNUZ_240, 0.5, keeps=False)
        yield case("smoke_rank0", Q[turn], drawn(dtype, ()), WHOLE_TENSOR, keeps=False)
        for shape in rows.SMOKE_SHAPES:
            yield case(f"smoke_rank{len(shape)}", Q[(turn + len(shape)) % 5], drawn(dtype, shape), keeps=len(shape) % 2 == 0)


def exact():
    """Rows whose largest element makes the scale a power of two, so that each q is known."""
    for kind in Q:
        table = np.asarray(quantised.values(kind), dtype=np.float64)
        for dtype in DTYPES:
            known = np.resize(table[::5], 40) * np.resize([1.0, -1.0, -1.0], 40)
            known[7] = MOST[kind]
            known = np.where(np.abs(known) > MOST[kind], 1.0, known)
            x = np.stack([known * 2.0**-6, known * (2.0**-9 if kind[:7] == "f8_e5m2" else 2.0**3), -known])
            yield case("exact_powers", kind, explicit(dtype, quantised.golden.dtypes.round_to(x, dtype)))


def adversarial():
    inf, nan = np.inf, np.nan
    for turn, dtype in enumerate(DTYPES):
        most = quantised.golden.dtypes.FLOATS[dtype]
        x = np.tile(np.linspace(-2.0, 3.0, 12), (12, 1))
        x[0] = 0.0
        x[1] = -0.0
        x[2, 5] = nan
        x[3, 7] = inf
        x[4, 11], x[4, 0] = -inf, nan
        x[5] = most.smallest * np.arange(12)
        x[6] = most.largest
        x[7] = -most.largest
        x[8, 0] = most.largest
        x[9] = np.resize([1e-7, -1e-9, 0.0], 12)
        x[10] = nan
        x[11] = np.resize([3.0, -0.0, 1e-5], 12)
        x = explicit(dtype, quantised.golden.dtypes.round_to(x, dtype))
        for kind in Q:
            yield case("adversarial_rows", kind, x)
            if dtype == "f32":
                yield case("adversarial_groups", kind, x, 6, bound=2.0)
        for name, element in (("zero", 0.0), ("nan", nan), ("inf", inf), ("least", most.smallest), ("largest", -most.largest)):
            for shape in ((3, 5), (2, 64)):
                one = np.zeros(shape)
                one[-1, -2] = element
                yield case(f"adversarial_{name_of(shape)}_{name}", Q[turn], explicit(dtype, one), WHOLE_TENSOR, workspace=1)
            yield case(f"adversarial_bounded_{name}", Q[turn + 1], explicit(dtype, one), WHOLE_TENSOR, bound=1.5)
        for bound in (0.0, inf, 1e-30, 3e38):
            yield case(f"adversarial_{bound:g}".replace("-", "minus_").replace("+", ""), Q[turn], x, bound=bound)


LAYOUTS = [  # name, shape, group, layouts of x, q and scale
    ("misaligned_x", (4, 256), 0, at(1), None, None),
    ("misaligned_q", (4, 256), 0, None, at(1), None),
    ("misaligned_by_8_bytes", (4, 256), 64, at(4), at(4), at(1)),
    ("misaligned_rows", (3, 300), 0, by(301, 1, offset=1), by(303, 1), None),
    ("misaligned_groups", (3, 300), 60, by(301, 1, offset=1), by(303, 1), None),
    ("short", (7, 5), 0, by(9, 1), by(6, 1), None),
    ("groups_of_one", (3, 10), 1, None, None, None),
    ("groups_of_12", (3, 96), 12, None, None, None),
    ("groups_by_columns", (6, 256), 64, None, None, by(1, 6)),
    ("rows_of_a_table", (6, 64), 0, None, None, by(5, 1)),
    ("padded", (3, 48), 16, by(80, 1), by(56, 1), by(7, 2)),
    ("transposed", (5, 33), 0, by(1, 5), None, None),
    ("transposed_all", (8, 40), 8, by(1, 8), by(1, 8), by(1, 8)),
    ("negative", (3, 40), 20, by(-48, -1), by(-40, 1), by(-2, 1)),
    ("step_3", (3, 34), 17, by(102, 3), by(68, 2), None),
    ("permuted", (2, 2, 3, 16), 0, by(96, 16, 32, 1), by(48, 96, 16, 1), by(6, 3, 1, 1)),
    ("rank7", (2, 1, 2, 1, 2, 1, 16), 8, by(160, 7, 80, 0, 32, 5, 1), None, None),
]


def layouts():
    for turn, (name, shape, group, x, q, scale) in enumerate(LAYOUTS):
        for other, dtype in enumerate(DTYPES):
            yield case("layout_" + name, Q[(turn + other) % 5], drawn(dtype, shape, **(x or {})), group, q=q, scale=scale)
        yield case("layout_" + name, Q[turn % 5], drawn(DTYPES[turn % 3], shape, **(x or {})), WHOLE_TENSOR, q=q, workspace=turn % 2)


def sizes():
    for turn, n in enumerate((1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 127, 129, 255, 257, 511, 1023, 1025, 2047, 2049, 4095, 4097, 8191,
                              8193, 16385, 40001, 65537)):
        for other in range(2):
            yield case(f"size_3x{n}", Q[(turn + other) % 5], drawn(DTYPES[(turn + other) % 3], (3, n)))
    for turn, (shape, group) in enumerate((((600, 24), 0), ((100, 256), 128), ((9, 4096), 128), ((9, 1344), 64), ((5, 8192), 0),
                                           ((3, 16384), 0), ((70, 136), 8), ((1025, 12), 0), ((4, 8192), 0))):
        for other in range(2):
            yield case("size_" + name_of(shape), Q[(turn + 2 * other) % 5], uniform(DTYPES[(turn + other) % 3], shape, 500.0), group)
    for turn, shape in enumerate(((1,), (7,), (16385,), (3, 40001), (600, 24), (2049, 3), (130, 8193), (20, 65536))):
        for workspace in range(2):
            yield case("size_" + name_of(shape), Q[turn % 5], uniform(DTYPES[turn % 3], shape, 500.0), WHOLE_TENSOR, workspace=workspace)
    yield case("size_0x4", "f8_e4m3fn", drawn("f32", (0, 4)))
    yield case("size_3x0", "f8_e4m3fn", drawn("f32", (3, 0)), 4)


TOPICS = {"smoke": smoke, "exact": exact, "adversarial": adversarial, "layouts": layouts, "sizes": sizes}
