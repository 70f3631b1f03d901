"""Confirms the new findings of a campaign: the repro file of a program has to show the bug when it is run."""

from __future__ import annotations

import pathlib
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from exportdiff.fuzzing.campaign import events
from exportdiff.fuzzing.campaign.own_errors import place_of
from exportdiff.fuzzing.campaign.triage import FindingPrograms, Witness, by_importance
from exportdiff.known.corpus.needed_fixes import fixes_named
from exportdiff.repro import Needs, repro_source
from exportdiff.repro.confirm import Confirmation
from exportdiff.runtime.patching.fixes import applied
from exportdiff.runtime.processes.child import Stopped

if TYPE_CHECKING:
    from threading import Event

    from exportdiff.fuzzing.campaign.clock import Clock
    from exportdiff.known.attribution.classification import Classification

Confirm = Callable[..., Confirmation]
"""Runs the text of a repro file in a fresh process; ``within`` holds the fixes that it needs."""


class Confirmer:
    """The causes that a campaign has found, and the program that stands for each."""

    def __init__(self, confirm: Confirm, clock: Clock, corpora: pathlib.Path | None = None) -> None:
        """No cause is known yet. ``corpora``: the corpus with the fixes that some findings need."""
        self._corpora = corpora
        self._confirm = confirm
        self._clock = clock
        self._causes: dict[str, FindingPrograms] = {}

    @property
    def confirmed(self) -> list[Witness]:
        """The program of every confirmed cause, the most important first."""
        return by_importance(self._causes.values())

    def add(self, witness: Witness) -> Iterator[events.Event]:
        """Remember a program that shows a finding; confirm it if its cause has no confirmed program yet."""
        cause = self._causes.setdefault(witness.finding.fingerprint, FindingPrograms())
        cause.add(witness)
        if cause.wants_confirming:
            yield from self._try(cause, witness)

    def shrink(self, stop: Event) -> Iterator[events.Event]:
        """For each cause, show the smallest of its programs that confirms. Raises Stopped."""
        for _, cause in sorted(self._causes.items()):
            for witness in cause.better:
                if stop.is_set():
                    raise Stopped
                before = cause.shown
                yield from self._try(cause, witness)
                if cause.shown is not before:
                    break

    def _try(self, cause: FindingPrograms, witness: Witness) -> Iterator[events.Event]:
        """Run the repro file of a program in a fresh process; show the program if the file shows the bug."""
        cause.attempts += 1
        finding, example, source = witness.finding, witness.example, witness.source
        try:
            repro = repro_source(finding, source, needs(witness.classification))
            answer = with_fixes(self._confirm, witness.classification, self._corpora)(repro)
        except Exception as error:
            yield events.HarnessError(self._clock.now(), example, traceback.format_exc(), place_of(error))
            return
        if not answer.confirmed:
            if cause.shown is None:
                yield events.FindingUnconfirmed(
                    self._clock.now(), finding, example, answer.reason, witness.classification
                )
            return
        shown = events.FindingFound if cause.shown is None else events.FindingShrunk
        yield shown(self._clock.now(), finding, example, source, repro, witness.classification, answer.reason)
        cause.shown = witness


def with_fixes(
    confirm: Confirm, classification: Classification, corpora: pathlib.Path | None
) -> Callable[[str], Confirmation]:
    """Return ``confirm`` with the fixes of the corpus in place that show the finding. Raises UsageError."""
    if not classification.fixes or corpora is None:
        return confirm
    return partial(confirm, within=partial(applied, fixes_named(classification.fixes, corpora)))


def needs(classification: Classification) -> Needs | None:
    """Return the fixes that a repro file has to name; None: it shows its bug on plain torch."""
    if not classification.fixes:
        return None
    return Needs(classification.fixes, "unmasked-by" if classification.kind == "masked" else "caused-by")
