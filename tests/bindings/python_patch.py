#!/usr/bin/env python3
"""python_patch.py [NAME ...]: hipops.torch.patch and hipops.torch.layers, on a GPU if PyTorch sees one, otherwise on
the CPU.

Compares patched models with their own code, also after the changes that users make to a model. With NAMEs it runs only
these checks. Exit 77 without PyTorch or transformers."""

import copy
import gc
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import threading
import traceback
import weakref

try:
    import torch
    import transformers
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
from counted import Counted

import hipops.torch
from hipops.torch._backward import BACKWARD

PAGE = pathlib.Path(__file__).parents[2] / "docs/guide/pytorch.md"
device = "cuda" if torch.cuda.is_available() else "cpu"
transformers.logging.set_verbosity_error()
torch.set_num_threads(1)  # the models are small
checks = []


def check(function):
    checks.append(function)
    return function


def expect(what, condition=False):
    if not condition:
        raise AssertionError(what)


def distance(got, expected):
    return (got.double() - expected.double()).abs().max().item()


def normal(*shape, dtype=torch.float32):
    return torch.randn(*shape, device=device).to(dtype)


def small(name="Llama", dtype=torch.float32, **others):
    sizes = {"hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
             "head_dim": 32, "vocab_size": 1000, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, **others}
    torch.manual_seed(1)
    config = getattr(transformers, name + "Config")(**sizes)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=dtype).to(device).eval()
    for called, parameter in model.named_parameters():
        if "norm" in called and "bias" not in called:
            torch.nn.init.normal_(parameter, mean=0.0 if "Gemma" in name else 1.0, std=0.2)
    return model, torch.randint(1000, (2, 33), device=device)


def logits(model, ids):
    with torch.no_grad():
        return model(ids, use_cache=False).logits


def counted(model, ids):
    with Counted() as ops:
        got = logits(model, ids)
    return got, ops.counts


def share_experts(models):
    """Makes the routers of gpt-oss' mixture of experts pick the experts of the first run. Otherwise rounding sends a few tokens to other
    experts, and their logits differ 50 times more than by rounding alone."""
    picked = {}
    for model in models:
        for at, router in enumerate(module for module in model.modules() if "Router" in type(module).__name__):
            def pick(module, given, result, at=at):
                experts = picked.setdefault(at, result[2])
                return result[0], torch.softmax(result[0].gather(1, experts), 1), experts
            router.register_forward_hook(pick)


def classes(model):
    return [type(module) for module in model.modules()]


# ---- Models

ADDS = ("fused_add_rms_norm", "fused_add_layer_norm")


@check
def families():
    """Checks the norms, attentions and adds of each model: in bf16 against float32, and in f32 against its own code."""
    for name, *expected in (("Llama", 5, 2, 2), ("Qwen2", 5, 2, 2), ("Qwen3", 9, 2, 2), ("Mistral", 5, 2, 2), ("Gemma", 5, 2, 2), ("Gemma2", 9, 2, 2),
                            ("Gemma3Text", 13, 2, 2), ("Phi3", 5, 2, 2), ("Granite", 5, 2, 2), ("Olmo", 5, 2, 2), ("Olmo2", 9, 2, 0),
                            ("Exaone4", 9, None, 0), ("GptOss", 5, 2, 2), ("Cohere", 3, 2, 0), ("Cohere2", 3, 2, 0), ("Glm4", 9, 2, 2),
                            ("Ernie4_5", 5, 2, 2), ("Helium", 5, 2, 2), ("StableLm", 5, 2, 2), ("Starcoder2", 5, 2, 2), ("GPTNeoX", 5, 2, 0),
                            ("Phi", 3, 2, 0), ("GPT2", 5, 0, 2), ("GPTBigCode", 5, 0, 2), ("Mpt", 5, 0, 2), ("OPT", 5, 0, 0),
                            ("XGLM", 5, 0, 2), ("BioGpt", 5, 0, 2), ("Bloom", 6, 0, 0), ("Bert", 6, 0, 4)):
        model, ids = small(name, torch.bfloat16)
        exact = copy.deepcopy(model).float()
        share_experts((exact, model))
        exact, own, before = logits(exact, ids), logits(model, ids), classes(model)
        replaced = hipops.torch.patch(model)
        counts = [sum(c.values()) for c in (replaced.norms, replaced.rotary_embeddings, replaced.residual_adds)]
        expect(f"{name}: {replaced}", all(e in (None, c) for e, c in zip(expected, counts)) and not replaced.left_alone)
        gates = 0 if name in ("Starcoder2", "GPTNeoX", "Phi", "GPT2", "GPTBigCode", "Mpt", "OPT", "XGLM", "BioGpt", "Bloom", "Bert") else 2
        expect(f"{name}: {replaced.gated_activations}", sum(replaced.gated_activations.values()) == gates)
        again = hipops.torch.patch(model)
        expect(f"{name}: again {again}", not again.norms and not again.residual_adds and again.patched_before >= counts[0])
        got, ran = counted(model, ids)
        distances = [(t.float() - exact).square().mean().sqrt().item() for t in (own, got)]
        expect(f"{name}: {distances[1]} from float32's logits, its own {distances[0]}", distances[1] < 1.15 * distances[0])
        expect(f"{name}: {ran}", sum(ran[op] for op in ("rms_norm", "layer_norm", *ADDS)) == counts[0]
               and sum(ran[op] for op in ADDS) == counts[2] and ran["rope"] + ran["rope_i"] >= counts[1] and ran["activation_and_mul"] == gates)
        hipops.torch.unpatch(model)
        expect(f"{name}: unpatched it is another", torch.equal(logits(model, ids), own) and classes(model) == before)
        model.float()
        own = logits(model, ids)
        hipops.torch.patch(model)
        expect(f"{name} in f32: {distance(logits(model, ids), own)}", distance(logits(model, ids), own) < 2e-4)


@check
def encoders():
    """Models of images, speech and text: their norms, adds and rotary embeddings."""
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 32, "patch_size": 8}
    image, ids = normal(2, 3, 32, 32), torch.randint(3, 200, (2, 17), device=device)
    speech = {"d_model": 64, "encoder_layers": 2, "encoder_attention_heads": 4, "encoder_ffn_dim": 128, "decoder_attention_heads": 4, "decoder_layers": 2, "max_source_positions": 50}
    text = {**sizes, "vocab_size": 200, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2}
    t5 = {"vocab_size": 200, "d_model": 64, "d_kv": 16, "d_ff": 128, "num_layers": 2, "num_heads": 4}
    cases = {"ViT": (sizes, "ViTModel", image), "CLIPVision": (sizes, "CLIPVisionModel", image), "SiglipVision": (sizes, "SiglipVisionModel", image),
             "Dinov2": (sizes, "Dinov2Model", image), "DINOv3ViT": (sizes, "DINOv3ViTModel", image), "PixtralVision": (sizes, "PixtralVisionModel", image),
             "Bert": (text, "BertModel", ids), "ModernBert": (text, "ModernBertModel", ids), "EuroBert": (text, "EuroBertModel", ids),
             "T5": (t5, "T5EncoderModel", ids), "Whisper": (speech, "WhisperModel", normal(2, 80, 100)),
             "Albert": ({**text, "embedding_size": 64}, "AlbertModel", ids)}
    adds = {"Bert": 4, "Albert": 4, "T5": 0}  # two of Albert's four modules run, twice
    for name, (given, called, x) in cases.items():
        torch.manual_seed(1)
        model = getattr(transformers, called)(getattr(transformers, name + "Config")(**given)).to(device).eval()
        model = model.get_encoder() if name == "Whisper" else model
        with torch.no_grad():
            own, before = model(x).last_hidden_state, classes(model)
            replaced = hipops.torch.patch(model)
            with Counted() as ops:
                off = distance(model(x).last_hidden_state, own)
            hipops.torch.unpatch(model)
        norms = sum(replaced.norms.values())
        expect(f"{name}: off by {off}; {replaced}; {ops.counts}", off < 1e-4 and norms > 2 and classes(model) == before and sum(ops.counts[op] for op in ADDS) == adds.get(name, 2)
               and (ops.counts["rope"] + ops.counts["rope_i"] > 0) == bool(replaced.rotary_embeddings))


