#!/usr/bin/env python3
"""A kernel file includes only files of kernels/ and of the compiler, so -I kernels is enough to build it.

    kernel_includes.py KERNELS FOLDER    FOLDER, in the build folder, holds the compiler's dependency files,
                                         <target>/<op>.co.d or .s.d

Dependency files of AMD code objects name no system headers, so every name in them must be in KERNELS. A name in an
#include of a source must be in KERNELS too, or be one of the few C headers that every compiler has.
"""

import pathlib
import re
import sys

C_HEADERS = {"math.h", "stddef.h", "stdint.h"}
# Included for the CPU or for NVIDIA only, inside #if.
OTHER_MACHINES = {"device/core/cpu.h": {"cstddef", "cstdint"}, "device/core/types.h": {"cuda_bf16.h", "cuda_fp16.h"}}


def dependencies(path):
    text = path.read_text().replace("\\\n", " ").replace("\\ ", "\0")
    return [pathlib.Path(word.replace("\0", " ")) for word in text.split(":", 1)[1].split()]


def main():
    kernels, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    wrong = []
    files = sorted([*folder.glob("*/*.co.d"), *folder.glob("*/*.s.d")])
    for file in files:
        for dependency in dependencies(file):
            if kernels not in (folder.parent / dependency).resolve().parents:
                wrong.append(f"{file.relative_to(folder)}: depends on {dependency}")
    if not files:
        wrong.append(f"no dependency files in {folder}")
    for source in sorted([*kernels.rglob("*.h"), *kernels.rglob("*.hip")]):
        name = source.relative_to(kernels).as_posix()
        for included in re.findall(r'^\s*#\s*include\s*[<"]([^>"]*)[>"]', source.read_text(), re.MULTILINE):
            if (kernels / included).is_file() or included in C_HEADERS | OTHER_MACHINES.get(name, set()):
                continue
            wrong.append(f"kernels/{name} includes {included}, which is not in kernels/")
    print("\n".join(wrong) if wrong else f"{len(files)} dependency files, all in {kernels}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
