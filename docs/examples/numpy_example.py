#!/usr/bin/env python3
"""numpy_example.py LIBRARY: hipops' CPU backend on NumPy arrays, checked against NumPy."""

import sys

from hipops import CPU, Hipops

if len(sys.argv) != 2:
    sys.exit(__doc__)
try:
    import numpy as np
except ImportError:
    print(f"""skipped: {sys.executable} has no NumPy. Either of these gets it:
  sudo apt install python3-numpy, then /usr/bin/python3 {sys.argv[0]} {sys.argv[1]}
  {sys.executable} -m pip install numpy""", file=sys.stderr)
    sys.exit(77)
try:
    hipops = Hipops(sys.argv[1], CPU)
except OSError as error:
    sys.exit(f"no library: {error}")
random = np.random.default_rng(1)


def close(what, got, expected):
    error = float(np.max(np.abs(got - expected)))
    print(f"{what}: at most {error:.1e} from NumPy's")
    if not error < 1e-5:
        sys.exit(f"{what} is wrong")


x = random.standard_normal((6, 100), dtype=np.float32)[:, 10:90]  # a slice: its strides are honoured
weight = random.standard_normal(80, dtype=np.float32)
y = np.empty_like(x)

hipops.call("rms_norm", y, x, weight, 1e-5, 0)
close("rms_norm", y, x / np.sqrt(np.mean(np.square(x, dtype=np.float64), axis=-1, keepdims=True) + 1e-5) * weight)

hipops.call("softmax", y, x)
e = np.exp(x - x.max(axis=-1, keepdims=True), dtype=np.float64)
close("softmax", y, e / e.sum(axis=-1, keepdims=True))

index = np.array([5, 0, 5, 2], dtype=np.int64)
rows = np.empty((4, 80), dtype=np.float32)
hipops.call("index_select", rows, x, index, 0, None)
close("index_select", rows, x[index])

try:
    hipops.call("rms_norm", y, x, weight[:79], 1e-5, 0)
    sys.exit("a weight that is too short was taken")
except RuntimeError as error:
    print(f"a mistake: {error}")
