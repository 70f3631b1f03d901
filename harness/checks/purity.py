"""purity: export and lowering leave the model, the example inputs and torch's own state alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harness.checks.compare.aftermath import ambient
from harness.checks.compare.leaves import compare_leaf
from harness.checks.registry import Difference, mismatch
from harness.checks.state import sort_of
from harness.observe.observation import ExportedObservation
from harness.observe.tensors import argument

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from harness.checks.compare.groups import Groups
    from harness.observe.observation import EagerObservation, Observation, StageEffect
    from harness.observe.tensors import State, TensorSnapshot


def purity(reference: EagerObservation, candidate: Observation) -> Iterator[Difference]:
    """Compare the world before and after each stage that must not change it."""
    for touch in candidate.stage_effects if isinstance(candidate, ExportedObservation) else ():
        yield from _state(touch)
        yield from _inputs(touch)
        yield from _flags(touch, "training flag", touch.before.training, touch.after.training)
        yield from _flags(touch, "hooks", touch.before.hooks, touch.after.hooks)
        yield from _flags(touch, "attribute", touch.before.attributes, touch.after.attributes)
        yield from _flags(touch, "global", touch.before.process_state, touch.after.process_state)
        if not reference.prints:
            for stream, text in touch.printed.items():
                how = ("prints", stream, *(("failed",) if touch.failed else ()))
                yield _changed(touch, how, f"prints to {stream}: {text.strip()[:_PRINTED]!r}")
    yield from ambient(reference, candidate)


def _state(touch: StageEffect) -> Iterator[Difference]:
    before, after = touch.before.state, touch.after.state
    told: set[str] = set()
    for sort, name, tensor, later in _pairs(touch):
        found = compare_leaf(tensor, later or "nothing", metadata=True)
        if found is not None and name not in told:
            word = found.word if later else "missing"
            if sort == "constant" and word in ("requires-grad", "sign-of-zero", "rounding"):
                # An in-place operation ran on it for real: one cause, whatever is left to see of it.
                word = "value"
            yield _changed(touch, (sort, word), f"changed {sort} {name}", _worded(found.details))
            # What shares its memory has changed with it.
            told.update(*(group for group in before.shared if name in group))
    # What is new is told as a new attribute.
    names = frozenset(before.tensors) | frozenset(before.constants)
    if any(set(ours) != _among(names, theirs) for ours, theirs in _groups(before, after)):
        yield _changed(touch, ("sharing",), "changed which tensors of the model are shared")


def _groups(before: State, after: State) -> tuple[tuple[Groups, Groups], ...]:
    return (before.same, after.same), (before.shared, after.shared)


def _among(names: frozenset[str], groups: Groups) -> set[frozenset[str]]:
    return {group & names for group in groups if len(group & names) > 1}


def _pairs(touch: StageEffect) -> Iterator[tuple[str, str, TensorSnapshot, TensorSnapshot | None]]:
    before, after = touch.before.state, touch.after.state
    # Constants first: a tensor that is a buffer as well changes because it is a constant.
    for name, tensor in before.constants.items():
        yield "constant", name, tensor, after.constants.get(name)
    for name, tensor in before.tensors.items():
        yield sort_of(tensor), name, tensor, after.tensors.get(name)


def _inputs(touch: StageEffect) -> Iterator[Difference]:
    for leaf, later in zip(touch.before.inputs.leaves, touch.after.inputs.leaves, strict=False):
        found = compare_leaf(leaf.value, later.value, metadata=True)
        if found is not None:
            what = f"changed the example input {argument(leaf.where)}"
            yield _changed(touch, ("input", found.word), what, _worded(found.details))


def _worded(details: str) -> str:
    return details.replace("eager:", "before:").replace("eager ", "before ").replace("here", "after")


def _flags(
    touch: StageEffect, sort: str, before: Mapping[str, object], after: Mapping[str, object]
) -> Iterator[Difference]:
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    if not names:
        return
    shown = ", ".join(repr(name) if name == "" else name for name in names[:5])
    if sort == "global":
        yield _changed(touch, (sort, names[0]), f"changed the {shown}")
    else:
        yield _changed(touch, (sort,), f"changed {sort} of the model: {shown}")


def _changed(touch: StageEffect, what: tuple[str, ...], *message: str) -> Difference:
    stage = "lowering" if touch.stage == "lower" else touch.stage
    first, *rest = message
    difference = mismatch((touch.stage, *what), f"{stage} {first}", *rest, stage=touch.stage)
    return replace(difference, spoils="start") if what[0] in _STATE else difference


_STATE = ("parameter", "buffer", "constant")
_PRINTED = 80
"""So many characters of what was printed are shown."""
