#!/usr/bin/env python3
"""Breaks the source of a kernel whose blocks overwrite the parts of a row that they have loaded: each loads them where the first
block stores its results. In the order of the blocks no result is wrong, so that the emulator has to report it (AMDEMU_ORDER); in
another one some are. Nothing is reported of the kernel as it is.

    test_overwrites.py PARITY LIBRARIES OBJECTS HIPC KERNELS FOLDER TARGET...

Prints each failure, and "N passed, M failed".
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from checks import check, end, run

parity, libraries, objects, hipc, kernels, work, *targets = sys.argv[1:]
OP, KERNEL, CASE = "softmax", "softmax_f32_unaligned_merged", "tail_5x33000_f32"
FILE, BEFORE, AFTER = "device/rows/parts.h", "{area_of(rows, begin),", "{area_of(rows, 0),"
REPORT = re.compile(rf"global memory at .*stored, and nothing orders that after the load of workgroup .*\n\s+kernel {KERNEL}.*\n\s+pc 0x")


def launch(target, folder, seed):
    status, out, errors = run(parity, "--backend", "hip", "--op", OP, "--dtype", "f32", "--case", CASE, LD_LIBRARY_PATH=libraries,
                              HIPOPS_CODE_OBJECT_DIR=folder, AMDEMU_ARCH=target, AMDEMU_ORDER="1", AMDEMU_SEED=str(seed))
    return status, out + errors


copy = pathlib.Path(work) / "kernels"
shutil.rmtree(copy, ignore_errors=True)
shutil.copytree(kernels, copy)
text = (copy / FILE).read_text()
check(f"the text to change is once in {FILE}", text.count(BEFORE) == 1, f"{text.count(BEFORE)} times")
(copy / FILE).write_text(text.replace(BEFORE, AFTER))
for target in targets:
    broken = os.path.join(work, "broken", target)
    os.makedirs(broken, exist_ok=True)
    subprocess.run([hipc, target, str(copy / f"{OP}.hip"), os.path.join(broken, OP + ".co"), "-iquote", str(copy)], check=True)
    for seed in 0, 7:
        status, words = launch(target, objects, seed)
        check(f"{target} as it is, seed {seed}", status == 0 and "amdemu: " not in words, words)
        status, words = launch(target, os.path.join(work, "broken"), seed)
        check(f"{target} with parts where others store, seed {seed}", status != 0 and (seed != 0 or REPORT.search(words)), words)

end()
