#!/usr/bin/env python3
"""patch_sweep.py [--only NAME,...] [--device cuda] [--json FILE]: hipops.torch.patch on every causal architecture of
transformers.

Compares small models with random weights, in f32 and bf16, with the model's own code. Prints a line for each: "right"
with the modules that are replaced and left alone, "not made" if there is no small model of that configuration, or
"WRONG". Exit 1 if one is wrong, 77 without transformers."""

import argparse
import collections
import copy
import itertools
import json
import signal
import sys
import warnings

try:
    import torch
    import transformers
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
from counted import Counted

import hipops.torch
from hipops._patch import Gate, Norm

# The sizes of a small model, with each name that configurations use.
SIZES = {
    64: "hidden_size d_model n_embd dim emb_dim lm_hidden_size word_embed_proj_dim width",
    128: "intermediate_size ffn_dim n_inner ffn_hidden_size d_ff moe_intermediate_size shared_expert_intermediate_size moe_shared_expert_"
         "intermediate_size shared_intermediate_size encoder_ffn_dim decoder_ffn_dim mlp_dim expert_ffn_hidden_size mlp_hidden_size "
         "dense_intermediate_size intermediate_size_mlp lru_width attention_hidden_size zero_expert_ffn_size",
    2: "num_hidden_layers n_layer n_layers num_layers encoder_layers decoder_layers num_key_value_heads num_kv_heads n_shared_experts_ "
       "num_experts_per_tok top_k num_experts_per_token moe_topk moe_top_k num_encoder_layers num_decoder_layers multi_query_groups n_head_kv moe_k "
       "num_global_key_value_heads swa_num_key_value_heads num_key_value_heads_swa",
    4: "num_attention_heads n_head n_heads num_heads encoder_attention_heads decoder_attention_heads num_local_experts num_experts "
       "n_routed_experts moe_num_experts swa_num_attention_heads linear_num_key_heads linear_num_value_heads",
    16: "head_dim kv_channels qk_nope_head_dim qk_rope_head_dim v_head_dim attention_head_dim kv_lora_rank q_lora_rank "
        "linear_key_head_dim linear_value_head_dim global_head_dim swa_head_dim v_head_dim_swa index_head_dim",
    200: "vocab_size", 256: "max_position_embeddings n_positions max_seq_len n_ctx max_sequence_length",
}
ELSE = {"n_group": 1, "topk_group": 1, "first_k_dense_replace": 1, "mamba_expand": 2, "num_nextn_predict_layers": 0, "qk_head_dim": 32,
        "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "expert_layer_period": 2, "attn_layer_period": 2, "attn_layer_offset": 1,
        "hidden_size_per_layer_input": 8, "vocab_size_per_layer_input": 200, "num_kv_shared_layers": 0, "mamba_n_heads": 8, "mamba_d_head": 16,
        "mamba_d_ssm": 128, "mamba_num_heads": 8, "mamba_head_dim": 16, "mamba_n_groups": 1, "n_groups": 1, "ssm_state_size": 16,
        "mamba_d_state": 16, "use_mamba_kernels": False, "chunk_size": 16, "mamba_chunk_size": 16, "sliding_window": 16, "altup_num_inputs": 2,
        "laurel_rank": 8, "rotary_dim": 8, "partial_rotary_factor": 0.5, "rnn_heads": 4, "embedding_size": 64, "audio_config": None, "num_loops": 1, "mtp_num_hidden_layers": 0}
BY_NAME = {name: size for size, names in SIZES.items() for name in names.split()} | ELSE
PER_LAYER = ("layer_types", "layers_block_type", "mlp_layer_types", "no_rope_layers", "attention_types", "block_types", "moe_layers",
             "layer_type_list", "sliding_window_pattern_list", "intermediate_size", "activation_sparsity_pattern", "hybrid_override_pattern",
             "rope_layout", "num_attention_heads_per_layer", "num_key_value_heads_per_layer", "block_configs", "mlp_layer_types_list",
             "ffn_multipliers", "attn_type_list", "is_moe_layer", "per_layer_config", "hybrid_layer_pattern", "moe_layer_freq")


