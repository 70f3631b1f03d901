"""The metadata that an exported program records for its graph inputs, and that of the real inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch.export.graph_signature import InputKind, OutputKind

from exportdiff.core.torch_versions.running import WRITTEN_BACK
from exportdiff.runtime.observing.aliasing import INPUT
from exportdiff.runtime.observing.arguments import children
from exportdiff.runtime.observing.observation import Placeholder
from exportdiff.runtime.observing.python_values import python_value
from exportdiff.runtime.observing.tensors import argument, snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch.export import ExportedProgram

    from exportdiff.runtime.observing.tensors import Leaf, TensorSnapshot, Tree

_STATE = {InputKind.PARAMETER: "parameter", InputKind.BUFFER: "buffer"}


def placeholders(
    program: ExportedProgram, handed_in: Tree, state: Mapping[str, TensorSnapshot]
) -> tuple[Placeholder, ...]:
    """Pair each placeholder with the example input or the state that it represents.

    ``handed_in`` is the pytree ``(args, kwargs)`` before export, ``state`` that of the model.
    """
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    leaves = iter(in_graph_order(program, handed_in))
    found: list[Placeholder] = []
    for spec in program.graph_signature.input_specs:
        node = nodes.get(getattr(spec.arg, "name", ""))
        recorded = node.meta.get("val") if node is not None else None
        if spec.kind is InputKind.USER_INPUT:
            leaf = next(leaves, None)
            if leaf is None:
                break
            kind, where, actual = "input", leaf.where, leaf.value
        elif spec.kind in _STATE and spec.target in state:
            kind, where, actual = _STATE[spec.kind], spec.target, state[spec.target]
        else:
            continue
        if isinstance(recorded, torch.Tensor):
            found.append(Placeholder(kind, where, snapshot(recorded, values=False), actual))
        # A symbolic number may have any value: nothing is recorded.
        elif node is not None and not isinstance(recorded, torch.SymInt | torch.SymFloat | torch.SymBool):
            found.append(Placeholder(kind, where, python_value(recorded), actual))
    return tuple(found)


class WrittenBack(NamedTuple):
    """Names of the inputs and of the state that the graph returns new values for."""

    written: frozenset[str]
    returned: frozenset[str]
    """Those whose new value is also a result of the model."""


def written_back(program: ExportedProgram, handed_in: Tree) -> WrittenBack:
    """Read from the signature what is written back."""
    signature = program.graph_signature
    leaves = iter(in_graph_order(program, handed_in))
    inputs = [spec.arg for spec in signature.input_specs if spec.kind is InputKind.USER_INPUT]
    places = {
        getattr(arg, "name", ""): f"{INPUT}{argument(leaf.where)}"
        for arg, leaf in zip(inputs, leaves, strict=False)
    }
    names: dict[str, set[str]] = {}
    for spec in signature.output_specs:
        if spec.kind in WRITTEN_BACK and spec.target is not None:
            names.setdefault(getattr(spec.arg, "name", ""), set()).add(places.get(spec.target, spec.target))
    results = [spec.arg for spec in signature.output_specs if spec.kind is OutputKind.USER_OUTPUT]
    nodes = {getattr(arg, "name", "") for arg in results}
    returned = (each for node, targets in names.items() if node in nodes for each in targets)
    return WrittenBack(frozenset().union(*names.values()), frozenset(returned))


def in_graph_order(program: ExportedProgram, handed_in: Tree) -> list[Leaf]:
    """Return the leaves in the graph's order: its keyword arguments may have another one."""
    spec = program.call_spec.in_spec
    if spec is None or spec.num_leaves != len(handed_in.leaves):
        return list(handed_in.leaves)
    # The pytree is not built again: after a program was loaded, its keys may be of types that no dict takes.
    names = [f"[1][{name!r}]" for name in children(spec)[1].context]

    def order(leaf: Leaf) -> int:
        return next((at for at, name in enumerate(names, 1) if leaf.where.startswith(name)), 0)

    return sorted(handed_in.leaves, key=order)
