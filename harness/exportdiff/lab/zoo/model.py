"""A model of the zoo: a name, and how to build it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from exportdiff.core.case import Case, case_from_source
from exportdiff.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable


NoModelReason: TypeAlias = Literal["raises in eager", "computes nothing", "is no forward"]
"""Why an example is no model. ``computes nothing``: it makes modules or tensors, and calls nothing with them.
``is no forward``: its statements run, but not as the body of a forward."""


class NoModel(UsageError):  # noqa: N818 - the name says what is missing
    """An example is no model."""

    def __init__(self, reason: NoModelReason, text: str) -> None:
        """``text``: for people."""
        super().__init__(f"{reason}: {text}" if text else reason)
        self.reason = reason


@dataclass(frozen=True)
class ZooModel:
    """One real model, small and with random weights."""

    name: str
    """``SOURCE/MODEL``, as the table shows it."""
    source: str
    """One line for people: what is built."""
    make: Callable[[], object] = lambda: None
    """Returns ``(model, args)`` or ``(model, args, kwargs)``, with a fresh model."""
    dynamic_shapes: Callable[[], object] | None = None
    """As in Case."""
    probes: Callable[[], object] | None = None
    """As in Case."""
    program: Callable[[], str] | None = None
    """Returns a program that defines all this, for a model that exists as text."""

    def case(self) -> Case:
        """Return what the harness judges."""
        if self.program is not None:
            case = case_from_source(self.program(), self.name, finite_only=False)
            return replace(case, may_ask=True)
        return Case(self.name, self.source, self.make, self.dynamic_shapes, self.probes, may_ask=True)