@check
def other_norms():
    class Mean(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight, self.eps = torch.nn.Parameter(torch.ones(64, device=device)), 1e-5

        def forward(self, x):
            return x / (x.abs().mean(-1, keepdim=True) + self.eps) * self.weight

    class Outside(Mean):
        def forward(self, x):
            return x / (x.square().mean(-1, keepdim=True).sqrt() + self.eps) * self.weight

    class WithoutItsEps(Mean):
        def forward(self, x):
            return x * (x.float().square().mean(-1, keepdim=True) + 1e-5).rsqrt().to(x.dtype) * self.weight

    class OverTokens(Mean):
        def forward(self, x):
            return (x.float() * (x.float().square().mean((-1, -2), keepdim=True) + self.eps).rsqrt()).to(x.dtype) * self.weight

    class OfImages(torch.nn.LayerNorm):
        def __init__(self):
            super().__init__(64, device=device)

        def forward(self, x):
            return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2) if x.dim() == 4 else super().forward(x)

    class Bias(Mean):
        def __init__(self, size=64, dtype=torch.float32):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(size, device=device, dtype=dtype))
            self.bias = torch.nn.Parameter(torch.zeros(size, device=device, dtype=dtype))

        def forward(self, x):
            return x * (x.square().mean(-1, keepdim=True) + self.eps).rsqrt() * self.weight + self.bias

    def wide_bias():
        """On random rows with a mean of 0, this equals a LayerNorm in bf16."""
        return Bias(4096, torch.bfloat16)

    class InTraining(Mean):
        def forward(self, x):
            return torch.nn.functional.rms_norm(x, (64,), self.weight, self.eps) * (2 if self.training else 1)

    def in_training():
        return InTraining().eval()

    class UnbiasedLayerNorm(Bias):
        def forward(self, x):
            y = (x.float() - x.float().mean(-1, keepdim=True)) * (x.float().var(-1, keepdim=True) + self.eps).rsqrt()
            return y.to(x.dtype) * self.weight + self.bias

    def unbiased():
        """In bf16 this is near a LayerNorm."""
        return UnbiasedLayerNorm(64, torch.bfloat16)

    for made in (Mean, Outside, WithoutItsEps, OverTokens, OfImages, Bias, InTraining, in_training, wide_bias, unbiased):
        if isinstance(made, type):
            made.__name__ += "RMSNorm"
        left = hipops.torch.patch(torch.nn.Sequential(made())).left_alone
        expect(f"{made.__name__}: {left}", list(left) == ["0"] and any(words in left["0"] for words in ("computes something else", "cannot be tried")))
    for made, named in ((torch.nn.RMSNorm, {}), (torch.nn.RMSNorm, {"eps": 1e-5}), (torch.nn.RMSNorm, {"elementwise_affine": False}),
                        (torch.nn.LayerNorm, {}), (torch.nn.LayerNorm, {"bias": False}), (torch.nn.LayerNorm, {"elementwise_affine": False})):
        for dtype in (torch.float32, torch.bfloat16):
            norm = made(64, device=device, dtype=dtype, **named)
            for parameter in norm.parameters():
                torch.nn.init.normal_(parameter)
            x = normal(3, 64, dtype=dtype) * 1e-3
            own = norm(x)
            if not list(hipops.torch.patch(norm).norms.values()) == [1]:
                expect(f"{made.__name__} {named} {dtype}: {hipops.torch.patch(norm)}")
            with torch.no_grad(), Counted() as ops:
                got = norm(x)
            try:
                with torch.no_grad():
                    expect(f"{made.__name__} {named}: rows of another size give {norm(x[:, :32]).shape}")
            except RuntimeError:
                pass
            expect(f"{made.__name__} {named} {dtype}: {distance(got, own)}, {ops.counts}",
                   sum(ops.counts.values()) == 1 and distance(got, own) < (1e-5 if dtype == torch.float32 else 0.04))


@check
def norms_of_one_class_that_differ():
    """By an object among their attributes, by a buffer, and by an attribute that cannot be hashed."""
    class Config:
        def __init__(self, eps, offset):
            self.eps, self.offset = eps, offset

    class ByConfigRMSNorm(torch.nn.Module):
        def __init__(self, config, scale=None):
            super().__init__()
            self.weight, self.config, self.sizes = torch.nn.Parameter(normal(64)), config, ([64],)
            self.register_buffer("scale", scale)

        def forward(self, x):
            y = x * (x.square().mean(-1, keepdim=True) + self.config.eps).rsqrt() * (self.weight + self.config.offset)
            return y if self.scale is None else y * self.scale

    first, x = Config(1e-6, 0), normal(5, 64) * 0.1
    for second, scale in ((Config(1e-6, 1), None), (Config(1e-2, 0), None), (first, normal(64))):
        norms = torch.nn.ModuleList([ByConfigRMSNorm(first), ByConfigRMSNorm(second, scale)])
        with torch.no_grad():
            own, replaced = [norm(x) for norm in norms], hipops.torch.patch(norms)
            off = [distance(norm(x), result) for norm, result in zip(norms, own)]
        expect(f"off by {off}: {replaced}", max(off) < 1e-5 and "0" not in replaced.left_alone)


@check
def classes_end():
    """hipops does not keep a class that was made at run time. Two modules of a class are patched to the same class."""
    def made():
        class OwnRMSNorm(torch.nn.RMSNorm):
            pass
        norms = torch.nn.Sequential(OwnRMSNorm(64, 1e-5, device=device), OwnRMSNorm(64, 1e-5, device=device))
        counts = hipops.torch.patch(norms).norms
        expect(f"{counts}, {classes(norms)}", counts == {"OwnRMSNorm": 2} and type(norms[0]) is type(norms[1]))
        hipops.torch.unpatch(norms)
        expect("unpatched", type(norms[0]) is OwnRMSNorm)
        return weakref.ref(OwnRMSNorm)

    ended = made()
    gc.collect()
    expect("the class is still there", ended() is None)


# ---- Rotary tables

