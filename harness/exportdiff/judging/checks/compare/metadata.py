"""Compare the metadata that export records with that of the real tensor: a symbol stands for any size."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from exportdiff.judging.checks.compare.leaves import LeafDifference, meaningful_stride, written

if TYPE_CHECKING:
    from exportdiff.runtime.observing.tensors import Size, TensorSnapshot


def unlike_recorded(actual: TensorSnapshot, recorded: TensorSnapshot) -> LeafDifference | None:
    """Return the first property that differs: expected as the real tensor has it, seen as recorded."""
    for word in ("dtype", "device"):
        if getattr(actual, word) != getattr(recorded, word):
            return LeafDifference(word, str(getattr(actual, word)), str(getattr(recorded, word)))
    properties = [("shape", actual.shape, recorded.shape)]
    if len(actual.stride) == len(actual.shape):  # a sparse tensor has none
        strides = meaningful_stride(actual), meaningful_stride(replace(recorded, shape=actual.shape))
        properties += [("stride", *strides), ("offset", (actual.offset,), (recorded.offset,))]
    for word, real, noted in properties:
        if not _fits(real, noted):
            return LeafDifference(word, written(getattr(actual, word)), written(getattr(recorded, word)))
    return None


def _fits(real: tuple[Size, ...], noted: tuple[Size, ...]) -> bool:
    """Whether sizes are those recorded; a symbol stands for any."""
    return len(real) == len(noted) and all(
        isinstance(b, str) or a == b for a, b in zip(real, noted, strict=True)
    )
