"""patch(model): the norms, rotary embeddings and residual adds of a transformers model by hipops."""

from __future__ import annotations

import ast
import collections
import copy
import dataclasses
import inspect
import itertools
import textwrap
import types
from collections.abc import Callable
from typing import Any

import torch

DTYPES = (torch.float32, torch.float16, torch.bfloat16)


@dataclasses.dataclass
class Replaced:
    """What patch replaced, by class, and which norms it left alone, with the reason."""

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
        return "\n".join(lines + [f"left alone: {name}: {reason}" for name, reason in self.left_alone.items()])


@dataclasses.dataclass
class Norm:
    """How a module's norm is to be called, for rows of this dtype: in float32 nobody sees what is rounded where."""

    eps: float
    plus_one: bool
    round_before: bool
    dtype: torch.dtype


def wants_gradient(*tensors: torch.Tensor) -> bool:
    return torch.is_grad_enabled() and any(t.requires_grad for t in tensors)


def is_left_to_compile() -> bool:
    """torch.compile fuses a norm with the sum before it, and the rotary embeddings of q and k, into one kernel each."""
    return bool(torch.compiler.is_compiling())


def replace(module: torch.nn.Module, forward: Callable[..., Any]) -> None:
    """Of this module alone, ahead of its class's. A copy of a bound method is bound to the copy of its module; pickled, its name
    stands for it, which is the class's function again."""
    forward.is_hipops = True  # type: ignore[attr-defined]
    module.forward = types.MethodType(forward, module)


def wrapped_as(outer: Any, inner: Any) -> Any:
    """`inner` in the wrappers that `outer` is in, as by functools.wraps; None if they hold it in another way."""
    own = getattr(outer, "__wrapped__", None)
    if own is None:
        return inner
    new = wrapped_as(own, inner)
    cells = outer.__closure__ or ()
    if new is None or not any(cell.cell_contents is own for cell in cells):
        return None
    held = tuple(types.CellType(new) if cell.cell_contents is own else cell for cell in cells)
    made = types.FunctionType(outer.__code__, outer.__globals__, outer.__name__, outer.__defaults__, held)
    made.__kwdefaults__ = outer.__kwdefaults__
    setattr(made, "__wrapped__", new)
    return made


def is_patched(module: torch.nn.Module) -> bool:
    return getattr(getattr(module.__dict__.get("forward"), "__func__", None), "is_hipops", False)


def unpatch(model: torch.nn.Module) -> None:
    """Gives a patched model, or a copy of one, its own functions back."""
    for module in model.modules():
        if is_patched(module):
            del module.forward
        module.__dict__.pop("_hipops", None)


def globals_with(function: Any, **others: Any) -> dict[str, Any]:
    """Globals for a changed copy of a function. They have no __name__, as torch.compile would look them up in the module's."""
    return {name: value for name, value in {**function.__globals__, **others}.items() if name != "__name__"}


# ---- Norms

def find_norm(module: torch.nn.Module) -> Norm | str:
    """What the module computes, found by trying it: its class may round as Llama's or add one to weights as Gemma's. Or why not."""
    weight: Any = getattr(module, "weight", None)
    eps: Any = next((getattr(module, name) for name in ("variance_epsilon", "eps", "epsilon") if hasattr(module, name)), None)
    if [name for name, _ in module.named_parameters()] != ["weight"] or list(module.buffers()) or list(module.children()):
        return "it has more than a weight, or none"
    if not isinstance(weight, torch.Tensor) or weight.dim() != 1 or weight.dtype not in DTYPES or weight.device.type not in ("cpu", "cuda"):
        return "its weight is not of one dimension, of float32, float16 or bfloat16, on the CPU or a GPU"
    if not isinstance(eps, (int, float)):
        return f"its eps is {eps}"

    def tried(dtype: torch.dtype) -> Any:
        """Its weight, rows of small, usual and large numbers, and what it makes of them; not by a call, which would run its hooks."""
        random = torch.Generator(weight.device).manual_seed(1)
        rows = torch.randn((12, len(weight)), generator=random, device=weight.device)
        rows *= torch.tensor([eps**0.5, 1.0, 1000.0] * 4, device=weight.device)[:, None]
        trial = copy.deepcopy(module).to(dtype)
        trial.weight.copy_(torch.randn(len(weight), generator=random, device=weight.device))
        x = rows.to(dtype)
        return trial.weight, x, type(trial).forward(trial, x)

    try:
        with torch.no_grad():
            exact, typed = tried(torch.float32), tried(weight.dtype)
    except Exception as reason:
        return f"it does not take a tensor alone: {reason}"
    best, fewest = None, typed[1].numel() + 1
    for plus_one, round_before in itertools.product((False, True), repeat=2):
        is_same = True
        for w, x, expected in (exact, typed):
            got = torch.ops.hipops.rms_norm(x, w, eps, plus_one, round_before)
            is_same = is_same and got.dtype == expected.dtype and got.shape == expected.shape
            error = (got.double() - expected.double()).abs() if is_same else torch.ones(1)
            is_same = is_same and bool((error <= 8 * torch.finfo(x.dtype).eps * expected.double().abs() + 1e-30).all())
        others = int((got != expected).sum()) if is_same else fewest
        if others < fewest:
            best, fewest = Norm(float(eps), plus_one, round_before, weight.dtype), others
    return best or "it computes something else"


