"""The gradients of layer_norm: dx, and dw and db, which are sums over all rows."""

import numpy as np

import extended
from extended import Real
from golden import Expected, View, bell, constant, explicit, uniform
from ops import rows
from ops.rms_norm_backward import INF, LAYOUTS, NAN, REACHES, ULPS, BackwardCase, data, further_sizes, rstd_of, weight_of
from ops.rows import DTYPES, by, name_of


def total(values):
    return extended.total(values) if values.size else Real(0)


def reference(params, inputs):
    x, dy = inputs["x"], inputs["dy"]
    columns = x.shape[-1]
    number = Real(max(columns, 1))
    weight = inputs["weight"].astype(Real) if "weight" in inputs else np.ones(columns, Real)
    dx, scale, terms, sizes = (np.zeros(x.shape, Real) for _ in range(4))
    with np.errstate(all="ignore"):
        for row in np.ndindex(*x.shape[:-1]):
            wide, gradient = x[row].astype(Real), dy[row].astype(Real)
            mean = Real(inputs["mean"].reshape(x.shape[:-1])[row]) if "mean" in inputs else total(wide) / number
            deviation = wide - mean
            r = Real(1) / np.sqrt(total(deviation * deviation) / number + Real(params["eps"]))
            if "rstd" in inputs:
                r = Real(inputs["rstd"].reshape(x.shape[:-1])[row])
            normalized, size, g = deviation * r, (np.abs(deviation) + np.abs(deviation).sum() / number) * np.abs(r), gradient * weight
            dx[row] = r * (g - total(g) / number - normalized * (total(g * normalized) / number))
            scale[row] = np.abs(r) * (np.abs(g) + np.abs(g).sum() / number + size * (np.abs(g) * size).sum() / number)
            terms[row], sizes[row] = gradient * normalized, np.abs(gradient) * size

    def over_rows(values, magnitudes):
        flat = [a.reshape(-1, columns) if columns else a.reshape(0, 0) for a in (values, magnitudes)]
        sums = np.array([total(column) for column in flat[0].T], dtype=Real).astype(np.float64) + 0.0
        return Expected(sums, np.abs(flat[1]).sum(axis=0).astype(np.float64))

    with np.errstate(all="ignore"):
        values = dx.astype(np.float64)
        return {"dx": Expected(values, np.where(np.isfinite(values) & np.isfinite(scale), scale, 0).astype(np.float64)),
                "dw": over_rows(terms, sizes), "db": over_rows(dy.astype(Real), np.abs(dy).astype(Real))}


def torch_reference(torch, params, inputs):
    if "rstd" in inputs or "mean" in inputs or inputs["x"].numel() == 0:
        return None
    x = inputs["x"].detach().requires_grad_()
    weight = inputs["weight"].detach().requires_grad_() if "weight" in inputs else None
    bias = torch.zeros_like(x[(0,) * (x.dim() - 1)] if weight is None else weight).requires_grad_()
    torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, params["eps"]).backward(inputs["dy"])
    return {"dx": x.grad, "db": bias.grad, **({} if weight is None else {"dw": weight.grad})}


def case(name, x, dy, weight=None, sums=("dw", "db"), mean=None, rstd=None, eps=1e-5, dx=None, sum_layout=None, in_place=None, ulps=None):
    inputs = {"dy": dy, "x": x}
    outputs = {"dx": View(x.dtype, x.shape, **(dx or {}))}
    if in_place:
        outputs["dx"] = View(x.dtype, x.shape, inputs[in_place].stride, inputs[in_place].offset)
    if weight is not None:
        inputs["weight"] = weight
    for turn, output in enumerate(sums):
        if weight is not None or output == "db":
            layout = (sum_layout or {}) if turn == 0 else {}
            outputs[output] = View(x.dtype if weight is None else weight.dtype, x.shape[-1:], **layout)
    given = {key: value for key, value in (("mean", mean), ("rstd", rstd)) if value is not None}
    inputs.update(given)
    suffix = f"_{x.dtype}" + ("" if weight is None else "_weight" + ("" if weight.dtype == x.dtype else "_" + weight.dtype))
    return BackwardCase("layer_norm_backward", name + suffix + "".join("_" + key for key in given), x.dtype, inputs, outputs,
                        ULPS[x.dtype] if ulps is None else ulps, {"eps": eps, "flags": 0, "workspace": 1}, ("dx", in_place) if in_place else None)


