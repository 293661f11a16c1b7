"""Rows of the benchmark that the table lacks: shapes of row ops, fixed or drawn from a seed, of kinds that users have."""

import random

from workloads import BF16, F16, F32, cross_entropy, fused_add, layer_norm_backward, name_of_rows, norm, rms_norm_backward, softmax_backward

NORMS = ("rms_norm", "layer_norm", "softmax")
ADDS = ("fused_add_rms_norm", "fused_add_layer_norm")
SOFTMAX_BACKWARD = ("softmax_backward", "log_softmax_backward")
OPS = {op: lambda *a, op=op: norm(op, *a) for op in (*NORMS, "log_softmax")} | {op: lambda *a, op=op: fused_add(op, *a) for op in ADDS}
OPS |= {op: lambda *a, op=op: softmax_backward(op, *a) for op in SOFTMAX_BACKWARD}
OPS |= {"rms_norm_backward": rms_norm_backward, "layer_norm_backward": layer_norm_backward, "cross_entropy": cross_entropy}
# dtype, rows, columns, and the offset, the gap and the weights' dtype of workloads.norm, all for NORMS
FIXED = [(BF16, 12288, 5120, 3), (BF16, 4096, 16384, 4), (F32, 8192, 4100, 1), (BF16, 16384, 4096, 1), (BF16, 8192, 7168, 1),
         (BF16, 12288, 5120), (F32, 8192, 4096), (BF16, 8192, 50257), (BF16, 300, 30011), (BF16, 65536, 768), (F16, 77777, 320),
         (BF16, 16384, 2880), (BF16, 16384, 4096), (BF16, 32768, 1024), (BF16, 262144, 128), (BF16, 4096, 16384), (BF16, 100003, 48),
         (BF16, 512, 262144), (BF16, 1024, 131072), (F32, 2048, 65536), (F32, 3, 2000003), (BF16, 16384, 4096, 0, 0, F32),
         (BF16, 1024, 131072, 0, 0, F32)]
KINDS = ("offset", "gap", "odd", "short", "between", "long", "few", "weights")


def draw(seed, number):
    """The op and the arguments of a row. They depend only on the two arguments."""
    r = random.Random(f"{seed}/{number}")
    kind, dtype, op = KINDS[number % len(KINDS)], r.choice((BF16, BF16, F16, F32)), r.choice(tuple(OPS))
    length = 16 // dtype.itemsize

    def multiple(low, high):
        return length * max(1, round(2 ** r.uniform(low, high) / length))

    cols = {"short": multiple(4, 10), "long": multiple(15, 18), "odd": 2 * round(2 ** r.uniform(6, 16)) + 1,
            "few": round(2 ** r.uniform(17, 22))}.get(kind, multiple(9, 14))
    rows = r.randint(1, 12) if kind == "few" else max(16, round(2 ** r.uniform(23, 27) / dtype.itemsize / cols))
    offset = r.randint(1, length - 1) if kind == "offset" else 0
    gap = r.randint(1, 64) if kind == "gap" else 0
    return op, (dtype, rows, cols, offset, gap, F32 if kind == "weights" else None)


def row(op, arguments):
    return name_of_rows(op, *arguments), lambda: OPS[op](*arguments)


def fixed():
    return [row(op, arguments) for arguments in FIXED for op in NORMS]


def drawn(seed, count):
    return [row(*draw(seed, number)) for number in range(count)]
