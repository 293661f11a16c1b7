#!/usr/bin/env python3
"""What a model says of the AMD machine code: the benchmark table's ops, made small, run on a libamdhip64 that executes
code objects and counts what they do (AMDEMU_STATS), and its roofline.py turns the counts into bounds. Prints a table in
Markdown: for each op and GPU the modelled share of the roof, which is the time of the memory's bytes over that of
whatever takes longest. It is a model, not a measurement.

    model.py build/release/lib/libhipops.so --runtime FOLDER --roofline FOLDER/../tools/roofline.py
"""

import argparse
import ctypes
import json
import math
import os
import subprocess
import sys
import tempfile

GPUS = {"gfx942": "MI300X", "gfx950": "MI355X", "gfx1100": "RX 7900 XTX", "gfx1201": "RX 9070 XT"}
F32, BF16, I64 = 1, 3, 11
BYTES = {F32: 4, BF16: 2, I64: 8}


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("shape", ctypes.c_int64 * 8), ("stride", ctypes.c_int64 * 8)]


class Device:
    """Memory by the runtime that libhipops uses, too."""

    def __init__(self, library):
        self.hip = ctypes.CDLL("libamdhip64.so")
        self.lib = ctypes.CDLL(os.path.abspath(library))
        self.lib.hipops_last_error.restype = ctypes.c_char_p
        self.check(self.lib.hipops_init(1))

    def check(self, status):
        if status:
            raise RuntimeError(self.lib.hipops_last_error().decode())

    def memory(self, data):
        pointer = ctypes.c_void_p()
        assert self.hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(max(len(data), 1))) == 0
        assert self.hip.hipMemcpy(pointer, data, ctypes.c_size_t(len(data)), 1) == 0
        return pointer.value

    def tensor(self, dtype, shape, data=None, stride=None):
        if stride is None:
            stride = [1] * len(shape)
            for d in range(len(shape) - 2, -1, -1):
                stride[d] = stride[d + 1] * shape[d + 1]
        if data is None:  # different numbers around 1
            elements = 1 + sum((extent - 1) * step for extent, step in zip(shape, stride))
            some = b"".join(bytes(BYTES[dtype] - 2) + bytes([i, 0x3f]) for i in range(256))
            data = (some * (elements * BYTES[dtype] // len(some) + 1))[:elements * BYTES[dtype]]
        return Tensor(self.memory(data), dtype, len(shape), (ctypes.c_int64 * 8)(*shape), (ctypes.c_int64 * 8)(*stride))

    def call(self, op, *arguments):
        values = [ctypes.byref(a) if isinstance(a, Tensor) else ctypes.c_double(a) if isinstance(a, float) else
                  ctypes.c_int64(a) if isinstance(a, int) else a for a in arguments]
        self.check(getattr(self.lib, "hipops_" + op)(*values, None))
        assert self.hip.hipDeviceSynchronize() == 0

    def workspace(self, op, *arguments):
        size = ctypes.c_int64()
        values = [ctypes.byref(a) if isinstance(a, Tensor) else ctypes.c_int64(a) for a in arguments]
        self.check(getattr(self.lib, f"hipops_{op}_workspace_bytes")(*values, ctypes.byref(size)))
        return (self.memory(bytes(size.value)) if size.value else None), size.value


def indices(count, below):
    state, out = 1, bytearray()
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        out += ((state >> 33) % below).to_bytes(8, "little")
    return bytes(out)


def norm(op, dtype, rows, cols):
    def run(d):
        x, y, w = d.tensor(dtype, (rows, cols)), d.tensor(dtype, (rows, cols)), d.tensor(dtype, (cols,))
        d.call(op, y, x, *{"softmax": (), "rms_norm": (w, 1e-5, 0), "layer_norm": (w, w, 1e-5)}[op])
    return run


def rope(op, *shape):
    def run(d):
        t = shape[1] if op == "rope_thd" else shape[2]
        table = d.tensor(BF16, (t, shape[3] // 2))
        d.call(op, d.tensor(BF16, shape), d.tensor(BF16, shape), table, table, None)
    return run


def gather(dim, *shape):
    def run(d):
        index = d.tensor(I64, shape, indices(math.prod(shape), shape[dim]))
        d.call("gather", d.tensor(BF16, shape), d.tensor(BF16, shape), index, dim, None)
    return run


def index_select(dim, shape, n):
    def run(d):
        y = d.tensor(BF16, [n if d == dim else extent for d, extent in enumerate(shape)])
        d.call("index_select", y, d.tensor(BF16, shape), d.tensor(I64, (n,), indices(n, shape[dim])), dim, None)
    return run


def add(op, dtype, rows, cols, out):
    def run(d):
        x, y, names = d.tensor(dtype, (rows, cols)), d.tensor(dtype, (out, cols)), indices(rows, out)
        if op == "scatter_add":
            index = d.tensor(I64, (rows, cols), b"".join(names[8 * r:8 * r + 8] * cols for r in range(rows)))
            space, size = d.workspace(op, y, x, index, 0, 0)
            d.call(op, y, x, index, 0, 0, space, size, None)
        else:
            index = d.tensor(I64, (rows,), names)
            space, size = d.workspace(op, y, x, index, 0)
            d.call(op, y, x, index, 0, space, size, None)
    return run


def upsample2d(n, h, w, new_h, new_w, dtype=BF16):
    def run(d):
        d.call("upsample_nearest2d", d.tensor(dtype, (1, n, new_h, new_w)), d.tensor(dtype, (1, n, h, w)), 0, 0.0, 0.0)
    return run


def upsample1d(n, w):
    def run(d):
        d.call("upsample_nearest1d", d.tensor(BF16, (1, n, 2 * w)), d.tensor(BF16, (1, n, w)), 0, 0.0)
    return run


def copy(shape, stride):
    def run(d):
        d.call("strided_copy", d.tensor(BF16, shape), d.tensor(BF16, shape, stride=stride))
    return run


ROWS = {f"{op}/bf16/{r}x{c}": norm(op, BF16, r, c) for r, c in ((38912, 128), (4864, 1024), (1216, 4096), (1216, 8192), (608, 16384),
                                                                (304, 65536)) for op in ("rms_norm", "layer_norm", "softmax")}
ROWS |= {f"{op}/f32/{r}x{c}": norm(op, F32, r, c) for r, c in ((1216, 4096), (304, 8192)) for op in ("rms_norm", "layer_norm", "softmax")}
ROWS |= {"rope/bf16/1x32x1024x128": rope("rope", 1, 32, 1024, 128), "rope_i/bf16/1x32x1024x128": rope("rope_i", 1, 32, 1024, 128),
         "rope_thd/bf16/1x1024x32x128": rope("rope_thd", 1, 1024, 32, 128), "gather_lastdim/bf16/304x8192/i64": gather(1, 304, 8192),
         "gather/bf16/304x30000:1/i64": gather(1, 304, 30000), "gather/bf16/64x512x256:1/i64": gather(1, 64, 512, 256),
         "index_select/bf16/8192x4096/1216": index_select(0, (8192, 4096), 1216),
         "index_select/bf16/2432x4096:1/4096": index_select(1, (2432, 4096), 4096),
         "scatter_add_dim0/f32/8192x256->1024/i64": add("scatter_add", F32, 8192, 256, 1024),
         # Whole: the ordering of the indices, two launches before the rows', would be the larger part of a small one.
         "index_add/f32/262144x256->16384": add("index_add", F32, 262144, 256, 16384),
         "index_add/bf16/262144x256->16384": add("index_add", BF16, 262144, 256, 16384),
         "upsample_nearest2d/bf16/1x256x128x128": upsample2d(256, 128, 128, 256, 256),
         "upsample_nearest2d/bf16/1x256x128x128->200x200": upsample2d(256, 128, 128, 200, 200),
         "upsample_nearest2d/f32/1x256x128x128->200x200": upsample2d(256, 128, 128, 200, 200, F32),
         "upsample_nearest2d/bf16/1x32768x14x14->20x20": upsample2d(32768, 14, 14, 20, 20),
         "upsample_nearest2d/bf16/1x32768x26x26->11x11": upsample2d(32768, 26, 26, 11, 11),
         "upsample_nearest1d/bf16/1x256x16384": upsample1d(256, 16384),
         "strided_copy_transpose/bf16/2048x2048": copy((2048, 2048), (1, 2048)),
         "strided_copy_bthd_bhtd/bf16/1x1024x32x128": copy((1, 32, 1024, 128), (1024 * 32 * 128, 128, 32 * 128, 1)),
         "strided_copy_slice/bf16/1024x12288[:,4096:8192]": copy((1024, 4096), (12288, 1))}


def bounds(arguments, name, target):
    """The launches' bounds in microseconds, added up, and what binds the longest one."""
    with tempfile.TemporaryDirectory() as folder:
        stats = os.path.join(folder, "stats")
        environment = dict(os.environ, LD_LIBRARY_PATH=arguments.runtime, AMDEMU_ARCH=target, AMDEMU_STATS=stats)
        subprocess.run([sys.executable, __file__, arguments.library, "--one", name], env=environment, check=True)
        lines = subprocess.run([sys.executable, arguments.roofline, "--json", stats], check=True, capture_output=True, text=True).stdout
    launches = [json.loads(line) for line in lines.splitlines()]
    longest = [max(launch["estimate_us"].values()) * launch["launches"] for launch in launches]
    memory = sum(launch["estimate_us"]["memory"] * launch["launches"] for launch in launches)
    return memory / sum(longest), launches[longest.index(max(longest))]["bound"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--runtime", help="folder of the libamdhip64")
    parser.add_argument("--roofline", help="its roofline.py")
    parser.add_argument("--match", default="", help="only rows whose name holds this")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        ROWS[arguments.one](Device(arguments.library))
        return
    if not arguments.runtime or not arguments.roofline:
        parser.error("--runtime and --roofline are needed")
    print("| workload | " + " | ".join(GPUS.values()) + " |\n" + "|---" * (len(GPUS) + 1) + "|")
    for name in ROWS:
        if arguments.match in name:
            cells = ["%.2f (%s)" % bounds(arguments, name, target) for target in GPUS]
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