def forward(self: Any, *given: Any, **named: Any) -> Any:
    how, x = self._hipops, given[0] if len(given) == 1 and not named else None
    is_known = isinstance(x, torch.Tensor) and x.dtype == self.weight.dtype == how.dtype
    if not is_known or is_left_to_compile() or wants_gradient(x, self.weight):
        return type(self).forward(self, *given, **named)
    return torch.ops.hipops.rms_norm(x, self.weight, how.eps, how.plus_one, how.round_before)


def patch_norm(module: torch.nn.Module, replaced: Replaced) -> None:
    name = type(module).__name__
    norm = find_norm(module)
    if isinstance(norm, str):
        replaced.left_alone[name] = norm
        return
    setattr(module, "_hipops", norm)
    replace(module, forward)
    replaced.norms[name] += 1


# ---- Rotary embeddings

def rotary(own: Callable[..., Any]) -> Callable[..., Any]:
    """own is a model's apply_rotary_pos_emb, whose cos and sin [b, t, d] have each half twice."""

    def fits(q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> bool:
        tokens = (q.shape[1], q.shape[2]) if q.dim() == 4 else ()
        return (q.dtype == k.dtype == cos.dtype == sin.dtype and cos.dim() == 3 and cos.shape == sin.shape
                and cos.shape[0] in (1, len(q)) and cos.shape[1] in tokens and cos.shape[2] == q.shape[-1])

    def apply_rotary_pos_emb(q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, *others: Any,
                             unsqueeze_dim: int = 1) -> Any:
        if is_left_to_compile() or others or unsqueeze_dim not in (1, 2) or wants_gradient(q, k, cos, sin) or not fits(q, k, cos, sin):
            return own(q, k, cos, sin, *others, unsqueeze_dim=unsqueeze_dim)
        op = torch.ops.hipops.rope if unsqueeze_dim == 1 else torch.ops.hipops.rope_thd
        half = cos.shape[-1] // 2
        c, s = cos[..., :half], sin[..., :half]
        if len(c) != len(q):  # one row of the batch for all
            c, s = c[0], s[0]
        return op(q, c, s), op(k, c, s)

    return apply_rotary_pos_emb


def is_rotary(own: Callable[..., Any], device: torch.device) -> bool:
    random = torch.Generator(device).manual_seed(1)
    q, k, angles = (torch.randn(shape, generator=random, device=device) for shape in ((2, 4, 5, 16), (2, 2, 5, 16), (2, 5, 8)))
    cos, sin = (torch.cat((half, half), -1) for half in (angles.cos(), angles.sin()))
    try:
        with torch.no_grad():
            expected, got = own(q, k, cos, sin), rotary(own)(q, k, cos, sin)
    except Exception:
        return False
    return all(torch.allclose(a, b, rtol=1e-5, atol=1e-5) for a, b in zip(expected, got))


def patch_rotary(module: torch.nn.Module, device: torch.device, replaced: Replaced) -> None:
    forward = inspect.unwrap(type(module).forward)
    if "apply_rotary_pos_emb" not in getattr(getattr(forward, "__code__", None), "co_names", ()):
        return
    name, own = type(module).__name__, forward.__globals__["apply_rotary_pos_emb"]
    if not is_rotary(own, device):
        replaced.left_alone[name] = "its apply_rotary_pos_emb computes something else"
        return
    names = globals_with(forward, apply_rotary_pos_emb=rotary(own))
    made = types.FunctionType(forward.__code__, names, forward.__name__, forward.__defaults__, forward.__closure__)
    made.__kwdefaults__ = forward.__kwdefaults__
    made = wrapped_as(type(module).forward, made)
    if made is None:
        replaced.left_alone[name] = "its forward is in a wrapper that hides it"
        return
    replace(module, made)
    replaced.rotary_embeddings[name] += 1


# ---- Residual add, then norm

def add_and_norm(norm: torch.nn.Module, x: torch.Tensor, residual: torch.Tensor) -> Any:
    how: Any = getattr(norm, "_hipops", None)
    # A norm that was put in the other's place since, or that has hooks, is called as it stands.
    is_other = how is None or not is_patched(norm) or norm._forward_hooks or norm._forward_pre_hooks
    if is_other or wants_gradient(x, residual, norm.weight) or not x.dtype == residual.dtype == norm.weight.dtype == how.dtype:
        h = residual + x
        return norm(h), h
    return torch.ops.hipops.fused_add_rms_norm(x, residual, norm.weight, how.eps, True, how.plus_one, how.round_before)


PATTERN = """
hidden_states = residual + hidden_states
residual = hidden_states
hidden_states = self.NORM(hidden_states)
"""


class FuseAdds(ast.NodeTransformer):
    """Where a layer's forward has PATTERN's statements in a row, one call instead."""

    def __init__(self, layer: torch.nn.Module):
        self.layer = layer
        self.count = 0

    def visit_FunctionDef(self, function: ast.FunctionDef) -> ast.FunctionDef:
        body, at = function.body, 0
        while at + 3 <= len(body):
            text = "\n".join(ast.unparse(statement) for statement in body[at:at + 3])
            for name, child in self.layer.named_children():
                if hasattr(child, "_hipops") and text == PATTERN.strip().replace("NORM", name):
                    call = f"hidden_states, residual = _hipops_add_and_norm(self.{name}, hidden_states, residual)"
                    body[at:at + 3] = ast.parse(call).body
                    self.count += 1
                    break
            at += 1
        function.decorator_list.clear()
        return function


def patch_adds(layer: torch.nn.Module, replaced: Replaced) -> None:
    forward = inspect.unwrap(type(layer).forward)
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(forward)))
    except (OSError, TypeError, SyntaxError):
        return
    fuse = FuseAdds(layer)
    fuse.visit(tree)
    if not fuse.count or forward.__closure__:
        return
    names = globals_with(forward, _hipops_add_and_norm=add_and_norm)
    scope: dict[str, Any] = {}
    code = compile("from __future__ import annotations\n" + ast.unparse(tree), f"<hipops.patch of {type(layer).__name__}>", "exec")
    exec(code, names, scope)
    made = wrapped_as(type(layer).forward, scope["forward"])
    if made is None:
        replaced.left_alone[type(layer).__name__] = "its forward is in a wrapper that hides it"
        return
    replace(layer, made)
    replaced.residual_adds[type(layer).__name__] += 1


