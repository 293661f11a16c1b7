"""Opens libhipops.so when this module is imported. Opening the library has no other effect."""

from __future__ import annotations

import ctypes
import os
import pathlib

from ._abi import FUNCTIONS, VERSION, Backend, Status


class Error(RuntimeError):
    """A call that the library refused, with its message. `status` is a hipops.Status, `runtime_error` the GPU runtime's code or 0."""

    def __init__(self, message: str, status: Status = Status.INVALID_ARGUMENT, runtime_error: int = 0):
        super().__init__(message)
        self.status = status
        self.runtime_error = runtime_error


def _open() -> ctypes.CDLL:
    path = os.environ.get("HIPOPS_LIBRARY") or str(pathlib.Path(__file__).with_name("libhipops.so"))
    try:
        library = ctypes.CDLL(path)
    except OSError as reason:
        raise ImportError(f"hipops cannot be loaded: {reason}") from None
    for name, (result, arguments) in FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"{path} has no function {name}, expected hipops {VERSION}") from None
        function.restype = result
        function.argtypes = list(arguments.values())
    if library.hipops_version().decode() != VERSION:
        raise ImportError(f"{path} is hipops {library.hipops_version().decode()}, expected {VERSION}")
    return library


LIBRARY = _open()


def check(status: int) -> None:
    if status:
        raise Error(LIBRARY.hipops_last_error().decode(), Status(status), LIBRARY.hipops_last_runtime_error())


def init(backend: Backend | str = Backend.AUTO) -> None:
    """Chooses the backend of this process. Otherwise the first call chooses it: by HIPOPS_BACKEND, or by its arrays' device."""
    names = {b.name.lower(): b for b in Backend}
    if isinstance(backend, bool) or not isinstance(backend, (str, int)):
        raise TypeError(f"init: backend is {backend!r}, expected one of: {', '.join(names)}")
    if backend not in names and backend not in list(Backend):
        raise ValueError(f"init: backend is {backend!r}, expected one of: {', '.join(names)}")
    check(LIBRARY.hipops_init(names[backend] if isinstance(backend, str) else backend))


def backend_in_use() -> Backend:
    return Backend(LIBRARY.hipops_backend_in_use())


def prepare(op: str | None = None) -> None:
    """Loads the kernels of `op`, or of all ops, for the current device, so that no later call has to load them."""
    if not isinstance(op, (str, type(None))):
        raise TypeError(f"prepare: op is {op!r}, expected an op's name or None")
    check(LIBRARY.hipops_prepare(op.encode(errors="replace") if op is not None else None))
