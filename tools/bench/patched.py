#!/usr/bin/env python3
"""What hipops.torch.patch brings: logits and speed of a model of random weights, its own functions beside hipops'. Needs a GPU,
PyTorch, transformers, and the package hipops (capi/python; HIPOPS_LIBRARY names the library of a checkout).

    PYTHONPATH=capi/python HIPOPS_LIBRARY=build/release/capi/python/libhipops.so tools/bench/patched.py
"""

import argparse
import copy
import json
import statistics

import torch
import transformers

import hipops
import hipops.torch

FAMILIES = {"llama": transformers.LlamaConfig, "qwen3": transformers.Qwen3Config, "gemma": transformers.GemmaConfig}


def microseconds(call, seconds=0.5):
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", choices=FAMILIES, default="llama")
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--hidden", type=int, default=2048)
    parser.add_argument("--tokens", type=int, default=4096, help="of the prefill")
    parser.add_argument("--no-compile", action="store_true")
    arguments = parser.parse_args()
    torch.manual_seed(1)
    config = FAMILIES[arguments.family](hidden_size=arguments.hidden, intermediate_size=4 * arguments.hidden,
                                        num_hidden_layers=arguments.layers, num_attention_heads=arguments.hidden // 128,
                                        num_key_value_heads=arguments.hidden // 512, head_dim=128, vocab_size=32000)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).cuda().eval()
    for name, parameter in model.named_parameters():
        if "norm" in name:
            torch.nn.init.normal_(parameter, mean=0.0 if arguments.family == "gemma" else 1.0, std=0.1)
    patched = copy.deepcopy(model)
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, "transformers", transformers.__version__, "hipops", hipops.__version__)
    figures = {}
    with torch.no_grad():
        print(hipops.torch.patch(patched))
        ids = torch.randint(config.vocab_size, (1, arguments.tokens), device="cuda")
        exact = copy.deepcopy(model).float()(ids[:, :512]).logits
        for name, of in (("own", model), ("patched", patched)):
            figures[f"logits {name}"] = (of(ids[:, :512]).logits.float() - exact).square().mean().sqrt().item()
        del exact

        def pair(what, make):
            both = [make(of) for of in (model, patched)]
            # By turns, so that a change of the clock meets both.
            times = [[microseconds(call, 0.25) for call in both] for _ in range(3)]
            figures[what] = [min(run[i] for run in times) for i in (0, 1)]
            print(f"{what}: {figures[what][0]:.1f} us, patched {figures[what][1]:.1f}: {figures[what][0] / figures[what][1]:.2f}", flush=True)

        print(f"logits, root mean square distance to float32's: {figures['logits own']:.6f}, patched {figures['logits patched']:.6f}")
        pair(f"prefill of {arguments.tokens}", lambda of: lambda: of(ids, use_cache=False, logits_to_keep=1))
        # One token's forward has no past here: its weights are what a decode step mostly reads.
        token = {"input_ids": ids[:, :1].clone(), "position_ids": torch.tensor([[512]], device="cuda"), "use_cache": False}
        pair("one token", lambda of: lambda: of(**token))
        pair("one token, in a graph", lambda of: graph_of(lambda: of(**token)))
        if not arguments.no_compile:
            compiled = [torch.compile(of, fullgraph=False) for of in (model, patched)]
            by = {id(model): compiled[0], id(patched): compiled[1]}
            explained = torch._dynamo.explain(patched)(ids[:, :64])
            print(f"graph breaks of the patched model: {explained.graph_break_count}")
            torch._dynamo.reset()
            pair(f"prefill of {arguments.tokens}, compiled", lambda of: lambda: by[id(of)](ids, use_cache=False, logits_to_keep=1))
            pair("one token, compiled, in a graph", lambda of: graph_of(lambda: by[id(of)](**token)))
    print(json.dumps(figures))


main()
