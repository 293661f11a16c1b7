"""patch(model): the norms, rotary embeddings and residual adds of a transformers model by hipops.

A module's class is changed to a subclass of it, which is made once, as torch.nn.utils.parametrize does. So copies, replicas, hooks
and wrappers work as they do for any module; a pickle has the model's own class.
"""

from __future__ import annotations

import __future__
import ast
import collections
import copy
import dataclasses
import functools
import inspect
import itertools
import re
import textwrap
from collections.abc import Callable
from typing import Any

import torch
from torch.nn.modules import module as hooked

from ._library import backend_in_use
from .torch import layers

# The models of transformers in whose layers an add and a norm are fused: their source has the two in a row.
FUSED = frozenset("""
    afmoe apertus apertus1p5 arcee aria axk1 axk2 bailing_hybrid bamba bitnet blt chameleon clvp cosmos3_edge
    csm cwm deepseek_ocr2 deepseek_v2 deepseek_v3 deepseek_v32 diffllama diffusion_gemma dots1 dots3_note
    embedding_gemma2 emu3 ernie4_5 ernie4_5_moe ernie4_5_vl_moe eurobert evolla exaone_moe falcon_h1 flint gemma
    gemma2 gemma3 gemma4 gemma4_unified glm glm4 glm4_moe glm4_moe_lite glm4v glm4v_moe glm_image glm_moe_dsa
    glm_ocr gpt_oss granite granite4_vision granite_docling granite_swa granitemoe granitemoe_swa
    granitemoehybrid granitemoeshared helium hrm_text hunyuan_v1_dense hunyuan_v1_moe hunyuan_vl hy_v3
    hyperclovax idefics inkling jamba jetmoe kimi_linear kolibri1 kyutai_speech_to_text laguna lara_mini lfm3
    llama llama4 mellum mimo_v2_flash minicpm3 minimax_m2 minimax_m3_vl ministral ministral3 mistral mistral4
    mistral_large4 mixtral mllama moshi muse_glimmer muse_glimmer_assistant nanochat neucodec olmo_hybrid olmoe
    openai_privacy_filter paddleocr_vl pe_audio pe_audio_video pe_video phi3 phi4_multimodal pixtral qwen2
    qwen2_5_omni qwen2_5_vl qwen2_moe qwen2_vl qwen3 qwen3_5 qwen3_5_moe qwen3_moe qwen3_next qwen3_omni_moe
    qwen3_vl qwen3_vl_moe sapiens2 seed_oss smollm3 solar_open step3p7 t5gemma t5gemma2 timesfm2_5 ultrabert
    unlimited_ocr vaultgemma voxtral_realtime xcodec2 youtu
""".split())


@dataclasses.dataclass
class Replaced:
    """What patch replaced, by class, and which modules it left alone, by name, with class and reason."""

    norms: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    rotary_embeddings: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    residual_adds: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    patched_before: int = 0
    left_alone: dict[str, str] = dataclasses.field(default_factory=dict)

    def __str__(self) -> str:
        def listed(what: str, counted: collections.Counter[str]) -> str:
            return f"{what}: " + (", ".join(f"{count} {name}" for name, count in counted.items()) or "none")
        lines = [listed("norms", self.norms), listed("rotary embeddings in", self.rotary_embeddings),
                 listed("residual add and norm in", self.residual_adds)]
        if self.patched_before:
            lines.append(f"patched before: {self.patched_before} modules")
        by_reason: dict[str, list[str]] = {}
        for name, reason in self.left_alone.items():
            by_reason.setdefault(reason, []).append(name)
        return "\n".join(lines + [f"left alone: {len(names)} {reason} ({names[0]}{', …' * (len(names) > 1)})" for reason, names in by_reason.items()])


# ---- Classes

