#!/usr/bin/env python3
"""licenses.py SOURCE SPDX [PREFIX]: shipped files come with the license of hipops and the licenses of the libraries
inside.

Checks the wheels and the crates of SOURCE, and an installation at PREFIX. The file SPDX lists the libraries inside."""

import json
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
# Libraries of a compiler have an exception for compiled programs, or terms of another kind.
FREE = {"GPL-3.0-or-later WITH GCC-exception-3.1", "LGPL-2.1-or-later", "NOASSERTION"}
parts = {part["name"] for part in json.loads(pathlib.Path(sys.argv[2]).read_text())["packages"] if part["licenseConcluded"] not in FREE}
parts |= {path.stem for path in source.glob("licenses/*")} | {"CLI11"}  # of a build with all parts, and of the tools
parts.remove("hipops")
wrong = []


def expect(where, files, names):
    texts = {path.stem: path.read_text() for path in files}
    for name in sorted(names):
        origin = source / ("LICENSE" if name == "LICENSE" else f"licenses/{name}.txt")
        if not origin.exists():
            wrong.append(f"{origin} is not there")
        elif texts.get(name) != origin.read_text():
            wrong.append(f"{where} lacks {origin.relative_to(source)}: it has {sorted(texts) or 'none'}")


def license_files(project):
    """The files that build backends find by the patterns. No pattern leaves the project's folder."""
    listed = re.search(r"^license-files = \[(.*?)\]", (project / "pyproject.toml").read_text(), re.M | re.S)
    patterns = re.findall(r'"([^"]+)"', listed.group(1)) if listed else []
    return [path for pattern in patterns if ".." not in pattern for path in sorted(project.glob(pattern))]


expect("the wheel", license_files(source / "capi/python"), {"LICENSE"} | parts)
expect("the wheel of the golden files", license_files(source / "capi/python/golden"), {"LICENSE"})
for crate in sorted((source / "capi/rust").glob("*/Cargo.toml")):
    expect(f"the crate {crate.parent.name}", crate.parent.glob("LICENSE"), {"LICENSE"})
if len(sys.argv) > 3:
    docs = pathlib.Path(sys.argv[3]) / "share/doc/hipops"
    expect(docs, [*docs.glob("LICENSE"), *docs.glob("licenses/*")], {"LICENSE"} | parts)
print("\n".join(wrong) or f"licenses of {', '.join(sorted(parts))}")
sys.exit(1 if wrong else 0)
