"""python -m hipops TOOL [ARGUMENT...]: hipops-parity, hipops-info, hipops-bench, hipops-tune, hipops-inspect or hipops-fuzz."""

import ctypes
import importlib.util
import os
import signal
import sys

from ._abi import VERSION
from ._library import LIBRARY

TOOLS = ("parity", "info", "bench", "tune", "inspect", "fuzz")


def main() -> int:
    words = sys.argv[1:]
    usage = f"usage: python -m hipops {{{','.join(TOOLS)}}} [ARGUMENT...]    (TOOL --help lists its options)"
    if words[:1] in (["--help"], ["-h"], ["--version"]):
        print(f"hipops {VERSION}" if words[0] == "--version" else usage)
        return 0
    if not words or words[0] not in TOOLS:
        print(f"python -m hipops: no tool '{words[0]}'\n{usage}" if words else usage, file=sys.stderr)
        return 2
    if not hasattr(LIBRARY, "hipops_tools_main"):
        print("python -m hipops: the library that HIPOPS_LIBRARY names has no tools in it; the package's own has", file=sys.stderr)
        return 2
    golden = importlib.util.find_spec("hipops_golden")
    if golden is not None and golden.submodule_search_locations:
        os.environ.setdefault("HIPOPS_GOLDEN", list(golden.submodule_search_locations)[0])
    elif words[0] == "parity" and "HIPOPS_GOLDEN" not in os.environ and not {"--golden", "--help", "-h"} & {w.partition("=")[0] for w in words}:
        print(f"python -m hipops parity: the golden files are a wheel of their own: install hipops_golden-{VERSION}-py3-none-any.whl, "
              "or pass --golden DIR", file=sys.stderr)
        return 2
    arguments = [os.fsencode(argument) for argument in ["hipops-" + words[0], *words[1:]]]
    sys.stdout.flush()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's own handler would wait for the tool's end
    status = LIBRARY.hipops_tools_main(len(arguments), (ctypes.c_char_p * (len(arguments) + 1))(*arguments, None))
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
