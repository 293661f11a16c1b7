#!/usr/bin/env python3
"""Times libhipops and PyTorch, eager and compiled, in one process, and on request Liger and quack. Prints each time, and its ratio to
the roof: the time of the fastest plain copy of the same number of bytes. Or prints an earlier run again, which needs no GPU and no
PyTorch.

    compare.py build/release/lib/libhipops.so --rows table,others --json docs/benchmarks/h200.json
    compare.py build/release/lib/libhipops.so --rows selection --peers eager,compile,liger,quack
    compare.py --from docs/benchmarks/h200.json --plots pictures

page.py makes docs/benchmarks.md from the files in docs/benchmarks.
"""

import argparse
import contextlib
import datetime
import functools
import json
import os
import re
import statistics
import subprocess
import sys

import plots


PLACES = 3  # in memory, for each row: some distances between x and y make rows of 16 bits 1 to 2 % faster, for every peer
TURNS = 2   # at each place; the last counts, because the first after an allocation may be a tenth slower
BEHIND = 0.9  # of the fastest peer's speed: slower rows are listed
PEERS = ("eager", "compile", "liger", "quack")
ROWS = ("table", "others", "beside", "selection", "drawn")


def call_of(column, work, library, compiled, functions):
    """The call that a column times, or None if a library lacks the op or the layout."""
    if column == "hipops":
        return work.ours(library)
    function = {"eager": work.peer, "compile": compiled}.get(column)
    if function:
        return functools.partial(function, *work.inputs)
    of_op = functions[column].get(work.name.split("/")[0])
    return of_op and of_op(*work.inputs)


def measure(make, library, timer, peers, roofs, functions):
    """The row's figures. A peer that fails at any place has none."""
    import torch
    compiled, times, columns = None, {}, ["hipops", *peers]
    for place in range(PLACES):
        torch.cuda.empty_cache()
        beside = torch.empty(1 + place * (37 << 20), dtype=torch.uint8, device="cuda")  # moves the tensors
        work = make()
        if not library.has(work.op):
            return {"name": work.name, "missing": True}
        if work.moved not in roofs:
            roofs[work.moved] = round(min(timer.roof(work.moved) for _ in range(TURNS)), 4)
        row = {"name": work.name, "op": work.op, "bytes": work.moved, "goal_share": work.large_share, "roof": roofs[work.moved]}
        if "compile" in peers and compiled is None:
            torch._dynamo.reset()
            compiled = torch.compile(work.peer, dynamic=False)
        calls, turn = {}, {}
        for column in TURNS * columns:
            try:
                if column not in calls:
                    calls[column] = call_of(column, work, library, compiled, functions)
                if calls[column] is not None:
                    turn[column] = timer.microseconds(calls[column], work.moved)
            except Exception as error:  # our own figure needs no peer
                if column == "hipops":
                    raise
                print(f"{work.name}: {column} failed: {error!r:.200}", file=sys.stderr)
                calls[column] = turn[column] = None
        columns = [column for column in columns if turn.get(column)]
        for column in columns:
            times.setdefault(column, []).append(turn[column])
        del work, calls, beside
    return row | {column: round(statistics.median(times[column]), 4) for column in columns}


def peers_of(rows):
    return [peer for peer in PEERS if any(peer in row for row in rows)]


def heading(report, peers):
    versions = ", ".join(f"{name} {report[name]}" for name in ("torch", "hipops", "liger", "quack") if name in report)
    columns = "".join(f" {peer:>8} {'ours':>6}" for peer in peers)
    return f"{report['device']}, {versions}; times in us\n{'workload':52} {'roof':>8} {'hipops':>8} {'share':>6}{columns}"


def line(row, peers):
    if row.get("missing"):
        return f"{row['name']:52} not in this library"
    text = f"{row['name']:52} {row['roof']:8.1f} {row['hipops']:8.1f} {row['roof'] / row['hipops']:6.1%}"
    for peer in peers:
        text += f" {row[peer]:8.1f} {row[peer] / row['hipops']:5.2f}x" if peer in row else " " * 16
    best = min((row[peer] for peer in peers if peer in row), default=float("inf"))
    large = row["bytes"] >= 32 << 20
    bad = [word for word, is_bad in (("SLOWER", row["hipops"] >= best), ("ROOF", large and row["roof"] / row["hipops"] < row["goal_share"]))
           if is_bad]
    return text + ("  " + " ".join(bad) if bad else "")


def summary(rows, peers):
    """Lines: how many rows are ahead of all of their peers, and those under BEHIND of the best peer's speed."""
    best = [min((row[peer] / row["hipops"], row["name"], peer) for peer in peers if peer in row)
            for row in rows if any(peer in row for peer in peers)]
    behind = sorted(row for row in best if row[0] < BEHIND)
    return [f"{sum(x > 1 for x, _, _ in best)} of {len(best)} rows are ahead of all peers, {len(behind)} under {BEHIND} of the best peer"] \
        + [f"{name:52} {x:.2f}x {peer}" for x, name, peer in behind]


