"""patch(model) replaces norms, rotary embeddings, residual adds and gated activations of a transformers model by hipops' ops.

It changes the classes of modules (see _subclass). Trials decide whether a hipops op can replace a module or a function.
"""

from __future__ import annotations

import ast
import collections
import copy
import dataclasses
import functools
import inspect
import itertools
import re
from collections.abc import Callable
from typing import Any

import torch
from torch.nn.modules import module as torch_module

from ._library import backend_in_use
from ._subclass import own_class, state_key, subclass
from .torch import layers


@dataclasses.dataclass
class Replaced:
    """Numbers of replaced modules, by class. left_alone names each module that patch could not replace, with its class and the reason."""

    norms: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    rotary_embeddings: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    residual_adds: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    gated_activations: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    patched_before: int = 0
    left_alone: dict[str, str] = dataclasses.field(default_factory=dict)

    def __str__(self) -> str:
        lines = []
        for what, counts in (("norms", self.norms), ("rotary embeddings in", self.rotary_embeddings),
                             ("residual add and norm in", self.residual_adds),
                             ("activation and product in", self.gated_activations)):
            lines.append(f"{what}: " + (", ".join(f"{count} {name}" for name, count in counts.items()) or "none"))
        if self.patched_before:
            lines.append(f"patched before: {self.patched_before} modules")
        for reason, count in collections.Counter(self.left_alone.values()).items():
            first = next(name for name, given in self.left_alone.items() if given == reason)
            lines.append(f"left alone: {count} {reason} ({first}{', …' if count > 1 else ''})")
        return "\n".join(lines)


# ---- Trials

