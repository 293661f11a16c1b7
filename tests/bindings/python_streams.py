#!/usr/bin/env python3
"""python_streams.py: arrays whose __cuda_array_interface__ names a stream. Checks the waits between streams with a
stand-in libcuda.

HIPOPS_CUDA_LIBRARY is the stand-in. Exit 77 if hipops was built without code for NVIDIA."""

import ctypes
import os
import sys
import threading

import hipops

standin = ctypes.CDLL(os.environ["HIPOPS_CUDA_LIBRARY"])
standin.standin_cuda_order.restype = ctypes.c_char_p
wrong = []


class Array:
    """6 rows of 80, whose library works on `stream`. Nothing reads it, because the stand-in runs nothing."""

    def __init__(self, at, stream=None, shape=(6, 80)):
        self.shape = shape
        self.__cuda_array_interface__ = {"shape": shape, "typestr": "<f4", "data": (at << 20, False), "version": 3, "stream": stream}


def order(call):
    standin.standin_cuda_order()
    call()
    return standin.standin_cuda_order().decode()


def expect(what, call, expected):
    try:
        got = order(call)
    except hipops.Error as error:
        got = str(error)
    if got != expected:
        wrong.append(f"{what}: {got!r}, expected {expected!r}")


def expect_refused(exception, words, call):
    try:
        wrong.append(f"accepted: {order(call)}; expected {exception.__name__} with {words}")
    except Exception as got:  # the test reports any exception
        if type(got) is not exception or not all(word in str(got) for word in words):
            wrong.append(f"{type(got).__name__}: {got}; expected {exception.__name__} with {words}")


def softmax(of, into, stream=None):
    return lambda: hipops.softmax(Array(1, of), out=Array(2, into), stream=stream)


try:
    softmax(None, None)()
except hipops.Error as error:
    if error.status != hipops.Status.NO_CODE_OBJECT:
        raise
    print("skipped: no code for NVIDIA in this build")
    sys.exit(77)

expect("no stream", softmax(None, None), "launch on 0")
expect("a source's", softmax(77, None), "1 waits for 77, launch on 0, 77 waits for 1")
expect("a result's", softmax(None, 77), "1 waits for 77, launch on 0, 77 waits for 1")
expect("one stream of both", softmax(77, 77), "1 waits for 77, launch on 0, 77 waits for 1")
expect("per-thread default", softmax(2, None), "1 waits for 2, launch on 0, 2 waits for 1")
expect("the call's own", softmax(77, 77, 77), "launch on 77")
expect("the default one is the call's", softmax(1, 1), "launch on 0")
expect("the default one, and another call's", softmax(1, None, 77), "77 waits for 1, launch on 77, 1 waits for 77")
expect("two streams", softmax(88, 77, 99), "99 waits for 88, 99 waits for 77, launch on 99, 88 waits for 99, 77 waits for 99")
weight = Array(3, 55, (80,))
expect("a weight's", lambda: hipops.rms_norm(Array(1), weight, out=Array(2)), "1 waits for 55, launch on 0, 55 waits for 1")
index = Array(4, 66, (6,))
index.__cuda_array_interface__["typestr"] = "<i8"
got = order(lambda: hipops.index_add_(Array(1), 0, index, Array(2), workspace=Array(3, 66, (1 << 16,)))).split(", ")
if got[0] != "1 waits for 66" or got[-1] != "66 waits for 1" or not all(word == "launch on 0" for word in got[1:-1]):
    wrong.append(f"index_add_: {got}")
thread = threading.Thread(target=expect, args=("a thread without a context", softmax(77, None), "1 waits for 77, launch on 0, 77 waits for 1"))
thread.start()
thread.join()

for stream in (0, -1, "7", 1.0, True):
    expect_refused(ValueError, [f"softmax: x has the stream {stream!r} in its __cuda_array_interface__", "expected None, 1"],
                   softmax(stream, None))
live = standin.standin_cuda_live()
for function in ("cuEventCreate", "cuEventRecord", "cuStreamWaitEvent"):
    os.environ["STANDIN_FAIL"] = f"{function}:0:901"
    expect_refused(hipops.Error, ["softmax: x's stream", f": {function} failed with 901 (CUDA_STANDIN_901)"], softmax(77, None))
    if standin.standin_cuda_order() != b"":
        wrong.append(f"{function} refused, and a launch")
del os.environ["STANDIN_FAIL"]
if standin.standin_cuda_live() != live:
    wrong.append("an event is left")
print("\n".join(wrong) or "passed")
sys.exit(1 if wrong else 0)
