"""The gradient of log_softmax: dx = dy - exp(y) * sum(dy), over the last dimension."""

import numpy as np

import extended
from extended import Real
from golden import bell, constant, explicit, uniform
from ops.rows import DTYPES
from ops.softmax_backward import INF, NAN, Gradient, expected


def reference(params, inputs):
    del params
    dy, y = inputs["dy"], inputs["y"]
    dx, size = np.empty(y.shape, Real), np.empty(y.shape, Real)
    with np.errstate(all="ignore"):
        for row in np.ndindex(*y.shape[:-1]):
            gradient, power = dy[row].astype(Real), np.exp(y[row].astype(Real))
            dx[row] = gradient - power * extended.total(gradient)
            size[row] = np.abs(gradient) + power * np.abs(gradient).sum()
    return {"dx": expected(dx, size)}


def torch_reference(torch, params, inputs):
    del params
    return {"dx": torch.ops.aten._log_softmax_backward_data(inputs["dy"], inputs["y"], -1, inputs["y"].dtype)}


def log_probabilities(dtype, shape, **layout):
    """About log_softmax's results: numbers below 0, around the logarithm of a probability."""
    each = float(np.log2(max(shape[-1], 2)))
    return uniform(dtype, shape, each / 2, -each, **layout)


OP = Gradient("log_softmax_backward", log_probabilities, {"flags": 0})


def exact():
    """y is 0 or -inf, so its power is 1 or 0."""
    for dtype in DTYPES:
        for columns in (1, 4, 16, 50, 300):
            count = np.arange(3 * columns).reshape(3, columns)
            dy = np.where(count * 11 % 7 < 4, count * 5 % 7 - 3.0, 0.0) * (count % columns < 64)
            yield OP.case(f"exact_{columns}", explicit(dtype, dy), explicit(dtype, np.where(count % 3 == 0, 0.0, -INF)), ulps=0)
        for columns in (1024, 4096, 16384, 32768) if dtype in ("f32", "f64") else ():
            yield OP.case(f"exact_long_{columns}", constant(dtype, (6, columns), -1.0 / 16), constant(dtype, (6, columns), 0.0), ulps=0)
        yield OP.case("exact_one_of_50", explicit(dtype, np.where(np.arange(150).reshape(3, 50) % 50 == 7, -1.0, 0.0)),
                      constant(dtype, (3, 50), 0.0), ulps=0)


def adversarial():
    for dtype in DTYPES:
        yield OP.case("adversarial_y_minus_inf", bell(dtype, (2, 30)), explicit(dtype, [[-1.0] * 29 + [-INF], [-INF] * 29 + [NAN]]))
        yield OP.case("adversarial_low_y", bell(dtype, (2, 30), 100.0), uniform(dtype, (2, 30), 30.0, -60.0))
        dy = bell(dtype, (3, 40), seed=7).array()
        yield OP.case("adversarial_cancel", explicit(dtype, np.concatenate((dy, -dy), axis=1)), uniform(dtype, (3, 80), 2.0, -4.0))
    # exp(y) is denormal, and the sum is so large that dx is not. Then sums so small that 2^-24 of them is denormal.
    dy = np.where(np.arange(30) % 6 == 0, 800.0, 0.0)
    for dtype, low, small in (("f32", 95.0, 1e-36), ("f64", 725.0, 1e-300), ("bf16", 85.0, 1e-36)):
        yield OP.case("adversarial_denormal_power", explicit(dtype, [dy, -dy]), uniform(dtype, (2, 30), 8.0, -low))
        yield OP.case("adversarial_tiny_sum", bell(dtype, (2, 30), small), uniform(dtype, (2, 30), 1.0, -2.0))


TOPICS = OP.topics(exact, adversarial)