def patch(model: torch.nn.Module) -> Replaced:
    """Replaces what it knows in a transformers model on a GPU, of this model alone, and says what. The replacements act where no
    gradient is asked for, as under torch.no_grad(); elsewhere the model's own functions do.

    A norm is replaced if it gives what hipops.rms_norm gives, by trial; a rotary embedding likewise. A residual add is fused
    with the norm behind it where a layer's source has them in a row, as Llama's, Qwen's and Mistral's do."""
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"patch: model is a {type(model).__name__}, expected a torch.nn.Module")
    device = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
    if device.type not in ("cpu", "cuda"):
        raise ValueError(f"patch: model is on {device}, expected cpu or cuda")
    replaced = Replaced(patched_before=sum(map(is_patched, model.modules())))
    modules = []
    for module in model.modules():
        if "forward" not in module.__dict__:
            modules.append(module)
        elif not is_patched(module):
            replaced.left_alone[type(module).__name__] = "it has a forward of its own, as by a wrapper"
    for module in modules:
        if "RMSNorm" in type(module).__name__:
            patch_norm(module, replaced)
    for module in modules:
        if not is_patched(module):
            patch_rotary(module, device, replaced)
    for module in modules:
        if not is_patched(module) and any(is_patched(child) for child in module.children()):
            patch_adds(module, replaced)
    return replaced
