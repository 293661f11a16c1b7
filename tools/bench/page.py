#!/usr/bin/env python3
"""Makes docs/benchmarks.md, and for each device a page of all its workloads and a picture. Reads the reports that
compare.py --rows table,others --json wrote to docs/benchmarks.

    page.py docs/benchmarks            writes the pages, and with matplotlib the pictures
    page.py docs/benchmarks --check    ends with 1 if a page would change
"""

import argparse
import glob
import json
import math
import os
import re
import statistics
import sys

import plots

LARGE = 32 << 20  # bytes moved; from here on the time of a launch is small
REACHED = 0.90    # of the roof
LEVEL = 0.98      # of a peer's speed: a workload varies by 2 % from run to run

# Why a workload is below REACHED or slower than a peer: the first that its name matches. docs/notebook has the measurements.
WHY = [
    (r"index_add/.*/(half|zipf)", "a few destinations get most sources, which are added in index order, one after the other"),
    (r"(index_add|scatter_add\w*)/", "sources are added in index order: the indices are sorted, or searched, before that"),
    (r"/4x8388608$", "rows longer than a cluster of blocks holds: split over blocks, in several launches that read x twice"),
    (r"/8388608x3$", "rows of six bytes: bound by instructions"),
    (r"softmax/.*x(50257|151936|262208)$", "the row divides unevenly over the blocks of a cluster"),
    (r"(norm|softmax)/.*\dx\d*[13579]$", "unaligned rows: bound by instructions, for their ends and for weights that lie otherwise than the row"),
    (r"layer_norm/(bf16|f16)/", "bound by instructions: the sum and the squares of each element, two weights, and the range of results"),
    (r"fused_add_rms_norm/bf16/4096x16384", "a compute unit has registers for one block of such a row"),
    (r"gather/.*:0->", "elements are taken from shared memory, which has room for narrow columns only: parts of 32-byte sectors"),
    (r"gather/.*:1->64x1024x520", "columns are taken panel by panel, and the last one overlaps the one before"),
    (r"gather/.*x50257/", "unaligned rows: each index is loaded, and each element stored, by itself"),
    (r"gather/", "short rows, or few elements of each row: blocks wait for their loads"),
    (r"index_select/.*:1->", "elements from anywhere in shared memory: bank conflicts"),
    (r"upsample\w*/.*->(104x104|11x11)", "made smaller: few elements of each 32-byte sector are wanted"),
    (r"upsample\w*/.*->201x199", "a ratio that is no whole number, and unaligned rows"),
    (r"strided_copy_transpose/bf16/\d+x\d+$", "unaligned rows: a line of 128 bytes touches five sectors"),
    (r"strided_copy_(reversed|mixed|small_matrices)", "every dimension moves, or the matrices are small: short runs of memory"),
    (r"rope(_thd)?/", "a wave stores halves of rows: short pieces of memory"),
    (r"", "not looked into"),
]

MADE = "<!-- Made by tools/bench/page.py of the figures in docs/benchmarks: do not edit. -->"

INTRO = """\
{made}
# Benchmarks

Is it fast on your card?

{cards}

Every op here moves memory and computes little, so a copy is the measure:

- The **roof** of a workload is the time of the fastest plain copy that moves as many bytes, on the same card in the same
  run. The **share** is the roof's time over ours: at 100 % the op takes as long as the copy.
- A peer is PyTorch eager or torch.compile. **x** is a peer's time over ours: above 1 hipops is faster.
- A **large** workload moves 32 MiB or more. Smaller ones are mostly the launch itself: their times tell more than their
  share.

{summary}

Not every workload is timed beside both peers: torch.compile compiles each one anew, which takes most of a run. On the H200
the 55 of the standard table and 8 others were, in one run; the others have the copy alone. The H100's figures have no
layer_norm, rms_norm, softmax and fused_add_rms_norm, so its medians are of other workloads than the H200's; those of
scatter_add and index_add are of older kernels than today's.

The figures are those of the source of their day: kernels have changed since. The library called itself 0.1.0 then, as its
JSON says; no 0.1.0 was released.

A workload is named by op, dtype and shape. {names}
scatter is not timed. copy2d is strided_copy's slices.
"""

