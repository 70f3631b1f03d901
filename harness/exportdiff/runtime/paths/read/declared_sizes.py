"""What a spec of dynamic shapes declares for each dimension of the example inputs."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from exportdiff.runtime.observing.sizes import SizeRange
from exportdiff.runtime.observing.tensors import argument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import nn

    from exportdiff.runtime.observing.arguments import Inputs


class Declared(NamedTuple):
    """One dimension that a spec declares as dynamic."""

    leaf: int
    """The number of the input among the leaves."""
    dim: int
    where: str
    """As one would write it: ``args[0].shape[1]``."""
    text: str
    hint: str
    """``AUTO`` or ``DYNAMIC``; empty: it has a named Dim."""
    stated: SizeRange
    """The ends of the declared range that are numbers."""


def declared_dimensions(model: nn.Module, inputs: Inputs, spec: Any) -> Iterator[Declared]:
    """Yield the dimensions that a spec of dynamic shapes declares as dynamic, if it can be read."""
    if hasattr(spec, "dynamic_shapes"):  # ShapesCollection and AdditionalInputs
        spec = spec.dynamic_shapes(model, inputs.args, inputs.kwargs)
    numbers = {id(leaf): number for number, leaf in enumerate(inputs.leaves)}
    try:
        given = inspect.signature(model.forward).bind(*inputs.args, **inputs.kwargs).arguments
    except (TypeError, ValueError):
        return
    values = given if isinstance(spec, dict) else list(given.values())
    for tensor, dims in _pairs(values, spec):
        number = numbers.get(id(tensor))
        if number is None:
            continue
        for dim, one in dims:
            text = _written(one)
            if text:
                where = f"{argument(inputs.places[number])}.shape[{dim}]"
                yield Declared(number, dim, where, text, _hint(one), _stated(one))


def _pairs(value: Any, spec: Any) -> Iterator[tuple[torch.Tensor, list[tuple[int, Any]]]]:
    """Yield each tensor with what the spec says of its dimensions."""
    if isinstance(value, torch.Tensor):
        if isinstance(spec, dict):
            yield value, list(spec.items())
        elif isinstance(spec, list | tuple):
            yield value, list(enumerate(spec))
    elif isinstance(value, dict) and isinstance(spec, dict):
        for key in value.keys() & spec.keys():
            yield from _pairs(value[key], spec[key])
    elif isinstance(value, list | tuple) and isinstance(spec, list | tuple):
        for each, part in zip(value, spec, strict=False):
            yield from _pairs(each, part)


def _written(one: Any) -> str:
    """Return what is declared for a dimension as one would write it; empty: it is static."""
    limits = [f"{end}={getattr(one, end)}" for end in ("min", "max") if type(getattr(one, end, None)) is int]
    hint = _hint(one)
    if hint:
        return "" if hint == "STATIC" else f"Dim.{hint}" + (f"({', '.join(limits)})" if limits else "")
    name = getattr(one, "__name__", "")
    return f"Dim({', '.join([repr(name), *limits])})" if name else ""


def _hint(one: Any) -> str:
    return str(getattr(getattr(one, "type", None), "name", ""))


def _stated(one: Any) -> SizeRange:
    ends = (getattr(one, name, None) for name in ("min", "max"))
    return SizeRange(*(end if type(end) is int else None for end in ends))
