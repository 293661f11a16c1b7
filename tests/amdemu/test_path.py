#!/usr/bin/env python3
"""Compares AMDEMU_PATH with chains of accesses that are known by hand.

    test_path.py AMDEMU HIPC FOLDER TARGET...

AMDEMU is the program, HIPC compiles (HIPC TARGET in.hip out.co), FOLDER is for files. Prints each failure, and "N passed, M failed".
"""

import array
import json
import os
import sys

from checks import check, compiled, data, end, run

amdemu, hipc, work, *targets = sys.argv[1:]
LINES = os.path.join(work, "lines")
IN, OUT = data(work, array.array("I", range(64, 64 + (1 << 20))).tobytes())


def path(co, kernel, *args, grid=1, block=64):
    if os.path.exists(LINES):
        os.remove(LINES)
    status, _, words = run(amdemu, co, kernel, "--grid", grid, "--block", block, IN, OUT, *args, AMDEMU_PATH=LINES)
    if status:
        sys.exit(f"{kernel}: {words}")
    with open(LINES) as lines:
        return json.loads(lines.read())


def test(target, co):
    def more_trips(kernel):
        """How many more 40 rounds have than 10."""
        few, many = (path(co, kernel, f"i32:{rounds}")["trips"] for rounds in (10, 40))
        return {kind: many[kind] - few[kind] for kind in many if many[kind] != few[kind]}

    for kernel, kind in ("dependent", "vector_memory"), ("scalar", "scalar_memory"), ("lds", "lds"):
        got = more_trips(kernel)
        check(f"{target} dependent loads are a trip each: {kind}", got == {kind: 30}, got)
    for kernel, trips in ("independent", 2), ("stores_first", 3):  # the last store is one of them
        line = path(co, kernel)
        check(f"{target} {kernel}", line["trips"]["vector_memory"] == trips, line)

    one, all_ = (path(co, kernel)["trips"] for kernel in ("waits_for_one", "waits_for_all"))
    check(f"{target} the chain of a wait for some", sum(one.values()) + 1 == sum(all_.values()), (one, all_))

    # The load in front of the barrier that nothing waits for may be on its way behind it.
    for behind, trips in (7, (12, 13)), (0, (5, 6)):
        line = path(co, "handed_over", "i32:5", f"i32:{behind}", block=256)
        check(f"{target} the barrier joins both waves' loads, {behind} behind it", line["trips"]["vector_memory"] in trips, line)

    line = path(co, "dependent", "i32:10", grid=3)
    load = max(line["accesses"], key=lambda access: access["times"])
    check(f"{target} the loop's load is listed", load["kind"] == "vector_memory" and load["times"] == 10 and
          load["text"].startswith("global_load"), line)
    check(f"{target} the accesses are the trips", sum(access["times"] for access in line["accesses"]) == sum(line["trips"].values()), line)
    check(f"{target} equal workgroups: the first", line["workgroup"] == 0, line)


for t in targets:
    test(t, compiled(hipc, t, "path_kernels.hip", work))
end()
