"""The rows of the benchmark table: the calls of hipops and of PyTorch, and the bytes that must move."""

import torch
import torch.nn.functional as F

BF16, F32, F16 = torch.bfloat16, torch.float32, torch.float16
NAMES = {BF16: "bf16", F32: "f32", F16: "f16", torch.int64: "i64"}


def random(*shape, dtype=BF16):
    return torch.randn(*shape, device="cuda", dtype=F32).to(dtype) if dtype != F32 else torch.randn(*shape, device="cuda")


class Workload:
    """moved: bytes that must move. ours(library) -> call. peer: a function of `inputs`. libraries.py calls others with them."""

    def __init__(self, name, op, moved, ours, peer, inputs, large_share):
        self.name, self.op, self.moved, self.ours, self.peer, self.inputs = name, op, moved, ours, peer, inputs
        self.large_share = large_share  # of the roof: the goal for large tensors


def view_of_rows(dtype, rows, cols, offset, gap):
    """Rows that begin `offset` elements after an aligned address, with `gap` other elements between two of them."""
    return random(offset + rows * (cols + gap), dtype=dtype)[offset:].view(rows, cols + gap)[:, :cols]


def name_of_rows(op, dtype, rows, cols, offset=0, gap=0, weights=None):
    layout = f"/+{offset}" * (offset > 0) + f"/gap_{gap}" * (gap > 0) + "/weights_f32" * (weights == F32 != dtype)
    return f"{op}/{NAMES[dtype]}/{rows}x{cols}{layout}"


def norm(op, dtype, rows, cols, offset=0, gap=0, weights=None):
    weights = weights or dtype
    x, w, b = view_of_rows(dtype, rows, cols, offset, gap), random(cols, dtype=weights), random(cols, dtype=weights)
    y = torch.empty(rows, cols, dtype=dtype, device="cuda")
    moved = 2 * x.numel() * x.element_size()
    wide = (lambda x: x) if weights == dtype else lambda x: x.to(weights)
    peers = {
        "rms_norm": (lambda x, w, b: F.rms_norm(wide(x), (cols,), w, 1e-5).to(dtype), lambda lib: lib.bind(op, y, None, x, w, 1e-5, 0)),
        "layer_norm": (lambda x, w, b: F.layer_norm(wide(x), (cols,), w, b, 1e-5).to(dtype),
                       lambda lib: lib.bind(op, y, None, None, x, w, b, 1e-5, 0)),
        "softmax": (lambda x, w, b: torch.softmax(x, -1), lambda lib: lib.bind(op, y, x, 0)),
        "log_softmax": (lambda x, w, b: torch.log_softmax(x, -1), lambda lib: lib.bind(op, y, x, 0)),
    }
    peer, ours = peers[op]
    return Workload(name_of_rows(op, dtype, rows, cols, offset, gap, weights), op, moved, ours, peer, (x, w, b),
                    0.88 if cols >= 65536 else 0.94)


def fused_add(op, dtype, rows, cols, offset=0, gap=0, weights=None):
    x, residual = (view_of_rows(dtype, rows, cols, offset, gap) for _ in range(2))
    w, b = (random(cols, dtype=weights or dtype) for _ in range(2))
    y, out = (torch.empty(rows, cols, dtype=dtype, device="cuda") for _ in range(2))
    wide = (lambda x: x) if weights in (None, dtype) else lambda x: x.to(weights)

    def rms_norm(x, residual, w, b):
        h = x + residual
        return F.rms_norm(wide(h), (cols,), w, 1e-5).to(dtype), h

    def layer_norm(x, residual, w, b):
        h = x + residual
        return F.layer_norm(wide(h), (cols,), w, b, 1e-5).to(dtype), h

    peer, ours = {"fused_add_rms_norm": (rms_norm, lambda lib: lib.bind(op, y, out, None, x, residual, w, 1e-5, 0)),
                  "fused_add_layer_norm": (layer_norm, lambda lib: lib.bind(op, y, out, None, None, x, residual, w, b, 1e-5, 0))}[op]
    return Workload(name_of_rows(op, dtype, rows, cols, offset, gap, weights), op, 4 * x.numel() * x.element_size(), ours, peer,
                    (x, residual, w, b), 0.94)


REDUCTIONS = {"sum": (0, torch.sum), "mean": (1, torch.mean), "max": (2, torch.amax), "logsumexp": (4, torch.logsumexp),
              "argmax": (5, torch.argmax)}


def reduction(kind, dtype, rows, cols, dims):
    """dims: a tuple of dimensions of x, which has the shape (rows, cols)."""
    x = random(rows, cols, dtype=dtype)
    number, function = REDUCTIONS[kind]
    peer = (lambda x: function(x, dims[0] if len(dims) == 1 else None)) if kind == "argmax" else lambda x: function(x, dims)
    y = torch.empty_like(peer(x))
    bits = sum(1 << d for d in dims)

    def ours(lib):
        space, n = lib.workspace("reduce", y, x, number, bits, 0)
        return lib.bind("reduce", y, x, number, bits, 0, space, n)

    return Workload(f"reduce_{kind}/{NAMES[dtype]}/{rows}x{cols}:{','.join(map(str, dims))}", "reduce",
                    x.numel() * x.element_size() + y.numel() * y.element_size(), ours, peer, (x,), 0.94)


def top(dtype, rows, cols, k):
    """In order: the flag HIPOPS_SORTED is 512."""
    x = random(rows, cols, dtype=dtype)
    values = torch.empty(rows, k, dtype=dtype, device="cuda")
    indices = torch.empty(rows, k, dtype=torch.int64, device="cuda")

    def ours(lib):
        space, n = lib.workspace("topk", values, indices, x, None, None, k, 512)
        return lib.bind("topk", values, indices, x, None, None, k, 512, space, n)

    return Workload(f"topk/{NAMES[dtype]}/{rows}x{cols}/k{k}", "topk", x.numel() * x.element_size() + values.numel() * (x.element_size() + 8),
                    ours, lambda x, k: torch.topk(x, k), (x, k), 0.5)


def cumsum(dtype, rows, cols, dim):
    """Goals: 70 % of the roof if there are enough lines for all units, and 60 % of fewer lines."""
    x = torch.randint(0, 100, (rows, cols), device="cuda", dtype=dtype) if not dtype.is_floating_point else random(rows, cols, dtype=dtype)
    y, lines = torch.empty_like(x), cols if dim == 0 else rows

    def ours(lib):
        space, n = lib.workspace("cumsum", y, x, dim)
        return lib.bind("cumsum", y, x, dim, space, n)

    return Workload(f"cumsum/{NAMES[dtype]}/{rows}x{cols}:{dim}", "cumsum", 2 * x.numel() * x.element_size(), ours,
                    lambda x: torch.cumsum(x, dim, dtype=dtype), (x,), 0.7 if lines >= 512 else 0.6)


