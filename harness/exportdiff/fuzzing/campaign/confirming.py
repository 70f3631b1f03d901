"""Confirms the new findings of a campaign: a fresh process runs the repro file, which must show the bug."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from exportdiff.fuzzing.campaign import events
from exportdiff.fuzzing.campaign.own_errors import harness_error
from exportdiff.fuzzing.campaign.triage import FindingPrograms, Witness, by_importance
from exportdiff.known.corpus.needed_fixes import fixes_named
from exportdiff.repro import NeededFixes, repro_source
from exportdiff.repro.confirm import Confirmation
from exportdiff.runtime.patching.fixes import applied
from exportdiff.runtime.processes.child import Stopped

if TYPE_CHECKING:
    from threading import Event

    from exportdiff.fuzzing.campaign.clock import Clock
    from exportdiff.known.attribution.classification import Classification

Confirm = Callable[..., Confirmation]
"""Runs the text of a repro file in a fresh process; ``within`` installs the fixes that it needs."""


class Confirmer:
    """The fingerprints that a campaign has found, and the program that represents each."""

    def __init__(self, confirm: Confirm, clock: Clock, corpora: pathlib.Path | None = None) -> None:
        """Start without findings. ``corpora``: the corpus with the fixes that some findings need."""
        self._corpora = corpora
        self._confirm = confirm
        self._clock = clock
        self._found: dict[str, FindingPrograms] = {}

    @property
    def confirmed(self) -> list[Witness]:
        """The program of every confirmed fingerprint, the most important first."""
        return by_importance(self._found.values())

    def add(self, witness: Witness) -> Iterator[events.Event]:
        """Remember a program that shows a finding; confirm it if its fingerprint has no confirmed program."""
        programs = self._found.setdefault(witness.finding.fingerprint, FindingPrograms())
        programs.add(witness)
        if programs.wants_confirming:
            yield from self._try(programs, witness)

    def confirm_smaller(self, stop: Event) -> Iterator[events.Event]:
        """For each fingerprint, show its smallest program that a fresh process confirms. Raises Stopped."""
        for _, programs in sorted(self._found.items()):
            for witness in programs.better:
                if stop.is_set():
                    raise Stopped
                before = programs.shown
                yield from self._try(programs, witness)
                if programs.shown is not before:
                    break

    def _try(self, programs: FindingPrograms, witness: Witness) -> Iterator[events.Event]:
        """Run the repro file of a program in a fresh process; show the program if the file shows the bug."""
        programs.attempts += 1
        finding, example, source = witness.finding, witness.example, witness.source
        try:
            repro = repro_source(finding, source, needs(witness.classification))
            answer = with_fixes(self._confirm, witness.classification, self._corpora)(repro)
        except Exception as error:
            yield harness_error(self._clock.now(), example, error)
            return
        if not answer.confirmed:
            if programs.shown is None:
                yield events.FindingUnconfirmed(
                    self._clock.now(), finding, example, answer.reason, witness.classification
                )
            return
        shown = events.FindingFound if programs.shown is None else events.FindingShrunk
        yield shown(self._clock.now(), finding, example, source, repro, witness.classification, answer.reason)
        programs.shown = witness


def with_fixes(
    confirm: Confirm, classification: Classification, corpora: pathlib.Path | None
) -> Callable[[str], Confirmation]:
    """Return ``confirm`` that runs with the fixes of a finding installed. Raises UsageError."""
    if not classification.fixes or corpora is None:
        return confirm
    return partial(confirm, within=partial(applied, fixes_named(classification.fixes, corpora)))


def needs(classification: Classification) -> NeededFixes | None:
    """Return the fixes that a repro file must name; None: plain torch shows the bug."""
    if not classification.fixes:
        return None
    return NeededFixes(
        classification.fixes, "unmasked-by" if classification.kind == "masked" else "caused-by"
    )
