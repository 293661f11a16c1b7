#!/usr/bin/env python3
"""Compares AMDEMU_PATH and AMDEMU_MODEL with what is known by hand.

    test_timing.py AMDEMU HIPC FOLDER TARGET...

AMDEMU is the program, HIPC compiles (HIPC TARGET in.hip out.co), FOLDER is for files. Prints each failure, a line a target, and
"N passed, M failed".
"""

import array
import json
import os
import subprocess
import sys

amdemu, hipc, work, *targets = sys.argv[1:]
here = os.path.dirname(os.path.abspath(__file__))
os.makedirs(work, exist_ok=True)
for name in ("AMDEMU_PATH", "AMDEMU_MODEL", "AMDEMU_CARD", "AMDEMU_STATS", "AMDEMU_TRACE"):
    os.environ.pop(name, None)
passed = failed = 0

with open(os.path.join(work, "in.bin"), "wb") as f:
    array.array("I", range(64, 64 + (1 << 20))).tofile(f)
with open(os.path.join(work, "big.bin"), "wb") as f:
    f.truncate(40 << 20)
IN, BIG = "in:" + os.path.join(work, "in.bin"), "in:" + os.path.join(work, "big.bin")
OUT, BIG_OUT = f"out:{1 << 20}:" + os.path.join(work, "out.bin"), f"out:{40 << 20}:/dev/null"
FACTS = {row["name"]: row for row in json.loads(subprocess.run([amdemu, "--facts"], capture_output=True, check=True).stdout)}


def check(what, is_right, got):
    global passed, failed
    passed, failed = passed + bool(is_right), failed + (not is_right)
    if not is_right:
        print(f"FAIL {what}: {got}")


def near(what, got, want, off=0.001):
    check(what, abs(got - want) <= off * abs(want), f"{got}, expected {want}")


def launch(variable, co, kernel, *args, grid=1, block=256, big=False):
    path = os.path.join(work, "line.jsonl")
    if os.path.exists(path):
        os.remove(path)
    buffers = (BIG, BIG_OUT) if big else (IN, OUT)
    r = subprocess.run([amdemu, co, kernel, "--grid", str(grid), "--block", str(block), *buffers, *args], capture_output=True,
                       text=True, env={**os.environ, variable: path})
    if r.returncode:
        sys.exit(f"{kernel}: {r.stderr}")
    with open(path) as lines:
        return json.loads(lines.readlines()[-1])


def test_path(target, co):
    def path(kernel, *args, **options):
        return launch("AMDEMU_PATH", co, kernel, *args, **options)

    card = path("adds", "i32:1")["card"]

    def fact(name):
        return FACTS[name]["cards"][card]["value"]

    def between(kernel, few, many, block=64):
        """What each step more costs."""
        short, long = path(kernel, f"i32:{few}", block=block), path(kernel, f"i32:{many}", block=block)
        each = {}
        for heat in ("cold", "warm"):
            def step(part, kind):
                return (long[heat][part][kind] - short[heat][part][kind]) / (many - few)
            each[heat] = {kind: step("by", kind) for kind in long[heat]["by"]}
            each[heat]["trips"] = {kind: step("trips", kind) for kind in long[heat]["trips"]}
            each[heat]["all"] = (long[heat]["cycles"] - short[heat]["cycles"]) / (many - few)
        return each

    lanes = 64 if target.startswith("gfx9") else 32
    address, memory, lds = lanes / fact("address unit"), fact("vector load, memory"), fact("LDS access")
    store = fact("vector load, L2; store")
    each = between("dependent", 10, 40)
    near("a dependent load's latency", each["cold"]["vector_memory"], address + memory)
    near("the same, warm", each["warm"]["vector_memory"], address + fact("vector load, Infinity Cache"))
    near("a dependent load's trips", each["cold"]["trips"]["vector_memory"], 1)
    check("a dependent load's rest", 0 < each["cold"]["all"] - each["cold"]["vector_memory"] < 100, each)

    line = path("independent", block=64)
    check("independent loads are one trip", line["cold"]["trips"]["vector_memory"] == 2, line)   # and the store
    near("independent loads' latency", line["cold"]["by"]["vector_memory"], 2 * address + memory + store, 0.05)

    line = path("stores_first", block=64)
    check("a store that is waited for is a trip", line["cold"]["trips"]["vector_memory"] == 3, line)
    near("a store's latency", line["cold"]["by"]["vector_memory"], 3 * address + memory + 2 * store, 0.05)

    each = between("scalar", 16, 48)
    near("a dependent scalar load's latency", each["cold"]["scalar_memory"], fact("scalar load, memory"))
    near("a dependent scalar load's trips", each["cold"]["trips"]["scalar_memory"], 1)
    check("nothing else loads", each["cold"]["trips"]["vector_memory"] == 0, each)

    each = between("lds", 10, 40)
    near("an LDS trip's latency", each["cold"]["lds"], lds + lanes / 32)
    near("an LDS trip's trips", each["cold"]["trips"]["lds"], 1)

    each = between("adds", 10, 40)
    check("additions", 8 * fact("vector ALU result") <= each["cold"]["all"] <= 8 * fact("vector ALU result") + 60, each)
    near("additions are ALU's", each["cold"]["alu"], each["cold"]["all"])

    line = path("handed_over", "i32:5", "i32:7")
    trips = line["cold"]["trips"]
    check("the barrier joins both waves' loads", trips["vector_memory"] in (12, 13) and trips["barrier"] == 1, line)
    check("a barrier between waves", line["cold"]["cycles"] > 12 * (address + memory), line)
    line = path("handed_over", "i32:5", "i32:0")
    check("loads before the barrier", line["cold"]["trips"]["vector_memory"] in (5, 6), line)

    healthy, slow = path("waits_for_one", block=64), path("waits_for_all", block=64)
    additions = 100 * fact("vector ALU result")
    near("a wait for all before use", slow["cold"]["cycles"] - healthy["cold"]["cycles"], additions, 0.05)
    costliest = healthy["costly"][0]
    is_load = costliest["kind"] == "vector_memory" and costliest["text"].startswith("global_load")
    check("what costs most", is_load, healthy["costly"])
    near("the parts are the whole", sum(slow["cold"]["by"].values()), slow["cold"]["cycles"])


