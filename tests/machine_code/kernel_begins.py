#!/usr/bin/env python3
"""Every kernel begins with follow_launch_before(). Otherwise it could read data that the launch before it has not written, and
parity might not detect this. The CUDA runtime always launches index_add's sums early: they begin with a constructor, which reads
only its arguments and prefetches only x, and with wait_for_launch_before(). The second launch of split rows (body `merged`) waits in
run_spans(), after its first loads of x: the launch before it has waited for the launch that stores x.

    kernel_begins.py KERNELS
"""

import pathlib
import re
import sys

KERNEL = re.compile(r"HIPOPS_KERNEL(?:_UP_TO)?\(.*?\{[\s\\]*((?:\w+##_sums[^;]*;[\s\\]*)?[^;]*;)", re.DOTALL)

LATE = "follow_launch_before();"
EARLY = "mode##_sums<T, bytes == 0 ? 1 : bytes / sizeof(T)> sums(a); wait_for_launch_before();"
WITH_EARLY_ONES = {"index_add.hip": [LATE, EARLY],  # the kernels that sort, and those that sum
                   "row_kernel.h": ["if constexpr (RowBody::body != RowBody::merged) " + LATE],
                   "reduce.hip": [LATE, "wait_for_launch_before();"]}  # the kernels of x, and `merge`


def main():
    folder = pathlib.Path(sys.argv[1])
    # A macro in the family's header defines the kernels of row ops and of maps.
    of_families = [source for source in folder.glob("*.hip") if re.search(r"HIPOPS_(ROW|MAP)_KERNEL\(", source.read_text())]
    sources = sorted(source for source in folder.glob("*.hip") if source not in of_families)
    sources += [folder / "device/rows/row_kernel.h", folder / "device/map/map_kernel.h"]
    wrong, kernels = [], 0
    for source in sources:
        begins = [re.sub(r"[\s\\]+", " ", begin) for begin in KERNEL.findall(source.read_text())]
        kernels += len(begins)
        expected = WITH_EARLY_ONES.get(source.name, [LATE] * len(begins))
        if begins != expected:
            wrong.append(f"{source.name}: kernels begin with {begins}, expected {expected}")
        if not begins:
            wrong.append(f"{source.name}: no kernel found")
    if len(sources) < 2:
        wrong.append(f"no .hip files in {sys.argv[1]}")
    print("\n".join(wrong) if wrong else f"{kernels} kernels' lists in {len(sources)} files begin as they should")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