def output_of(*command):
    """The first line that a command prints, or None where it cannot be run or fails."""
    try:
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        return None
    return lines[0].strip() if lines else None


def commit():
    """The commit of this source tree, if the tree is its own git checkout and not a copy inside of another."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return output_of("git", f"--git-dir={root}/.git", f"--work-tree={root}", "describe", "--always", "--dirty")


def about(library):
    """The facts that a figure needs."""
    import torch
    module, runtime = ("amdgpu", f"HIP {torch.version.hip}") if torch.version.hip else ("nvidia", f"CUDA {torch.version.cuda}")
    driver = output_of("cat", f"/sys/module/{module}/version")
    return {"device": torch.cuda.get_device_name(), "driver": ", ".join(filter(None, (driver, runtime))), "torch": torch.__version__,
            "hipops": library.lib.hipops_version().decode(), "build": library.lib.hipops_build_info().decode(), "commit": commit(),
            "date": datetime.date.today().isoformat()}


def measured(arguments):
    """Runs all rows, prints each row after it is timed, and returns the report."""
    import torch

    import drawn
    import libraries
    import workloads
    from binding import Library
    from timing import Timer
    peers, functions = arguments.peers, libraries.load(arguments.peers)
    library, timer, roofs, rows = Library(arguments.library), Timer(arguments.repeats), {}, []
    report = {**about(library), **libraries.versions(peers), "rows": rows}
    print(heading(report, peers))
    kinds = {"table": workloads.table, "others": workloads.others, "beside": drawn.fixed, "selection": workloads.selection,
             "drawn": lambda: drawn.drawn(arguments.seed, arguments.count)}
    for name, make in (row for kind in arguments.rows for row in kinds[kind]()):
        if not re.search(arguments.match, name):
            continue
        try:
            rows.append(measure(make, library, timer, peers, roofs, functions))
            print(line(rows[-1], peers), flush=True)
        except Exception as error:  # the other rows still run
            print(f"{name:52} failed: {error}", flush=True)
        torch.cuda.empty_cache()
    return report


def earlier(arguments):
    """Prints the report of an earlier run, and returns it."""
    with open(arguments.earlier) as file:
        text = file.read()
    report = json.loads(text) if text.startswith("{") else {}
    if not {"device", "torch", "rows"} <= report.keys():
        raise ValueError(f"{arguments.earlier}: expected what compare.py --json has written")
    report["rows"] = [row for row in report["rows"] if re.search(arguments.match, row["name"])]
    peers = peers_of(report["rows"])
    print(heading(report, peers))
    for row in report["rows"]:
        print(line(row, peers))
    return report


def text_of(report):
    """JSON with one row a line, so that a diff of two runs is readable."""
    head = json.dumps({key: value for key, value in report.items() if key != "rows"}, indent=1)[:-2]
    return head + ',\n "rows": [\n  ' + ",\n  ".join(map(json.dumps, report["rows"])) + "\n ]\n}\n"


def write(report, path, stdout):
    if path == "-":
        stdout.write(text_of(report))
        return
    with open(path, "w") as file:
        file.write(text_of(report))


def some_of(*words):
    """Makes the type of an option: words from this list, with commas between them."""
    def listed(text):
        given = [word for word in text.split(",") if word]
        if unknown := [word for word in given if word not in words]:
            raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: expected some of {','.join(words)}")
        return given
    return listed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", nargs="?", help="libhipops.so, to be measured")
    parser.add_argument("--from", dest="earlier", metavar="JSON", help="an earlier run's figures, instead of measuring")
    parser.add_argument("--peers", type=some_of(*PEERS), default="eager,compile", help=f"some of {','.join(PEERS)}; empty for none")
    parser.add_argument("--match", default="", help="only rows whose name this regular expression finds")
    parser.add_argument("--rows", type=some_of(*ROWS), default="table", help="some of: table; others, shapes between its rows; beside, shapes "
                        "of row ops that it lacks; selection, its rows that select, sort or sample; drawn, shapes of row ops from --seed")
    parser.add_argument("--count", type=int, default=100, help="how many rows are drawn")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--commit", help="that the library was built from; without this, the commit of this source tree")
    parser.add_argument("--json", metavar="FILE", help="where the figures go; -: to stdout, and the table to stderr")
    parser.add_argument("--plots", metavar="FOLDER", help="the folder for bar charts, one for each group of rows (matplotlib)")
    arguments = parser.parse_args()
    if bool(arguments.library) == bool(arguments.earlier):
        parser.error("expected a library, or --from and an earlier run's JSON")
    stdout = sys.stdout
    try:
        with contextlib.redirect_stdout(sys.stderr if arguments.json == "-" else stdout):
            report = earlier(arguments) if arguments.earlier else measured(arguments)
            if peers := peers_of(report["rows"]):
                print("\n".join(summary(report["rows"], peers)))
            if arguments.commit:
                report["commit"] = arguments.commit
            if arguments.json:
                write(report, arguments.json, stdout)
            if arguments.plots:
                print("\n".join(plots.draw(report, arguments.plots)))
    except (OSError, ValueError, ImportError) as error:
        parser.exit(2, f"compare.py: {error}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
