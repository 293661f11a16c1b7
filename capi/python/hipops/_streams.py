"""Orders CUDA streams with the driver's library, which the process has already loaded."""

from __future__ import annotations

import ctypes
import functools
import os
from ctypes import byref, c_char_p, c_uint, c_void_p

from ._abi import Status
from ._library import Error

LEGACY = 1  # the handle of the default stream where NULL is not allowed
WITHOUT_TIMING = 2


@functools.lru_cache(maxsize=None)
def _cuda() -> ctypes.CDLL:
    return ctypes.CDLL(os.environ.get("HIPOPS_CUDA_LIBRARY") or "libcuda.so.1")


def _check(whose: str, function: str, code: int) -> None:
    if code:
        name = c_char_p()
        _cuda().cuGetErrorName(code, byref(name))
        said = (name.value or b"unknown").decode()
        raise Error(f"{whose} stream cannot be put in order with the call's: {function} failed with {code} ({said})",
                    Status.RUNTIME_ERROR, code)


def order(whose: str, first: int, then: int) -> None:
    """The stream `then` waits for the work that is on `first` now. The host does not wait. A captured stream records the order."""
    event, cuda = c_void_p(), _cuda()
    _check(whose, "cuEventCreate", cuda.cuEventCreate(byref(event), c_uint(WITHOUT_TIMING)))
    try:
        _check(whose, "cuEventRecord", cuda.cuEventRecord(event, c_void_p(first)))
        _check(whose, "cuStreamWaitEvent", cuda.cuStreamWaitEvent(c_void_p(then), event, c_uint(0)))
    finally:
        cuda.cuEventDestroy_v2(event)
