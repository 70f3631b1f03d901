"""A Case: what the harness runs. A Program, a corpus file and a user's own model all become one."""

from __future__ import annotations

import hashlib
import linecache
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import nn


class InvalidFactory(ValueError):  # noqa: N818 - named for what it is about
    """A factory did not return ``(model, args)`` or ``(model, args, kwargs)``; the text says what it did."""


class Built(NamedTuple):
    """One fresh model with the example inputs it is exported with."""

    model: nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


@dataclass(frozen=True)
class Case:
    """How to build a fresh model and inputs, as often as needed; ``source`` is the text shown to people."""

    name: str
    source: str
    make: Callable[[], object]

    def build(self) -> Built:
        """Call the factory under a fixed RNG seed and check what it returns.

        Raises InvalidFactory on a wrong return value; whatever the factory itself raises passes through.
        """
        with torch.random.fork_rng(devices=[]):
            seed(0)
            made = self.make()
        return _checked(made, self.name)


def seed(number: int) -> None:
    """Seed the CPU, and CUDA where it is in use. ``torch.manual_seed`` asks all backends: 0.3 ms."""
    torch.default_generator.manual_seed(number)
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]  # torch leaves it bare
        torch.cuda.manual_seed_all(number)


def _checked(made: object, name: str) -> Built:
    expected = "expected (model, args) or (model, args, kwargs)"
    if not isinstance(made, tuple) or len(made) not in (2, 3):
        raise InvalidFactory(f"{name} returned {type(made).__name__}; {expected}")
    model, args = made[0], made[1]
    kwargs = made[2] if len(made) == 3 else {}
    if not isinstance(model, nn.Module):
        raise InvalidFactory(f"{name} returned a {type(model).__name__} as model; {expected}")
    if not isinstance(args, tuple):
        raise InvalidFactory(f"{name} returned a {type(args).__name__} as args, not a tuple; {expected}")
    if not isinstance(kwargs, Mapping):
        raise InvalidFactory(f"{name} returned a {type(kwargs).__name__} as kwargs, not a dict; {expected}")
    return Built(model, args, dict(kwargs))


def case_from_source(source: str, name: str = "program") -> Case:
    """Execute ``source`` (which defines ``make()``) as a module of its own.

    The text gets a ``linecache`` entry under a file name made from its hash: without it neither Dynamo
    nor a traceback can see the lines. Raises whatever executing the source raises, KeyError without make.
    """
    digest = hashlib.sha256(source.encode()).hexdigest()[:16]
    filename = f"<exportdiff {name} {digest}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    module = types.ModuleType(f"exportdiff_{digest}")
    module.__file__ = filename
    # Dynamo re-imports the module of every function that it inlines: it must be importable by name.
    sys.modules[module.__name__] = module
    exec(compile(source, filename, "exec"), module.__dict__)
    return Case(name, source, module.__dict__["make"])
