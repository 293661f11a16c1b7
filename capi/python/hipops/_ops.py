"""The ops, in PyTorch's names and order of arguments."""

from __future__ import annotations

import contextlib
import ctypes
import operator
import os
from typing import Any, Literal

from . import _arrays
from ._abi import DETERMINISTIC, FUNCTIONS, ROUND_BEFORE_WEIGHT, ROUND_SUM, WEIGHT_PLUS_ONE, Backend, Dtype, Nearest, TensorPointer
from ._library import LIBRARY, backend_in_use, check, init

Rule = Literal["pytorch", "candle", "exact"]
OUTPUTS = ("y", "residual_out")
MEMORY = ("workspace", "report")


def _stream_of(stream: Any, like: Any) -> int | None:
    if stream is None:
        return _arrays.current_stream(like)
    for name in ("cuda_stream", "ptr"):  # PyTorch's, CuPy's
        if hasattr(stream, name):
            return int(getattr(stream, name))
    if not isinstance(stream, int):
        raise TypeError(f"stream is a {type(stream).__name__}, expected a stream of PyTorch or CuPy, or its address")
    return stream


def _views(op: str, arguments: dict[str, Any], stream: int | None) -> dict[str, _arrays.View]:
    views: dict[str, _arrays.View] = {}
    first = "x"
    for name in sorted(arguments, key=lambda name: (name != first, name in OUTPUTS)):  # a mistake is told of what was given
        argument = arguments[name]
        if argument is None or not (name in MEMORY or FUNCTIONS["hipops_" + op][1][name] is TensorPointer):
            continue
        try:
            made = _arrays.view(argument, stream)
        except (TypeError, ValueError) as mistake:
            raise type(mistake)(f"{op}: {name} {mistake}") from None
        if name in OUTPUTS + MEMORY and not made.is_writable:
            raise ValueError(f"{op}: {name} is read-only")
        other = views.get(first, made)
        is_elsewhere = None not in (made.device, other.device) and made.device != other.device
        if made.backend != other.backend or is_elsewhere:
            places = [f"{v.backend.name.lower()}:{v.device or 0}" for v in (made, other)]
            raise ValueError(f"{op}: {name} is on {places[0]}, expected {places[1]} ({first}'s)")
        views[name] = made
    backend = views[first].backend
    if backend_in_use() == Backend.AUTO:
        init(Backend.AUTO if os.environ.get("HIPOPS_BACKEND") else backend)
    in_use = backend_in_use()
    if in_use != backend:
        raise ValueError(f"{op}: {first} is on {backend.name.lower()}, and this process uses {in_use.name.lower()}: "
                         "one process has one backend, which its first call or hipops.init chooses")
    return views


def _memory(op: str, name: str, made: _arrays.View) -> int | None:
    strides, shape = made.tensor.stride[:made.tensor.rank], made.tensor.shape[:made.tensor.rank]
    if any(s != 1 and stride != c for s, stride, c in zip(shape, strides, _arrays.contiguous(shape))):
        raise ValueError(f"{op}: {name} has strides, expected contiguous memory")
    if name == "report" and (made.tensor.dtype not in (Dtype.I64, Dtype.U64) or list(shape) != [2]):
        raise ValueError(f"{op}: report is {Dtype(made.tensor.dtype).name.lower()} of {tuple(shape)}, expected two of i64 or u64")
    address: int | None = made.tensor.data
    return address


def _bytes(made: _arrays.View) -> int:
    size = {1: 4, 2: 2, 3: 2, 4: 8, 5: 1, 6: 1, 7: 2, 8: 2, 9: 4, 10: 4, 11: 8, 12: 8}[made.tensor.dtype]
    for d in range(made.tensor.rank):
        size *= made.tensor.shape[d]
    return size


def _number(op: str, name: str, kind: Any, value: Any) -> Any:
    try:
        made = kind(value if kind is ctypes.c_double else operator.index(value))
    except (TypeError, ValueError):
        wanted = "a number" if kind is ctypes.c_double else "an integer"
        raise TypeError(f"{op}: {name} is {value!r}, expected {wanted}") from None
    if kind is not ctypes.c_double and made.value != value:  # ctypes keeps the low bits
        raise ValueError(f"{op}: {name} is {value}, which is out of range")
    return made