NAMES = """\
`rms_norm/bf16/16384x4096` has 16384 rows of 4096 columns.
`index_add/f32/262144x256->16384` adds 262144 rows onto 16384 of them, named at random; with `/zipf` by Zipf's law; with
`/half`, half of the sources have one and the same destination. `gather/bf16/8192x8192:0->...` gathers along dimension 0."""

TABLE = """\
{made}
# All workloads on the {card}

{device}, driver {driver}, PyTorch {torch}, {date} ([the figures as JSON]({name}.json)). Times are in µs. What roof, share and x
are, and how a workload is timed: [benchmarks](../benchmarks.md).

{names}

{rows}
"""

AMD = """\
## AMD GPUs

Nobody has timed hipops on an AMD card yet, and nothing predicts a time there. The kernels' machine code runs on an emulator,
which counts launches and the memory accesses that wait for one another ([what is counted](design/amd.md#what-is-counted)).

To time your card, which takes some minutes:

    tools/run bench --backend hip

The column `share` is the share of the roof that this page shows.
"""

REPEAT = """\
## How to repeat it

Without PyTorch, beside the copy alone:

| to time | run |
|---|---|
| the 55 workloads of the standard table | `tools/run bench` |
| all of them in graphs, with a warm L2 cache; the host's part of a call, too | `tools/run bench --warm`; `--host` |
| some of them (`--list` names them) | `tools/run bench --match 'rms_norm/bf16/*'` |
| any shape | `tools/run bench --op index_add --dtype bf16 --shape '100000x96->777'` |
| a copy of any view | `tools/run bench --op strided_copy --dtype f32 --shape 64x1000x33 --permute 2,0,1` |
| layer_norm, rms_norm and softmax over thousands of shapes | `tools/run bench --sweep --json sweep.json` |

Beside PyTorch, on a machine that has it, and a library with code for its GPU:

    tools/bench/compare.py build/release/lib/libhipops.so --rows table,others --json docs/benchmarks/CARD.json
    tools/bench/page.py docs/benchmarks

The second command makes this page and its pictures of all figures that are kept in `docs/benchmarks`. It needs no GPU.
`compare.py --from docs/benchmarks/CARD.json --plots FOLDER` draws every workload.

`--peers eager,compile,liger,quack` times Liger and quack, too. A cell is empty where a library lacks the op, the dtype or the
layout. Liger's cross_entropy waits for the device in each call. Its time includes that, and its cell is empty for workloads under
4 MiB. The last lines count the workloads that are ahead of all peers, and name those under 0.9 of the best.

How a workload is timed:

- All columns of a workload are measured in one process, one after the other. Compare ratios; times differ between machines.
- A time is the median of 15 calls, taken by device events after warm-up.
- Before each call 256 MiB are written, so that the L2 cache is cold. Lines that kernels marked to stay are released.
- Workloads under 4 MiB are too short for events: a graph of 50 launches is timed, and divided by 50. hipops' own launches of
  few blocks begin while the one before them ends ([how](design/architecture.md#nvidia)). The copy's and PyTorch's do
  not, so a small workload may be above 100 %.
- Each workload is timed at three places in memory, and the median of them counts.
- Bytes that must move count once, indices included; weights and tables do not count.
"""


def peers_of(rows):
    return [key for key in plots.COLUMNS if key != "hipops" and any(key in row for row in rows)]


def share(row):
    return row["roof"] / row["hipops"]


def best_peer(row, peers):
    """(x, label) of the fastest; x is its time over ours."""
    return min(((row[peer] / row["hipops"], plots.COLUMNS[peer][0]) for peer in peers if peer in row), default=(float("inf"), ""))


def faster_than(rows, peers):
    beside = [row for row in rows if any(peer in row for peer in peers)]
    return f"{sum(best_peer(row, peers)[0] > 1 for row in beside)} of {len(beside)}"


def is_large(row):
    return row["bytes"] >= LARGE


def median_share(rows):
    return statistics.median(share(row) for row in rows if is_large(row))


