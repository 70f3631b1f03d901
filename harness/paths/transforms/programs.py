"""Transforms of an ExportedProgram into another one."""

from __future__ import annotations

import copy
import io
from typing import TYPE_CHECKING, Any

import torch

from harness.paths.transforms.table import transform

if TYPE_CHECKING:
    from torch.export import ExportedProgram


# What comes of it is for inference: docs.pytorch.org, torch.export IR Specification.
@transform(
    "program", "nonstrict:module", "nonstrict:unflatten", same_operators=False, drops=("gradients",), cost=180
)
def decompose(ep: ExportedProgram) -> ExportedProgram:
    """Decomposing operators, and making the graph functional, changes nothing that a caller can see."""
    decomposed: ExportedProgram = ep.run_decompositions()
    return decomposed


@transform("program", "nonstrict:module", "nonstrict:unflatten")
def reload(ep: ExportedProgram) -> ExportedProgram:
    """A program that is saved and loaded again is the same program."""
    buffer = io.BytesIO()
    torch.export.save(ep, buffer)
    buffer.seek(0)
    return torch.export.load(buffer)


@transform("program", "nonstrict:module", exports=True, drops=("hierarchy",))
def reexport(ep: ExportedProgram, **options: Any) -> ExportedProgram:
    """What ``ep.module()`` returns can be exported again."""
    args, kwargs = ep.example_inputs
    return torch.export.export(ep.module(), args, kwargs, **options)


@transform("program", "nonstrict:module", exports=True, drops=("hierarchy",), cost=40)
def reexport_unflattened(ep: ExportedProgram, **options: Any) -> ExportedProgram:
    """What ``unflatten`` returns can be exported again."""
    args, kwargs = ep.example_inputs
    return torch.export.export(torch.export.unflatten(ep), args, kwargs, **options)


@transform("program", "nonstrict:module", apart=True, cost=35)
def deepcopy(ep: ExportedProgram) -> ExportedProgram:
    """A deep copy of a program behaves like the program, and shares no state with it."""
    return copy.deepcopy(ep)


@transform("program", "nonstrict:module", cost=5)
def todevice(ep: ExportedProgram) -> ExportedProgram:
    """A program moved to the device that its state is on stays as it is."""
    from torch.export.passes import move_to_device_pass

    tensors = [*ep.state_dict.values(), *ep.constants.values()]
    devices = [t.device for t in tensors if isinstance(t, torch.Tensor)]
    return move_to_device_pass(ep, devices[0] if devices else torch.device("cpu"))
