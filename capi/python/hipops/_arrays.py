"""Makes a hipops_tensor of another library's array: of PyTorch, NumPy, or with __dlpack__ or __cuda_array_interface__."""

from __future__ import annotations

import ctypes
import operator
import struct
import sys
from ctypes import POINTER, Structure, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p, py_object
from typing import Any, NamedTuple

from ._abi import MAX_RANK, Backend, Dtype, Tensor

DTYPES = {"float32": Dtype.F32, "float16": Dtype.F16, "bfloat16": Dtype.BF16, "float64": Dtype.F64, "uint8": Dtype.U8,
          "int8": Dtype.I8, "int16": Dtype.I16, "uint16": Dtype.U16, "int32": Dtype.I32, "uint32": Dtype.U32,
          "int64": Dtype.I64, "uint64": Dtype.U64, "float8_e4m3fn": Dtype.F8_E4M3FN, "float8_e4m3fnuz": Dtype.F8_E4M3FNUZ,
          "float8_e5m2": Dtype.F8_E5M2, "float8_e5m2fnuz": Dtype.F8_E5M2FNUZ}
EXPECTED = "expected one of: " + ", ".join(DTYPES)
AN_ARRAY = "expected an array of NumPy, PyTorch or CuPy, or one with __dlpack__ or __cuda_array_interface__"
# DLPack's devices. Memory that the host and a GPU share counts as the GPU's.
DEVICES = {1: Backend.CPU, 2: Backend.CUDA, 3: Backend.CUDA, 13: Backend.CUDA, 10: Backend.HIP, 11: Backend.HIP}
DLPACK_MAJOR = 1
DLPACK_KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool",
                10: "float8_e4m3fn", 11: "float8_e4m3fnuz", 12: "float8_e5m2", 13: "float8_e5m2fnuz"}
# Libraries whose arrays are always writable, although a capsule from before DLPack 1.0 has no such flag; and never
# writable.
WRITABLE, IMMUTABLE = ("cupy", "paddle", "warp"), ("jax", "jaxlib")
TYPESTRS = {f"{kind}{size}": f"{word}{8 * size}" for kind, word in (("f", "float"), ("i", "int"), ("u", "uint"), ("c", "complex"))
            for size in (1, 2, 4, 8, 16)}


class View(NamedTuple):
    tensor: Tensor
    backend: Backend
    device: int | None  # None if the array does not report it.
    read_only: str | None  # The reason, as the predicate of a sentence, or None.
    owner: Any  # Keeps the memory alive during the call.
    stream: int | None = None  # The array's library may still write on this stream: the call must wait for it.


class DLTensor(Structure):
    _fields_ = (("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32), ("code", c_uint8),
                ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)),
                ("byte_offset", c_uint64))


class DLManagedTensorVersioned(Structure):
    _fields_ = (("major", c_uint32), ("minor", c_uint32), ("manager", c_void_p), ("deleter", c_void_p), ("flags", c_uint64),
                ("tensor", DLTensor))


LAYOUT = struct.Struct(f"Pii{2 * MAX_RANK}q")  # of Tensor
PADDING = [(0,) * (MAX_RANK - rank) for rank in range(MAX_RANK + 1)]
HAS_CAPSULES = hasattr(ctypes, "pythonapi")  # PyPy has none
if HAS_CAPSULES:
    capsule_name = ctypes.pythonapi.PyCapsule_GetName
    capsule_name.restype, capsule_name.argtypes = ctypes.c_char_p, (py_object,)
    capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    capsule_pointer.restype, capsule_pointer.argtypes = c_void_p, (py_object, ctypes.c_char_p)


def tensor(data: int, dtype: Dtype, shape: Any, stride: Any) -> Tensor:
    if len(shape) > MAX_RANK:
        raise ValueError(f"has {len(shape)} dimensions, expected {MAX_RANK} at most")
    padding = PADDING[len(shape)]
    return Tensor.from_buffer_copy(LAYOUT.pack(data, dtype, len(shape), *shape, *padding, *stride, *padding))


