"""python -m hipops TOOL [ARGUMENT...]: hipops-parity, hipops-info, hipops-bench, hipops-tune, hipops-inspect or hipops-fuzz."""

import ctypes
import importlib.util
import os
import sys

from ._library import LIBRARY

TOOLS = ("parity", "info", "bench", "tune", "inspect", "fuzz")


def main() -> int:
    if len(sys.argv) < 2 or sys.argv[1] not in TOOLS:
        print(f"usage: python -m hipops {{{','.join(TOOLS)}}} [ARGUMENT...]    (TOOL --help says more)", file=sys.stderr)
        return 0 if sys.argv[1:2] == ["--help"] else 2
    if not hasattr(LIBRARY, "hipops_tools_main"):
        print("python -m hipops: the library that HIPOPS_LIBRARY names has no tools in it", file=sys.stderr)
        return 2
    golden = importlib.util.find_spec("hipops_golden")
    if golden is not None and golden.submodule_search_locations:
        os.environ.setdefault("HIPOPS_GOLDEN", list(golden.submodule_search_locations)[0])
    elif sys.argv[1] == "parity" and "HIPOPS_GOLDEN" not in os.environ and "--golden" not in sys.argv:
        print("python -m hipops parity: the golden files are a package of their own: pip install hipops-golden", file=sys.stderr)
        return 2
    arguments = [os.fsencode(argument) for argument in ["hipops-" + sys.argv[1], *sys.argv[2:]]]
    sys.stdout.flush()
    status = LIBRARY.hipops_tools_main(len(arguments), (ctypes.c_char_p * (len(arguments) + 1))(*arguments, None))
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
