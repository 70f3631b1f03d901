"""Exchanging the code of functions for the length of a ``with`` block.

The function objects stay, so every importer, table, decorator and closure that holds one of them runs the
other code as well.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import CodeType, FunctionType


@contextmanager
def exchanged(codes: Iterable[tuple[FunctionType, CodeType]]) -> Iterator[None]:
    """Give each function the code beside it; give all of them their own code back at the end."""
    pairs = tuple(codes)
    own = [(function, function.__code__) for function, _ in pairs]
    try:
        for function, code in pairs:
            function.__code__ = code
        yield
    finally:
        for function, code in own:
            function.__code__ = code
