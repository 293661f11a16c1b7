#!/usr/bin/env python3
"""Writes golden cases of candle-nn's norms and rotary embeddings as lines that need no JSON reader: f32, contiguous, without flags.

    case <op> <name> <eps>
    <x, weight, bias, cos or sin> <extents, as 2x3> <elements>
    at <positions in y>
    is <y there>
    within <largest error of each>
"""

import json
import pathlib
import sys

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "parity" / "golden"
sys.dont_write_bytecode = True
sys.path.insert(0, str(GOLDEN))

try:
    import dtypes
    import golden
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(77)


def words(values):
    return " ".join(repr(float(value)) for value in values)


def elements(tensor):
    if "values" in tensor:
        return tensor["values"]
    return golden.Tensor(tensor["dtype"], tuple(tensor["shape"]), **tensor["generator"]).array().reshape(-1)


for op in ("rms_norm", "layer_norm", "softmax", "rope", "rope_i", "rope_thd"):
    for case in json.loads((GOLDEN / op / "smoke.json").read_text())["cases"]:
        if case["params"].get("flags"):  # the example has no flags
            continue
        if any(tensor["dtype"] != "f32" or "stride" in tensor for tensor in case["inputs"].values()):
            continue
        y = case["outputs"]["y"]
        print("case", op, case["name"], case["params"].get("eps", 0))
        for name, tensor in case["inputs"].items():
            print(name, "x".join(map(str, tensor["shape"])), words(elements(tensor)))
        print("at", *y.get("positions", range(len(y["values"]))))
        print("is", words(y["values"]))
        scale = y.get("scale", [0] * len(y["values"]))
        ulps = (dtypes.ulp(max(abs(value), least), "f32") for value, least in zip(y["values"], scale))
        print("within", words(case["tolerance"]["ulps"] * ulp for ulp in ulps))
