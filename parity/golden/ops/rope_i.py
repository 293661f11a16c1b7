"""Rotary embedding on neighbouring pairs, x [b, h, t, d]: see rotary.py."""

from ops import rotary

OP = rotary.RotaryOp("rope_i", interleaved=True)
TOPICS = rotary.topics(OP)


def reference(params, inputs):
    del params
    return rotary.reference(OP, inputs)


def torch_reference(torch, params, inputs):
    del params
    return rotary.torch_reference(torch, OP, inputs)
