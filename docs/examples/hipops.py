"""hipops through ctypes, for NumPy arrays (CPU backend) and PyTorch tensors (GPU). Copy it, and extend it."""

import ctypes

DTYPES = {"float32": 1, "float16": 2, "bfloat16": 3, "float64": 4, "uint8": 5, "int8": 6, "int16": 7, "uint16": 8,
          "int32": 9, "uint32": 10, "int64": 11, "uint64": 12}
HIP, CUDA, CPU = 1, 2, 3


class Tensor(ctypes.Structure):
    """hipops_tensor."""
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("shape", ctypes.c_int64 * 8), ("stride", ctypes.c_int64 * 8)]


def view(array):
    """A hipops_tensor on the memory of a NumPy array or a PyTorch tensor, which must outlive it; None stays None."""
    if array is None:
        return None
    if hasattr(array, "data_ptr"):
        data, stride = array.data_ptr(), array.stride()
    else:
        data, stride = array.ctypes.data, [s // array.itemsize for s in array.strides]
    dtype = DTYPES[str(array.dtype).replace("torch.", "")]
    return Tensor(data, dtype, len(array.shape), (ctypes.c_int64 * 8)(*array.shape), (ctypes.c_int64 * 8)(*stride))


class Hipops:
    def __init__(self, path, backend):
        self.library = ctypes.CDLL(path)
        self.library.hipops_last_error.restype = ctypes.c_char_p
        self.check(self.library.hipops_init(backend))

    def check(self, status):
        if status:
            raise RuntimeError(self.library.hipops_last_error().decode())

    def call(self, op, *arguments, stream=None):
        """As call("rms_norm", y, x, weight, 1e-5): arrays and None, then scalars, in the order of hipops.h."""
        values = []
        for argument in arguments:
            if argument is None:
                values.append(None)
            elif hasattr(argument, "shape"):
                values.append(ctypes.byref(view(argument)))
            elif isinstance(argument, float):
                values.append(ctypes.c_double(argument))
            else:
                values.append(ctypes.c_int64(argument))
        self.check(getattr(self.library, "hipops_" + op)(*values, ctypes.c_void_p(stream)))
