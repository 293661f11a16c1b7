"""The ops, by name. A module of an op offers

TOPICS: topic -> function that yields the topic's golden.Cases;
reference(params, inputs) -> {output: golden.Expected}, from arrays by argument name (float64, or integers);
torch_reference(torch, params, inputs) -> {output: tensor}, or None if PyTorch has no such op.

The other modules of this folder have no TOPICS.
"""

import importlib
import pkgutil

_MODULES = {module.name: importlib.import_module(f"ops.{module.name}") for module in pkgutil.iter_modules(__path__)}
OPS = {name: module for name, module in _MODULES.items() if hasattr(module, "TOPICS")}
