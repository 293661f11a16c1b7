"""PyTorch on the CPU as the second opinion. The only module that needs it."""

import numpy as np
import torch

import dtypes

VERSION = torch.__version__.split("+")[0]
FLOATS = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
torch.set_num_threads(1)

# The largest difference of PyTorch in float64 from this reference, in float64 ULPs of the result or of its condition. A
# few ULPs are usual, and more for long rows with narrow vectors of the CPU (17 for 8191 elements with AVX2). A wrong
# formula differs by millions.
AGREEMENT_ULPS = 8
TERMS_PER_ULP = 512


# PyTorch has few ops for these. Signed integers of the same bits move and wrap around in the same way.
UNSIGNED = {"u16": np.int16, "u32": np.int32, "u64": np.int64}


def _tensor(array, dtype):
    array = np.array(array, order="C")  # a copy, because PyTorch needs writable memory
    tensor = torch.from_numpy(array.view(UNSIGNED[dtype]) if dtype in UNSIGNED else array)
    return tensor.to(FLOATS[dtype]) if dtype in FLOATS else tensor


def _promoted(tensors):
    """Converts floating inputs to the wider of their dtypes, as PyTorch's promotion does."""
    kinds = [t.dtype for t in tensors.values() if t.is_floating_point()]
    if not kinds:
        return tensors
    common = kinds[0]
    for kind in kinds[1:]:
        common = torch.promote_types(common, kind)
    return {name: t.to(common) if t.is_floating_point() else t for name, t in tensors.items()}


def _as_numpy(tensor):
    return (tensor.to(torch.float64) if tensor.is_floating_point() else tensor).numpy()


def _as_dtype(tensor, dtype):
    array = np.ascontiguousarray(_as_numpy(tensor))
    return array.view(dtypes.INTEGERS[dtype]) if dtype in UNSIGNED else array


def compare(op, case, arrays, expected):
    """PyTorch's worst error on a case, in ULPs of the outputs' dtypes, and the first disagreement in float64, or None.

    `op.torch_reference(params, inputs)` returns the outputs by name, or None if PyTorch has no such op. It may leave
    out outputs that PyTorch does not have, such as the report. Its inputs and outputs have signed integers instead of
    u16, u32 and u64.
    """
    own = {name: _tensor(array, case.inputs[name].dtype) for name, array in arrays.items()}
    wide = {name: t.to(torch.float64) if t.is_floating_point() else t for name, t in own.items()}
    results = op.torch_reference(torch, case.params, _promoted(own))
    if results is None:
        return None, None
    worst = 0.0
    for name, want in expected.items():
        if want.values.size == 0 or name not in results or name not in case.outputs:
            continue
        view = case.outputs[name]
        got = results[name].to(FLOATS[view.dtype]) if view.dtype in FLOATS else results[name]
        errors = dtypes.errors(want.values, _as_dtype(got, view.dtype), view.dtype, want.scale)
        worst = max(worst, float(np.max(errors)))
    return worst, _disagreement(op, case, wide, expected)


def _disagreement(op, case, wide, expected):
    results = op.torch_reference(torch, case.params, wide)
    for name, want in expected.items():
        if want.values.size == 0 or name not in results or name not in case.outputs:
            continue
        kind = "f64" if case.outputs[name].dtype in FLOATS else case.outputs[name].dtype
        got = _as_dtype(results[name], kind)
        condition = want.scale if want.condition is None else want.condition
        off = dtypes.errors(want.values, got, kind, condition).reshape(-1)
        if off.max() > AGREEMENT_ULPS + max(tensor.numel() for tensor in wide.values()) // TERMS_PER_ULP:
            at = int(off.argmax())
            return (f"{case.op} {case.name}: {name}[{at}] is {want.values.reshape(-1)[at]!r} here and "
                    f"{got.reshape(-1)[at]!r} in PyTorch, {off[at]:.3g} float64 ULPs apart")
    return None
