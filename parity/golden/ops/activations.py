"""Activations in extended precision, and the kinds and inputs that the cases of their ops share."""

import math

import numpy as np

from dtypes import round_to
from extended import Real
from golden import explicit, uniform

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


def torch_act(torch, kind, alpha, x):
    """PyTorch's functions, except for gelu, whose 1 + erf has no digits far below 0."""
    functions, name = torch.nn.functional, KINDS[kind]
    y = {
        "identity": lambda: x, "relu": lambda: functions.relu(x), "relu_squared": lambda: functions.relu(x) ** 2,
        "leaky_relu": lambda: functions.leaky_relu(x, alpha), "abs": lambda: x.abs(), "neg": lambda: -x, "sqr": lambda: x * x,
        "sigmoid": lambda: x.sigmoid(), "silu": lambda: functions.silu(x), "swish": lambda: x * torch.sigmoid(alpha * x),
        "quick_gelu": lambda: x * torch.sigmoid(1.702 * x), "gelu_tanh": lambda: functions.gelu(x, approximate="tanh"),
        "gelu": lambda: 0.5 * x * torch.special.erfc(-x / 2**0.5), "tanh": lambda: x.tanh(), "elu": lambda: functions.elu(x, alpha),
        "softplus": lambda: functions.softplus(x, threshold=100), "exp": lambda: x.exp(),
    }[name]()
    in_f32 = y.float()
    is_out = in_f32.isinf() | ((y.abs() < 2.0**-126) & (name in ROUNDED))
    return torch.where(is_out, in_f32.to(y.dtype), y)


def drawn(dtype, shape, **layout):
    return uniform(dtype, shape, 6.0, -0.5, **layout)


# Places at which formulas change: the ends of exp's range, cancellations at 0, and powers below the normal range.
HARD = [0.0, -0.0, INF, -INF, NAN, 1.0, -1.0, 0.5, -0.5, 0.59, 0.61, -0.69, -0.71, 1.24, 1.26, -1.24, -1.26, 1e-3, -1e-3, 1e-6,
        -1e-6, 2.0, -2.0, 3.5, -3.5, 5.0, -5.0, -6.5, 8.0, -8.0, 9.5, -9.5, 10.9, -10.9, 11.5, -11.5, -12.7, -13.1, 14.0, -14.3,
        20.0, -20.0, 40.0, -40.0, 63.0, -63.9, 64.5, -64.5, 70.0, -70.0, 80.0, -80.0, 87.0, -87.0, 88.5, -88.5, 89.0, -90.0, -95.0,
        -100.0, -103.0, -110.0, 200.0, -200.0, 1000.0, -1000.0, 3e4, -3e4]
# For f32 and bf16 only.
FAR = [1e-20, -1e-20, 1e-37, -1e-37, 1e-39, -1e-39, 1e10, -1e10, 1e18, -1e18, 1e20, -1e20, 3e38, -3e38]


def hard(dtype):
    values = np.array(HARD + ([] if dtype == "f16" else FAR))
    return explicit(dtype, round_to(values, dtype))
