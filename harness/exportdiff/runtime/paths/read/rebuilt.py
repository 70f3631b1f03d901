"""Reading the result of ``unflatten`` into plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch.fx._pytree as fx_pytree
from torch import fx, nn
from torch.export import UnflattenedModule

from exportdiff.runtime.observing.graphs import Rebuilt
from exportdiff.runtime.paths.read.listing import BrokenError, Reader, base_name, graph_text, has_graph

if TYPE_CHECKING:
    from collections.abc import Iterator


def read_rebuilt(module: nn.Module) -> Rebuilt | None:
    """Return the modules of an unflattened program, and the steps that run when it is called.

    Return None for any other module.
    """
    if not isinstance(module, UnflattenedModule):
        return None
    if cycle := _cycle(module, "", []):
        return Rebuilt(cycle=cycle)
    modules = dict(_named_modules(module, ""))
    order = tuple(dict.fromkeys(map(base_name, modules)))
    names = frozenset(order)
    reader = Reader(stacks=False)
    try:
        variants = _variants(modules)
        listing = reader.read(module, module.graph)
    except BrokenError as error:
        return Rebuilt(modules=names, order=order, broken=str(error))
    times: dict[int, int] = {}
    for each in reader.ran:
        times[id(each)] = times.get(id(each), 0) + 1
    return Rebuilt(
        modules=names,
        order=order,
        variants=variants,
        calls=tuple(reader.calls),
        shared=frozenset(n for n, each in enumerate(reader.ran) if times[id(each)] > 1),
        listing=listing,
    )


def _cycle(module: nn.Module, name: str, above: list[nn.Module]) -> str:
    """Return the name of a module that contains itself, or nothing."""
    if any(module is each for each in above):
        return name
    above.append(module)
    below = (
        _cycle(child, f"{name}.{key}" if name else key, above)
        for key, child in module._modules.items()
        if child is not None
    )
    found = next(filter(None, below), "")
    above.pop()
    return found


def _named_modules(module: nn.Module, name: str) -> Iterator[tuple[str, nn.Module]]:
    """Yield modules by name like ``named_modules``, without graphs that are arguments of operators."""
    yield name, module
    for key, child in module._modules.items():
        if child is not None and not isinstance(child, fx.GraphModule):
            yield from _named_modules(child, f"{name}.{key}" if name else key)


def _graph_of_call(module: nn.Module) -> str:
    """Return the graph of a module as text; one that takes what its signature says is another one."""
    graph: Any = module.graph
    preserved = any(node.target is fx_pytree.tree_flatten_spec for node in graph.nodes)
    return graph_text(module) + "\nas its signature says" * preserved


def _variants(modules: dict[str, nn.Module]) -> dict[str, tuple[tuple[str, str], ...]]:
    groups: dict[str, dict[int, str]] = {}
    for name in modules:
        if "@" in name:
            groups[base_name(name)] = {}
    if not groups:
        return {}
    for name, module in modules.items():
        if (group := groups.get(base_name(name))) is not None and has_graph(module):
            group.setdefault(id(module), name)
    return {
        base: tuple((name, _graph_of_call(modules[name])) for name in group.values())
        for base, group in groups.items()
        if len(group) > 1
    }
