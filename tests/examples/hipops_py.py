#!/usr/bin/env python3
"""hipops_py.py EXAMPLES HEADER LIBRARY: the arguments that docs/examples/hipops.py passes are those of the header's
functions, and what cannot be passed is an exception that names it and what is expected."""

import ctypes
import pathlib
import re
import sys
import types

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import hipops  # noqa: E402

KINDS = {"hipops_tensor*": "t", "double": "d", "int32_t": "i", "hipops_nearest": "i", "uint32_t": "u", "int64_t": "q",
         "void*": "p", "hipops_index_report*": "p"}
header = " ".join(re.sub(r"/\*.*?\*/", "", pathlib.Path(sys.argv[2]).read_text(), flags=re.S).split())
wrong = []


def expect_declared(function, last, passed):
    declared = re.search(rf"hipops_{function}\(([^)]*), {last}\);", header)
    kinds = "".join(KINDS[argument.replace("const ", "").split()[0]] for argument in declared.group(1).split(", "))
    if kinds != passed:
        wrong.append(f"{function}: hipops.py passes {passed}, the header declares {kinds}")


for op, kinds in hipops.ARGUMENTS.items():
    expect_declared(op, r"void\* stream", kinds)
with_workspace = set(re.findall(r"hipops_(\w+)_workspace_bytes\(", header))
if with_workspace != set(hipops.WORKSPACES):
    wrong.append(f"hipops.py has workspaces of {sorted(hipops.WORKSPACES)}, the header of {sorted(with_workspace)}")
for op, kinds in hipops.WORKSPACES.items():
    expect_declared(op + "_workspace_bytes", r"int64_t\* bytes", kinds)


def array(*shape, dtype="float32", itemsize=4, strides=None):
    """As much of a NumPy array as hipops.py looks at: NumPy need not be there."""
    steps = [itemsize]
    for extent in reversed(shape[1:]):
        steps.insert(0, steps[0] * extent)
    memory = ctypes.create_string_buffer(max(steps[0] * shape[0], 1))
    address = types.SimpleNamespace(data=ctypes.addressof(memory))
    return types.SimpleNamespace(dtype=dtype, shape=shape, strides=strides or tuple(steps), itemsize=itemsize,
                                 memory=memory, ctypes=address)


def expect(exception, words, function, *arguments):
    """A call that fails with this exception, whose message has these words."""
    try:
        function(*arguments)
        wrong.append(f"{arguments}: taken, expected {exception.__name__}")
    except Exception as got:  # whichever it is, it is told
        if type(got) is not exception or not all(word in str(got) for word in words):
            wrong.append(f"{arguments}: {type(got).__name__}: {got}; expected {exception.__name__} with {words}")


lib = hipops.Hipops(sys.argv[3], hipops.CPU)
x, y = array(3, 4), array(3, 4)
index = array(300, dtype="int64", itemsize=8)
expect(ValueError, ["'rms_nrom'", "rms_norm", "softmax"], lib.call, "rms_nrom", y, x)
expect(ValueError, ["'softmax_workspace_bytes'"], lib.call, "softmax_workspace_bytes", y, x)
expect(ValueError, ["'softmax'", "workspace", "index_add"], lib.workspace_bytes, "softmax", y, x)
expect(ValueError, ["softmax, argument 2", "'complex64'", "float32"],
       lib.call, "softmax", y, array(3, 4, dtype="complex64", itemsize=8))
expect(ValueError, ["softmax, argument 1", "'bool'"], lib.call, "softmax", array(3, 4, dtype="bool", itemsize=1), x)
expect(ValueError, ["argument 2", "rank 9", "8"], lib.call, "softmax", y, array(*[1] * 9))
expect(ValueError, ["argument 2", "(5,)"], lib.call, "softmax", y, array(3, strides=(5,)))
expect(TypeError, ["softmax, argument 2", "[1, 2]", "list"], lib.call, "softmax", y, [1, 2])
expect(TypeError, ["softmax takes 2 arguments, not 3"], lib.call, "softmax", y, x, None)
expect(TypeError, ["rms_norm, argument 4", "str"], lib.call, "rms_norm", y, x, None, "1e-5", 0)
expect(TypeError, ["gather, argument 4", "float"], lib.call, "gather", y, x, index, 0.5, None)
expect(ValueError, ["gather, argument 4", "4294967296", "int"], lib.call, "gather", y, x, index, 1 << 32, None)
expect(TypeError, ["index_add takes 4 arguments, not 3"], lib.workspace_bytes, "index_add", y, x, index)
expect(RuntimeError, ["x"], lib.call, "softmax", y, None)

lib.call("softmax", y, x)
if ctypes.c_float.from_buffer(y.memory, 4).value != 0.25:
    wrong.append("softmax: a wrong number")
size = lib.workspace_bytes("index_add", array(1000, 4), array(300, 4), index, 0)
if size < 12 * 300:
    wrong.append(f"index_add's workspace: {size} bytes, expected 12 an index at least")

print("\n".join(wrong))
sys.exit(1 if wrong or not hipops.ARGUMENTS else 0)