@functools.lru_cache(None)
def subclass(own: Any, known: Callable[..., Any], how: Any, run: Callable[..., Any]) -> type:
    """The subclass of `own` whose forward is run(own, self, ...); made once. The class's own forward, `known` when it was tried, may be
    another since; or a wrapper keeps this one when unpatch has given the module its class back. Then it is own's, as under torch.compile."""

    @functools.wraps(known)
    def forward(self: Any, *given: Any, **named: Any) -> Any:
        if torch.compiler.is_compiling() or own.forward is not known or not isinstance(self, made):
            return own.forward(self, *given, **named)
        return run(own, self, *given, **named)

    def reduced(self: Any, protocol: Any) -> Any:
        function, given, *rest = own.__reduce_ex__(self, 1)  # later protocols insist on the object's class
        return (function, tuple(own if a is made else a for a in given), *rest)

    def copied(self: Any, memo: Any = None) -> Any:
        replica = self.__new__(type(self))
        if memo is not None:
            memo[id(self)] = replica
        replica.__dict__.update(self.__dict__ if memo is None else copy.deepcopy(self.__dict__, memo))
        return replica

    members = {name: getattr(own, name) for name in ("__module__", "__qualname__", "__doc__")}
    if not hasattr(own, "__deepcopy__"):
        members.update(__copy__=copied, __deepcopy__=copied)
    members.update(forward=forward, _hipops=how, _hipops_stands=staticmethod(lambda: own.forward is known), __reduce_ex__=reduced)
    made = type(own.__name__, (own,), members)
    return made


def own_class(of: type) -> type:
    """`of` without hipops' classes. What stands on one, as a parametrization or FSDP2 does, is made again on the own one."""
    if "_hipops" in of.__dict__:
        return own_class(of.__bases__[0])
    bases = tuple(map(own_class, of.__bases__))
    if bases == of.__bases__:
        return of
    return type(of)(of.__name__, bases, {name: m for name, m in of.__dict__.items() if name not in ("__dict__", "__weakref__")})


def unpatch(model: torch.nn.Module) -> None:
    """Gives a patched model, or a copy of one, its own classes back."""
    for module in model.modules():
        own = own_class(type(module))
        if own is not type(module):
            module.__class__ = own


def no_trial(reason: Exception) -> str:
    return f"it cannot be tried: {(str(reason) or type(reason).__name__).splitlines()[0]}"


# ---- Norms

@dataclasses.dataclass(frozen=True)
class Norm:
    """What a class of norms computes, and for which dtypes that is so. eps is an attribute's name, or a number in its source."""

    op: str
    flags: tuple[bool, ...]
    eps: str | float
    no_eps: float | None = None  # what an eps of None stands for; None: the dtype's own
    dtypes: frozenset[torch.dtype] = frozenset(layers.DTYPES)
    keeps_layout: bool = False  # its result has x's strides, as elementwise ops' have; else it is contiguous

    def call(self, module: Any, x: Any, residual: Any = None) -> Any:
        """None where hipops' op does not act."""
        eps = getattr(module, self.eps) if isinstance(self.eps, str) else self.eps
        eps = (self.no_eps or torch.finfo(x.dtype).eps) if eps is None else eps
        weights = [getattr(module, name, None) for name in (("weight",) if self.op == "rms_norm" else ("weight", "bias"))]
        if type(eps) not in (int, float) or x.dtype not in self.dtypes or not layers.norm_acts_on(x, *weights):
            return None
        op, is_alike = getattr(torch.ops.hipops, self.op), not self.keeps_layout or layers.is_in_order(x)
        if residual is None and is_alike:
            return op(x, *weights, eps, *self.flags)
        if residual is None:
            order = sorted(range(x.dim()), key=lambda d: -int(x.stride(d)))
            if order[-1] != x.dim() - 1 or 0 in x.stride():
                return None
            return op(x.permute(order), *weights, eps, *self.flags).permute(sorted(range(x.dim()), key=order.__getitem__))
        if self.op == "rms_norm" and is_alike and layers.add_acts_on(x, residual, *weights):
            return torch.ops.hipops.fused_add_rms_norm(residual, x, *weights, eps, True, *self.flags)  # its sum lies as x + residual
        return None


def run_norm(own: Any, self: Any, *given: Any, **named: Any) -> Any:
    made = self._hipops.call(self, given[0]) if len(given) == 1 and not named and isinstance(given[0], torch.Tensor) else None
    return own.forward(self, *given, **named) if made is None else made