def tried(function: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """Calls the function without gradients. If the function raises, the result is a reason in words."""
    try:
        with torch.no_grad():
            return function(*given, **named)
    except Exception as failure:
        return f"it cannot be tried: {(str(failure) or type(failure).__name__).splitlines()[0]}"


def is_near(got: Any, expected: Any) -> bool:
    """Whether both are tensors of one dtype and one shape that differ by no more than rounding."""
    if not isinstance(expected, torch.Tensor) or not isinstance(got, torch.Tensor) or got.dtype != expected.dtype:
        return False
    near = max(1e-5, 8 * torch.finfo(got.dtype).eps)
    return got.shape == expected.shape and bool(torch.allclose(got, expected, near, near))


# ---- Norms

@dataclasses.dataclass(frozen=True)
class Norm:
    """The hipops op, its flags and the dtypes for which the op computes the same as a class of norms."""

    op: str
    flags: tuple[bool, ...]
    eps: str | float  # the name of the module's attribute, or a number
    no_eps: float | None = None  # replaces an eps of None; if it is None too, the epsilon of x's dtype does
    dtypes: frozenset[torch.dtype] = frozenset(layers.DTYPES)
    keeps_layout: bool = False  # whether the class's result has the strides of an elementwise op's; if not, it is contiguous

    def call(self, module: Any, x: Any, residual: Any = None) -> Any:
        """Returns the norm of x; with a residual, the norm of x + residual and that sum. Returns None if no op of hipops can."""
        eps = getattr(module, self.eps) if isinstance(self.eps, str) else self.eps
        eps = (self.no_eps or torch.finfo(x.dtype).eps) if eps is None else eps
        held = module._parameters  # nn.Module.__getattr__ is slow
        names = ("weight",) if self.op == "rms_norm" else ("weight", "bias")
        weights = [held[name] if name in held else getattr(module, name, None) for name in names]
        name = self.op if residual is None else "fused_add_" + self.op
        if type(eps) not in (int, float) or x.dtype not in self.dtypes or not layers.norm_acts_on(name, x, *weights):
            return None
        if isinstance(shape := getattr(module, "normalized_shape", None), (tuple, list)) and tuple(shape) != x.shape[-1:]:
            return None
        rest, is_contiguous = (*weights, eps, *self.flags), not self.keeps_layout or layers.is_in_order(x)
        if residual is not None:  # the sum is in order if x is
            if not is_contiguous or not layers.add_acts_on(name, x, residual):
                return None
            return getattr(torch.ops.hipops, name)(residual, x, *weights, eps, True, *self.flags)
        op = getattr(torch.ops.hipops, name)
        if is_contiguous:
            return op(x, *rest)
        if 0 in x.stride():
            return None
        order = sorted(range(x.dim()), key=lambda at: -int(x.stride(at)))
        if order[-1] != x.dim() - 1:
            return torch.empty_like(x).copy_(op(x, *rest))
        return op(x.permute(order), *rest).permute(sorted(range(x.dim()), key=order.__getitem__))


def run_norm(own: Any, self: Any, *given: Any, **named: Any) -> Any:
    """The forward of a replaced norm, whose own class is `own`."""
    is_plain = len(given) == 1 and not named and isinstance(given[0], torch.Tensor)
    result = self._hipops.call(self, given[0]) if is_plain else None
    return own.forward(self, *given, **named) if result is None else result


def find_norm(module: Any, device: torch.device) -> Norm | str:
    """Compares the module's class with each op and set of flags, on random weights and rows. Returns the best match, or a reason."""
    own: Any = type(module)
    held = dict(module.named_parameters())
    others = [name for name in ("weight", "bias") if name not in held and getattr(module, name, None) is not None]
    if set(held) - {"weight", "bias"} or others or list(module.buffers()) or list(module.children()):
        return "it has more than a weight and a bias"
    for name, tensor in held.items():
        is_whole = type(tensor) is torch.nn.Parameter and tensor.device.type == device.type and tensor.dim() == 1 and len(tensor)
        if not is_whole or tensor.dtype not in layers.DTYPES:
            return f"its {name} is a {type(tensor).__name__} of {tensor.dtype} and shape {tuple(tensor.shape)} on {tensor.device}"
    eps_name = next((name for name in ("variance_epsilon", "eps", "epsilon", "norm_eps") if hasattr(module, name)), "")
    eps, shape = getattr(module, eps_name, None), getattr(module, "normalized_shape", None)
    size = [*map(len, held.values()), *(shape[-1:] if isinstance(shape, (tuple, list)) else ()), 64][0]
    random = torch.Generator(device).manual_seed(1)

    def trial(dtype: torch.dtype, factor: float) -> Any:
        """Returns a copy with random weights and another eps; small, usual and large rows; and the result of the class for them."""
        bare = copy.copy(module)
        weights = {name: torch.randn(size, generator=random, device=device).to(dtype) for name in held}
        bare._parameters = {name: weights.get(name) for name in module._parameters}
        if eps is not None:
            setattr(bare, eps_name, eps * factor)
        scale = torch.tensor([(eps or 1e-6) ** 0.5, 1.0, 1000.0], device=device)[:, None, None]
        x = ((torch.randn((3, 4, size), generator=random, device=device) + 0.5) * scale).to(dtype)  # a layer norm removes the mean
        expected = own.forward(bare, x)  # without hooks
        for shape, bare.training in (((12, size), False), ((3, 2, 2, size), True)):
            if not torch.equal(own.forward(bare, x.view(shape)).reshape(x.shape), expected):
                raise ValueError("it depends on the number of dimensions, or on training")
        return bare, x, expected

    trials = [trial(dtype, factor) for dtype, factor in zip(layers.DTYPES, (2.0, 4.0, 0.25))]
    bare, turned = trials[0][0], trials[0][1].transpose(0, 1)
    keeps_layout = own.forward(bare, turned).stride() == turned.stride()
    ops: list[Any] = [] if "bias" in held else [("rms_norm", flags) for flags in itertools.product((False, True), repeat=2)]
    epsilons: list[Any] = [(eps_name, None), (eps_name, 2.0**-23)] if eps_name else [(1e-5, None), (1e-6, None)]
    best, most = None, (0, 0)
    for (op, flags), (each_eps, no_eps) in itertools.product([*ops, ("layer_norm", ())], epsilons):
        norm = Norm(op, flags, each_eps, no_eps)
        results = [(x.dtype, norm.call(bare, x), expected) for bare, x, expected in trials]
        differing = {dtype: int((got != expected).sum()) for dtype, got, expected in results if is_near(got, expected)}
        merit = len(differing), -sum(differing.values())  # the flag for rounding changes single elements only
        if merit > most and differing.keys() >= {torch.float32, *(tensor.dtype for tensor in held.values())}:
            best, most = dataclasses.replace(norm, dtypes=frozenset(differing), keeps_layout=keeps_layout), merit
    return best or "it computes something else"


# ---- Rotary embeddings
# A replaced module that makes tables of angles marks them with their kinds, which its trial found. A function that rotates is wrapped in
# its modelling module, once for all models. The wrapper calls hipops only for marked tables.

def run_tables(own: Any, self: Any, *given: Any, **named: Any) -> Any:
    """The forward of a replaced module that makes tables, whose own class is `own`."""
    tables = own.forward(self, *given, **named)
    for table in tables if isinstance(tables, (tuple, list)) else ():
        table._hipops = layers.mark(table, self._hipops)
    return tables


def find_tables(module: Any) -> frozenset[str] | str:
    """Calls a copy of the module for random positions, also of 3 and 4 axes. Returns the kinds of its tables (see layers.single), or a
    reason. Every table is "whole". The copy is on the CPU: a position that is out of bounds ends a CUDA context."""
    parameters = list(inspect.signature(type(module).forward).parameters)[1:]
    if parameters not in (["x", "position_ids"], ["x", "position_ids", "layer_type"]):
        return "it takes other arguments than x and position_ids"
    all_others: list[Any] = [(kind,) for kind in sorted(set(getattr(module.config, "layer_types", None) or ()))] if parameters[2:] else [()]
    most = min(4000, getattr(getattr(module, "config", None), "max_position_embeddings", None) or 4000)
    random, bare, x = torch.Generator().manual_seed(1), copy.deepcopy(module).cpu(), torch.zeros(2, 7, 8, device="cpu")
    positions = [torch.randint(0, most, (*axes, 2, 7), generator=random, device="cpu") for axes in ((), (3,), (4,))]
    results = [tried(type(module).forward, bare, x, each, *others) for each, others in itertools.product(positions, all_others)]
    tables = [table for result in results if isinstance(result, (tuple, list)) for table in result]  # some layer types have no angles
    kinds = [kind for kind in ("halves", "pairs", "whole")
             if all(torch.equal(layers.double(layers.single(table, kind), kind), table) for table in tables)]
    return frozenset(kinds) if tables else ([each for each in results[:1] if isinstance(each, str)] or ["it makes no tables"])[0]


def call_kind(kind: str, rows: Any, cos: torch.Tensor, unsqueeze_dim: int | None) -> Any:
    """The properties of a call that select a rotating function's behaviour. The last: tables cover only a part of each row."""
    return unsqueeze_dim, cos.dim(), rows[0].dtype, cos.dtype, cos.shape[-1] * (2 if kind == "whole" else 1) < rows[0].shape[-1]


def by_hipops(own: Any, op: str, kind: str, count: int, heads_at: dict[Any, int]) -> Callable[..., Any]:
    """Wraps a function that rotates `count` tensors. The wrapper runs op if the tables are marked and heads_at has the call_kind.
    heads_at maps it to the dimension of the heads (see layers.rotated)."""

    @functools.wraps(own, updated=())
    def rotate(*given: Any, **named: Any) -> Any:
        rows, tables, result = given[:count], given[count:], None
        is_known = not torch.compiler.is_compiling() and len(tables) == 2 and named.keys() <= {"unsqueeze_dim"}
        if is_known and all(kind in layers.kinds_of(table) for table in tables):
            at = heads_at.get(call_kind(kind, rows, tables[0], named.get("unsqueeze_dim")))
            result = layers.rotated(op, kind, rows, tables[0], tables[1], at) if at else None
        return own(*given, **named) if result is None else result[0] if count == 1 else result

    rotate._hipops = kind  # type: ignore[attr-defined]
    return rotate


def find_rotation(own: Any, device: torch.device) -> Callable[..., Any] | None:
    """Compares a function with each op and kind of tables, in calls of every call_kind. Returns its wrapper, or None if nothing matches."""
    parameters = list(inspect.signature(getattr(own, "forward", own)).parameters)
    count = next((at for at in (1, 2) if parameters[at:at + 2] == ["cos", "sin"]), 0)
    random = torch.Generator(device).manual_seed(1)
    calls = list(itertools.product(layers.DTYPES, layers.DTYPES, (8, 4), (2, 3), (None, 0, 1, 2), (1, 2)))
    for op, kind in itertools.product(("rope", "rope_i"), ("halves", "pairs", "whole")) if count else ():
        found: dict[Any, int] = {}
        for dtype, table_dtype, size, rank, dim, heads_at in calls:
            tables = torch.randn((2, 2, 5, size)[-rank - 1:], generator=random, device=device)
            cos, sin = layers.double(tables, kind).to(table_dtype)
            rows = [torch.randn((2, heads, 5, 16), generator=random, device=device).to(dtype) for heads in (4, 3)[:count]]
            rows = rows if heads_at == 1 else [x.transpose(1, 2) for x in rows]
            expected = tried(own, *rows, cos, sin, **({} if dim is None else {"unsqueeze_dim": dim}))
            got = tried(layers.rotated, op, kind, rows, cos, sin, heads_at)
            if isinstance(got, tuple) and all(map(is_near, got, (expected,) if count == 1 else expected)):
                found[call_kind(kind, rows, cos, dim)] = heads_at
        if found:
            return by_hipops(own, op, kind, count, found)
    return None


def wrap_rotations(module: Any, kinds: set[str], find: Callable[[Any], Any]) -> list[str | None]:
    """Wraps each function by which the module's forward may rotate. Returns for each function None, or why it was not wrapped."""
    forward = inspect.unwrap(type(module).forward)
    reasons: list[str | None] = []
    for name in getattr(getattr(forward, "__code__", None), "co_names", ()):
        own = forward.__globals__.get(name) if name.startswith("apply_rotary") else None
        if callable(own):
            wrapped = own if hasattr(own, "_hipops") else tried(find, own)
            if not callable(wrapped):
                reasons.append(f"its {name} computes something else, or of other arguments")
            elif wrapped._hipops not in kinds:
                reasons.append(f"no module makes tables for its {name} that can be tried")
            else:
                forward.__globals__[name] = wrapped
                reasons.append(None)
    return reasons


# ---- Gated activations

KINDS = ("silu", "gelu_tanh", "gelu", "relu", "relu_squared", "quick_gelu", "sigmoid", "tanh")


@dataclasses.dataclass(frozen=True)
class Gate:
    """The arguments and dtypes for which activation_and_mul computes the same as a class of activations and a product, or a class's
    _apply_gate."""

    kind: str
    alpha: str | float = 1.0  # the name of the module's attribute, or a number
    limit: str | float = 0.0
    up_plus_one: bool = False
    is_interleaved: bool = False
    dtypes: frozenset[torch.dtype] = frozenset(layers.DTYPES)

    def call(self, module: Any, x: Any, up: Any) -> Any:
        """Returns the activation of x, times up. Returns None if the op cannot compute it."""
        limit, alpha = (getattr(module, each) if isinstance(each, str) else each for each in (self.limit, self.alpha))
        if type(limit) not in (int, float) or type(alpha) not in (int, float) or not limit >= 0 or (limit == 0 and self.limit):
            return None
        if not layers.add_acts_on("activation_and_mul", x, up) or x.dtype not in self.dtypes or not layers.is_in_order(x) or not layers.is_in_order(up):
            return None
        return torch.ops.hipops.activation_and_mul(x, up, self.kind, limit, alpha, self.up_plus_one)

    def call_whole(self, module: Any, whole: torch.Tensor) -> Any:
        """call, for the columns of one tensor."""
        half = whole.shape[-1] // 2
        parts = (slice(None, None, 2), slice(1, None, 2)) if self.is_interleaved else (slice(half), slice(half, None))
        return self.call(module, *(whole[..., part] for part in parts))


def run_own(own: Any, self: Any, *given: Any, **named: Any) -> Any:
    """The forward of an activation that is marked with a Gate. A product that calls it may run hipops instead."""
    return own.forward(self, *given, **named)


def run_gate(own: Any, self: Any, *given: Any, **named: Any) -> Any:
    """The _apply_gate of a module of experts, whose own class is `own`."""
    is_plain = len(given) == 1 and not named and isinstance(given[0], torch.Tensor) and given[0].dim() > 0
    result = self._hipops.call_whole(self, given[0]) if is_plain else None
    return own._apply_gate(self, *given, **named) if result is None else result


def find_gate(module: Any, method: str, device: torch.device) -> Gate | str:
    """Compares the product with an activation, or the class's _apply_gate, with each kind and flag, on random rows."""
    own: Any = type(module)
    if list(module.children()) or list(module.buffers()) or (method == "forward" and list(module.parameters())):
        return "it has weights, buffers or children"
    random = torch.Generator(device).manual_seed(1)
    numbers = {name: value for name, value in vars(module).items() if type(value) in (int, float) and name.endswith(("limit", "alpha"))}
    bare = copy.copy(module)
    bare._parameters = {}

    def trial(dtype: torch.dtype, factor: float) -> Any:
        """Sets other numbers. Returns small, usual and large rows, and the result of the class for them."""
        for name, value in numbers.items():
            setattr(bare, name, value * factor)
        scale = torch.tensor([0.1, 1.0, 30.0], device=device)[:, None, None]
        whole = torch.randn((3, 4, 128), generator=random, device=device) * scale
        if method == "forward":
            whole[..., 64:] /= scale
        whole = whole.to(dtype)
        results = []
        for shape, bare.training in (((3, 4, 128), False), ((12, 128), False), ((3, 2, 2, 128), True)):
            x = whole.view(shape).clone()
            gate, up = x.chunk(2, -1)
            results.append((own.forward(bare, gate) * up if method == "forward" else own._apply_gate(bare, x)).view(3, 4, 64))
            if not torch.equal(x.view(whole.shape), whole) or not torch.equal(results[0], results[-1]):
                raise ValueError("it changes its argument, or depends on the number of dimensions or on training")
        return whole, results[0]

    ways = [Gate(kind) for kind in KINDS]
    if method != "forward":
        limits, alphas = ([name for name in numbers if name.endswith(end)] for end in ("limit", "alpha"))
        kinds: list[Any] = [*((kind, 1.0) for kind in KINDS), *(("swish", alpha) for alpha in alphas)]
        ways = [Gate(kind, alpha, limit, plus_one, is_interleaved) for (kind, alpha), limit, plus_one, is_interleaved
                in itertools.product(kinds, (0.0, *limits), (False, True), (False, True))]
    for dtype, factor in zip(layers.DTYPES, (2.0, 0.5, 0.25)):
        whole, expected = trial(dtype, factor)
        near = [is_near(way.call_whole(bare, whole), expected) for way in ways]
        if dtype == torch.float32:
            ways = [way for way, is_right in zip(ways, near) if is_right]
        else:
            ways = [way if is_right else dataclasses.replace(way, dtypes=way.dtypes - {dtype}) for way, is_right in zip(ways, near)]
    return ways[0] if ways else "it computes something else"


# ---- Expressions and statements that one op computes

def acting(module: Any, kind: type) -> Any:
    """The Norm or Gate that was found for the module. None if the module has hooks, or another forward by now."""
    how: Any = getattr(type(module), "_hipops", None)
    if not isinstance(how, kind) or "forward" in module.__dict__ or not module._hipops_is_current():
        return None
    hooks = (module._forward_hooks, module._forward_pre_hooks, torch_module._global_forward_hooks, torch_module._global_forward_pre_hooks)
    return None if any(hooks) else how


def add_and_norm(norm: Any, first: Any, second: Any) -> Any:
    """Returns the norm of first + second, and that sum. One op computes both if `norm` is a replaced norm without hooks.
    Otherwise adds and calls the norm, as in the model's source."""
    how = acting(norm, Norm) if isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor) else None
    result = how.call(norm, first, second) if how else None
    if result is None:
        total = first + second
        result = norm(total), total
    return result