def shrink(config):
    for name, value in list(vars(config).items()):
        name = config.attribute_map.get(name, name)
        if isinstance(value, transformers.PreTrainedConfig):
            shrink(value)
        elif name in BY_NAME and (value is not None or name in ("head_dim", "pad_token_id")) and not isinstance(value, list):
            setattr(config, name, BY_NAME[name])
    layers = getattr(config, "num_hidden_layers", 2)
    for name in PER_LAYER:
        value = getattr(config, name, None)
        if isinstance(value, (list, tuple, str)) and len(value) > layers and layers:
            kinds = list(dict.fromkeys(value)) if not isinstance(value[0], (list, dict)) else [value[0]]
            setattr(config, name, type(value)((kinds * layers)[-layers:]) if not isinstance(value, str) else "".join((kinds * layers)[:layers]))
    for rope in (getattr(config, "rope_parameters", None), getattr(config, "rope_scaling", None)):
        for part in [rope, *rope.values()] if isinstance(rope, dict) else []:
            if isinstance(part, dict) and "mrope_section" in part:
                part["mrope_section"] = [4, 2, 2]
            for lists in ("short_factor", "long_factor"):
                if isinstance(part, dict) and lists in part:
                    part[lists] = part[lists][:8]


# More settings that some models need. They are tried in turn.
VARIANTS = ({}, {"num_key_value_heads": 4}, {"head_dim": None}, {"num_key_value_heads": 4, "head_dim": None}, {"is_decoder": True})


def make(config, model_class, others):
    shrink(config)
    for name, value in others.items():
        setattr(config, name, value)
    with torch.device("meta"):
        parameters = sum(p.numel() for p in model_class(copy.deepcopy(config)).parameters())
    if parameters > 6e7:
        raise ValueError(f"{parameters / 1e6:.0f} million parameters")
    torch.manual_seed(1)
    model = model_class(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.2)
    return model


def logits(model, ids):
    out = model(ids, use_cache=False)
    return next(t for t in (getattr(out, "logits", None), getattr(out, "last_hidden_state", None), out[0]) if t is not None).float()


def gradients(model, ids):
    """The gradients of all parameters in one tensor. 0 for a parameter without a gradient."""
    parameters = [p for p in model.parameters() if p.requires_grad]
    with torch.enable_grad():
        each = torch.autograd.grad(logits(model, ids).square().mean(), parameters, allow_unused=True)
    return torch.cat([(torch.zeros_like(p) if g is None else g).flatten() for p, g in zip(parameters, each)])


def counted(model, ids):
    with Counted() as ops:
        logits(model, ids)
    return ops.counts


def made(config_class, model_class, device):
    """A model, inputs and its own logits, or the reason why there is none."""
    why = None
    for is_text, others in itertools.product((False, True), VARIANTS):
        try:
            config = config_class().get_text_config() if is_text else config_class()
            if is_text and type(config) is config_class:
                continue
            model = make(config, model_class, others).to(device)
            ids = torch.randint(3, 200, (2, 21), generator=torch.Generator().manual_seed(1)).to(device)
            own = logits(model, ids)
            if own.isfinite().all() and torch.allclose(own, logits(model, ids), 1e-4, 1e-4):
                return model, ids, own
            reason = "its own logits are not finite, or differ from call to call"
        except TimeoutError:
            raise
        except Exception as failed:
            reason = f"{type(failed).__name__}: {(str(failed) or '-').splitlines()[0]}"[:110]
        why = why or reason
    return why


def of_a_token(got, expected):
    """The median over tokens. In a mixture of experts, rounding sends a few tokens to other experts."""
    return (got - expected).square().mean(-1).sqrt().median().item()


def apart(got, expected):
    return ((got - expected).square().mean().sqrt() / expected.square().mean().sqrt()).item()


