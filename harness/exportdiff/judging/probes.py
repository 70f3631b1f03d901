"""Mistakes in the probes of a user: calls for which export promises nothing, so nothing can be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.export.dynamic_shapes import _combine_args, _tree_map_with_path
from torch.utils import _pytree as pytree

from exportdiff.runtime.paths.transforms.apply import exports_sizes_of_case

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from exportdiff.core.case import Built, CallArguments, Case
    from exportdiff.core.path import Path


class _Leaf(NamedTuple):
    """A tensor or a Python value among the arguments."""

    where: str
    value: object
    spec: object
    """Its part of the dynamic shapes; None: all of it is fixed."""


def probe_mistake(case: Case, paths: Sequence[Path]) -> str:
    """Return what is wrong with the first probe that is a mistake; empty if there is none.

    Export fixes what ``dynamic_shapes`` does not declare dynamic. Paths that export nothing, or that make
    all sizes dynamic themselves, take any probe.
    """
    if not case.own_probes or case.probes is None or not any(map(exports_sizes_of_case, paths)):
        return ""
    built, shapes = case.build(), case.shapes()
    try:
        example = _leaves(built, built, shapes)
        probes = [_leaves(built, probe) for probe in built.probes]
    except Exception:
        return ""  # torch.export says what is wrong with the arguments or with the dynamic shapes
    for number, probe in zip(built.order, probes, strict=True):
        for mistake in _mistakes(example, probe):
            return f"probe {number}: {mistake}"
    return ""


def _leaves(built: Built, call: Built | CallArguments, shapes: object = None) -> list[_Leaf]:
    """Flatten the arguments of a call as export does."""
    if hasattr(shapes, "dynamic_shapes"):  # ShapesCollection, AdditionalInputs
        shapes = shapes.dynamic_shapes(built.model, call.args, call.kwargs)
    arguments: Any = _combine_args(built.model, call.args, call.kwargs)
    names = list(arguments)
    if isinstance(shapes, tuple | list):
        arguments = type(shapes)(arguments.values())
    found: list[_Leaf] = []

    def note(place: tuple[Any, ...], value: object, spec: object = None) -> None:
        first = names[place[0].idx] if isinstance(shapes, tuple | list) else place[0].key
        found.append(_Leaf(f"{first}{pytree.keystr(place[1:])}", value, spec))

    _tree_map_with_path(note, arguments, *((shapes,) if shapes else ()), tree_name="inputs")
    return found


def _mistakes(example: Sequence[_Leaf], probe: Sequence[_Leaf]) -> Iterator[str]:
    sizes: dict[str, int] = {}
    for leaf, other in zip(example, probe, strict=False):
        ours, theirs, where = leaf.value, other.value, leaf.where
        if isinstance(ours, torch.Tensor) and isinstance(theirs, torch.Tensor):
            yield from _of_tensor(leaf, ours, theirs, sizes)
        elif type(ours) is not type(theirs):
            yield f"{where} is a {type(theirs).__name__}, in the example a {type(ours).__name__}"
        elif isinstance(ours, int | float | str) and ours != theirs and leaf.spec is None:
            yield f"{where} is {theirs!r}, in the example {ours!r}; export fixes Python values"


def _of_tensor(leaf: _Leaf, ours: torch.Tensor, theirs: torch.Tensor, sizes: dict[str, int]) -> Iterator[str]:
    """``sizes``: the sizes that the probe gave to named dimensions so far."""
    where = leaf.where
    if ours.dtype != theirs.dtype:
        yield f"{where} is {theirs.dtype}, in the example {ours.dtype}; only sizes may differ"
    if ours.dim() != theirs.dim():
        yield f"{where} has {theirs.dim()} dimensions, in the example {ours.dim()}; only sizes may differ"
        return
    for at, declared in enumerate(_dims(leaf.spec, ours.dim())):
        before, size = ours.shape[at], theirs.shape[at]
        given = f"{where} has size {size} in dimension {at}"
        if declared is None and size != before:
            yield f"{given}, in the example {before}; declare it in dynamic_shapes, or leave out the probe"
        elif isinstance(declared, torch.export.Dim):
            yield from _of_dim(given, declared, size, sizes)


def _of_dim(given: str, declared: Any, size: int, sizes: dict[str, int]) -> Iterator[str]:
    name = declared.__name__
    if not declared.min <= size <= declared.max:
        yield f"{given}; Dim {name!r} goes from {declared.min} to {declared.max}"
    if sizes.setdefault(name, size) != size:
        yield f"{given}; Dim {name!r} has size {sizes[name]} elsewhere in this probe"


def _dims(spec: Any, rank: int) -> Iterable[object]:
    """Return what is declared for each dimension of a tensor; None: its size is fixed."""
    if isinstance(spec, dict):
        spec = [spec.get(at) for at in range(rank)]
    declared = list(spec or ())[:rank]
    declared += [None] * (rank - len(declared))
    static = torch.export.Dim.STATIC
    return [None if isinstance(each, int) or each == static else each for each in declared]