def act_and_mul(act: Any, is_first: bool, left: Any, right: Any) -> Any:
    """Returns act(left) * right, or left * act(right). One op computes it if `act` is marked and without hooks."""
    how = acting(act, Gate)
    result = how.call(act, *((left, right) if is_first else (right, left))) if how else None
    if result is None:
        result = act(left) * right if is_first else left * act(right)
    return result


def call_of_self(node: Any) -> tuple[str, Any]:
    """The name and the argument of an expression self.name(argument); two empty strings for any other."""
    is_plain = isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred)
    of, _, name = ast.unparse(node.func).partition(".") if is_plain else ("", "", "")
    return (name, node.args[0]) if of == "self" else ("", "")


def calls_in(product: ast.AST) -> list[tuple[str, str]]:
    """The attributes `name` for which an expression is self.name(left) * right or left * self.name(right). Each has the call that
    replaces the expression."""
    found = []
    if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult):
        for is_first, call in ((True, product.left), (False, product.right)):
            name, argument = call_of_self(call)
            if name:
                terms = (argument, product.right) if is_first else (product.left, argument)
                found.append((name, f"act_and_mul_by_hipops(self.{name}, {is_first}, {', '.join(map(ast.unparse, terms))})"))
    return found


def terms_of(total: Any) -> list[ast.expr]:
    """The two terms of an expression that adds them. Sums of embeddings are left out: the embeddings of positions have another shape."""
    is_sum = isinstance(total, ast.BinOp) and isinstance(total.op, ast.Add) and not re.search("emb|position", ast.unparse(total))
    return [total.left, total.right] if is_sum else []


