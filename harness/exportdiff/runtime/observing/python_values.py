"""Python values as text that can be compared."""

from __future__ import annotations

from enum import Enum

import torch


def python_value(value: object) -> str:
    """Return a Python value as comparable text; for an object without a stable text, the name of its type."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return f"{type(value).__name__}: {value!r}"
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, torch.dtype | torch.device | torch.layout | torch.memory_format):
        return str(value)
    return type(value).__name__


def number(text: str) -> float | complex | None:
    """Return the number that ``python_value`` has written; None if the text is no number."""
    kind, _, written = text.partition(": ")
    types: dict[str, type[float | complex]] = {"int": int, "float": float, "complex": complex}
    return types[kind](written) if kind in types else None
