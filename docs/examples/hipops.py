"""hipops through ctypes, for NumPy arrays (CPU backend) and PyTorch tensors (GPU). Copy it, and extend it."""

import ctypes

DTYPES = {"float32": 1, "float16": 2, "bfloat16": 3, "float64": 4, "uint8": 5, "int8": 6, "int16": 7, "uint16": 8,
          "int32": 9, "uint32": 10, "int64": 11, "uint64": 12}
HIP, CUDA, CPU = 1, 2, 3


# What each op takes before the stream: t a tensor, d a double, i an int32_t, u a uint32_t, q an int64_t, p plain memory
# (a workspace, a report).
ARGUMENTS = {"layer_norm": "ttttd", "rms_norm": "tttdu", "fused_add_rms_norm": "tttttdu", "softmax": "tt",
             "rope": "ttttt", "rope_i": "ttttt", "rope_thd": "ttttt",
             "gather": "tttip", "index_select": "tttip",
             "scatter": "tttiupqp", "scatter_add": "tttiupqp", "index_add": "tttipqp",
             "upsample_nearest1d": "ttid", "upsample_nearest2d": "ttidd", "strided_copy": "tt"}
SCALARS = {"d": ctypes.c_double, "i": ctypes.c_int32, "u": ctypes.c_uint32, "q": ctypes.c_int64}
# Of the ops that take a workspace and its size, what they take before them: so do the functions that tell the size.
WORKSPACES = {op: kinds.split("pq")[0] for op, kinds in ARGUMENTS.items() if "pq" in kinds}


class Tensor(ctypes.Structure):
    """hipops_tensor."""
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("shape", ctypes.c_int64 * 8), ("stride", ctypes.c_int64 * 8)]


def lookup(table, key, what):
    if key not in table:
        raise ValueError(f"no {what} '{key}', expected one of: {', '.join(table)}")
    return table[key]


def view(array):
    """A hipops_tensor on the memory of a NumPy array or a PyTorch tensor, which must outlive it; None stays None."""
    if array is None:
        return None
    if not all(hasattr(array, name) for name in ("dtype", "shape")):
        raise TypeError(f"{array!r} is of {type(array)}, expected an array, a tensor or None")
    if len(array.shape) > 8:
        raise ValueError(f"a tensor of rank {len(array.shape)}, expected 8 at most")
    dtype = lookup(DTYPES, str(array.dtype).replace("torch.", ""), "dtype")
    if hasattr(array, "data_ptr"):
        data, stride = array.data_ptr(), array.stride()
    else:
        if any(s % array.itemsize for s in array.strides):
            raise ValueError(f"strides of {array.strides} bytes are none of whole elements of {array.itemsize}")
        data, stride = array.ctypes.data, [s // array.itemsize for s in array.strides]
    return Tensor(data, dtype, len(array.shape), (ctypes.c_int64 * 8)(*array.shape), (ctypes.c_int64 * 8)(*stride))


def pointer(array):
    """To the memory of an array, for a workspace or a report; None stays None."""
    return None if array is None else ctypes.c_void_p(view(array).data)


def scalar(kind, number):
    value = SCALARS[kind](number)
    if kind != "d" and value.value != number:  # ctypes keeps the low bits, without a word
        raise ValueError(f"{number} is out of the range of {SCALARS[kind].__name__}")
    return value


def passed(op, kinds, arguments):
    """The arguments as ctypes takes them. What cannot be passed is named by the op and its place."""
    if len(arguments) != len(kinds):
        raise TypeError(f"{op} takes {len(kinds)} arguments, not {len(arguments)}")
    values = []
    for place, (kind, argument) in enumerate(zip(kinds, arguments), 1):
        try:
            if kind == "t":
                values.append(None if argument is None else ctypes.byref(view(argument)))
            else:
                values.append(pointer(argument) if kind == "p" else scalar(kind, argument))
        except (TypeError, ValueError) as mistake:
            raise type(mistake)(f"{op}, argument {place}: {mistake}") from None
    return values


class Hipops:
    def __init__(self, path, backend):
        self.library = ctypes.CDLL(path)
        self.library.hipops_last_error.restype = ctypes.c_char_p
        self.check(self.library.hipops_init(backend))

    def check(self, status):
        if status:
            raise RuntimeError(self.library.hipops_last_error().decode())

    def call(self, op, *arguments, stream=None):
        """As call("rms_norm", y, x, weight, 1e-5, 0): arrays, None and scalars, in the order of hipops.h."""
        values = passed(op, lookup(ARGUMENTS, op, "op"), arguments)
        self.check(getattr(self.library, "hipops_" + op)(*values, ctypes.c_void_p(stream)))

    def workspace_bytes(self, op, *arguments):
        """An op's workspace, for the arguments in front of it: as workspace_bytes("index_add", y, x, index, 0)."""
        size, values = ctypes.c_int64(), passed(op, lookup(WORKSPACES, op, "op with a workspace"), arguments)
        self.check(getattr(self.library, f"hipops_{op}_workspace_bytes")(*values, ctypes.byref(size)))
        return size.value
