#!/usr/bin/env python3
"""Tests the reference behind the golden files, with NumPy alone.

Compares its parts with independent code, the committed files with their specification, and some of the files with the
output of generate.py. Exit 0 if all pass, 1 if one fails, 77 without NumPy.
"""

import contextlib
import copy
import dataclasses
import decimal
import functools
import io
import json
import math
import pathlib
import sys
import tempfile
import traceback
import types
from unittest import mock

try:
    import numpy as np
except ImportError:
    print(f"skipped: {sys.executable} has no NumPy")
    sys.exit(77)

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "parity" / "golden"
sys.dont_write_bytecode = True
sys.path.insert(0, str(GOLDEN))

import dtypes  # noqa: E402
import extended  # noqa: E402
import generate  # noqa: E402
import golden  # noqa: E402
import philox  # noqa: E402
from ops import OPS  # noqa: E402


# ---- Philox and the generators

def test_philox_known_answers():
    """Known answers, from the file kat_vectors of Random123."""
    for counter, key, output in (
            ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
            ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
            ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1")):
        words = philox.philox([int(w, 16) for w in counter.split()], [int(w, 16) for w in key.split()])
        assert " ".join(f"{int(w[0]):08x}" for w in words) == output


def scalar_philox(index, seed):
    """The words of one element in plain integers, from the paper."""
    c = [index & 0xFFFFFFFF, index >> 32, 0, 0]
    k = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        high, low = divmod(0xD2511F53 * c[0], 1 << 32)
        other_high, other_low = divmod(0xCD9E8D57 * c[2], 1 << 32)
        c = [other_high ^ c[1] ^ k[0], other_low, high ^ c[3] ^ k[1], low]
        k = [(k[0] + 0x9E3779B9) % (1 << 32), (k[1] + 0xBB67AE85) % (1 << 32)]
    return c


def test_generators_follow_the_specification():
    seed = 0x0012_3456_89AB_CDEF  # both halves of the key are used
    uniform = philox.uniform(seed, 300, 3.0, -0.1)
    bell = philox.bell(seed, 300, 3.0, -0.1)
    for i in (0, 1, 7, 255, 299):
        w = [word * 2.0**-32 for word in scalar_philox(i, seed)]
        assert uniform[i] == -0.1 + 3.0 * (w[0] * 2 - 1)
        assert bell[i] == -0.1 + 3.0 * ((w[0] + w[1] + w[2] + w[3] - 2) * 1.7320508075688772)
    many = philox.bell(5, 100000, 1.0, 0.0)
    assert abs(many.mean()) < 0.02 and abs(many.var() - 1) < 0.02
    assert (philox.constant(1, 3, 2.0, 0.5) == 0.5).all()


def test_integer_generators_follow_the_specification():
    seed = 0x0012_3456_89AB_CDEF
    for dtype in dtypes.INTEGERS:
        tensor = golden.bits(dtype, (300,))
        tensor.seed = seed
        width = np.dtype(dtypes.INTEGERS[dtype]).itemsize * 8
        for i in (0, 1, 7, 255, 299):
            w = scalar_philox(i, seed)
            assert int(tensor.array()[i]) % 2**width == (w[0] + (w[1] << 32)) % 2**width
        many = golden.bits(dtype, (100000,), seed=5).array().astype(np.float64)
        info = np.iinfo(dtypes.INTEGERS[dtype])
        assert many.min() < info.min + 0.01 * 2.0**width and many.max() > info.max - 0.01 * 2.0**width
    for dtype, bound in (("u8", 256), ("i16", 3), ("i64", 1 << 32), ("u32", 1 << 32), ("i32", 1)):
        tensor = golden.index(dtype, (300,), bound, seed=seed)
        assert all(int(tensor.array()[i]) == scalar_philox(i, seed)[0] * bound >> 32 for i in (0, 1, 7, 255, 299))
        assert tensor.to_json()["generator"] == {"kind": "index", "seed": seed, "bound": bound}
    assert golden.bits("u8", (3,), seed=7).to_json()["generator"] == {"kind": "bits", "seed": 7}
    assert set(golden.index("i16", (1000,), 3, seed=1).array().tolist()) == {0, 1, 2}
    try:
        golden.index("u8", (3000,), 257, seed=1).array()
    except ValueError:
        return
    raise AssertionError("an index beyond its dtype was accepted")


def test_integers_survive_json():
    for dtype, kind in dtypes.INTEGERS.items():
        info = np.iinfo(kind)
        values = [info.min, info.max, 0, 1, info.max - 1, info.min + 1, info.max // 3]
        document = json.loads(json.dumps(golden.explicit(dtype, values).to_json()))
        assert document["values"] == values, dtype
        assert values_of(document).tolist() == values and values_of(document).dtype == kind
        for beyond in (info.max + 1, info.min - 1):
            try:
                golden.explicit(dtype, [beyond, 0])
            except ValueError:
                continue
            raise AssertionError(f"{beyond} was accepted as {dtype}")


def test_checksum_by_hand():
    for dtype, values, bits in (
            ("u64", [2**64 - 1, 5, 2**63], [2**64 - 1, 5, 2**63]), ("i8", [-1, 127, -128], [255, 127, 128]),
            ("f16", [-0.0, 1.0, 2.0**-24], [0x8000, 0x3C00, 1]), ("bf16", [1.0, -3.5, 2.0**-133], [0x3F80, 0xC060, 1]),
            ("f32", [0.5, -2.0**-149, math.inf], [0x3F000000, 0x80000001, 0x7F800000]),
            ("f64", [1.0, -0.0, 0.1], [0x3FF0000000000000, 1 << 63, 0x3FB999999999999A])):
        array = golden.explicit(dtype, values).array()
        want = sum(b * ((i * 0x9E3779B97F4A7C15 % 2**64) | 1) for i, b in enumerate(bits)) % 2**64
        assert golden.checksum(golden.View(dtype, (3,)), array) == want, dtype
    for values in ([math.nan], [0.1]):
        try:
            dtypes.bits_of(np.array(values), "f32")
        except ValueError:
            continue
        raise AssertionError(f"{values} has no bits to tell")


# ---- names

def test_names_are_those_that_parity_reads():
    case = next(OPS["softmax"].TOPICS["smoke"]())
    for name in ("a", "A-9_z", "x" * 200):
        dataclasses.replace(case, name=name)
    for name in ("", "large_1e+25", "half_0.5", "a b", "a/b", "a*", "größe", "a\n", "x" * 201):
        try:
            dataclasses.replace(case, name=name)
        except ValueError as error:
            assert f"softmax: a case's name is {name!r}, expected" in str(error), error
            continue
        raise AssertionError(f"{name!r} was accepted")


def test_two_cases_of_one_name_are_refused():
    """A name occurs once in a topic, and in all topics of an op."""
    op = OPS["softmax"]
    case = next(op.TOPICS["smoke"]())
    for topics in ({"first": [case, case]}, {"first": [case], "second": [case]}):
        iterators = {topic: functools.partial(iter, cases) for topic, cases in topics.items()}
        ops, printed = {"softmax": types.SimpleNamespace(reference=op.reference, TOPICS=iterators)}, io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(printed), contextlib.redirect_stdout(io.StringIO()), \
                mock.patch.object(generate, "HERE", pathlib.Path(folder)), mock.patch.object(generate, "OPS", ops), \
                mock.patch.object(sys, "argv", ["generate.py", "--no-torch"]):
            ended = generate.main()
        assert ended == 1 and f"two cases are named {case.name}; the other one is in first" in printed.getvalue(), (ended, printed.getvalue())


# ---- rounding and errors

def interesting(dtype):
    """Values, neighbours and exact ties of a dtype, denormals and the edge of its range among them, as float64."""
    form = dtypes.FLOATS[dtype]
    rng = np.random.RandomState(1)
    exponents = rng.randint(form.min_exponent - form.mantissa - 2, form.max_exponent + 1, 20000)
    steps = rng.randint(0, 2 << form.mantissa, 20000)
    base = np.ldexp(steps.astype(np.float64), (exponents - form.mantissa).astype(np.int32))
    least = math.ldexp(1.0, form.min_exponent - form.mantissa)
    half = np.arange(64) * least / 2
    edge = form.largest + np.arange(-3, 4) * math.ldexp(1.0, form.max_exponent - form.mantissa - 2)
    values = np.concatenate([base, base * (1 + 2.0**-(form.mantissa + 2)), base + dtypes.ulp(base, dtype) / 2, half,
                             edge, [0.0, np.inf, np.nan, 1e308, least / 2, least / 2 * (1 + 2.0**-40)]])
    return np.concatenate([values, -values])


def same_values(a, b):
    number = ~np.isnan(a)
    return np.array_equal(a, b, equal_nan=True) and np.array_equal(np.signbit(a[number]), np.signbit(b[number]))


def test_rounding_agrees_with_numpy():
    for dtype, kind in (("f16", np.float16), ("f32", np.float32)):
        values = interesting(dtype)
        with np.errstate(over="ignore", under="ignore"):
            assert same_values(dtypes.round_to(values, dtype), values.astype(kind).astype(np.float64)), dtype


def test_rounding_to_bf16_agrees_with_bits():
    """Adding 0x7fff and the lowest kept bit to an f32 value, and truncating, rounds to nearest even."""
    with np.errstate(over="ignore", under="ignore"):
        values = interesting("bf16").astype(np.float32)
        all_over = np.arange(1 << 16, dtype=np.uint32) * np.uint32(65521)
        values = np.concatenate([values, all_over.view(np.float32)])
    values = values[~np.isnan(values)]
    bits = values.view(np.uint32).astype(np.uint64)
    cut = ((bits + np.uint64(0x7FFF) + ((bits >> np.uint64(16)) & np.uint64(1))) >> np.uint64(16)) << np.uint64(16)
    assert same_values(dtypes.round_to(values.astype(np.float64), "bf16"),
                       cut.astype(np.uint32).view(np.float32).astype(np.float64))


def test_rounding_by_hand():
    for dtype, value, want in (
            ("bf16", 1 + 2.0**-8, 1.0), ("bf16", 1 + 3 * 2.0**-8, 1 + 2.0**-6),     # ties go to even
            ("bf16", 1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-7),                          # with f32 as an intermediate it would round twice
            ("bf16", 2.0**-134, 0.0), ("bf16", 3 * 2.0**-134, 2.0**-132), ("bf16", -2.0**-133, -2.0**-133),
            ("bf16", 255 * 2.0**120 + 2.0**118, 255 * 2.0**120), ("bf16", 255 * 2.0**120 + 2.0**119, math.inf),
            ("f16", 65519.99, 65504.0), ("f16", 65520.0, math.inf), ("f16", 2.0**-25, 0.0),
            ("f16", 3 * 2.0**-25, 2.0**-23), ("f16", 2049.0, 2048.0), ("f16", 2051.0, 2052.0), ("f64", 0.1, 0.1)):
        got = float(dtypes.round_to(np.float64(value), dtype))
        assert got == want, (dtype, value, got, want)
    assert math.copysign(1, float(dtypes.round_to(np.float64(-1e-60), "f16"))) == -1


def test_errors_by_hand():
    for dtype, expected, got, want in (
            ("f32", 1.0, 1.0 + 2.0**-23, 1.0), ("f32", 1.999, 1.999 - 2.0**-22, 2.0), ("f16", 0.0, 2.0**-24, 1.0),
            ("f16", 2.0**-15, 2.0**-15 + 2.0**-24, 1.0), ("bf16", -3.0, -3.0, 0.0), ("f64", 1.0, 1.0 + 2.0**-51, 2.0),
            ("f16", 90000.0, math.inf, 0.0), ("f16", 65519.0, math.inf, math.inf), ("f16", 65520.0, math.inf, 0.0),
            ("f32", math.nan, math.nan, 0.0), ("f32", math.nan, 1.0, math.inf), ("f32", 1.0, math.nan, math.inf),
            ("f32", math.inf, -math.inf, math.inf), ("f32", 0.0, -0.0, math.inf), ("f32", -0.0, -0.0, 0.0),
            ("f16", -2.0**-25, 0.0, math.inf), ("f16", -2.0**-24, 0.0, 1.0)):
        error = float(dtypes.errors(np.float64(expected), np.float64(got), dtype))
        assert error == want, (dtype, expected, got, error, want)
    assert float(dtypes.errors(np.float64(0.0), np.float64(2.0**-23), "f32", np.float64(1.5))) == 1.0
    assert float(dtypes.errors(np.float64(0.0), np.float64(-0.0), "f32", np.float64(1.5))) == 0.0


# ---- the formulas, against fifty decimal digits

def decimal_reference(op, x, weight, bias, eps):
    x = [decimal.Decimal(v) for v in x]
    n = len(x)
    if op == "softmax":
        e = [(v - max(x)).exp() for v in x]
        return [v / sum(e) for v in e]
    if op == "layer_norm":
        x = [v - sum(x) / n for v in x]
    divisor = (sum(v * v for v in x) / n + decimal.Decimal(eps)).sqrt()
    return [v / divisor * decimal.Decimal(w) + decimal.Decimal(b) for v, w, b in zip(x, weight, bias)]


def test_references_to_fifty_digits():
    decimal.getcontext().prec = 50
    for op, scale, shift in (("layer_norm", 1.0, 0.2), ("layer_norm", 1.0, 3000.0), ("rms_norm", 1.0, 0.0),
                             ("rms_norm", 1e10, 5.0), ("softmax", 2.0, 0.0), ("softmax", 100.0, -50.0)):
        x = philox.bell(11, 33, scale, shift)
        weight, bias = philox.uniform(12, 33, 1.0, 0.0), philox.uniform(13, 33, 1.0, 0.0)
        inputs = {"x": x[None], "weight": weight}
        if op == "layer_norm":
            inputs["bias"] = bias
        got = OPS[op].reference({"eps": 1e-5}, inputs)["y"]
        want = decimal_reference(op, x, weight, bias if op == "layer_norm" else [0] * 33, 1e-5)
        magnitude = None if got.scale is None else got.scale[0]
        error = dtypes.errors([float(v) for v in want], got.values[0], "f64", magnitude)
        allowed = 0 if extended.MANTISSA >= 64 else 4  # a float64 that is rounded from 64 bits may differ in rare cases
        assert error.max() <= max(allowed, 1), (op, scale, error.max())
        assert (error > allowed).sum() <= 1, (op, scale, error)


# ---- the files

def documents():
    for path in sorted(GOLDEN.glob("*/*.json")):
        yield path, json.loads(path.read_text())


def values_of(spec):
    """The values as a NumPy array. 64-bit integers must not pass through float64."""
    if spec["dtype"] not in dtypes.INTEGERS:
        return check_values(spec["values"])
    assert all(isinstance(value, int) for value in spec["values"])
    return dtypes.integers(spec["values"], spec["dtype"])


def plain(value):
    return float(value) if isinstance(value, str) else value


def check_view(spec):
    assert spec["dtype"] in dtypes.FLOATS or spec["dtype"] in dtypes.INTEGERS
    assert 0 <= len(spec["shape"]) <= 8 and all(isinstance(extent, int) and extent >= 0 for extent in spec["shape"])
    assert len(spec.get("stride", spec["shape"])) == len(spec["shape"])
    assert spec.get("offset", 0) >= 0
    return golden.View(spec["dtype"], tuple(spec["shape"]), spec.get("stride"), spec.get("offset", 0))


def check_values(values):
    for value in values:
        assert isinstance(value, (int, float)) or value in ("nan", "inf", "-inf"), value
    return np.array([plain(value) for value in values])


def all_differ(numbers):
    numbers = np.sort(numbers)  # np.unique needs seconds for 100,000 numbers
    return (numbers[1:] != numbers[:-1]).all()


def check_input(spec):
    view = check_view(spec)
    assert ("values" in spec) != ("generator" in spec)
    if "generator" in spec:
        generator = spec["generator"]
        fields = {"bits": {"kind", "seed"}, "index": {"kind", "seed", "bound"}}
        assert generator["kind"] in fields or generator["kind"] in philox.GENERATORS
        assert set(generator) == fields.get(generator["kind"], {"kind", "seed", "scale", "shift"})
        assert (generator["kind"] in fields) <= (spec["dtype"] in dtypes.INTEGERS)
        assert 1 <= generator.get("bound", 1) <= 1 << 32
        assert 0 <= generator["seed"] < 1 << 53
        assert generator["kind"] == "constant" or all_differ(view.addresses())
        return
    values = values_of(spec)
    assert len(values) == math.prod(view.shape)
    if spec["dtype"] in dtypes.FLOATS:
        assert same_values(dtypes.round_to(values, view.dtype), values.astype(np.float64))
    assert golden.check_overlap(view, values), "elements that share memory differ"


def check_output(spec, ulps, exact):
    view = check_view(spec)
    count = math.prod(view.shape)
    assert all_differ(view.addresses()), "an output's elements overlap"
    values = values_of(spec)
    if "positions" in spec:
        positions = spec["positions"]
        assert positions == sorted(set(positions)) and 0 <= positions[0] and positions[-1] < count
        assert len(values) == len(positions)
        if "checksum" in spec:
            assert 0 <= spec["checksum"] < 1 << 64 and not {"row_checksums", "row_tolerances"} & set(spec)
            return
        assert spec["dtype"] in dtypes.FLOATS
        for key in ("row_checksums", "row_tolerances"):
            assert len(spec[key]) == count // view.shape[-1]
        for checksum, tolerance in zip(spec["row_checksums"], spec["row_tolerances"]):
            if checksum == "nan":
                assert tolerance == 0
            else:
                assert math.isfinite(checksum) and math.isfinite(tolerance) and (tolerance > 0 or ulps == 0)
    else:
        assert len(values) == count and not {"row_checksums", "checksum"} & set(spec)
    if "scale" in spec:
        assert len(spec["scale"]) == len(values) and all(math.isfinite(v) and v >= 0 for v in spec["scale"])
    if exact and spec["dtype"] in dtypes.FLOATS:
        assert ulps == 0 and same_values(dtypes.round_to(values, view.dtype), values.astype(np.float64))


def check_case(case, topic):
    allowed = {"name", "dtype", "params", "inputs", "outputs", "in_place", "tolerance", "torch_ulps"}
    assert set(case) | {"in_place"} == allowed
    ulps = case["tolerance"]["ulps"]
    # scatter_add without its workspace rounds each of its sums to 16 bits, as documented: half an ULP for each sum.
    rounds_each_sum = case["params"].get("workspace") == 0 and "flags" in case["params"]
    is_rounded_to_16_bits = any(spec["dtype"] in ("f16", "bf16") for spec in case["outputs"].values())
    assert ulps <= (1 if is_rounded_to_16_bits and not rounds_each_sum else 4)
    assert case["torch_ulps"] in (None, "inf") or case["torch_ulps"] >= 0
    for spec in case["inputs"].values():
        check_input(spec)
    for spec in case["outputs"].values():
        check_output(spec, ulps, topic == "exact")
    for name in set(case["inputs"]) & set(case["outputs"]):
        before, after = case["inputs"][name], case["outputs"][name]
        assert all(before.get(key) == after.get(key) for key in ("dtype", "shape", "stride", "offset"))
    assert ("report" in case["inputs"]) == ("report" in case["outputs"])
    if "in_place" in case:
        output, source = (case[side][name] for side, name in zip(("outputs", "inputs"), case["in_place"]))
        assert all(output.get(key) == source.get(key) for key in ("dtype", "shape", "stride", "offset"))


def test_files_follow_the_specification():
    names = set()
    found = {}
    for path, document in documents():
        assert list(document) == ["schema", "op", "topic", "reference", "cases"], path
        assert document["schema"] == generate.SCHEMA
        assert (document["op"], document["topic"]) == (path.parent.name, path.stem)
        found.setdefault(document["op"], set()).add(document["topic"])
        for case in document["cases"]:
            where = (document["op"], case["name"])
            assert where not in names, f"{where} twice"
            names.add(where)
            try:
                check_case(case, document["topic"])
            except Exception as error:
                raise AssertionError(f"{path.name}: {case['name']}: {error}") from error
    assert found == {name: set(op.TOPICS) for name, op in OPS.items()}


def test_smoke_covers_every_path():
    """Every dtype with every set of optional tensors in both their dtypes, and every rank."""
    for name in ("layer_norm", "rms_norm", "softmax"):
        cases = generate.read(name, "smoke")["cases"]
        seen = {(case["dtype"], tuple(sorted((argument, tensor["dtype"]) for argument, tensor in case["inputs"].items()
                                             if argument != "x"))) for case in cases}
        paths = {"layer_norm": 4, "rms_norm": 2, "softmax": 1}[name]
        assert len(seen) == 4 * paths + 3 * (paths - 1), (name, len(seen))
        ranks = {(case["dtype"], len(case["inputs"]["x"]["shape"])) for case in cases}
        assert len(ranks) == 4 * 8


def test_regenerated_cases_match():
    """All small cases, and every eighth case with many elements."""
    compared = 0
    for name, op in OPS.items():
        for topic in op.TOPICS:
            document = generate.read(name, topic)
            committed = {case["name"]: case for case in document["cases"]}
            cases = list(op.TOPICS[topic]())
            assert [case.name for case in cases] == list(committed), f"{name}/{topic}: other cases, or in another order"
            for turn, case in enumerate(cases):
                if math.prod(case.inputs.get("x", case.inputs.get("y")).shape) > 10000 and turn % 8:
                    continue
                made = json.loads(json.dumps(generate.build_case(op, case, committed[case.name]["torch_ulps"], None)))
                found = generate.difference_of_cases(committed[case.name], made, document["reference"]["precision"])
                assert found is None, f"{name}/{topic}: {found}"
                compared += 1
    assert compared > 1000, compared


def test_files_are_written_as_committed():
    """The files are equal byte for byte, so that git shows no change after generate.py."""
    for path, document in documents():
        assert generate.dump(document) == path.read_text(), path


def test_comparison_sees_a_changed_bit():
    case = generate.read("layer_norm", "smoke")["cases"][-1]
    precision = extended.PRECISION
    assert generate.difference_of_cases(case, copy.deepcopy(case), precision) is None

    def changed(change):
        other = copy.deepcopy(case)
        change(other)
        return generate.difference_of_cases(case, other, precision)

    values = case["outputs"]["y"]["values"]
    assert changed(lambda c: c["outputs"]["y"]["values"].__setitem__(3, float(np.nextafter(values[3], 9)))) is not None
    assert "values[3]" in changed(lambda c: c["outputs"]["y"]["values"].__setitem__(3, "nan"))
    assert changed(lambda c: c["inputs"]["x"]["generator"].__setitem__("seed", 1)) is not None
    assert changed(lambda c: c["outputs"]["y"]["scale"].pop()) is not None
    assert changed(lambda c: c["params"].__setitem__("eps", 1e-6)) is not None
    assert generate.first_difference(0.0, -0.0) is not None
    assert generate.first_difference(1.0, 1.0 + 2.0**-52, slack=1) is None


def main():
    passed = failed = 0
    for name, test in list(globals().items()):
        if not name.startswith("test_"):
            continue
        try:
            test()
            passed += 1
            print(f"ok      {name}", flush=True)
        except Exception:
            failed += 1
            print(f"FAILED  {name}", flush=True)
            traceback.print_exc(file=sys.stdout)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
