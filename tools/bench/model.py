#!/usr/bin/env python3
"""What the emulator says of the AMD machine code's speed, as tables in Markdown. They are no measurements.

    model.py build/release/lib/libhipops.so --runtime build/release/amdemu [--table path|pairs|limits|facts]

path    the critical path of small launches (AMDEMU_PATH): in microseconds, and its parts in cycles
pairs   kernels of one family on the same large problem, by the model of a compute unit (AMDEMU_MODEL)
limits  which resource is the limit of larger problems with the default policy, by the same model
facts   the latencies and rates that all of this is made of, and where each is from (needs --amdemu build/release/bin/amdemu)
"""

import argparse
import ctypes
import json
import math
import os
import subprocess
import sys
import tempfile

GPUS = {"gfx942": "MI300X", "gfx1100": "RX 7900 XTX"}  # those that the emulator has figures of
if os.environ.get("AMDEMU_CARD"):  # one card alone; an H200 by RDNA's code, to compare the method with measurements
    GPUS = {"gfx942" if os.environ["AMDEMU_CARD"] == "MI300X" else "gfx1100": os.environ["AMDEMU_CARD"]}
KINDS = {"scalar_memory": "scalar loads", "vector_memory": "vector memory", "lds": "LDS", "barrier": "barriers", "alu": "ALU"}
HEATS = ("cold", "warm")  # x and y in memory, or in the Infinity Cache
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


SMALL = {"rms_norm/bf16/1x4096": norm("rms_norm", BF16, 1, 4096), "layer_norm/bf16/1x4096": norm("layer_norm", BF16, 1, 4096),
         "softmax/bf16/1x4096": norm("softmax", BF16, 1, 4096), "softmax/bf16/1x128256": norm("softmax", BF16, 1, 128256),
         "rope/bf16/1x32x1x128": rope("rope", 1, 32, 1, 128), "gather/bf16/4x1024:1/i64": gather(1, 4, 1024),
         "index_select/bf16/1024x4096/1": index_select(0, (1024, 4096), 1)}
FAMILIES = {"rms_norm/bf16/16384x4096": ("aligned_512x2", "aligned_512x4", "aligned_cluster"),
            "layer_norm/bf16/16384x4096": ("aligned_512x2", "aligned_512x4", "aligned_cluster"),
            "softmax/bf16/16384x4096": ("aligned_512x2", "aligned_512x4", "aligned_cluster"),
            "rms_norm/bf16/32768x1024": ("aligned_32x4", "aligned_512x2", "aligned_512x4"),
            "rms_norm/bf16/262144x128": ("aligned_32x4", "aligned_512x2"),
            "rms_norm/bf16/16384x4097": ("unaligned_512", "unaligned_cluster", "unaligned_stream")}
ALL = ROWS | SMALL
for name in FAMILIES:
    op, _, shape = name.split("/")
    ALL[name] = norm(op, BF16, *map(int, shape.split("x")))


def launches(arguments, variable, name, target, kernel=None):
    """What the emulator writes of each launch of a workload; of the given kernel, if there is one."""
    with tempfile.TemporaryDirectory() as folder:
        lines, table = os.path.join(folder, "lines"), os.path.join(folder, "table")
        environment = dict(os.environ, LD_LIBRARY_PATH=arguments.runtime, AMDEMU_ARCH=target, **{variable: lines})
        if kernel:
            entry = {"op": name.split("/")[0], "bytes": 2, "layout": kernel.split("_")[0], "vectors": [10**6],
                     "rows_per_unit": [10**6], "kernels": [[kernel]]}
            with open(table, "w") as f:
                json.dump({"schema": 1, "target": target, "rows": [entry],
                           "measured": {"device": "", "units": 1, "driver": "", "hipops": "", "date": ""}}, f)
            environment["HIPOPS_TUNING_FILE"] = table
        subprocess.run([sys.executable, __file__, arguments.library, "--one", name], env=environment, check=True)
        with open(lines) as f:
            return [json.loads(line) for line in f]


