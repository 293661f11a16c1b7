#!/usr/bin/env python3
"""test_plots.py SOURCE WORK: tools/bench/page.py makes docs/benchmarks.md, its tables and pictures, and the figures of
README.md.

tools/bench/compare.py draws them, too. Both work without a GPU and without PyTorch."""

import json
import os
import re
import shutil
import subprocess
import sys

source, work = sys.argv[1:]
sys.path.insert(0, os.path.join(source, "tools/bench"))
import page
import plots

KEPT = os.path.join(source, "docs/benchmarks")
FIGURES = os.path.join(KEPT, "h200.json")
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


def run_page(*arguments):
    return subprocess.run([sys.executable, os.path.join(source, "tools/bench/page.py"), *arguments], capture_output=True, text=True)


def page_is_of_the_figures():
    """The page in the tree is current, and a changed page is detected."""
    run = run_page(KEPT, "--check")
    assert run.returncode == 0, run.stderr
    folder = os.path.join(work, "page", "benchmarks")
    shutil.rmtree(os.path.dirname(folder), ignore_errors=True)
    shutil.copytree(KEPT, folder)
    shutil.copy(KEPT + ".md", folder + ".md")
    assert run_page(folder, "--check").returncode == 0
    with open(os.path.join(folder, "h100.md"), "a") as file:
        file.write("\n")
    run = run_page(folder, "--check")
    assert run.returncode == 1 and "h100.md is not of the figures" in run.stderr, (run.returncode, run.stderr)
    with open(os.path.join(folder, "h200.json")) as file:
        report = json.load(file)
    report["rows"][0]["hipops"] *= 2
    with open(os.path.join(folder, "h200.json"), "w") as file:
        json.dump(report, file)
    run = run_page(folder, "--check")
    assert run.returncode == 1 and "is not of the figures" in run.stderr, (run.returncode, run.stderr)
    run = run_page(os.path.join(source, "docs/guide"))
    assert run.returncode == 2 and "no .json there" in run.stderr, (run.returncode, run.stderr)


def page_is_for_readers():
    """Another file has a row for each workload."""
    with open(KEPT + ".md") as file:
        text = file.read()
    assert len(text.split()) < 2500, len(text.split())
    for name, report in page.kept(KEPT).items():
        assert f"(benchmarks/{name}.md)" in text, name
        with open(os.path.join(KEPT, name + ".md")) as file:
            table = file.read()
        for row in report["rows"]:
            assert f"| `{row['name']}` |" in table, (name, row["name"])


def readme_says_what_one_gains():
    with open(FIGURES) as file:
        expected = page.gain(json.load(file))
    with open(os.path.join(source, "README.md")) as file:
        first_screen = " ".join(file.read().split()[:200])
    assert expected in first_screen, f"README.md begins without: {expected}"


def shown(picture, rows):
    """The picture has each of them, with its fraction."""
    for row in rows:
        for words in (row["name"].replace(">", "&gt;"), f">{100 * row['roof'] / row['hipops']:.0f}</text>"):
            assert words in picture, (row["name"], words)


def pictures_are_of_the_figures():
    """The pictures in the tree, checked without matplotlib."""
    reports = page.kept(KEPT)
    with open(KEPT + ".md") as file:
        linked = re.findall(r"\(benchmarks/(\w+\.svg)\)", file.read())
    there = [name for name in os.listdir(KEPT) if name.endswith(".svg")]
    assert sorted(linked) == sorted(there) == sorted(name + ".svg" for name in reports), (linked, there)
    for name, report in reports.items():
        measured = {row["name"] for row in report["rows"]}
        expected = [typical for typical in plots.TYPICAL if typical in measured]
        assert [row["name"] for row in plots.typical(report)] == expected, name
        assert all("eager" in row and "compile" in row for row in plots.typical(report)), "a bar alone says nothing"
        assert expected == plots.TYPICAL or name != "h200", "the README's picture has a workload of each op"
        with open(os.path.join(KEPT, name + ".svg")) as file:
            picture = file.read()
        shown(picture, plots.typical(report))
        assert plots.subtitle(report) in picture and f"hipops {report['hipops']}" not in picture, name
        assert len(picture) < LARGEST[0] + LARGEST[1] * len(plots.TYPICAL), (name, len(picture))


def main():
    with open(FIGURES) as file:
        rows = json.load(file)["rows"]
    groups = plots.grouped(rows)
    assert sorted(row["name"] for _, _, members in groups for row in members) == sorted(row["name"] for row in rows)
    page_is_of_the_figures()
    page_is_for_readers()
    readme_says_what_one_gains()
    pictures_are_of_the_figures()
    refuses_others()
    writes_to_stdout()
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        print("nothing is drawn: no matplotlib")
        return 77
    pictures = draw("plots")
    assert sorted(pictures) == sorted(name + ".svg" for name, _, _ in groups), sorted(pictures)
    for name, _, members in groups:
        picture = pictures[name + ".svg"]
        assert len(picture) < LARGEST[0] + LARGEST[1] * len(members), (name, len(picture))
        shown(picture, members)
    assert draw("again") == pictures, "other bytes when drawn again"
    print(f"{len(pictures)} pictures of {len(rows)} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
