#!/usr/bin/env python3
"""Measures a training step of a Llama with random weights: its own functions, hipops.torch.patch, and Liger if it is installed. Prints
time, peak memory, and the distance of each loss from the loss of a float32 model. Needs a GPU, PyTorch, transformers, and the package hipops.

    PYTHONPATH=capi/python HIPOPS_LIBRARY=build/release/capi/python/libhipops.so tools/bench/trained.py
"""

import argparse
import copy
import gc
import json
import statistics

import torch
import transformers

import hipops
import hipops.torch

VOCABULARY = 32000


def own(model):
    return lambda ids: model(input_ids=ids, labels=ids, use_cache=False).loss


def patched(model):
    hipops.torch.patch(model)
    return own(model)


def patched_with_loss(model):
    """The vocabulary's matrix product and the loss in chunks of rows: the logits are never there as a whole."""
    hipops.torch.patch(model)

    def loss(ids):
        hidden = model.model(input_ids=ids, use_cache=False).last_hidden_state
        return hipops.torch.linear_cross_entropy(hidden[:, :-1].flatten(0, 1), model.lm_head.weight, ids[:, 1:].flatten())

    return loss


def liger(model):
    from liger_kernel.transformers import apply_liger_kernel_to_llama
    apply_liger_kernel_to_llama(model=model)
    return own(model)


WAYS = {"own": own, "patched": patched, "patched, linear_cross_entropy": patched_with_loss, "liger": liger}


def batch(step, arguments):
    """Sequences that count upwards from a random token, so that there is something to learn."""
    generator = torch.Generator().manual_seed(step)
    first = torch.randint(VOCABULARY, (arguments.batch, 1), generator=generator)
    return ((first + 7 * torch.arange(arguments.tokens)) % VOCABULARY).cuda()


def losses_of(loss, model, arguments):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    losses = []
    for step in range(arguments.steps):
        optimizer.zero_grad(set_to_none=True)
        value = loss(batch(step, arguments))
        value.backward()
        optimizer.step()
        losses.append(value.item())
    return losses


def timed(loss, model, arguments):
    """Milliseconds of forward and backward, and their peak memory beyond the weights, in MiB."""
    ids = batch(0, arguments)

    def step():
        for parameter in model.parameters():
            parameter.grad = None
        loss(ids).backward()

    for _ in range(3):
        step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    for parameter in model.parameters():
        parameter.grad = None
    before, times = torch.cuda.memory_allocated(), []
    for _ in range(arguments.repeats):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        step()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times), (torch.cuda.max_memory_allocated() - before) / 2**20


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--hidden", type=int, default=2048)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--tokens", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=50, help="losses that are compared with float32's")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--compiled", action="store_true", help="measure each model under torch.compile, too")
    parser.add_argument("--json", help="a file for the figures")
    arguments = parser.parse_args()
    torch.manual_seed(1)
    heads = arguments.hidden // 128
    config = transformers.LlamaConfig(hidden_size=arguments.hidden, intermediate_size=4 * arguments.hidden, num_hidden_layers=arguments.layers,
                                      num_attention_heads=heads, num_key_value_heads=max(1, heads // 4), head_dim=128, vocab_size=VOCABULARY)
    with torch.device("cuda"):
        weights = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32).train()
    exact = losses_of(own(wide := copy.deepcopy(weights)), wide, arguments)
    del wide
    weights = weights.bfloat16()
    machine = [torch.cuda.get_device_name(), "PyTorch", torch.__version__, "transformers", transformers.__version__, "hipops", hipops.__version__]
    print(*machine)
    print(f"{'model':40} {'ms':>8} {'MiB':>8}  loss, first and last; greatest and mean distance from float32's")
    print(f"{'float32, own':40} {'':8} {'':8}  {exact[0]:.4f} {exact[-1]:.4f}")
    figures = {}
    for name, way in WAYS.items():
        for is_compiled in (False, True)[:1 + arguments.compiled]:
            title = name + ", compiled" * is_compiled
            gc.collect()
            torch.cuda.empty_cache()
            try:
                model = copy.deepcopy(weights)
                loss = way(model)
                if is_compiled:
                    torch._dynamo.reset()
                    loss = torch.compile(loss)
                time, memory = timed(loss, model, arguments)
                losses = losses_of(loss, model, arguments) if not is_compiled else []
                figures[title] = {"ms": time, "MiB": memory, "losses": losses}
                apart = [abs(a - b) for a, b in zip(losses, exact)]
                rest = f"{losses[0]:.4f} {losses[-1]:.4f}; {max(apart):.4f} {statistics.mean(apart):.4f}" if losses else ""
                print(f"{title:40} {time:8.2f} {memory:8.0f}  {rest}", flush=True)
            except Exception as reason:  # the other models still run
                print(f"{title:40} failed: {type(reason).__name__}: {str(reason)[:200]}", flush=True)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"machine": machine, "float32": exact, "figures": figures}, file, indent=1)


main()
