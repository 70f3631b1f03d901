"""The paths of one model on a console: a row for each, or few lines for many paths that agree."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from rich.text import Text

from exportdiff.interfaces.checking.check_steps import Confirming, Explaining, NotesRead, PathDone
from exportdiff.interfaces.reports.text import TEXT_WIDTH, print_lines
from exportdiff.interfaces.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.status import Status

    from exportdiff.core.path import Path
    from exportdiff.interfaces.checking.check_steps import CheckStep
    from exportdiff.judging.results import Outcome, PathResult

ROWS = 10
"""Up to so many paths have a row each. Of more paths, those that agree share a few lines below the rows."""

STYLES: dict[Outcome, str] = {
    "agrees": "green",
    "differs": "bold red",
    "refused": "yellow",
    "not judged": "yellow",
}


class PathRows:
    """Prints the paths when they are judged. Use it as a context manager, or call ``finish``."""

    def __init__(self, console: Console, paths: Sequence[Path]) -> None:
        """``paths``: all paths that will be judged."""
        self._console = console
        self._with_device = len({path.device for path in paths}) > 1
        self._width = max((len(self._name(path)) for path in paths), default=0)
        self._left = len(paths)
        self._grouped = len(paths) > ROWS
        self._agreeing: defaultdict[str, list[Path]] = defaultdict(list)
        """The paths that wait for ``finish``, by the text next to their outcome."""
        self._excused: defaultdict[str, list[Path]] = defaultdict(list)
        """The paths that differ, and on which a documented limit excused something else; by that limit."""
        self._status: Status | None = None

    def __enter__(self) -> PathRows:
        """On a terminal, show what is being done."""
        if self._console.is_terminal:
            self._status = self._console.status(f"judging {self._left} paths", spinner="line")
            self._status.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Print what is left, and remove the last line."""
        self.finish()
        if self._status is not None:
            self._status.stop()

    def on_step(self, step: CheckStep) -> None:
        """Print a judged path, and show what is being done next."""
        if isinstance(step, PathDone):
            self._left -= 1
            self.add(step.result)
            if self._left:
                self._say(f"judging {self._left} more paths")
            return
        if isinstance(step, NotesRead):
            return
        self.finish()
        if isinstance(step, Confirming):
            self._say("judging the differences again in another process")
        elif isinstance(step, Explaining):
            self._say("looking for known bugs")

    def add(self, result: PathResult) -> None:
        """Print the row of a path; keep it for ``finish`` if it agrees and there are many."""
        if result.outcome == "differs":
            for limit in result.excused:
                self._excused[limit].append(result.path)
        if result.outcome == "agrees" and self._grouped:
            self._agreeing[_note(result)].append(result.path)
        else:
            self._row(result)

    def finish(self) -> None:
        """Print the paths that wait."""
        for note, paths in self._agreeing.items():
            remark = f", {note}" if note else ""
            verb = "agrees" if len(paths) == 1 else "agree"
            self._lines(f"{counted(len(paths), 'path')} {verb} with eager{remark}: {self._names(paths)}")
        for limit, paths in self._excused.items():
            self._lines(f"documented, and not counted: {limit} on {self._few(paths)}")
        self._agreeing.clear()
        self._excused.clear()

    def _row(self, result: PathResult) -> None:
        """Print one row; a text that does not fit follows in the next lines."""
        note = _note(result)
        styled = f"{result.outcome:<10}", STYLES[result.outcome]
        row = Text.assemble(f"{self._name(result.path):<{self._width}}  ", styled, "  ", note)
        row.rstrip()
        fits = len(row) <= TEXT_WIDTH
        if not fits:
            row.right_crop(len(note))
            row.rstrip()
        self._console.print(row, soft_wrap=True, highlight=False)
        if not fits:
            self._lines(f"    {note}")

    def _lines(self, text: str) -> None:
        print_lines(self._console, [text])

    def _names(self, paths: Sequence[Path]) -> str:
        return ", ".join(map(self._name, paths))

    def _few(self, paths: Sequence[Path]) -> str:
        return self._names(paths) if len(paths) <= 3 else counted(len(paths), "path")

    def _name(self, path: Path) -> str:
        return str(path) if self._with_device else path.without_device

    def _say(self, text: str) -> None:
        if self._status is not None:
            self._status.update(text)


def _note(result: PathResult) -> str:
    """Return the text next to the outcome of a path: the name of a refusal, or what was excused."""
    if result.outcome in ("refused", "not judged"):
        return result.reason  # what torch said follows once, after all rows
    if result.outcome == "differs":
        return ""  # the findings follow
    notes = [f"{name} (documented)" for name in result.excused]
    if result.first_call_because:
        notes.append("first call only")
    return ", ".join(notes)
