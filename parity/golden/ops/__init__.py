"""The ops, by name. A module of an op offers

TOPICS: topic -> function that yields the topic's golden.Cases;
reference(params, inputs) -> {output: golden.Expected}, from arrays by argument name (float64, or integers);
torch_reference(torch, params, inputs) -> {output: tensor}, or None where PyTorch has no such op.
"""

from ops import (copy2d, fused_add_rms_norm, gather, index_add, index_select, layer_norm, rms_norm, rope, rope_i, rope_thd, scatter,
                 scatter_add, softmax, strided_copy, upsample_nearest1d, upsample_nearest2d)

OPS = {"layer_norm": layer_norm, "rms_norm": rms_norm, "fused_add_rms_norm": fused_add_rms_norm, "softmax": softmax,
       "rope": rope, "rope_i": rope_i, "rope_thd": rope_thd,
       "gather": gather, "index_select": index_select, "index_add": index_add,
       "scatter": scatter, "scatter_add": scatter_add,
       "upsample_nearest1d": upsample_nearest1d, "upsample_nearest2d": upsample_nearest2d,
       "strided_copy": strided_copy, "copy2d": copy2d}