def print_table(header, rows):
    print("| " + " | ".join(header) + " |\n" + "|---" * len(header) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


def paths(arguments):
    for name in SMALL:
        for target, gpu in GPUS.items():
            if arguments.match not in name:
                continue
            lines = launches(arguments, "AMDEMU_PATH", name, target)
            total = {kind: sum(line["cold"]["by"][kind] for line in lines) for kind in KINDS}
            trips = {kind: sum(line["cold"]["trips"].get(kind, 0) for line in lines) for kind in KINDS}
            cells = [f"{total[kind]:.0f}" + (f" ({trips[kind]})" if kind != "alu" else "") for kind in KINDS]
            yield [name, gpu, str(len(lines)), f"{sum(line['cold']['us'] for line in lines):.2f}",
                   f"{sum(line['warm']['us'] for line in lines):.2f}", f"{sum(total.values()):.0f}", *cells]


def pairs(arguments):
    for name, kernels in FAMILIES.items():
        if arguments.match not in name:
            continue
        first = {}
        for kernel in kernels:
            cells = []
            for target in GPUS:
                line, *more = launches(arguments, "AMDEMU_MODEL", name, target, kernel)
                if more or not line["kernel"].endswith(kernel):
                    cells += ["-"] * 4
                    continue
                for heat in HEATS:
                    cycles = line[heat]["cycles"]
                    ratio = cycles / first.setdefault((target, heat), cycles)
                    cells += [f"{line[heat]['us']:.1f} ({ratio:.2f})", limit(line[heat])]
            yield [name, kernel, *cells]


def limit(of):
    return f"{of['limit']} (memory {100 * of['busy']['memory']:.0f} %, VALU {100 * of['busy']['valu']:.0f} %)"


def limits(arguments):
    for name in ROWS:
        if arguments.match in name:
            of_all = [launches(arguments, "AMDEMU_MODEL", name, target) for target in GPUS]
            longest = [max(lines, key=lambda line: line["cold"]["cycles"]) for lines in of_all]
            yield [name, *(limit(line[heat]) for line in longest for heat in HEATS)]


def facts(arguments):
    rows = json.loads(subprocess.run([arguments.amdemu, "--facts"], capture_output=True, check=True).stdout)
    for row in rows:
        cells = [": ".join(filter(None, (f"{of['value']:g}, {of['tag']}", of["source"]))) for of in row["cards"].values()]
        yield [row["name"], row["unit"], *cells]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--runtime", help="folder of the libamdhip64")
    parser.add_argument("--amdemu", help="the program")
    parser.add_argument("--table", choices=("path", "pairs", "limits", "facts"), default="path")
    parser.add_argument("--match", default="", help="only workloads whose name holds this")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        ALL[arguments.one](Device(arguments.library))
        return
    if not (arguments.amdemu if arguments.table == "facts" else arguments.runtime):
        parser.error("--amdemu is needed" if arguments.table == "facts" else "--runtime is needed")
    if arguments.table == "path":
        parts = [f"{name} (trips)" if kind != "alu" else name for kind, name in KINDS.items()]
        print_table(["workload", "card", "launches", "µs, cold", "µs, warm", "cycles, cold", *parts], paths(arguments))
    elif arguments.table == "pairs":
        columns = [f"{gpu}, {heat}: {what}" for gpu in GPUS.values() for heat in HEATS for what in ("µs (to the first)", "limit")]
        print_table(["workload", "kernel", *columns], pairs(arguments))
    elif arguments.table == "limits":
        print_table(["workload", *(f"{gpu}, {heat}" for gpu in GPUS.values() for heat in HEATS)], limits(arguments))
    else:
        print_table(["what", "unit", "MI300X", "RX 7900 XTX", "H200"], facts(arguments))


if __name__ == "__main__":
    main()
