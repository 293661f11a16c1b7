"""The declarations of hipops.h, for ctypes. tools/ffi.py generates this file; a test compares it with the header."""

from __future__ import annotations

import enum
from ctypes import POINTER, Structure, c_char_p, c_double, c_int32, c_int64, c_uint32, c_void_p
from typing import Any

VERSION = "0.2.0"
MAX_RANK = 8
WHOLE_TENSOR = -1
BATCH_INVARIANT = 16
ROUND_SUM = 2
WEIGHT_PLUS_ONE = 4
ROUND_BEFORE_WEIGHT = 8
MASKED_ROW_ZERO = 32
DETERMINISTIC = 1
UP_PLUS_ONE = 64
FNUZ_240 = 128
SMALLEST = 256
SORTED = 512
WINDOW_INDICES = 1024
DESCENDING = 2048
SIGMOID = 4096
RENORMALIZE = 8192


class Status(enum.IntEnum):
    """hipops_status."""
    SUCCESS = 0
    INVALID_ARGUMENT = 1
    UNSUPPORTED_DTYPE = 2
    UNSUPPORTED_LAYOUT = 3
    NO_DEVICE = 4
    NO_CODE_OBJECT = 5
    RUNTIME_ERROR = 6
    INTERNAL_ERROR = 7


class Backend(enum.IntEnum):
    """hipops_backend."""
    AUTO = 0
    HIP = 1
    CUDA = 2
    CPU = 3


class Dtype(enum.IntEnum):
    """hipops_dtype."""
    NONE = 0
    F32 = 1
    F16 = 2
    BF16 = 3
    F64 = 4
    U8 = 5
    I8 = 6
    I16 = 7
    U16 = 8
    I32 = 9
    U32 = 10
    I64 = 11
    U64 = 12
    F8_E4M3FN = 13
    F8_E4M3FNUZ = 14
    F8_E5M2 = 15
    F8_E5M2FNUZ = 16


class Nearest(enum.IntEnum):
    """hipops_nearest."""
    PYTORCH = 0
    CANDLE = 1
    EXACT = 2


class ActivationKind(enum.IntEnum):
    """hipops_activation_kind."""
    IDENTITY = 0
    RELU = 1
    RELU_SQUARED = 2
    LEAKY_RELU = 3
    ABS = 4
    NEG = 5
    SQR = 6
    SIGMOID = 7
    SILU = 8
    SWISH = 9
    QUICK_GELU = 10
    GELU_TANH = 11
    GELU = 12
    TANH = 13
    ELU = 14
    SOFTPLUS = 15
    EXP = 16


class Reduction(enum.IntEnum):
    """hipops_reduction."""
    SUM = 0
    MEAN = 1
    MAX = 2
    MIN = 3
    LOGSUMEXP = 4
    ARGMAX = 5
    ARGMIN = 6


class Tensor(Structure):
    """hipops_tensor."""

    _fields_ = (("data", c_void_p), ("dtype", c_int32), ("rank", c_int32),
                ("shape", c_int64 * MAX_RANK), ("stride", c_int64 * MAX_RANK))


TensorPointer = POINTER(Tensor)
Memory = c_void_p  # of a workspace, a report, a stream

