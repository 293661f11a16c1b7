#!/usr/bin/env python3
"""Times index_add and scatter_add of hipops.torch and of PyTorch, and checks hipops' sums against float64. Fixed rows, and random rows.

    PYTHONPATH=capi/python HIPOPS_LIBRARY=build/release/capi/python/libhipops.so tools/bench/sums.py --json sums.json

Needs a GPU, PyTorch and the package hipops. `--device cpu --scale 0.001` tests the script without a GPU.
"""

import argparse
import dataclasses
import gc
import itertools
import math
import random
import re
import sys
import time
import types

import torch

import compare
import hipops.torch
import timing
from hipops._library import LIBRARY

FIXED = """
index_add f32 5000000x8->500000,2000000x16->10000000,40000000x1->10000000,16384x256->4096,1000x128->500,65536x64->8192 uniform
index_add f32,bf16 262144x256->16384 uniform
index_add bf16 4096x2048->32000 uniform
index_add,scatter_add f32,bf16 400000x128->20000 power4
index_add,scatter_add f32 1000000x32->1000,10000000x1->100 uniform
scatter_add bf16 2000000x16->10000000 uniform
scatter_add f32,bf16 40000000x1->10000000 uniform"""
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
POWERS = {"uniform": 1, "sorted": 1, "power2": 2, "power4": 4}  # of a uniform random number; destinations near 0 get most sources
MOST_BYTES = 1 << 30                                            # of x, and of y, in a random row
ULPS = 4 * torch.finfo(torch.float32).eps                       # of the magnitudes' sum: allowed for float32 sums


