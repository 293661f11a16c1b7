#!/usr/bin/env python3
"""Measures libhipops beside PyTorch, eager and compiled, in one process and one run, and prints each as a time and as a share of
the roof: the time of the fastest plain copy of as many bytes.

    compare.py build/release/lib/libhipops.so --json figures.json --plots docs/benchmarks
"""

import argparse
import json
import re
import sys

import torch

import workloads
from hipops import Library
from timing import Timer


def measure(make, library, timer, peers, roofs):
    work = make()
    if not library.has(work.op):
        return {"name": work.name, "missing": True}
    if work.moved not in roofs:
        roofs[work.moved] = timer.roof(work.moved)
    row = {"name": work.name, "op": work.op, "bytes": work.moved, "goal_share": work.large_share, "roof": roofs[work.moved],
           "hipops": timer.microseconds(work.ours(library), work.moved)}
    if "eager" in peers:
        row["eager"] = timer.microseconds(lambda: work.peer(*work.inputs), work.moved)
    if "compile" in peers:
        torch._dynamo.reset()
        compiled = torch.compile(work.peer, dynamic=False)
        row["compile"] = timer.microseconds(lambda: compiled(*work.inputs), work.moved)
    return row


def line(row, peers):
    if row.get("missing"):
        return f"{row['name']:52} not in this library"
    text = f"{row['name']:52} {row['roof']:8.1f} {row['hipops']:8.1f} {row['roof'] / row['hipops']:6.1%}"
    for peer in peers:
        text += f" {row[peer]:8.1f} {row[peer] / row['hipops']:5.2f}x"
    best = min((row[peer] for peer in peers), default=float("inf"))
    large = row["bytes"] >= 32 << 20
    bad = [word for word, is_bad in (("SLOWER", row["hipops"] >= best), ("ROOF", large and row["roof"] / row["hipops"] < row["goal_share"]))
           if is_bad]
    return text + ("  " + " ".join(bad) if bad else "")


def plot(rows, peers, folder):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    groups = {}
    for row in rows:
        if not row.get("missing"):
            groups.setdefault(row["op"], []).append(row)
    for op, members in groups.items():
        figure, axes = plt.subplots(figsize=(9, 1.2 + 0.5 * len(members)))
        columns = ["hipops"] + peers
        for k, column in enumerate(columns):
            at = [i + (k - (len(columns) - 1) / 2) * 0.8 / len(columns) for i in range(len(members))]
            axes.barh(at, [r["roof"] / r[column] for r in members], 0.8 / len(columns), label=column)
        axes.set_yticks(range(len(members)), [r["name"] for r in members], fontsize=7)
        axes.invert_yaxis()
        axes.axvline(1.0, color="black", linewidth=0.8)
        axes.set_xlabel("share of the roof (a plain copy of the same bytes)")
        axes.legend(fontsize=7)
        figure.tight_layout()
        figure.savefig(f"{folder}/{op}.png", dpi=110)
        plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--peers", default="eager,compile", help="of eager, compile; empty for none")
    parser.add_argument("--match", default="", help="only rows whose name this regular expression finds")
    parser.add_argument("--others", action="store_true", help="shapes between the rows of the table, too")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--json")
    parser.add_argument("--plots", help="folder for a bar chart an op")
    arguments = parser.parse_args()
    peers = [peer for peer in arguments.peers.split(",") if peer]
    library, timer, roofs, rows = Library(arguments.library), Timer(arguments.repeats), {}, []
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, hipops {library.lib.hipops_version().decode()}; times in us")
    print(f"{'workload':52} {'roof':>8} {'hipops':>8} {'share':>6}" + "".join(f" {peer:>8} {'ours':>6}" for peer in peers))
    for name, make in workloads.table() + (workloads.others() if arguments.others else []):
        if not re.search(arguments.match, name):
            continue
        try:
            row = measure(make, library, timer, peers, roofs)
            rows.append(row)
            print(line(row, peers), flush=True)
        except Exception as error:  # one row's failure is not the others'
            print(f"{name:52} failed: {error}", flush=True)
        torch.cuda.empty_cache()
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"device": torch.cuda.get_device_name(), "torch": torch.__version__, "rows": rows}, file, indent=1)
    if arguments.plots:
        plot(rows, peers, arguments.plots)
    return 0


if __name__ == "__main__":
    sys.exit(main())