def percent(part):
    return f"{100 * part:.0f} %"


def time(microseconds):
    return f"{microseconds:.2f}" if microseconds < 10 else f"{microseconds:.1f}"


def table(head, lines):
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *lines])


def card(report):
    """The card's name, for example "H200", without maker and memory."""
    return re.sub(r"^(NVIDIA|AMD)( Instinct| Radeon)? ", "", report["device"]).replace(" 80GB HBM3", "")


def answer(report):
    rows, peers = report["rows"], peers_of(report["rows"])
    text = f"[{percent(median_share(rows))} of a copy's speed](#{card(report).lower()}): the median of large workloads"
    names = " and ".join(plots.COLUMNS[peer][0] for peer in peers)
    return text + (f". Faster than {names} in {faster_than(rows, peers)} workloads that were timed beside them" if peers else "")


def cards(reports):
    lines = [[report["device"], report["date"], answer(report)] for report in reports]
    lines += [["another NVIDIA card", "no", "[measure it](#how-to-repeat-it): which kernel runs was tuned on the cards above"],
              ["an AMD card", "no", "not known: there is [a model only](#amd-gpus). Measure it"],
              ["the CPU", "-", "no: it is there to check the kernels"]]
    return table(["card", "measured", "fast?"], lines)


def summary(reports):
    def of_each(what, figure):
        return [what, *(figure(report["rows"]) for report in reports)]

    def median_x(peer):
        return lambda rows: f"{statistics.median(row[peer] / row['hipops'] for row in rows if peer in row):.2f}"

    peers = peers_of([row for report in reports for row in report["rows"]])
    lines = [of_each("workloads that were timed", lambda rows: str(len(rows))),
             of_each("large ones: median share of the roof", lambda rows: f"{100 * median_share(rows):.1f} %"),
             of_each(f"large ones at {percent(REACHED)} of the roof or more",
                     lambda rows: f"{sum(share(r) >= REACHED for r in rows if is_large(r))} of {sum(map(is_large, rows))}")]
    for peer in peers:
        label = plots.COLUMNS[peer][0]
        lines.append(of_each(f"faster than {label}", lambda rows, p=peer: faster_than(rows, [p])))
        lines.append(of_each(f"median x of {label}", median_x(peer)))
    if len(peers) > 1:
        lines.append(of_each("faster than both", lambda rows: faster_than(rows, peers)))
    return table(["", *map(card, reports)], lines)


def why(row):
    return next(reason for pattern, reason in WHY if re.search(pattern, row["name"]))


def slower(rows, peers):
    """Workloads for which a peer is faster, by more than they vary."""
    lines = []
    for row in sorted(rows, key=lambda row: best_peer(row, peers)[0]):
        x, label = best_peer(row, peers)
        if x < LEVEL:
            lines.append([f"`{row['name']}`", time(row["hipops"]), percent(share(row)), f"{x:.2f} ({label})", why(row)])
    return table(["workload", "µs", "share", "x of the fastest peer", "why"], lines) if lines else "None."


def span(values, form):
    least, most = form(min(values)), form(max(values))
    return least if least == most else f"{least} to {most}"


def span_beside(rows, peers):
    times = [best_peer(row, peers)[0] for row in rows if any(peer in row for peer in peers)]
    return span(times, "{:.2f}".format) if times else ""


def under_the_roof(rows, peers):
    """The large workloads below REACHED, by reason."""
    by_reason = {}
    for row in rows:
        if is_large(row) and share(row) < REACHED:
            by_reason.setdefault(why(row), []).append(row)
    lines = []
    for reason, members in sorted(by_reason.items(), key=lambda item: min(map(share, item[1]))):
        least = min(members, key=share)
        lines.append([reason, str(len(members)), span([math.floor(100 * share(row)) for row in members], "{} %".format),
                      span_beside(members, peers), f"`{least['name']}`"])
    return table(["why", "how many", "share", "x of the fastest peer", "the one with least share"], lines) if lines else "None."


