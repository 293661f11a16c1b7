#!/usr/bin/env python3
"""refusals.py EXAMPLES TESTS: what the programs for PyTorch and NumPy say where something is missing: one message, and no
traceback."""

import subprocess
import sys

examples, tests = sys.argv[1:]
failed = 0


def expect(status, words, python, program, *arguments):
    global failed
    run = subprocess.run([*python, program, *arguments], capture_output=True, text=True)
    said = run.stdout + run.stderr
    if run.returncode != status or "Traceback" in said or not all(word in said for word in words):
        print(f"{program} {arguments}: ended with {run.returncode}, expected {status} and {words}:\n{said}")
        failed = 1


bare = [sys.executable, "-S"]  # without the packages that are installed
numpy, torch, beside = f"{examples}/numpy_example.py", f"{examples}/torch_example.py", f"{tests}/tools/beside_pytorch.py"
expect(77, ["NumPy", "apt install python3-numpy", "pip install numpy"], bare, numpy, "/nowhere.so")
expect(77, ["PyTorch", "pip install torch"], bare, torch, "/nowhere.so")
expect(77, ["PyTorch", "pip install torch"], bare, beside, "/nowhere.so")
expect(1, ["numpy_example.py LIBRARY"], bare, numpy)
expect(1, ["torch_example.py LIBRARY"], bare, torch)
expect(1, ["beside_pytorch.py LIBRARY"], bare, beside)
expect(1, ["beside_pytorch.py LIBRARY", "capture"], bare, beside, "/nowhere.so", "no_mode")
if subprocess.run([sys.executable, "-c", "import numpy"], capture_output=True).returncode == 0:
    expect(1, ["no library: /nowhere.so"], [sys.executable], numpy, "/nowhere.so")
sys.exit(failed)
