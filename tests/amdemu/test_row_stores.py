#!/usr/bin/env python3
"""Row kernels wait for no store before they are done: on GFX9 a wait for a load waits for all stores before it.

    test_row_stores.py HIPOPS_BENCH EMULATOR TARGET

EMULATOR is the folder of its libamdhip64. Prints each kernel that does, and "N kernels passed".
"""

import json
import os
import subprocess
import sys
import tempfile

bench, emulator, target = sys.argv[1:]
OPS = ("layer_norm", "rms_norm", "fused_add_rms_norm")
ROWS = 8
COLS = (1024, 4096, 16384, 1025, 16383)
MOST = 2 * ROWS  # where a row's last element is in no vector, its second result waits for its weight behind the first one's store

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "launches")
    environment = dict(os.environ, LD_LIBRARY_PATH=emulator, AMDEMU_ARCH=target, AMDEMU_STATS=path)
    for op in OPS:
        for dtype in ("bf16", "f32"):
            for cols in COLS:
                subprocess.run([bench, "--backend", "hip", "--op", op, "--dtype", dtype, "--shape", f"{ROWS}x{cols}", "--repeats",
                                "1"], env=environment, check=True, stdout=subprocess.DEVNULL)
    with open(path) as lines:
        launches = [json.loads(line) for line in lines]

waits = {}
for launch in launches:
    if launch["kernel"].startswith(OPS):
        waits[launch["kernel"]] = max(waits.get(launch["kernel"], 0), launch["in_flight"]["stores_waited_for"])
wrong = {kernel: count for kernel, count in waits.items() if count > (MOST if kernel.startswith("fused_add_rms_norm_f32_un") else 0)}
for kernel, count in sorted(wrong.items()):
    print(f"FAIL {target} {kernel}: its waves wait for {count} stores")
print(f"{len(waits) - len(wrong)} kernels passed, {len(wrong)} failed")
sys.exit(bool(wrong) or len(waits) < 15)
