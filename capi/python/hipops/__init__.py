"""hipops: neural-network kernels for AMD GPUs, NVIDIA GPUs and the CPU, on arrays of NumPy, PyTorch, CuPy and others.

    import hipops, numpy
    y = hipops.rms_norm(x, weight, eps=1e-5)

The first call chooses the backend, by where its arrays are; a process has one. A call launches on the stream and returns,
as its array's library does. What is refused is a hipops.Error with the library's words, or a ValueError or TypeError where the
arrays themselves are at fault; nothing was written then.
"""

from ._abi import VERSION as __version__
from ._abi import Backend, Nearest, Status
from ._library import Error, backend_in_use, init, prepare
from ._ops import (fused_add_rms_norm, gather, index_add_, index_select, layer_norm, rms_norm, rope, rope_i, rope_thd, scatter_,
                   scatter_add_, softmax, strided_copy, upsample_nearest1d, upsample_nearest2d)

__all__ = ["Backend", "Error", "Nearest", "Status", "__version__", "backend_in_use", "fused_add_rms_norm", "gather", "index_add_",
           "index_select", "init", "layer_norm", "prepare", "rms_norm", "rope", "rope_i", "rope_thd", "scatter_", "scatter_add_",
           "softmax", "strided_copy", "upsample_nearest1d", "upsample_nearest2d"]