def tried(config_class, model_class, device):
    """right, not made or WRONG, and an explanation."""
    model = made(config_class, model_class, device)
    if isinstance(model, str):
        return "not made", model, {}
    model, ids, own = model
    bf16, words, wrong = copy.deepcopy(model).bfloat16(), [], []
    try:
        own_gradients = gradients(model, ids)
    except Exception as failed:
        own_gradients = None
        words.append(f"not trained by its own code: {type(failed).__name__}")
    replaced, called = hipops.torch.patch(model), collections.Counter()
    patched = [(m, type(how)) for m in model.modules() if isinstance(how := getattr(type(m), "_hipops", None), (Norm, Gate, tuple))
               and (type(how) is not tuple or type(m).__name__ in replaced.residual_adds)]
    got, counts = logits(model, ids), counted(model, ids)
    off = apart(got, own)
    if not off < 1e-4:  # some models amplify rounding: f64 decides
        exact = copy.deepcopy(model).double()
        hipops.torch.unpatch(exact)
        exact = logits(exact, ids)
        if not apart(got, exact) < 1.25 * apart(own, exact):
            wrong.append(f"f32 logits differ by {off:.2g}, and by {apart(got, exact):.2g} from f64's, its own by {apart(own, exact):.2g}")
    if own_gradients is not None:
        off = apart(gradients(model, ids), own_gradients)
        if not off < 1e-3:
            exact = copy.deepcopy(model).double()
            hipops.torch.unpatch(exact)
            exact = gradients(exact, ids)
            distances = [apart(each, exact) for each in (gradients(model, ids), own_gradients)]
            if not distances[0] < 1.25 * distances[1]:
                wrong.append(f"gradients differ by {off:.2g}; {distances[0]:.2g} from f64's, its own {distances[1]:.2g}")
    adds = counts["fused_add_rms_norm"] + counts["fused_add_layer_norm"]
    norms = counts["rms_norm"] + counts["layer_norm"] + adds
    for module, kind in patched:
        module.register_forward_hook(lambda module, given, made, kind=kind: called.update([kind]))
    logits(model, ids)
    for what, reported, ran, least in (("norms", replaced.norms, norms, called[Norm]),
                                       ("adds", replaced.residual_adds, adds, called[tuple]),
                                       ("gates", replaced.gated_activations, counts["activation_and_mul"], called[Gate]),
                                       ("rotary", replaced.rotary_embeddings, counts["rope"] + counts["rope_i"], sum(replaced.rotary_embeddings.values()))):
        if reported:
            words.append(", ".join(f"{n} {c}" for c, n in reported.items()) + f" ({what}: {ran} calls)")
        if ran < least:
            wrong.append(f"{what}: {ran} calls of hipops, expected {least}")
    for reason, count in collections.Counter(replaced.left_alone.values()).items():
        words.append(f"left alone: {count} {reason}")
    try:
        own16 = logits(bf16, ids)
    except Exception:
        words.append("not run in bf16 by its own code")
    else:
        hipops.torch.patch(bf16)
        distances = [of_a_token(t, own) for t in (own16, logits(bf16, ids))]
        if not distances[1] < 1.25 * distances[0] + 1e-6 * own.abs().max().item():
            wrong.append(f"bf16 logits are {distances[1]:.3g} from f32's, its own {distances[0]:.3g}")
    hipops.torch.unpatch(model)
    if not torch.allclose(logits(model, ids), own, 1e-4, 1e-4) or counted(model, ids):
        wrong.append("unpatched it is another")
    return ("WRONG" if wrong else "right"), "; ".join(wrong + words) or "nothing is replaced", dict(counts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    torch.set_grad_enabled(False)
    torch.set_num_threads(1)  # the models are small
    results = {}
    for config_class, model_class in transformers.MODEL_FOR_CAUSAL_LM_MAPPING.items():
        name = config_class.model_type
        if arguments.only and name not in arguments.only.split(","):
            continue
        for each in model_class if isinstance(model_class, tuple) else (model_class,):
            def late(*_):
                raise TimeoutError("longer than a minute")
            signal.signal(signal.SIGALRM, late)
            signal.alarm(60)
            try:
                results[name] = tried(config_class, each, arguments.device)
            except Exception as reason:
                results[name] = "WRONG", f"{type(reason).__name__}: {reason}"[:200], {}
            signal.alarm(0)
            print(f"{name:24} {results[name][0]:9} {results[name][1]}", flush=True)
    total = collections.Counter(outcome for outcome, *_ in results.values())
    print(f"{len(results)} architectures of transformers {transformers.__version__}: " + ", ".join(f"{n} {what}" for what, n in total.items()))
    for op in ("fused_add_rms_norm", "fused_add_layer_norm"):
        print(f"with {op}: {sum(outcome == 'right' and counts.get(op, 0) > 0 for outcome, _, counts in results.values())}")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"transformers": transformers.__version__, "torch": torch.__version__, "results": results}, file, indent=1)
    sys.exit(1 if total["WRONG"] or not total["right"] else 0)


main()
