"""Activations in extended precision, and the kinds and inputs that the cases of their ops share."""

import math

import numpy as np

from dtypes import round_to
from extended import Real
from golden import Expected, explicit, uniform

DTYPES = ("f32", "f16", "bf16")
ULPS = {"f16": 1, "bf16": 1, "f32": 4}
KINDS = ("identity", "relu", "relu_squared", "leaky_relu", "abs", "neg", "sqr", "sigmoid", "silu", "swish", "quick_gelu",
         "gelu_tanh", "gelu", "tanh", "elu", "softplus", "exp")  # by the number of hipops_activation_kind
ALPHA = {"leaky_relu": 0.01, "swish": 1.702, "elu": 1.0}
# An activation below f32's normal range is rounded to f32 before it is used.
ROUNDED = ("leaky_relu", "elu", "sqr", "relu_squared")
INF, NAN = math.inf, math.nan


def sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e, Real(1)) / (1 + e)


def normal_distribution(x):
    """Phi(x). math.erfc is of a rounded argument, so the rest of the argument is applied by the derivative."""
    z = -x / np.sqrt(Real(2))
    rounded = z.astype(np.float64)
    value = np.vectorize(math.erfc, otypes=[np.float64])(rounded).astype(Real)
    with np.errstate(invalid="ignore"):
        rest = np.where(np.isfinite(z) & (value != 0), z - rounded, 0)
    return (value - 2 / np.sqrt(Real(math.pi)) * np.exp(-(z * z)) * rest) / 2


def act(kind, alpha, x):
    """The activation of float64 numbers, as Real."""
    name, x, alpha = KINDS[kind], x.astype(Real), Real(alpha)
    formula = {
        "identity": lambda: x,
        "relu": lambda: np.where(x < 0, Real(0), x),
        "relu_squared": lambda: np.where(x < 0, Real(0), x * x),
        "leaky_relu": lambda: np.where(x > 0, x, alpha * x),
        "abs": lambda: np.abs(x),
        "neg": lambda: -x,
        "sqr": lambda: x * x,
        "sigmoid": lambda: sigmoid(x),
        "silu": lambda: x * sigmoid(x),
        "swish": lambda: x * sigmoid(alpha * x),
        "quick_gelu": lambda: x * sigmoid(Real(1.702) * x),
        "gelu_tanh": lambda: x * sigmoid(np.sqrt(8 / np.arctan(Real(1)) / 4) * (x + Real(0.044715) * x * x * x)),
        "gelu": lambda: x * normal_distribution(x),
        "tanh": lambda: np.tanh(x),
        "elu": lambda: np.where(x >= 0, x, alpha * np.expm1(x)),
        "softplus": lambda: np.where(x > 0, x, 0) + np.log1p(np.exp(-np.abs(x))),
        "exp": lambda: np.exp(x),
    }[name]
    with np.errstate(all="ignore"):
        y = formula()
        in_f32 = y.astype(np.float32)
        is_out = np.isinf(in_f32) | ((np.abs(y) < 2.0**-126) & (name in ROUNDED))
        return np.where(np.isnan(x), x, np.where(is_out, in_f32.astype(Real), y))


def condition(kind, x, y, up):
    """float64 rounds the argument of an exponential. 1 + tanh cancels, too."""
    with np.errstate(all="ignore"):
        return np.abs(y) * (1 + np.square(x)) + (np.abs(x * up) if KINDS[kind] == "gelu_tanh" else 0)


def torch_formula(torch, kind, alpha, x):
    """PyTorch's functions, except for gelu, whose 1 + erf has no digits far below 0."""
    functions = torch.nn.functional
    return {
        "identity": lambda: x, "relu": lambda: functions.relu(x), "relu_squared": lambda: functions.relu(x) ** 2,
        "leaky_relu": lambda: functions.leaky_relu(x, alpha), "abs": lambda: x.abs(), "neg": lambda: -x, "sqr": lambda: x * x,
        "sigmoid": lambda: x.sigmoid(), "silu": lambda: functions.silu(x), "swish": lambda: x * torch.sigmoid(alpha * x),
        "quick_gelu": lambda: x * torch.sigmoid(1.702 * x), "gelu_tanh": lambda: functions.gelu(x, approximate="tanh"),
        "gelu": lambda: 0.5 * x * torch.special.erfc(-x / 2**0.5), "tanh": lambda: x.tanh(), "elu": lambda: functions.elu(x, alpha),
        "softplus": lambda: functions.softplus(x, threshold=100), "exp": lambda: x.exp(),
    }[KINDS[kind]]()


def torch_act(torch, kind, alpha, x):
    y = torch_formula(torch, kind, alpha, x)
    in_f32 = y.float()
    is_out = in_f32.isinf() | ((y.abs() < 2.0**-126) & (KINDS[kind] in ROUNDED))
    return torch.where(is_out, in_f32.to(y.dtype), y)


LEAST = 1e-300  # of a condition: PyTorch adds gradients to 0, so its zeros have no sign


