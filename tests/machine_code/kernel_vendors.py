#!/usr/bin/env python3
"""Code for one vendor's compiler or GPUs is only in kernels/device/core and kernels/device/nvidia. All other code uses the names
of capabilities.

    kernel_vendors.py KERNELS
"""

import pathlib
import re
import sys

VENDOR = re.compile(r"\b(HIPOPS_AMD|HIPOPS_NVIDIA|HIPOPS_CPU|__CUDA_ARCH__|__gfx\w+|on_amd|on_nvidia|asm|__builtin_amdgcn\w+)\b")
SEAMS = ("device/core/", "device/nvidia/")


def main():
    folder, wrong = pathlib.Path(sys.argv[1]), []
    files = [path for path in sorted(folder.rglob("*")) if path.suffix in (".h", ".hip")]
    for path in files:
        name = path.relative_to(folder).as_posix()
        if name.startswith(SEAMS):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = VENDOR.search(line.split("//")[0])
            if found:
                wrong.append(f"{name}:{number}: {found.group()}, expected the name of a capability (device/core/platform.h)")
    if len(files) < 30:
        wrong.append(f"{len(files)} files in {folder}, expected the kernels")
    print("\n".join(wrong) if wrong else f"{len(files)} files: no vendor outside of {' and '.join(SEAMS)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
