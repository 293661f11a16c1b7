#!/usr/bin/env python3
"""layer_norm sums in f64 on sm_90 only: on some GPUs of other architectures f64 is 64 times slower than f32 (fast_f64,
kernels/device/core/reduction.h). A parity run does not show which PTX an architecture's code was built from.

    ptx_of_f64.py ARCHITECTURE=PTX...
"""

import pathlib
import re
import sys

ADDITION = re.compile(r"^\s*(add\.\w*\.?f64|mma\.sync\S*\.f64)\s", re.MULTILINE)
KERNEL = re.compile(r"\.entry (layer_norm_f32_aligned_\d+x\d+)\(.*?^\}", re.DOTALL | re.MULTILINE)


def main():
    wrong = []
    for argument in sys.argv[1:]:
        architecture, _, path = argument.partition("=")
        kernels = {match[1]: match[0] for match in KERNEL.finditer(pathlib.Path(path).read_text())}
        if not kernels:
            wrong.append(f"{architecture}: no kernel of aligned f32 in {path}")
        for name, text in kernels.items():
            in_f64 = ADDITION.search(text) is not None
            if in_f64 != (architecture == "sm_90"):
                wrong.append(f"{architecture}: {name} adds up in {'f64' if in_f64 else 'f32'}, by {path}")
    if len(sys.argv) < 2:
        wrong.append("no architecture")
    print("\n".join(wrong) if wrong else f"as expected: {' '.join(sys.argv[1:])}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
