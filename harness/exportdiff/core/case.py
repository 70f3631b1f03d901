"""A Case is what exportdiff runs. Programs, corpus files and users' models become Cases."""

from __future__ import annotations

import contextlib
import hashlib
import linecache
import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.utils import _pytree as pytree

from exportdiff.core.model_identity import ModelIdentity
from exportdiff.core.saved_program import SavedProgram
from exportdiff.core.tolerance import Tolerance

_MODULE = re.compile("exportdiff_[0-9a-f]{16}")
"""The names of the modules that ``case_from_source`` makes. exportdiff_strategies is none of them."""


class InvalidFactory(ValueError):  # noqa: N818 - the name says what is invalid
    """A factory did not return ``(model, args)`` or ``(model, args, kwargs)``."""


class CallArguments(NamedTuple):
    """The arguments of one call."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class Built(NamedTuple):
    """One fresh model, the example inputs to export it with, and the probes."""

    model: nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    probes: tuple[CallArguments, ...] = ()
    """The arguments of further calls, with tensors of other sizes."""
    order: tuple[int, ...] = ()
    """The numbers of these probes, as the program lists them."""
    draws: bool = False
    """Whether making all this draws random numbers."""


@dataclass(frozen=True)
class Case:
    """Builds a fresh model and its inputs, as often as needed; ``source`` is the text of the program."""

    name: str
    source: str
    make: Callable[[], object]
    dynamic_shapes: Callable[[], object] | None = None
    """Returns the value for ``torch.export.export(..., dynamic_shapes=...)``; None: all sizes are fixed."""
    probes: Callable[[], object] | None = None
    """Returns a list of ``(args, kwargs)``; None: there are no probes."""
    thorough: bool = False
    """True: try every possible deviation; False: try a few, which the source determines."""
    may_ask: bool = False
    """Whether the model may ask if it is being exported, and then run other operators, as transformers do. If
    its code has such a question, a difference in rounding is not a finding on any path."""
    threads: int = 0
    """How many threads one operator may use on paths that compile, and in eager for them; 0: as it is set.

    With several, sums may be added in another order, so that rounding is not a finding on these paths."""
    finite_only: bool = False
    """True: if eager gives an infinity or NaN, the case is invalid. False: they are compared like any value.

    Drawn programs keep their values small, because an accidental NaN everywhere would hide differences.
    """
    own_probes: bool = False
    """Whether a user wrote the probes. Then a probe on which eager raises, or with a size that export fixes,
    is a mistake, and the case is invalid."""
    other_values: bool = True
    """Whether the calls after the first get inputs with other values. False: the model accepts only some
    values, as nn.BCELoss does."""
    identity: ModelIdentity | None = None
    """Of a user's model: which one it is."""
    program: SavedProgram | None = None
    """What the paths of the mode ``file`` run; None: nobody gave a saved program."""
    tolerance: Tolerance | None = None
    """How far values may be from those of eager, on all paths; None: exportdiff derives it."""
    notes: tuple[str, ...] = ()
    """What a reader of the report must know about the files that the user gave, each a sentence."""

    @classmethod
    def of_module(cls, module: Mapping[str, Any], source: str, name: str, make: str = "make") -> Case:
        """Make a Case from the namespace of a module: the factory ``make`` and its OPTIONAL_FUNCTIONS."""
        optional = {key: value for key in OPTIONAL_FUNCTIONS if callable(value := module.get(key))}
        return cls(name, source, module[make], **optional)

    def build(self) -> Built:
        """Call the factory and the probes, each with a fixed RNG seed, and check their return values.

        Raises InvalidFactory if a return value is wrong; exceptions of the two functions pass through.
        """
        made, draws = _seeded(self.make)
        built = _checked(made, self.name)._replace(draws=draws)
        if self.probes is None:
            return built
        probes, draws = _seeded(self.probes)
        checked = _checked_probes(probes, built)
        order = tuple(range(len(checked)))
        if self.own_probes:
            # No other probe follows one with small sizes, so the general ones come first.
            order = tuple(sorted(order, key=lambda number: not is_general(built, checked[number])))
        probes_in_order = tuple(checked[number] for number in order)
        return built._replace(probes=probes_in_order, order=order, draws=built.draws or draws)

    def shapes(self) -> object:
        """Return a fresh spec of dynamic shapes; None if there is none."""
        return self.dynamic_shapes() if self.dynamic_shapes is not None else None


