"""A sampler in Python: 32 decode steps of four sequences, each with its own numbers, checked against plain loops.

    python3 docs/examples/sampler.py          NumPy's memory, on the CPU
    python3 docs/examples/sampler.py cuda     PyTorch's memory on a GPU of AMD or NVIDIA; the steps are replays of one graph

It is sampler.cpp in Python, and prints the same tokens. Only the model, which here is a hash, and the uniform numbers are the
engine's own.
"""

import sys

import hipops
import numpy as np

SEQUENCES, VOCABULARY, STEPS, PROMPT, SEED = 4, 1000, 32, 20, 7

# Each request's numbers. Temperature 0 is greedy. The penalties of the last request change no logit.
REQUESTS = {"repetition": [1.3, 1.1, 1, 1], "frequency": [0, 0.2, 0.5, 0], "presence": [0, 0.1, -0.2, 0],
            "temperature": [0, 0.8, 1, 1.5], "top_k": [0, 50, 0, 200], "top_p": [1, 0.9, 1, 0.95], "min_p": [0, 0, 0.05, 0]}


def mixed(n):
    n = np.atleast_1d(np.asarray(n, np.uint32))
    for _ in range(2):
        n = (n ^ n >> np.uint32(16)) * np.uint32(0x45D9F3B)
    return n ^ n >> np.uint32(16)


def model(last):
    """The logits of each sequence after its last token."""
    place = (np.arange(SEQUENCES) * VOCABULARY + last)[:, None] * VOCABULARY + np.arange(VOCABULARY)
    return (mixed(place) % 4096).astype(np.float32) / 256 - 8


def uniform_numbers(step):
    return (mixed(SEED + step * SEQUENCES + np.arange(SEQUENCES)) >> np.uint32(8)).astype(np.float32) / np.float32(2**24)


# ---- The same by loops

def lowered(x, prompt, count, repetition, frequency, presence):
    if prompt or count:
        x = x / repetition if x > 0 else x * repetition
    return x - frequency * np.float32(count) - presence if count else x


def drawn(x, number, temperature, top_k, top_p, min_p):
    left = sorted(range(len(x)), key=lambda v: -x[v])
    if temperature == 0:
        return left[0]
    weight = np.exp((x.astype(np.float64) - x[left[0]]) / temperature)
    if top_k > 0:
        left = left[:top_k]
    most, total, kept = top_p * sum(weight[left]), 0.0, 0
    while kept < len(left) and total < most:
        total += weight[left[kept]]
        kept += 1
    left = sorted(v for v in left[:kept] if weight[v] >= min_p)
    bound, total = number * sum(weight[left]), 0.0
    for v in left:
        total += weight[v]
        if total > bound:
            return v
    return left[-1]


def main(device):
    if device == "cpu":
        hipops.init("cpu")
        to_device, to_host, fill = np.array, np.array, np.copyto
    else:
        import torch
        to_device, to_host = lambda array: torch.from_numpy(array).to(device), lambda tensor: tensor.cpu().numpy()
        fill = lambda tensor, array: tensor.copy_(torch.from_numpy(array))  # noqa: E731

    of_requests = {name: np.array(row, np.int32 if name == "top_k" else np.float32) for name, row in REQUESTS.items()}
    last = np.array([mixed(1000 * s + np.arange(PROMPT)) % VOCABULARY for s in range(SEQUENCES)]).astype(np.int32)
    prompt = np.zeros((SEQUENCES, VOCABULARY), np.uint8)
    np.put_along_axis(prompt, last, 1, 1)
    last = last[:, -1]

    numbers = {name: to_device(row) for name, row in of_requests.items()}
    logits, uniform = to_device(np.zeros(prompt.shape, np.float32)), to_device(np.zeros(SEQUENCES, np.float32))
    in_prompt, counts = to_device(prompt), to_device(np.zeros(prompt.shape, np.int32))
    tokens, ones = to_device(last), to_device(np.ones((SEQUENCES, 1), np.int32))

    def step():
        """Three launches, which a graph can capture."""
        hipops.apply_penalties(logits, in_prompt, counts, *(numbers[name] for name in ("repetition", "frequency", "presence")), out=logits)
        hipops.sample(logits, uniform, *(numbers[name] for name in ("temperature", "top_k", "top_p", "min_p")), out=tokens)
        hipops.scatter_add_(counts, 1, tokens.reshape(SEQUENCES, 1), ones)

    if device != "cpu":
        hipops.prepare()  # loads the kernels, which a capture may not
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        step = graph.replay

    wrong = 0
    for number in range(STEPS):
        x, drawn_numbers, often = model(last), uniform_numbers(number), to_host(counts)
        expected = []
        for s in range(SEQUENCES):
            of_logits, of_sample = ([of_requests[name][s] for name in names.split()] for names in
                                    ("repetition frequency presence", "temperature top_k top_p min_p"))
            row = np.array([lowered(x[s, v], prompt[s, v], often[s, v], *of_logits) for v in range(VOCABULARY)], np.float32)
            expected.append(drawn(row, drawn_numbers[s], *of_sample))
        fill(logits, x)
        fill(uniform, drawn_numbers)
        step()
        last = to_host(tokens)
        wrong += int((last != expected).sum())
        print(*last)
    wrong += int((to_host(counts).sum(1) != STEPS).sum())
    if wrong:
        sys.exit(f"{wrong} tokens or counts differ from the loops'")


main(sys.argv[1] if len(sys.argv) > 1 else "cpu")
