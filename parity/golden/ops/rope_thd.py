"""Rotary embedding on half-split pairs, x [b, t, h, d]: see rotary.py."""

from ops import rotary

OP = rotary.RotaryOp("rope_thd", tokens_first=True)
TOPICS = rotary.topics(OP)


def reference(params, inputs):
    del params
    return rotary.reference(OP, inputs)


def torch_reference(torch, params, inputs):
    del params
    return rotary.torch_reference(torch, OP, inputs)
