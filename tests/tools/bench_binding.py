#!/usr/bin/env python3
"""bench_binding.py BENCH LIBRARY: tools/bench/binding.py raises an exception with the name and the expectation for an
argument that it cannot pass. A stand-in replaces PyTorch."""

import ctypes
import sys
import types


class Tensor:
    """The part of a PyTorch tensor that binding.py uses: zeros, in host memory."""

    def __init__(self, *shape, dtype="torch.float32"):
        self.shape, self.dtype, self.memory = shape, dtype, ctypes.create_string_buffer(4096)

    def dim(self):
        return len(self.shape)

    def stride(self):
        return [4] * (len(self.shape) - 1) + [1]

    def data_ptr(self):
        return ctypes.addressof(self.memory)


names = ("float32", "float16", "bfloat16", "float64", "uint8", "int8", "int16", "int32", "int64", "float8_e4m3fn",
         "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")
stream = types.SimpleNamespace(cuda_stream=None)
sys.modules["torch"] = types.SimpleNamespace(
    **{name: "torch." + name for name in names}, Tensor=Tensor, version=types.SimpleNamespace(hip=None),
    cuda=types.SimpleNamespace(current_stream=lambda: stream))
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import binding  # noqa: E402

binding.CUDA = 3  # the CPU backend, because the stand-in has host memory
lib, x, y, wrong = binding.Library(sys.argv[2]), Tensor(3, 4), Tensor(3, 4), []


def expect(exception, words, function, *arguments):
    """The call fails with this exception, and its message contains these words."""
    try:
        function(*arguments)
        wrong.append(f"{arguments}: accepted, expected {exception.__name__}")
    except Exception as got:  # the test reports any exception
        if type(got) is not exception or not all(word in str(got) for word in words):
            wrong.append(f"{arguments}: {type(got).__name__}: {got}; expected {exception.__name__} with {words}")


lib.bind("softmax", y, x, 0)()
if ctypes.c_float.from_buffer(y.memory, 4).value != 0.25:
    wrong.append("softmax: a wrong number")
rows_in_eight_bits = Tensor(3, 4, dtype="torch.float8_e4m3fn"), Tensor(3), x, None, 0, 0
if lib.workspace("dynamic_quantize", *rows_in_eight_bits) != (None, 0):
    wrong.append("dynamic_quantize: a workspace for rows, expected none")
expect(ValueError, ["hipops_rms_nrom", sys.argv[2]], lib.bind, "rms_nrom", y, x)
expect(ValueError, ["hipops_softmax_workspace_bytes"], lib.workspace, "softmax", y, x)
expect(ValueError, ["torch.bool", "torch.float32"], lib.bind, "softmax", y, Tensor(3, 4, dtype="torch.bool"))
expect(ValueError, ["torch.bool", "torch.int64"], lib.workspace, "index_add", y, x, Tensor(3, dtype="torch.bool"), 0)
expect(ValueError, ["rank 9", "8"], lib.bind, "softmax", y, Tensor(*[1] * 9))
expect(TypeError, ["softmax", "[1, 2]", "tensor"], lib.bind, "softmax", y, [1, 2])

print("\n".join(wrong))
sys.exit(1 if wrong else 0)