def sums_in(node: ast.AST) -> list[tuple[list[Any], int, str]]:
    """The statements of a node that assign a sum to a variable: the list that has the statement, its place, the variable."""
    bodies = [body for name in ("body", "orelse", "finalbody") if isinstance(body := getattr(node, name, None), list)]
    return [(body, at, each.targets[0].id) for body in bodies for at, each in enumerate(body) if isinstance(each, ast.Assign)
            and len(each.targets) == 1 and isinstance(each.targets[0], ast.Name) and terms_of(each.value)]


def first_call(node: Any) -> Any:
    """The call that Python evaluates first in an expression. None if there is no call, or if the order is not plain."""
    if isinstance(node, ast.BinOp):
        return first_call(node.right if isinstance(node.left, ast.Name) else node.left)
    if isinstance(node, ast.Attribute):
        return first_call(node.value)
    return first_call(node.func) or first_call(node.args[0] if node.args else None) or node if isinstance(node, ast.Call) else None


class Fusing(ast.NodeTransformer):
    """Changes a syntax tree. A residual add and the norm of it become one call; an activation and its product become one too. `norms`
    and `acts` are names of attributes of self. `never` are tests, as "not self.name", whose branches never run and are left alone."""

    def __init__(self, norms: frozenset[str], acts: frozenset[str], never: frozenset[str]) -> None:
        self.norms, self.acts, self.never, self.adds, self.products = norms, acts, never, 0, 0

    def made(self, text: str, place: ast.stmt | ast.expr) -> Any:
        statement = ast.parse(text).body[0]
        for node in ast.walk(statement):
            ast.copy_location(node, place)  # for tracebacks
        return statement

    def made_sum(self, target: str, norm: str, total: Any) -> Any:
        """The statement of one call for a sum and the norm of it."""
        self.adds += 1
        made = self.made(f"{target}add_and_norm_by_hipops(self.{norm})", total)
        made.value.args += terms_of(total)
        return made

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        self.generic_visit(node)
        for name, text in calls_in(node):
            if name in self.acts:
                self.products += 1
                return self.made(text, node).value
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        name, argument = call_of_self(node)
        if name not in self.norms or not terms_of(argument):
            return node
        first = self.made("_[0]", node).value
        first.value = self.made_sum("", name, argument).value
        return first

    def visit_If(self, node: ast.If) -> Any:
        test, body, orelse = ast.unparse(node.test), node.body, node.orelse
        node.body = [] if test in self.never else body
        node.orelse = [] if (test[4:] if test.startswith("not ") else f"not {test}") in self.never else orelse
        self.generic_visit(node)
        node.body, node.orelse = body, orelse
        return node

    def norm_of(self, name: str, body: list[Any]) -> tuple[str, Any, int]:
        """The norm's name, its call and the number of statements up to it, if a norm's call is the first to use a variable. Statements
        in front of it may copy the variable."""
        for at, each in enumerate(body):
            value = getattr(each, "value", None)
            is_copy = isinstance(each, ast.Assign) and all(isinstance(to, ast.Name) and to.id != name for to in each.targets)
            if not is_copy or not isinstance(value, ast.Name) or value.id != name:
                norm, argument = call_of_self(call := first_call(value))
                is_found = norm in self.norms and isinstance(argument, ast.Name) and argument.id == name
                return (norm, call, at + 1) if is_found else ("", None, 0)
        return "", None, 0

    def move_into_branches(self, body: list[Any], at: int, name: str) -> None:
        """Moves a sum into the branches of the `if` behind it, together with a norm of it behind the `if`."""
        total, branch = body[at], body[at + 1]
        behind = body[at + 2:at + 2 + self.norm_of(name, body[at + 2:])[2]]
        if any(isinstance(node, (ast.Call, ast.NamedExpr)) or getattr(node, "id", None) == name for node in ast.walk(branch.test)):
            return
        if all(isinstance(term, ast.Name) for term in terms_of(total.value)) and (behind or self.norm_of(name, branch.body)[0]):
            branch.body[:0], branch.orelse[:0] = [total], [copy.deepcopy(total)]
            branch.body += behind
            branch.orelse += copy.deepcopy(behind)
            body[at:at + 2 + len(behind)] = [branch]

    def generic_visit(self, node: ast.AST) -> Any:
        for body, at, name in reversed(sums_in(node)):
            if at + 1 < len(body) and isinstance(body[at + 1], ast.If):
                self.move_into_branches(body, at, name)
        super().generic_visit(node)
        for body, at, name in sums_in(node):
            norm, call, _ = self.norm_of(name, body[at + 1:])
            if norm:
                body[at] = self.made_sum(f"*normed_by_hipops, {name} = ", norm, body[at].value)
                call.func, call.args = self.made("normed_by_hipops.pop", call).value, []
        return node