def _call(op: str, like: Any, stream: Any, **arguments: Any) -> None:
    """The function hipops_`op`, whose arguments are given by their names in hipops.h, but for the stream."""
    function = getattr(LIBRARY, "hipops_" + op)
    address = _stream_of(stream, like)
    views = _views(op, arguments, address)
    arguments["workspace_bytes"] = _bytes(views["workspace"]) if "workspace" in views else 0
    values: list[Any] = []
    for name, kind in FUNCTIONS["hipops_" + op][1].items():
        if name == "stream":
            values.append(address)
        elif name in MEMORY:
            values.append(_memory(op, name, views[name]) if name in views else None)
        elif name in views:
            values.append(ctypes.byref(views[name].tensor))
        elif kind is TensorPointer or name == "bytes":
            values.append(arguments[name])
        else:
            values.append(_number(op, name, kind, arguments[name]))
    with _arrays.on_device(like, views["x"].device) or contextlib.nullcontext():
        check(function(*values))
    for name in OUTPUTS:
        if name in views:
            _arrays.written(arguments[name])


def _rank(op: str, name: str, array: Any) -> int:
    if not hasattr(array, "shape"):
        raise TypeError(f"{op}: {name} is a {type(array).__name__}, expected an array")
    return len(array.shape)


def _dim(op: str, dim: int, array: Any) -> int:
    rank = _rank(op, "x", array)
    return dim + rank if isinstance(dim, int) and dim < 0 else dim


def _result(op: str, out: Any, x: Any, shape: Any = None) -> Any:
    _rank(op, "x", x)
    try:
        return _arrays.empty(x, shape) if out is None else out
    except TypeError as mistake:
        raise TypeError(f"{op}: {mistake}") from None


def _flags(**flags: bool) -> int:
    values = {"round_sum": ROUND_SUM, "weight_plus_one": WEIGHT_PLUS_ONE, "round_before_weight": ROUND_BEFORE_WEIGHT,
              "deterministic": DETERMINISTIC}
    return sum(values[name] for name, is_set in flags.items() if is_set)


def layer_norm(x: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5, *, out: Any = None, stream: Any = None) -> Any:
    """(x - mean(x)) / sqrt(var(x) + eps) * weight + bias, over the last dimension."""
    y = _result("layer_norm", out, x)
    _call("layer_norm", x, stream, y=y, x=x, weight=weight, bias=bias, eps=eps)
    return y


def rms_norm(x: Any, weight: Any = None, eps: float = 1e-5, weight_plus_one: bool = False, round_before_weight: bool = False, *,
             out: Any = None, stream: Any = None) -> Any:
    """x / sqrt(mean(x^2) + eps) * weight, over the last dimension. weight_plus_one: 1 + weight in weight's place (Gemma's);
    round_before_weight: what is normalized is rounded to x's dtype, and the product again (Llama's in transformers)."""
    y = _result("rms_norm", out, x)
    flags = _flags(weight_plus_one=weight_plus_one, round_before_weight=round_before_weight)
    _call("rms_norm", x, stream, y=y, x=x, weight=weight, eps=eps, flags=flags)
    return y


def fused_add_rms_norm(x: Any, residual: Any, weight: Any = None, eps: float = 1e-5, round_sum: bool = False,
                       weight_plus_one: bool = False, round_before_weight: bool = False, *, out: Any = None,
                       residual_out: Any = None, stream: Any = None) -> tuple[Any, Any]:
    """The rms_norm of h = x + residual, and h. round_sum: the norm is of h as it is rounded to its dtype."""
    y, h = _result("fused_add_rms_norm", out, x), _result("fused_add_rms_norm", residual_out, x)
    flags = _flags(round_sum=round_sum, weight_plus_one=weight_plus_one, round_before_weight=round_before_weight)
    _call("fused_add_rms_norm", x, stream, y=y, residual_out=h, x=x, residual=residual, weight=weight, eps=eps, flags=flags)
    return y, h


def softmax(x: Any, *, out: Any = None, stream: Any = None) -> Any:
    """Over the last dimension."""
    y = _result("softmax", out, x)
    _call("softmax", x, stream, y=y, x=x)
    return y


def _rope(op: str, x: Any, cos: Any, sin: Any, positions: Any, out: Any, stream: Any) -> Any:
    y = _result(op, out, x)
    _call(op, x, stream, y=y, x=x, cos=cos, sin=sin, positions=positions)
    return y


def rope(x: Any, cos: Any, sin: Any, positions: Any = None, *, out: Any = None, stream: Any = None) -> Any:
    """Rotates x [b, h, t, d]; pair k is elements k and k + r/2 (GPT-NeoX, Llama). cos, sin [s, r/2] or [b, s, r/2]."""
    return _rope("rope", x, cos, sin, positions, out, stream)


def rope_i(x: Any, cos: Any, sin: Any, positions: Any = None, *, out: Any = None, stream: Any = None) -> Any:
    """As rope; pair k is elements 2k and 2k + 1 (GPT-J)."""
    return _rope("rope_i", x, cos, sin, positions, out, stream)


def rope_thd(x: Any, cos: Any, sin: Any, positions: Any = None, *, out: Any = None, stream: Any = None) -> Any:
    """As rope, of x [b, t, h, d]."""
    return _rope("rope_thd", x, cos, sin, positions, out, stream)


