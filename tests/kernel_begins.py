#!/usr/bin/env python3
"""Every kernel begins with follow_launch_before(), or, where its launches begin early however many their blocks are, with
wait_for_launch_before(): the CUDA runtime launches it early, and without that it would read what the launch before it has
not written yet, which no parity run is sure to show.

    kernel_begins.py KERNELS
"""

import pathlib
import re
import sys

KERNEL = re.compile(r"HIPOPS_KERNEL(?:_UP_TO)?\(.*?\{[\s\\]*([^;]*;)", re.DOTALL)

BEGINNINGS = "follow_launch_before();", "wait_for_launch_before();"


def main():
    sources = sorted(pathlib.Path(sys.argv[1]).glob("*.hip"))
    wrong, kernels = [], 0
    for source in sources:
        begins = KERNEL.findall(source.read_text())
        kernels += len(begins)
        wrong += [f"{source.name}: a kernel begins with {begin!r}" for begin in begins if begin not in BEGINNINGS]
        if not begins:
            wrong.append(f"{source.name}: no kernel found")
    if not sources:
        wrong.append(f"no .hip files in {sys.argv[1]}")
    print("\n".join(wrong) if wrong else f"{kernels} kernels' lists in {len(sources)} files begin as they should")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
