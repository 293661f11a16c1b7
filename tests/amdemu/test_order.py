#!/usr/bin/env python3
"""Removes the instructions that order memory from a kernel whose workgroups hand work to each other: the emulator has to report
each such change (AMDEMU_ORDER, and AMDEMU_RACE for LDS), with the instruction, and nothing of the kernel as it is.

    test_order.py PARITY LIBRARIES OBJECTS OBJDUMP FOLDER TARGET...

Prints each failure, and "N passed, M failed".
"""

import os
import re
import sys

from checks import check, end, run
from patched import Code

parity, libraries, objects, objdump, work, *targets = sys.argv[1:]
OP, KERNEL, CASE = "index_add", "index_add_f32_joined_wide", "adversarial_long_list_2600_f32_i16_workspace"
REPORT = re.compile(rf"(global memory at|LDS race at).*pc .*\n\s+kernel {KERNEL}.*\n\s+pc 0x")
DEVICE_SCOPE, SCOPE_WORD = 3 << 18, 1  # of gfx12's memory instructions

CHANGES = [  # the instructions that the test removes: all that match
    ("write-backs of L2", r"^buffer_wbl2 sc1", 0),
    ("invalidations of L1 and L2", r"^buffer_inv sc1", 0),
    ("invalidations of L1", r"^buffer_wbinvl1_vol", 0),
    ("invalidations of GL1", r"^buffer_gl1_inv", 0),
    ("invalidations of L0", r"^buffer_gl0_inv", 0),
    ("invalidations for the device", r"^global_inv scope:SCOPE_DEV", 0),
    ("invalidations for the workgroup", r"^global_inv scope:SCOPE_SE", 0),
    ("waits for stores", r"^s_wait(cnt_vscnt|_storecnt)", 0),
    # or the instructions directly behind or in front of a match
    ("waits in front of invalidations", r"^buffer_(inv sc1|wbinvl1_vol)", -1, r"^s_waitcnt"),
    ("barriers behind invalidations", r"^buffer_(inv sc1|wbinvl1_vol|gl0_inv)", 1, r"^s_barrier"),
    ("barriers in front of invalidations", r"^global_inv scope:SCOPE_SE", -1, r"^s_barrier_wait"),
]

def launch(target, data):
    folder = os.path.join(work, target)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, OP + ".co"), "wb") as f:
        f.write(data)
    status, out, errors = run(parity, "--backend", "hip", "--op", OP, "--dtype", "f32", "--many-rows", "--case", CASE,
                              LD_LIBRARY_PATH=libraries, HIPOPS_CODE_OBJECT_DIR=work, AMDEMU_ARCH=target, AMDEMU_ORDER="2",
                              AMDEMU_RACE="1", AMDEMU_LIMIT="20000000")
    return status, out + errors


for target in targets:
    code = Code(os.path.join(objects, target, OP + ".co"), objdump)
    instructions = code.kernels[KERNEL]
    status, words = launch(target, code.data)
    check(f"{target} as it is", status == 0 and "amdemu: " not in words, words)
    changes = 0
    for name, pattern, beside, *its in CHANGES:
        places = [i + beside for i, (_, text) in enumerate(instructions) if re.match(pattern, text)]
        for its_pattern in its:
            places = [i for i in places if re.match(its_pattern, instructions[i][1])]
        for wait in [i for i in places if instructions[i][1].startswith("s_barrier_wait")]:
            places.append(max(i for i in range(wait) if instructions[i][1].startswith("s_barrier_signal")))
        if places:
            words = launch(target, code.without(KERNEL, places))[1]
            check(f"{target} without {len(places)} {name}", REPORT.search(words), words)
            changes += 1
    check(f"{target}: a fence, a wait and a barrier are found", changes >= 3, f"{changes} kinds of instructions to take out")
    scoped = [i for i, (_, text) in enumerate(instructions) if re.match(r"^global_atomic.*scope:SCOPE_DEV", text)]
    if target == "gfx1201":
        words = launch(target, code.with_bits(KERNEL, scoped, SCOPE_WORD, ~DEVICE_SCOPE & 0xffffffff))[1]
        check(f"{target} without the scope of {len(scoped)} atomics", REPORT.search(words), words)

end()
