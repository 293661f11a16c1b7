#!/usr/bin/env python3
"""hipops_py.py EXAMPLES HEADER: the arguments that docs/examples/hipops.py passes are those of the header's functions."""

import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import hipops  # noqa: E402

KINDS = {"hipops_tensor*": "t", "double": "d", "int32_t": "i", "hipops_nearest": "i", "uint32_t": "u", "int64_t": "q",
         "void*": "p", "hipops_index_report*": "p"}
header = re.sub(r"/\*.*?\*/", "", pathlib.Path(sys.argv[2]).read_text(), flags=re.S)
wrong = 0
for op, passed in hipops.ARGUMENTS.items():
    declared = re.search(rf"hipops_{op}\((.*?), void\* stream\);", " ".join(header.split()))
    kinds = "".join(KINDS[argument.replace("const ", "").split()[0]] for argument in declared.group(1).split(", "))
    if kinds != passed:
        print(f"{op}: hipops.py passes {passed}, the header declares {kinds}")
        wrong += 1
sys.exit(1 if wrong or not hipops.ARGUMENTS else 0)