def slope(kind, alpha, x):
    """The derivative at float64 numbers, as Real, and the larger of two terms that cancel (None: none do)."""
    name, x, alpha = KINDS[kind], x.astype(Real), Real(alpha)
    one, c = np.ones_like(x), np.sqrt(8 / np.arctan(Real(1)) / 4)

    def of_swish(u, w):
        """The derivative of x * sigmoid(u), where w is x times the derivative of u."""
        s, t = sigmoid(u), sigmoid(-u)
        return np.where(np.isinf(u), np.where(u > 0, Real(1), Real(-0.0)), s * (1 + w * t)), np.maximum(s, s * t * np.abs(w))

    def of_gelu():
        area, line = normal_distribution(x), x * np.exp(-x * x / 2) / np.sqrt(8 * np.arctan(Real(1)))
        value = np.where(area == 0, line, area + line)
        return np.where(np.isinf(x), np.where(x > 0, Real(1), Real(-0.0)), value), np.maximum(area, np.abs(line))

    formula = {
        "identity": lambda: one,
        "relu": lambda: np.where(x <= 0, 0, one),
        "relu_squared": lambda: np.where(x <= 0, 0, 2 * x),
        "leaky_relu": lambda: np.where(x > 0, one, alpha),
        "abs": lambda: np.where(x > 0, one, np.where(x < 0, -one, 0)),
        "neg": lambda: -one,
        "sqr": lambda: 2 * x,
        "sigmoid": lambda: sigmoid(x) * sigmoid(-x),
        "silu": lambda: of_swish(x, x),
        "swish": lambda: of_swish(alpha * x, alpha * x),
        "quick_gelu": lambda: of_swish(Real(1.702) * x, Real(1.702) * x),
        "gelu_tanh": lambda: of_swish(c * (x + Real(0.044715) * x * x * x), c * (x + 3 * Real(0.044715) * x * x * x)),
        "gelu": of_gelu,
        "tanh": lambda: 4 * sigmoid(2 * x) * sigmoid(-2 * x),
        "elu": lambda: np.where(x > 0, one, alpha * np.exp(x)),
        "softplus": lambda: sigmoid(x),
        "exp": lambda: np.exp(x),
    }[name]
    with np.errstate(all="ignore"):
        made = formula()
    return made if isinstance(made, tuple) else (made, None)


def gradient(kind, alpha, x, dy):
    """dy * act'(x), with the errors' unit. 0 where relu is flat, for any dy."""
    with np.errstate(all="ignore"):
        value, term = slope(kind, alpha, x)
        dx = np.where((x <= 0) & (KINDS[kind] in ("relu", "relu_squared")), 0, value * dy).astype(np.float64)
        size = None if term is None else np.abs(term * dy).astype(np.float64)
        lost = {"sigmoid": 1.0, "tanh": 1.0, "gelu_tanh": 1 + np.abs(x) ** 3}.get(KINDS[kind], 0.0)  # 1 + tanh and 1 - sigmoid cancel
        condition = (np.abs(dx) if size is None else size) * (1 + np.square(x)) + np.abs(dy) * lost + LEAST
    return Expected(dx, None if size is None else np.where(np.isfinite(size) & np.isfinite(dx), size, 0), condition)


def torch_gradients(torch, kind, dy, function, *given):
    """By PyTorch's backward pass, except at infinities, where a product of infinity and 0 has a limit."""
    given = [each.detach().clone().requires_grad_() for each in given]
    dx, *rest = torch.autograd.grad(function(*given), given, dy)
    x, dy = given[0].detach(), dy if len(given) == 1 else dy * given[1].detach()
    has_limit = x.isinf() & dx.isnan() & (KINDS[kind] in ("silu", "swish", "quick_gelu", "gelu_tanh", "gelu"))
    return torch.where(has_limit, torch.where(x > 0, 1.0, -0.0) * dy, dx), *rest


def drawn(dtype, shape, **layout):
    return uniform(dtype, shape, 6.0, -0.5, **layout)


# Places at which formulas change: the ends of exp's range, cancellations at 0, and powers below the normal range.
HARD = [0.0, -0.0, INF, -INF, NAN, 1.0, -1.0, 0.5, -0.5, 0.59, 0.61, -0.69, -0.71, 1.24, 1.26, -1.24, -1.26, 1e-3, -1e-3, 1e-6,
        -1e-6, 2.0, -2.0, 3.5, -3.5, 5.0, -5.0, -6.5, 8.0, -8.0, 9.5, -9.5, 10.9, -10.9, 11.5, -11.5, -12.7, -13.1, 14.0, -14.3,
        20.0, -20.0, 40.0, -40.0, 63.0, -63.9, 64.5, -64.5, 70.0, -70.0, 80.0, -80.0, 87.0, -87.0, 88.5, -88.5, 89.0, -90.0, -95.0,
        -100.0, -103.0, -110.0, 200.0, -200.0, 1000.0, -1000.0, 3e4, -3e4]
# The zeros of the derivatives of swish, silu, gelu and gelu_tanh.
ZEROS = [zero * (1 + step) for zero in (-0.751158, -1.278465, -0.751792, -0.752461) for step in (0.0, 1e-7, -1e-7, 1e-4, -1e-3, 1e-2, -0.05)]
# For f32 and bf16 only.
FAR = [1e-20, -1e-20, 1e-37, -1e-37, 1e-39, -1e-39, 1e10, -1e10, 1e18, -1e18, 1e20, -1e20, 3e38, -3e38]


def hard(dtype):
    values = np.array(HARD + ([] if dtype == "f16" else FAR))
    return explicit(dtype, round_to(values, dtype))


def hard_for_slopes(dtype):
    return explicit(dtype, round_to(np.array(hard(dtype).array().tolist() + ZEROS), dtype))
