"""The tags that the modules and the inputs of a model show, and what one call of it does."""

from __future__ import annotations

import inspect
from enum import Enum
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.modules.batchnorm import _BatchNorm

from exportdiff.runtime.observing.captured_output import capture_output
from exportdiff.runtime.observing.checkpoint import holds_unregistered
from exportdiff.runtime.observing.tensors import flatten, named_constants, named_state, storage_id

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import nn

    from exportdiff.core.case import Built, CallArguments

_VALUES: dict[str, tuple[type, ...]] = {
    "bool_flag": (bool,),
    "number": (int,),
    "float": (float,),
    "string": (str,),
    "enum": (Enum,),
    "value": (bool, int, float, str, Enum),
}


def tags_of_model(built: Built) -> set[str]:
    """Return the tags that modules, stored tensors and inputs show."""
    model = built.model
    state = [tensor for _, tensor in named_state(model)]
    strided = [tensor for tensor in state if tensor.layout is torch.strided]
    constants = [tensor for _, tensor in named_constants(model)]
    parts = [*model.modules()]
    names, arguments = _names(model), _arguments(model)
    held = [each for part in parts for each in _in_plain_containers(part)]
    tags = {
        "model.training": model.training,
        "state.buffer": any(True for _ in model.buffers()),
        "state.parameter": any(True for _ in model.parameters()),
        "state.scratch": any(part._non_persistent_buffers_set for part in parts),
        "state.constant": bool(constants),
        "state.held": any(isinstance(each, torch.Tensor | torch.nn.Module) for each in held),
        "state.held_parameter": holds_unregistered(model),
        "state.one_storage": _share([*state, *constants]),
        "state.registered_again": _are_registered_again([*parts, *held]),
        "state.running_statistics": any(isinstance(part, _BatchNorm) and part.training for part in parts),
        "state.half": any(tensor.dtype in (torch.float16, torch.bfloat16) for tensor in state),
        "state.transposed": any(tensor.stride() != torch.empty(tensor.shape).stride() for tensor in strided),
        "hierarchy.shared": len([*model.named_modules(remove_duplicate=False)]) > len(parts),
        "hierarchy.plain_container": any(isinstance(each, torch.nn.Module) for each in held),
        "input.empty": any(not tensor.numel() for tensor in state),
        "names.argument": not names.isdisjoint(arguments),
        # A name of an argument is that of its node in the graph.
        "names.operator": not names.isdisjoint(arguments)
        or any(hasattr(torch.ops.aten, name) for name in names | arguments),
    }
    return {tag for tag, shown in tags.items() if shown} | _of_inputs(built)


def _of_inputs(built: Built) -> set[str]:
    leaves = [*flatten((built.args, built.kwargs))[0]]
    tensors = _tensors(built)
    tags = {
        "input.keyword": bool(built.kwargs),
        "input.dict": any(isinstance(value, dict) for value in (*built.args, *built.kwargs.values())),
        "dynamic.zero": any(not tensor.numel() for probe in built.probes for tensor in _tensors(probe)),
        "input.view_of_another": _share(tensors),
        "input.empty": any(not tensor.numel() for tensor in tensors),
        "input.sliced": any(
            tensor.layout is torch.strided and not tensor.is_contiguous() for tensor in tensors
        ),
        "input.transposed": any(
            tensor.layout is torch.strided and [*tensor.stride()] != sorted(tensor.stride(), reverse=True)
            for tensor in tensors
        ),
        "input.negative": any(tensor.is_neg() for tensor in tensors),
        **{
            f"input.{dtype}": any(tensor.dtype is getattr(torch, dtype) for tensor in tensors)
            for dtype in ("float16", "bfloat16", "int64")
        },
        **{
            f"input.{name}": any(isinstance(leaf, types) for leaf in leaves)
            for name, types in _VALUES.items()
        },
    }
    return {tag for tag, shown in tags.items() if shown}


def _tensors(given: Built | CallArguments) -> list[torch.Tensor]:
    """Return the tensors among the arguments."""
    leaves = flatten((given.args, given.kwargs))[0]
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]


def tags_of_call(built: Built) -> set[str]:
    """Call the model; return the tags that its writes and its result show. It changes the model."""
    model = built.model
    inputs = _tensors(built)
    parameters, buffers = [*model.parameters()], [*model.buffers()]
    before = [_version(tensor) for tensor in (*inputs, *parameters, *buffers)]
    with capture_output():
        try:
            result = model(*built.args, **built.kwargs)
        except Exception:  # eager raises as well, and then the model is not judged
            return set()
    wrote = [
        _version(tensor) != old for tensor, old in zip((*inputs, *parameters, *buffers), before, strict=True)
    ]
    rebound = {id(tensor) for tensor in buffers} != {id(tensor) for tensor in model.buffers()}
    first, last = len(inputs), len(inputs) + len(parameters)
    leaves = flatten(result)[0]
    tags = {
        "inplace.input": any(wrote[:first]),
        "inplace.parameter": any(wrote[first:last]),
        "inplace.buffer": any(wrote[last:]) or rebound,
        "state.rebound": rebound,
        "output.input": _among(leaves, inputs),
        "output.parameter": _among(leaves, parameters),
        "output.number": any(isinstance(leaf, bool | int | float) for leaf in leaves),
        "output.text": any(isinstance(leaf, str) for leaf in leaves),
        "output.no_tensor": not any(isinstance(leaf, torch.Tensor) for leaf in leaves),
        "output.size": any(isinstance(each, torch.Size) for each in _with_parts(result)),
        "output.tuple": isinstance(result, tuple),
    }
    return {tag for tag, shown in tags.items() if shown}


def _version(tensor: torch.Tensor) -> int:
    """Return how often it was written to; tensors of inference mode do not count that."""
    return 0 if tensor.is_inference() else tensor._version


def _among(leaves: Iterable[object], tensors: Iterable[torch.Tensor]) -> bool:
    return not {id(leaf) for leaf in leaves}.isdisjoint(map(id, tensors))


def _with_parts(value: Any) -> list[Any]:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, tuple | list) else ()
    return [value, *parts]


def _share(tensors: Iterable[torch.Tensor]) -> bool:
    """Return whether different tensors share a storage."""
    each = {id(tensor): tensor for tensor in tensors}.values()
    return len({storage_id(tensor) for tensor in each}) < len(each)


def _in_plain_containers(part: nn.Module) -> list[Any]:
    """Return what the plain lists and dicts of a module contain."""
    values = (value for name, value in vars(part).items() if not name.startswith("_"))
    return [each for value in values if isinstance(value, list | dict) for each in _with_parts(value)[1:]]


def _are_registered_again(parts: Iterable[object]) -> bool:
    """Return whether a tensor has two names, also in modules that are held in a list."""
    stores = [
        store
        for part in parts
        if isinstance(part, torch.nn.Module)
        for store in (part._parameters, part._buffers)
    ]
    own = [id(tensor) for store in stores for tensor in store.values() if tensor is not None]
    return len(set(own)) < len(own)


def _names(model: nn.Module) -> set[str]:
    """Return the last names of parameters and buffers."""
    return {name.rpartition(".")[2] for name, _ in (*model.named_parameters(), *model.named_buffers())}


def _arguments(model: nn.Module) -> set[str]:
    return {*inspect.signature(model.forward).parameters}


def has_constant(model: nn.Module) -> bool:
    """Return whether an attribute of a module is a tensor that is neither a parameter nor a buffer."""
    return any(isinstance(value, torch.Tensor) for part in model.modules() for value in vars(part).values())