@functools.lru_cache(None)
def parsed(wrapped: Any) -> tuple[ast.Module, frozenset[str]]:
    """The syntax tree of a function that makes the method, and the attributes of self that may be activations of products."""
    while getattr(wrapped, "__code__", None) and wrapped.__code__.co_name == "forward_with_checkpointing":
        wrapped = wrapped.__wrapped__  # transformers wraps the forward of each subclass of a layer so, also of the patched one
    method = inspect.unwrap(wrapped)
    if (source := inspect.getsource(method)).lstrip()[0] != "@" and method is not wrapped:
        raise ValueError("its class wraps it")
    tree = ast.parse(f"def make(add_and_norm_by_hipops, act_and_mul_by_hipops):\n return {method.__name__}")
    function = ast.parse(("if 1:" if source[0] == " " else "") + "\n" + source).body[0]
    function = ast.increment_lineno(function.body[0] if isinstance(function, ast.If) else function, method.__code__.co_firstlineno - 2)
    tree.body[0].body.insert(0, function)  # type: ignore[attr-defined]
    return tree, frozenset(name for node in ast.walk(tree) for name, _ in calls_in(node))


@functools.lru_cache(None)
def fused(method: Any, *names: frozenset[str]) -> tuple[Callable[..., Any] | None, int, int]:
    """Compiles a method whose source Fusing has changed. Returns it with the numbers of adds and products, or None. The new function
    has the globals of the module of the old one, and the same line numbers for tracebacks."""
    fusing, tree = Fusing(*names), copy.deepcopy(parsed(method)[0])
    fusing.visit(tree)
    own, scope = inspect.unwrap(method), {}  # type: Any, dict[str, Any]
    if own.__closure__ or not (fusing.adds or fusing.products):
        return None, 0, 0
    exec(compile(tree, own.__code__.co_filename, "exec"), own.__globals__, scope)
    made = scope["make"](add_and_norm, act_and_mul)
    return lambda own, self, *given, **named: made(self, *given, **named), fusing.adds, fusing.products


