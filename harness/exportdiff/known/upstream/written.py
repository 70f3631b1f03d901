"""The folder that ``exportdiff upstream`` writes: commits in two tiers, and tests of the open bugs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError
from exportdiff.known.upstream.commit import mail
from exportdiff.known.upstream.expected_failures import expected_failures
from exportdiff.known.upstream.patch_series import LeftOut, reasons_against
from exportdiff.runtime.patching.fix import FixError

if TYPE_CHECKING:
    import pathlib

    from exportdiff.known.corpus.entry import Entry
    from exportdiff.known.upstream.patch_series import MendedCause, Series
    from exportdiff.known.upstream.plain_program import PlainProgram

SECOND = "second-tier"
"""The folder of the commits that cannot be proposed as they are."""

REASONS = "second-tier.md"
"""The file with the reason for each root cause that is not in the first tier."""

FAILURES = "test_exportdiff.py"
"""The file with a test for each open bug."""


@dataclass
class Written:
    """Writes the commits into a folder."""

    folder: pathlib.Path
    author: str
    """``NAME <MAIL>``."""
    date: str
    series: Series
    first: dict[str, str] = field(default_factory=dict)
    """The first tier: the name of each fix, with that of its entry."""
    reasons: list[str] = field(default_factory=list)
    programs: list[tuple[Entry, PlainProgram]] = field(default_factory=list)
    """The programs that show their bug on this torch."""

    def add(self, one: MendedCause | LeftOut) -> str:
        """Write the commit of a root cause, if there is one; return a line about it."""
        if one.program is not None:
            self.programs.append((one.entry, one.program))
        if isinstance(one, LeftOut):
            return self._leave_out(one.entry, one.reason)
        if one.fix.name in self.first:
            return self._leave_out(one.entry, f"the commit of {self.first[one.fix.name]} has its fix")
        try:
            commit = self.series.commit(one)
        except FixError as error:
            return self._leave_out(one.entry, str(error))
        (self.folder / SECOND).mkdir(parents=True, exist_ok=True)
        text = mail(commit, self.author, self.date)
        if against := "; ".join(reasons_against(one, commit)):
            (self.folder / SECOND / f"{commit.name}.patch").write_bytes(text)
            self.reasons.append(f"- [`{commit.name}`]({SECOND}/{commit.name}.patch): {against}")
            return f"second    {commit.name}: {against}"
        self.first[one.fix.name] = commit.name
        (self.folder / f"{len(self.first):04d}-{commit.name}.patch").write_bytes(text)
        return f"{len(self.first):04d}      {commit.name}  {commit.title}"

    def finish(self) -> str:
        """Write the reasons and the tests of the open bugs; return the last line to print."""
        if not self.programs:
            raise UsageError("no root cause of the corpus shows its bug on this torch")
        self.folder.mkdir(parents=True, exist_ok=True)
        text = ["# Not in the first tier", "", *sorted(self.reasons)]
        (self.folder / REASONS).write_text("\n".join(text) + "\n", encoding="utf-8")
        (self.folder / FAILURES).write_text(expected_failures(self.programs), encoding="utf-8")
        tests = f"{len(self.programs)} tests of open bugs in {self.folder / FAILURES}"
        return f"{len(self.first)} commits of the first tier; {tests}"

    def _leave_out(self, entry: Entry, reason: str) -> str:
        self.reasons.append(f"- `{entry.name}`: {reason}")
        return f"left out  {entry.name}: {reason}"
