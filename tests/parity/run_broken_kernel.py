#!/usr/bin/env python3
"""Builds an op for the CPU runtime with a mutation of broken_kernels.py, and checks that hipops-parity catches it.

    run_broken_kernel.py --settings FILE NAME...    with the mutation NAME
    run_broken_kernel.py --settings FILE --intact OP-WAVE...    without: all runs of the op's mutations must pass
    run_broken_kernel.py --names, --intact-names    lists the names
    run_broken_kernel.py --settings FILE --topics NAME...    lists the topics and dtypes that catch a new mutation

FILE is JSON that the build writes. Exit status: 0 if each run ends as expected, otherwise 1.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
from broken_kernels import MUTATIONS  # noqa: E402

TOPICS = ("smoke", "exact", "adversarial", "layouts", "sizes", "indices")
DTYPES = ("f32", "f16", "bf16", "f64", "u8")
RUN_SECONDS = 120
NO_CASE = 2  # the exit code of hipops-parity without a case to run


class Wrong(Exception):
    """A run that did not end as expected."""


def apply(change, kernels):
    path = kernels / change.file
    text = path.read_text()
    found = text.count(change.before)
    if found != 1:
        raise Wrong(f"the mutation no longer applies: its text is {found} times in kernels/{change.file}")
    path.write_text(text.replace(change.before, change.after))


def apply_all(mutation, kernels):
    for change in mutation.small + (mutation,):
        apply(change, kernels)


def leave_out(dtypes, op, kernels):
    """Gives the kernels of dtypes that no run uses one empty body. Compiling needs most of the time."""
    contract, list_of_op = kernels / "device/rows/contract.h", kernels / f"{op}.h"
    text = contract.read_text()
    for of_rows, kernels_of in re.findall(r"#define (HIPOPS_\w+)(\(X, op.*\\\n(?:.*\\\n)+.*\n)", text):
        same = re.sub(r"(T|f64), \d+, \w+, \d+, \w+, \w+, \w+\)", r"\1, 32, 1, 64, strided, on_chip, 64)", kernels_of)
        text += f"\n#define {of_rows}_LEFT_OUT{same.replace('_KERNELS_OF(X', '_KERNELS_OF_LEFT_OUT(X')}"
    contract.write_text(text)
    lines = list_of_op.read_text()
    for dtype in dtypes:
        kernels_of = rf"(HIPOPS_ROW_KERNELS_OF{'_F64' if dtype == 'f64' else ''})(\(X, {op}{'' if dtype == 'f64' else ', ' + dtype}\b)"
        lines = re.sub(kernels_of, r"\1_LEFT_OUT\2", lines)
    list_of_op.write_text(lines)


class Build:
    """A hipops-parity with the kernels of one op and wave from another folder."""

    def __init__(self, settings, name):
        self.settings = settings
        self.folder = pathlib.Path(settings["work"]) / name
        self.kernels = self.folder / "kernels"
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(settings["kernels"], self.kernels)

    def make(self, op, wave):
        # With relative paths and no folder in messages, a compiler cache reuses the object in any build folder.
        self.call(self.settings["launcher"] + [self.settings["compiler"]] + self.settings["compile"]
                  + [f"-DHIPOPS_CPU_WAVE={wave}", "-I", "kernels", "-c", f"kernels/{op}.hip", "-o", "kernel.o"])
        # The linker ignores the library's own object with this table, because it has the table already.
        self.call([self.settings["linker"], "-o", "hipops-parity", "kernel.o"] + self.settings["link"])

    def call(self, command):
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace")
        if done.returncode != 0:
            raise Wrong(f"{' '.join(command)}\n{done.stdout}it does not build")

    def run(self, op, wave, run):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("HIPOPS_")}
        environment.update(HIPOPS_CPU_RACE="1" if run.race else "0", HIPOPS_CPU_THREADS="2",
                           NO_COLOR="1")
        command = ["./hipops-parity", "--backend", "cpu", "--wave", str(wave), "--op", op, "--topic", run.topic,
                   "--dtype", run.dtype, "--guard", run.guard, "--golden", self.settings["golden"]]
        command += f"--{run.plan}".split() if run.plan else []
        command += ["--case", run.case] if run.case else []
        return subprocess.run(command, cwd=self.folder, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=RUN_SECONDS)

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def expected_status(ends):
    return {"mismatch": 1, "report": -signal.SIGABRT, "fault": -signal.SIGSEGV}[ends]


def expected_texts(run):
    always = {"mismatch": ["  FAIL "], "report": ["hipops: defect in kernel"],
              "fault": ["hipops-parity: died in"]}[run.ends]
    return always + ([run.output] if run.output else [])


def judge(run, done):
    if done.returncode == 0:
        return "it was not caught"
    if done.returncode != expected_status(run.ends):
        return f"it ended with {done.returncode}, expected {expected_status(run.ends)}"
    missing = [text for text in expected_texts(run) if text not in done.stdout]
    return f"the output lacks: {missing[0]}" if missing else ""


def describe(run):
    race = " with the race check" if run.race else ""
    plan = f" with --{run.plan}" if run.plan else ""
    return f"{run.case or run.topic} {run.dtype}{race}{plan}{' with a page after each tensor' if run.guard == 'after' else ''}"


def pass_all(build, name, op, wave, runs):
    leave_out(set(DTYPES) - {run.dtype for run in runs}, op, build.kernels)
    build.make(op, wave)
    for run in runs:
        done = build.run(op, wave, run)
        if done.returncode != 0:
            raise Wrong(f"{done.stdout}\n{describe(run)}: kernels that are not broken do not pass")
        print(f"{name}: {describe(run)}: passes")
    build.remove()


def test_small(settings, mutation):
    build = Build(settings, f"small-{mutation.name}")
    for change in mutation.small:
        apply(change, build.kernels)
    pass_all(build, mutation.name, mutation.op, mutation.wave, mutation.runs)


def test_broken(settings, name):
    mutation = {m.name: m for m in MUTATIONS}[name]
    if mutation.small:
        test_small(settings, mutation)
    build = Build(settings, name)
    apply_all(mutation, build.kernels)
    leave_out(set(DTYPES) - {run.dtype for run in mutation.runs}, mutation.op, build.kernels)
    build.make(mutation.op, mutation.wave)
    for run in mutation.runs:
        done = build.run(mutation.op, mutation.wave, run)
        wrong = judge(run, done)
        if wrong:
            raise Wrong(f"{done.stdout}\n{mutation.why}\n{describe(run)}: expected a {run.ends}, but {wrong}")
        print(f"{name}: {describe(run)}: caught, by a {run.ends}")
    build.remove()


def intact_names():
    return sorted({f"{m.op}-{m.wave}" for m in MUTATIONS})


def test_intact(settings, name):
    op, wave = name.split("-")
    runs = {(r.topic, r.dtype, r.race, r.guard, r.plan, r.case): r
            for m in MUTATIONS if f"{m.op}-{m.wave}" == name for r in m.runs}
    pass_all(Build(settings, f"intact-{name}"), name, op, wave, runs.values())


def show_topics(settings, name):
    mutation = {m.name: m for m in MUTATIONS}[name]
    build = Build(settings, f"topics-{name}")
    apply_all(mutation, build.kernels)
    build.make(mutation.op, mutation.wave)
    model = mutation.runs[0]
    for guard in sorted({r.guard for r in mutation.runs}):
        for race in sorted({r.race for r in mutation.runs}):
            for topic in TOPICS:
                seen = [d for d in DTYPES
                        if build.run(mutation.op, mutation.wave,
                                     type(model)(topic, d, race=race, guard=guard,
                                                 plan=model.plan)).returncode not in (0, NO_CASE)]
                print(f"{name} guard={guard} race={int(race)} {topic}: {' '.join(seen) or '-'}", flush=True)
    build.remove()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--settings")
    parser.add_argument("--names", action="store_true")
    parser.add_argument("--intact-names", action="store_true")
    parser.add_argument("--intact", action="store_true")
    parser.add_argument("--topics", action="store_true")
    parser.add_argument("name", nargs="*")
    options = parser.parse_args()
    if options.names or options.intact_names:
        print("\n".join(intact_names() if options.intact_names else [m.name for m in MUTATIONS]))
        return 0
    settings = json.loads(pathlib.Path(options.settings).read_text())
    test = test_intact if options.intact else show_topics if options.topics else test_broken
    failed = 0
    for name in options.name:
        try:
            test(settings, name)
        except (Wrong, subprocess.TimeoutExpired) as wrong:
            print(f"{name}: {wrong}")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
