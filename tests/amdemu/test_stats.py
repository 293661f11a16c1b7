#!/usr/bin/env python3
"""Compares AMDEMU_STATS with figures known by hand.

    test_stats.py AMDEMU HIPC FOLDER TARGET...

AMDEMU is the program, HIPC compiles (HIPC TARGET in.hip out.co), FOLDER is for files. Prints each failure, and
"N passed, M failed".
"""

import json
import os
import sys

from checks import check_equal as check, compiled, data, end, run

amdemu, hipc, work, *targets = sys.argv[1:]
IN, OUT = data(work, os.urandom(4 << 20))
T = 64 * 256   # threads of the 64 workgroups


def launch(co, kernel, grid, args, **environment):
    path = os.path.join(work, "lines")
    if os.path.exists(path):
        os.remove(path)
    status, out, errors = run(amdemu, co, kernel, "--grid", grid, "--block", 256, *args, AMDEMU_STATS=path, **environment)
    if status:
        sys.exit(f"{kernel}: {errors}")
    with open(path) as lines:
        return json.loads(lines.read()), json.loads(out)


def value(line, key):
    for k in key.split("."):
        line = line.get(k) if isinstance(line, dict) else None
    return line


for t in targets:
    co = compiled(hipc, t, "stats_kernels.hip", work)
    W = 64 if t.startswith("gfx9") else 32
    w = T // W      # waves of 64 workgroups
    g = 256 // W    # of one

    def expect(kernel, grid, args, **want):
        line, out = launch(co, kernel, grid, args)
        check(f"{t} {kernel} waves", value(line, "waves"), grid * g)
        check(f"{t} {kernel} instructions", value(line, "instructions"), out.get("wave_instructions"))
        check(f"{t} {kernel} sum of classes", sum(value(line, "classes").values()) if line else None, out.get("wave_instructions"))
        for k, v in want.items():
            check(f"{t} {kernel} {k}", value(line, k.replace("__", ".")), v)

    # 16 bytes a lane, adjacent: the number of sectors is bytes / 64.
    expect("copy16", 64, [IN, OUT], load__bytes=16 * T, load__sectors=T // 4, load__lines=T // 8, load__efficiency=1.0, load__unaligned=0,
           load__width={"16": w}, store__bytes=16 * T, store__sectors=T // 4, store__efficiency=1.0, footprint__load_lines=T // 8,
           footprint__store_lines=T // 8, footprint__lines=T // 4, classes__vmem_load=w, classes__vmem_store=w, vmem_utilisation=1.0,
           valu_utilisation=1.0, in_flight__loads_per_wave=1, in_flight__bytes_per_wave=16 * W, wave_size=W, target=t)
    # A float every 32 bytes: two lanes a sector, 4 * 2 of its 64 bytes used. Every 64 and 128 bytes: one lane.
    for stride, per_sector, per_line in (1, 16, 32), (8, 2, 4), (16, 1, 2), (32, 1, 1):
        expect("strided", 64, [IN, OUT, f"u32:{stride}"], load__bytes=4 * T, load__sectors=T // per_sector, load__lines=T // per_line,
               load__efficiency=4 * per_sector / 64, footprint__load_lines=T // per_line, store__efficiency=1.0)
    expect("shifted", 64, [IN, OUT], load__unaligned=T, load__sectors=w * (4 * W // 64 + 1), load__bytes=4 * T)
    expect("reread", 64, [IN, OUT], load__bytes=4 * T, load__lines=T // 32, footprint__load_lines=8, footprint__store_lines=T // 32)
    expect("many_loads", 16, [IN, OUT], in_flight__loads_per_wave=8, in_flight__bytes_per_wave=8 * 16 * W)
    # 32 lanes in one bank: 32 passes, 31 of them extra, for each of the 32 reads of 32 lanes; the writes have none.
    expect("tile32", 1, [IN, OUT], lds__load_bytes=4096, lds__store_bytes=4096, lds__passes=32 + 32 * 32, lds__conflict_passes=32 * 31, lds_static=4096)
    expect("tile33", 1, [IN, OUT], lds__passes=64, lds__conflict_passes=0, lds_static=4224, classes__barrier=g if not t.startswith("gfx12") else 2 * g)
    expect("lds16", 1, [OUT], lds__load_bytes=4096, lds__store_bytes=4096, lds__passes=64, lds__conflict_passes=0)
    expect("lds_same", 1, [OUT, "u32:0"], lds__atomic_bytes=1024, lds__passes=1 + 8 * 32 + 8, lds__conflict_passes=8 * 31)
    expect("lds_same", 1, [OUT, "u32:255"], lds__atomic_bytes=1024, lds__passes=1 + 8 + 8, lds__conflict_passes=0)
    expect("exps", 64, [IN, OUT, "i32:10"], classes__valu_trans=10 * w, footprint__lines=T // 16)
    expect("half_lanes", 64, [OUT], vmem_utilisation=0.5, store__bytes=2 * T, store__sectors=T // 16, store__efficiency=0.5)
    expect("lanes_exchange", 1, [OUT], classes__lds_permute=g, classes__cross_lane=g, lds__passes=0)
    expect("doubles", 64, [IN, OUT], classes__valu_f64=w, load__width={"8": w})
    expect("adds", 1, [OUT], classes__vmem_atomic=g, atomic__instructions=g, atomic__bytes=1024, atomic__sectors=2 * g, footprint__load_lines=1,
           footprint__store_lines=1, atomic__width={"4": g})
    expect("partial_wait", 1, [IN, OUT], in_flight__loads_per_wave=2, in_flight__bytes_per_wave=2 * 4 * W)
    expect("store_wait", 1, [IN, OUT], in_flight__loads_per_wave=1 if W == 64 else 2, in_flight__stores_waited_for=4 if W == 64 else 0)
    expect("scratch", 1, [OUT], scratch_bytes={"load": 1024, "store": 16 * 1024}, load__instructions=0, load__bytes=0, store__bytes=1024)
    expect("flat", 1, [IN, OUT, "i32:0"], lds__load_bytes=0, load__bytes=1024, load__instructions=g, footprint__load_lines=8)
    expect("flat", 1, [IN, OUT, "i32:1"], lds__load_bytes=1024, lds__passes=16, load__bytes=0, load__instructions=0, footprint__load_lines=0)
    expect("buffer", 1, [IN, OUT], load__bytes=512, load__instructions=g, load__sectors=8, vmem_utilisation=1.0)
    one = launch(co, "tile32", 64, [IN, OUT], AMDEMU_THREADS="1")[0]
    check(f"{t} threads make no difference", launch(co, "tile32", 64, [IN, OUT], AMDEMU_THREADS="4", AMDEMU_SEED="3")[0], one)

# Off by default; one line a launch, appended.
path, command = os.path.join(work, "append"), [amdemu, co, "copy16", "--block", 256, IN, OUT]
if os.path.exists(path):
    os.remove(path)
run(*command)
run(*command, AMDEMU_STATS="")
check("off", os.path.exists(path), False)
for n in 1, 2:
    run(*command, AMDEMU_STATS=path)
    with open(path) as lines:
        check(f"{n} launches", len(lines.readlines()), n)
status, _, words = run(*command, AMDEMU_STATS=work)
check("a file that cannot be written", (status, "cannot write AMDEMU_STATS" in words), (0, True))
end()
