#!/usr/bin/env python3
"""python_torch.py PAGE: torch.ops.hipops and hipops.torch.patch, on a GPU where PyTorch sees one, else on the CPU: PyTorch's opcheck,
results beside its own, torch.compile, gradients, and the examples on PAGE. Exit 77 without PyTorch."""

import contextlib
import copy
import functools
import importlib.util
import io
import pathlib
import pickle
import re
import sys

try:
    import torch
except ImportError:
    print("skipped: no PyTorch")
    sys.exit(77)

import hipops._patch
import hipops.torch

wrong = []
device = "cuda" if torch.cuda.is_available() else "cpu"
ops = torch.ops.hipops
torch.manual_seed(1)


def normal(*shape, dtype=torch.float32):
    return torch.randn(*shape, device=device).to(dtype)


def index(below, *shape):
    return torch.randint(below, shape, device=device)


def expect_close(what, got, expected, bound=2e-6):
    difference = (got.double() - expected.double()).abs().max().item() if got.shape == expected.shape else f"shape {tuple(got.shape)}"
    if got.shape != expected.shape or not difference <= bound:
        wrong.append(f"{what}: {difference} from PyTorch's")


def expect(exception, words, call):
    try:
        call()
        wrong.append(f"taken, expected {exception.__name__} with {words}")
    except Exception as got:  # whichever it is, it is told
        if not isinstance(got, exception) or not all(word in str(got) for word in words):
            wrong.append(f"{type(got).__name__}: {got}; expected {exception.__name__} with {words}")


x, weight = normal(6, 80), normal(80)
cases = {
    "layer_norm": [(x, weight, weight), (x.bfloat16(), weight.bfloat16())],
    "rms_norm": [(x, weight), (x.t(),), (x[:, 3:70],), (x, weight, 1e-6, True, True)],
    "fused_add_rms_norm": [(x, normal(6, 80), weight, 1e-5, True)],
    "softmax": [(x,), (x[:, 3:70],), (normal(3, 4, 5).permute(2, 0, 1),)],
    "rope": [(normal(1, 4, 7, 16), normal(7, 8), normal(7, 8)),
             (normal(1, 7, 4, 16).transpose(1, 2), normal(9, 8), normal(9, 8), torch.arange(7, device=device))],
    "rope_i": [(normal(1, 4, 7, 16), normal(7, 8), normal(7, 8))],
    "rope_thd": [(normal(1, 7, 4, 16), normal(7, 8), normal(7, 8))],
    "gather": [(x, 1, index(80, 6, 5)), (x, -1, index(80, 6, 5))],
    "index_select": [(x, 0, index(6, 9)), (x, -1, index(80, 9))],
    "scatter_": [(normal(6, 80), 1, index(80, 6, 5), normal(6, 5))],
    "scatter_add_": [(normal(6, 80), 1, index(80, 6, 5), normal(6, 5), True)],
    "index_add_": [(normal(6, 80), 0, index(6, 9), normal(9, 80))],
    "upsample_nearest1d": [(normal(1, 2, 7), 14)],
    "upsample_nearest2d": [(normal(1, 2, 7, 5), [14, 9]), (normal(1, 2, 4, 4), [8, 8], 2.0, 2.0, "exact")],
    "strided_copy": [(x.t(),)],
}
for name, calls in cases.items():
    for arguments in calls:
        for test, outcome in torch.library.opcheck(getattr(ops, name).default, arguments, raise_exception=False).items():
            if outcome != "SUCCESS":
                wrong.append(f"{name}: {test}: {outcome}")

# ---- Beside PyTorch's
F = torch.nn.functional
expect_close("rms_norm", ops.rms_norm(x.t(), None, 1e-5), F.rms_norm(x.t(), (6,), eps=1e-5))
expect_close("layer_norm", ops.layer_norm(x, weight, weight), F.layer_norm(x, (80,), weight, weight), 5e-6)
expect_close("softmax", ops.softmax(x[:, 3:]), x[:, 3:].softmax(-1))
y, h = ops.fused_add_rms_norm(x, x.flip(0), weight)
expect_close("fused_add_rms_norm", y, F.rms_norm(x + x.flip(0), (80,), weight, 1e-5), 5e-6)
expect_close("its sum", h, x + x.flip(0), 0)
expect_close("index_select", ops.index_select(x, 1, index(80, 9) * 0 + 7), x[:, 7:8].expand(6, 9), 0)
for name in ("scatter_", "scatter_add_", "index_add_"):
    y, dim, at, source = cases[name][0][:4]
    own, *its = y.clone(), at, source
    getattr(own, name)(dim, *its)
    getattr(ops, name)(mine := y.clone(), dim, at, source)
    if name != "scatter_":  # whose index may repeat
        expect_close(name, mine, own)

