#!/usr/bin/env python3
"""bench_compare.py BENCH: tools/bench/compare.py refuses words that it does not know, names a library that cannot be imported, keeps our
own figure if a peer fails, and counts rows ahead and behind. A stand-in replaces PyTorch."""

import contextlib
import io
import subprocess
import sys
import types

bench = sys.argv[1]
sys.dont_write_bytecode = True
sys.path.insert(0, bench)
import compare  # noqa: E402
import libraries  # noqa: E402


def refuses(words, *arguments):
    run = subprocess.run([sys.executable, "-B", f"{bench}/compare.py", "none.so", *arguments], capture_output=True, text=True)
    assert run.returncode == 2 and words in run.stderr, (run.returncode, run.stderr)


def names_what_cannot_be_imported():
    sys.modules["quack"] = None
    try:
        libraries.load(["eager", "quack"])
    except ImportError as error:
        assert "--peers quack: quack-kernels cannot be imported" in str(error), error
    else:
        raise AssertionError("imported")
    assert libraries.load(["eager", "compile"]) == {}


class Timer:
    """Times a call by its result, or fails as the call does."""

    def roof(self, moved):
        return 1.0

    def microseconds(self, call, moved):
        return call()


def keeps_our_figure():
    """Peers: one fails in each call, one at the last place alone, one library lacks the op, one fails to make the call."""
    memory = types.SimpleNamespace(empty_cache=lambda: None)
    sys.modules["torch"] = types.SimpleNamespace(cuda=memory, empty=lambda *_, **__: None, uint8=None, compile=lambda peer, dynamic: lambda x: 1 / x,
                                                 _dynamo=types.SimpleNamespace(reset=lambda: None))
    calls = iter([3.0] * (compare.PLACES * compare.TURNS - 1))
    work = types.SimpleNamespace(name="topk/f32/1x4/k1", op="topk", moved=64, large_share=0.5, ours=lambda library: lambda: 2.0,
                                 peer=lambda x: next(calls), inputs=(0,))
    with contextlib.redirect_stderr(io.StringIO()) as errors:
        row = compare.measure(lambda: work, types.SimpleNamespace(has=lambda op: True), Timer(), compare.PEERS, {},
                              {"liger": {}, "quack": {"topk": lambda x: 1 / x}})
    assert row["hipops"] == 2.0 and not compare.peers_of([row]), row
    said = [line.split(": ")[1].split()[0] for line in errors.getvalue().splitlines()]
    assert sorted(said) == ["compile", "eager", "quack"], errors.getvalue()
    assert compare.line(row, compare.PEERS).startswith("topk/f32/1x4/k1")


def counts_rows():
    rows = [{"name": "ahead", "hipops": 1.0, "eager": 1.1, "quack": 2.0}, {"name": "level", "hipops": 1.0, "eager": 0.95},
            {"name": "behind", "hipops": 2.0, "eager": 3.0, "liger": 1.0}, {"name": "alone", "hipops": 1.0}, {"name": "absent", "missing": True}]
    first, *listed = compare.summary(rows, compare.PEERS)
    assert first == "1 of 3 rows are ahead of all peers, 1 under 0.9 of the best peer", first
    assert [line.split() for line in listed] == [["behind", "0.50x", "liger"]], listed


refuses("ligre: expected some of eager,compile,liger,quack", "--peers", "eager,ligre")
refuses("tabel: expected some of table,others", "--rows", "tabel")
names_what_cannot_be_imported()
keeps_our_figure()
counts_rows()