def is_general(example: Built | CallArguments, probe: Built | CallArguments) -> bool:
    """Whether export promises a right answer for a probe: no size is 0 or 1 where the example has more.

    Export documents that it assumes larger sizes (tutorials, torch.export, '0/1 specialization';
    StrictMinMaxConstraint: it "will often unsoundly assume that a graph works for 0/1"). So the answer to
    such a probe, and to any call after it, proves nothing. But the probe must be accepted if its sizes are in
    the range that the program declares.
    """
    ours, theirs = (pytree.tree_leaves((each.args, each.kwargs)) for each in (example, probe))
    return all(
        size == larger or size > 1
        for one, other in zip(ours, theirs, strict=False)
        if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)
        for larger, size in zip(one.shape, other.shape, strict=False)
    )


OPTIONAL_FUNCTIONS = ("dynamic_shapes", "probes")
"""The optional functions that a program may define next to its factory."""


def _seeded(function: Callable[[], object]) -> tuple[object, bool]:
    """Call a function; return with its result whether it draws random numbers."""
    with torch.random.fork_rng(devices=[]):
        seed(0)
        before = torch.get_rng_state()
        return function(), not torch.equal(before, torch.get_rng_state())


def seed(number: int) -> None:
    """Seed the CPU, and CUDA if it is in use. Faster than ``torch.manual_seed``, which takes 0.3 ms."""
    torch.default_generator.manual_seed(number)
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]  # torch does not annotate it
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


def _checked_probes(made: object, built: Built) -> tuple[CallArguments, ...]:
    expected = "expected a list of (args, kwargs)"
    if not isinstance(made, list | tuple):
        raise InvalidFactory(f"probes returned {type(made).__name__}; {expected}")
    for number, each in enumerate(made):
        if not isinstance(each, tuple) or [*map(type, each)] != [tuple, dict]:
            raise InvalidFactory(f"probe {number} is not a pair of a tuple and a dict; {expected}")
        if _structure(*each) != _structure(built.args, built.kwargs):
            raise InvalidFactory(
                f"probe {number} has another structure than the example; only sizes may differ"
            )
    return tuple(CallArguments(args, dict(kwargs)) for args, kwargs in made)


def _structure(args: tuple[Any, ...], kwargs: dict[str, Any]) -> pytree.TreeSpec:
    return pytree.tree_structure((args, sorted(kwargs.items())))


def case_from_source(source: str, name: str = "program", *, finite_only: bool = True) -> Case:
    """Execute ``source`` as a new module. It defines ``make()`` and may define OPTIONAL_FUNCTIONS.

    The source gets a ``linecache`` entry with a file name made from its hash, because Dynamo and tracebacks
    read the lines there. ``finite_only``: see Case; False is for users' models. Raises what the source
    raises, and KeyError without ``make``.
    """
    digest = hashlib.sha256(source.encode()).hexdigest()[:16]
    filename = f"<exportdiff {name} {digest}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    module = types.ModuleType(f"exportdiff_{digest}")
    module.__file__ = filename
    # Dynamo imports the module of every function that it inlines, so importing it must work.
    sys.modules[module.__name__] = module
    exec(compile(source, filename, "exec"), module.__dict__)
    return replace(Case.of_module(module.__dict__, source, name), finite_only=finite_only)


def is_of_program(name: str) -> bool:
    """Whether ``case_from_source`` made the module of this name."""
    return bool(_MODULE.fullmatch(name))


@contextlib.contextmanager
def sources_forgotten() -> Iterator[None]:
    """At the end of the block, forget the modules that ``case_from_source`` made in it.

    Otherwise the classes of every program stay alive for as long as the process.
    """
    before = set(sys.modules)
    try:
        yield
    finally:
        for name in set(sys.modules) - before:
            if is_of_program(name):
                linecache.cache.pop(str(sys.modules.pop(name).__file__), None)
