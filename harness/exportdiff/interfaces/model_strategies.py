"""``exportdiff.strategies``, for users: Hypothesis strategies for random models.

They are for tests of what works on models or exported programs: a compiler pass, a backend, a serializer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from exportdiff.core.programs import (
    DEFAULT_PROFILE,
    drawn_programs,
    profile_names,
    source_of,
    switch_names,
    tag_names,
    tags_in,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hypothesis.strategies import SearchStrategy
    from torch import nn

    from exportdiff.core.case import Case
    from exportdiff.core.programs import Program

__all__ = [
    "IN_PLACE",
    "RANDOM",
    "DrawnModel",
    "models",
    "profile_names",
    "programs",
    "switch_names",
    "tag_names",
]

IN_PLACE = (
    "inplace.*",
    "op.inplace.*",
    "update.*",
    "flow.*",
    "calls.no_result",
    "hierarchy.hook",
    "region.written",
    "state.own",
    *("idiom.cast", "idiom.max_norm", "idiom.python_state", "idiom.updated_twice"),
)
"""Patterns for ``forbid``: models whose forward changes nothing in place, neither tensors nor attributes.
What ``nn`` layers do by themselves stays, such as the running statistics of a batch norm in training."""

RANDOM = ("op.random", "op.seeded", "op.inplace.random", "model.training", "idiom.seed")
"""Patterns for ``forbid``: models that draw no random numbers, so that two runs give the same."""


def models(
    *, profile: str = DEFAULT_PROFILE, allow: Iterable[str] | None = None, forbid: Iterable[str] = ()
) -> SearchStrategy[DrawnModel]:
    """Draw models that run in eager: hierarchies, state, branches, in-place operations, dynamic shapes.

    - ``profile``: what is drawn more often, one of ``profile_names()``. ``"core"`` is the plainest;
      ``"dynamic"`` draws dynamic shapes in nearly every model.
    - ``allow``: patterns such as ``"control.*"`` for the switches that may be on, in place of a profile; each
      is on in three of four models. ``()`` leaves a single class that computes with its input.
    - ``forbid``: patterns for the switches that are off in any case, such as ``["region.*"]``; ``IN_PLACE``
      has those for models that change nothing in place.

    ``switch_names()`` lists the switches. Examples shrink towards one module that returns ``x + 1`` for a
    2 x 2 tensor of float32: each switch shrinks to off, and each choice to the first and simplest one. The
    fewer switches may be on, the smaller is the example at the end.

    Raises hypothesis.errors.InvalidArgument for an unknown profile, and for a pattern that fits no switch.
    """
    return programs(profile=profile, allow=allow, forbid=forbid).map(_drawn)


def programs(
    *, profile: str = DEFAULT_PROFILE, allow: Iterable[str] | None = None, forbid: Iterable[str] = ()
) -> SearchStrategy[Program]:
    """Draw Programs: the descriptions that ``models`` renders, as plain data without torch.

    Arguments, shrinking and errors are those of ``models``.
    """
    from hypothesis.errors import InvalidArgument

    if profile not in profile_names():
        raise InvalidArgument(f"{profile=}: there is no such profile; there are {', '.join(profile_names())}")
    if allow is not None and profile != DEFAULT_PROFILE:
        raise InvalidArgument(f"{profile=} and allow: give one of them")
    allowed = None if allow is None else _switches("allow", allow)
    forbidden = _switches("forbid", forbid)
    if allowed is not None:
        allowed -= forbidden
    return drawn_programs(profile, allowed, forbidden)


def _switches(argument: str, patterns: Iterable[str]) -> frozenset[str]:
    """Return the switches that match a pattern. Raises InvalidArgument for a pattern that fits none."""
    from hypothesis.errors import InvalidArgument

    if isinstance(patterns, str):
        raise InvalidArgument(f"{argument}={patterns!r}: give a list of patterns, such as [{patterns!r}]")
    found: set[str] = set()
    for pattern in patterns:
        matching = [name for name in switch_names() if fnmatchcase(name, pattern)]
        if not matching:
            raise InvalidArgument(
                f"{argument}: no switch matches {pattern!r}; exportdiff.strategies.switch_names() lists them"
            )
        found.update(matching)
    return frozenset(found)


class _Printer(Protocol):
    """Hypothesis's pretty printer."""

    def text(self, obj: str) -> None:
        """Print text as it is."""


@dataclass(frozen=True, repr=False)
class DrawnModel:
    """A model as source text; ``DrawnModel(source)`` makes one by hand, for ``@example`` or ``st.just``."""

    source: str
    """A module that defines ``make()``, and ``dynamic_shapes()`` and ``probes()`` where sizes are dynamic."""
    program: Program | None = field(default=None, compare=False)
    """What the source was rendered from; None: it was written by hand."""

    @cached_property
    def tags(self) -> frozenset[str]:
        """What the model contains, of ``tag_names()``; empty for one that was written by hand."""
        return frozenset() if self.program is None else tags_in(self.program)

    @cached_property
    def case(self) -> Case:
        """The model as exportdiff runs it. Raises what the source raises, and KeyError without ``make``."""
        from exportdiff.core.case import case_from_source

        return case_from_source(self.source)

    def build(self) -> tuple[nn.Module, tuple[Any, ...], dict[str, Any]]:
        """Return a fresh model, its arguments and keyword arguments: the same values each time."""
        built = self.case.build()
        return built.model, built.args, built.kwargs

    @property
    def dynamic_shapes(self) -> object:
        """A fresh value for ``torch.export.export(..., dynamic_shapes=...)``; None: all sizes are fixed."""
        return self.case.shapes()

    @property
    def probes(self) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
        """Further ``(args, kwargs)``, fresh ones, with other sizes; empty if all sizes are fixed."""
        return [(probe.args, probe.kwargs) for probe in self.case.build().probes]

    def __repr__(self) -> str:
        """Return an expression that makes this model again."""
        return f"exportdiff.strategies.DrawnModel({_literal(self.source)})"

    def _repr_pretty_(self, printer: _Printer, cycle: bool) -> None:
        """Print for Hypothesis, which would indent the lines of the source, and so change them."""
        printer.text(repr(self))


def _drawn(program: Program) -> DrawnModel:
    return DrawnModel(source_of(program), program)


def _literal(text: str) -> str:
    """Return a literal of several lines for a text, where there is one that is easy to read."""
    raw = "r" if "\\" in text else ""
    quotes = next((each for each in ('"""', "'''") if each not in text), "")
    if not quotes or not text.endswith("\n") or "\r" in text:
        return repr(text)
    return f"{raw}{quotes}{text}{quotes}"
