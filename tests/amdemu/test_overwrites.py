#!/usr/bin/env python3
"""Breaks the source of kernels whose blocks load bytes that other blocks of the launch store, or overwrite bytes that they load.
The emulator has to report such a store (AMDEMU_ORDER), and it spoils such a load. Nothing is reported of the kernels as they are.

    test_overwrites.py PARITY LIBRARIES OBJECTS HIPC KERNELS FOLDER TARGET OP...

Prints each failure, and "N passed, M failed".
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from checks import check, end, run

parity, libraries, objects, hipc, kernels, work, target, *ops = sys.argv[1:]


class Break:
    def __init__(self, name, op, case, file, before, after, report=""):
        self.name, self.op, self.case, self.file, self.before, self.after = name, op, case, file, before, after
        self.report = re.compile(report)  # of the run in the order of the blocks


OVERWRITES = r"global memory at .*stored, and nothing orders that after the load of workgroup .*\n\s+kernel softmax_f32_unaligned_merged.*\n\s+pc 0x"
CHUNKS = "adversarial_long_list_2600_f32_i16_workspace"
ATOMIC = "device/core/atomic.h"
BREAKS = (
    # Each block loads parts of a row where the first block stores its results. In the order of the blocks no result is wrong.
    Break("parts where others store", "softmax", "tail_5x33000_f32", "device/rows/parts.h", "{*this, area_of(rows, begin),",
          "{*this, area_of(rows, 0),", OVERWRITES),
    Break("no release", "index_add", CHUNKS, ATOMIC, '  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");\n#if defined(__GFX9__)',
          "#if 0"),
    Break("no acquire", "index_add", CHUNKS, ATOMIC, '{ __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent"); }', "{}"),
)


def launch(mutation, folder, seed):
    status, out, errors = run(parity, "--backend", "hip", "--op", mutation.op, "--dtype", "f32", "--case", mutation.case,
                              LD_LIBRARY_PATH=libraries, HIPOPS_CODE_OBJECT_DIR=folder, AMDEMU_ARCH=target, AMDEMU_ORDER="1",
                              AMDEMU_SEED=str(seed))
    return status, out + errors


for mutation in BREAKS:
    if mutation.op not in ops:
        continue
    copy = pathlib.Path(work) / "kernels"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(kernels, copy)
    text = (copy / mutation.file).read_text()
    check(f"the text to change is once in {mutation.file}", text.count(mutation.before) == 1, f"{text.count(mutation.before)} times")
    (copy / mutation.file).write_text(text.replace(mutation.before, mutation.after))
    broken = os.path.join(work, "broken")
    shutil.rmtree(broken, ignore_errors=True)
    os.makedirs(os.path.join(broken, target))
    subprocess.run([hipc, target, str(copy / f"{mutation.op}.hip"), os.path.join(broken, target, mutation.op + ".co"), "-iquote", str(copy)],
                   check=True)
    for seed in 0, 7:
        status, words = launch(mutation, objects, seed)
        check(f"{mutation.op} as it is, seed {seed}", status == 0 and "amdemu: " not in words, words)
        status, words = launch(mutation, broken, seed)
        check(f"{mutation.op} with {mutation.name}, seed {seed}", status != 0 and (seed != 0 or mutation.report.search(words)), words)

end()