def in_order(dtype, rows, cols, descending=False):
    """Values and i64 columns: the flag HIPOPS_DESCENDING is 2048. The goal is 0.85 of torch.sort, so no part of the roof."""
    x = torch.randint(-10**9, 10**9, (rows, cols), device="cuda", dtype=dtype) if not dtype.is_floating_point else random(rows, cols, dtype=dtype)
    values, indices, flags = torch.empty_like(x), torch.empty(rows, cols, dtype=torch.int64, device="cuda"), 2048 * descending

    def ours(lib):
        space, n = lib.workspace("sort", values, indices, x, flags)
        return lib.bind("sort", values, indices, x, flags, space, n)

    return Workload(f"sort/{NAMES[dtype]}/{rows}x{cols}" + "/descending" * descending, "sort", x.numel() * (2 * x.element_size() + 8), ours,
                    lambda x: torch.sort(x, stable=True, descending=descending), (x,), 0.1)


def routed(dtype, tokens, experts, k, groups=0):
    """Renormalised weights (8192); with groups, half of them are kept, and scores are sigmoids (4096) with a bias."""
    x = random(tokens, experts, dtype=dtype)
    weights, ids = torch.empty(tokens, k, device="cuda"), torch.empty(tokens, k, dtype=torch.int32, device="cuda")
    bias = random(experts, dtype=F32) if groups else None

    def peer(x, k, groups):
        if not groups:
            best = torch.softmax(x.float(), -1).topk(k)
            return best.values / best.values.sum(-1, keepdim=True), best.indices
        scores = torch.sigmoid(x.float())
        choices = scores + bias
        kept = choices.view(tokens, groups, -1).topk(2).values.sum(-1).topk(groups // 2).indices
        mask = torch.zeros(tokens, groups, device="cuda").scatter_(1, kept, 1).repeat_interleave(experts // groups, 1)
        best = choices.masked_fill(mask == 0, -torch.inf).topk(k).indices
        of_best = scores.gather(1, best)
        return of_best / of_best.sum(-1, keepdim=True), best

    flags = 8192 | (4096 if groups else 0)
    return Workload(f"topk_softmax/{NAMES[dtype]}/{tokens}x{experts}/k{k}" + f"/groups{groups}" * (groups > 0), "topk_softmax",
                    x.numel() * x.element_size() + weights.numel() * 8,
                    lambda lib: lib.bind("topk_softmax", weights, ids, None, x, bias, k, groups, groups // 2, 1.0, flags), peer,
                    (x, k, groups), 0.1)


def aligned(tokens, k, experts, size=16):
    """Next to a stable sort of the ids and a count of each expert's, without the padding."""
    ids = torch.rand(tokens, experts, device="cuda").topk(k).indices.int()
    places = ids.numel() + min(ids.numel(), experts) * (size - 1)
    outputs = [torch.empty(n, dtype=torch.int32, device="cuda") for n in (places, -(-places // size), 1)]

    def peer(ids):
        ids = ids.view(-1)
        counts = torch.zeros(experts, dtype=torch.int64, device="cuda")  # bincount cannot be captured
        return torch.sort(ids, stable=True), counts.scatter_add_(0, ids.long(), torch.ones_like(ids, dtype=torch.int64))

    return Workload(f"moe_align_block_size/i32/{tokens}x{k}/experts{experts}", "moe_align_block_size", 4 * (ids.numel() + places),
                    lambda lib: lib.bind("moe_align_block_size", *outputs, ids, None, experts, size),
                    peer, (ids,), 0.1)


def sampled(dtype, rows, cols, greedy=False):
    """Temperature 0.8, top_k 50, top_p 0.9; or the greatest logit. The peer draws among the same tokens, in the order of logits."""
    x, numbers = 3 * random(rows, cols, dtype=dtype), torch.rand(rows, device="cuda")
    tokens = torch.empty(rows, dtype=torch.int32, device="cuda")
    temperature, top_p = (torch.full((rows,), v, device="cuda") for v in (0.0 if greedy else 0.8, 0.9))
    top_k = torch.full((rows,), 50, dtype=torch.int32, device="cuda")

    def peer(x):
        if greedy:
            return torch.argmax(x, -1)
        best = torch.topk(x.float(), 50)
        weights = torch.softmax(best.values / 0.8, -1)
        sums = torch.where(weights.cumsum(-1) - weights < 0.9, weights, 0).cumsum(-1)
        return best.indices.gather(1, (sums > numbers[:, None] * sums[:, -1:]).int().argmax(-1, True))

    return Workload(f"sample/{NAMES[dtype]}/{rows}x{cols}" + "/greedy" * greedy, "sample", x.numel() * x.element_size(),
                    lambda lib: lib.bind("sample", tokens, x, numbers, temperature, top_k, top_p, None), peer, (x,), 0.1)


def penalized(dtype, rows, cols, apart=False):
    """The penalties of tokens that occur: 1024 of each prompt, and 256 of the output. The peer is vLLM's lines."""
    x, y = 3 * random(rows, cols, dtype=dtype), torch.empty(rows, cols, dtype=dtype, device="cuda")
    prompt, counts = (torch.zeros(rows, cols, dtype=t, device="cuda") for t in (torch.uint8, torch.int32))
    prompt.scatter_(1, torch.randint(cols, (rows, 1024), device="cuda"), 1)
    counts.scatter_add_(1, torch.randint(cols, (rows, 256), device="cuda"), torch.ones(rows, 256, dtype=torch.int32, device="cuda"))
    repetition, frequency, presence = (torch.full((rows,), v, device="cuda") for v in (1.1, 0.2, 0.3))

    def peer(x):
        occurs = counts > 0
        penalty = torch.where((prompt > 0) | occurs, repetition[:, None], 1.0)
        lowered = torch.where(x > 0, x / penalty, x * penalty) - frequency[:, None] * counts - presence[:, None] * occurs
        return lowered.to(dtype)

    moved = x.numel() * (5 + 2 * x.element_size() * apart)
    return Workload(f"apply_penalties/{NAMES[dtype]}/{rows}x{cols}" + "/apart" * apart, "apply_penalties", moved,
                    lambda lib: lib.bind("apply_penalties", y if apart else x, x, prompt, counts, repetition, frequency, presence), peer, (x,),
                    0.8 if apart else 0.5)


def attention(dtype, batch, heads, queries, keys, mask="bool"):
    """Scores with a mask for all heads, ALiBi's slopes with a mask of numbers, and sinks."""
    x, sinks = random(batch, heads, queries, keys, dtype=dtype), random(heads, 1, 1, dtype=F32)
    y, rows = torch.empty_like(x), (batch, heads, queries, 1)
    causal = torch.ones(queries, keys, dtype=torch.bool, device="cuda").tril(keys - queries).expand(batch, 1, queries, keys)
    slopes = torch.rand(heads, 1, 1, device="cuda") if mask == "f32" else None
    given = causal.view(torch.uint8) if mask == "bool" else torch.zeros(causal.shape, device="cuda").masked_fill(~causal, -torch.inf)

    def peer(x, causal, given, sinks, slopes):
        scores = x.float() * 0.125
        scores = scores.masked_fill(~causal, -torch.inf) if mask == "bool" else scores + slopes * given
        return torch.cat([scores, sinks.expand(rows)], -1).softmax(-1)[..., :-1].to(dtype)

    return Workload(f"softmax_ext_{mask}/{NAMES[dtype]}/{batch}x{heads}x{queries}x{keys}", "softmax_ext",
                    2 * x.numel() * x.element_size() + given.numel() * given.element_size(),
                    lambda lib: lib.bind("softmax_ext", y, x, given.expand(x.shape), None if slopes is None else slopes.expand(rows),
                                         sinks.expand(rows), 0.125, 0),
                    peer, (x, causal, given, sinks, slopes), 0.94)


def gradient_of_norm(dtype, rows, cols, offset, gap, weights):
    """x, dy, w, and memory for the gradients of x and w."""
    x, dy = (view_of_rows(dtype, rows, cols, offset, gap) for _ in range(2))
    w = random(cols, dtype=weights or dtype)
    return x, dy, w, torch.empty(rows, cols, dtype=dtype, device="cuda"), torch.empty_like(w)


def rms_norm_backward(dtype, rows, cols, offset=0, gap=0, weights=None):
    x, dy, w, dx, dw = gradient_of_norm(dtype, rows, cols, offset, gap, weights)
    rstd = torch.rsqrt(x.float().square().mean(-1) + 1e-5)

    def ours(lib):
        space, n = lib.workspace("rms_norm_backward", dx, dw, dy, x, w, rstd)
        return lib.bind("rms_norm_backward", dx, dw, dy, x, w, rstd, 1e-5, 0, space, n)

    def peer(dy, x, w, rstd):
        fused = getattr(torch.ops.aten, "_fused_rms_norm_backward", None)
        if fused is not None and w.dtype == x.dtype and not torch.compiler.is_compiling():
            return fused(dy, x, [cols], rstd[:, None], w, [True, True])
        wide, g = x.float() * rstd[:, None], dy.float() * w.float()
        return (rstd[:, None] * (g - wide * (g * wide).mean(-1, keepdim=True))).to(dtype), (dy.float() * wide).sum(0).to(w.dtype)

    return Workload(name_of_rows("rms_norm_backward", dtype, rows, cols, offset, gap, weights), "rms_norm_backward", 3 * x.numel() * x.element_size(), ours, peer,
                    (dy, x, w, rstd), 0.94)


def layer_norm_backward(dtype, rows, cols, offset=0, gap=0, weights=None):
    x, dy, w, dx, dw = gradient_of_norm(dtype, rows, cols, offset, gap, weights)
    db, mean = torch.empty_like(w), x.float().mean(-1)
    rstd = torch.rsqrt(x.float().var(-1, correction=0) + 1e-5)

    def ours(lib):
        space, n = lib.workspace("layer_norm_backward", dx, dw, db, dy, x, w, mean, rstd)
        return lib.bind("layer_norm_backward", dx, dw, db, dy, x, w, mean, rstd, 1e-5, 0, space, n)

    def peer(dy, x, w, mean, rstd):
        if w.dtype != dtype:
            dy, x = dy.to(w.dtype), x.to(w.dtype)
        dx, dw, db = torch.ops.aten.native_layer_norm_backward(dy, x, [cols], mean[:, None], rstd[:, None], w, w, [True, True, True])
        return dx.to(dtype), dw, db

    return Workload(name_of_rows("layer_norm_backward", dtype, rows, cols, offset, gap, weights), "layer_norm_backward", 3 * x.numel() * x.element_size(), ours, peer,
                    (dy, x, w, mean, rstd), 0.94)


def cross_entropy(dtype, rows, cols, offset=0, gap=0, weights=None):
    """The losses and the gradient of x, in one call. The peer has the gradient of the sum."""
    x, target = view_of_rows(dtype, rows, cols, offset, gap), torch.randint(cols, (rows,), device="cuda")
    loss, dx = torch.empty(rows, device="cuda"), torch.empty_like(x)

    def peer(x, target):
        x = x.detach().requires_grad_()
        y = F.cross_entropy(x, target, reduction="none")
        return y.detach(), torch.autograd.grad(y.sum(), x)[0]

    return Workload(name_of_rows("cross_entropy", dtype, rows, cols, offset, gap), "cross_entropy", 2 * x.numel() * x.element_size(),
                    lambda lib: lib.bind("cross_entropy", loss, None, dx, x, target, None, -100, 0.0, 0.0, 0, None), peer, (x, target), 0.9)


def softmax_backward(op, dtype, rows, cols, offset=0, gap=0, weights=None):
    y, dy = (view_of_rows(dtype, rows, cols, offset, gap) for _ in range(2))
    y.copy_(getattr(torch, op.removesuffix("_backward"))(y, -1))
    dx = torch.empty_like(y)
    data, more = getattr(torch.ops.aten, f"_{op}_data"), (1.0,) if op == "softmax_backward" else ()
    return Workload(name_of_rows(op, dtype, rows, cols, offset, gap), op, 3 * y.numel() * y.element_size(),
                    lambda lib: lib.bind(op, dx, dy, y, *more, 0), lambda dy, y: data(dy, y, -1, dtype), (dy, y), 0.94)


def gated(dtype, rows, cols, kind="silu", view="halves"):
    """x and up are views of one tensor, or apart."""
    both = random(rows, 2 * cols, dtype=dtype)
    x, up = {"halves": both.chunk(2, -1), "interleaved": (both[:, 0::2], both[:, 1::2]),
             "apart": (random(rows, cols, dtype=dtype), random(rows, cols, dtype=dtype))}[view]
    y = torch.empty(rows, cols, device="cuda", dtype=dtype)
    number, act = {"silu": (8, F.silu), "gelu": (12, F.gelu), "gelu_tanh": (11, lambda x: F.gelu(x, approximate="tanh"))}[kind]
    return Workload(f"activation_and_mul_{kind}/{NAMES[dtype]}/{rows}x{cols}/{view}", "activation_and_mul", 3 * y.numel() * y.element_size(),
                    lambda lib: lib.bind("activation_and_mul", y, x, up, number, 0.0, 1.0, 0), lambda x, up: act(x) * up, (x, up), 0.94)


def gated_backward(dtype, rows, cols, kind="silu", view="halves"):
    """x and up are views of one tensor, or apart. dx and dup are so, too."""
    def pair(make):
        both = make(rows, 2 * cols)
        return {"halves": both.chunk(2, -1), "interleaved": (both[:, 0::2], both[:, 1::2]), "apart": (make(rows, cols), make(rows, cols))}[view]

    (x, up), dy = pair(lambda *shape: random(*shape, dtype=dtype)), random(rows, cols, dtype=dtype)
    dx, dup = pair(lambda *shape: torch.empty(shape, device="cuda", dtype=dtype))
    number, act, slope = {"silu": (8, F.silu, torch.ops.aten.silu_backward), "gelu": (12, F.gelu, torch.ops.aten.gelu_backward)}[kind]
    return Workload(f"activation_and_mul_backward_{kind}/{NAMES[dtype]}/{rows}x{cols}/{view}", "activation_and_mul_backward",
                    5 * dy.numel() * dy.element_size(),
                    lambda lib: lib.bind("activation_and_mul_backward", dx, dup, dy, x, up, number, 0.0, 1.0, 0),
                    lambda dy, x, up: (slope(dy * up, x), act(x) * dy), (dy, x, up), 0.94)


def quantized(dtype, rows, cols, eight):
    x, scale = random(rows, cols, dtype=dtype), torch.full((), 0.02, device="cuda")
    q, most = torch.empty(rows, cols, device="cuda", dtype=eight), torch.finfo(eight).max
    return Workload(f"static_quantize/{NAMES[dtype]}/{rows}x{cols}/{str(eight)[6:]}", "static_quantize", x.numel() * (x.element_size() + 1),
                    lambda lib: lib.bind("static_quantize", q, x, scale), lambda x, s: (x / s).clamp(-most, most).to(eight), (x, scale), 0.94)


def dynamically_quantized(dtype, rows, cols, eight, group=0):
    """group -1: one scale. Then x is read twice."""
    x, columns = random(rows, cols, dtype=dtype), rows * cols if group == -1 else group or cols
    q, scale = torch.empty(rows, cols, device="cuda", dtype=eight), torch.empty(rows * cols // columns, device="cuda")
    if group != -1:
        scale = scale.view(rows, cols // columns)
    most = torch.finfo(eight).max

    def peer(x):
        groups = x.view(-1, columns).float() if group == -1 else x.view(rows, cols // columns, columns).float()
        scale = (groups.abs().amax(-1, keepdim=True) / most).clamp(min=1 / (512 * most))
        return (groups / scale).to(eight).view(rows, cols), scale.squeeze(-1)

    def call(lib):
        space, n = lib.workspace("dynamic_quantize", q, scale, x, None, group, 0)
        return lib.bind("dynamic_quantize", q, scale, x, None, group, 0, space, n)

    name = f"dynamic_quantize/{NAMES[dtype]}/{rows}x{cols}/{str(eight)[6:]}" + {0: "", -1: "/tensor"}.get(group, f"/group_{group}")
    return Workload(name, "dynamic_quantize", x.numel() * (x.element_size() * (2 if group == -1 else 1) + 1) + 4 * scale.numel(),
                    call, peer, (x,), 0.94)


def activation(dtype, rows, cols, kind="silu"):
    x = random(rows, cols, dtype=dtype)
    y = torch.empty_like(x)
    number, act = {"silu": (8, F.silu), "gelu": (12, F.gelu), "relu": (1, F.relu)}[kind]
    return Workload(f"activation_{kind}/{NAMES[dtype]}/{rows}x{cols}", "activation", 2 * y.numel() * y.element_size(),
                    lambda lib: lib.bind("activation", y, x, number, 1.0), act, (x,), 0.94)


def activation_backward(dtype, rows, cols, kind="silu"):
    x, dy = random(rows, cols, dtype=dtype), random(rows, cols, dtype=dtype)
    dx, aten = torch.empty_like(x), torch.ops.aten
    number, slope = {"silu": (8, aten.silu_backward), "gelu": (12, aten.gelu_backward), "relu": (1, lambda dy, x: aten.threshold_backward(dy, x, 0)),
                     "gelu_tanh": (11, lambda dy, x: aten.gelu_backward(dy, x, approximate="tanh"))}[kind]
    return Workload(f"activation_backward_{kind}/{NAMES[dtype]}/{rows}x{cols}", "activation_backward", 3 * x.numel() * x.element_size(),
                    lambda lib: lib.bind("activation_backward", dx, dy, x, number, 1.0), slope, (dy, x), 0.94)


def rotate_half(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)


def rotate_pairs(x, cos, sin):
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)


def rope(op, *shape):
    x = random(*shape)
    t, d = (shape[1] if op == "rope_thd" else shape[2]), shape[3]
    angle = torch.rand(t, d // 2, device="cuda") * 6.28
    cos, sin = angle.cos().to(BF16), angle.sin().to(BF16)
    y = torch.empty_like(x)
    formula = rotate_pairs if op == "rope_i" else rotate_half
    peer = (lambda x, c, s: formula(x, c[:, None], s[:, None])) if op == "rope_thd" else formula
    return Workload(f"{op}/bf16/" + "x".join(map(str, shape)), op, 2 * x.numel() * 2,
                    lambda lib: lib.bind(op, y, x, cos, sin, None), peer, (x, cos, sin), 0.94)


def rope_of_packed():
    """q as a view of one tensor of q, k and v."""
    tokens, heads, d = 4096, 32, 128
    x = random(1, tokens, 3 * heads, d)[:, :, :heads]
    angle = torch.rand(tokens, d // 2, device="cuda") * 6.28
    cos, sin = angle.cos().to(BF16), angle.sin().to(BF16)
    y = torch.empty(x.shape, device="cuda", dtype=BF16)
    return Workload(f"rope_thd/bf16/1x{tokens}x{heads}x{d}/packed_qkv", "rope_thd", 2 * x.numel() * 2,
                    lambda lib: lib.bind("rope_thd", y, x, cos, sin, None), lambda x, c, s: rotate_half(x, c[:, None], s[:, None]),
                    (x, cos, sin), 0.94)


def gather(dim, shape, y_shape, index=torch.int64, dtype=BF16, share=0.94):
    x = random(*shape, dtype=dtype)
    i = torch.randint(0, shape[dim], y_shape, device="cuda").to(index)
    y = torch.empty(y_shape, device="cuda", dtype=dtype)
    wide = i.long()  # the only dtype that PyTorch accepts
    size = lambda t: "x".join(map(str, t))
    name = f"gather/{NAMES[dtype]}/{size(shape)}:{dim}->{size(y_shape)}/{str(index)[6:]}"
    if (dim, shape, y_shape, index) == (1, (8192, 8192), (8192, 8192), torch.int64):
        name = "gather_lastdim/bf16/8192x8192/i64"
    return Workload(name, "gather", x.numel() * x.element_size() + y.numel() * (y.element_size() + i.element_size()),
                    lambda lib: lib.bind("gather", y, x, i, dim, None), lambda x, i: torch.gather(x, dim, i), (x, wide), share)


def select(dim, shape, n, dtype=BF16):
    x = random(*shape, dtype=dtype)
    y_shape = tuple(n if d == dim else size for d, size in enumerate(shape))
    y, index = torch.empty(y_shape, device="cuda", dtype=dtype), torch.randint(0, shape[dim], (n,), device="cuda")
    return Workload(f"index_select/{NAMES[dtype]}/{'x'.join(map(str, shape))}:{dim}->{n}", "index_select",
                    2 * y.numel() * y.element_size() + 8 * n, lambda lib: lib.bind("index_select", y, x, index, dim, None),
                    lambda x, i: torch.index_select(x, dim, i), (x, index), 0.94)


def index_select():
    x, y = random(128256, 4096), torch.empty(16384, 4096, device="cuda", dtype=BF16)
    index = torch.randint(0, 128256, (16384,), device="cuda")
    return Workload("index_select/bf16/128256x4096/16384", "index_select", 2 * y.numel() * 2 + 8 * 16384,
                    lambda lib: lib.bind("index_select", y, x, index, 0, None), lambda x, i: torch.index_select(x, 0, i), (x, index),
                    0.94)


def index_by(law, rows, out):
    """An index of rows of `out`: uniform, by Zipf's law, or with one row in half of its elements."""
    index = torch.randint(0, out, (rows,), device="cuda")
    if law == "zipf":
        index = torch.multinomial(1 / torch.arange(1, out + 1, device="cuda"), rows, replacement=True)
        return torch.randperm(out, device="cuda")[index]
    return torch.where(torch.rand(rows, device="cuda") < 0.5, out // 2, index) if law == "half" else index


def adds(op, dtype, rows=262144, cols=256, out=16384, law="", expanded=False):
    x, y = random(rows, cols, dtype=dtype), random(out, cols, dtype=dtype)
    index = index_by(law, rows, out)
    size, shape = x.element_size(), f"{rows}x{cols}->{out}" + (f"/{law}" if law else "")
    written = index.unique().numel() * cols
    if op == "scatter_add":
        wide = index[:, None].expand(rows, cols)
        wide, of_index = (wide, "expanded") if expanded else (wide.contiguous(), "i64")
        moved = x.numel() * size + 8 * (rows if expanded else x.numel()) + 2 * written * size

        def ours(lib):
            space, n = lib.workspace(op, y, x, wide, 0, 0)
            return lib.bind(op, y, x, wide, 0, 0, space, n, None)

        return Workload(f"scatter_add_dim0/{NAMES[dtype]}/{shape}/{of_index}", op, moved, ours,
                        lambda y, x, i: y.scatter_add_(0, i, x), (y.clone(), x, wide), 0.85)

    def ours(lib):
        space, n = lib.workspace(op, y, x, index, 0)
        return lib.bind(op, y, x, index, 0, space, n, None)

    return Workload(f"index_add/{NAMES[dtype]}/{shape}", op, x.numel() * size + 2 * written * size + 8 * rows, ours,
                    lambda y, x, i: y.index_add_(0, i, x), (y.clone(), x, index), 0.80)


def upsample(shape, sizes, dtype=BF16, channels_last=False):
    n, form = len(sizes), {"memory_format": torch.channels_last} if channels_last else {}
    x = random(*shape, dtype=dtype).contiguous(**form)
    y = torch.empty(*shape[:2], *sizes, device="cuda", dtype=dtype).contiguous(**form)
    op = f"upsample_nearest{n}d"
    used = x.numel()  # of x: in each dimension at most y's size
    for d, size in enumerate(sizes):
        used = used // shape[2 + d] * min(size, shape[2 + d])
    name = f"{op}/{NAMES[dtype]}/{'x'.join(map(str, shape))}->{'x'.join(map(str, sizes))}" + ("/channels_last" if channels_last else "")
    return Workload(name, op, (used + y.numel()) * x.element_size(), lambda lib: lib.bind(op, y, x, 0, *[0.0] * n),
                    lambda x: F.interpolate(x, size=sizes, mode="nearest"), (x,), 0.94)


def copy(name, x, share):
    y = torch.empty(x.shape, device="cuda", dtype=x.dtype)
    return Workload(name, "strided_copy", 2 * x.numel() * x.element_size(), lambda lib: lib.bind("strided_copy", y, x),
                    lambda x: x.clone(memory_format=torch.contiguous_format), (x,), share)


ROW_SHAPES = [(1, 4096), (32, 8192), (262144, 128), (32768, 1024), (16384, 4096), (8192, 8192), (4096, 16384), (2048, 65536),
              (512, 262144)]

# More shapes of row ops: odd and prime lengths, and lengths of other models.
OTHER_SHAPES = [(1, 2880), (1, 16384), (37, 7168), (16384, 2880), (8192, 7168), (16384, 1280), (16384, 1600), (8192, 3584), (8192, 5376),
                (4096, 12288), (524288, 64), (262144, 96), (1048576, 32), (65536, 511), (65536, 769), (16384, 4097), (8192, 8191),
                (1024, 131072), (1024, 131071), (4, 8388608), (8388608, 3)]
OTHER_F32_SHAPES = [(1, 4096), (32, 8192), (4096, 8191)]

# softmax over a vocabulary: GPT-2's, Llama 3's, Qwen's, Gemma 3's.
VOCABULARIES = [(BF16, 1024, 50257), (BF16, 1024, 128256), (BF16, 1024, 151936), (BF16, 256, 262208), (F32, 512, 50257),
                (F32, 512, 128256), (F32, 512, 151936), (F32, 256, 262208)]

# The residual of a model's layers: one token, a batch of them, a prefill.
FUSED_OPS = ("fused_add_rms_norm", "fused_add_layer_norm")
FUSED_SHAPES = [(1, 4096), (32, 4096), (256, 8192), (65536, 768), (16384, 2048), (16384, 4096), (8192, 8192), (4096, 16384)]

REDUCED = [("sum", F32, 8192, 8192, (1,)), ("sum", F32, 8192, 8192, (0,)), ("sum", F32, 8192, 8192, (0, 1)),
           ("mean", BF16, 16384, 4096, (1,)), ("sum", BF16, 16384, 4096, (0,)), ("max", BF16, 16384, 4095, (1,)),
           ("logsumexp", BF16, 1024, 151936, (1,)), ("argmax", BF16, 1, 151936, (1,)), ("argmax", BF16, 32, 151936, (1,)),
           ("argmax", F32, 1, 128256, (1,)), ("sum", F32, 1, 4096, (1,)), ("sum", F32, 1048576, 64, (1,)), ("sum", F32, 64, 1048576, (0,))]

# A training step: long rows, a smaller batch, heads.
BACKWARD_SHAPES = [(BF16, 16384, 4096), (BF16, 32768, 2048), (BF16, 8192, 8192), (BF16, 4096, 16384), (F32, 16384, 4096), (BF16, 2048, 8192),
                   (BF16, 262144, 128), (BF16, 512, 4096)]

# The MLP of a model: one token, a batch of them, a prefill. Odd rows begin anywhere.
GATED = [(BF16, 1, 14336), (BF16, 32, 14336), (BF16, 256, 14336), (BF16, 16384, 14336), (F32, 8192, 14336), (BF16, 16384, 11008),
         (BF16, 16384, 14336, "gelu"), (BF16, 16384, 14336, "gelu_tanh"), (BF16, 16384, 14336, "silu", "interleaved"),
         (BF16, 16384, 14336, "silu", "apart"), (BF16, 16384, 10923)]

GATED_BACKWARD = [(BF16, 1, 14336), (BF16, 256, 14336), (BF16, 16384, 14336), (F32, 8192, 14336), (BF16, 16384, 14336, "gelu"),
                  (BF16, 16384, 14336, "silu", "interleaved"), (BF16, 16384, 14336, "silu", "apart"), (BF16, 16384, 10923, "silu", "apart"),
                  (BF16, 16384, 10923)]

# Lines in a wave, in a block, over many blocks; odd lines begin anywhere. Sorted vocabularies, and long sequences.
SUMMED = [(F32, 1, 151936, 1), (F32, 32, 151936, 1), (F32, 1, 1 << 20, 1), (F32, 8, 1 << 20, 1), (F32, 1, 10**8, 1), (F32, 16384, 256, 1),
          (F32, 16384, 1024, 1), (F32, 16384, 4096, 1), (F32, 2048, 50257, 1), (BF16, 2048, 131072, 1), (BF16, 16384, 4096, 1),
          (F32, 8192, 8192, 0), (BF16, 16384, 4096, 0), (F32, 1 << 20, 64, 0), (torch.int64, 2048, 16384, 1)]

# One long row, vocabularies, rows in a block, and several rows in a block.
SORTED = [(F32, 1, 10**7), (F32, 1, 10**6), (F32, 1, 151936), (F32, 2048, 4096), (F32, 16384, 1024), (F32, 16384, 64), (BF16, 1, 10**7),
          (BF16, 64, 131072), (torch.int64, 1, 10**6)]

# A decode step and a prefill of Mixtral, Qwen3 and DeepSeek V3.
ROUTED = [(BF16, n, e, k, g) for n in (1, 32, 2048, 16384) for e, k, g in ((8, 2, 0), (128, 8, 0))] + [(F32, n, 256, 8, 8) for n in (1, 32, 2048, 16384)]
ALIGNED = [(n, k, e) for n in (1, 32, 2048, 16384) for k, e in ((2, 8), (8, 128), (8, 256))]
PENALIZED = [(t, n, 151936, apart) for t in (F32, BF16) for n in (1, 32, 256) for apart in (False, True)]
SAMPLED = [(t, n, 151936, greedy) for t in (F32, BF16) for n in (1, 32, 256) for greedy in (False, True)]

# Scores of attention, and vocabularies.
SOFTMAX_BACKWARD = [("softmax_backward", BF16, 131072, 1024), ("softmax_backward", BF16, 16384, 4096), ("softmax_backward", F32, 16384, 4096),
                    ("softmax_backward", BF16, 16384, 4099), ("log_softmax_backward", BF16, 4096, 32000), ("log_softmax_backward", BF16, 4096, 128256),
                    ("log_softmax_backward", F32, 2048, 128256), ("log_softmax_backward", BF16, 4096, 50257)]

LOSSES = [(BF16, 16384, 32000), (BF16, 4096, 50257), (BF16, 4096, 128256), (BF16, 4096, 128256, 3), (BF16, 4096, 151936), (BF16, 2048, 262208),
          (F32, 4096, 32000), (F32, 2048, 50257), (F32, 2048, 128256), (F32, 1024, 262208)]

OPS = ("rms_norm", "layer_norm", "softmax")


def table():
    """Functions that make the workloads, by name. One workload's tensors are freed before the next is made."""
    rows = [(f"{op}/bf16/{r}x{c}", lambda op=op, r=r, c=c: norm(op, BF16, r, c)) for r, c in ROW_SHAPES for op in OPS]
    rows += [(f"{op}/f32/{r}x{c}", lambda op=op, r=r, c=c: norm(op, F32, r, c)) for r, c in ((16384, 4096), (8192, 8192)) for op in OPS]
    rows += [(f"{op}/bf16/{r}x{c}", lambda op=op, r=r, c=c: fused_add(op, BF16, r, c)) for op in FUSED_OPS for r, c in FUSED_SHAPES]
    rows += [(f"reduce_{kind}/{NAMES[t]}/{r}x{c}:{dims}", lambda kind=kind, t=t, r=r, c=c, dims=dims: reduction(kind, t, r, c, dims))
             for kind, t, r, c, dims in REDUCED]
    rows += [(f"cumsum/{NAMES[t]}/{r}x{c}:{dim}", lambda t=t, r=r, c=c, dim=dim: cumsum(t, r, c, dim)) for t, r, c, dim in SUMMED]
    rows += [(f"sort/{NAMES[t]}/{r}x{c}", lambda t=t, r=r, c=c: in_order(t, r, c)) for t, r, c in SORTED]
    rows += [(f"topk_softmax/{NAMES[t]}/{n}x{e}/k{k}" + f"/groups{g}" * (g > 0), lambda t=t, n=n, e=e, k=k, g=g: routed(t, n, e, k, g))
             for t, n, e, k, g in ROUTED]
    rows += [(f"moe_align_block_size/i32/{n}x{k}/experts{e}", lambda n=n, k=k, e=e: aligned(n, k, e)) for n, k, e in ALIGNED]
    rows += [(f"sample/{NAMES[t]}/{n}x{c}" + "/greedy" * greedy, lambda t=t, n=n, c=c, greedy=greedy: sampled(t, n, c, greedy))
             for t, n, c, greedy in SAMPLED]
    rows += [(f"apply_penalties/{NAMES[t]}/{n}x{c}" + "/apart" * apart, lambda t=t, n=n, c=c, apart=apart: penalized(t, n, c, apart))
             for t, n, c, apart in PENALIZED]
    rows += [("sort/f32/32x151936/descending", lambda: in_order(F32, 32, 151936, True))]
    rows += [(f"rms_norm_backward/{NAMES[t]}/{r}x{c}", lambda t=t, r=r, c=c: rms_norm_backward(t, r, c)) for t, r, c in BACKWARD_SHAPES]
    rows += [(f"layer_norm_backward/{NAMES[t]}/{r}x{c}", lambda t=t, r=r, c=c: layer_norm_backward(t, r, c))
             for t, r, c in BACKWARD_SHAPES if (c, t) != (16384, BF16)] + [("layer_norm_backward/bf16/8192x12288", lambda: layer_norm_backward(BF16, 8192, 12288))]
    rows += [(f"{op}/{NAMES[t]}/{r}x{c}", lambda op=op, t=t, r=r, c=c: softmax_backward(op, t, r, c)) for op, t, r, c in SOFTMAX_BACKWARD]
    rows += [(name_of_rows("cross_entropy", t, r, c, 0, *gap), lambda t=t, r=r, c=c, gap=gap: cross_entropy(t, r, c, 0, *gap)) for t, r, c, *gap in LOSSES]
    rows += [(f"activation_and_mul/{NAMES[t]}/{'x'.join(map(str, rest))}", lambda t=t, rest=rest: gated(t, *rest)) for t, *rest in GATED]
    rows += [(f"activation_and_mul_backward/{NAMES[t]}/{'x'.join(map(str, rest))}", lambda t=t, rest=rest: gated_backward(t, *rest))
             for t, *rest in GATED_BACKWARD]
    rows += [(f"activation_backward/{NAMES[t]}/{n}/{kind}", lambda t=t, n=n, kind=kind: activation_backward(t, n, 14336, kind))
             for t, n, kind in ((BF16, 1, "silu"), (BF16, 16384, "silu"), (BF16, 16384, "relu"), (BF16, 16384, "gelu"), (BF16, 16384, "gelu_tanh"),
                                (F32, 8192, "silu"), (F32, 8192, "gelu"), (F32, 8192, "gelu_tanh"))]
    rows += [(f"activation/{NAMES[t]}/{kind}", lambda t=t, n=n, kind=kind: activation(t, n, 14336, kind))
             for t, n, kind in ((BF16, 1, "silu"), (BF16, 16384, "relu"), (BF16, 16384, "gelu"), (F32, 8192, "silu"))]
    rows += [(f"static_quantize/{NAMES[t]}/{r}x{c}", lambda t=t, r=r, c=c, e=e: quantized(t, r, c, e))
             for t, r, c, e in ((BF16, 1, 4096, torch.float8_e4m3fn), (BF16, 16384, 4096, torch.float8_e4m3fn),
                                (BF16, 16384, 4099, torch.float8_e5m2), (F32, 16384, 4096, torch.float8_e4m3fn))]
    rows += [(f"dynamic_quantize/{NAMES[t]}/{r}x{c}/{g}", lambda t=t, r=r, c=c, g=g: dynamically_quantized(t, r, c, torch.float8_e4m3fn, g))
             for t, r, c, g in ((BF16, 1, 4096, 0), (BF16, 32, 8192, 0), (BF16, 16384, 4096, 0), (BF16, 16384, 4096, 128),
                                (BF16, 16384, 4096, -1), (BF16, 32, 8192, -1),
                                (BF16, 32, 8192, 128), (BF16, 4096, 16384, 0), (F32, 16384, 4096, 0), (BF16, 16384, 4099, 0))]
    rows += [(f"topk/{NAMES[t]}/{r}x{c}/k{k}", lambda t=t, r=r, c=c, k=k: top(t, r, c, k))
             for t in (F32, BF16) for r in (1, 8, 64, 2048) for c in (256, 4096, 50257, 131072, 151936, 1 << 20) for k in (1, 8, 50, 2048)
             if k <= c]
    rows += [(f"{op}/bf16/4x32x4096x128", lambda op=op: rope(op, 4, 32, 4096, 128)) for op in ("rope", "rope_i")]
    rows += [("rope_thd/bf16/4x4096x32x128", lambda: rope("rope_thd", 4, 4096, 32, 128)),
             ("rope/bf16/32x32x1x128", lambda: rope("rope", 32, 32, 1, 128)),
             ("gather_lastdim/bf16/8192x8192/i64", lambda: gather(1, (8192, 8192), (8192, 8192))),
             ("index_select/bf16/128256x4096/16384", index_select)]
    rows += [(f"{op}/{NAMES[t]}", lambda op=op, t=t: adds(op, t)) for op in ("scatter_add", "index_add") for t in (F32, BF16)]
    rows += [("upsample_nearest2d/bf16", lambda: upsample((8, 256, 128, 128), (256, 256))),
             ("upsample_nearest1d/bf16", lambda: upsample((16, 512, 16384), (32768,))),
             ("strided_copy_transpose", lambda: copy("strided_copy_transpose/bf16/16384x8192", random(8192, 16384).t(), 0.90)),
             ("strided_copy_bthd_bhtd", lambda: copy("strided_copy_bthd_bhtd/bf16/4x4096x32x128",
                                                     random(4, 4096, 32, 128).transpose(1, 2), 0.94)),
             ("strided_copy_slice", lambda: copy("strided_copy_slice/bf16/16384x12288[:,4096:8192]",
                                                 random(16384, 12288)[:, 4096:8192], 0.94))]
    return rows


def selection():
    """The rows of the table that select, sort, sum in order or sample. topk with k = 1 is an argmax."""
    ops = ("topk", "sort", "cumsum", "sample", "apply_penalties", "topk_softmax", "moe_align_block_size", "reduce_argmax")
    return [row for row in table() if row[0].split("/")[0] in ops]


def transposed(name, shape, order, dtype=BF16):
    """A contiguous tensor of this shape, with permuted dimensions."""
    return (f"strided_copy_{name}/{NAMES[dtype]}",
            lambda: copy(f"strided_copy_{name}/{NAMES[dtype]}/{'x'.join(map(str, shape))}", random(*shape, dtype=dtype).permute(order), 0.90))


def movers_between():
    rows = []
    for op in ("rope", "rope_i"):
        for shape in ((4, 32, 2048, 64), (4, 32, 2048, 80), (4, 32, 2048, 96), (4, 32, 2048, 256), (4, 30, 2047, 128), (16, 1, 8191, 128)):
            rows.append((f"{op}/bf16/" + "x".join(map(str, shape)), lambda op=op, shape=shape: rope(op, *shape)))
    rows += [("rope_thd/bf16/packed_qkv", rope_of_packed), ("rope_thd/bf16/4x2047x33x128", lambda: rope("rope_thd", 4, 2047, 33, 128)),
             ("rope_i/bf16/32x32x1x128", lambda: rope("rope_i", 32, 32, 1, 128))]
    for dim, shape, y_shape, index, dtype in (
            (1, (8192, 8191), (8192, 8191), torch.int64, BF16), (1, (4096, 8192), (4096, 8192), torch.int32, F32),
            (1, (16384, 2048), (16384, 2048), torch.int64, BF16), (1, (65536, 512), (65536, 512), torch.int64, F32),
            (1, (1024, 65536), (1024, 65536), torch.int64, BF16), (1, (16384, 4096), (16384, 512), torch.int64, BF16),
            (1, (262144, 64), (262144, 64), torch.int32, BF16), (1, (1048576, 16), (1048576, 16), torch.int64, F32),
            (0, (8192, 8192), (8192, 8192), torch.int64, BF16), (1, (64, 1024, 512), (64, 1024, 512), torch.int64, F32),
            (1, (1024, 50257), (1024, 50257), torch.int64, F32), (0, (4096, 8192), (4096, 8192), torch.int64, BF16),
            (1, (64, 1024, 520), (64, 1024, 520), torch.int64, BF16)):
        rows.append((f"gather/{NAMES[dtype]}/{dim}", lambda d=dim, s=shape, t=y_shape, i=index, e=dtype: gather(d, s, t, i, e)))
    for dim, shape, n, dtype in ((0, (262144, 256), 131072, BF16), (0, (50000, 4095), 16384, BF16), (1, (8192, 8192), 8192, BF16),
                                 (1, (64, 4096, 128), 4096, F32), (0, (100000, 64), 500000, F32)):
        rows.append((f"index_select/{NAMES[dtype]}", lambda d=dim, s=shape, n=n, e=dtype: select(d, s, n, e)))
    for op, dtype, *shape in (
            ("scatter_add", BF16, 65536, 256, 4096), ("index_add", BF16, 65536, 256, 65536), ("index_add", BF16, 16384, 4096, 2048),
            ("index_add", F32, 100000, 96, 5000), ("index_add", BF16, 2048, 4096, 4096), ("index_add", BF16, 1024, 256, 1024),
            ("index_add", BF16, 4096, 64, 4096), ("index_add", BF16, 16, 4096, 1024), ("index_add", F32, 64, 256, 512),
            ("index_add", F32, 128, 2048, 1024), ("index_add", BF16, 65536, 256, 16384, "half"),
            ("index_add", BF16, 65536, 256, 16384, "zipf"), ("index_add", F32, 65536, 256, 16384, "zipf"),
            ("index_add", BF16, 16384, 4096, 128256, "zipf"), ("index_add", BF16, 24576, 64, 4096, "zipf"),
            ("index_add", BF16, 2048, 4096, 4096, "zipf"), ("index_add", F32, 262144, 256, 64), ("index_add", F32, 262144, 256, 256),
            ("index_add", F32, 2000000, 16, 10000000), ("index_add", F32, 40000000, 1, 10000000),
            ("scatter_add", F32, 262144, 256, 64), ("scatter_add", BF16, 2000000, 16, 10000000),
            ("scatter_add", BF16, 2000000, 16, 10000000, "", True), ("scatter_add", F32, 262144, 256, 16384, "", True)):
        size = "x".join(map(str, shape[:2])) + f"->{shape[2]}"
        rows.append((f"{op}/{NAMES[dtype]}/{size}", lambda op=op, e=dtype, s=shape: adds(op, e, *s)))
    for shape, sizes, dtype, last in (
            ((8, 256, 128, 128), (200, 200), BF16, False), ((8, 512, 96, 96), (384, 384), BF16, False),
            ((8, 256, 128, 128), (256, 256), F32, False), ((8, 256, 128, 128), (256, 256), BF16, True),
            ((8, 256, 128, 128), (200, 200), BF16, True), ((8, 512, 256, 256), (104, 104), BF16, False),
            ((64, 512, 26, 26), (11, 11), BF16, False), ((8, 250, 128, 127), (254, 254), BF16, False),
            ((8, 256, 128, 128), (201, 199), BF16, False),
            ((16, 512, 16384), (26000,), BF16, False), ((8, 256, 16384), (65536,), F16, False),
            ((1, 64, 32, 32), (48, 48), BF16, False), ((1, 64, 32, 32), (64, 64), BF16, False),
            ((2, 4, 64, 64), (128, 128), BF16, False), ((1, 1280, 8, 8), (16, 16), BF16, True),
            ((1, 3, 100, 100), (150, 150), F32, False), ((1, 1, 512, 512), (256, 256), F32, False)):
        rows.append((f"upsample_nearest{len(sizes)}d/{NAMES[dtype]}",
                     lambda s=shape, n=sizes, e=dtype, c=last: upsample(s, n, e, c)))
    rows += [transposed("transpose", (8192, 16384), (1, 0), F32), transposed("transpose", (8191, 16383), (1, 0)),
             transposed("transpose", (8190, 16384), (1, 0)), transposed("transpose", (16384, 8190), (1, 0)),
             transposed("transpose", (65536, 512), (1, 0)), transposed("transpose", (512, 65536), (1, 0)),
             transposed("bchw_bhwc", (8, 256, 256, 128), (0, 2, 3, 1)), transposed("bhwc_bchw", (8, 256, 256, 96), (0, 3, 1, 2)),
             transposed("reversed", (16, 64, 48, 32, 96), (4, 3, 2, 1, 0)), transposed("mixed", (32, 24, 64, 16, 80), (3, 0, 4, 2, 1)),
             transposed("small_matrices", (4096, 96, 160), (0, 2, 1)), transposed("bhtd_bhdt", (4, 32, 4096, 128), (0, 1, 3, 2)),
             transposed("bthd_bhtd", (4, 4095, 33, 80), (0, 2, 1, 3))]
    rows.append(("strided_copy_transpose/u8", lambda: copy("strided_copy_transpose/u8/16384x16384",
                                                           torch.randint(0, 255, (16384, 16384), device="cuda", dtype=torch.uint8).t(), 0.90)))
    rows.append(("strided_copy_transpose/f64", lambda: copy("strided_copy_transpose/f64/8192x8192",
                                                            torch.randn(8192, 8192, device="cuda", dtype=torch.float64).t(), 0.90)))
    rows.append(("strided_copy_slice/bf16", lambda: copy("strided_copy_slice/bf16/16384x12289[:,4097:8192]",
                                                         random(16384, 12289)[:, 4097:8192], 0.90)))
    return rows


def others():
    rows = [(f"{op}/bf16/{r}x{c}", lambda op=op, r=r, c=c: norm(op, BF16, r, c)) for r, c in OTHER_SHAPES for op in OPS]
    rows += [(f"{op}/f32/{r}x{c}", lambda op=op, r=r, c=c: norm(op, F32, r, c)) for r, c in OTHER_F32_SHAPES for op in OPS]
    rows += [(f"{op}/f16/8192x8192", lambda op=op: norm(op, F16, 8192, 8192)) for op in OPS]
    rows += [(f"{op}/{NAMES[t]}/{r}x{c}", lambda op=op, t=t, r=r, c=c: norm(op, t, r, c))
             for op in ("softmax", "log_softmax") for t, r, c in VOCABULARIES]
    rows += [(f"softmax_ext_{mask}/bf16/{'x'.join(map(str, shape))}", lambda shape=shape, mask=mask: attention(BF16, *shape, mask))
             for shape in ((4, 32, 1024, 4096), (1, 32, 1, 4096), (32, 32, 1, 8192), (1, 32, 1, 131072)) for mask in ("bool", "f32")]
    rows += [("log_softmax/bf16/16384x4096", lambda: norm("log_softmax", BF16, 16384, 4096))]
    return rows + movers_between()
