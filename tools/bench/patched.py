#!/usr/bin/env python3
"""Measures hipops.torch.patch: logits and speed of models with random weights, with their own functions and with hipops'. Needs a
GPU, PyTorch, transformers, and the package hipops (capi/python; HIPOPS_LIBRARY names the library of a checkout).

    PYTHONPATH=capi/python HIPOPS_LIBRARY=build/release/capi/python/libhipops.so tools/bench/patched.py --families Llama,Qwen3
"""

import argparse
import copy
import json
import statistics
import time

import torch
import transformers

import hipops
import hipops.torch

EXPERTS = {"num_local_experts": 8, "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 1024}
FAMILIES = {name: {} for name in ("Llama Qwen2 Qwen3 Mistral Gemma Gemma2 Gemma3Text Phi3 Phi Granite Olmo Olmo2 Exaone4 Cohere Cohere2 Glm Glm4 "
                                  "Ernie4_5 Helium StableLm Starcoder2 GPTNeoX SmolLM3 Ministral Nemotron").split()}
FAMILIES |= {"GptOss": EXPERTS | {"intermediate_size": 1024}, "Qwen3Moe": EXPERTS}
COMPILED = "Llama Qwen3 Gemma2 Phi3 Granite Olmo2 Cohere Glm4 StableLm GPTNeoX".split()


def microseconds(call, seconds):
    """The median time of a call, by events."""
    for _ in range(3):
        call()
    times = []
    while sum(times) < seconds * 1e6 and len(times) < 200:
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(1000 * begin.elapsed_time(end))
    return statistics.median(times)


def graph_of(call):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph.replay


def measured(name, arguments, is_compiled):
    torch.manual_seed(1)
    heads = arguments.hidden // 128
    sizes = {"hidden_size": arguments.hidden, "intermediate_size": 4 * arguments.hidden, "num_hidden_layers": arguments.layers,
             "num_attention_heads": heads, "num_key_value_heads": max(1, heads // 4), "head_dim": 128, "vocab_size": 32000,
             "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    config = getattr(transformers, name + "Config")(**sizes | FAMILIES[name])
    with torch.device("cuda"):  # makes random weights fast
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).cuda().eval()
    for called, parameter in model.named_parameters():
        if "norm" in called and "bias" not in called:
            torch.nn.init.normal_(parameter, mean=0.0 if "Gemma" in name else 1.0, std=0.1)
    patched, figures = copy.deepcopy(model), {}
    replaced = hipops.torch.patch(patched)
    figures["replaced"] = str(replaced)
    ids = torch.randint(32000, (1, arguments.tokens), device="cuda")
    short = ids[:, :256]
    exact = copy.deepcopy(model).float()(short, use_cache=False).logits
    for what, of in (("own", model), ("patched", patched)):
        figures[f"logits {what}"] = (of(short, use_cache=False).logits.float() - exact).square().mean(-1).sqrt().median().item()
    del exact

    def pair(what, make):
        try:
            both = [make(of) for of in (model, patched)]
            # Alternates, so that a change of the clock affects both. Compiled models vary by 10 %, so there are nine turns.
            times = [[microseconds(call, arguments.seconds) for call in both] for _ in range(9)]
        except Exception as reason:
            figures[what] = f"{type(reason).__name__}: {reason}"[:200]
            return print(f"{name}, {what}: {figures[what]}", flush=True)
        figures[what] = [min(run[i] for run in times) for i in (0, 1)]
        print(f"{name}, {what}: {figures[what][0]:.1f} us, patched {figures[what][1]:.1f}: {figures[what][0] / figures[what][1]:.3f}", flush=True)

    # One token without a past: like a decode step, its forward mostly reads the weights.
    prefill = {"input_ids": ids, "use_cache": False, "logits_to_keep": 1}
    token = {"input_ids": ids[:, :1].clone(), "position_ids": torch.tensor([[512]], device="cuda"), "use_cache": False}
    if not is_compiled:
        print(f"{name}: {replaced}\nlogits, from float32's: {figures['logits own']:.6f}, patched {figures['logits patched']:.6f}".replace("\n", "\n  "))
        pair(f"{arguments.tokens} tokens", lambda of: lambda: of(**prefill))
        pair("one token", lambda of: lambda: of(**token))
        pair("one token in a graph", lambda of: graph_of(lambda: of(**token)))
        return figures
    compiled = {id(of): torch.compile(of) for of in (model, patched)}
    pair(f"{arguments.tokens} tokens, compiled", lambda of: lambda: compiled[id(of)](**prefill))
    pair("one token, compiled, in a graph", lambda of: graph_of(lambda: compiled[id(of)](**token)))
    torch._dynamo.reset()
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", default=",".join(FAMILIES), help="of " + ", ".join(FAMILIES))
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--hidden", type=int, default=2048)
    parser.add_argument("--tokens", type=int, default=2048)
    parser.add_argument("--seconds", type=float, default=0.05, help="for each of the nine runs of a figure")
    parser.add_argument("--compiled", default=",".join(COMPILED), help="families that are compiled, too; none where it is empty")
    parser.add_argument("--at-most", type=float, default=3600, help="seconds, after which no family is begun")
    parser.add_argument("--json", help="a file for the figures")
    arguments = parser.parse_args()
    began, figures, slower = time.monotonic(), {}, []
    machine = [torch.cuda.get_device_name(), "PyTorch", torch.__version__, "transformers", transformers.__version__, "hipops", hipops.__version__]
    print(*machine)
    families = [(name, False) for name in arguments.families.split(",")] + [(name, True) for name in arguments.compiled.split(",") if name]
    for name, is_compiled in families:
        if time.monotonic() - began > arguments.at_most:
            print(f"{name}{', compiled' * is_compiled}: not begun, after {arguments.at_most:.0f} s")
            continue
        try:
            with torch.inference_mode() if not is_compiled else torch.no_grad():
                figures.setdefault(name, {}).update(measured(name, arguments, is_compiled))
        except Exception as reason:
            figures.setdefault(name, {})["failed"] = f"{type(reason).__name__}: {reason}"[:300]
            print(f"{name}: {figures[name]['failed']}", flush=True)
        torch.cuda.empty_cache()
        if arguments.json:
            with open(arguments.json, "w") as file:
                json.dump({"machine": machine, "figures": figures}, file, indent=1)
    for name, of in figures.items():
        slower += [f"{name}, {what}: {t[0] / t[1]:.3f}" for what, t in of.items() if isinstance(t, list) and t[0] / t[1] < 0.99]
    print("slower than its own: " + ("; ".join(slower) or "none"))


main()
