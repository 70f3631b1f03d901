"""Attributes under names that torch uses itself: of a module that it makes, or of what it adds to one.

Eager does not mind. What takes a model apart and puts it together again has to keep such names apart from
its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from strategies.program import Child, Container, Derived, Key, Path, Program, Step, Tensor, nodes, of_type
from strategies.swarm import Chooser

N = TypeVar("N")

ATTRIBUTES = (
    # What people call a tensor or a layer, and fx.GraphModule an attribute or a method of its own.
    *("graph", "code", "meta", "recompile", "print_readable"),
    # Of what unflatten makes.
    *("ivals", "adapted", "module_call_graph", "range_constraints", "check_input_constraints"),
    # What export adds: constants, the graphs of regions and branches, the module that checks guards.
    *("lifted_tensor_0", "submod_1", "true_graph_0", "_guards_fn", "_export_root"),
)
"""Names for attributes."""

KEYS = ("class", "graph", "a b", "1")
"""Names for children in an ``nn.ModuleDict``: what is no name in Python as well."""


def named(program: Program, choose: Chooser) -> Program:
    """Give an attribute, or a child of a ``ModuleDict``, such a name, everywhere in the program."""
    if any(child.traced for child in of_type(program.classes, Child)):
        # torch.fx.symbolic_trace makes what eager runs: that is its business.
        return program
    if not choose.maybe("names.of_torch", 60):
        return program
    attributes = attribute_names(program)
    keys = {key: None for init in of_type(program.classes, Container) for key in init.keys}
    if keys and choose.chance(30):
        return renamed(program, {}, {choose.pick([*keys]): choose.pick(KEYS)})
    if not attributes:
        return program
    return renamed(program, {choose.pick(attributes): choose.pick(ATTRIBUTES)}, {})


def attribute_names(program: Program) -> tuple[str, ...]:
    """The attributes that hold a child, a container or a tensor, each once, in source order."""
    made = [node for node in nodes(program.classes) if isinstance(node, Child | Tensor | Container | Derived)]
    return tuple(dict.fromkeys(node.attr for node in made if node.attr))


def renamed(node: N, attributes: Mapping[str, str], keys: Mapping[str, str]) -> N:
    """A Program or a part of one with other names, in all paths and where what they lead to is made.

    ``attributes`` and ``keys`` (of a ``ModuleDict``) give the new name for each old one.
    """
    changed: dict[str, Any] = {}
    for field in fields(node):  # type: ignore[arg-type]  # called for dataclasses alone
        value = getattr(node, field.name)
        if field.type == "Path":
            changed[field.name] = _path(value, attributes, keys)
        elif field.name == "attr":
            changed[field.name] = attributes.get(value, value)
        elif field.name == "keys" and isinstance(node, Container):
            changed[field.name] = tuple(keys.get(key, key) for key in value)
        elif field.name == "items" and isinstance(node, Container):
            changed[field.name] = tuple(
                _path(item, attributes, keys) if isinstance(item, tuple) else renamed(item, attributes, keys)
                for item in node.items
            )
        elif isinstance(value, tuple) and "Literal" not in str(field.type):
            changed[field.name] = _items(value, attributes, keys)
        elif is_dataclass(value):
            changed[field.name] = renamed(value, attributes, keys)
    return replace(node, **changed)  # type: ignore[type-var]  # likewise


def _items(items: tuple[Any, ...], attributes: Mapping[str, str], keys: Mapping[str, str]) -> Any:
    return tuple(
        renamed(item, attributes, keys)
        if is_dataclass(item)
        else _items(item, attributes, keys)
        if isinstance(item, tuple)
        else item
        for item in items
    )


def _path(path: Path, attributes: Mapping[str, str], keys: Mapping[str, str]) -> Path:
    return tuple(_step(step, attributes, keys) for step in path)


def _step(step: Step, attributes: Mapping[str, str], keys: Mapping[str, str]) -> Step:
    if isinstance(step, Key):
        return Key(keys.get(step.name, step.name))
    return attributes.get(step, step) if isinstance(step, str) else step
