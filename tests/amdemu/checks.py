"""Shared by the tests of the emulator: counted checks, compiled kernels, and runs of programs."""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
_counts = {True: 0, False: 0}


def check(what, is_right, got=""):
    _counts[bool(is_right)] += 1
    if not is_right:
        print(f"FAIL {what}: {str(got).strip() or 'no report'}")


def check_equal(what, got, want):
    check(what, got == want, f"{got}, expected {want}")


def end():
    print(f"{_counts[True]} passed, {_counts[False]} failed")
    sys.exit(_counts[False] != 0)


def compiled(hipc, target, source, folder):
    """The code object of a file of kernels in this folder."""
    path = os.path.join(folder, target + ".co")
    subprocess.run([hipc, target, os.path.join(HERE, source), path], check=True)
    return path


def run(*command, **environment):
    """Its exit status, its output, and its errors."""
    r = subprocess.run([str(word) for word in command], capture_output=True, text=True, env={**os.environ, **environment})
    return r.returncode, r.stdout, r.stderr


def data(folder, content):
    """Arguments of amdemu: a buffer with the content, and a buffer for results."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "in.bin")
    with open(path, "wb") as f:
        f.write(content)
    return "in:" + path, "out:1048576:/dev/null"
