#!/usr/bin/env python3
"""tools/abi.py detects each change of the interface in a copy of the header, and no other change."""

import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
CHANGES = {
    "an enumerator has another value": ("HIPOPS_RUNTIME_ERROR = 6", "HIPOPS_RUNTIME_ERROR = 9"),
    "an enumerator is new": ("HIPOPS_F8_E5M2FNUZ = 16,", "HIPOPS_F8_E5M2FNUZ = 16, HIPOPS_C64 = 17,"),
    "an enumerator is gone": ("  HIPOPS_NEAREST_EXACT = 2,", ""),
    "an enum is no longer 32 bits wide": ("HIPOPS_NEAREST_INT32 = 0x7fffffff",
                                          "HIPOPS_NEAREST_INT64 = 0x7fffffffffffffff"),
    "two fields are exchanged": (r"hipops_dtype dtype;(.*?)int32_t rank;", r"int32_t rank;\1hipops_dtype dtype;"),
    "a field has another type": ("int32_t rank;", "int64_t rank;"),
    "a field has another sign": ("int64_t shape\\[", "uint64_t shape["),
    "arrays are longer": ("HIPOPS_MAX_RANK 8", "HIPOPS_MAX_RANK 9"),
    "a field is new": ("uint64_t first;", "uint64_t first; uint64_t last;"),
    "a parameter has another type": ("hipops_tensor\\* weight,\\s*double eps", "hipops_tensor* weight, float eps"),
    "a parameter is gone": ("hipops_dtype dtype, hipops_dtype second", "hipops_dtype dtype"),
    "a function gives something else": ("HIPOPS_API int32_t hipops_version_number",
                                        "HIPOPS_API int64_t hipops_version_number"),
    "a function is gone": (r"HIPOPS_API const char\* hipops_build_info\(void\);", ""),
}
NONE = {
    "nothing": ("", ""),
    "a function is new": (r"HIPOPS_API const char\* hipops_build_info\(void\);",
                          r"\g<0>\nHIPOPS_API int32_t hipops_new(double x);"),
    "a comment": ("/\\* 1 if `op`", "/* Says whether `op`"),
}


def is_refused(header, name, change):
    changed, count = re.subn(change[0], change[1], header, count=1, flags=re.S)
    assert count == 1 and (changed != header or name == "nothing"), f"{name}: the header has no such place"
    with tempfile.NamedTemporaryFile("w", suffix=".h") as file:
        file.write(changed)
        file.flush()
        return subprocess.run([sys.executable, os.path.join(ROOT, "tools", "abi.py"), "check", file.name],
                              stdout=subprocess.DEVNULL).returncode


def main():
    with open(os.path.join(ROOT, "include", "hipops", "hipops.h"), encoding="utf-8") as file:
        header = file.read()
    failed = 0
    for expected, changes in ((1, CHANGES), (0, NONE)):
        for name, change in changes.items():
            status = is_refused(header, name, change)
            print(f"{name}: {status}")
            failed |= status != expected
    return failed


if __name__ == "__main__":
    sys.exit(main())
