#!/usr/bin/env python3
"""beside_pytorch.py LIBRARY: hipops in a process with PyTorch, on PyTorch's current stream.

It is loaded before PyTorch and after it, captured in PyTorch's graphs, and used by another thread during a capture.
Each in another process. For a machine with a GPU. Ends with 77 if PyTorch has none."""

import ctypes
import os
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "bench"))
NO_DEVICE = 77


def close(name, got, reference, tolerance):
    import torch
    worst = (got.double() - reference.double()).abs().max().item()
    if not worst <= tolerance:
        raise SystemExit(f"{name}: off by {worst}, expected at most {tolerance}")


def rows(torch):
    return torch.randn(64, 1000, device="cuda", dtype=torch.float32)


# Each returns (name, call, result, PyTorch's result). The call can be repeated and captured.
def softmax(torch, hipops, x):
    y = torch.empty_like(x)
    return "softmax", hipops.bind("softmax", y, x), y, lambda: torch.softmax(x, -1), 1e-6


def layer_norm(torch, hipops, x):
    y, w, b = torch.empty_like(x), torch.rand(x.shape[-1], device="cuda"), torch.rand(x.shape[-1], device="cuda")
    return ("layer_norm", hipops.bind("layer_norm", y, None, None, x, w, b, 1e-5), y,
            lambda: torch.nn.functional.layer_norm(x, x.shape[-1:], w, b, 1e-5), 1e-5)


def rms_norm(torch, hipops, x):
    y, w = torch.empty_like(x), torch.rand(x.shape[-1], device="cuda")
    return ("rms_norm", hipops.bind("rms_norm", y, None, x, w, 1e-5, 0), y,
            lambda: x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * w, 1e-5)


def gather(torch, hipops, x):
    index = torch.randint(0, x.shape[1], (64, 77), device="cuda")
    y = torch.empty(64, 77, device="cuda")
    return "gather", hipops.bind("gather", y, x, index, 1, None), y, lambda: torch.gather(x, 1, index), 0


def index_select(torch, hipops, x):
    index = torch.randint(0, x.shape[0], (99,), device="cuda")
    y = torch.empty(99, x.shape[1], device="cuda")
    return "index_select", hipops.bind("index_select", y, x, index, 0, None), y, lambda: x.index_select(0, index), 0


# In place, y keeps the sums of an earlier call, also in a graph that is replayed. So the same stream clears y first.
def index_add(torch, hipops, x):
    index = torch.randint(0, 16, (x.shape[0],), device="cuda")
    y = torch.empty(16, x.shape[1], device="cuda")
    workspace, size = hipops.workspace("index_add", y, x, index, 0)
    add = hipops.bind("index_add", y, x, index, 0, workspace, size, None)
    return ("index_add", lambda: (y.zero_(), add()), y,
            lambda: torch.zeros_like(y).index_add_(0, index, x), 1e-4)


def scatter_add(torch, hipops, x):
    index = torch.randint(0, 16, x.shape, device="cuda")
    y = torch.empty(16, x.shape[1], device="cuda")
    workspace, size = hipops.workspace("scatter_add", y, x, index, 0, 0)
    add = hipops.bind("scatter_add", y, x, index, 0, 0, workspace, size, None)
    return ("scatter_add", lambda: (y.zero_(), add()), y,
            lambda: torch.zeros_like(y).scatter_add_(0, index, x), 1e-4)


def strided_copy(torch, hipops, x):
    y = torch.empty(x.shape[1], x.shape[0], device="cuda")
    return "strided_copy", hipops.bind("strided_copy", y, x.t()), y, lambda: x.t(), 0


OPS = (softmax, layer_norm, rms_norm, gather, index_select, index_add, scatter_add, strided_copy)


def library(path):
    from binding import Library
    return Library(path)


def check_on_stream(torch, hipops):
    """On a stream of PyTorch with work before and after it, without any wait."""
    for make in OPS:
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            x = rows(torch)
            name, call, y, reference, tolerance = make(torch, hipops, x)
            torch.cuda._sleep(20_000_000)
            x.mul_(2)
            call()
            got = y.clone()
            y.fill_(float("nan"))
            expected = reference()
        stream.synchronize()
        close(name, got, expected, tolerance)


def check_refusal(torch, hipops):
    """A refusal by hipops is no error of PyTorch."""
    x = rows(torch)
    try:
        hipops.bind("softmax", x[:3], x)()
    except RuntimeError as refusal:
        assert "softmax" in str(refusal), refusal
    else:
        raise SystemExit("softmax: two shapes were accepted")
    torch.cuda.synchronize()
    assert float(torch.ones(4, device="cuda").sum()) == 4


def before(path):
    lib = ctypes.CDLL(os.path.abspath(path))
    lib.hipops_last_error.restype = ctypes.c_char_p
    if lib.hipops_prepare(None):
        raise SystemExit(lib.hipops_last_error().decode())
    import torch
    hipops = library(path)
    check_on_stream(torch, hipops)
    check_refusal(torch, hipops)


def after(path):
    import torch
    torch.ones(4, device="cuda").sum().item()
    hipops = library(path)
    check_on_stream(torch, hipops)
    check_refusal(torch, hipops)


def beside(path):
    """PyTorch is imported, and has not touched the GPU."""
    import torch
    hipops = library(path)
    hipops.check(hipops.lib.hipops_prepare(None))
    check_on_stream(torch, hipops)


def capture(path):
    """Each op's first use is in a graph of PyTorch. The graph is replayed with other data."""
    import torch
    hipops = library(path)
    for make in OPS:
        x = rows(torch)
        name, call, y, reference, tolerance = make(torch, hipops, x)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            call()
        for _ in range(3):
            x.copy_(rows(torch))
            graph.replay()
            torch.cuda.synchronize()
            close(name + " in a graph", y, reference(), tolerance)


def capture_elsewhere(path):
    """Each op's first use is on one thread while another thread captures a graph."""
    import torch
    hipops = library(path)
    failures = []
    for make in OPS:
        x = rows(torch)
        name, call, y, reference, tolerance = make(torch, hipops, x)
        stream = torch.cuda.Stream()
        torch.cuda.synchronize()

        def first_use():
            try:
                hipops.check(hipops.lib.hipops_prepare(name.encode()))
            except RuntimeError as refusal:
                failures.append(f"{name}: {refusal}")

        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            z = x * 2
            thread = threading.Thread(target=first_use)
            thread.start()
            thread.join()
            z.add_(1)
        graph.replay()
        torch.cuda.synchronize()
        close("the graph beside " + name, z, x * 2 + 1, 0)
    if failures:
        raise SystemExit("\n".join(failures))


MODES = (before, after, beside, capture, capture_elsewhere)


def main():
    modes = {mode.__name__: mode for mode in MODES}
    if len(sys.argv) not in (2, 3) or not set(sys.argv[2:]) <= modes.keys():
        sys.exit(f"usage: beside_pytorch.py LIBRARY [{'|'.join(modes)}]")
    path = sys.argv[1]
    if len(sys.argv) == 3:
        return modes[sys.argv[2]](path)
    try:
        import torch
    except ImportError:
        print(f"skipped: {sys.executable} has no PyTorch (-m pip install torch)")
        return NO_DEVICE
    if not torch.cuda.is_available():
        print("PyTorch has no GPU here")
        return NO_DEVICE
    failed = 0
    for mode in MODES:
        status = subprocess.run([sys.executable, __file__, path, mode.__name__]).returncode
        print(f"{mode.__name__}: {'ok' if status == 0 else f'failed, {status}'}", flush=True)
        failed |= status != 0
    print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
