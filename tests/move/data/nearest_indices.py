#!/usr/bin/env python3
"""Writes nearest_indices.txt: the indices of PyTorch's nearest and nearest-exact for every pair of sizes from 1 to 128.

Needs PyTorch. A line for each rule and size of x has a CRC-32 for each size of y, of the source indices, one byte each.
For nearest-exact it uses the channels-last kernels, which follow the definition. In the other kernels, PyTorch's build
for x86 fuses the product with the subtraction after it. Then 13 of the 16384 pairs differ, and 2 to 41 is the first of
them.
"""

import pathlib
import zlib

import torch

LARGEST = 128


def nearest(size, new):
    row = torch.arange(size, dtype=torch.float32)
    return torch.ops.aten.upsample_nearest1d(row[None, None], [new], None)[0, 0]


def nearest_exact(size, new):
    row = torch.arange(size, dtype=torch.float32)
    image = row.expand(1, 8, 1, size).contiguous(memory_format=torch.channels_last)
    return torch.ops.aten._upsample_nearest_exact2d(image, [1, new], None, None)[0, 0, 0]


def main():
    lines = [f"# PyTorch {torch.__version__.split('+')[0]}, by nearest_indices.py"]
    for name, rule in (("pytorch", nearest), ("exact", nearest_exact)):
        for size in range(1, LARGEST + 1):
            sums = [zlib.crc32(bytes(rule(size, new).to(torch.uint8).tolist())) for new in range(1, LARGEST + 1)]
            lines.append(f"{name} {size} " + " ".join(f"{s:08x}" for s in sums))
    pathlib.Path(__file__).with_suffix(".txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