def all_rows(report, peers):
    head = ["workload", "roof", "hipops", "share"]
    for peer in peers:
        head += [plots.COLUMNS[peer][0], "x"]
    parts = []
    for _, title, rows in plots.grouped(report["rows"]):
        lines = []
        for row in rows:
            line = [f"`{row['name']}`", time(row["roof"]), time(row["hipops"]), percent(share(row))]
            for peer in peers:
                line += [time(row[peer]), f"{row[peer] / row['hipops']:.2f}"] if peer in row else ["", ""]
            lines.append(line)
        parts.append(f"**{title}**\n\n{table(head, lines)}")
    return "\n\n".join(parts)


def device(name, report):
    rows = [row for row in report["rows"] if not row.get("missing")]
    peers = peers_of(rows)
    level = sum(LEVEL <= best_peer(row, peers)[0] < 1 for row in rows)
    return f"""\
## {card(report)}

![Speed of each op, as % of a plain copy](benchmarks/{name}.svg)

{report['device']}, driver {report['driver']}, PyTorch {report['torch']}, {report['date']}
([the figures as JSON](benchmarks/{name}.json)).

[All {len(rows)} workloads](benchmarks/{name}.md), each with its time, its share and x.

### What is not reached on the {card(report)}

Workloads that a peer is faster at, by more than {percent(1 - LEVEL)}. ({level} others are slower by less, which is within the
variation from run to run.)

{slower(rows, peers)}

Large workloads under {percent(REACHED)} of the roof:

{under_the_roof(rows, peers)}
"""


def workloads(name, report):
    rows = [row for row in report["rows"] if not row.get("missing")]
    about = {key: report[key] for key in ("device", "driver", "torch", "date")}
    return TABLE.format(made=MADE, card=card(report), name=name, names=NAMES, rows=all_rows(report, peers_of(rows)), **about)


def gain(report):
    """README.md's paragraph with the medians."""
    def median_x(peer):
        return f"{statistics.median(row[peer] / row['hipops'] for row in report['rows'] if peer in row):.1f}"

    rows = report["rows"]
    beside, large = sum("eager" in row and "compile" in row for row in rows), sum(map(is_large, rows))
    return (f"On an {report['device']} ({report['date']}) they are {median_x('eager')} times as fast as PyTorch eager and "
            f"{median_x('compile')} times as fast as torch.compile: the medians of {beside} workloads. Large ones run at "
            f"{percent(median_share(rows))} of the speed of a plain copy: the median of {large}.")


def page(reports):
    """The text of docs/benchmarks.md. `reports` maps names of files to reports."""
    parts = [INTRO.format(made=MADE, names=NAMES, cards=cards(list(reports.values())), summary=summary(list(reports.values())))]
    parts += [device(name, report) for name, report in reports.items()]
    return "\n".join([*parts, AMD, REPEAT])


def kept(folder):
    """The folder's reports by name of file, in reverse alphabetical order."""
    reports = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.json")), reverse=True):
        with open(path) as file:
            reports[os.path.basename(path)[:-len(".json")]] = json.load(file)
    if not reports:
        raise ValueError(f"{folder}: no .json there, expected what compare.py --json has written")
    return reports


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="docs/benchmarks: of the figures, and for the pictures and tables; the page comes beside it")
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 where a page is another")
    arguments = parser.parse_args()
    try:
        reports = kept(arguments.folder)
        pages = {os.path.normpath(arguments.folder) + ".md": page(reports)}
        pages.update({os.path.join(arguments.folder, name + ".md"): workloads(name, report) for name, report in reports.items()})
        for path, text in pages.items():
            if arguments.check:
                with open(path, encoding="utf-8") as file:
                    if file.read() != text:
                        print(f"{path} is not of the figures in {arguments.folder}: run tools/bench/page.py {arguments.folder}",
                              file=sys.stderr)
                        return 1
            else:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
        if arguments.check:
            return 0
    except (OSError, ValueError) as error:
        parser.exit(2, f"page.py: {error}\n")
    try:
        for name, report in reports.items():
            plots.draw_typical(report, os.path.join(arguments.folder, name + ".svg"))
    except ImportError:
        print("the pictures are as they were: no matplotlib", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