def mean_of(dtype, shape, **layout):
    return uniform("f64" if dtype == "f64" else "f32", shape, 0.5, 0.25, **layout)


def smoke():
    for turn, shape in enumerate(rows.SMOKE_SHAPES):
        for other, dtype in enumerate(DTYPES[:3] if turn else DTYPES):
            kind = (None, dtype, "f32")[(turn + other) % 3]
            given = {"rstd": rstd_of(dtype, shape[:-1])} if turn & 1 else {}
            if turn & 2:
                given["mean"] = mean_of(dtype, shape[:-1])
            yield case(f"smoke_rank{len(shape)}", data(dtype, shape), data(dtype, shape), kind and weight_of(kind, shape[-1]), **given)
    for dtype in DTYPES:
        for sums in ((), ("dw",), ("db",)):
            yield case("smoke_of_" + ("_".join(sums) or "dx"), data(dtype, (5, 32)), data(dtype, (5, 32)), weight_of(dtype, 32), sums=sums)
            yield case("smoke_odd_of_" + ("_".join(sums) or "dx"), data(dtype, (5, 33)), data(dtype, (5, 33)), weight_of("f32", 33), sums=sums,
                       mean=mean_of(dtype, (5,)), rstd=rstd_of(dtype, (5,)))


def exact():
    """Rows of m +- 2^k, half of them with each sign, have a power of two as rstd, and small whole numbers have exact sums."""
    for dtype in DTYPES:
        for columns, count in ((2, 3), (8, 5), (64, 12), (256, 3), (2048, 2)):
            row, column = np.arange(count)[:, None], np.arange(columns)
            sign = np.where(column % 2 == 0, 1.0, -1.0)
            x = (row % 4 - 1.0) + np.ldexp(1.0, row % 3 - 1) * sign
            dy = 1.0 + 2 * sign + np.where(column % 8 < 4, 1.0, -1.0) * (columns >= 8) * (row % 2) * 2
            yield case(f"exact_{count}x{columns}", explicit(dtype, x), explicit(dtype, dy), constant("f32", (columns,), -2.0), eps=0.0, ulps=0)
        for columns in (1024, 4096, 16384, 32768):
            yield case(f"exact_long_{columns}", constant(dtype, (6, columns), -4.0), constant(dtype, (6, columns), 3.0), constant(dtype, (columns,), -2.0),
                       eps=0.25, ulps=0)


def adversarial():
    for dtype in DTYPES:
        big = {"f16": 6e4, "bf16": 1e15, "f32": 1e15, "f64": 1e100}[dtype]
        small = {"f16": 6e-5, "bf16": 1e-15, "f32": 1e-15, "f64": 1e-100}[dtype]
        plain, weight, of_rows = rows.quirky(dtype, (4, 24), 1), weight_of(dtype, 24), "f64" if dtype == "f64" else "f32"
        yield case("adversarial_x_inf_nan", rows.quirky(dtype, (4, 24), 2, at=[(1, 5, INF), (3, 0, NAN)]), plain, weight)
        yield case("adversarial_dy_nan", plain, rows.quirky(dtype, (4, 24), 3, at=[(0, 23, NAN), (2, 7, NAN)]), weight)
        for name in ("mean", "rstd"):
            yield case("adversarial_inf_nan_as", plain, plain, weight, **{name: explicit(of_rows, [1.0, INF, NAN, 0.5])})
        yield case("adversarial_zeros", explicit(dtype, np.zeros((3, 40))), data(dtype, (3, 40)), weight_of(dtype, 40))
        yield case("adversarial_large", data(dtype, (3, 40), big / 8), data(dtype, (3, 40)), weight_of(dtype, 40))
        yield case("adversarial_small", data(dtype, (3, 40), small, small), data(dtype, (3, 40)), weight_of(dtype, 40), eps=0.0)
        # dy is 1 or a multiple of x, so dx is 0 except for roundings. The terms of dw and db cancel over the rows.
        x = bell(dtype, (3, 48), 1.0, seed=7).array()
        yield case("adversarial_cancel", explicit(dtype, x), explicit(dtype, x))
        yield case("adversarial_equal_dy", explicit(dtype, x), constant(dtype, (3, 48), 64.0))
        both = explicit(dtype, np.concatenate((x, -x)))
        yield case("adversarial_cancel_rows", both, explicit(dtype, np.concatenate((x, -x))[::-1]), weight_of("f32", 48))
        # Squares minus the square of the mean would lose all digits.
        yield case("adversarial_huge_mean", data(dtype, (2, 300), 40.0 if dtype == "bf16" else 1.0, 3000.0), data(dtype, (2, 300)))
        yield case("adversarial_huge_mean_long", data(dtype, (2, 4100), 40.0 if dtype == "bf16" else 1.0, 3000.0), data(dtype, (2, 4100)))
    # Equal terms: the additions of a plain sum round the same way again and again.
    equal = [np.broadcast_to(np.array(row), (128, 4)) for row in ([0.3, -1.7, 2.9, 0.6], [0.9522, -0.9811, 0.9284, -1.9044])]
    yield case("adversarial_equal_rows", *(explicit("f32", rows_of) for rows_of in equal), weight_of("f32", 4))


