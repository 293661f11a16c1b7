"""Our ops in Liger and quack, for compare.py. Each function gets a workload's inputs and returns a call, or None if the library
lacks the layout. A table's key is the first part of a workload's name. The calls need no autograd.

Some functions of Liger write their results over their inputs. They get copies in the same layout, and numbers that stay finite."""

import importlib.metadata
from functools import partial

EPS = 1e-5
DISTRIBUTIONS = {"liger": "liger-kernel", "quack": "quack-kernels"}


def copy_of(x):
    """With the same strides, and as far from an aligned address."""
    return x.new_empty(0).set_(x.untyped_storage().clone(), x.storage_offset(), x.shape, x.stride())


def small(x):
    """Numbers by which any number can be multiplied again and again."""
    return x.clamp(-0.5, 0.5)


def halves(x, up):
    """The tensor whose left and right columns x and up are, or None."""
    return x._base if x._base is not None and x._base is up._base and x.stride(-1) == 1 else None


def liger():
    from liger_kernel.ops import cross_entropy, fused_add_rms_norm, layer_norm, rms_norm, softmax, swiglu
    from liger_kernel.ops.utils import calculate_settings
    wide = rms_norm._str_to_casting_mode["gemma"]  # all in f32, as ours

    def silu_and_mul(x, up):
        if (both := halves(x, up)) is not None:
            return partial(swiglu.swiglu_fused_gate_up_forward, both)
        return partial(swiglu.swiglu_forward, x, up) if x.is_contiguous() and up.is_contiguous() else None

    def silu_and_mul_backward(dy, x, up):
        if (both := halves(x, up)) is not None:
            return partial(swiglu.swiglu_fused_gate_up_backward, both, dy)
        return partial(swiglu.swiglu_backward, copy_of(x), copy_of(up), small(dy)) if x.is_contiguous() and up.is_contiguous() else None

    return {
        "rms_norm": lambda x, w, b: partial(rms_norm.rms_norm_forward, x, w, EPS, 0.0, wide, None),
        "layer_norm": lambda x, w, b: partial(layer_norm.layer_norm_forward, x, w, b, EPS),
        "softmax": lambda x, w, b: partial(softmax._softmax_forward, x),
        "fused_add_rms_norm": lambda x, residual, w, b: partial(fused_add_rms_norm.fused_add_rms_norm_forward, x, residual, w, EPS, 0.0, wide),
        "rms_norm_backward": lambda dy, x, w, rstd: partial(rms_norm.rms_norm_backward, copy_of(dy), x, small(w), rstd, 0.0, wide,
                                                            *calculate_settings(x.shape[-1]), True, None),
        "layer_norm_backward": lambda dy, x, w, mean, rstd: partial(layer_norm.layer_norm_backward, dy, x, w, w, mean, rstd),
        "softmax_backward": lambda dy, y: partial(softmax._softmax_backward, dy, y, *calculate_settings(y.shape[-1]), False),
        "cross_entropy": lambda x, target: partial(cross_entropy.cross_entropy_forward, copy_of(x).requires_grad_(), target, None, -100, 0.0,
                                                   0.0, "none", None, False),
        "activation_and_mul_silu": silu_and_mul,
        "activation_and_mul_backward_silu": silu_and_mul_backward,
    }


def quack():
    from quack.cross_entropy import cross_entropy_fwd
    from quack.rmsnorm import layernorm_bwd, layernorm_fwd, rmsnorm_bwd, rmsnorm_fwd
    from quack.rotary import apply_rotary
    from quack.softmax import softmax_bwd, softmax_fwd
    from quack.topk import topk_fwd
    return {
        "rms_norm": lambda x, w, b: partial(rmsnorm_fwd, x, w, eps=EPS),
        "layer_norm": lambda x, w, b: partial(layernorm_fwd, x, w.float(), b.float(), EPS),  # the only weights that it has
        "softmax": lambda x, w, b: partial(softmax_fwd, x),
        "fused_add_rms_norm": lambda x, residual, w, b: partial(rmsnorm_fwd, x, w, residual=residual, eps=EPS),
        "rms_norm_backward": lambda dy, x, w, rstd: partial(rmsnorm_bwd, x, w, dy, rstd),
        "layer_norm_backward": lambda dy, x, w, mean, rstd: partial(layernorm_bwd, x, w, dy, rstd, mean),
        "softmax_backward": lambda dy, y: partial(softmax_bwd, dy, y),
        "cross_entropy": lambda x, target: partial(cross_entropy_fwd, x, target, return_dx=True),
        "topk": lambda x, k: partial(topk_fwd, x, k),
        "topk_softmax": lambda x, k, groups: None if groups else partial(topk_fwd, x, k, softmax=True),
        "rope": lambda x, cos, sin: partial(apply_rotary, x.transpose(1, 2), cos, sin),
        "rope_i": lambda x, cos, sin: partial(apply_rotary, x.transpose(1, 2), cos, sin, interleaved=True),
        "rope_thd": lambda x, cos, sin: partial(apply_rotary, x, cos, sin),
    }


def load(peers):
    """A table for each peer that is a library."""
    tables = {}
    for peer in DISTRIBUTIONS.keys() & set(peers):
        try:
            tables[peer] = {"liger": liger, "quack": quack}[peer]()
        except Exception as error:  # an import of a GPU's library fails in many ways
            raise ImportError(f"--peers {peer}: {DISTRIBUTIONS[peer]} cannot be imported: {error!r}") from error
    return tables


def versions(peers):
    return {peer: importlib.metadata.version(name) for peer, name in DISTRIBUTIONS.items() if peer in peers}
