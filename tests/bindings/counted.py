"""Counts hipops' ops as PyTorch calls them."""

import collections

from torch.utils._python_dispatch import TorchDispatchMode


class Counted(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.counts = collections.Counter()

    def __torch_dispatch__(self, function, kinds, given=(), named=None):
        if function.namespace == "hipops":
            self.counts[function._opname] += 1
        return function(*given, **(named or {}))
