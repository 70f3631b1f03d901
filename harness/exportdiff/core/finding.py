"""Findings and their evidence: plain data, from which signature and message are derived."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable

    from exportdiff.core.first_difference import FirstDifference
    from exportdiff.core.path import Path

Kind = Literal["mismatch", "crash", "hang", "abort"]
Stage = Literal["export", "lower", "run"]

Draws = Literal["build", "calls"]
"""What draws random numbers: making the model and its inputs, or calling the model."""
DRAWS: tuple[Draws, ...] = get_args(Draws)

MESSAGE_LINES = 10


class Relation(Enum):
    """How a difference relates to other differences of the same path; see judging/causes.py."""

    INDEPENDENT = "it is always a separate finding"
    SPOILS_START = "the same, and with it the state before the first call must differ"
    SPOILS_CALLS = "the same, and with it the calls must differ"
    SPOILS_VALUES = "the same, and with it the values in the calls must differ"
    MISSING_STATE = "it is a separate finding, unless the path raises: then it may be the reason"
    IN_CALL = "the earliest difference of this kind is the cause of the later ones"
    IN_CALL_WEAK = "the same, but other differences of the same call say more"
    POSSIBLE_CAUSE = "it needs no call, and may be the reason for a difference in a call"


class Evidence(ABC):
    """What a check saw. Each check defines one frozen dataclass per sort of difference.

    The fields are plain data that can be pickled and hashed: names, expected, seen, an exception.
    """

    kind: Kind
    stage: Stage
    call: int | None
    """The number of the call that shows it; None: no call is needed."""
    relation: Relation

    @abstractmethod
    def words(self) -> tuple[str, ...]:
        """Return the check's part of the signature: stable words; no values, indices, line numbers."""

    @abstractmethod
    def lines(self) -> Iterable[str]:
        """Return the message: first what differs and where, in one line, then the details."""

    @property
    def aspect(self) -> str:
        """The property of a tensor that differs, such as ``value`` or ``stride``; else empty."""
        return ""

    @property
    def inside(self) -> bool:
        """Whether it cannot cause differences in results, although its check compares results."""
        return False

    @property
    def in_deviating_call(self) -> bool:
        """Whether a deviation shows it."""
        return False

    @property
    def headline(self) -> str:
        """The first line of the message."""
        return "\n".join(self.lines()).partition("\n")[0]

    @property
    def title(self) -> str:
        """The difference in one line, for lists of findings."""
        return self.headline


@dataclass(frozen=True)
class Consequence:
    """A difference that follows from a finding, or has the same signature."""

    check: str
    evidence: Evidence

    def __str__(self) -> str:
        """Return one line for people."""
        return f"{self.check}: {self.evidence.headline}"


@dataclass(frozen=True)
class ShownOn:
    """What one path shows of a finding."""

    path: Path
    evidence: Evidence
    consequences: tuple[Consequence, ...] = ()


