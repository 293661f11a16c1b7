#!/usr/bin/env python3
"""The Rust declarations of hipops.h, capi/rust/hipops-sys/src/ffi.rs: made of the header.

    tools/rust_ffi.py           writes the file
    tools/rust_ffi.py --check   ends with 1 where it is not what the header says
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADER = ROOT / "include" / "hipops" / "hipops.h"
FFI = ROOT / "capi" / "rust" / "hipops-sys" / "src" / "ffi.rs"
ENUMS = ("hipops_status", "hipops_backend", "hipops_dtype", "hipops_nearest")
TYPES = {"void*": "*mut c_void", "const void*": "*const c_void", "const char*": "*const c_char", "double": "f64", "int32_t": "i32",
         "uint32_t": "u32", "int64_t": "i64", "int64_t*": "*mut i64", "const hipops_tensor*": "*const hipops_tensor",
         "hipops_index_report*": "*mut hipops_index_report", **{name: name for name in ENUMS}}


def made():
    plain = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)
    lines = ["// What hipops.h declares. Made by tools/rust_ffi.py; a test holds it to the header.", ""]
    for name in ENUMS:
        lines.append(f"/// `{name}` of hipops.h.\npub type {name} = i32;")
    for name, value in re.findall(r"^\s*(HIPOPS_\w+) = (\w+),?", plain, re.M):
        if not name.endswith("_INT32"):
            owner = next(e for e in ENUMS if re.search(rf"typedef enum {e} {{[^}}]*\b{name} =", plain))
            lines.append(f"/// Of [`{owner}`].\npub const {name}: {owner} = {value};")
    for name, value in re.findall(r"^#define (HIPOPS_(?:VERSION_\w+|MAX_RANK)) (\d+)", plain, re.M):
        lines.append(f"/// `{name}` of hipops.h.\npub const {name}: i32 = {value};")
    for name, value in re.findall(r"^#define (HIPOPS_\w+) (\d+)u", plain, re.M):
        lines.append(f"/// A flag.\npub const {name}: u32 = {value};")
    lines += ["", "api! {"]
    for result, name, arguments in re.findall(r"^HIPOPS_API (.*?[ *])(hipops_\w+)\((.*?)\);", plain, re.M | re.S):
        fields = []
        for argument in [] if arguments == "void" else re.sub(r"\s+", " ", arguments).split(", "):
            type_, of = re.fullmatch(r"(.*?[ *])(\w+)", argument).groups()
            fields.append(f"{of}: {TYPES[type_.strip()]}")
        lines.append(f"    /// `{name}` of hipops.h.\n    fn {name}({', '.join(fields)}) -> {TYPES[result.strip()]};")
    return "\n".join(lines + ["}", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        FFI.write_text(made())
    elif FFI.read_text() != made():
        sys.exit(f"{FFI.relative_to(ROOT)} is not what {HEADER.relative_to(ROOT)} says: run tools/rust_ffi.py")


main()
