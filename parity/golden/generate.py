#!/usr/bin/env python3
"""Writes or checks the golden files. See README.md for the format, and ops/__init__.py for the module of an op.

    generate.py [--op OP] [--topic TOPIC] [--check] [--no-torch]

--check generates again and compares: exit 1 with the first path that differs. With --no-torch it copies PyTorch's
recorded errors from the existing files.
"""

import argparse
import json
import math
import pathlib
import sys

import numpy as np

import extended
from ops import OPS

HERE = pathlib.Path(__file__).resolve().parent
SCHEMA = 1
GENERATOR = "generate.py 1"


class Disagreement(Exception):
    """Two references differ: one of the formulas is wrong."""


def path_of(op, topic):
    return HERE / op / f"{topic}.json"


def read(op, topic):
    path = path_of(op, topic)
    return json.loads(path.read_text()) if path.exists() else None


def three_digits(error):
    return "inf" if math.isinf(error) else float(f"{error:.3g}")


def build_case(op, case, recorded, torch):
    """The case's JSON. Without PyTorch its torch_ulps is `recorded`."""
    arrays = case.arrays()
    expected = op.reference(case.params, arrays)
    if torch is None:
        return case.to_json(expected, recorded)
    worst, disagreement = torch.compare(op, case, arrays, expected)
    if disagreement:
        raise Disagreement(disagreement)
    return case.to_json(expected, None if worst is None else three_digits(worst))


def worst_torch_ulps(cases):
    worst = {}
    for case in cases:
        if case["torch_ulps"] is not None:
            error = math.inf if case["torch_ulps"] == "inf" else case["torch_ulps"]
            worst[case["dtype"]] = max(worst.get(case["dtype"], 0.0), error)
    return {dtype: three_digits(error) for dtype, error in worst.items()}


def build(name, topic, torch):
    op = OPS[name]
    old = read(name, topic) or {"reference": {"torch": None}, "cases": []}
    recorded = {case["name"]: case["torch_ulps"] for case in old["cases"]}
    cases = [build_case(op, case, recorded.get(case.name), torch) for case in op.TOPICS[topic]()]
    return {
        "schema": SCHEMA, "op": name, "topic": topic,
        "reference": {"generator": GENERATOR, "numpy": np.__version__,
                      "torch": torch.VERSION if torch else old["reference"]["torch"],
                      "precision": extended.PRECISION, "worst_torch_ulps": worst_torch_ulps(cases)},
        "cases": cases,
    }


def dump(document):
    """Compact, one case a line, so that git shows which cases changed."""
    def compact(value):
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    head = [f'"{key}":{compact(value)},' for key, value in document.items() if key != "cases"]
    cases = ",\n".join(compact(case) for case in document["cases"])
    return "{\n" + "\n".join(head) + '\n"cases":[\n' + cases + "\n]}\n"


def first_difference(old, new, slack=0, path=""):
    """The path of the first difference between two JSON values, or None. Floats may be `slack` float64 ULPs apart."""
    if isinstance(old, dict) and isinstance(new, dict):
        if list(old) != list(new):
            return f"{path}: keys {list(old)} and {list(new)}"
        pairs = [(f"{path}.{key}", old[key], new[key]) for key in old]
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            return f"{path}: {len(old)} and {len(new)} elements"
        pairs = [(f"{path}[{i}]", a, b) for i, (a, b) in enumerate(zip(old, new))]
    else:
        same = type(old) is type(new) and old == new and (old != 0 or str(old) == str(new))
        if not same and slack and isinstance(old, float) and isinstance(new, float):
            same = abs(old - new) <= slack * np.spacing(max(abs(old), abs(new)))
        return None if same else f"{path}: {old!r} in the file, {new!r} now"
    for where, a, b in pairs:
        found = first_difference(a, b, slack, where)
        if found:
            return found
    return None


def difference_of_cases(old, new, old_precision):
    """The same for two forms of a case. A machine with another long double may round a last bit in another way.
    PyTorch's errors depend on the processor's vector width. They are a record and no reference."""
    slack = 0 if old_precision == extended.PRECISION else 4
    old, new = ({key: value for key, value in case.items() if key != "torch_ulps"} for case in (old, new))
    return first_difference(old, new, slack, f"{new['name']}")


def check(document):
    """The first difference from the committed file, or None. Other names of versions are no difference."""
    old = read(document["op"], document["topic"])
    if old is None:
        return "no such file"
    for key in ("schema", "op", "topic"):
        if old[key] != document[key]:
            return f"{key}: {old[key]!r} in the file, {document[key]!r} now"
    names = [[case["name"] for case in d["cases"]] for d in (old, document)]
    found = first_difference(names[0], names[1], path="cases' names")
    for a, b in zip(old["cases"], document["cases"]):
        found = found or difference_of_cases(a, b, old["reference"]["precision"])
    return found


def main():
    parser = argparse.ArgumentParser(description="Writes or checks the golden files.")
    parser.add_argument("--op", choices=OPS)
    parser.add_argument("--topic")
    parser.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    parser.add_argument("--no-torch", action="store_true", help="keep PyTorch's recorded errors")
    options = parser.parse_args()
    torch = None
    if not options.no_torch:
        import torch_reference as torch  # noqa: it needs seconds and two gigabytes, so only on request

    chosen = [(op, topic) for op in ([options.op] if options.op else OPS) for topic in OPS[op].TOPICS
              if options.topic in (None, topic)]
    if not chosen:
        parser.error(f"no topic {options.topic}")
    topic_of = {}
    for op, topic in chosen:
        try:
            document = build(op, topic, torch)
        except Disagreement as error:
            print(f"the references disagree: {error}", file=sys.stderr)
            return 1
        for case in document["cases"]:
            if (op, case["name"]) in topic_of:  # hipops-parity refuses two equal names, because --case names one case
                print(f"{op}/{topic}: two cases are named {case['name']}; the other one is in {topic_of[op, case['name']]}", file=sys.stderr)
                return 1
            topic_of[op, case["name"]] = topic
        worst = document["reference"]["worst_torch_ulps"]
        print(f"{op}/{topic}: {len(document['cases'])} cases, PyTorch's worst errors {worst}", flush=True)
        path = path_of(op, topic)
        if options.check:
            found = check(document)
            if found:
                print(f"{path}: {found}", file=sys.stderr)
                return 1
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(dump(document))
    return 0


if __name__ == "__main__":
    sys.exit(main())
