"""Prints the findings of one model while it is judged: each when it is confirmed, then its explanation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from exportdiff.interfaces.checking.accepting import marked
from exportdiff.interfaces.checking.check_steps import FindingConfirmed, FindingExplained, NotesRead
from exportdiff.interfaces.reports.known_bug_lines import KnownBugLines
from exportdiff.interfaces.reports.model_report import HEADINGS, print_found
from exportdiff.interfaces.reports.path_rows import PathRows
from exportdiff.interfaces.reports.text import wrapped

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Sequence

    from rich.console import Console

    from exportdiff.core.model_identity import ModelIdentity
    from exportdiff.core.path import Path
    from exportdiff.interfaces.checking.baseline import Baseline
    from exportdiff.interfaces.checking.check_steps import CheckStep
    from exportdiff.interfaces.checking.found import Found

NOTES = {"new": "new: no entry of the corpus explains it", "not explained": "not explained"}
"""What is printed about a finding without causes."""


class CheckProgress(PathRows):
    """Prints rows and findings when they are there. Use it as a context manager."""

    def __init__(
        self,
        console: Console,
        paths: Sequence[Path],
        model: str,
        corpora: pathlib.Path | None,
        baseline: Baseline,
        options: Sequence[str] = (),
    ) -> None:
        """Print to ``console``. Findings that the baseline accepts are left out.

        ``options``: those of a command that shows a finding again.
        """
        super().__init__(console, paths)
        self._model = model
        self._bugs = KnownBugLines(corpora)
        self._baseline = baseline
        self._options = options
        self.printed: set[str] = set()
        """The fingerprints of the findings that are on the console, or that the baseline accepts."""

    def on_step(self, step: CheckStep) -> None:
        """Print what a step brings."""
        super().on_step(step)
        if isinstance(step, NotesRead):
            for note in step.notes:
                self._line(wrapped(note))
        elif isinstance(step, FindingConfirmed):
            self._confirmed(step.found, step.model)
        elif isinstance(step, FindingExplained):
            self._explained(step)

    def _confirmed(self, found: Found, model: ModelIdentity | None) -> None:
        # The baseline must not compare the known bugs yet.
        for each in marked((replace(found, searched=False),), self._baseline.of(model)):
            if not each.accepted:
                self._console.print(f"\n{HEADINGS[each.meaning]}", style="bold", highlight=False)
                print_found(each, self._model, self._console, self._options)
        self.printed.add(found.finding.fingerprint)

    def _explained(self, step: FindingExplained) -> None:
        self.printed |= {each.finding.fingerprint for each in step.parts}
        parts = [each for each in marked(step.parts, self._baseline.of(step.model)) if not each.accepted]
        if not parts:
            return
        for part in parts:
            self._line("")
            self._line(wrapped(_title_of(step.found, part, all_paths=len(parts) == 1)))
            self._answer(part)

    def _answer(self, part: Found) -> None:
        """Print the known bugs of a finding, or why none is known."""
        for line in self._bugs.of(part):
            self._line(line)
        if part.not_accepted_because:
            self._line(wrapped(f"not accepted: {part.not_accepted_because}"))
        remark = f": {part.remark}" if part.remark else ""
        if not part.causes:
            self._line(wrapped(f"{NOTES[part.explanation]}{remark}"))
        elif part.remark:
            self._line(wrapped(f"remark{remark}"))

    def _line(self, text: str) -> None:
        self._console.print(text, soft_wrap=True, highlight=False, markup=False)


def _title_of(found: Found, part: Found, *, all_paths: bool) -> str:
    """Return which finding is explained, where it starts, and if only some paths are meant, which."""
    place = part.finding.first_difference
    where = f" ({place.short})" if place is not None and place.short else ""
    on = "" if all_paths else f" on {', '.join(path.without_device for path in part.finding.shown_on)}"
    harmless = ", harmless here" if part.meaning == "harmless" else ""
    return f"{found.finding.fingerprint}{where}{on}{harmless}:"
