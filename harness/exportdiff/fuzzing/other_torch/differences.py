"""Compares what a program shows on this torch and on another: broken, fixed, or different."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.fuzzing.other_torch.messages import PathAnswer

Change: TypeAlias = Literal[
    "torch regression", "in both", "changed", "fixed", "newly refused", "not comparable"
]
"""``torch regression``: the path is ok there, and shows a finding here. ``in both``: both show it.
``changed``: both show findings, of other signatures. ``fixed``: the path shows a finding there, and is ok
here. ``newly refused``: it is ok there, and torch refuses it here. ``not comparable``: none of these."""


@dataclass(frozen=True)
class PathDifference:
    """A difference on one path."""

    change: Change
    path: str
    here: tuple[str, ...] = ()
    """The signature here; for ``newly refused``: the reason."""
    there: tuple[str, ...] = ()


def differences(here: PathAnswer, there: PathAnswer) -> Iterator[PathDifference]:
    """Yield the differences on one path of plain torch."""
    ours, theirs = set(here.signatures), set(there.signatures)
    if here.status == "finding" and there.status == "ok":
        for signature in sorted(ours):
            yield PathDifference("torch regression", here.path, signature)
    elif here.status == "ok" and there.status == "finding":
        for signature in sorted(theirs):
            yield PathDifference("fixed", here.path, there=signature)
    elif here.status == "finding" and there.status == "finding":
        gone = sorted(theirs - ours)
        for signature in sorted(ours - theirs):
            yield PathDifference("changed", here.path, signature, gone[0] if gone else ())
    elif here.status == "unsupported" and there.status == "ok":
        yield PathDifference("newly refused", here.path, (here.reason,))


def change_of(signature: tuple[str, ...], there: PathAnswer, code: int | None) -> tuple[Change, str]:
    """Return how the other torch differs on a finding of this one; if it is not comparable, also why.

    ``there``: what the program of the finding shows there on its path. ``code``: the exit code of its repro
    file there.
    """
    if signature in there.signatures:
        return "in both", ""
    if there.status == "finding":
        return "changed", ""
    if code == 1:
        return "in both", ""
    if there.status == "ok" and code == 0:
        return "torch regression", ""
    if there.status == "ok":
        return "not comparable", "its file fails there in another way"
    return "not comparable", f"{there.status} there: {there.reason}"
