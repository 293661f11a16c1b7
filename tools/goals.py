#!/usr/bin/env python3
"""Compares the size of the source and of its build with the limits in tools/goals.json.

    tools/goals.py BUILD           prints each figure; exits with 1 if a figure is above its limit
    tools/goals.py BUILD --renew   lowers the limits to today's figures

BUILD is a build folder, for example build/release. A figure that this build cannot give is left out: the number of kernels without
AMD code, for example.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOALS = ROOT / "tools" / "goals.json"
ROW_OPS = ("layer_norm", "rms_norm", "softmax")
# The ops that "kernels" counts. All others are later ops.
FIRST_OPS = (*ROW_OPS, "rope", "rope_i", "rope_thd", "gather", "index_select", "index_add", "scatter", "scatter_add",
             "upsample_nearest1d", "upsample_nearest2d", "strided_copy")
TUNED = re.compile(r"^\s*(?:static )?constexpr (?:u?int\d*(?:_t)?|double|float) k\w+ ?=(?! ?sizeof)[^;]*\d", re.M)


def sources(*folders):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and not {"runtime", "rust", "python"} & set(path.relative_to(ROOT).parts):
                yield path


def lines(*folders):
    """The number of lines of code files, with comments and blank lines."""
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*") if re.search(r"\.(h|hpp|hip|c|cc|cpp|py|rs|sh|cmake)$|CMakeLists.txt$", path.name)]
    return sum(len(path.read_text(errors="replace").splitlines()) for path in paths)


def kernels_of(build):
    """The names of the kernels of each op, for a target that was built."""
    folders = [list(folder.glob("*.co")) for folder in sorted((build / "code-objects").glob("gfx*"))]
    paths = max(folders, key=len, default=[])
    return {path.stem: set(re.findall(r"(\w+)\.kd$", output_of("readelf", "-sW", str(path)), re.M)) for path in paths}


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def stripped_bytes(library):
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "library")
        subprocess.run(["strip", "-o", copy, str(library)], check=True)
        return os.path.getsize(copy)


def figures(build):
    found = {
        "source_lines": sum(len(path.read_text().splitlines()) for path in sources("kernels", "capi")),
        "checks_ratio": round(lines("parity", "tests", "tools") / lines("kernels", "capi"), 2),
        "tuned_numbers": sum(len(TUNED.findall(path.read_text())) for path in sources("capi") if path.parent.name != "policy"),
    }
    kernels = kernels_of(build)
    if kernels:
        rows = [kernels[op] for op in ROW_OPS if op in kernels]
        in_f64 = [{name for name in names if "_f64_" in name} for names in rows]
        found["kernels"] = sum(len(names) for op, names in kernels.items() if op in FIRST_OPS)
        found["later_kernels"] = max((len(names) for op, names in kernels.items() if op not in FIRST_OPS), default=0)
        found["row_kernels"] = max(len(names - f64) for names, f64 in zip(rows, in_f64))
        found["row_kernels_f64"] = max(map(len, in_f64))
    library = build / "lib" / "libhipops.so"
    if kernels and library.exists():
        found["library_mb"] = round(stripped_bytes(library) / 1e6, 1)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--renew", action="store_true")
    arguments = parser.parse_args()
    goals, now, above = json.loads(GOALS.read_text()), figures(arguments.build), 0
    print(f"{'figure':18} {'now':>9} {'most':>9} {'goal':>9}")
    for goal in goals:
        name = goal["figure"]
        if name not in now:
            continue
        is_above = now[name] > goal["most"]
        above += is_above
        print(f"{name:18} {now[name]:9} {goal['most']:9} {goal['goal']:9} {'ABOVE' if is_above else '':5} {goal['what']}")
        goal["most"] = min(goal["most"], now[name])
    if arguments.renew:
        GOALS.write_text("[\n" + ",\n".join("  " + json.dumps(goal) for goal in goals) + "\n]\n")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
