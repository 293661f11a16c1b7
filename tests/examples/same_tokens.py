#!/usr/bin/env python3
"""same_tokens.py PROGRAM SCRIPT: runs sampler.cpp's program and sampler.py on waves of 32 and 64. All must print the same tokens."""

import importlib.util
import os
import subprocess
import sys

program, script = sys.argv[1:]
commands = [[program]] + [[sys.executable, script]] * (importlib.util.find_spec("numpy") is not None)
outputs = {}
for command in commands:
    for wave in "32", "64":
        run = subprocess.run(command, env={**os.environ, "HIPOPS_CPU_WAVE": wave}, stdout=subprocess.PIPE, text=True)
        if run.returncode != 0:
            sys.exit(f"{' '.join(command)}: wave {wave}: exit status {run.returncode}")
        outputs[f"{command[-1]}, wave {wave}"] = run.stdout
first, *others = outputs
tokens = outputs[first].split()
if len(tokens) != 128 or len(set(tokens)) < 64:
    sys.exit(f"{first}: expected 32 lines of 4 tokens, half of them different; got\n{outputs[first]}")
for other in others:
    if outputs[other] != outputs[first]:
        sys.exit(f"{other} printed\n{outputs[other]}but {first} printed\n{outputs[first]}")
if len(commands) == 1:
    print("skipped: Python has no numpy")
    sys.exit(77)
