#!/usr/bin/env python3
"""Takes each wait for a load out of some kernels: the emulator has to report what is then used too early (AMDEMU_WAITS), and
nothing of the kernels as they are.

    test_waits.py AMDEMU HIPC OBJDUMP FOLDER TARGET...

Prints each failure, and "N passed, M failed".
"""

import os
import re
import subprocess
import sys

from patched import Code

amdemu, hipc, objdump, work, *targets = sys.argv[1:]
here = os.path.dirname(os.path.abspath(__file__))
os.makedirs(work, exist_ok=True)
passed = failed = 0

with open(os.path.join(work, "in.bin"), "wb") as f:
    f.write(bytes(range(256)) * 256)
IN, OUT = "in:" + os.path.join(work, "in.bin"), "out:65536:" + os.path.join(work, "out.bin")
# All of their waits are for loads: from memory, of arguments, or from LDS. The exception are waits for LDS stores, each of which
# has a barrier behind it.
KERNELS = {"copy16": [IN, OUT], "strided": [IN, OUT, "u32:3"], "shifted": [IN, OUT], "many_loads": [IN, OUT],
           "tile33": [IN, OUT], "lds16": [OUT], "lanes_exchange": [OUT], "doubles": [IN, OUT], "adds": [OUT], "buffer": [IN, OUT]}
WAIT = re.compile(r"^s_wait(cnt|_loadcnt|_dscnt|_kmcnt|_loadcnt_dscnt)\b")


def check(what, is_right, got):
    global passed, failed
    passed, failed = passed + is_right, failed + (not is_right)
    if not is_right:
        print(f"FAIL {what}: {got.strip()}")


def run(co, kernel):
    r = subprocess.run([amdemu, co, kernel, "--grid", "1", "--block", "256", *KERNELS[kernel]], capture_output=True, text=True,
                       env={**os.environ, "AMDEMU_WAITS": "1"})
    return r.returncode, r.stderr


for target in targets:
    co = os.path.join(work, target + ".co")
    subprocess.run([hipc, target, os.path.join(here, "stats_kernels.hip"), co], check=True)
    code = Code(co, objdump)
    for kernel in KERNELS:
        status, words = run(co, kernel)
        check(f"{target} {kernel}", status == 0, words)
        instructions = code.kernels[kernel]
        for i, (_, text) in enumerate(instructions):
            if not WAIT.match(text):
                continue
            broken = os.path.join(work, "broken.co")
            with open(broken, "wb") as f:
                f.write(code.without(kernel, [i]))
            status, words = run(broken, kernel)
            is_reported = status != 0 and "is used before a wait for what loads it" in words
            check(f"{target} {kernel} without {text}", is_reported or "s_barrier" in instructions[i + 1][1], words)

print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0)