def layouts():
    for turn, (name, shape, x, dy, dx, weight, sums) in enumerate(LAYOUTS):
        for dtype in ("f32", DTYPES[1 + turn % 3]):
            gradient = data(dtype, shape, **dy)
            if name.startswith("dy_of_one"):
                part = bell(dtype, (1, 1 if "number" in name else 32), 1.5, seed=turn).array()
                gradient = explicit(dtype, np.broadcast_to(part, shape), **dy)
            yield case(f"layout_{name}", data(dtype, shape, **x), gradient, weight_of("f32" if turn % 2 else dtype, shape[-1], **weight), dx=dx,
                       sum_layout=sums, sums=("dw", "db") if turn % 2 else ("db", "dw"))
    for turn, (shape, layout) in enumerate((((9, 64), {}), ((5, 63), by(65, 1, offset=1)), ((3, 2200), {}), ((3, 37), by(1, 3)))):
        for other, source in enumerate(("dy", "x")):
            dtype = DTYPES[(turn + other) % 4]
            own = {source: layout}
            yield case(f"layout_dx_is_{source}_{name_of(shape)}", data(dtype, shape, **own.get("x", {})), data(dtype, shape, **own.get("dy", {})),
                       weight_of(dtype, shape[-1]), in_place=source)
    for turn, layout in enumerate((by(1, 2), by(7, 2, 1), by(0, 0), by(-5, 9, offset=1))):
        shape = (2, 3, 1) if len(layout["stride"]) == 3 else (2, 3)
        scalars = explicit("f32", np.full(shape, 0.625), **layout) if layout["stride"] == (0, 0) else rstd_of("bf16", shape, **layout)
        for name in ("mean", "rstd"):
            yield case(f"layout_scalars_{turn}", data("bf16", (2, 3, 40)), data("bf16", (2, 3, 40)), weight_of("f32", 40), **{name: scalars})


def sizes():
    for turn, (count, vectors) in enumerate(REACHES + [(2, 96), (2, 97), (2, 1536), (2, 1537)]):
        for other in range(2):
            dtype = DTYPES[(turn + 2 * other) % 3]
            columns = vectors * (4 if dtype == "f32" else 8)
            if other and count <= 70:
                columns -= 1
            shape = (count, columns)
            given = {"mean": mean_of(dtype, (count,)), "rstd": rstd_of(dtype, (count,))} if turn % 2 else {}
            yield case(f"size_{name_of(shape)}", data(dtype, shape), data(dtype, shape), weight_of("f32" if turn % 3 else dtype, columns), **given)
    yield from further_sizes(case)


TOPICS = {"smoke": smoke, "exact": exact, "adversarial": adversarial, "layouts": layouts, "sizes": sizes}