@dataclass(frozen=True)
class Finding:
    """One difference between eager and another path, with all that has the same cause."""

    path: Path
    """The first path that shows it."""
    check: str
    evidence: Evidence
    probe: bool = False
    """Whether it shows only in a probe: a call with other sizes than the example."""
    shown_on: tuple[Path, ...] = ()
    """All paths that show it, ``path`` first. May be left out if ``path`` is the only one."""
    others: tuple[ShownOn, ...] = ()
    """What the paths show that do not show exactly the same as ``path``: numbers, or other consequences."""
    consequences: tuple[Consequence, ...] = ()
    minimal: str = ""
    """The fingerprint of the minimized program (see core/program_text/canonical.py); empty: not minimized."""
    draws: frozenset[Draws] = field(default=frozenset(DRAWS), compare=False)
    """Where the program draws random numbers, or may do so."""
    first_difference: FirstDifference | None = field(default=None, compare=False)
    """Where the path first differs from eager; None: it was not searched."""

    def __post_init__(self) -> None:
        """Fill in ``shown_on``."""
        if not self.shown_on:
            object.__setattr__(self, "shown_on", (self.path,))

    def on(self, path: Path) -> ShownOn:
        """Return what one of the paths shows."""
        own = ShownOn(path, self.evidence, self.consequences)
        return next((each for each in self.others if each.path == path), own)

    def showing(self, shown: Iterable[ShownOn]) -> Finding:
        """Return the finding with other paths, and with what each of them shows."""
        first, *rest = shown
        unlike = (each for each in rest if each != replace(first, path=each.path))
        return replace(
            self,
            path=first.path,
            evidence=first.evidence,
            consequences=first.consequences,
            shown_on=(first.path, *(each.path for each in rest)),
            others=tuple(unlike),
        )

    @property
    def kind(self) -> Kind:
        """``mismatch``, ``crash``, ``hang`` or ``abort``."""
        return self.evidence.kind

    @property
    def stage(self) -> Stage:
        """The stage that shows it."""
        return self.evidence.stage

    @property
    def call(self) -> int | None:
        """The number of the call that shows it; None: no call is needed."""
        return self.evidence.call

    @property
    def mode(self) -> str:
        """The mode of the path."""
        return self.path.mode

    @property
    def transforms(self) -> tuple[str, ...]:
        """The transforms of the path."""
        return self.path.transforms

    @property
    def runner(self) -> str:
        """The runner of the path."""
        return self.path.runner

    @property
    def device(self) -> str:
        """The device of the path."""
        return self.path.device

    @property
    def signature(self) -> tuple[str, ...]:
        """Stable words that separate one cause from another; no values, indices, line numbers."""
        # A finding that shows only in probes has another cause.
        return (self.check, self.kind, *self.evidence.words(), *(("probe",) if self.probe else ()))

    def matches(self, start: tuple[str, ...]) -> bool:
        """Whether the signature begins with these words."""
        return starts_with(self.signature, start)

    @property
    def message(self) -> str:
        """At most ten lines: what was expected, what was seen, where, by how much."""
        text = "\n".join(filter(None, self.evidence.lines()))
        found = self.first_difference
        place = [] if found is None else list(found.lines())
        lines = [*text.splitlines()[: MESSAGE_LINES - self.probe - len(place)], *place]
        if self.probe:
            lines.append(f"call {self.call} is a probe: its sizes are not those of the example")
        return "\n".join(lines)

    @property
    def title(self) -> str:
        """``outputs mismatch: call 0: output differs in value``: the finding in one line."""
        stage = f" in {self.stage}" if self.kind == "crash" else ""
        return f"{self.check} {self.kind}{stage}: {self.evidence.title}"

    @property
    def also(self) -> tuple[str, ...]:
        """One line about each consequence and each further path."""
        return (*map(str, self.consequences), *map(str, self.shown_on[1:]))

    @property
    def fingerprint(self) -> str:
        """Short id of the cause; before minimization, of signature and path without the device."""
        if self.minimal:
            return self.minimal
        cause = json.dumps([self.signature, self.mode, self.transforms, self.runner])
        return hashlib.sha256(cause.encode()).hexdigest()[:10]

    def as_dict(self) -> dict[str, Any]:
        """Return the finding ready for JSON."""
        return {
            "fingerprint": self.fingerprint,
            "path": str(self.path),
            "mode": self.mode,
            "transforms": list(self.transforms),
            "runner": self.runner,
            "device": self.device,
            "check": self.check,
            "kind": self.kind,
            "stage": self.stage,
            "signature": list(self.signature),
            "title": self.evidence.title,
            "message": self.message,
            "call": self.call,
            "also": list(self.also),
            "minimal": self.minimal,
            "evidence": type(self.evidence).__name__,
            "shown_on": list(map(str, self.shown_on)),
            "consequences": list(map(str, self.consequences)),
        }


def starts_with(signature: tuple[str, ...], start: tuple[str, ...]) -> bool:
    """Whether a signature begins with these words."""
    return signature[: len(start)] == start
