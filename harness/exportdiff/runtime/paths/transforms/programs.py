"""Transforms of an ExportedProgram into another one."""

from __future__ import annotations

import copy
import inspect
import tempfile
from typing import TYPE_CHECKING, Any

from exportdiff.core.lazy import torch
from exportdiff.runtime.paths.transforms.table import transform

if TYPE_CHECKING:
    from torch.export import ExportedProgram


# First, because users do the other steps after it.
@transform("program", "nonstrict:module", in_place=True, cost=30)
def unflatten_first(ep: ExportedProgram) -> ExportedProgram:
    """Unflattening a program changes nothing of the program itself."""
    torch.export.unflatten(ep)
    return ep


# The result is for inference: docs.pytorch.org, torch.export, 'Export IR: Training vs Inference'.
@transform(
    "program",
    *("nonstrict:module", "nonstrict:unflatten", "nonstrict+preserve:unflatten"),
    "nonstrict+under_no_grad:module",
    same_operators=False,
    for_inference=True,
    cost=180,
)
def decompose(ep: ExportedProgram) -> ExportedProgram:
    """Decomposing operators, and making the graph functional, changes nothing that a caller can see."""
    # By default unused random numbers are not drawn (github.com/pytorch/pytorch/pull/147790).
    with torch._inductor.config.patch(fallback_random=True):
        decomposed: ExportedProgram = ep.run_decompositions()
    return decomposed


# Backends with custom operators start from this: the same documentation, 'no decompositions'.
@transform(
    "program",
    *("nonstrict:module", "nonstrict:unflatten"),
    same_operators=False,
    for_inference=True,
    cost=80,
)
def functionalize(ep: ExportedProgram) -> ExportedProgram:
    """Making the graph functional, without decomposing operators, changes nothing that a caller can see."""
    with torch._inductor.config.patch(fallback_random=True):
        functional: ExportedProgram = ep.run_decompositions({})
    return functional


@transform("program", "nonstrict:module", "nonstrict:unflatten", "nonstrict+unflatten_first:module")
def reload(ep: ExportedProgram) -> ExportedProgram:
    """A program that is saved and loaded again is the same program."""
    with tempfile.TemporaryFile() as file:
        torch.export.save(ep, file)
        file.seek(0)
        return torch.export.load(file)


@transform("program", "nonstrict:module", "nonstrict:unflatten", "strict:module", frees=True, cost=400)
def freed(ep: ExportedProgram) -> ExportedProgram:
    """When the model, the program and what runs are gone, the memory of the weights is free."""
    return ep


@transform(
    "program", "nonstrict:module", "nonstrict+dynamic:module", exports=True, not_promised=("hierarchy",)
)
def reexport(ep: ExportedProgram, dynamic_shapes: Any = None, **options: Any) -> ExportedProgram:
    """What ``ep.module()`` returns can be exported again."""
    args, kwargs = ep.example_inputs
    if isinstance(dynamic_shapes, dict):
        dynamic_shapes = _by_argument(ep, dynamic_shapes)
    return torch.export.export(ep.module(), args, kwargs, dynamic_shapes=dynamic_shapes, **options)


@transform("program", "nonstrict:module", exports=True, not_promised=("hierarchy",), cost=40)
def reexport_unflattened(ep: ExportedProgram, dynamic_shapes: Any = None, **options: Any) -> ExportedProgram:
    """What ``unflatten`` returns can be exported again."""
    args, kwargs = ep.example_inputs
    if isinstance(dynamic_shapes, dict):
        # What unflatten returns takes (*args, **kwargs).
        each = _by_argument(ep, dynamic_shapes)
        named = {name: each.pop(name) for name in kwargs}
        dynamic_shapes = {"args": tuple(each.values()), "kwargs": named}
        dynamic_shapes = {name: given for name, given in dynamic_shapes.items() if given}
    unflattened = torch.export.unflatten(ep)
    return torch.export.export(unflattened, args, kwargs, dynamic_shapes=dynamic_shapes, **options)


def _by_argument(ep: ExportedProgram, dynamic_shapes: dict[str, Any]) -> dict[str, Any]:
    """Name the spec of each argument as ``ep.module()`` does, which has no ``*rest`` and ``**options``."""
    names = list(inspect.signature(ep.module().forward).parameters)
    each = {}
    for name, given in dynamic_shapes.items():
        if name in names:
            each[name] = given
        elif isinstance(given, dict):
            each.update(given)
        else:
            each.update({f"{name}_{i}": one for i, one in enumerate(given)})
    return {name: each[name] for name in names}


@transform("program", "nonstrict:module", "nonstrict+unflatten_first:module", copies=True, cost=35)
def deepcopy(ep: ExportedProgram) -> ExportedProgram:
    """A deep copy of a program behaves like the program, and shares no state with it."""
    return copy.deepcopy(ep)


@transform(
    "program",
    "nonstrict:module",
    in_place=True,
    cost=30,
    needs=("torch.export.passes.move_to_device_pass",),
)
def todevice(ep: ExportedProgram) -> ExportedProgram:
    """A program of one device that is moved to the CPU, and back to its device, stays as it is."""
    from torch.export.passes import move_to_device_pass

    # A program without state runs where its inputs are.
    values = torch.utils._pytree.tree_leaves([node.meta.get("val") for node in ep.graph.nodes])
    tensors = [*ep.state_dict.values(), *ep.constants.values(), *values]
    devices = [t.device for t in tensors if isinstance(t, torch.Tensor)]
    here = devices[0] if devices else torch.device("cpu")
    if len(set(devices)) > 1:
        return move_to_device_pass(ep, {str(here): str(here)})
    if here.type not in ("cpu", "meta"):
        ep = move_to_device_pass(ep, "cpu")
    return move_to_device_pass(ep, here)
