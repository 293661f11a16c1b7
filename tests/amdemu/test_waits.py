#!/usr/bin/env python3
"""Removes each wait for a load from some kernels: the emulator has to report the register that is then used too early
(AMDEMU_WAITS). It reports nothing for the unchanged kernels.

    test_waits.py AMDEMU HIPC OBJDUMP FOLDER TARGET...

Prints each failure, and "N passed, M failed".
"""

import os
import re
import sys

from checks import check, compiled, data, end, run
from patched import Code

amdemu, hipc, objdump, work, *targets = sys.argv[1:]
IN, OUT = data(work, bytes(range(256)) * 256)
# All of their waits are for loads: from memory, of arguments, or from LDS. A wait for an LDS store
# has a barrier behind it.
KERNELS = {"copy16": [IN, OUT], "strided": [IN, OUT, "u32:3"], "shifted": [IN, OUT], "many_loads": [IN, OUT],
           "tile33": [IN, OUT], "lds16": [OUT], "lanes_exchange": [OUT], "doubles": [IN, OUT], "adds": [OUT], "buffer": [IN, OUT]}
WAIT = re.compile(r"^s_wait(cnt|_loadcnt|_dscnt|_kmcnt|_loadcnt_dscnt)\b")


def launch(co, kernel):
    status, _, words = run(amdemu, co, kernel, "--grid", 1, "--block", 256, *KERNELS[kernel], AMDEMU_WAITS="1")
    return status, words


for target in targets:
    co = compiled(hipc, target, "stats_kernels.hip", work)
    code = Code(co, objdump)
    for kernel in KERNELS:
        status, words = launch(co, kernel)
        check(f"{target} {kernel}", status == 0, words)
        instructions = code.kernels[kernel]
        for i, (_, text) in enumerate(instructions):
            if not WAIT.match(text):
                continue
            broken = os.path.join(work, "broken.co")
            with open(broken, "wb") as f:
                f.write(code.without(kernel, [i]))
            status, words = launch(broken, kernel)
            is_reported = status != 0 and "is used before a wait for the load into it" in words
            check(f"{target} {kernel} without {text}", is_reported or "s_barrier" in instructions[i + 1][1], words)

end()