# ---- Gradients, which there are none of
wants = normal(6, 80).requires_grad_()
expect(NotImplementedError, ["rms_norm has no backward pass", "no_grad"], lambda: ops.rms_norm(wants, weight).sum().backward())
expect(NotImplementedError, ["index_add_ has no backward pass"], lambda: ops.index_add_(normal(6, 80), 0, index(6, 6), wants))

expect(ValueError, ["rms_norm: x wants a gradient", "no_grad"], lambda: hipops.rms_norm(wants, weight))
for call in (ops.index_add_, hipops.index_add_):
    changed = normal(6, 80)
    kept = (wants * changed).sum()
    call(changed, 0, index(6, 6), normal(6, 80))
    expect(RuntimeError, ["modified by an inplace operation"], kept.backward)

# ---- What is refused
expect(RuntimeError, ["rms_norm: weight.shape[0] is 79, expected 80 (x.shape[1])"], lambda: ops.rms_norm(x, weight[:79]))
expect(RuntimeError, ["rms_norm: x.dtype is i32, expected f32"], lambda: ops.rms_norm(x.int()))
expect(RuntimeError, ["softmax", "9 dimensions, expected 8"], lambda: ops.softmax(normal(*[1] * 9)))
expect(RuntimeError, ["dtype"], lambda: ops.softmax(x.to(torch.complex64)))
expect(NotImplementedError, ["Sparse"], lambda: ops.softmax(x.to_sparse()))
expect(ValueError, ["rms_norm", "meta"], lambda: ops.rms_norm(x, weight.to("meta")))
expect(TypeError, ["patch: model is a int, expected"], lambda: hipops.torch.patch(3))
expect(ValueError, ["patch: model is on meta"], lambda: hipops.torch.patch(torch.nn.Linear(2, 2, device="meta")))
expect(hipops.Error, ["gather: dim is 7, expected 0 to 1"], lambda: ops.gather(x, 7, index(6, 6, 1)))
freed = normal(4, 4)
freed.untyped_storage().resize_(0)
expect(RuntimeError, ["softmax: x.data is NULL"], lambda: ops.softmax(freed))
if device == "cuda":
    expect(RuntimeError, ["rms_norm: weight is on", "x"], lambda: ops.rms_norm(x, weight.cpu()))
    graph, still = torch.cuda.CUDAGraph(), x.clone()
    ops.softmax(still)
    with torch.cuda.graph(graph):
        captured = ops.softmax(still)
    still.copy_(x.flip(0))
    graph.replay()
    expect_close("softmax in a graph", captured, x.flip(0).softmax(-1))

# ---- torch.compile
backend = "inductor" if device == "cuda" else "aot_eager"


def some(x, weight):
    return torch.relu(ops.rms_norm(x * 2, weight)) + ops.softmax(x)


def in_place(y, at, source):
    y = y * 1
    ops.index_add_(y, 0, at, source)
    return y


for function, arguments in ((some, (x, weight)), (in_place, (x, index(6, 9), normal(9, 80)))):
    compiled = torch.compile(function, fullgraph=True, backend=backend)
    expect_close(f"{function.__name__}, compiled", compiled(*arguments), function(*arguments))

compiled = torch.compile(in_place, backend=backend)
expect(Exception, ["index_add_ has no backward pass"], lambda: compiled(x, index(6, 6), wants))

# ---- Models of transformers
try:
    import transformers
except ImportError:
    transformers = None
    print("without transformers: patch is not tested")
sizes = {"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 8, "num_key_value_heads": 2,
         "head_dim": 32, "vocab_size": 1000}
