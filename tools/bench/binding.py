"""libhipops through ctypes, for PyTorch tensors on the current stream."""

import ctypes
import os

import torch

DTYPES = {torch.float32: 1, torch.float16: 2, torch.bfloat16: 3, torch.float64: 4, torch.uint8: 5, torch.int8: 6,
          torch.int16: 7, torch.int32: 9, torch.int64: 11, torch.float8_e4m3fn: 13, torch.float8_e4m3fnuz: 14, torch.float8_e5m2: 15,
          torch.float8_e5m2fnuz: 16}
CUDA, HIP = 2, 1


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("shape", ctypes.c_int64 * 8), ("stride", ctypes.c_int64 * 8)]


def view(tensor):
    if tensor.dtype not in DTYPES:
        raise ValueError(f"a tensor of {tensor.dtype}, expected one of: {', '.join(map(str, DTYPES))}")
    if tensor.dim() > 8:
        raise ValueError(f"a tensor of rank {tensor.dim()}, expected 8 at most")
    return Tensor(tensor.data_ptr(), DTYPES[tensor.dtype], tensor.dim(), (ctypes.c_int64 * 8)(*tensor.shape),
                  (ctypes.c_int64 * 8)(*tensor.stride()))


class Memory:
    """A tensor as plain memory. A bound call holds a reference."""

    def __init__(self, tensor):
        self.tensor = tensor


def converted(op, arguments):
    """The tensors that a call needs alive, and the arguments as ctypes. Arguments: tensors, Memory, None, int, float."""
    keep, values = [], []
    for argument in arguments:
        if isinstance(argument, torch.Tensor):
            keep += [argument, view(argument)]
            values.append(ctypes.byref(keep[-1]))
        elif isinstance(argument, Memory):
            keep.append(argument.tensor)
            values.append(ctypes.c_void_p(argument.tensor.data_ptr()))
        elif isinstance(argument, float):
            values.append(ctypes.c_double(argument))
        elif isinstance(argument, int):
            values.append(ctypes.c_int64(argument))
        elif argument is None:
            values.append(None)
        else:
            raise TypeError(f"{op}: {argument!r} is of {type(argument)}, expected a tensor, Memory, int, float or None")
    return keep, values


class Library:
    def __init__(self, path):
        self.path = os.path.abspath(path)
        self.lib = ctypes.CDLL(self.path)
        self.lib.hipops_last_error.restype = ctypes.c_char_p
        self.lib.hipops_version.restype = self.lib.hipops_build_info.restype = ctypes.c_char_p
        self.check(self.lib.hipops_init(HIP if torch.version.hip else CUDA))

    def has(self, op):
        return hasattr(self.lib, "hipops_" + op)

    def function(self, name):
        if not hasattr(self.lib, "hipops_" + name):
            raise ValueError(f"{self.path} has no function hipops_{name}")
        return getattr(self.lib, "hipops_" + name)

    def check(self, status):
        if status:
            raise RuntimeError(f"hipops status {status}: {self.lib.hipops_last_error().decode()}")

    def bind(self, op, *arguments):
        """A call of the op with these arguments, cheap to repeat."""
        function, (keep, values) = self.function(op), converted(op, arguments)

        def call():
            self.check(function(*values, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)))

        call.keep = keep
        return call

    def workspace(self, op, *arguments):
        """A workspace for the op with these arguments, or None if it needs none, and its size."""
        size = ctypes.c_int64()
        function = self.function(op + "_workspace_bytes")
        self.check(function(*converted(op, arguments)[1], ctypes.byref(size)))
        return (Memory(torch.empty(size.value, dtype=torch.uint8, device="cuda")) if size.value else None), size.value
