#!/usr/bin/env python3
"""versions.py SOURCE: every file with the version of hipops has the version of hipops.h."""

import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
header = (source / "include/hipops/hipops.h").read_text()
version = ".".join(re.search(rf"#define HIPOPS_VERSION_{part} (\d+)", header).group(1) for part in ("MAJOR", "MINOR", "PATCH"))
PLACES = {
    "CMakeLists.txt": r"project\(hipops VERSION ([\d.]+)",
    "include/hipops/hipops.h": r'The version as "([\d.]+)"',
    "CHANGELOG.md": r"^## ([\d.]+)",
    "README.md": r"This is ([\d.]+\d)",
    "capi/rust/Cargo.toml": r'^version = "([\d.]+)"',
    "capi/rust/hipops/Cargo.toml": r'hipops-sys = \{ version = "([\d.]+)"',
    "capi/rust/hipops-candle/Cargo.toml": r'^(?:hipops = \{ )?version = "([\d.]+)"',
    "capi/python/hipops/_abi.py": r'^VERSION = "([\d.]+)"',
    "capi/python/golden/pyproject.toml": r'^version = "([\d.]+)"',
    "docs/guide/python.md": r"hipops(?:_golden)?-([\d.]+)-py3",
    "tests/install/consumer/CMakeLists.txt": r"find_package\(hipops ([\d.]+)",  # without the patch version
    "docs/guide/pytorch.md": r"hipops-([\d.]+)-py3",
}
wrong = 0
for place, pattern in PLACES.items():
    found = re.findall(pattern, (source / place).read_text(), re.M)[:2 if "(?:" in pattern else 1]  # a log also has older versions
    if not found or any(not f"{version}.".startswith(f"{f}.") for f in found):
        print(f"{place}: {', '.join(found) or 'no version'}, expected {version}, as hipops.h has it")
        wrong = 1
sys.exit(wrong)