for name in ("Llama", "Qwen2", "Qwen3", "Mistral", "Gemma", "Gemma2", "Gemma3Text") if transformers else ():
    config = getattr(transformers, name + "Config")(**sizes)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).to(device).eval()
    for called, parameter in model.named_parameters():
        if "norm" in called:
            torch.nn.init.normal_(parameter, mean=0.0 if "Gemma" in name else 1.0, std=0.2)
    ids = index(1000, 2, 33)
    with torch.no_grad():
        exact, own = copy.deepcopy(model).float()(ids).logits, model(ids).logits
        replaced = hipops.torch.patch(model)
        again = hipops.torch.patch(model)
        got = model(ids).logits
        distance = [(logits.float() - exact).square().mean().sqrt().item() for logits in (own, got)]
        if not distance[1] < 1.1 * distance[0] or torch.equal(own, got):
            wrong.append(f"{name}: {distance[1]} from float32's logits, its own {distance[0]}")
        counts = [sum(c.values()) for c in (replaced.norms, replaced.rotary_embeddings, replaced.residual_adds)]
        if counts[0] < 5 or counts[1:] != [2, 2] or replaced.left_alone or again.norms or again.patched_before != counts[0] + 4:
            wrong.append(f"{name}: {replaced}; then {again}")
        explained = torch._dynamo.explain(model)(ids)
        if explained.graph_break_count:
            wrong.append(f"{name}: {explained.graph_break_count} graph breaks: {explained.break_reasons}")
        torch._dynamo.reset()
        # A copy is of its own weights, and patched; what is read from a file has its class's functions again.
        apart = copy.deepcopy(model)
        for parameter in model.parameters():
            parameter.neg_()
        if not torch.equal(apart(ids).logits, got):
            wrong.append(f"{name}: a copy goes by the weights of the first")
        for parameter in model.parameters():
            parameter.neg_()
        if not torch.equal(pickle.loads(pickle.dumps(model))(ids).logits, own):
            wrong.append(f"{name}: pickled, it is another model")
        # Hooks run, and a norm may be put in another's place.
        seen, layer = [], apart.model.layers[0]
        norm = next(n for n, child in layer.named_children() if n in ("post_attention_layernorm", "pre_feedforward_layernorm"))
        getattr(layer, norm).register_forward_hook(lambda *a: seen.append(1))
        apart(ids)
        setattr(layer, norm, torch.nn.Identity())
        apart(ids)
        if seen != [1]:
            wrong.append(f"{name}: the hook of a norm ran {len(seen)} times")
        hipops.torch.unpatch(apart)
        if hipops.torch.patch(apart).patched_before:
            wrong.append(f"{name}: unpatch leaves something")
        own_f32 = copy.deepcopy(model).float()
        hipops.torch.unpatch(own_f32)
        f32 = copy.deepcopy(own_f32)
        hipops.torch.patch(f32)
        expect_close(f"{name} in f32", f32(ids).logits, own_f32(ids).logits, 1e-4)
        with torch.autocast(device, torch.bfloat16):
            expect_close(f"{name} under autocast", f32(ids).logits, own_f32(ids).logits, 0.1)
    model(ids).logits.sum().backward()  # by its own functions
    if not all(p.grad is not None for p in model.parameters()):
        wrong.append(f"{name}: parameters without a gradient")
    hipops.torch.unpatch(model)
    with torch.no_grad():
        if not torch.equal(model(ids).logits, own):
            wrong.append(f"{name}: unpatch does not give its own functions back")


class MeanRMSNorm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.eps = torch.nn.Parameter(torch.ones(64, device=device)), 1e-5

    def forward(self, x):
        return x / (x.abs().mean(-1, keepdim=True) + self.eps) * self.weight


class OutsideRMSNorm(MeanRMSNorm):
    def forward(self, x):
        return x / (x.square().mean(-1, keepdim=True).sqrt() + self.eps) * self.weight


class BiasRMSNorm(MeanRMSNorm):
    def __init__(self):
        super().__init__()
        self.bias = torch.nn.Parameter(torch.zeros(64, device=device))

    def forward(self, x):
        return x * (x.square().mean(-1, keepdim=True) + self.eps).rsqrt() * self.weight + self.bias


odd = torch.nn.Sequential(MeanRMSNorm(), OutsideRMSNorm(), BiasRMSNorm(), torch.nn.RMSNorm(64)).to(device)
left = hipops.torch.patch(odd.bfloat16()).left_alone
if left != {"MeanRMSNorm": "it computes something else", "OutsideRMSNorm": "it computes something else",
            "BiasRMSNorm": "it has more than a weight, or none", "RMSNorm": "its eps is None"}:
    wrong.append(f"patch of other norms: {left}")
norm = torch.nn.RMSNorm(64, 1e-5, device=device)
hipops.torch.patch(norm)
half = normal(3, 64).bfloat16()
with torch.no_grad():
    if not torch.equal(norm.bfloat16()(half), type(norm).forward(norm, half)):
        wrong.append("a norm that is cast after patch is not its own again")


def renamed(function):  # as decorators of transformers are
    @functools.wraps(function)
    def wrapper(*given, old=None, **named):
        return function(*given, **named, **({"new": old} if old is not None else {}))
    return wrapper


def first(new=1):
    return new


def second(new=1):
    return 2 * new


if hipops._patch.wrapped_as(renamed(renamed(first)), second)(old=4) != 8:
    wrong.append("what a wrapper does is lost")

# ---- The page
names = {}
for example in re.findall(r"```python\n(.*?)```", pathlib.Path(sys.argv[1]).read_text(), re.S):
    if "transformers" in example and importlib.util.find_spec("transformers") is None:
        continue
    if device == "cpu":
        example = example.replace('"cuda"', '"cpu"')
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(example, sys.argv[1], "exec"), names)
    if printed.getvalue().split("\n")[:-1] != re.findall(r"(?:print\(.*\)  |^)# (.*)", example, re.M):
        wrong.append(f"the page's example printed {printed.getvalue()!r}")
print("\n".join(wrong) or f"PyTorch {torch.__version__} on {device}: passed")
sys.exit(1 if wrong else 0)