def in_elements(strides: Any, size: int) -> list[int]:
    if any(s % size for s in strides):
        raise ValueError(f"has strides of {tuple(strides)} bytes, expected multiples of an element's {size}")
    return [s // size for s in strides]


def contiguous(shape: Any) -> list[int]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return strides[::-1]


def type_of(value: Any) -> str:
    module = type(value).__module__
    return type(value).__qualname__ if module == "builtins" else f"{module}.{type(value).__qualname__}"


def dtype_of(name: str) -> Dtype:
    if name not in DTYPES:
        raise ValueError(f"is of {name}, {EXPECTED}")
    return DTYPES[name]


def of_torch(array: Any) -> View:
    torch = sys.modules["torch"]
    dtype = dtype_of(str(array.dtype).partition(".")[2])
    device, kind = array.device, array.device.type
    if array.layout is not torch.strided or array.is_nested:
        raise ValueError(f"is {'nested' if array.is_nested else f'of layout {array.layout}'}, expected torch.strided")
    if kind == "cpu":
        backend = Backend.CPU
    elif kind == "cuda":
        backend = Backend.HIP if torch.version.hip else Backend.CUDA
    else:
        raise ValueError(f"is on {device}, expected cpu or cuda")
    if torch.is_grad_enabled() and array.requires_grad:
        raise ValueError("requires a gradient, which only torch.ops.hipops (import hipops.torch) computes: call that, or use torch.inference_mode() or "
                         "no_grad()")
    if array.is_neg():
        raise ValueError("is a lazy negation, expected a plain tensor (resolve_neg)")
    return View(tensor(array.data_ptr(), dtype, array.shape, array.stride()), backend, device.index or 0, None, array)


def of_numpy(array: Any) -> View:
    if isinstance(array, sys.modules["numpy"].ma.MaskedArray):
        raise ValueError("is a masked array, expected a plain one")
    if not array.dtype.isnative:
        raise ValueError(f"is of {array.dtype.str}, expected this machine's byte order")
    dtype = dtype_of(array.dtype.name)
    made = tensor(array.ctypes.data, dtype, array.shape, in_elements(array.strides, array.itemsize))
    return View(made, Backend.CPU, 0, None if array.flags.writeable else "is read-only, as its flags.writeable says", array)


def capsule_of(array: Any, backend: Backend, stream: int | None) -> Any:
    asked: dict[str, Any] = {}
    if backend != Backend.CPU:  # the producer's work precedes later work on this stream; CUDA's default is 1
        asked["stream"] = stream or (1 if backend == Backend.CUDA else 0)
    try:
        return array.__dlpack__(max_version=(DLPACK_MAJOR, 0), **asked)
    except TypeError:  # a library from before DLPack 1.0
        return array.__dlpack__(**asked)


def dlpack_read_only(array: Any, flags: int | None) -> str | None:
    library = type(array).__module__.partition(".")[0]
    if library in IMMUTABLE:
        return f"is an array of {library}, which never changes"
    if flags is None:  # NumPy treats such a capsule as read-only, too
        return None if library in WRITABLE else f"may be read-only, as {library}'s DLPack capsule from before 1.0 does not say"
    if flags & 2:
        return "comes as a copy from __dlpack__"
    return "is read-only, as its DLPack capsule says" if flags & 1 else None


def of_dlpack(array: Any, stream: int | None) -> View:
    if not HAS_CAPSULES:
        raise ValueError(f"is a {type_of(array)}, whose __dlpack__ needs CPython, and this is {sys.implementation.name}: "
                         "expected an array of NumPy")
    try:
        place = tuple(array.__dlpack_device__())
        backend = DEVICES.get(int(place[0]))
        capsule = None if backend is None else capsule_of(array, backend, stream)
        name = None if capsule is None else capsule_name(capsule)
    except Exception as reason:
        raise ValueError(f"is a {type_of(array)}, which gives no DLPack capsule: {reason}") from reason
    if backend is None:
        raise ValueError(f"is on DLPack's device {place}, expected the CPU, a CUDA or a ROCm device")
    if name not in (b"dltensor_versioned", b"dltensor"):
        raise ValueError(f"is a {type_of(array)}, which gives a capsule named {name!r}, expected one of DLPack's")
    address, flags = capsule_pointer(capsule, name), None
    if name == b"dltensor_versioned":
        managed = ctypes.cast(address, POINTER(DLManagedTensorVersioned)).contents
        if managed.major > DLPACK_MAJOR:  # the layout after the version is unknown
            raise ValueError(f"is of DLPack {managed.major}.{managed.minor}, expected {DLPACK_MAJOR}.x or earlier")
        plain, flags = managed.tensor, managed.flags
    else:
        plain = ctypes.cast(address, POINTER(DLTensor)).contents
    kind = DLPACK_KINDS.get(plain.code, f"DLPack's type code {plain.code} with bits ")
    element = kind if kind == "bool" or kind.startswith("float8") and plain.bits == 8 else f"{kind}{plain.bits}"
    dtype = dtype_of(element + ("" if plain.lanes == 1 else f"x{plain.lanes}"))
    shape = plain.shape[:plain.ndim]
    strides = plain.strides[:plain.ndim] if plain.strides else contiguous(shape)
    made = tensor((plain.data or 0) + plain.byte_offset, dtype, shape, strides)
    return View(made, backend, plain.device_id, dlpack_read_only(array, flags), capsule)


def of_cuda_array_interface(array: Any) -> View:
    try:
        facts = array.__cuda_array_interface__
        typestr, (address, is_read_only) = str(facts["typestr"]), facts["data"]
        address, shape = operator.index(address), tuple(map(operator.index, facts["shape"]))
        strides = facts.get("strides") and tuple(map(operator.index, facts["strides"]))
        mask, stream = facts.get("mask"), facts.get("stream")
    except Exception as reason:
        raise ValueError(f"has a __cuda_array_interface__ that cannot be read: {reason!r}, expected version 3's") from reason
    if not all(-1 << 63 <= n < 1 << 63 for n in (*shape, *(strides or ()))):  # ctypes keeps the low bits
        raise ValueError(f"is {shape} with the strides {strides}, expected integers of 64 bits")
    if strides and len(strides) != len(shape):
        raise ValueError(f"has {len(strides)} strides in its __cuda_array_interface__, expected one for each of {len(shape)} dimensions")
    if mask is not None:
        raise ValueError("has a mask, expected none")
    if typestr[:1] == ">":
        raise ValueError(f"is of {typestr}, expected this machine's byte order")
    if stream is not None and (type(stream) is not int or stream < 1):
        raise ValueError(f"has the stream {stream!r} in its __cuda_array_interface__, "
                         "expected None, 1 (legacy default), 2 (per-thread default) or an address")
    dtype = dtype_of("bool" if typestr[1:] == "b1" else TYPESTRS.get(typestr[1:], typestr))
    stride = in_elements(strides, int(typestr[2:])) if strides else contiguous(shape)
    read_only = "is read-only, as its __cuda_array_interface__ says" if is_read_only else None
    return View(tensor(address, dtype, shape, stride), Backend.CUDA, None, read_only, array, stream)


def is_torch(array: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def is_numpy(array: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(array, numpy.ndarray)


def view(array: Any, stream: int | None) -> View:
    """The array as a tensor. If that is impossible, raises an error whose text is the predicate of a sentence about the argument."""
    if is_torch(array):
        return of_torch(array)
    if is_numpy(array):
        return of_numpy(array)
    if hasattr(array, "__dlpack__"):
        return of_dlpack(array, stream)
    if hasattr(array, "__cuda_array_interface__"):
        return of_cuda_array_interface(array)
    raise TypeError(f"is a {type_of(array)}, {AN_ARRAY}")


def empty(like: Any, shape: Any = None, dtype: str | None = None) -> Any:
    """A new array of `like`'s library, device and dtype, of its shape or of `shape`. None if the library is unknown. `dtype`: the name
    of another dtype; then there is a shape."""
    module = type(like).__module__.partition(".")[0]
    if is_torch(like):
        torch = sys.modules["torch"]
        return torch.empty_like(like) if shape is None else like.new_empty(tuple(shape), dtype=getattr(torch, dtype) if dtype else None)
    if is_numpy(like) or module == "cupy":
        library = sys.modules["numpy" if is_numpy(like) else "cupy"]
        return library.empty_like(like) if shape is None else library.empty(tuple(shape), dtype or like.dtype)
    return None


def written(array: Any) -> None:
    """Increments a tensor's version in PyTorch, so that autograd does not use its old value."""
    if is_torch(array) and not array.is_inference():
        sys.modules["torch"].autograd.graph.increment_version(array)


def used_on(array: Any, stream: int | None) -> None:
    """Keeps PyTorch from reusing the memory before this stream, which may not be PyTorch's current stream, has finished the call."""
    if is_torch(array) and array.device.type == "cuda":
        torch = sys.modules["torch"]
        array.record_stream(torch.cuda.ExternalStream(stream or 0, array.device))


def workspace(like: Any, size: int) -> tuple[Any, int]:
    """Memory on `like`'s device, and the address of `size` bytes in it, a multiple of 256."""
    if is_torch(like):
        memory = like.new_empty((size + 255,), dtype=sys.modules["torch"].uint8)
    else:
        library = sys.modules["cupy" if type(like).__module__.partition(".")[0] == "cupy" else "numpy"]
        memory = library.empty(size + 255, library.uint8)
    return memory, -(view(memory, None).tensor.data // -256) * 256


def current_stream(like: Any) -> int | None:
    """The current stream of `like`'s library. None means the runtime's default stream."""
    if is_torch(like) and like.device.type == "cuda":
        return int(sys.modules["torch"].cuda.current_stream(like.device).cuda_stream)
    if type(like).__module__.partition(".")[0] == "cupy":
        return int(sys.modules["cupy"].cuda.get_current_stream().ptr)
    return None


def on_device(like: Any, device: int | None) -> Any:
    """A context that makes `like`'s device the thread's current device."""
    if is_torch(like) and like.device.type == "cuda":
        return sys.modules["torch"].cuda.device(device)
    if type(like).__module__.partition(".")[0] == "cupy":
        return sys.modules["cupy"].cuda.Device(device)
    return None
