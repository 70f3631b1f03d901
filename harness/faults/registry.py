"""What a fault is, and the table of them."""

from __future__ import annotations

import contextlib
import textwrap
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from unittest import mock

Plant = Callable[[], Iterator[None]]


@dataclass(frozen=True)
class Fault:
    """A bug planted in torch for the length of a ``with`` block, and who must report it."""

    name: str
    check: str
    paths: str
    """Glob of the paths on which the check must report it."""
    why: str
    """What is broken, in a line."""
    source: str
    """The smallest model that shows it: the text of a ``make()``."""
    plant: Callable[[], AbstractContextManager[None]]
    """Returns the context manager that holds the bug in place."""
    cites: str = ""
    """Where PyTorch had it: ``PR 137013``. Empty: it had not, as far as we know; the slip is a likely one."""


FAULTS: dict[str, Fault] = {}
"""By name."""


def fault(*, check: str, paths: str, source: str, cites: str = "") -> Callable[[Plant], Plant]:
    """Enter a fault: a generator function that breaks torch, yields, and mends it.

    Its name and docstring become the fault's.
    """

    def enter(plant: Plant) -> Plant:
        why = (plant.__doc__ or "").partition("\n")[0]
        FAULTS[plant.__name__] = Fault(
            plant.__name__,
            check,
            paths,
            why,
            HEADER + textwrap.dedent(source),
            contextlib.contextmanager(plant),
            cites,
        )
        return plant

    return enter


HEADER = """\
import torch
from torch import nn

"""


@contextlib.contextmanager
def wrapped(owner: object, name: str, wrapper: Callable[..., object]) -> Iterator[None]:
    """Replace ``owner.name``; ``wrapper`` gets the original first, then the call's arguments."""
    original = getattr(owner, name)

    # A plain function, so that it binds to its object where ``owner`` is a class.
    def replacement(*args: object, **kwargs: object) -> object:
        return wrapper(original, *args, **kwargs)

    with mock.patch.object(owner, name, replacement):
        yield
