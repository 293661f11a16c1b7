#!/usr/bin/env python3
"""dlpack.py BRIDGE: tensors of NumPy and PyTorch become hipops tensors through __dlpack__, and hipops computes on them.

The package is in PYTHONPATH. Exit 77 without NumPy and PyTorch."""

import ctypes
import sys

import hipops
from hipops import Backend
from hipops._abi import Tensor
from hipops._arrays import view
from hipops._library import LIBRARY, check

try:
    import numpy
except ImportError:
    numpy = None
try:
    import torch
except ImportError:
    torch = None
if not numpy and not torch:
    print("skipped: neither NumPy nor PyTorch")
    sys.exit(77)

CPU, CUDA, HIP = Backend.CPU, Backend.CUDA, Backend.HIP
bridge = ctypes.CDLL(sys.argv[1]).bridge
pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def through_dlpack(array, backend):
    capsule, to = array.__dlpack__(), Tensor()
    status = bridge(ctypes.c_void_p(pointer_of(capsule, b"dltensor")), backend, ctypes.byref(to))
    return status, to, capsule


def fields(tensor):
    """A view without the strides of dimensions of one element, which have no meaning."""
    rank, empty = tensor.rank, 0 in tensor.shape[:tensor.rank]
    strides = [s for s, e in zip(tensor.stride[:rank], tensor.shape) if e > 1 and not empty]
    return tensor.data, tensor.dtype, rank, tensor.shape[:rank], strides


def expect_same(what, array, backend):
    status, to, _ = through_dlpack(array, backend)
    got, expected = fields(to), fields(view(array, None).tensor)
    assert status == 0 and got == expected, f"{what}: status {status}, {got}, expected {expected}"


def expect_refused(what, array, backend, status):
    got = through_dlpack(array, backend)[0]
    assert got == status, f"{what}: status {got}, expected {status}"


def softmax_of(name, x, backend):
    """softmax of a tensor that came through DLPack, in place."""
    _, to, keep = through_dlpack(x, backend)
    stream = torch.cuda.current_stream().cuda_stream if name != "numpy" and x.is_cuda else None
    check(LIBRARY.hipops_softmax(ctypes.byref(to), ctypes.byref(to), 0, ctypes.c_void_p(stream)))
    return keep


def test_numpy(computes):
    for dtype in "float32 float16 float64 uint8 int8 int16 uint16 int32 uint32 int64 uint64".split():
        whole = numpy.arange(24).astype(dtype).reshape(2, 3, 4)
        for what, array in (("whole", whole), ("slice", whole[:, 1:, ::2]), ("turned", whole.transpose(2, 0, 1)),
                            ("reversed", whole[:, ::-1]), ("scalar", whole[0, 0, 0:1].reshape(())),
                            ("empty", whole[:, :0])):
            expect_same(f"NumPy {dtype} {what}", array, CPU)
    expect_refused("NumPy complex", numpy.zeros(3, "complex64"), CPU, 2)
    expect_refused("NumPy on a GPU", numpy.zeros(3, "float32"), HIP, 4)
    expect_refused("nine dimensions", numpy.zeros((1,) * 9, "float32"), CPU, 1)
    if computes:
        x = numpy.zeros((3, 8), "float32")
        softmax_of("numpy", x[:, 2:6], CPU)
        assert (x[:, 2:6] == 0.25).all() and (x[:, :2] == 0).all() and (x[:, 6:] == 0).all(), x
    print("NumPy", numpy.__version__, "passed")


def test_torch():
    gpu = torch.cuda.is_available()
    backend, device = ((HIP if torch.version.hip else CUDA), "cuda") if gpu else (CPU, "cpu")
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.uint8, torch.int8, torch.int16,
                  torch.int32, torch.int64, torch.float8_e4m3fn, torch.float8_e4m3fnuz, torch.float8_e5m2,
                  torch.float8_e5m2fnuz):
        whole = torch.arange(24, device=device).to(dtype).reshape(2, 3, 4)
        for what, tensor in (("whole", whole), ("slice", whole[:, 1:, ::2]), ("turned", whole.permute(2, 0, 1)),
                             ("expanded", whole[:, :1].expand(2, 5, 4)), ("empty", whole[:, :0])):
            expect_same(f"PyTorch {dtype} {what}", tensor, backend)
    expect_refused("PyTorch complex", torch.zeros(3, dtype=torch.complex64, device=device), backend, 2)
    expect_refused("PyTorch elsewhere", torch.zeros(3, device=device), CPU if gpu else CUDA, 4)
    x = torch.zeros(3, 8, device=device)
    softmax_of("torch", x[:, 2:6], backend)
    assert (x[:, 2:6] == 0.25).all() and (x[:, :2] == 0).all(), x
    print("PyTorch", torch.__version__, "on", device, "passed")


# A process has one backend: the GPU if PyTorch has one, otherwise the CPU.
on_gpu = torch and torch.cuda.is_available()
hipops.init((HIP if torch.version.hip else CUDA) if on_gpu else CPU)
if numpy:
    test_numpy(not on_gpu)
if torch:
    test_torch()
