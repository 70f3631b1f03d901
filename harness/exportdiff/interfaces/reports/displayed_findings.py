"""The findings of a campaign, ready to be shown: what differs, how to reproduce it, what to paste."""

from __future__ import annotations

import pathlib
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from exportdiff.interfaces.reports.closing_screen import FindingGroup, groups
from exportdiff.interfaces.reports.commands import repro_command
from exportdiff.interfaces.reports.folder import Folder
from exportdiff.interfaces.reports.timeline import FindingTexts
from exportdiff.interfaces.reports.torch_comparison import result_elsewhere
from exportdiff.interfaces.wording import counted
from exportdiff.known.corpus.entry import read_entry
from exportdiff.known.upstream.bug_report import report
from exportdiff.runtime.processes.script import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exportdiff.core.finding import Finding
    from exportdiff.fuzzing.campaign.events import CampaignStarted
    from exportdiff.interfaces.reports.campaign_report import CampaignReport

FindingKind: TypeAlias = Literal["torch regression", "new", "masked", "regression"]
"""``torch regression``: another torch is right. The others are kinds of findings."""

NOTHING = FindingTexts("", "", "")


@dataclass(frozen=True)
class DisplayedFinding:
    """Findings of one signature on several paths."""

    kind: FindingKind
    key: str
    """The fingerprint of the first event of the finding that stands for them; its file has this name."""
    keys: tuple[str, ...]
    """Those of all."""
    minimal: str
    """The fingerprint after minimizing; empty: it was not minimized."""
    title: str
    message: str
    """What was expected, what was seen."""
    also: tuple[str, ...]
    """What else differs, as a consequence."""
    paths: tuple[str, ...]
    programs: int
    first: int
    """The first program."""
    command: str
    """Shows the difference."""
    source: str
    """The program."""
    repro: str
    """The text of the repro file."""
    issue: str
    """A bug report to paste; empty: plain torch does not show it."""
    fixes: tuple[str, ...]
    """The fixes that show it when they are in place."""
    remark: str
    there: str
    """How it stands on the other torch; empty: nobody has looked."""
    causes: tuple[str, ...] = ()
    """The known bugs that explain it; a regression of torch may still be one."""
    anchor: str = ""
    """Tells it from other displayed_findings of one page."""

    def __post_init__(self) -> None:
        """Fill in ``anchor``."""
        if not self.anchor:
            object.__setattr__(self, "anchor", self.key)


def displayed_findings(campaign: CampaignReport, folders: Sequence[Folder]) -> list[DisplayedFinding]:
    """Return what makes a campaign fail: regressions of torch, new and masked findings, regressions of fixes.

    Of each kind, the most harmful first (judging/checks/importance.py). A regression of torch
    may be known, or new as well.
    """
    tally = campaign.tally
    wrong = [
        FindingGroup("regression", key, shown, 1, len(shown.finding.shown_on), tally.occurrences[key])
        for key, shown in tally.of_kind("regression").items()
    ]
    found = [_card(group, campaign, folders) for group in (*groups(tally), *wrong)]
    return [*_torch_regressions(campaign, folders), *found]


def _torch_regressions(campaign: CampaignReport, folders: Sequence[Folder]) -> list[DisplayedFinding]:
    found = []
    for number, event in enumerate(campaign.tally.changed("torch regression"), 1):
        assert event.finding is not None  # this torch shows it
        finding, file = event.finding, _file(event.fingerprint, folders)
        told = campaign.timeline.told.get(event.fingerprint, NOTHING)
        repro = file.read_text(encoding="utf-8") if file.is_file() else told.repro
        card = DisplayedFinding(
            kind="torch regression",
            key=event.fingerprint,
            keys=(event.fingerprint,),
            minimal=finding.minimal,
            title=finding.title,
            message=finding.message,
            also=tuple(map(str, finding.consequences)),
            paths=(event.path,),
            programs=event.programs,
            first=event.example,
            command=repro_command(file, (), campaign.tally.corpora),
            source=told.source,
            repro=repro,
            issue=issue_text(finding, repro, told.printed, campaign.tally.started) if repro else "",
            fixes=(),
            remark="",
            there=result_elsewhere(campaign.tally, event.fingerprint),
            causes=event.causes,
            anchor=f"torch-{number}",
        )
        found.append(card)
    return found


def _card(group: FindingGroup, campaign: CampaignReport, folders: Sequence[Folder]) -> DisplayedFinding:
    tally, shown = campaign.tally, group.shown
    finding, classification = shown.finding, shown.classification
    told = campaign.timeline.told.get(group.key, NOTHING)
    file = _file(group.key, folders)
    repro = file.read_text(encoding="utf-8") if file.is_file() else told.repro
    keys = [
        key
        for key, other in tally.shown.items()
        if other.classification.kind == group.kind and other.finding.signature == finding.signature
    ]
    paths = dict.fromkeys(path for key in keys for path in tally.shown[key].finding.shown_on)
    return DisplayedFinding(
        kind=group.kind,
        key=group.key,
        keys=tuple(keys),
        minimal=finding.minimal,
        title=finding.title,
        message=finding.message,
        also=tuple(map(str, finding.consequences)),
        paths=tuple(dict.fromkeys(map(str, (finding.path, *paths)))),
        programs=group.programs,
        first=shown.first_example,
        command=repro_command(file, classification.fixes, tally.corpora),
        source=told.source,
        repro=repro,
        issue=issue_text(finding, repro, told.printed, campaign.tally.started)
        if not classification.fixes and repro
        else "",
        fixes=classification.fixes,
        remark=shown.remark,
        there=result_elsewhere(tally, group.key),
    )


def _file(key: str, folders: Sequence[Folder]) -> pathlib.Path:
    """Return the repro file of a finding: in the folder that has it."""
    files = [folder.repro(key) for folder in folders]
    return next((file for file in files if file.is_file()), files[0])


def issue_text(finding: Finding, repro: str, printed: str, started: CampaignStarted | None) -> str:
    """Return a bug report in PyTorch's form, with what the file printed in the campaign. Runs nothing."""
    with tempfile.TemporaryDirectory(prefix="exportdiff-") as folder:
        file = pathlib.Path(folder, "repro.py")
        file.write_text(repro, encoding="utf-8")
        shown = Run(1, printed or "(not recorded)")
        return report(read_entry(file), shown, versions(started), finding=finding)


def versions(started: CampaignStarted | None) -> str:
    """Return what is known of the machine that a campaign ran on."""
    if started is None:
        return ""
    where = started.environment
    lines = [f"PyTorch version: {started.torch}", f"Python version: {started.python}"]
    if where is not None:
        lines += [f"Platform: {where.platform}", counted(where.processors, "processor")]
    return "\n".join(lines)
