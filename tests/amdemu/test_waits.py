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
WAIT = re.compile(r"^\s*(s_wait(?:cnt|_loadcnt|_dscnt|_kmcnt|_loadcnt_dscnt)\b[^/]*)// ([0-9A-F]+):")
NOP = 0xBF800000


def check(what, is_right, got):
    global passed, failed
    passed, failed = passed + is_right, failed + (not is_right)
    if not is_right:
        print(f"FAIL {what}: {got.strip()}")


def run(co, kernel):
    r = subprocess.run([amdemu, co, kernel, "--grid", "1", "--block", "256", *KERNELS[kernel]], capture_output=True, text=True,
                       env={**os.environ, "AMDEMU_WAITS": "1"})
    return r.returncode, r.stderr


def listing(co):
    return subprocess.run([objdump, "-d", co], capture_output=True, text=True, check=True).stdout


def text_section(co):
    """Where the code is: its address, and its place in the file."""
    headers = subprocess.run([objdump, "-h", "-w", co], capture_output=True, text=True, check=True).stdout
    address = int(next(line.split()[3] for line in headers.splitlines() if " .text " in line), 16)
    data = open(co, "rb").read()
    sections, count = int.from_bytes(data[40:48], "little"), int.from_bytes(data[60:62], "little")
    for i in range(count):
        header = data[sections + 64 * i:sections + 64 * (i + 1)]
        if int.from_bytes(header[16:24], "little") == address:
            return address, int.from_bytes(header[24:32], "little")
    raise ValueError(f"{co}: no section at {address:x}")


for target in targets:
    co = os.path.join(work, target + ".co")
    subprocess.run([hipc, target, os.path.join(here, "stats_kernels.hip"), co], check=True)
    data, (address, place) = open(co, "rb").read(), text_section(co)
    kernel = None
    for kernel_name in KERNELS:
        code, words = run(co, kernel_name)
        check(f"{target} {kernel_name}", code == 0, words)
    lines = listing(co).splitlines()
    for line, following in zip(lines, [*lines[1:], ""]):
        if header := re.match(r"^[0-9a-f]+ <(\w+)>:", line):
            kernel = header[1]
        found = WAIT.match(line)
        if kernel not in KERNELS or not found:
            continue
        at = place + int(found[2], 16) - address
        broken = os.path.join(work, "broken.co")
        with open(broken, "wb") as f:
            f.write(data[:at] + NOP.to_bytes(4, "little") + data[at + 4:])
        code, words = run(broken, kernel)
        is_reported = code != 0 and "is used before a wait for what loads it" in words
        check(f"{target} {kernel} without {found[1].strip()}", is_reported or "s_barrier" in following, words)

print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0)
