"""Takes from eager what a path does not promise, so that no check sees a difference in it.

Aspects that are whole fields of an observation are removed from it (runtime/paths/run/aspects.py). Those here
are single facts of each call.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from exportdiff.judging.checks.compare.leaves import compare_leaf
from exportdiff.runtime.observing.tensors import TensorSnapshot
from exportdiff.runtime.paths.catalog import not_promised

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from exportdiff.runtime.observing.observation import (
        Call,
        DeviatingCall,
        EagerObservation,
        Observation,
    )
    from exportdiff.runtime.observing.tensors import Leaf, State, Tree
    from exportdiff.runtime.paths.transforms.table import Aspect

_OF_LEAVES: dict[Aspect, tuple[str, ...]] = {
    "history": ("requires_grad", "leaf"),
    "layout": ("stride", "offset", "conj", "neg"),
}
"""For each aspect of tensors: the fields of a TensorSnapshot that say it."""


def as_promised(reference: EagerObservation, seen: Observation) -> Observation:
    """Return the observation of a path with eager's facts in place of those that it does not promise."""
    aspects = not_promised(seen.path)
    calls = seen.calls[: _comparable_calls(reference)] if "updates" in aspects else seen.calls
    pairs = zip(reference.calls, calls, strict=False)
    changed = tuple(_call(ours, theirs, aspects) for ours, theirs in pairs)
    tried = _from_first_state(reference, seen.deviations) if "updates" in aspects else seen.deviations
    deviations = _deviations(reference.deviations, tried, aspects)
    return replace(seen, calls=(*changed, *calls[len(changed) :]), deviations=deviations)


def stops_because(reference: EagerObservation, seen: Observation) -> str:
    """Return why later calls are not compared; empty if they are."""
    fewer = "updates" in not_promised(seen.path) and _comparable_calls(reference) < len(reference.calls)
    return (
        f"calls of eager change its state, and {seen.path.mode} does not promise to keep it" if fewer else ""
    )


def _comparable_calls(reference: EagerObservation) -> int:
    """Return the number of calls up to the first one after which eager's state is another."""
    before, calls = reference.before, reference.calls
    return next((n + 1 for n, call in enumerate(calls) if _changed(before, call.state)), len(calls))


def _from_first_state(
    reference: EagerObservation, deviations: Iterable[DeviatingCall]
) -> tuple[DeviatingCall, ...]:
    """Return those calls that eager makes in the state that the model begins with. The path keeps it."""
    other = {each.key for each in reference.deviations if _changed(reference.before, each.state_before)}
    return tuple(each for each in deviations if each.key not in other)


def _changed(before: State | None, after: State) -> bool:
    """Return whether tensors of the state differ; without a state before, nothing is known to differ."""
    if before is None:
        return False
    ours, theirs = ({**state.tensors, **state.constants} for state in (before, after))
    return ours.keys() != theirs.keys() or any(compare_leaf(ours[name], theirs[name]) for name in ours)


def _deviations(
    ours: Iterable[DeviatingCall], theirs: Iterable[DeviatingCall], aspects: Collection[Aspect]
) -> tuple[DeviatingCall, ...]:
    """Change those calls that both sides answer. What a refused call has changed is compared with nothing."""
    expected = {each.key: each for each in ours}
    return tuple(
        _deviating(expected[each.key], each, aspects) if each.key in expected else each for each in theirs
    )


def _deviating(ours: DeviatingCall, theirs: DeviatingCall, aspects: Collection[Aspect]) -> DeviatingCall:
    then = theirs.then
    if ours.then is not None and then is not None:
        then = _answer(ours.then, then, aspects)
    return replace(theirs, call=_answer(ours.call, theirs.call, aspects), then=then)


def _answer(ours: Call, theirs: Call, aspects: Collection[Aspect]) -> Call:
    answered = ours.outputs is not None and theirs.outputs is not None
    return _call(ours, theirs, aspects) if answered else theirs


def _call(ours: Call, theirs: Call, aspects: Collection[Aspect]) -> Call:
    if "writes" in aspects:
        theirs = replace(theirs, inputs=ours.inputs, refilled=ours.refilled)
    if "aliasing" in aspects:
        theirs = replace(theirs, memory=ours.memory)
    names = [name for aspect in _OF_LEAVES if aspect in aspects for name in _OF_LEAVES[aspect]]
    if not names:
        return theirs
    outputs, inputs = _tree(ours.outputs, theirs.outputs, names), _tree(ours.inputs, theirs.inputs, names)
    return replace(theirs, outputs=outputs, inputs=inputs)


def _tree(ours: Tree | None, theirs: Tree | None, names: list[str]) -> Any:
    """Return a tree whose tensors have eager's values of these fields, where the shapes agree."""
    if ours is None or theirs is None or len(ours.leaves) != len(theirs.leaves):
        return theirs
    pairs = zip(ours.leaves, theirs.leaves, strict=True)
    return replace(theirs, leaves=tuple(_leaf(one, other, names) for one, other in pairs))


def _leaf(ours: Leaf, theirs: Leaf, names: list[str]) -> Leaf:
    one, other = ours.value, theirs.value
    if (
        not isinstance(one, TensorSnapshot)
        or not isinstance(other, TensorSnapshot)
        or one.shape != other.shape
    ):
        return theirs
    return replace(theirs, value=replace(other, **{name: getattr(one, name) for name in names}))
