"""Changes the class of a module to a subclass of that class, and back, as torch.nn.utils.parametrize does.

Copies, replicas, hooks and wrappers therefore work as for any module. A pickle names the module's own class.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

import torch


def subclass(own: Any, method: str, how: Any, run: Callable[..., Any]) -> type:
    """Returns the subclass of `own` whose `method` is run(own, module, ...). Equal arguments give the same class, which `own` holds.

    The module's own method runs in three cases: under torch.compile; if own's method is no longer the same, which was tried; and if a
    wrapper still calls the subclass's method after unpatch."""

    subclasses: dict[Any, type] = own.__dict__.get("_hipops_subclasses", {})
    known = getattr(own, method)
    if (known, how, run) in subclasses:
        return subclasses[known, how, run]

    @functools.wraps(known)
    def replacing(self: Any, *given: Any, **named: Any) -> Any:
        if torch.compiler.is_compiling() or getattr(own, method) is not known or not isinstance(self, made):
            return getattr(own, method)(self, *given, **named)
        return run(own, self, *given, **named)

    def reduced(self: Any, protocol: Any) -> Any:
        function, given, *rest = own.__reduce_ex__(self, 1)  # pickle's later protocols refuse another class than the object's
        return (function, tuple(own if each is made else each for each in given), *rest)

    def copied(self: Any, memo: Any = None) -> Any:
        replica = self.__new__(type(self))
        if memo is not None:
            memo[id(self)] = replica
        state = own.__getstate__(self)  # a parametrized class refuses to give its state
        replica.__setstate__(state if memo is None else copy.deepcopy(state, memo))
        return replica

    members = {name: getattr(own, name) for name in ("__module__", "__qualname__", "__doc__")}
    if not hasattr(own, "__deepcopy__"):
        members.update(__copy__=copied, __deepcopy__=copied)
    members.update({method: replacing, "__reduce_ex__": reduced, "_hipops": how})
    members["_hipops_is_current"] = staticmethod(lambda: getattr(own, method) is known)
    made = type(own.__name__, (own,), members)
    own._hipops_subclasses = {**subclasses, (known, how, run): made}
    return made


def own_class(given: type) -> type:
    """Returns the class without hipops' subclasses. A class derived from one of them, as by a parametrization or FSDP2, is derived again
    from the module's own class."""
    if "_hipops" in given.__dict__:
        return own_class(given.__bases__[0])
    bases = tuple(map(own_class, given.__bases__))
    if bases == given.__bases__:
        return given
    members = {name: member for name, member in given.__dict__.items() if name not in ("__dict__", "__weakref__")}
    return type(given)(given.__name__, bases, members)


STANDARD = frozenset(torch.nn.Module().__dict__)


def by_value(value: Any) -> Any:
    """A key. It is equal for equal simple values, and for equal tuples of simple values. Every other object has its own key."""
    if isinstance(value, tuple):
        return type(value), *map(by_value, value)
    return type(value), value if type(value) in (bool, int, float, str) else id(value)


def state_key(module: torch.nn.Module) -> Any:
    """A key. It differs if the modules' attributes, buffers or children do, or their parameters in anything but values."""
    others = (item for item in module.__dict__.items() if item[0] not in STANDARD)
    held = ((name, each.dtype, each.device, each.shape, type(each)) for name, each in module.named_parameters())
    items = (*others, *module._buffers.items(), *module._modules.items())
    return (*((name, by_value(value)) for name, value in items), *held, *module._parameters)


def unpatch(model: torch.nn.Module) -> None:
    """Restores the own classes of a patched model, or of a copy of one."""
    for module in model.modules():
        module.__class__ = own_class(type(module))
