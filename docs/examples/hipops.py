"""hipops through ctypes, for NumPy arrays (CPU backend) and PyTorch tensors (GPU). Copy it, and extend it."""

import ctypes

DTYPES = {"float32": 1, "float16": 2, "bfloat16": 3, "float64": 4, "uint8": 5, "int8": 6, "int16": 7, "uint16": 8,
          "int32": 9, "uint32": 10, "int64": 11, "uint64": 12}
HIP, CUDA, CPU = 1, 2, 3


# What each op takes before the stream: t a tensor, d a double, i an int32_t, u a uint32_t, q an int64_t, p a tensor that is
# plain memory (a workspace, a report).
ARGUMENTS = {"layer_norm": "ttttd", "rms_norm": "tttd", "softmax": "tt", "rope": "ttttt", "rope_i": "ttttt", "rope_thd": "ttttt",
             "gather": "tttip", "index_select": "tttip", "scatter": "tttiupqp", "scatter_add": "tttiupqp", "index_add": "tttipqp",
             "upsample_nearest1d": "ttid", "upsample_nearest2d": "ttidd", "strided_copy": "tt"}
SCALARS = {"d": ctypes.c_double, "i": ctypes.c_int32, "u": ctypes.c_uint32, "q": ctypes.c_int64}


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
        if any(s % array.itemsize for s in array.strides):
            raise ValueError(f"strides of {array.strides} bytes are none of whole elements of {array.itemsize}")
        data, stride = array.ctypes.data, [s // array.itemsize for s in array.strides]
    dtype = DTYPES[str(array.dtype).replace("torch.", "")]
    return Tensor(data, dtype, len(array.shape), (ctypes.c_int64 * 8)(*array.shape), (ctypes.c_int64 * 8)(*stride))


def pointer(array):
    """To the memory of an array, for a workspace or a report; None stays None."""
    return None if array is None else ctypes.c_void_p(view(array).data)


class Hipops:
    def __init__(self, path, backend):
        self.library = ctypes.CDLL(path)
        self.library.hipops_last_error.restype = ctypes.c_char_p
        self.check(self.library.hipops_init(backend))

    def check(self, status):
        if status:
            raise RuntimeError(self.library.hipops_last_error().decode())

    def call(self, op, *arguments, stream=None):
        """As call("rms_norm", y, x, weight, 1e-5): arrays, None and scalars, in the order of hipops.h."""
        kinds = ARGUMENTS[op]
        if len(arguments) != len(kinds):
            raise TypeError(f"{op} takes {len(kinds)} arguments and a stream, not {len(arguments)}")
        values = []
        for kind, argument in zip(kinds, arguments):
            if kind == "t":
                values.append(None if argument is None else ctypes.byref(view(argument)))
            elif kind == "p":
                values.append(pointer(argument))
            else:
                values.append(SCALARS[kind](argument))
        self.check(getattr(self.library, "hipops_" + op)(*values, ctypes.c_void_p(stream)))
