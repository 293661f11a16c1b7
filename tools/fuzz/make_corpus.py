#!/usr/bin/env python3
"""Writes the seeds of the fuzzers: corpus/golden/, for each op its two shortest golden cases, as files of their own and
one of them cut off; corpus/abi/, for each op some calls of random bytes."""

import json
import pathlib
import random

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent.parent / "parity" / "golden"
CALLS = 4  # of each op: one that is valid, the others tampered with
BYTES = 48
OPS = len(list(GOLDEN.glob("*/smoke.json")))  # fuzz_abi chooses an op by the second byte, modulo their number


def golden_seeds():
    for folder in sorted(path.parent for path in GOLDEN.glob("*/smoke.json")):
        cases = []
        for path in sorted(folder.glob("*.json")):
            file = json.loads(path.read_text())
            cases += [(len(json.dumps(case)), path.stem, case) for case in file["cases"]]
        cases.sort(key=lambda entry: entry[0])
        for number, (_, topic, case) in enumerate((cases[0], cases[len(cases) // 4])):
            file = {"schema": 1, "op": folder.name, "topic": topic, "reference": {}, "cases": [case]}
            yield f"{folder.name}_{number}.json", json.dumps(file).encode()
        yield f"{folder.name}_cut", json.dumps(file).encode()[:200]


def abi_seeds():
    words = random.Random(1)
    for op in range(OPS):
        for call in range(CALLS):
            yield f"op{op:02}_{call}", bytes([4 * call, op]) + words.randbytes(BYTES)
    yield "names", b"\x0frms_norm"


def main():
    for name, seeds in (("golden", golden_seeds()), ("abi", abi_seeds())):
        folder = HERE / "corpus" / name
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        for file, text in seeds:
            (folder / file).write_bytes(text)


if __name__ == "__main__":
    main()
