#!/usr/bin/env python3
"""Compares the binary interface of the public header with the interface of the last release.

    tools/abi.py check [HEADER]   prints changes of structs, enums and functions, and ends with 1 if there are any
    tools/abi.py renew            writes the description again (see CONTRIBUTING.md)

The description is of a library of empty functions with the header's declarations, because engines in other languages
copy the header. Another test compares the symbols of the real library with the header. Needs abigail-tools and a C
compiler (CC).
"""

import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
HEADER = os.path.join(ROOT, "include", "hipops", "hipops.h")
DESCRIPTION = os.path.join(ROOT, "tests", "abi", "release.abi")


def declarations(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    found = re.findall(r"^HIPOPS_API\s+([^;{]+?)\s*;", text, flags=re.M)
    assert found and len(found) == len(re.findall(r"^HIPOPS_API ", text, flags=re.M)), "a declaration isn't understood"
    return found


def build(header, folder):
    """A library with debug information about the header's types and functions."""
    with open(header, encoding="utf-8") as file:
        text = file.read()
    source, library = os.path.join(folder, "interface.c"), os.path.join(folder, "libhipops.so")
    with open(os.path.join(folder, "hipops.h"), "w", encoding="utf-8") as file:
        file.write(text)
    with open(source, "w", encoding="utf-8") as file:
        file.write('#include "hipops.h"\n')
        file.writelines(f"{declaration} {{ __builtin_trap(); }}\n" for declaration in declarations(text))
    exports = os.path.join(ROOT, "capi", "exports.map")
    subprocess.run([os.environ.get("CC", "cc"), "-std=c99", "-g", "-fPIC", "-shared", "-nostdlib", "-w",
                    f"-fdebug-prefix-map={folder}=.", source, "-o", library, "-Wl,-soname,libhipops.so.0",
                    f"-Wl,--version-script={exports}"], check=True)
    return library


def check(header=HEADER):
    with tempfile.TemporaryDirectory() as folder:
        # New functions are no change for users of the old functions.
        return subprocess.run(["abidiff", "--no-default-suppression", "--harmless", "--no-added-syms",
                               "--leaf-changes-only", DESCRIPTION, build(header, folder)]).returncode != 0


def renew():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["abidw", "--no-corpus-path", "--no-show-locs", "--no-comp-dir-path", "--no-elf-needed",
                        "--type-id-style", "hash", "--out-file", DESCRIPTION, build(HEADER, folder)], check=True)
    return 0


def main(arguments):
    try:
        if arguments == ["renew"]:
            return renew()
        if arguments[:1] == ["check"] and len(arguments) <= 2:
            return int(check(*arguments[1:]))
        print(__doc__, file=sys.stderr)
    except (OSError, subprocess.CalledProcessError) as problem:
        print(f"abi.py: {problem}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
