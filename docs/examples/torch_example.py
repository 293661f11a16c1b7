#!/usr/bin/env python3
"""torch_example.py LIBRARY: hipops on PyTorch's GPU tensors and its current stream, checked against PyTorch."""

import sys

from hipops import CUDA, HIP, Hipops

if len(sys.argv) != 2:
    sys.exit(__doc__)
try:
    import torch
except ImportError:
    print(f"""skipped: {sys.executable} has no PyTorch. This gets it, built for NVIDIA:
  {sys.executable} -m pip install torch
For AMD GPUs take the build for ROCm instead: PyTorch's page about installing tells how.""", file=sys.stderr)
    sys.exit(77)
if not torch.cuda.is_available():
    print("skipped: PyTorch sees no GPU")
    sys.exit(77)
try:
    hipops = Hipops(sys.argv[1], HIP if torch.version.hip else CUDA)  # the runtime that PyTorch has loaded is found
except OSError as error:
    sys.exit(f"no library: {error}")


def call(op, *arguments):
    hipops.call(op, *arguments, stream=torch.cuda.current_stream().cuda_stream)


def close(what, got, expected, terms=None):
    """Each element within one unit in the last place of PyTorch's result in float64, or four in f32; of its terms,
    where it is a sum that may cancel."""
    info = torch.finfo(got.dtype)
    unit = info.eps * (expected.abs() if terms is None else terms).clamp_min(info.tiny)  # denormals are evenly spaced
    worst = ((got.double() - expected).abs() / unit).max().item()
    print(f"{what} {got.dtype}: at most {worst:.2f} eps from PyTorch's")
    if not worst <= (4 if got.dtype == torch.float32 else 1):
        sys.exit(f"{what} is wrong")


print(torch.cuda.get_device_name(), "PyTorch", torch.__version__)
torch.manual_seed(1)
with torch.cuda.stream(torch.cuda.Stream()):  # any stream: the calls below are ordered with PyTorch's own on it
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        packed = torch.randn(128, 3, 8, 64, device="cuda", dtype=dtype)
        x = packed[:, 0].flatten(1)  # [128, 512], rows 1536 apart: no copy
        weight = torch.randn(512, device="cuda", dtype=dtype)
        y = torch.empty(128, 512, device="cuda", dtype=dtype)

        call("rms_norm", y, x, weight, 1e-5, 0)
        close("rms_norm", y, torch.nn.functional.rms_norm(x.double(), (512,), weight.double(), 1e-5))

        call("softmax", y, x)
        close("softmax", y, torch.softmax(x.double(), -1))

        q = packed[:, 0].transpose(0, 1).unsqueeze(0)  # [1, 8, 128, 64]
        angles = torch.outer(torch.arange(128.0), 10000 ** (-torch.arange(0, 64, 2) / 64)).cuda()
        cos, sin = angles.cos(), angles.sin()  # f32, whatever q is
        rotated = torch.empty_like(q)
        call("rope", rotated, q, cos, sin, None)
        a, b, c, s = *q.double().chunk(2, -1), cos.double(), sin.double()
        terms = torch.cat(((a * c).abs() + (b * s).abs(), (a * s).abs() + (b * c).abs()), -1)
        close("rope", rotated, torch.cat((a * c - b * s, a * s + b * c), -1), terms)

        index = torch.randint(128, (300,), device="cuda")
        rows = torch.empty(300, 512, device="cuda", dtype=dtype)
        call("index_select", rows, x, index, 0, None)
        if not torch.equal(rows, x.index_select(0, index)):
            sys.exit("index_select is wrong")
    torch.cuda.current_stream().synchronize()
