"""Replaces the code of functions while a ``with`` block runs.

The function objects stay the same, so the new code also runs wherever a function was imported, stored in a
table, decorated or captured.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import CodeType, FunctionType


@contextmanager
def exchanged(codes: Iterable[tuple[FunctionType, CodeType]]) -> Iterator[None]:
    """Give each function the new code of its pair; restore all functions at the end of the block."""
    pairs = tuple(codes)
    originals = [(function, function.__code__) for function, _ in pairs]
    try:
        for function, code in pairs:
            function.__code__ = code
        yield
    finally:
        for function, code in originals:
            function.__code__ = code