def patch(model: torch.nn.Module) -> Replaced:
    """Replaces norms, rotary embeddings, residual adds and gated activations of this transformers model by hipops' ops, and returns a
    report. If a gradient is required that an op does not have, the model's own function runs.

    A norm, rotary embedding or activation is replaced if a trial shows that a hipops op computes the same. A residual add and the norm
    after it become one op if the source of a layer has nothing between them. An activation and a product become one op if the source has
    them in one expression."""
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"patch: model is a {type(model).__name__}, expected a torch.nn.Module")
    backend = backend_in_use()
    default = torch.device("cpu" if backend in layers.BACKENDS["cpu"] else "cuda")
    devices = [parameter.device for parameter in model.parameters()] or [default]
    device = next((device for kind in ("cuda", "cpu") for device in devices if device.type == kind), None)
    if device is None:
        raise ValueError(f"patch: model is on {devices[0]}, expected cpu or cuda")
    if backend not in layers.BACKENDS[device.type]:
        raise ValueError(f"patch: model is on {device}, and this process uses {backend.name.lower()}: it has one backend")
    modules: list[tuple[str, Any]] = [(name, module) for name, module in model.named_modules() if own_class(type(module)) is type(module)]
    replaced = Replaced(patched_before=len(list(model.modules())) - len(modules))
    find_rotation_once = functools.lru_cache(None)(functools.partial(find_rotation, device=device))
    kinds: set[str] = set()
    norms: dict[Any, Norm | str] = {}
    gates: dict[Any, Gate | str] = {}

    def replace(name: str, module: Any, how: Any, run: Callable[..., Any], method: str = "forward") -> bool:
        """Changes the module's class, unless `how` is a reason not to."""
        own: Any = type(module)
        reason = how if isinstance(how, str) else f"it has a {method} of its own, as by a wrapper" if method in module.__dict__ else None
        if reason is not None:
            replaced.left_alone[name] = f"{own.__name__}: {reason}"
        else:
            module.__class__ = subclass(own, method, how, run)
        return reason is None

    def gate_of(module: Any, method: str) -> Gate | str:
        key = type(module), method, state_key(module)
        gates[key] = gates[key] if key in gates else tried(find_gate, module, method, device)
        return gates[key]

    def fuse(name: str, module: Any, method: str) -> bool:
        """Replaces a method of the module by one that calls hipops for adds and norms, and for activations and products."""
        known: Any = getattr(type(module), method, None)
        if known is None or not inspect.unwrap(known).__module__.startswith("transformers."):
            return False
        found, children = tried(parsed, known), dict(module.named_children())
        if isinstance(found, str):
            return False
        marks = {child_name: getattr(type(child), "_hipops", None) for child_name, child in children.items()}
        for child_name in found[1] & children.keys():
            child = children[child_name]
            if marks[child_name] is None and "forward" not in child.__dict__:
                marks[child_name] = gate_of(child, "forward")
        norm_names = frozenset(child_name for child_name, how in marks.items() if isinstance(how, Norm))
        acts = frozenset(child_name for child_name in found[1] if isinstance(marks.get(child_name), Gate))
        never = frozenset(f"not self.{each}" if value else f"self.{each}" for each, value in vars(module).items() if type(value) is bool)
        result = tried(fused, known, norm_names, acts, never) if norm_names or acts else None
        if not isinstance(result, tuple) or not result[0] or not replace(name, module, (norm_names, acts), result[0], method):
            return False
        for child_name in acts:
            if own_class(type(children[child_name])) is type(children[child_name]):
                replace(child_name, children[child_name], marks[child_name], run_own)
        own_name = own_class(type(module)).__name__
        replaced.residual_adds.update([own_name] * (result[1] > 0))
        replaced.gated_activations.update([own_name] * (result[2] > 0))
        return True

    for name, module in modules:
        own: Any = type(module)
        if re.search("(RMS|Rms|Layer|L2)Norm$", own.__name__):
            key = own, state_key(module)
            norms[key] = norms[key] if key in norms else tried(find_norm, module, device)
            if replace(name, module, norms[key], run_norm):
                replaced.norms[own.__name__] += 1
        elif "Rotary" in own.__name__:
            found = tried(find_tables, module)
            if replace(name, module, found, run_tables):
                kinds.update(found)
    for name, module in modules:
        own = type(module)
        reasons = wrap_rotations(module, kinds, find_rotation_once)
        if any(reasons):
            replaced.left_alone[name] = f"{own.__name__}: {next(filter(None, reasons))}"
        elif reasons:
            replaced.rotary_embeddings[own.__name__] += 1
        has_gate = hasattr(own, "_apply_gate") and getattr(module, "has_gate", True)
        if (has_gate and fuse(name, module, "_apply_gate")) or fuse(name, module, "forward") or not has_gate:
            continue
        gate = gate_of(module, "_apply_gate")
        if isinstance(gate, Gate) and replace(name, module, gate, run_gate, "_apply_gate"):
            replaced.gated_activations[own.__name__] += 1
    return replaced
