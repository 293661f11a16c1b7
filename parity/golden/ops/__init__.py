"""The ops, by name. A module of an op offers

TOPICS: topic -> function that yields the topic's golden.Cases;
reference(params, inputs) -> {output: golden.Expected}, from arrays by argument name (float64, or integers);
torch_reference(torch, params, inputs) -> {output: tensor}, or None where PyTorch has no such op.
"""

from ops import layer_norm, rms_norm, softmax

OPS = {"layer_norm": layer_norm, "rms_norm": rms_norm, "softmax": softmax}