def test_model(target, co):
    def model(kernel, *args, groups=1, block=256, alone=False, heat="cold"):
        line = launch("AMDEMU_MODEL", co, kernel, *args, grid=1 if alone else groups * machines, block=block, big=not alone)
        return line | line[heat]

    cus = launch("AMDEMU_MODEL", co, "adds", "i32:1")
    card, cus = cus["card"], cus["cus"]
    fact = {name: row["cards"][card]["value"] for name, row in FACTS.items()}
    machines = int(fact["compute units"]) // cus
    lanes = 64 if target.startswith("gfx9") else 32

    once, twice = model("copies", groups=16), model("copies", groups=32)
    check("workgroups of one CU", (once["workgroups"], twice["workgroups"]) == (16, 32), (once, twice))
    near("twice the bytes", twice["cycles"], 2 * once["cycles"], 0.08)
    check("a copy's limit", once["limit"] == "memory", once)
    near("a copy's bytes", twice["far_bytes"], 32 * 2 * 4096, 0.01)
    near("a copy at its share", twice["cycles"], twice["far_bytes"] / fact["memory, a CU's share"] / cus, 0.1)

    warm = twice | twice["warm"]
    near("a copy in the Infinity Cache", warm["cycles"], warm["far_bytes"] / fact["Infinity Cache, a CU's share"] / cus, 0.2)

    alone, path = model("copies", block=lanes, alone=True), launch("AMDEMU_PATH", co, "copies", block=lanes)["cold"]["cycles"]
    check("a wave alone waits", alone["limit"] == "latency", alone)
    transfers = alone["far_bytes"] / fact["memory, a CU's share"] / cus + 100
    check("a wave alone takes its path's time", path <= alone["cycles"] <= path + transfers, (path, alone))

    line = model("nothing", groups=200, block=lanes)
    launch_of_waves = 200 * fact["launch of a wave, a CU's turn"] / cus
    check("waves are launched in turn", launch_of_waves <= line["cycles"] <= 1.2 * launch_of_waves, (launch_of_waves, line))

    # Each planted slow kernel beside its twin.
    healthy, slow = model("copies", groups=24, block=64), model("copies_few", groups=24, block=64)
    check("few waves", slow["resident"] < healthy["resident"], (healthy, slow))
    check("few waves are slow", slow["cycles"] > 1.5 * healthy["cycles"], (healthy, slow))
    check("as they wait", slow["limit"] == "latency", slow)
    slow = model("copies_words", groups=16)
    near("words are as many bytes", slow["far_bytes"], once["far_bytes"], 0.01)
    addresses = [line["busy"]["address"] * line["cycles"] for line in (once, slow)]
    near("words take four times the addresses", addresses[1], 4 * addresses[0], 0.02)
    check("words are no faster", slow["cycles"] >= 0.98 * once["cycles"], (once, slow))
    healthy, slow = model("columns33", "i32:40", groups=4), model("columns32", "i32:40", groups=4)
    check("bank conflicts are slow", slow["cycles"] > 3 * healthy["cycles"] and slow["limit"] == "lds", (healthy, slow))
    near("LDS passes", slow["busy"]["lds"] * slow["cycles"], 4 * 40 * 8 * 32 / cus, 0.1)

    line = model("exps", "i32:40", groups=4 * cus)
    a_simd = 4 * cus * (256 // lanes) * 40 * 16 * (lanes / fact["lanes of a SIMD"]) * 4 / (4 if lanes == 64 else 2 * cus)
    check("exp's limit", line["limit"] == "valu" and a_simd <= line["cycles"] <= 1.2 * a_simd, (a_simd, line))


for t in targets:
    before = passed, failed
    object_file = os.path.join(work, t + ".co")
    subprocess.run([hipc, t, os.path.join(here, "timing_kernels.hip"), object_file], check=True)
    test_path(t, object_file)
    test_model(t, object_file)
    print(f"{t}: {passed - before[0]} passed, {failed - before[1]} failed")

print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0)
