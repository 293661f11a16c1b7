#!/usr/bin/env python3
"""Norms of rows on chip: no load waits for a store. On GFX9 a wait for a load waits for all stores before it.

    test_row_stores.py HIPOPS_BENCH EMULATOR TARGET

EMULATOR is the folder of its libamdhip64. Prints each kernel whose waves do, and "N passed, M failed".
"""

import json
import os
import sys
import tempfile

from checks import check_equal, end, run

bench, emulator, target = sys.argv[1:]
# By kernel: a shape for which it is the kernel.
SHAPES = {"aligned_32x4": "1300x512", "aligned_512x2": "8x4096", "aligned_512x4": "8x16384", "aligned_cluster": "8x32768",
          "unaligned_32x2": "1300x129", "unaligned_512": "8x8193", "unaligned_cluster": "8x20001"}
HALF = {"aligned_32x4": "1300x256", "aligned_512x2": "8x2048", "aligned_512x4": "8x8192", "aligned_cluster": "8x16384",
        "unaligned_32x2": "1300x65", "unaligned_512": "8x4097", "unaligned_cluster": "8x10001"}  # of f32
OPS = ("layer_norm", "rms_norm", "fused_add_rms_norm")


def waits_of(op, dtype, shape):
    """How many stores are waited for, by kernel."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "launches")
        status, _, words = run(bench, "--backend", "hip", "--op", op, "--dtype", dtype, "--shape", shape, "--repeats", 1,
                               LD_LIBRARY_PATH=emulator, AMDEMU_ARCH=target, AMDEMU_STATS=path)
        if status:
            sys.exit(words)
        with open(path) as lines:
            launches = [json.loads(line) for line in lines]
    return {of["kernel"]: of["in_flight"]["stores_waited_for"] for of in launches if of["kernel"].startswith(op)}


for op in OPS:
    for dtype in ("bf16", "f32"):  # f16's kernels are as bf16's
        for kernel, shape in (HALF if dtype == "f32" else SHAPES).items():
            name = f"{op}_{dtype}_{kernel}"
            check_equal(f"{target} {op} {dtype} {shape}", waits_of(op, dtype, shape), {name: 0})
of_f64 = waits_of("rms_norm", "f64", "8x4096")  # whose weights are loaded at use
check_equal(f"{target} rms_norm f64 8x4096 waits for stores", any(of_f64.values()), True)
end()
