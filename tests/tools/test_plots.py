#!/usr/bin/env python3
"""test_plots.py SOURCE WORK: tools/bench/compare.py draws docs/benchmarks' figures, without a GPU and without PyTorch."""

import json
import os
import re
import shutil
import subprocess
import sys

source, work = sys.argv[1:]
sys.path.insert(0, os.path.join(source, "tools/bench"))
import plots

FIGURES = os.path.join(source, "docs/benchmarks/h200.json")
LARGEST = 9000, 1900  # bytes of a picture, and of each of its rows


def draw(folder):
    folder = os.path.join(work, folder)
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, os.path.join(source, "tools/bench/compare.py"), "--from", FIGURES, "--plots", folder], check=True,
                   stdout=subprocess.DEVNULL)
    pictures = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name)) as file:
            pictures[name] = file.read()
    return pictures


def refuses_others():
    for arguments, words in ((["--from", os.path.join(source, "README.md")], "README.md: expected what compare.py --json has written"),
                             ([], "expected a library, or --from")):
        run = subprocess.run([sys.executable, os.path.join(source, "tools/bench/compare.py"), *arguments], capture_output=True, text=True)
        assert run.returncode == 2 and words in run.stderr, (run.returncode, run.stderr)


def writes_to_stdout():
    run = subprocess.run([sys.executable, os.path.join(source, "tools/bench/compare.py"), "--from", FIGURES, "--json", "-"], check=True,
                         capture_output=True, text=True)
    with open(FIGURES) as file:
        assert json.loads(run.stdout) == json.load(file)
    assert "workload" in run.stderr and not os.path.exists("-")


def main():
    with open(FIGURES) as file:
        rows = json.load(file)["rows"]
    groups = plots.grouped(rows)
    assert sorted(row["name"] for _, _, members in groups for row in members) == sorted(row["name"] for row in rows)
    with open(os.path.join(source, "docs/benchmarks.md")) as file:
        linked = re.findall(r"\(benchmarks/(\w+\.svg)\)", file.read())
    assert sorted(linked) == sorted(name + ".svg" for name, _, _ in groups), linked
    assert all(os.path.exists(os.path.join(source, "docs/benchmarks", name)) for name in linked)
    refuses_others()
    writes_to_stdout()
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        print("nothing is drawn: no matplotlib")
        return 77
    pictures = draw("plots")
    assert sorted(pictures) == sorted(linked), sorted(pictures)
    for name, _, members in groups:
        picture = pictures[name + ".svg"]
        assert len(picture) < LARGEST[0] + LARGEST[1] * len(members), (name, len(picture))
        for row in members:
            assert row["name"].replace(">", "&gt;") in picture, (name, row["name"])
            assert f">{100 * row['roof'] / row['hipops']:.0f}</text>" in picture, (name, row["name"])
    assert draw("again") == pictures, "other bytes when drawn again"
    print(f"{len(pictures)} pictures of {len(rows)} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
