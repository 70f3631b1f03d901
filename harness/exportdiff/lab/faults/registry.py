"""The type of a fault, and the table of all faults."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import cast
from unittest import mock

Planted = Callable[[], AbstractContextManager[object]]
Plant = Planted | Callable[[], Iterator[None]]


@dataclass(frozen=True)
class Fault:
    """A bug that is planted in torch while a ``with`` block runs, and the check that must report it."""

    name: str
    check: str
    paths: str
    """Glob of the paths on which the check must report the bug."""
    why: str
    """One line: what the bug breaks."""
    source: str
    """The source of the smallest model that shows the bug; it defines ``make()``."""
    plant: Planted
    """Returns a context manager; the bug is in torch while its block runs."""
    cites: str = ""
    """The PyTorch thread about the same bug: ``PR 137013``. Empty: none is known."""


FAULTS: dict[str, Fault] = {}
"""By name."""


def fault(*, check: str, paths: str, source: str, cites: str = "") -> Callable[[Plant], Plant]:
    """Add a fault to FAULTS: a function that returns a context manager, or a generator that yields once.

    The bug is in torch while the block of the context manager runs.

    The function's name becomes the fault's name, the first line of its docstring becomes ``Fault.why``.
    A source without ``make()`` gets ``MAKE``.
    """

    def add(plant: Plant) -> Plant:
        if inspect.isgeneratorfunction(plant):
            planted: Planted = contextlib.contextmanager(plant)
        else:
            planted = cast("Planted", plant)
        why = (plant.__doc__ or "").partition("\n")[0]
        FAULTS[plant.__name__] = Fault(
            plant.__name__,
            check,
            paths,
            why,
            HEADER + source + ("" if "def make(" in source else MAKE),
            planted,
            cites,
        )
        return plant

    return add


HEADER = """\
import torch
from torch import nn

"""

MAKE = """

def make():
    return Model(), (torch.ones(2, 3),)
"""


@contextlib.contextmanager
def wrapped(owner: object, name: str, wrapper: Callable[..., object]) -> Iterator[None]:
    """Replace ``owner.name``: each call runs ``wrapper(original, *args, **kwargs)``."""
    original = getattr(owner, name)

    # A plain function, because only a function binds ``self`` if ``owner`` is a class.
    def replacement(*args: object, **kwargs: object) -> object:
        return wrapper(original, *args, **kwargs)

    with mock.patch.object(owner, name, replacement):
        yield
