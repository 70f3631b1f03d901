"""Metadata that export records, next to that of the real tensor: symbols stand for any size."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harness.checks.compare.leaves import meaningful_stride

if TYPE_CHECKING:
    from harness.observe.tensors import Size, TensorSnapshot


def unlike_recorded(actual: TensorSnapshot, recorded: TensorSnapshot) -> tuple[str, object, object] | None:
    """Return the first property that differs: its name, what it is, what was recorded."""
    for word in ("dtype", "device"):
        if getattr(actual, word) != getattr(recorded, word):
            return word, getattr(actual, word), getattr(recorded, word)
    for word, real, noted in (
        ("shape", actual.shape, recorded.shape),
        ("stride", meaningful_stride(actual), meaningful_stride(replace(recorded, shape=actual.shape))),
        ("offset", (actual.offset,), (recorded.offset,)),
    ):
        if not _fits(real, noted):
            return word, _all(actual, word), _all(recorded, word)
    return None


def _fits(real: tuple[Size, ...], noted: tuple[Size, ...]) -> bool:
    """Whether sizes are those recorded; a symbol stands for any."""
    return len(real) == len(noted) and all(
        isinstance(b, str) or a == b for a, b in zip(real, noted, strict=True)
    )


def _all(tensor: TensorSnapshot, word: str) -> object:
    value = getattr(tensor, word)
    return list(value) if isinstance(value, tuple) else value
