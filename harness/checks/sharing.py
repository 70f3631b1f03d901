"""sharing: names that are one tensor, or live in one storage, in eager do so on the path as well."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harness.checks.registry import Difference, mismatch
from harness.checks.state import sort_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from harness.observation import Observation
    from harness.snapshot import State

Groups = tuple[frozenset[str], ...]


def sharing(reference: Observation, candidate: Observation) -> Iterator[Difference]:
    """Compare who is the same object as whom, and who shares memory with whom."""
    for difference in _compare(reference, candidate):
        yield replace(difference, spoils="calls")


def _compare(reference: Observation, candidate: Observation) -> Iterator[Difference]:
    if reference.before is None or candidate.before is None:
        return
    ours, theirs = reference.before, candidate.before
    known = _names(ours) & _names(theirs)
    split = list(_not_together(ours.same, theirs.same, known))
    told = set().union(*split)
    for names in split:
        # Buffers and constants are one sort here: export keeps buffers that do not persist as constants.
        parameters = [
            name for name in names if name in ours.tensors and sort_of(ours.tensors[name]) == "parameter"
        ]
        sort = "parameter" if parameters else "buffer"
        yield mismatch(
            ("one-tensor-became-several", sort),
            f"in eager {_list(names)} are one tensor, here they are different tensors",
            stage="lower",
        )
    for names in _not_together(ours.shared, theirs.shared, known):
        if not names <= told:
            yield mismatch(
                ("memory-no-longer-shared",),
                f"in eager {_list(names)} share memory, here they do not",
                stage="lower",
            )
    for names in _not_together(theirs.shared, ours.shared, known):
        yield mismatch(
            ("memory-became-shared",),
            f"in eager {_list(names)} do not share memory, here they do",
            stage="lower",
        )
    if theirs.torn:
        yield mismatch(
            ("call-variant-has-its-own",),
            f"{_list(theirs.torn)}: not the tensor of the first call",
            stage="lower",
        )


def _names(state: State) -> frozenset[str]:
    return frozenset(state.tensors) | frozenset(state.constants)


def _not_together(wanted: Groups, present: Groups, known: frozenset[str]) -> Iterator[frozenset[str]]:
    for group in wanted:
        names = group & known
        if len(names) > 1 and not any(names <= other for other in present):
            yield names


def _list(names: Iterable[str]) -> str:
    ordered = sorted(names)
    return ", ".join(ordered[:6]) + (f" and {len(ordered) - 6} more" if len(ordered) > 6 else "")
