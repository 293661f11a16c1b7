#!/usr/bin/env python3
"""Runs kernels of two waves or blocks that touch the same bytes: the emulator has to report the kernels with nothing between the two
(AMDEMU_RACE for LDS, AMDEMU_ORDER for memory), in either order, and no other kernel.

    test_races.py AMDEMU HIPC FOLDER TARGET...

Prints each failure, and "N passed, M failed".
"""

import sys

from checks import check, compiled, data, end, run

amdemu, hipc, work, *targets = sys.argv[1:]
DATA, OUT = data(work, bytes(range(256)) * 16)
LDS_KERNELS = {"lds_add_load": True, "lds_add_store": True, "lds_store_load": True, "lds_store_store": True,  # races without a barrier
               "lds_swap_store": True, "lds_swap_load": True, "lds_swap_add": False, "lds_swap_swap": False, "lds_add_add": False,
               "lds_load_load": False}
OVERWRITES = {"overwrite": 2, "overwrite_bytes": 2, "overwrite_uniform": 2, "overwrite_atomically": 2, "overwrite_own": 3,
              "overwrite_in_block": 1}  # blocks
IN_ORDER = [("in_place", 3, 0), ("swap_loops", 1, 0), ("last_overwrites_in_order", 3, 3), ("flag_then_overwrite", 2, 0),
            ("flag_then_overwrite", 2, 1), ("flag_then_load", 2, 0), ("flag_then_load", 2, 1)]  # blocks, and the last argument


def launch(co, kernel, blocks, *arguments, seed=0):
    status, _, words = run(amdemu, co, kernel, "--grid", blocks, "--block", 128, *arguments,
                           AMDEMU_RACE="1", AMDEMU_ORDER="2", AMDEMU_WAITS="1", AMDEMU_SEED=str(seed))
    return status, words


def is_report(words, of):
    return f"{of} at " in words and words.count("pc ") == 2


for target in targets:
    co = compiled(hipc, target, "race_kernels.hip", work)
    for kernel, races in LDS_KERNELS.items():
        for first in 0, 1:
            for barrier in 0, 1:
                status, words = launch(co, kernel, 1, OUT, f"u32:{first}", f"u32:{barrier}")
                right = status != 0 and is_report(words, "LDS race") if races and not barrier else status == 0 and not words
                check(f"{target} {kernel}, wave {first} first, {barrier} barriers", right, words)
    for seed in 0, 7:
        for kernel, blocks in OVERWRITES.items():
            for writer in range(max(blocks, 2)):
                words = launch(co, kernel, blocks, DATA, OUT, f"u32:{writer}", seed=seed)[1]
                check(f"{target} {kernel} by {writer}, seed {seed}", is_report(words, "global memory"), words)
        for kernel, blocks, number in IN_ORDER:
            status, words = launch(co, kernel, blocks, DATA, OUT, f"u32:{number}", seed=seed)
            check(f"{target} {kernel} {number}, seed {seed}", status == 0 and not words, words)
        words = launch(co, "last_overwrites_without_fences", 3, DATA, OUT, "u32:3", seed=seed)[1]
        check(f"{target} last_overwrites_without_fences, seed {seed}", is_report(words, "global memory"), words)

end()
