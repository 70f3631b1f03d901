"""Basic indexing: ``x[1, ..., None, ::2]``. The index is a constant of the op, as text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from types import EllipsisType

from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from exportdiff_strategies.ops.rules import RANK
from exportdiff_strategies.ops.spec import Operand, Params, require
from exportdiff_strategies.types import Shape, TensorType

Item = slice | int | EllipsisType | None


@cache
def _parsed(text: str) -> tuple[Item, ...]:
    return tuple(_item(part) for part in text.split(", "))


def _item(text: str) -> Item:
    if text in ("...", "None"):
        return ... if text == "..." else None
    if ":" in text:
        return slice(*(int(part) if part else None for part in text.split(":")))
    return int(text)


def _text(index: object) -> str:
    items = index if isinstance(index, tuple) else (index,)
    return ", ".join(_item_text(item) for item in items) or "..."


def _item_text(item: object) -> str:
    if not isinstance(item, slice):
        return "..." if item is ... else str(item)
    start, stop = ("" if end is None else end for end in (item.start, item.stop))
    # Tensors know no negative steps.
    step = abs(item.step or 1)
    return f"{start}:{stop}" + (f":{step}" if step != 1 else "")


def indexed(kind: TensorType, params: Params) -> TensorType:
    """``x[<text>]``, where the text is a basic index."""
    items = _parsed(str(params[0]))
    missing = len(kind.shape) - sum(isinstance(item, int | slice) for item in items)
    require(missing >= 0 and len(items) <= RANK, "too many indices")
    shape: list[int] = []
    stride: list[int] = []
    known = kind.stride or (0,) * len(kind.shape)
    dim = 0
    for item in items if ... in items else (*items, ...):
        if isinstance(item, EllipsisType):
            shape += kind.shape[dim : dim + missing]
            stride += known[dim : dim + missing]
            dim += missing
        elif item is None:
            shape.append(1)
            stride.append(1)
        elif isinstance(item, slice):
            start, stop, step = item.indices(kind.shape[dim])
            shape.append(len(range(start, stop, step)))
            stride.append(known[dim] * step)
            dim += 1
        else:
            require(-kind.shape[dim] <= item < kind.shape[dim], "index out of range")
            dim += 1
    require(len(shape) <= RANK, "rank")
    return TensorType(tuple(shape), None if kind.stride is None else tuple(stride), kind.dtype)


@cache
def _basic(shape: Shape) -> st.SearchStrategy[Params]:
    found = npst.basic_indices(shape, max_dims=RANK, allow_newaxis=True)
    return found.map(lambda index: (_text(index),))


def indices(operands: Sequence[Operand]) -> st.SearchStrategy[Params]:
    """The texts of basic indices."""
    return _basic(operands[0].type.shape)
