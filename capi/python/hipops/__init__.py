"""hipops: neural-network kernels for AMD GPUs, NVIDIA GPUs and the CPU, on arrays of NumPy, PyTorch, CuPy and others.

    import hipops, numpy
    y = hipops.rms_norm(x, weight, eps=1e-5)

The first call chooses the backend: the device of its arrays. A process has one backend. A call launches on the stream and
returns, as calls of its array's library do. If the library refuses an argument, a call raises hipops.Error with the library's
message. If an array cannot be passed, it raises ValueError or TypeError. Nothing was written then.
"""

from ._abi import VERSION as __version__
from ._abi import Backend, Nearest, Reduction, Status
from ._library import Error, backend_in_use, init, prepare
from . import _ops
from ._ops import *

__all__ = ["Backend", "Error", "Nearest", "Reduction", "Status", "__version__", "backend_in_use", "init", "prepare"]
__all__ += _ops.__all__