def find_norm(module: Any, device: torch.device) -> Norm | str:
    """What the module's class computes, found by trying it on random weights, or why that cannot be told."""
    own: Any = type(module)
    held = dict(module.named_parameters())
    others = [name for name in ("weight", "bias") if name not in held and getattr(module, name, None) is not None]
    if set(held) - {"weight", "bias"} or others or list(module.buffers()) or list(module.children()):
        return "it has more than a weight and a bias"
    for name, tensor in held.items():
        if type(tensor) is not torch.nn.Parameter:
            return f"its {name} is a {type(tensor).__name__}"
        if tensor.device.type != device.type:
            return f"its {name} is on {tensor.device}, expected {device.type}"
        if tensor.dim() != 1 or not len(tensor) or tensor.dtype not in layers.DTYPES:
            return f"its {name} is {str(tensor.dtype)[6:]} of shape {tuple(tensor.shape)}"
    eps_name: Any = next((name for name in ("variance_epsilon", "eps", "epsilon", "norm_eps") if hasattr(module, name)), None)
    eps = getattr(module, eps_name) if eps_name else None
    shape = getattr(module, "normalized_shape", None)
    size = next((len(tensor) for tensor in held.values()), shape[-1] if isinstance(shape, (tuple, list)) and shape else 64)
    random = torch.Generator(device).manual_seed(1)

    def trial(dtype: torch.dtype, factor: float) -> Any:
        """A bare copy of it, with another eps; rows of small, usual and large numbers; what its class makes of them, without hooks."""
        bare = own.__new__(own)
        bare.__dict__.update(module.__dict__)
        bare._parameters = {n: torch.randn(size, generator=random, device=device).to(dtype) if n in held else None for n in module._parameters}
        if eps is not None:
            setattr(bare, str(eps_name), eps * factor)
        scale = torch.tensor([(eps or 1e-6) ** 0.5, 1.0, 1000.0], device=device)[:, None, None]
        x = (torch.randn((3, 4, size), generator=random, device=device) * scale).to(dtype)
        expected = own.forward(bare, x)
        for shape in ((12, size), (3, 2, 2, size)):
            if not torch.equal(own.forward(bare, x.view(shape)).reshape(x.shape), expected):
                raise ValueError("it depends on the number of dimensions")
        return bare, x, expected

    def differing(how: Norm, bare: Any, x: torch.Tensor, expected: torch.Tensor) -> int | None:
        got = how.call(bare, x)
        if got is None or got.dtype != expected.dtype or got.shape != expected.shape:
            return None
        terms = expected.double().abs() + sum([w.double().abs() for w in bare._parameters.values() if w is not None] or [1.0])
        error = (got.double() - expected.double()).abs()
        return int((got != expected).sum()) if bool((error <= 8 * torch.finfo(x.dtype).eps * terms).all()) else None

    ops: list[Any] = [*(("rms_norm", flags) for flags in itertools.product((False, True), repeat=2)), ("layer_norm", ())]
    best: Norm | None = None
    most = (0, 0)
    try:
        with torch.no_grad():
            trials = [trial(dtype, factor) for dtype, factor in zip(layers.DTYPES, (2.0, 4.0, 0.25))]
            for (op, flags), e, no_eps in itertools.product(ops, (eps_name,) if eps_name else (1e-5, 1e-6), (None, 2.0**-23)):
                how = Norm(op, flags, e, no_eps)
                counts = {tried[1].dtype: differing(how, *tried) for tried in trials if op == "layer_norm" or "bias" not in held}
                right = {dtype: count for dtype, count in counts.items() if count is not None}
                merit = len(right), -sum(right.values())
                if merit > most and all(tensor.dtype in right for tensor in held.values()):
                    best, most = dataclasses.replace(how, dtypes=frozenset(right)), merit
            bare, turned = trials[0][0], trials[0][1].transpose(0, 1)
            best = best and dataclasses.replace(best, keeps_layout=own.forward(bare, turned).stride() == turned.stride())
    except Exception as reason:
        return no_trial(reason)
    return best or "it computes something else"


# ---- Rotary embeddings: the module that makes tables marks them, if its trial shows that their halves, or pairs, are equal. A function
# of the modelling module that rotates is wrapped there, once: by tables that are marked it rotates by hipops, else as before.