# Each function's result, and its arguments.
FUNCTIONS: dict[str, tuple[Any, dict[str, Any]]] = {
    "hipops_status_string": (c_char_p, {"status": c_int32}),
    "hipops_last_error": (c_char_p, {}),
    "hipops_last_runtime_error": (c_int32, {}),
    "hipops_init": (c_int32, {"backend": c_int32}),
    "hipops_backend_in_use": (c_int32, {}),
    "hipops_prepare": (c_int32, {"op": c_char_p}),
    "hipops_layer_norm": (c_int32, {"y": TensorPointer, "mean": TensorPointer, "rstd": TensorPointer, "x": TensorPointer, "weight": TensorPointer, "bias": TensorPointer, "eps": c_double, "flags": c_uint32, "stream": Memory}),
    "hipops_rms_norm": (c_int32, {"y": TensorPointer, "rstd": TensorPointer, "x": TensorPointer, "weight": TensorPointer, "eps": c_double, "flags": c_uint32, "stream": Memory}),
    "hipops_fused_add_rms_norm": (c_int32, {"y": TensorPointer, "residual_out": TensorPointer, "rstd": TensorPointer, "x": TensorPointer, "residual": TensorPointer, "weight": TensorPointer, "eps": c_double, "flags": c_uint32, "stream": Memory}),
    "hipops_fused_add_layer_norm": (c_int32, {"y": TensorPointer, "residual_out": TensorPointer, "mean": TensorPointer, "rstd": TensorPointer, "x": TensorPointer, "residual": TensorPointer, "weight": TensorPointer, "bias": TensorPointer, "eps": c_double, "flags": c_uint32, "stream": Memory}),
    "hipops_rms_norm_backward": (c_int32, {"dx": TensorPointer, "dw": TensorPointer, "dy": TensorPointer, "x": TensorPointer, "weight": TensorPointer, "rstd": TensorPointer, "eps": c_double, "flags": c_uint32, "workspace": Memory, "workspace_bytes": c_int64, "stream": Memory}),
    "hipops_rms_norm_backward_workspace_bytes": (c_int32, {"dx": TensorPointer, "dw": TensorPointer, "dy": TensorPointer, "x": TensorPointer, "weight": TensorPointer, "rstd": TensorPointer, "bytes": POINTER(c_int64)}),
    "hipops_softmax": (c_int32, {"y": TensorPointer, "x": TensorPointer, "flags": c_uint32, "stream": Memory}),
    "hipops_log_softmax": (c_int32, {"y": TensorPointer, "x": TensorPointer, "flags": c_uint32, "stream": Memory}),
    "hipops_softmax_ext": (c_int32, {"y": TensorPointer, "x": TensorPointer, "mask": TensorPointer, "alibi_slopes": TensorPointer, "sinks": TensorPointer, "scale": c_double, "flags": c_uint32, "stream": Memory}),
    "hipops_reduce": (c_int32, {"y": TensorPointer, "x": TensorPointer, "reduction": c_int32, "dims": c_uint32, "flags": c_uint32, "workspace": Memory, "workspace_bytes": c_int64, "stream": Memory}),
    "hipops_reduce_workspace_bytes": (c_int32, {"y": TensorPointer, "x": TensorPointer, "reduction": c_int32, "dims": c_uint32, "flags": c_uint32, "bytes": POINTER(c_int64)}),
    "hipops_softmax_backward": (c_int32, {"dx": TensorPointer, "dy": TensorPointer, "y": TensorPointer, "scale": c_double, "flags": c_uint32, "stream": Memory}),
    "hipops_log_softmax_backward": (c_int32, {"dx": TensorPointer, "dy": TensorPointer, "y": TensorPointer, "flags": c_uint32, "stream": Memory}),
    "hipops_layer_norm_backward": (c_int32, {"dx": TensorPointer, "dw": TensorPointer, "db": TensorPointer, "dy": TensorPointer, "x": TensorPointer, "weight": TensorPointer, "mean": TensorPointer, "rstd": TensorPointer, "eps": c_double, "flags": c_uint32, "workspace": Memory, "workspace_bytes": c_int64, "stream": Memory}),
    "hipops_layer_norm_backward_workspace_bytes": (c_int32, {"dx": TensorPointer, "dw": TensorPointer, "db": TensorPointer, "dy": TensorPointer, "x": TensorPointer, "weight": TensorPointer, "mean": TensorPointer, "rstd": TensorPointer, "bytes": POINTER(c_int64)}),
    "hipops_rope_i": (c_int32, {"y": TensorPointer, "x": TensorPointer, "cos": TensorPointer, "sin": TensorPointer, "positions": TensorPointer, "stream": Memory}),
    "hipops_rope": (c_int32, {"y": TensorPointer, "x": TensorPointer, "cos": TensorPointer, "sin": TensorPointer, "positions": TensorPointer, "stream": Memory}),
    "hipops_rope_thd": (c_int32, {"y": TensorPointer, "x": TensorPointer, "cos": TensorPointer, "sin": TensorPointer, "positions": TensorPointer, "stream": Memory}),
    "hipops_gather": (c_int32, {"y": TensorPointer, "x": TensorPointer, "index": TensorPointer, "dim": c_int32, "report": Memory, "stream": Memory}),
    "hipops_index_select": (c_int32, {"y": TensorPointer, "x": TensorPointer, "index": TensorPointer, "dim": c_int32, "report": Memory, "stream": Memory}),
    "hipops_scatter": (c_int32, {"y": TensorPointer, "x": TensorPointer, "index": TensorPointer, "dim": c_int32, "flags": c_uint32, "workspace": Memory, "workspace_bytes": c_int64, "report": Memory, "stream": Memory}),
    "hipops_scatter_add": (c_int32, {"y": TensorPointer, "x": TensorPointer, "index": TensorPointer, "dim": c_int32, "flags": c_uint32, "workspace": Memory, "workspace_bytes": c_int64, "report": Memory, "stream": Memory}),
    "hipops_index_add": (c_int32, {"y": TensorPointer, "x": TensorPointer, "index": TensorPointer, "dim": c_int32, "workspace": Memory, "workspace_bytes": c_int64, "report": Memory, "stream": Memory}),
    "hipops_scatter_workspace_bytes": (c_int32, {"y": TensorPointer, "x": TensorPointer, "index": TensorPointer, "dim": c_int32, "flags": c_uint32, "bytes": POINTER(c_int64)}),
    "hipops_scatter_add_workspace_bytes": (c_int32, {"y": TensorPointer, "x": TensorPointer, "index": TensorPointer, "dim": c_int32, "flags": c_uint32, "bytes": POINTER(c_int64)}),
    "hipops_index_add_workspace_bytes": (c_int32, {"y": TensorPointer, "x": TensorPointer, "index": TensorPointer, "dim": c_int32, "bytes": POINTER(c_int64)}),
    "hipops_cross_entropy": (c_int32, {"loss": TensorPointer, "lse": TensorPointer, "dx": TensorPointer, "x": TensorPointer, "target": TensorPointer, "dloss": TensorPointer, "ignore_index": c_int64, "label_smoothing": c_double, "z_loss": c_double, "flags": c_uint32, "report": Memory, "stream": Memory}),
    "hipops_upsample_nearest1d": (c_int32, {"y": TensorPointer, "x": TensorPointer, "rule": c_int32, "scale": c_double, "stream": Memory}),
    "hipops_upsample_nearest2d": (c_int32, {"y": TensorPointer, "x": TensorPointer, "rule": c_int32, "scale_h": c_double, "scale_w": c_double, "stream": Memory}),
    "hipops_strided_copy": (c_int32, {"y": TensorPointer, "x": TensorPointer, "stream": Memory}),
    "hipops_copy2d": (c_int32, {"y": Memory, "x": Memory, "dtype": c_int32, "rows": c_int64, "cols": c_int64, "y_stride": c_int64, "x_stride": c_int64, "stream": Memory}),
    "hipops_activation": (c_int32, {"y": TensorPointer, "x": TensorPointer, "kind": c_int32, "alpha": c_double, "stream": Memory}),
    "hipops_activation_and_mul": (c_int32, {"y": TensorPointer, "x": TensorPointer, "up": TensorPointer, "kind": c_int32, "limit": c_double, "alpha": c_double, "flags": c_uint32, "stream": Memory}),
    "hipops_activation_backward": (c_int32, {"dx": TensorPointer, "dy": TensorPointer, "x": TensorPointer, "kind": c_int32, "alpha": c_double, "stream": Memory}),
    "hipops_activation_and_mul_backward": (c_int32, {"dx": TensorPointer, "dup": TensorPointer, "dy": TensorPointer, "x": TensorPointer, "up": TensorPointer, "kind": c_int32, "limit": c_double, "alpha": c_double, "flags": c_uint32, "stream": Memory}),
    "hipops_static_quantize": (c_int32, {"q": TensorPointer, "x": TensorPointer, "scale": TensorPointer, "stream": Memory}),
    "hipops_dynamic_quantize": (c_int32, {"q": TensorPointer, "scale": TensorPointer, "x": TensorPointer, "scale_ub": TensorPointer, "group": c_int64, "flags": c_uint32, "workspace": Memory, "workspace_bytes": c_int64, "stream": Memory}),
    "hipops_dynamic_quantize_workspace_bytes": (c_int32, {"q": TensorPointer, "scale": TensorPointer, "x": TensorPointer, "scale_ub": TensorPointer, "group": c_int64, "flags": c_uint32, "bytes": POINTER(c_int64)}),
    "hipops_topk": (c_int32, {"values": TensorPointer, "indices": TensorPointer, "x": TensorPointer, "lengths": TensorPointer, "row_begin": TensorPointer, "k": c_int64, "flags": c_uint32, "workspace": Memory, "workspace_bytes": c_int64, "stream": Memory}),
    "hipops_topk_workspace_bytes": (c_int32, {"values": TensorPointer, "indices": TensorPointer, "x": TensorPointer, "lengths": TensorPointer, "row_begin": TensorPointer, "k": c_int64, "flags": c_uint32, "bytes": POINTER(c_int64)}),
    "hipops_cumsum": (c_int32, {"y": TensorPointer, "x": TensorPointer, "dim": c_int32, "workspace": Memory, "workspace_bytes": c_int64, "stream": Memory}),
    "hipops_cumsum_workspace_bytes": (c_int32, {"y": TensorPointer, "x": TensorPointer, "dim": c_int32, "bytes": POINTER(c_int64)}),
    "hipops_sort": (c_int32, {"values": TensorPointer, "indices": TensorPointer, "x": TensorPointer, "flags": c_uint32, "workspace": Memory, "workspace_bytes": c_int64, "stream": Memory}),
    "hipops_sort_workspace_bytes": (c_int32, {"values": TensorPointer, "indices": TensorPointer, "x": TensorPointer, "flags": c_uint32, "bytes": POINTER(c_int64)}),
    "hipops_topk_softmax": (c_int32, {"weights": TensorPointer, "ids": TensorPointer, "token_expert": TensorPointer, "x": TensorPointer, "bias": TensorPointer, "k": c_int64, "groups": c_int64, "topk_groups": c_int64, "scale": c_double, "flags": c_uint32, "stream": Memory}),
    "hipops_moe_align_block_size": (c_int32, {"sorted_ids": TensorPointer, "expert_ids": TensorPointer, "count": TensorPointer, "x": TensorPointer, "expert_map": TensorPointer, "experts": c_int64, "block_size": c_int64, "stream": Memory}),
    "hipops_sample": (c_int32, {"tokens": TensorPointer, "x": TensorPointer, "uniform": TensorPointer, "temperature": TensorPointer, "top_k": TensorPointer, "top_p": TensorPointer, "min_p": TensorPointer, "stream": Memory}),
    "hipops_apply_penalties": (c_int32, {"y": TensorPointer, "x": TensorPointer, "prompt": TensorPointer, "counts": TensorPointer, "repetition": TensorPointer, "frequency": TensorPointer, "presence": TensorPointer, "stream": Memory}),
    "hipops_version": (c_char_p, {}),
    "hipops_version_number": (c_int32, {}),
    "hipops_build_info": (c_char_p, {}),
    "hipops_supports": (c_int32, {"op": c_char_p, "dtype": c_int32, "second": c_int32}),
}