def gather(x: Any, dim: int, index: Any, *, out: Any = None, report: Any = None, stream: Any = None) -> Any:
    """y[i, j] = x[index[i, j], j] for dim 0. An index out of range gives 0, and is counted in the report."""
    _rank("gather", "index", index)
    y = _result("gather", out, x, index.shape)
    _call("gather", x, stream, y=y, x=x, index=index, dim=_dim("gather", dim, x), report=report)
    return y


def index_select(x: Any, dim: int, index: Any, *, out: Any = None, report: Any = None, stream: Any = None) -> Any:
    """y[i, j] = x[index[i], j] for dim 0. An index out of range gives 0, and is counted in the report."""
    dim = _dim("index_select", dim, x)
    shape = list(x.shape)
    if _rank("index_select", "index", index) == 1 and dim in range(len(shape)):  # else the library says what is wrong
        shape[dim] = index.shape[0]
    y = _result("index_select", out, x, shape)
    _call("index_select", x, stream, y=y, x=x, index=index, dim=dim, report=report)
    return y


def _with_workspace(op: str, y: Any, dim: int, workspace: Any, stream: Any, report: Any, **arguments: Any) -> Any:
    arguments["dim"] = _dim(op, dim, y)
    if workspace is None:
        size = ctypes.c_int64()
        _call(op + "_workspace_bytes", y, stream, y=y, bytes=size, **arguments)
        workspace = _arrays.workspace(y, size.value) if size.value else None
    _call(op, y, stream, y=y, workspace=workspace, report=report, **arguments)
    return y


def scatter_(y: Any, dim: int, index: Any, src: Any, deterministic: bool = False, *, workspace: Any = None, report: Any = None,
             stream: Any = None) -> Any:
    """y[index[i, j], j] = src[i, j] for dim 0, in place. deterministic: where an index repeats, the last source is kept."""
    flags = _flags(deterministic=deterministic)
    return _with_workspace("scatter", y, dim, workspace, stream, report, x=src, index=index, flags=flags)


def scatter_add_(y: Any, dim: int, index: Any, src: Any, deterministic: bool = False, *, workspace: Any = None,
                 report: Any = None, stream: Any = None) -> Any:
    """y[index[i, j], j] += src[i, j] for dim 0, in place. deterministic: the sources are added in order."""
    flags = _flags(deterministic=deterministic)
    return _with_workspace("scatter_add", y, dim, workspace, stream, report, x=src, index=index, flags=flags)


def index_add_(y: Any, dim: int, index: Any, source: Any, *, workspace: Any = None, report: Any = None, stream: Any = None) -> Any:
    """y[index[i], j] += source[i, j] for dim 0, in place, in order."""
    return _with_workspace("index_add", y, dim, workspace, stream, report, x=source, index=index)


def _rule(rule: str) -> Nearest:
    if rule not in ("pytorch", "candle", "exact"):
        raise ValueError(f"rule is '{rule}', expected pytorch, candle or exact")
    return Nearest[rule.upper()]


def upsample_nearest1d(x: Any, output_size: int, scale: float | None = None, rule: Rule = "pytorch", *, out: Any = None,
                       stream: Any = None) -> Any:
    """x [n, c, l] to [n, c, output_size]."""
    _rank("upsample_nearest1d", "x", x)
    if not isinstance(output_size, int):
        raise TypeError(f"upsample_nearest1d: output_size is {output_size!r}, expected an integer")
    y = _result("upsample_nearest1d", out, x, (*x.shape[:2], output_size))
    _call("upsample_nearest1d", x, stream, y=y, x=x, rule=_rule(rule), scale=scale or 0.0)
    return y


def upsample_nearest2d(x: Any, output_size: tuple[int, int], scale_h: float | None = None, scale_w: float | None = None,
                       rule: Rule = "pytorch", *, out: Any = None, stream: Any = None) -> Any:
    """x [n, c, h, w] to [n, c, *output_size]."""
    _rank("upsample_nearest2d", "x", x)
    if not isinstance(output_size, (tuple, list)) or len(output_size) != 2:
        raise TypeError(f"upsample_nearest2d: output_size is {output_size!r}, expected two integers")
    y = _result("upsample_nearest2d", out, x, (*x.shape[:2], *output_size))
    _call("upsample_nearest2d", x, stream, y=y, x=x, rule=_rule(rule), scale_h=scale_h or 0.0, scale_w=scale_w or 0.0)
    return y


def strided_copy(x: Any, *, out: Any = None, stream: Any = None) -> Any:
    """A copy of x; without `out` a contiguous one."""
    _rank("strided_copy", "x", x)
    y = _result("strided_copy", out, x, x.shape)
    _call("strided_copy", x, stream, y=y, x=x)
    return y