def rotate_half(x):
    return torch.cat((-x[..., x.shape[-1] // 2:], x[..., :x.shape[-1] // 2]), -1)


def apply_rotary_pos_emb(q, k, cos, sin, position_ids=None, unsqueeze_dim=1):
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin


class Rotary(torch.nn.Module):
    """The table of an image: one half is for rows, the other for columns. Or a table as in Llama. `scale` is YaRN's
    scale."""

    def __init__(self, is_image=False, scale=1.0):
        super().__init__()
        self.is_image, self.scale = is_image, scale

    def forward(self, x, position_ids):
        speed = 10000 ** -(torch.arange(8, device=x.device) / 8)
        rows, columns = (position_ids // 6, position_ids % 6) if self.is_image else (position_ids, position_ids)
        angles = torch.cat((rows[..., None] * speed, columns[..., None] * speed), -1)
        return angles.cos() * self.scale, angles.sin() * self.scale


class Attention(torch.nn.Module):
    def __init__(self, rotary, is_inside=False, named=None):
        super().__init__()
        self.norm, self.named = torch.nn.RMSNorm(16, 1e-5, device=device), named or {}
        self.rotary = rotary if is_inside else None

    def forward(self, x, tables=None):
        q = k = self.norm(x)
        if self.rotary is not None:
            tables = self.rotary.forward(x, torch.arange(x.shape[2], device=x.device)[None])
        return torch.stack(apply_rotary_pos_emb(q, k, *tables, **self.named))


class Block(torch.nn.Module):
    def __init__(self, rotary, **named):
        super().__init__()
        self.rotary_emb, self.attention = rotary, Attention(rotary, **named)

    def forward(self, x):
        tables = self.rotary_emb(x, torch.arange(x.shape[2], device=x.device)[None])
        return self.attention(x, tables)


def beside_own(block):
    x = normal(2, 3, 24, 16)
    with torch.no_grad():
        own = block(x)
        replaced = hipops.torch.patch(block)
        with Counted() as ops:
            got = block(x)
    return distance(got, own), replaced, ops.counts


@check
def tables_whose_halves_differ():
    for named in ({}, {"is_inside": True}):
        off, replaced, ran = beside_own(Block(Rotary(is_image=True), **named))
        expect(f"off by {off}: {replaced}, {ran}", off < 1e-5 and not replaced.rotary_embeddings and not ran["rope"])
        expect(f"{replaced}", "attention" in replaced.left_alone)


@check
def tables_of_several_axes():
    """The halves of a table differ where the axes of its positions do, as for an image."""
    class RotaryOfAxes(Rotary):
        def forward(self, x, position_ids):
            axes = position_ids.expand(self.axes, *position_ids.shape[-2:])
            speed = 10000 ** -(torch.arange(8, device=x.device) / 8)
            angles = torch.cat((axes[0][..., None] * speed, axes[-1][..., None] * speed), -1)
            return angles.cos(), angles.sin()

    class OfAxesBlock(Block):
        def forward(self, x):
            at = torch.arange(x.shape[2], device=x.device)
            return self.attention(x, self.rotary_emb(x, torch.stack((at, at // 6, at % 6, at % 4)[:self.rotary_emb.axes])[:, None]))

    for axes in (3, 4):
        rotary = RotaryOfAxes()
        rotary.axes = axes
        off, replaced, ran = beside_own(OfAxesBlock(rotary))
        expect(f"{axes} axes: off by {off}: {replaced}, {ran}", off < 1e-5 and not replaced.rotary_embeddings and not ran["rope"])
    if hasattr(transformers, "HunYuanVLTextConfig"):
        from transformers.models.hunyuan_vl.modeling_hunyuan_vl import HunYuanVLTextModel
        config = transformers.HunYuanVLTextConfig(
            vocab_size=50, hidden_size=64, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4, head_dim=32,
            pad_token_id=0, rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [4, 4, 4, 4]})
        model, at = HunYuanVLTextModel(config).to(device).eval(), torch.arange(12, device=device)
        given = {"input_ids": at[None], "position_ids": torch.stack((at, at % 4, at // 4, 0 * at))[:, None], "use_cache": False}
        with torch.no_grad():
            own, replaced = model(**given).last_hidden_state, hipops.torch.patch(model)
            off = distance(model(**given).last_hidden_state, own)
        expect(f"HunYuanVL: off by {off}: {replaced}", off < 1e-4 and sum(replaced.norms.values()) > 4)


@check
def tables_of_few_positions():
    """The trial keeps below max_position_embeddings. A module that returns one tensor is left alone."""
    class CachedRotary(Rotary):
        def __init__(self, is_whole=True):
            super().__init__()
            self.config, self.is_whole, self.seen = transformers.PretrainedConfig(max_position_embeddings=64), is_whole, []
            speed = 10000 ** -(torch.arange(8, device=device) / 8)
            self.register_buffer("angles", (torch.arange(64, device=device)[:, None] * speed).repeat(1, 2))

        def forward(self, x, position_ids):
            self.seen.append(position_ids.device.type)
            angles = self.angles[position_ids]
            return (angles.cos(), angles.sin()) if self.is_whole else angles

        def __deepcopy__(self, memo):
            copied = CachedRotary(self.is_whole)
            copied.seen = self.seen
            return copied

    rotary = CachedRotary()
    off, replaced, ran = beside_own(Block(rotary))
    expect(f"off by {off}: {replaced}, {ran}", off < 1e-5 and replaced.rotary_embeddings == {"Attention": 1} and ran["rope"] == 2)
    expect(f"tried on {rotary.seen}", "cpu" in rotary.seen[1:-1])
    left = hipops.torch.patch(torch.nn.Sequential(CachedRotary(is_whole=False))).left_alone
    expect(f"one tensor: {left}", "makes no tables" in left["0"])


@check
def tables_that_a_hook_changes():
    block = Block(Rotary())

    def change(module, given, tables):
        tables[0][..., 12:] = 1.0

    block.rotary_emb.register_forward_hook(change)
    off, replaced, ran = beside_own(block)
    expect(f"off by {off}: {replaced}, {ran}", off < 1e-5 and replaced.rotary_embeddings and not ran["rope"])


@check
def tables_that_are_scaled():
    off, replaced, ran = beside_own(Block(Rotary(scale=1.7)))
    expect(f"off by {off}: {replaced}, {ran}", off < 1e-5 and replaced.rotary_embeddings == {"Attention": 1} and ran["rope"] == 2)


@check
def arguments_of_a_rotation():
    off, replaced, ran = beside_own(Block(Rotary(), named={"position_ids": None}))
    expect(f"off by {off}: {replaced}, {ran}", off < 1e-5)


@check
def partial_rotary_says_what_runs():
    for name in ("GPTNeoX", "Phi", "StableLm", "Glm"):
        model, ids = small(name)
        own = logits(model, ids)
        reported = sum(hipops.torch.patch(model).rotary_embeddings.values())
        got, ran = counted(model, ids)
        expect(f"{name}: {reported} reported, {ran}", ran["rope"] + ran["rope_i"] == 2 * reported == 4 and distance(got, own) < 1e-4)


@check
def a_function_that_does_not_run_is_not_reported():
    """DeepSeek's attention names two functions, and calls the function that hipops does not replace."""
    model, ids = small("DeepseekV3", n_routed_experts=4, n_group=1, topk_group=1, num_experts_per_tok=2, kv_lora_rank=16, q_lora_rank=16,
                       qk_rope_head_dim=16, qk_nope_head_dim=16, v_head_dim=16, num_key_value_heads=4, moe_intermediate_size=64, head_dim=16)
    own, replaced = logits(model, ids), hipops.torch.patch(model)
    got, ran = counted(model, ids)
    expect(f"{replaced}, {ran}", not replaced.rotary_embeddings and not ran["rope"] and "interleave" in replaced.left_alone["model.layers.0.self_attn"])
    expect("it is another", distance(got, own) < 1e-4)


@check
def results_lie_as_before():
    """A model may call view on the result of its norm or sum."""
    from transformers.models.llama.modeling_llama import LlamaRMSNorm
    dense, wide = normal(3, 5, 64), normal(3, 5, 128)
    turned, columns = normal(5, 3, 64).transpose(0, 1), normal(3, 64, 5).transpose(1, 2)
    for norm in (torch.nn.RMSNorm(64, 1e-5), LlamaRMSNorm(64)):
        own = copy.deepcopy(norm.to(device))
        hipops.torch.patch(norm)
        for x in (dense, turned, wide[..., :64], columns, dense[:1].expand(3, 5, 64)):
            with torch.no_grad(), Counted() as ops:
                y = norm(x)
            expect(f"norm: {y.stride()} of {x.stride()}", y.stride() == own(x).stride() and distance(y, own(x)) < 1e-5)
            expect(f"norm of {x.stride()}: {ops.counts}", ops.counts["rms_norm"] == 1 or 0 in x.stride())
    norm = torch.nn.RMSNorm(64, 1e-5, device=device)
    own = copy.deepcopy(norm)
    hipops.torch.patch(norm)
    with torch.no_grad():
        for a, b in ((dense, turned), (turned, dense), (turned, turned)):
            y, h = hipops._patch.add_and_norm(norm, a, b)
            expect(f"sum: {y.stride()}, {h.stride()} of {a.stride()}", h.stride() == (a + b).stride() and y.stride() == own(h).stride())
            expect("its values", distance(h, a + b) == 0 and distance(y, torch.nn.functional.rms_norm(h, (64,), norm.weight, 1e-5)) < 1e-5)


@check
def a_sum_lies_as_its_first_term():
    """An attention with a convolution: the residual is contiguous, the other input is not, and the MLP calls view."""
    class Turned(torch.nn.Linear):
        def forward(self, x):
            return super().forward(x).transpose(0, 1).contiguous().transpose(0, 1)

    class Viewed(torch.nn.Module):
        def __init__(self, mlp):
            super().__init__()
            self.mlp = mlp

        def forward(self, x):
            return self.mlp(x.view(-1, x.shape[-1])).view(x.shape)

    model, ids = small()
    for layer in model.model.layers:
        layer.self_attn.o_proj.__class__, layer.mlp = Turned, Viewed(layer.mlp)
    own, replaced = logits(model, ids), hipops.torch.patch(model)
    got, ran = counted(model, ids)
    expect(f"{replaced}, {ran}", distance(got, own) < 1e-4 and ran["fused_add_rms_norm"] == sum(replaced.residual_adds.values()) == 2)


# ---- Sources

def method_of_transformers(function):
    """patch reads the source of transformers' methods only."""
    function.__module__ = "transformers.models.test"
    return function


@check
def adds_in_a_source():
    """A sum and its norm become one call if nothing comes between them, also in the branches of an `if`."""
    class Adds(torch.nn.Module):
        def __init__(self, norm, is_before):
            super().__init__()
            self.norm, self.other, self.act, self.is_before, self.order = norm, copy.deepcopy(norm), torch.nn.ReLU(), is_before, []

        def seen(self, x, name):
            self.order.append(name)
            return x

        @method_of_transformers
        def forward(self, x, y, cross=None, scale=2.0):
            residual = x
            x = residual + y
            residual = first = x  # two copies
            x = self.norm(x)
            a = x + residual
            a = self.act(self.norm(a)) + first
            a = a + self.seen(self.other(a), "other") * y
            b = self.other(a).float().square() - a
            b = y + self.norm(self.seen(b, "left") + self.seen(y, "right"))
            b = b + y
            if cross is not None:
                residual = b
                b = self.other(b)
                b = residual + cross
            residual = b
            b = self.norm(b)
            c = residual + b
            if self.is_before:
                c = self.norm(c)
            else:
                c = self.other(c) if self.order else c
            d = c + y
            if d.shape[0] > 0:
                d = self.norm(d)
            e = c + y
            e += 1.0
            e = self.norm(e)  # not of the sum
            f = c + y
            f = self.seen(f, "before") + self.norm(f)
            g = c + y[:1]
            g = self.norm(g)  # of a sum of other shapes
            h = c + scale
            h = self.other(h)
            i = c.double() + y
            i = self.norm(i.float())
            k = c + y
            k.mul_(2.0)
            k = self.norm(k)
            residual = c + y
            m = self.norm(residual)
            residual.add_(m)
            return torch.stack((first, a, b, c, d, e, f, g, h, i, k, m, residual))

    for made in (torch.nn.RMSNorm, torch.nn.LayerNorm):
        for is_before, given in ((False, ()), (True, ()), (False, (normal(3, 5, 64),)), (True, (normal(3, 5, 64),))):
            norm = made(64, eps=1e-5, device=device)
            for parameter in norm.parameters():
                torch.nn.init.normal_(parameter)
            model, x, y = Adds(norm, is_before), normal(3, 5, 64), normal(3, 5, 64)
            with torch.no_grad():
                own, order = model(x, y, *given), list(model.order)
                model.order.clear()
                replaced = hipops.torch.patch(model)
                with Counted() as ops:
                    got = model(x, y, *given)
            calls = sum(ops.counts[op] for op in ADDS)
            expect(f"{made.__name__} {is_before}: off by {distance(got, own)}, {ops.counts}, {replaced}",
                   torch.allclose(got, own, 1e-4, 1e-4) and replaced.residual_adds == {"Adds": 1} and calls == 7 + is_before + bool(given))
            expect(f"{model.order}, own {order}", model.order == order)
            model.norm.register_forward_hook(lambda *a: model.order.append("norm"))
            with torch.no_grad(), Counted() as ops:
                expect("a hook", torch.allclose(model(x, y, *given), own, 1e-4, 1e-4) and "norm" in model.order)
            x.requires_grad_()
            with Counted() as ops:
                expect("a gradient", model(x, y, *given).requires_grad)
            expect(f"with gradients: {ops.counts}", bool(ops.counts) == (("rms_norm" if made is torch.nn.RMSNorm else "layer_norm") in BACKWARD))


# ---- Gated activations

class Gated(torch.nn.Module):
    def __init__(self, act):
        super().__init__()
        self.act = act

    @method_of_transformers
    def forward(self, gate, up):
        return self.act(gate) * up


class GatedAfter(Gated):
    @method_of_transformers
    def forward(self, gate, up):
        return up * self.act(gate)


def beside_own_gate(module, *given):
    """How far the patched module is from its own result, for results up to 1; the report; and the calls of activation_and_mul."""
    with torch.no_grad():
        own = module(*given)
        replaced = hipops.torch.patch(module)
        with Counted() as ops:
            got = module(*given)
    expect(f"{got.dtype}, {got.shape}, {got.stride()}: own {own.shape}, {own.stride()}",
           (got.dtype, got.shape, got.stride()) == (own.dtype, own.shape, own.stride()))
    return distance(got, own) / max(1.0, own.abs().max().item()), replaced, ops.counts["activation_and_mul"]


@check
def activations():
    """Activations of transformers are replaced if the op has them."""
    has = {"gelu", "gelu_accurate", "gelu_fast", "gelu_new", "gelu_python", "gelu_python_tanh", "gelu_pytorch_tanh", "quick_gelu", "relu",
           "relu2", "sigmoid", "silu", "swish", "tanh"}
    for name in transformers.activations.ACT2CLS:
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            act = transformers.activations.ACT2FN[name].to(device, dtype)
            gate, up = (normal(5, 130, dtype=dtype) * 6).chunk(2, -1)
            off, replaced, calls = beside_own_gate(Gated(act).eval(), gate, up)
            expect(f"{name}, {dtype}: off by {off}, {calls} calls: {replaced}", off < 4 * torch.finfo(dtype).eps and calls == (name in has) and not replaced.left_alone)


@check
def other_activations():
    class InTraining(torch.nn.SiLU):
        def forward(self, x):
            return super().forward(x) * (2 if self.training else 1)

    class OfImages(torch.nn.SiLU):
        def forward(self, x):
            return x if x.dim() == 4 else super().forward(x)

    class Weighted(torch.nn.SiLU):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(1, device=device))

        def forward(self, x):
            return super().forward(x) * self.weight

    class InSingle(torch.nn.SiLU):
        def forward(self, x):
            return super().forward(x) if x.dtype == torch.float32 else x

    for act in (InTraining(), OfImages(), Weighted(), torch.nn.Dropout(0.0), torch.nn.Identity(), torch.nn.Sequential(torch.nn.SiLU())):
        for is_training in (False, True):
            off, replaced, calls = beside_own_gate(Gated(act).train(is_training), normal(3, 64), normal(3, 64))
            expect(f"{type(act).__name__}: off by {off}, {replaced}", off == 0 and not calls and not replaced.gated_activations)
    x = normal(3, 64)
    for act in (torch.nn.SiLU(inplace=True), torch.nn.ReLU(inplace=True)):
        off, replaced, calls = beside_own_gate(Gated(act), x, x)
        expect(f"in place: off by {off}, {replaced}", not calls and not replaced.gated_activations)
    for dtype, has in ((torch.float32, 1), (torch.bfloat16, 0), (torch.float64, 0)):
        off, replaced, calls = beside_own_gate(Gated(InSingle()), normal(3, 64, dtype=dtype), normal(3, 64, dtype=dtype))
        expect(f"{dtype}: off by {off}, {calls} calls", off < 1e-5 and calls == has)


@check
def products_in_a_source():
    """Python's precedence and order of evaluation are kept. Other expressions than a product of two tensors of
    one shape are computed as before."""
    class Products(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.act, self.other, self.order = torch.nn.SiLU(), torch.nn.ModuleDict({"act": torch.nn.ReLU()}), []

        def seen(self, x, name):
            self.order.append(name)
            return x

        @method_of_transformers
        def forward(self, g, u):
            text = """self.act(g) * u
            is not a product here"""
            a = u / g * self.act(g)
            b = -self.act(g) * u ** 2 + u - self.act(g) * u / 2
            c = self.act(g) * self.act(u) * 2  # in one expression
            d = self.act(*(g,)) * u + self.act(input=g) * u + self.act.forward(g) * u
            other = self.other
            d = d + (self.act(g) + u) / (1.5 + self.act(g)) + other.act(g) * u
            e = self.act(g) * 2 + self.act(g) * u[:1] + self.act(g) * u.double().float()
            f = self.seen(u, "first") * self.act(self.seen(g, "second"))
            f = self.act(self.seen(g, "third")) * \
                self.seen(u, "fourth") + f
            if text != "self.act(g) * u\n            is not a product here":
                raise ValueError(text)
            return torch.stack((a, b, c, d, e, f, (self.act(g).double() * u).float()))

    module = Products().to(device)
    off, replaced, calls = beside_own_gate(module, normal(5, 64), normal(5, 64))
    expect(f"off by {off}, {calls} calls, {replaced}", off < 1e-4 and replaced.gated_activations == {"Products": 1} and calls == 6)
    expect(f"{module.order}", module.order == ["first", "second", "third", "fourth"] * 2)


@check
def lines_of_tracebacks():
    """A changed method has the line numbers of its source."""
    gated = Gated(torch.nn.SiLU())
    lines = []
    for _ in range(2):
        try:
            gated(normal(3, 64), "not a tensor")
        except TypeError as reason:
            lines.append([(frame.filename, frame.lineno) for frame in traceback.extract_tb(reason.__traceback__) if frame.line.startswith("return self.act(")])
        hipops.torch.patch(gated)
    expect(f"{lines}", lines[0] == lines[1] and len(lines[0]) == 1)


@check
def products_lie_as_before():
    dense, wide, turned = normal(3, 5, 64), normal(3, 5, 128), normal(5, 3, 64).transpose(0, 1)
    for gate, up, calls in ((dense, dense, 1), (*wide.chunk(2, -1), 1), (wide[..., ::2], wide[..., 1::2], 1), (turned, dense, 0), (dense, turned, 0),
                            (turned, turned, 0), (dense[:1].expand(3, 5, 64), dense, 0), (dense[:, :0], dense[:, :0], 1)):
        for made in (Gated, GatedAfter):
            module = made(torch.nn.SiLU())
            with torch.no_grad():
                own, replaced = module(gate, up), hipops.torch.patch(module)
                with Counted() as ops:
                    got = module(gate, up)
            expect(f"{made.__name__} {gate.stride()}, {up.stride()}: {got.stride()}, own {own.stride()}, {ops.counts}, {replaced}",
                   got.stride() == own.stride() and torch.allclose(got, own, 1e-5, 1e-5) and ops.counts["activation_and_mul"] == calls)


@check
def activations_that_change():
    """After patch, another activation is used, and so are hooks and another forward of its class."""
    model, ids = small()
    hipops.torch.patch(model)
    mlp, seen = model.model.layers[0].mlp, []
    handle = mlp.act_fn.register_forward_hook(lambda *given: seen.append(1))
    got, ran = counted(model, ids)
    expect(f"a hook ran {len(seen)} times: {ran}", len(seen) == 1 and ran["activation_and_mul"] == 1)
    handle.remove()
    mlp.act_fn.forward = lambda x: x.square()
    got, ran = counted(model, ids)
    expect(f"a forward of its own: {ran}", ran["activation_and_mul"] == 1)
    del mlp.act_fn.forward
    own, kept = type(mlp.act_fn).__mro__[1], type(mlp.act_fn).__mro__[1].forward
    own.forward = lambda self, x: x.square()
    try:
        other, ran = counted(model, ids)
    finally:
        own.forward = kept
    expect(f"a forward of its class: {ran}", ran["activation_and_mul"] == 0 and distance(other, got) > 0)
    for act in (torch.nn.ReLU(), torch.nn.functional.relu):
        del mlp.act_fn
        mlp.act_fn = act
        got, ran = counted(model, ids)
        unpatched = copy.deepcopy(model)
        hipops.torch.unpatch(unpatched)
        expect(f"{act}: {ran}", ran["activation_and_mul"] == 1 and distance(got, logits(unpatched, ids)) < 1e-4)


@check
def experts():
    """The function that finds the experts' implementation still runs. A changed limit or alpha is used."""
    sizes = {"num_local_experts": 4, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 64}
    for name in ("GptOss", "Mixtral", "Qwen3Moe"):
        model, ids = small(name, **sizes)
        modules = [module for module in model.modules() if type(module).__name__ == name + "Experts"]
        own, forward = logits(model, ids), type(modules[0]).forward
        replaced = hipops.torch.patch(model)
        got, ran = counted(model, ids)
        expect(f"{name}: {replaced}, {ran}", replaced.gated_activations[name + "Experts"] == 2 == ran["activation_and_mul"] and distance(got, own) < 1e-4)
        expect(f"{name}: another forward", type(modules[0]).forward is forward)
    gate_up = normal(7, 128) * 20
    module = small("GptOss", num_hidden_layers=1, **sizes)[0].model.layers[0].mlp.experts
    own, kept = copy.deepcopy(module), copy.deepcopy(module)
    kept._apply_gate = own._apply_gate
    left = hipops.torch.patch(kept).left_alone
    expect(f"{left}", "_apply_gate of its own" in left[""])
    hipops.torch.patch(module)
    for changed, calls in (({}, 1), ({"limit": 3.0}, 1), ({"alpha": 0.5}, 1), ({"limit": 0.0}, 0), ({"limit": torch.tensor(2.0, device=device)}, 0)):
        for one in (module, own):
            vars(one).update(changed)
        with torch.no_grad(), Counted() as ops:
            off = distance(module._apply_gate(gate_up), own._apply_gate(gate_up))
        expect(f"{changed}: off by {off}, {ops.counts}", off < 1e-4 and ops.counts["activation_and_mul"] == calls)


@check
def experts_without_a_gate():
    """transformers gives each class of experts the method _apply_gate; these do not call it."""
    class WithoutGate(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.act_fn, self.has_gate = torch.nn.SiLU(), False

        @method_of_transformers
        def _apply_gate(self, x):
            gate, up = x.chunk(2, -1)
            return self.act_fn(gate) * up

        def forward(self, x):
            return self.act_fn(x)

    module = WithoutGate()
    expect(f"{hipops.torch.patch(module)}", not hipops.torch.patch(module).gated_activations and type(module) is WithoutGate)
    module.has_gate = True
    expect(f"{hipops.torch.patch(module)}", isinstance(module.act_fn, torch.nn.SiLU) and type(module) is not WithoutGate)


# ---- Weights that are not there

@check
def weights_without_elements():
    model, ids = small("Gemma")
    own = logits(model, ids)
    kept = {n: p.data for n, p in model.named_parameters() if "norm" in n}
    for n, p in model.named_parameters():
        if n in kept:
            p.data = p.data[:0]
    replaced = hipops.torch.patch(model)
    for n, p in model.named_parameters():
        if n in kept:
            p.data = kept[n]
    expect(f"off by {distance(logits(model, ids), own)}; {replaced}", distance(logits(model, ids), own) < 1e-4 and "model.norm" in replaced.left_alone)
    expect(f"unlike what it left alone: {replaced}", not replaced.norms)


@check
def weights_elsewhere():
    """Offloading leaves the first weight and one norm on meta. patch names that norm, and patches the others."""
    model, ids = small()
    own = logits(model, ids)
    embedding, norm = model.model.embed_tokens, model.model.layers[0].input_layernorm
    kept = embedding.weight, norm.weight
    embedding.weight, norm.weight = (torch.nn.Parameter(w.to("meta")) for w in kept)
    replaced = hipops.torch.patch(model)
    expect(f"{replaced}", replaced.norms == {"LlamaRMSNorm": 4} and list(replaced.left_alone) == ["model.layers.0.input_layernorm"])
    embedding.weight, norm.weight = kept
    expect("it is another", distance(logits(model, ids), own) < 1e-4)


# ---- Copies

@check
def replicas_have_their_own_weights():
    model, ids = small()
    hipops.torch.patch(model)
    norm, x = model.model.norm, normal(4, 128)
    for made in (norm._replicate_for_data_parallel(), copy.copy(norm), copy.deepcopy(norm)):
        made._parameters = {}
        made.weight = normal(128)
        with torch.no_grad():
            expected = torch.nn.functional.rms_norm(x, (128,), made.weight, 1e-6)
            expect(f"off by {distance(made(x), expected)}", distance(made(x), expected) < 1e-5)
            expect("the copy is not patched", type(made) is type(norm) and counts_of(made, x) == 1)
    # Copies of one model in several threads at the same time.
    replicas, wrong = [copy.deepcopy(model) for _ in range(4)], []
    for i, replica in enumerate(replicas):
        for parameter in replica.parameters():
            parameter.data *= 1 + i / 10
    expected = []
    for replica in replicas:
        single = copy.deepcopy(replica)
        hipops.torch.unpatch(single)
        expected.append(logits(single, ids))

    def run(i):
        for _ in range(5):
            if not distance(logits(replicas[i], ids), expected[i]) < 1e-3:
                wrong.append(i)
    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect(f"threads: {wrong}", not wrong)


@check
def copies_of_compiled_and_locked_modules():
    """A copy has the state that the class gives: without a compiled call, and without a lock."""
    model, ids = small()
    hipops.torch.patch(model)
    for layer in model.model.layers:
        layer.compile(backend="eager")
    copied = copy.deepcopy(model)
    for parameter in copied.model.layers.parameters():
        parameter.data.mul_(3.0)
    got = logits(copied, ids)
    hipops.torch.unpatch(copied)
    for layer in copied.model.layers:
        layer._compiled_call_impl = None
    expect(f"compiled: off by {distance(got, logits(copied, ids))}", distance(got, logits(copied, ids)) < 1e-4)

    class LockedRMSNorm(torch.nn.RMSNorm):
        def __getstate__(self):
            return {name: value for name, value in super().__getstate__().items() if name != "lock"}

    norm = LockedRMSNorm(64, 1e-5, device=device)
    norm.lock = threading.Lock()
    hipops.torch.patch(norm)
    for made in (copy.copy(norm), copy.deepcopy(norm)):
        expect("locked", type(made) is type(norm) and "lock" not in made.__dict__)


def counts_of(module, x):
    with Counted() as ops:
        module(x)
    return sum(ops.counts.values())


@check
def saved_whole():
    """A model from a file has its own code again, also without hipops, and can be patched."""
    model, ids = small()
    own, before = logits(model, ids), classes(model)
    try:
        pickle.dumps(model)
    except AttributeError as reason:  # with the package kernels, transformers' models have functions without a name
        return print(f"saved_whole: not by itself: {reason}")
    counts = hipops.torch.patch(model)
    with tempfile.TemporaryDirectory() as folder:
        torch.save(model, folder + "/model.pt")
        torch.save(ids, folder + "/ids.pt")
        code = ("import sys, torch\nmodel = torch.load(sys.argv[1] + '/model.pt', weights_only=False)\n"
                "assert 'hipops' not in sys.modules\n"
                "torch.save(model(torch.load(sys.argv[1] + '/ids.pt')).logits.detach(), sys.argv[1] + '/logits.pt')")
        without = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if "hipops" not in os.listdir(p or ".") )}
        done = subprocess.run([sys.executable, "-c", code, folder], env=without, capture_output=True, text=True)
        expect(done.stderr[-300:], done.returncode == 0)
        expect("read without hipops it is another", distance(torch.load(folder + "/logits.pt"), own) < 1e-5)
        read = torch.load(folder + "/model.pt", weights_only=False)
    expect("classes of what was read", classes(read) == before)
    again = hipops.torch.patch(read)
    expect(f"{again}", again.norms == counts.norms and not again.patched_before and not again.left_alone)
    hipops.torch.unpatch(read)
    expect("unpatched it is another", torch.equal(logits(read, ids), own) and classes(read) == before)
    expect("a pickle is another", torch.equal(logits(pickle.loads(pickle.dumps(model)), ids), own))


# ---- Derivatives

@check
def forward_derivatives():
    model, ids = small()
    model.set_attn_implementation("eager")
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    embedded = model.model.embed_tokens(ids)
    function = lambda x: model(inputs_embeds=x, use_cache=False).logits  # noqa: E731
    direction = torch.randn_like(embedded)
    own = torch.func.jvp(function, (embedded,), (direction,))[1]
    hipops.torch.patch(model)
    with torch.no_grad():
        got = torch.func.jvp(function, (embedded,), (direction,))[1]
    got = torch.func.jvp(function, (embedded,), (direction,))[1]
    expect(f"tangents of {got.abs().max()} for {own.abs().max()}", distance(got, own) < 1e-3)
    mapped = torch.func.vmap(lambda x: function(x[None])[0])(embedded)
    expect("vmap", distance(mapped, logits(model, ids)) < 1e-3)


@check
def gradients_and_checkpointing():
    model, ids = small()
    model(ids).logits.square().mean().backward()
    own = {n: p.grad.clone() for n, p in model.named_parameters()}
    hipops.torch.patch(model)
    for checkpointing in (False, True):
        model.zero_grad()
        if checkpointing:
            model.gradient_checkpointing_enable()
        model.train()
        with Counted() as ops:
            model(ids).logits.square().mean().backward()
        expect(f"checkpointing {checkpointing}: {ops.counts}", all(ops.counts[op] for op in ("rms_norm", "fused_add_rms_norm", "rope")))
        off = max(distance(p.grad, own[n]) for n, p in model.named_parameters())
        expect(f"checkpointing {checkpointing}: gradients off by {off}", off < 1e-6)
    model.gradient_checkpointing_disable()
    penalties = []
    for change in (lambda model: None, hipops.torch.unpatch):
        change(model)
        weight = model.model.norm.weight
        gradient = torch.autograd.grad(model(ids).logits.square().mean(), weight, create_graph=True)[0]
        penalties.append(torch.autograd.grad(gradient.square().sum(), model.model.layers[0].input_layernorm.weight)[0])
    expect("second derivatives", distance(*penalties) < 1e-4 * penalties[1].abs().max().item())
    model, ids = small(dtype=torch.bfloat16)
    gradients = []
    for change in (lambda model: None, hipops.torch.patch, lambda model: hipops.torch.unpatch(model) or model.float()):
        change(model)
        gradients.append(torch.autograd.grad(model(ids).logits.float().square().mean(), list(model.parameters())))
    own, got = (sum((a.double() - b.double()).square().sum() for a, b in zip(each, gradients[2])).sqrt().item() for each in gradients[:2])
    expect(f"bf16 gradients: {got} from float32's, the model's own {own}", got < 1.1 * own)


@check
def autocast_and_casts():
    model, ids = small()
    own16, own = copy.deepcopy(model).bfloat16(), copy.deepcopy(model)
    hipops.torch.patch(model)
    with torch.autocast(device, torch.bfloat16):
        got, ran = counted(model, ids)
        expect(f"autocast: {ran}", torch.equal(got, logits(own, ids)) and not ran)
    model.bfloat16()
    got, ran = counted(model, ids)
    expect(f"cast: {ran}", distance(got, logits(own16, ids)) < 0.1 and ran["rms_norm"] == 3)
    norm = torch.nn.RMSNorm(64, 1e-5, device=device, dtype=torch.float64)
    expect("float64 is patched", not hipops.torch.patch(norm).norms)


# ---- Changes after the patch

@check
def functions_bound_anew():
    from transformers.models.llama import modeling_llama
    model, ids = small()
    model.set_attn_implementation("eager")
    hipops.torch.patch(model)
    before, seen = logits(model, ids), []
    for name in ("eager_attention_forward", "apply_rotary_pos_emb"):
        kept = getattr(modeling_llama, name)

        def other(*given, kept=kept, name=name, **named):
            seen.append(name)
            return kept(*given, **named)
        setattr(modeling_llama, name, other)
        try:
            logits(model, ids)
        finally:
            setattr(modeling_llama, name, kept)
        expect(f"{name}: seen {seen}", seen.count(name) == 2)
    for called in ("LlamaRMSNorm", "LlamaDecoderLayer", "LlamaRotaryEmbedding"):
        changed = getattr(modeling_llama, called)
        kept = changed.forward

        def another(self, *given, kept=kept, called=called, **named):
            seen.append(called)
            return kept(self, *given, **named)
        changed.forward = another
        try:
            logits(model, ids)
        finally:
            changed.forward = kept
        expect(f"{called}.forward: seen {seen}", seen.count(called) == {"LlamaRMSNorm": 5, "LlamaDecoderLayer": 2}.get(called, 1))
    expect("it is another", torch.equal(before, logits(model, ids)))


@check
def another_eps():
    model, x = small()[0], normal(4, 128) * 1e-2
    norm = model.model.norm
    hipops.torch.patch(model)
    norm.variance_epsilon = 0.5
    with torch.no_grad():
        off = distance(norm(x), torch.nn.functional.rms_norm(x, (128,), norm.weight, 0.5))
        expect(f"off by {off}", off < 1e-5)
        layer = model.model.layers[0]
        layer.post_attention_layernorm.variance_epsilon = 0.5
        ids = torch.randint(1000, (1, 9), device=device)
        got = logits(model, ids)
        hipops.torch.unpatch(model)
        expect("fused", distance(got, logits(model, ids)) < 1e-4)


@check
def hooks():
    """Own and global hooks run the same number of times as before, and a norm may replace another."""
    model, ids = small(num_hidden_layers=3)
    for register in (torch.nn.modules.module.register_module_forward_hook, torch.nn.modules.module.register_module_forward_pre_hook):
        seen = []
        for is_patched in (False, True):
            if is_patched:
                hipops.torch.patch(model)
            handle = register(lambda module, *rest: seen.append((is_patched, module)))
            logits(model, ids)
            handle.remove()
        hipops.torch.unpatch(model)
        times = [sum("RMSNorm" in type(module).__name__ for when, module in seen if when == is_patched) for is_patched in (False, True)]
        expect(f"global hooks: {times}", times == [7, 7])
    hipops.torch.patch(model)
    seen, layer = [], model.model.layers[0]
    layer.post_attention_layernorm.register_forward_hook(lambda *a: seen.append(1))
    logits(model, ids)
    layer.post_attention_layernorm = torch.nn.Identity()
    got = logits(model, ids)
    hipops.torch.unpatch(model)
    expect(f"hooks ran {len(seen)} times", seen == [1] and distance(got, logits(model, ids)) < 1e-4)


# ---- Wrappers

@check
def accelerate_hooks():
    try:
        from accelerate.hooks import ModelHook, add_hook_to_module, remove_hook_from_module
    except ImportError:
        return print("accelerate_hooks: no accelerate")
    for when in ("after", "before"):
        model, ids = small()
        own, before = logits(model, ids), classes(model)
        if when == "after":
            hipops.torch.patch(model)
        for module in model.modules():
            add_hook_to_module(module, ModelHook())
        if when == "before":
            left = hipops.torch.patch(model).left_alone
            expect(f"{left}", "model.norm" in left and "wrapper" in left["model.norm"])
        expect(f"hooks {when}", distance(logits(model, ids), own) < 1e-4)
        hipops.torch.unpatch(model)
        expect(f"hooks {when}, unpatched", torch.equal(logits(model, ids), own) and classes(model) == before)
        for module in model.modules():
            remove_hook_from_module(module)
        expect(f"hooks {when}, removed", torch.equal(logits(model, ids), own))


@check
def parametrized():
    class Twice(torch.nn.Module):
        def forward(self, w):
            return 2 * w

    def twice(model):
        for module in model.modules():
            if "RMSNorm" in type(module).__name__:
                torch.nn.utils.parametrize.register_parametrization(module, "weight", Twice())
    model, ids = small()
    before, doubled = classes(model), copy.deepcopy(model)
    twice(doubled)
    own = logits(doubled, ids)
    hipops.torch.patch(model)
    twice(model)
    expect("parametrized", distance(logits(model, ids), own) < 1e-4)
    copied = copy.deepcopy(model)
    expect("parametrized, copied", distance(logits(copied, ids), own) < 1e-4)
    hipops.torch.unpatch(model)
    expect("unpatched", torch.equal(logits(model, ids), own) and "ParametrizedLlamaRMSNorm" in [c.__name__ for c in classes(model)])
    for module in model.modules():
        if "ParametrizedLlamaRMSNorm" == type(module).__name__:
            torch.nn.utils.parametrize.remove_parametrizations(module, "weight")
    expect("unparametrized", classes(model) == before)
    left = hipops.torch.patch(doubled).left_alone
    expect(f"parametrized first: {left}", "model.norm" in left and distance(logits(doubled, ids), own) < 1e-4)


SHARDED = """
import sys
import torch, torch.distributed as dist
sys.argv[1:], given = [], sys.argv[1:]
rank, port, when, how = int(given[0]), given[1], given[2], given[3]
dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
import transformers, hipops.torch
torch.manual_seed(1)
config = transformers.GemmaConfig(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                                  head_dim=16, vocab_size=200)
model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
for n, p in model.named_parameters():
    if "norm" in n:
        torch.nn.init.normal_(p, std=0.2)
ids = torch.randint(200, (2, 10))

with torch.no_grad():
    own = model(ids).logits
    if when == "before":
        print(hipops.torch.patch(model))
    if how == "fsdp2":
        from torch.distributed.fsdp import fully_shard
        mesh = torch.distributed.init_device_mesh("cpu", (2,))
        for layer in model.model.layers:
            fully_shard(layer, mesh=mesh)
        fully_shard(model, mesh=mesh)
        wrapped = model
    elif how == "fsdp1":
        from torch.distributed.fsdp import FullyShardedDataParallel
        wrapped = FullyShardedDataParallel(model, device_id=torch.device("cpu"), use_orig_params=True)
    elif how == "tensor":
        from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, SequenceParallel, parallelize_module
        mesh = torch.distributed.init_device_mesh("cpu", (2,))
        for layer in model.model.layers:
            parallelize_module(layer, mesh, {"self_attn." + n: ColwiseParallel() for n in ("q_proj", "k_proj", "v_proj")} | {
                "self_attn.o_proj": RowwiseParallel(), "mlp.gate_proj": ColwiseParallel(), "mlp.up_proj": ColwiseParallel(), "mlp.down_proj": RowwiseParallel()})
        parallelize_module(model.model, mesh, {"norm": SequenceParallel(sequence_dim=1, use_local_output=True)})
        wrapped = model
    else:
        from torch.nn.parallel import DistributedDataParallel
        wrapped = DistributedDataParallel(model)
    if when == "after":
        print(replaced := hipops.torch.patch(wrapped))
        assert how == "ddp" or replaced.left_alone or replaced.norms, replaced
    for again in range(2):
        off = (wrapped(ids).logits - own).abs().max().item()
        assert off < 1e-4, off
    hipops.torch.unpatch(wrapped)
    off = (wrapped(ids).logits - own).abs().max().item()
    assert off < 1e-4, off
dist.destroy_process_group()
"""


@check
def two_ranks():
    if device == "cuda" or not torch.distributed.is_available():
        return
    for how in ("fsdp2", "fsdp1", "ddp", "tensor"):
        for when in ("before", "after"):
            port = str(20000 + os.getpid() % 20000 + hash((how, when)) % 1000)
            ranks = [subprocess.Popen([sys.executable, "-c", SHARDED, str(rank), port, when, how], text=True, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT) for rank in range(2)]
            output = [rank.communicate(timeout=240)[0] for rank in ranks]
            expect(f"{how}, patched {when}: {output[0][-600:]}", all(rank.returncode == 0 for rank in ranks))


@check
def state_and_adapters():
    model, ids = small()
    own, keys = logits(model, ids), list(model.state_dict())
    hipops.torch.patch(model)
    expect("state_dict", list(model.state_dict()) == keys and repr(type(model.model.norm).__name__) == "'LlamaRMSNorm'")
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        read = transformers.AutoModelForCausalLM.from_pretrained(folder).to(device).eval()
        expect("save_pretrained", torch.equal(logits(read, ids), own))
    try:
        import peft
    except ImportError:
        return print("state_and_adapters: no peft")
    tuned = peft.get_peft_model(model, peft.LoraConfig(task_type="CAUSAL_LM", target_modules=["q_proj"], modules_to_save=["norm"]))
    expect("peft", distance(logits(tuned, ids), own) < 1e-4)
    tuned.train()(ids).logits.square().mean().backward()
    expect("peft: a gradient", any(p.grad is not None for p in tuned.parameters()))
    merged = tuned.eval().merge_and_unload()
    hipops.torch.unpatch(merged)
    expect("peft, merged", distance(logits(merged, ids), own) < 1e-4)


# ---- Compilers

@check
def compiled():
    for name in ("Llama", "Cohere", "Gemma2", "GptOss", "Qwen3")[:2 if device == "cuda" else 5]:  # inductor needs some time
        model, ids = small(name)
        own = logits(model, ids)
        hipops.torch.patch(model)
        with torch.no_grad():
            explained = torch._dynamo.explain(model)(ids, use_cache=False)
            expect(f"{name}: {explained.graph_break_count} graph breaks: {explained.break_reasons}", not explained.graph_break_count)
            torch._dynamo.reset()
            got = torch.compile(model, backend="inductor" if device == "cuda" else "aot_eager", fullgraph=True)(ids, use_cache=False).logits
            expect(f"{name}: {distance(got, own)}", distance(got, own) < 1e-4)
            torch._dynamo.reset()
    exported = torch.export.export(small_patched := hipops_patched(), (torch.ones(1, 5, dtype=torch.int64, device=device),), {"use_cache": False}, strict=False)
    expect("export: hipops' ops in it", "hipops" not in exported.graph_module.code and small_patched is not None)


def hipops_patched():
    model, _ = small()
    hipops.torch.patch(model)
    return model


@check
def generates():
    model, ids = small()
    named = {"max_new_tokens": 6, "do_sample": False, "pad_token_id": 0, "eos_token_id": 999}
    own = model.generate(ids, **named)
    hipops.torch.patch(model)
    for cache in ({}, {"cache_implementation": "static"}):
        expect(f"generate {cache}", torch.equal(model.generate(ids, **named, **cache), own))


# ---- The layers

@check
def plain_layers():
    from hipops.torch import layers
    x, h = normal(5, 64), normal(5, 64)
    rms, fused, layer = layers.RMSNorm(64, 1e-5, device=device), layers.FusedAddRMSNorm(64, 1e-5, device=device), layers.LayerNorm(64, device=device)
    F = torch.nn.functional
    for is_graded in (False, True):
        with torch.set_grad_enabled(is_graded), Counted() as ops:
            for parameter in (*rms.parameters(), *fused.parameters(), *layer.parameters()):
                torch.nn.init.normal_(parameter)
            expect("RMSNorm", distance(rms(x), F.rms_norm(x, (64,), rms.weight, 1e-5)) < 1e-5)
            y, s = fused(x, h)
            expect("FusedAddRMSNorm", distance(y, F.rms_norm(x + h, (64,), fused.weight, 1e-5)) < 1e-5 and torch.equal(s, x + h))
            expect("LayerNorm", distance(layer(x), F.layer_norm(x, (64,), layer.weight, layer.bias)) < 1e-5)
            if is_graded:
                loss = rms(x).square().sum() + sum(each.square().sum() for each in fused(x, h)) + layer(x).square().sum()
                parameters = rms.weight, fused.weight, layer.weight
                own = [F.rms_norm(x, (64,), rms.weight, 1e-5), F.rms_norm(x + h, (64,), fused.weight, 1e-5), F.layer_norm(x, (64,), layer.weight, layer.bias)]
                right = torch.autograd.grad(sum(each.square().sum() for each in own), parameters)
                for got, expected in zip(torch.autograd.grad(loss, parameters), right):
                    expect("the gradient of a layer", distance(got, expected) < 1e-3)
        known = BACKWARD if is_graded else ("rms_norm", "fused_add_rms_norm", "layer_norm")
        expect(f"{ops.counts}", all(bool(ops.counts[op]) == (op in known) for op in ("rms_norm", "fused_add_rms_norm", "layer_norm")))
    angles = normal(2, 7, 8)
    for rotate, doubled, turned in ((layers.apply_rotary_pos_emb, torch.cat((angles, angles), -1), rotate_half),
                                    (layers.apply_rotary_pos_emb_interleaved, angles.repeat_interleave(2, -1),
                                     lambda x: torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2))):
        for at in (1, 2):
            q, k = (t if at == 1 else t.transpose(1, 2) for t in (normal(2, 4, 7, 16), normal(2, 3, 7, 16)))
            cos, sin = doubled.cos(), doubled.sin()
            expected = [t * cos.unsqueeze(at) + turned(t) * sin.unsqueeze(at) for t in (q, k)]
            for given in (q, q.clone().requires_grad_()):
                with Counted() as ops:
                    got = rotate(given, k, cos, sin, unsqueeze_dim=at)
                expect(f"{ops.counts}", sum(ops.counts.values()) == 2)
                if given.requires_grad:
                    right = expected[0].detach() * cos.unsqueeze(at) - turned(expected[0] * sin.unsqueeze(at))
                    expect("the gradient of q", distance(torch.autograd.grad(got[0], given, expected[0])[0], right) < 1e-5)
                    expect("a table with a gradient", rotate(q, k, cos.clone().requires_grad_(), sin, unsqueeze_dim=at)[0].grad_fn.name() != "HipopsOpBackward")
                expect(f"{rotate.__name__} {at}", all(distance(g.detach(), e) < 1e-5 for g, e in zip(got, expected)))


@check
def the_pages_lines_for_kernels():
    try:
        import kernels  # noqa: F401
        from transformers.utils import import_utils
    except ImportError:
        return print("the_pages_lines_for_kernels: no package kernels")
    if not import_utils.is_kernels_available():
        return print("the_pages_lines_for_kernels: not the version of kernels that transformers takes")
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    lines = next(block for block in blocks if "kernelize" in block)
    model, ids = small()
    own = logits(model, ids)
    exec(compile(lines, str(PAGE), "exec"), {"model": model})
    got, ran = counted(model, ids)
    expect(f"{ran}", ran == {"rms_norm": 5, "rope": 4} and distance(got, own) < 1e-4)


@check
def kernelized_first_or_after():
    try:
        import kernels
        from transformers.utils import import_utils
    except ImportError:
        return print("kernelized_first_or_after: no package kernels")
    if not import_utils.is_kernels_available():
        return print("kernelized_first_or_after: not the version of kernels that transformers takes")
    from hipops.torch import layers
    model, ids = small()
    own = logits(model, ids)
    for patch_first in (True, False):
        one = copy.deepcopy(model)
        if patch_first:
            hipops.torch.patch(one)
        with kernels.use_kernel_mapping(layers.kernel_mapping(), inherit_mapping=False):
            kernels.kernelize(one, mode=kernels.Mode.INFERENCE)
        if not patch_first:
            left = hipops.torch.patch(one).left_alone
            expect(f"{left}", "model.norm" in left)
        expect(f"patched first: {patch_first}", distance(logits(one, ids), own) < 1e-4)


# ---- The page

def main():
    wrong = 0
    for one in checks:
        if len(sys.argv) > 1 and one.__name__ not in sys.argv[1:]:
            continue
        torch.manual_seed(1)
        try:
            one()
        except Exception as reason:
            wrong += 1
            words = str(reason) if isinstance(reason, AssertionError) else traceback.format_exc().strip()[-700:]
            print(f"{one.__name__}: {words}", flush=True)
    print(f"{len(checks)} checks, {wrong} failed" if wrong else f"PyTorch {torch.__version__}, transformers {transformers.__version__} on {device}: passed")
    sys.exit(1 if wrong else 0)


main()
