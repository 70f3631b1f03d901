"""Reading an exported program into plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import fx, nn
from torch.export.graph_signature import InputKind

from exportdiff.runtime.observing.graphs import Exported, Listing, Spec
from exportdiff.runtime.observing.tensors import storage_id
from exportdiff.runtime.paths.read.listing import BrokenError, Reader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torch.export import ExportedProgram


def read_exported(program: ExportedProgram) -> Exported:
    """Return the graph, the signature and the names of an exported program."""
    signature = program.graph_signature
    inputs = tuple(_spec(spec) for spec in signature.input_specs)
    outputs = tuple(_spec(spec) for spec in signature.output_specs)
    reader = Reader(stacks=True)
    given = list(_input_names(signature.input_specs))
    names = dict(zip([spec.name for spec in inputs], given, strict=True))
    returned = tuple(names.get(spec.target, spec.target) for spec in outputs if spec.kind in _COPIED)
    written = returned or tuple(names.get(name, name) for name in _copied_last(program.graph))
    nodes = [node for node in program.graph.nodes if node.op in ("placeholder", "output")]
    placeholders = tuple(node.name for node in nodes if node.op == "placeholder")
    listing: Listing | None = None
    broken = ""
    try:
        listing = reader.read(program.graph_module, program.graph, given, returned)
    except BrokenError as error:
        broken = str(error)
    return Exported(
        listing=listing,
        broken=broken,
        inputs=inputs,
        outputs=outputs,
        placeholders=placeholders,
        returned=tuple(_named(each) for each in nodes[-1].args[0]),
        call_graph=tuple(entry.fqn for entry in program.module_call_graph),
        state=frozenset(program.state_dict),
        constants=frozenset(program.constants),
        written=written,
        same=_same({**program.state_dict, **program.constants}),
    )


_COPIED = ("BUFFER_MUTATION", "USER_INPUT_MUTATION", "PARAMETER_MUTATION")
"""Outputs of the graph that the program writes back and does not return."""


def _copied_last(graph: fx.Graph) -> list[str]:
    """Return the inputs of the graph that its last operators copy to, as export does for assigned buffers.

    Where a buffer was assigned a detached tensor, it may be detached behind that.
    """
    targets: list[str] = []
    for node in reversed(graph.nodes):
        if node.op == "output" or node.target is torch.ops.aten.detach_.default:
            continue
        target = node.args[0] if node.target is torch.ops.aten.copy_.default else None
        if not (isinstance(target, fx.Node) and target.op == "placeholder"):
            break
        targets.insert(0, target.name)
    return targets


def _same(tensors: dict[str, Any]) -> tuple[frozenset[str], ...]:
    """Group the names that unflatten treats as one tensor, and that agree in dtype and requires_grad.

    It identifies a tensor by memory, sizes and strides (_TensorID in torch/export/unflatten.py).
    """
    groups: dict[object, list[str]] = {}
    for name, tensor in tensors.items():
        if isinstance(tensor, torch.Tensor) and tensor.layout is torch.strided:
            # As text: symbolic sizes have no hash.
            place = (storage_id(tensor), *map(str, (tensor.shape, tensor.stride(), tensor.storage_offset())))
            key: object = (place, tensor.dtype, tensor.requires_grad, isinstance(tensor, nn.Parameter))
        else:
            key = id(tensor)
        groups.setdefault(key, []).append(name)
    return tuple(frozenset(names) for names in groups.values() if len(names) > 1)


def _spec(spec: Any) -> Spec:
    target = spec.target if isinstance(spec.target, str) else ""
    return Spec(spec.kind.name, getattr(spec.arg, "name", ""), target, getattr(spec, "persistent", None))


def _input_names(specs: Iterable[Any]) -> Iterator[str]:
    number = 0
    for spec in specs:
        if spec.kind is InputKind.USER_INPUT:
            yield f"input {number}"
            number += 1
        else:
            yield spec.target or spec.kind.name


def _named(returned: object) -> str:
    return returned.name if isinstance(returned, fx.Node) else ""
