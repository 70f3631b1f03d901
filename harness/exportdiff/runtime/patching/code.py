"""Replaces the code of functions while a ``with`` block runs.

The function objects stay the same, so the new code also runs wherever a function was imported, stored in a
table, decorated or captured.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import CodeType, FunctionType


Defaults: TypeAlias = "tuple[tuple[object, ...], dict[str, object]]"
"""The defaults of a function's arguments: by position, and by name."""


@contextmanager
def exchanged(
    codes: Iterable[tuple[FunctionType, CodeType]],
    defaults: Iterable[tuple[FunctionType, Defaults]] = (),
) -> Iterator[None]:
    """Give functions the new code and the new defaults of their pairs; restore them at the end."""
    codes, defaults = tuple(codes), tuple(defaults)
    old_codes = [(function, function.__code__) for function, _ in codes]
    old_defaults = [(each, each.__defaults__, each.__kwdefaults__) for each, _ in defaults]
    try:
        for function, code in codes:
            function.__code__ = code
        for function, (positional, named) in defaults:
            function.__defaults__, function.__kwdefaults__ = positional or None, named or None
        yield
    finally:
        for function, code in old_codes:
            function.__code__ = code
        for function, before, before_named in old_defaults:
            function.__defaults__, function.__kwdefaults__ = before, before_named
