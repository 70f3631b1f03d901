"""The parts of a repro file that depend on the check: what each writer returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding
    from exportdiff.repro.paste import Template


class NoReproError(ValueError):
    """No writer can show this finding in a file."""


@dataclass(frozen=True)
class Deviating:
    """How a call deviates from the example. All empty: the function ``other`` alters an argument."""

    around: str = ""
    """A context manager to make the call under."""
    first: str = ""
    """A call of a method of ``model`` that comes first."""
    attribute: str = ""
    """An attribute of the model to assign."""
    value: str = ""
    """What to assign."""


@dataclass(frozen=True)
class ScriptParts:
    """Functions and statements that show one finding."""

    functions: list[Template]
    """Functions that the script calls."""
    script: list[Template]
    """Templates of statements, to be run one after the other. They print one line and exit with 0 or 1."""
    call: int = 0
    """The last call that the script makes, counted from 0."""
    calls_probes: bool = False
    """Whether the script makes the calls of all probes that the program has."""
    observes: tuple[str, ...] = ("out", "given", "module")
    """Which of these arguments ``observe`` takes."""
    of_program: bool = False
    """Whether the program itself is compared, so that its transforms come right after the export."""
    exports: bool = True
    """Whether the script exports, on paths that need no export (``compile`` and ``pipeline``)."""
    deviating: Deviating | None = None
    """How the calls in ``with altered(...)`` deviate."""


def last_call(finding: Finding) -> int:
    """Return the number of the call in which a finding shows, as its file counts calls."""
    call = finding.call or 0
    # A model that is compiled gets its first call twice (runtime/paths/run/compiled.py).
    return call - (finding.mode == "compile" and call > 1)


Writer = Callable[["Finding"], "ScriptParts | None"]
"""Return the parts for a finding of the writer's check, or None for one that it cannot show.

Raises NoReproError if it knows that no script can show it.
"""
