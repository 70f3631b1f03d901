"""What exportdiff cannot read: no path can be compared with eager then, and torch is not to blame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.runtime.observing.aliasing import OUTPUT
from exportdiff.runtime.observing.parts import CannotObserveError
from exportdiff.runtime.observing.tensors import TensorSnapshot, argument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.runtime.observing.observation import Call, EagerObservation


def require_readable(eager: EagerObservation) -> None:
    """Raise CannotObserveError if a call of eager leaves or returns a tensor that cannot be read."""
    for call in eager.calls:
        for name, value in _named(call):
            if kind := _unreadable(value):
                raise CannotObserveError(f"{name}, {kind}")


def _named(call: Call) -> Iterator[tuple[str, TensorSnapshot | str]]:
    if call.outputs is not None:
        yield from ((f"{OUTPUT}{leaf.where}", leaf.value) for leaf in call.outputs.leaves)
    yield from ((argument(leaf.where), leaf.value) for leaf in call.inputs.leaves)
    yield from call.state.tensors.items()
    yield from call.state.constants.items()


def _unreadable(value: TensorSnapshot | str) -> str:
    """Return the kind of a tensor that cannot be read, or of one of its parts."""
    if isinstance(value, str):
        return ""
    parts = () if value.composed is None else value.composed.parts.values()
    return value.unreadable or next(filter(None, map(_unreadable, parts)), "")
