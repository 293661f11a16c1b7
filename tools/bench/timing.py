"""Times a call on the device. docs/benchmarks.md describes the method."""

import ctypes
import statistics

import torch

SMALL = 4 << 20      # smaller rows are timed inside a graph
FLUSH = 256 << 20    # written between calls, to evict the operands from L2
LAUNCHES = 50        # in a graph
NOT_SUPPORTED = 801  # CUDA_ERROR_NOT_SUPPORTED: the device cannot keep lines in L2
AHEAD = 400_000      # cycles that the device waits, so that the host has issued the call before it starts


class Timer:
    def __init__(self, repeats=15):
        self.repeats = repeats
        self.flush = torch.empty(FLUSH, dtype=torch.uint8, device="cuda")
        self.cuda = None if torch.version.hip else ctypes.CDLL("libcuda.so.1")

    def microseconds(self, call, moved):
        """The median time of a call over the repeats."""
        for _ in range(3):
            call()
        torch.cuda.synchronize()
        return self.in_graph(call) if moved < SMALL else self.cold(call)

    def cold(self, call):
        events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(self.repeats)]
        for start, end in events:
            self.release_kept_lines()
            torch.cuda._sleep(AHEAD)
            self.flush.zero_()
            start.record()
            call()
            end.record()
        torch.cuda.synchronize()
        return statistics.median(start.elapsed_time(end) for start, end in events) * 1e3

    def release_kept_lines(self):
        """Evicts lines that kernels of hipops or Triton loaded with evict_last: they would stay in L2 after the flush."""
        torch.cuda.synchronize()
        if self.cuda and (code := self.cuda.cuCtxResetPersistingL2Cache()) not in (0, NOT_SUPPORTED):
            raise RuntimeError(f"cuCtxResetPersistingL2Cache: {code}")

    def in_graph(self, call):
        torch.cuda.set_sync_debug_mode("error")  # a call that waits for the device would fail in the capture, and break the stream
        try:
            call()
        finally:
            torch.cuda.set_sync_debug_mode("default")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(LAUNCHES):
                call()
        graph.replay()
        times = []
        for _ in range(self.repeats):
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            graph.replay()
            end.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(end))
        return statistics.median(times) * 1e3 / LAUNCHES

    def roof(self, moved):
        """The time of the fastest plain copy of `moved` bytes, half read and half written: the runtime's or an elementwise kernel."""
        words = max(moved // 2 // 16 * 4, 4)
        source, target = (torch.empty(words, dtype=torch.float32, device="cuda") for _ in range(2))
        source.fill_(1.5)
        return min(self.microseconds(lambda: target.copy_(source), moved),
                   self.microseconds(lambda: torch.mul(source, 2.0, out=target), moved))