def once(table: torch.Tensor, kind: str) -> torch.Tensor:
    """The half of a table that holds each angle once."""
    return table[..., :table.shape[-1] // 2] if kind == "halves" else table[..., ::2] if kind == "pairs" else table


def twice(table: torch.Tensor, kind: str) -> torch.Tensor:
    return torch.cat((table, table), -1) if kind == "halves" else table.repeat_interleave(2, -1) if kind == "pairs" else table


def run_tables(own: Any, self: Any, *given: Any, **named: Any) -> Any:
    tables = own.forward(self, *given, **named)
    for table in tables:
        table._hipops = self._hipops
    return tables


def find_tables(module: Any, device: torch.device) -> frozenset[str] | str:
    """What kinds its tables are of, by trial at positions in no order: of equal halves, of equal pairs; and whole, as any may be."""
    parameters, kinds, reason = list(inspect.signature(type(module).forward).parameters)[1:], None, "it has no kinds of layers"
    if parameters not in (["x", "position_ids"], ["x", "position_ids", "layer_type"]):
        return "it takes other arguments than x and position_ids"
    at = torch.randint(0, 4000, (2, 7), generator=torch.Generator().manual_seed(1), device="cpu").to(device)
    layer_types: list[Any] = [(kind,) for kind in set(getattr(module.config, "layer_types", None) or ())] if len(parameters) > 2 else [()]
    for others in layer_types:
        try:
            with torch.no_grad():
                tables = type(module).forward(copy.deepcopy(module).to(device), torch.zeros(2, 7, 8, device=device), at, *others)
            kinds = [kind for kind in kinds or ("halves", "pairs", "whole") if all(torch.equal(twice(once(t, kind), kind), t) for t in tables)]
        except Exception as failed:  # it may have no angles for a kind of layers
            reason = no_trial(failed)
    return frozenset(kinds) if kinds else reason


@dataclasses.dataclass(frozen=True)
class Rotation:
    """What a function makes of `count` tensors and two tables of a kind."""

    op: str
    kind: str
    count: int
    heads_at: tuple[tuple[Any, int], ...] = ()  # by unsqueeze_dim and the tables' rank: 1 for [b, h, t, d], 2 for [b, t, h, d]
    is_partial: bool = True  # tables of less than d
    is_mixed: bool = True  # tables of float32 for 16-bit rows

    def call(self, rows: Any, cos: torch.Tensor, sin: torch.Tensor, heads_at: int) -> list[torch.Tensor] | None:
        """None where hipops' op does not act."""
        if not layers.rotation_acts_on(rows[0], rows[-1], cos, sin, heads_at):
            return None
        r, d = cos.shape[-1] * (2 if self.kind == "whole" else 1), rows[0].shape[-1]
        if not (r == d or (self.is_partial and r < d)) or not (cos.dtype == rows[0].dtype or (self.is_mixed and cos.dtype == torch.float32)):
            return None
        c, s = once(cos, self.kind), once(sin, self.kind)
        return [layers.rotated(self.op, x, c, s, heads_at) for x in rows]


def find_rotation(own: Any, device: torch.device) -> Rotation | None:
    parameters = list(inspect.signature(getattr(own, "forward", own)).parameters)
    count = next((n for n in (1, 2) if parameters[n:n + 2] == ["cos", "sin"]), 0)
    random = torch.Generator(device).manual_seed(1)
    bf16 = {"dtype": torch.bfloat16, "tables": torch.bfloat16}

    def fits(how: Rotation, asked: Any, heads_at: int, size: int = 8, dtype: Any = torch.float32, tables: Any = torch.float32) -> bool:
        cos, sin = (twice(torch.randn((2, 5, size)[-asked[1]:], generator=random, device=device), how.kind).to(tables) for _ in range(2))
        rows = [torch.randn((2, heads, 5, 16), generator=random, device=device).to(dtype) for heads in (4, 3)[:how.count]]
        rows = rows if heads_at == 1 else [x.transpose(1, 2) for x in rows]
        try:
            expected, got = own(*rows, cos, sin, **({} if asked[0] is None else {"unsqueeze_dim": asked[0]})), how.call(rows, cos, sin, heads_at)
            near = 1e-5 if dtype == torch.float32 else 0.05
            return got is not None and all(e.dtype == g.dtype and e.shape == g.shape and torch.allclose(e, g, near, near)
                                           for e, g in zip([expected] if how.count == 1 else expected, got))
        except Exception:
            return False

    with torch.no_grad():
        for op, kind in itertools.product(("rope", "rope_i"), ("halves", "pairs", "whole")) if count else ():
            how = Rotation(op, kind, count)
            asks = ((None, 3), (1, 3), (2, 3), (0, 2))
            found = [(asked, heads_at) for asked in asks for heads_at in (1, 2) if fits(how, asked, heads_at)]
            if found and fits(how, *found[0], **bf16):
                is_mixed = fits(how, *found[0], dtype=torch.bfloat16)
                return Rotation(op, kind, count, tuple(found), fits(how, *found[0], size=4), is_mixed)
    return None


def wrapped(own: Any, how: Rotation) -> Callable[..., Any]:
    places = dict(how.heads_at)

    @functools.wraps(own, updated=())
    def rotate(*given: Any, **named: Any) -> Any:
        made = None
        if not torch.compiler.is_compiling() and len(given) == how.count + 2 and len(named) == ("unsqueeze_dim" in named):
            heads_at = places.get((named.get("unsqueeze_dim"), given[how.count].dim()))
            if heads_at and all(how.kind in getattr(table, "_hipops", ()) for table in given[how.count:]):
                made = how.call(given[:how.count], given[how.count], given[how.count + 1], heads_at)
        return own(*given, **named) if made is None else made[0] if how.count == 1 else tuple(made)

    rotate._hipops = how  # type: ignore[attr-defined]
    return rotate


def rotates(module: Any, device: torch.device, kinds: set[str]) -> str | None:
    """None: all functions by which its forward may rotate are hipops' from now on. Empty: it has none. Or why they are not."""
    forward, reasons = inspect.unwrap(type(module).forward), []
    for name in getattr(getattr(forward, "__code__", None), "co_names", ()):
        own = forward.__globals__.get(name) if name.startswith("apply_rotary") else None
        if callable(own):
            how = getattr(own, "_hipops", None) or find_rotation(own, device)
            if how and how.kind in kinds:
                forward.__globals__[name] = own if hasattr(own, "_hipops") else wrapped(own, how)
            reason = f"no module makes tables for its {name} that can be tried" if how else f"its {name} computes something else, or of other arguments"
            reasons.append(None if how and how.kind in kinds else reason)
    return next((reason for reason in reasons if reason), None) if reasons else ""


# ---- Residual add, then norm

def add_and_norm(norm: Any, a: Any, b: Any) -> Any:
    """The norm of a + b, and the sum, with the strides of a + b. A norm that was replaced since, or has hooks or another forward, is
    called as it stands."""
    how: Any = getattr(type(norm), "_hipops", None)
    has_hooks = norm._forward_hooks or norm._forward_pre_hooks or hooked._global_forward_hooks or hooked._global_forward_pre_hooks
    is_known = isinstance(how, Norm) and norm._hipops_stands() and not has_hooks and "forward" not in norm.__dict__
    made = how.call(norm, a, b) if is_known else None
    if made is None:
        h = a + b
        made = norm(h), h
    return made


@functools.lru_cache(None)
def fused(own: Any, known: Any, norms: frozenset[str]) -> Callable[..., Any] | None:
    """own's forward; where it adds to `residual`, keeps the sum as `residual` and has its norm taken, in a row, by one call."""
    forward, is_fused = inspect.unwrap(known), False
    try:
        tree, function = ast.parse("def make(add_and_norm_by_hipops):\n    return forward"), ast.parse(textwrap.dedent(inspect.getsource(forward))).body[0]
    except (OSError, TypeError, SyntaxError):
        return None
    body: list[Any] = function.body  # type: ignore[attr-defined]
    for at in range(len(body) - 2):
        add, texts = getattr(body[at], "value", None), [ast.unparse(statement) for statement in body[at:at + 3]]
        norm = next((name for name in norms if texts[1:] == ["residual = hidden_states", f"hidden_states = self.{name}(hidden_states)"]), None)
        if norm and texts[0].startswith("hidden_states = ") and isinstance(add, ast.BinOp) and isinstance(add.op, ast.Add):
            sides = ast.unparse(add.left), ast.unparse(add.right)
            if "residual" in sides:
                call = ast.parse(f"hidden_states, residual = add_and_norm_by_hipops(self.{norm}, {', '.join(sides)})").body[0]
                body[at:at + 3], is_fused = [ast.copy_location(call, body[at]), ast.Pass(), ast.Pass()], True
    if not is_fused or forward.__closure__:
        return None
    tree.body[0].body.insert(0, function)  # type: ignore[attr-defined]
    ast.increment_lineno(ast.fix_missing_locations(tree), forward.__code__.co_firstlineno - 1)  # so that tracebacks show the source
    scope: dict[str, Any] = {}
    try:
        code = compile(tree, forward.__code__.co_filename, "exec", __future__.annotations.compiler_flag, True)
        exec(code, forward.__globals__, scope)  # in the module's own globals: it calls what is bound there later
        made = scope["make"](add_and_norm)
    except Exception:  # of a decorator
        return None
    return lambda own, self, *given, **named: made(self, *given, **named)


def patch(model: torch.nn.Module) -> Replaced:
    """Replaces what it knows in a transformers model on a GPU, of this model alone, and says what. The replacements act where no
    gradient is asked for, as under torch.no_grad(); elsewhere the model's own functions do.

    A norm is replaced if it gives what hipops' gives, by trial; a rotary embedding likewise. A residual add is fused with the
    norm behind it in the layers of some models, whose source is known."""
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"patch: model is a {type(model).__name__}, expected a torch.nn.Module")
    anywhere = torch.device("cpu" if backend_in_use() in layers.BACKENDS["cpu"] else "cuda")  # of a model without parameters
    devices = [parameter.device for parameter in model.parameters()] or [anywhere]
    device = next((device for kind in ("cuda", "cpu") for device in devices if device.type == kind), None)
    if device is None:
        raise ValueError(f"patch: model is on {devices[0]}, expected cpu or cuda")
    if backend_in_use() not in layers.BACKENDS[device.type]:
        raise ValueError(f"patch: model is on {device}, and this process uses {backend_in_use().name.lower()}: it has one backend")
    modules: list[tuple[str, Any]] = [(name, module) for name, module in model.named_modules() if own_class(type(module)) is type(module)]
    replaced = Replaced(patched_before=len(list(model.modules())) - len(modules))
    kinds: set[str] = set()
    tried: dict[Any, Norm | str] = {}

    def left(name: str, module: Any, reason: str) -> None:
        replaced.left_alone[name] = f"{type(module).__name__}: {reason}"

    def put(name: str, module: Any, how: Any, run: Callable[..., Any]) -> bool:
        """The class with `run`, unless how is a reason not to."""
        if isinstance(how, str) or "forward" in module.__dict__:
            left(name, module, how if isinstance(how, str) else "it has a forward of its own, as by a wrapper")
            return False
        own: Any = type(module)
        module.__class__ = subclass(own, own.forward, how, run)
        return True

    for name, module in modules:
        if re.search("(RMS|Rms|Layer|L2)Norm$", type(module).__name__):
            simple = [(n, v) for n, v in module.__dict__.items() if isinstance(v, (bool, int, float, str, tuple, type(None)))]
            key = type(module), *simple, *((n, p.dtype, p.device, p.shape, type(p)) for n, p in module.named_parameters())
            tried[key] = tried[key] if key in tried else find_norm(module, device)
            replaced.norms.update([type(module).__name__] * put(name, module, tried[key], run_norm))
        elif "Rotary" in type(module).__name__:
            found = find_tables(module, device)
            kinds.update(found if put(name, module, found, run_tables) else ())
    for name, module in modules:
        own: Any = type(module)
        reason = rotates(module, device, kinds)
        if reason is None:
            replaced.rotary_embeddings[type(module).__name__] += 1
        elif reason:
            left(name, module, reason)
        hows = {n: getattr(type(child), "_hipops", None) for n, child in module.named_children()}
        norms = frozenset(n for n, how in hows.items() if isinstance(how, Norm) and how.op == "rms_norm")
        if norms and any(f".{family}.modeling" in inspect.unwrap(own.forward).__module__ for family in FUSED):
            run = fused(own, own.forward, norms)
            if run:
                replaced.residual_adds.update([own.__name__] * put(name, module, norms, run))
    return replaced
