#!/usr/bin/env python3
"""refusals.py TESTS: a program for PyTorch that lacks something prints one message and no traceback."""

import subprocess
import sys

tests, = sys.argv[1:]
failed = 0


def expect(status, words, python, program, *arguments):
    global failed
    run = subprocess.run([*python, program, *arguments], capture_output=True, text=True)
    output = run.stdout + run.stderr
    if run.returncode != status or "Traceback" in output or not all(word in output for word in words):
        print(f"{program} {arguments}: ended with {run.returncode}, expected {status} and {words}:\n{output}")
        failed = 1


bare = [sys.executable, "-S"]  # without the packages that are installed
beside = f"{tests}/tools/beside_pytorch.py"
expect(77, ["PyTorch", "pip install torch"], bare, beside, "/nowhere.so")
expect(1, ["beside_pytorch.py LIBRARY"], bare, beside)
expect(1, ["beside_pytorch.py LIBRARY", "capture"], bare, beside, "/nowhere.so", "no_mode")
sys.exit(failed)
