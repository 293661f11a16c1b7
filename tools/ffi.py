#!/usr/bin/env python3
"""Makes the declarations of hipops.h in Rust and Python: capi/rust/hipops-sys/src/ffi.rs and
capi/python/hipops/_abi.py.

    tools/ffi.py           writes the files
    tools/ffi.py --check   ends with 1 if a file differs from the header
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADER = ROOT / "include" / "hipops" / "hipops.h"
ENUMS = ("hipops_status", "hipops_backend", "hipops_dtype", "hipops_nearest", "hipops_activation_kind", "hipops_reduction")
PREFIXES = {"hipops_backend": "HIPOPS_BACKEND_", "hipops_nearest": "HIPOPS_NEAREST_", "hipops_activation_kind": "HIPOPS_ACTIVATION_",
            "hipops_reduction": "HIPOPS_REDUCE_"}
RUST = {"void*": "*mut c_void", "const void*": "*const c_void", "const char*": "*const c_char", "double": "f64", "int32_t": "i32",
        "uint32_t": "u32", "int64_t": "i64", "int64_t*": "*mut i64", "const hipops_tensor*": "*const hipops_tensor",
        "hipops_index_report*": "*mut hipops_index_report", **{name: name for name in ENUMS}}
PYTHON = {"void*": "Memory", "const void*": "Memory", "const char*": "c_char_p", "double": "c_double", "int32_t": "c_int32",
          "uint32_t": "c_uint32", "int64_t": "c_int64", "int64_t*": "POINTER(c_int64)", "const hipops_tensor*": "TensorPointer",
          "hipops_index_report*": "Memory", **{name: "c_int32" for name in ENUMS}}


class Header:
    def __init__(self):
        plain = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)
        self.constants = []  # (enum, name, value), without the largest value, which only makes the enum 32 bits wide
        for enum in ENUMS:
            body = re.search(rf"typedef enum {enum} {{(.*?)}}", plain, re.S).group(1)
            self.constants += [(enum, name, value) for name, value in re.findall(r"(HIPOPS_\w+) = (\w+)", body)
                               if not name.endswith("_INT32")]
        self.numbers = re.findall(r"^#define (HIPOPS_(?:VERSION_\w+|MAX_RANK|WHOLE_TENSOR)) \(?(-?\d+)", plain, re.M)
        self.flags = re.findall(r"^#define (HIPOPS_\w+) (\d+)u", plain, re.M)
        self.functions = []  # (result, name, [(type, name)])
        for result, name, arguments in re.findall(r"^HIPOPS_API (.*?[ *])(hipops_\w+)\((.*?)\);", plain, re.M | re.S):
            words = [] if arguments == "void" else re.sub(r"\s+", " ", arguments).split(", ")
            pairs = [re.fullmatch(r"(.*?[ *])(\w+)", word).groups() for word in words]
            self.functions.append((result.strip(), name, [(type_.strip(), of) for type_, of in pairs]))


def rust(header):
    lines = ["// The declarations of hipops.h. tools/ffi.py generates them; a test compares them with the header.", ""]
    lines += [f"/// `{name}` of hipops.h.\npub type {name} = i32;" for name in ENUMS]
    lines += [f"/// A value of [`{enum}`].\npub const {name}: {enum} = {value};"
              for enum, name, value in header.constants]
    lines += [f"/// `{name}` of hipops.h.\npub const {name}: i32 = {value};" for name, value in header.numbers]
    lines += [f"/// A flag.\npub const {name}: u32 = {value};" for name, value in header.flags]
    lines += ["", "api! {"]
    for result, name, arguments in header.functions:
        fields = ", ".join(f"{of}: {RUST[type_]}" for type_, of in arguments)
        lines.append(f"    /// `{name}` of hipops.h.\n    fn {name}({fields}) -> {RUST[result]};")
    return "\n".join(lines + ["}", ""])


def python(header):
    numbers = dict(header.numbers)
    lines = ['"""The declarations of hipops.h, for ctypes. '
             'tools/ffi.py generates this file; a test compares it with the header."""', "",
             "from __future__ import annotations", "", "import enum",
             "from ctypes import POINTER, Structure, c_char_p, c_double, c_int32, c_int64, c_uint32, c_void_p",
             "from typing import Any", ""]
    version = ".".join(numbers[f"HIPOPS_VERSION_{part}"] for part in ("MAJOR", "MINOR", "PATCH"))
    lines += [f'VERSION = "{version}"', f"MAX_RANK = {numbers['HIPOPS_MAX_RANK']}",
              f"WHOLE_TENSOR = {numbers['HIPOPS_WHOLE_TENSOR']}"]
    lines += [f"{name[len('HIPOPS_'):]} = {value}" for name, value in header.flags]
    for enum in ENUMS:
        prefix = PREFIXES.get(enum, "HIPOPS_")
        lines += ["", "", f"class {enum[len('hipops_'):].title().replace('_', '')}(enum.IntEnum):", f'    """{enum}."""']
        lines += [f"    {name[len(prefix):]} = {value}" for of, name, value in header.constants if of == enum]
    lines += ["", "", "class Tensor(Structure):", '    """hipops_tensor."""', "",
              '    _fields_ = (("data", c_void_p), ("dtype", c_int32), ("rank", c_int32),',
              '                ("shape", c_int64 * MAX_RANK), ("stride", c_int64 * MAX_RANK))', "", "",
              "TensorPointer = POINTER(Tensor)", "Memory = c_void_p  # of a workspace, a report, a stream", "",
              "# Each function's result, and its arguments.", "FUNCTIONS: dict[str, tuple[Any, dict[str, Any]]] = {"]
    for result, name, arguments in header.functions:
        fields = "".join(f'"{of}": {PYTHON[type_]}, ' for type_, of in arguments)
        lines.append(f'    "{name}": ({PYTHON[result]}, {{{fields[:-2]}}}),')
    return "\n".join(lines + ["}", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    header = Header()
    for path, made in ((ROOT / "capi/rust/hipops-sys/src/ffi.rs", rust(header)),
                       (ROOT / "capi/python/hipops/_abi.py", python(header))):
        if not check:
            path.write_text(made)
        elif path.read_text() != made:
            sys.exit(f"{path.relative_to(ROOT)} is not what {HEADER.relative_to(ROOT)} says: run tools/ffi.py")


main()