@dataclasses.dataclass
class Row:
    op: str
    dtype: str
    sources: int
    columns: int
    destinations: int
    law: str
    index: str = "expanded"  # for scatter_add. full: the same index, stored for each element; each: every element has its own
    dim: str = "first"       # or last, or middle
    outer: int = 1           # the size before a middle dim

    def shape(self, along):
        shapes = {"first": (along, self.columns), "last": (self.columns, along), "middle": (self.outer, along, self.columns // self.outer)}
        return shapes[self.dim]

    def name(self):
        x = "x".join(map(str, self.shape(self.sources))) + ":1" * (self.dim != "first")
        return f"{self.op}/{self.dtype}/{x}->{self.destinations}/{self.law}" + f"/{self.index}" * (self.op == "scatter_add")


def fixed_rows():
    for text in FIXED.strip().splitlines():
        *lists, law = text.split()
        for op, dtype, shape in itertools.product(*(each.split(",") for each in lists)):
            sources, columns, destinations = map(int, re.findall(r"\d+", shape))
            for index in ("expanded", "full") if op == "scatter_add" and columns > 1 else ("expanded",):
                yield Row(op, dtype, sources, columns, destinations, law, index)


def random_row(seed, number):
    """A row that depends only on the two arguments, not on other rows or the device."""
    draw = random.Random(f"{seed}/{number}")
    op, dtype = draw.choice(("index_add", "index_add", "scatter_add")), draw.choice(tuple(DTYPES))
    law, dim = draw.choice((*POWERS, "equal", "permutation")), draw.choice(("first", "last", "middle"))
    columns, sources = round(2 ** draw.uniform(0, 12)), round(10 ** draw.uniform(0, 7))
    destinations = max(1, round(sources * 10 ** draw.uniform(-4, math.log10(8))))
    destinations = max(destinations, sources * (law == "permutation"))
    excess = max(1, max(sources, destinations) * columns * DTYPES[dtype].itemsize / MOST_BYTES)
    sources, destinations = (max(1, int(size / excess)) for size in (sources, destinations))
    index = draw.choice(("expanded", "full") + ("each",) * (law in ("uniform", "power2", "power4")))
    outer = round(2 ** draw.uniform(0, math.log2(columns))) if dim == "middle" else 1
    return Row(op, dtype, sources, columns - columns % outer, destinations, law, index, dim, outer)


def positions(law, count, destinations, device):
    if law == "equal":
        return torch.full((count,), destinations // 2, device=device)
    if law == "permutation":
        return torch.randperm(destinations, device=device)[:count]
    index = torch.rand(count, device=device, dtype=torch.float64).pow_(POWERS[law]).mul_(destinations).long().clamp_(max=destinations - 1)
    return index.sort().values if law == "sorted" else index


class WallClock:
    """Replaces timing.Timer on the CPU."""

    def microseconds(self, call, moved):
        return 1e6 * elapsed(call, self.repeats)

    def roof(self, moved):
        return self.microseconds(torch.ones(moved // 2, dtype=torch.uint8).clone, moved)


def elapsed(call, count=1):
    """Seconds for each of `count` calls, with the host's part."""
    synchronize = torch.cuda.synchronize if torch.cuda.is_available() else int
    synchronize()
    began = time.perf_counter()
    for _ in range(count):
        call()
    synchronize()
    return (time.perf_counter() - began) / count


def measured(timer, call, moved, seconds):
    """Microseconds on the device, and microseconds of a call in a loop, with the host's part. Times a long call once or twice."""
    once = elapsed(call)
    if once < 4 * seconds:
        once = min(once, elapsed(call))
    if once > seconds:
        return 1e6 * once, 1e6 * once
    in_graph = moved < timing.SMALL and timing.LAUNCHES * once < 4 * seconds
    timer.repeats = max(3, min(15, int(seconds / once / (timing.LAUNCHES if in_graph else 1))))
    on_device = timer.microseconds(call, moved if in_graph else max(moved, timing.SMALL))
    return on_device, 1e6 * elapsed(call, max(1, min(50, int(seconds / once))))


def run(row, timer, arguments, is_compiled):
    torch.manual_seed(arguments.seed)
    device, dtype, dim, is_scatter = arguments.device, DTYPES[row.dtype], int(row.dim != "first"), row.op == "scatter_add"
    x, y = (torch.randn(row.shape(size), dtype=dtype, device=device) for size in (row.sources, row.destinations))
    has_own = is_scatter and row.index == "each"
    index = positions(row.law, x.numel() if has_own else row.sources, row.destinations, device)
    wide = index.view_as(x) if has_own else index.view([-1 if d == dim else 1 for d in range(x.dim())]).expand_as(x)
    if is_scatter:
        index = wide = wide.contiguous() if row.index == "full" else wide
    ours, method = getattr(torch.ops.hipops, row.op + "_"), row.op + "_"
    sums, again = y.clone(), y.clone()
    ours(sums, dim, index, x)
    ours(again, dim, index, x)
    is_same = torch.equal(sums.view(torch.uint8), again.view(torch.uint8))
    exact = y.double().scatter_add_(dim, wide, x.double())
    # hipops rounds each sum of float32, and the result of 16 bits once. A subnormal result has a larger relative error.
    allowed = y.double().abs_().scatter_add_(dim, wide, x.double().abs_()).mul_(ULPS).add_(torch.finfo(dtype).smallest_normal * ULPS)
    if dtype != torch.float32:
        allowed.add_(exact.abs() + torch.finfo(dtype).smallest_normal, alpha=torch.finfo(dtype).eps / 2)
    error = (exact.sub_(sums).abs_() / allowed).amax().item()  # NaN if a sum is NaN
    reached = torch.zeros(y.shape, dtype=torch.bool, device=device).scatter_(dim, wide, True).count_nonzero().item()
    stored = x.numel() if is_scatter and row.index != "expanded" else row.sources
    moved = (x.numel() + 2 * reached) * x.element_size() + 8 * stored
    timer.repeats = 15
    figures = {"name": row.name(), "op": row.op, "bytes": moved, "goal_share": 0.8, "roof": timer.roof(moved), "error": error,
               "same_bits": is_same, "ok": error <= 1 and (is_same or is_scatter)}
    calls = {"hipops": lambda: ours(y, dim, index, x), "eager": lambda: getattr(y, method)(dim, index, x)}
    if is_compiled:
        torch._dynamo.reset()
        compiled = torch.compile(lambda y, index, x: getattr(y, method)(dim, index, x), dynamic=False)
        compiled(y, index, x)
        calls["compile"] = lambda: compiled(y, index, x)
    for column, call in calls.items():
        figures[column], figures[f"{column}_call"] = measured(timer, call, moved, arguments.seconds)
    return figures


def line(row):
    best = min(row[peer] for peer in ("eager", "compile") if peer in row)
    words = ("ok" if row["ok"] else "WRONG") + " other bits" * (not row["same_bits"]) + " SLOWER" * (row["hipops"] > best)
    return (f"{row['name']:60} {row['hipops']:10.1f} {row['eager']:10.1f} {row.get('compile', math.nan):10.1f} {row['roof']:9.1f} "
            f"{row['hipops'] / best:9.3f} {row['roof'] / row['hipops']:9.1%} {row['hipops_call']:10.1f} {row['eager_call']:10.1f} "
            f"{row['error']:6.2f} {words}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", choices=("fixed", "random", "all"), default="all")
    parser.add_argument("--seed", type=int, default=1, help="of random rows, and of the values")
    parser.add_argument("--count", type=int, default=40, help="of random rows")
    parser.add_argument("--match", default="", help="only rows whose name this regular expression finds")
    parser.add_argument("--compiled", type=int, default=0, metavar="N", help="measure torch.compile, too, in the first N rows")
    parser.add_argument("--seconds", type=float, default=0.05, help="for each measurement")
    parser.add_argument("--limit", type=float, default=500, help="seconds, after which no row is begun")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--scale", type=float, default=1, help="multiplies sources and destinations")
    parser.add_argument("--json", metavar="FILE", help="for the figures; compare.py --from prints them, too")
    arguments = parser.parse_args()
    began, is_cuda = time.monotonic(), arguments.device == "cuda"
    torch.set_grad_enabled(False)
    timing.AHEAD = 1_000_000  # an op of hipops.torch in Python has a longer host part than PyTorch's op
    timer = timing.Timer() if is_cuda else WallClock()
    head = compare.about(types.SimpleNamespace(lib=LIBRARY)) if is_cuda else {"device": "CPU", "torch": torch.__version__}
    report = {**head, "seed": arguments.seed, "failed": {}, "rows": []}
    rows = list(fixed_rows()) if arguments.rows != "random" else []
    rows += [random_row(arguments.seed, number) for number in range(arguments.count)] if arguments.rows != "fixed" else []
    for row in rows:
        row.sources, row.destinations = (max(1, int(size * arguments.scale)) for size in (row.sources, row.destinations))
    rows = [row for row in rows if re.search(arguments.match, row.name())]
    print(f"{report['device']}, PyTorch {torch.__version__}; us on the device, us of a call in a loop, error / allowed error\n{'row':60} "
          f"{'ours':>10} {'eager':>10} {'compile':>10} {'roof':>9} ours/peer roof/ours  ours call eager call  error", flush=True)
    for number, row in enumerate(rows):
        if time.monotonic() - began > arguments.limit:
            print(f"{len(rows) - number} rows not begun, after {arguments.limit:.0f} s")
            break
        try:
            report["rows"].append(run(row, timer, arguments, number < arguments.compiled))
            print(line(report["rows"][-1]), flush=True)
        except Exception as reason:  # the other rows still run
            report["failed"][row.name()] = f"{type(reason).__name__}: {reason}"[:300]
            print(f"{row.name():60} failed: {report['failed'][row.name()]}", flush=True)
        if arguments.json:
            compare.write(report, arguments.json, sys.stdout)
        gc.collect()
        torch.cuda.empty_cache()
    wrong = [row["name"] for row in report["rows"] if not row["ok"]] + [f"{name} (failed)" for name in report["failed"]]
    print(f"{len(report['rows'])} rows in {time.monotonic() - began:.0f} s; wrong: {', '.join(wrong) or 'none'}")
    return 1 if wrong else 0


sys.exit(main())
