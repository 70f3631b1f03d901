"""The findings that make a campaign fail, with what all reports show about them."""

from __future__ import annotations

import pathlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from exportdiff.interfaces.reports.commands import repro_command
from exportdiff.interfaces.reports.timeline import FindingTexts
from exportdiff.interfaces.reports.torch_comparison import result_elsewhere
from exportdiff.interfaces.wording import counted
from exportdiff.judging.checks.importance import harmlessness
from exportdiff.known.corpus.entry import read_entry
from exportdiff.known.upstream.bug_report import report
from exportdiff.runtime.processes import scratch
from exportdiff.runtime.processes.script import Run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exportdiff.core.finding import Finding
    from exportdiff.fuzzing.campaign.events import CampaignStarted
    from exportdiff.interfaces.reports.campaign_report import CampaignReport
    from exportdiff.interfaces.reports.folder import Folder

FindingKind: TypeAlias = Literal["torch regression", "new", "masked", "regression"]
"""``torch regression``: another version of torch is right. The others are classifications of findings."""


@dataclass(frozen=True)
class DisplayedFinding:
    """All findings of one kind and signature, on whatever paths. Reports show them as one."""

    kind: FindingKind
    key: str
    """The fingerprint of ``finding`` in its first event; the repro file has this name."""
    keys: tuple[str, ...]
    """The fingerprints of all these findings."""
    finding: Finding
    """The finding that most programs show."""
    paths: tuple[str, ...]
    programs: int
    """How many programs show ``finding``."""
    first: int
    """The first of these programs."""
    command: str
    """The command that shows the difference."""
    texts: FindingTexts
    fixes: tuple[str, ...]
    """The fixes that must be installed for the finding to show."""
    remark: str
    elsewhere: str
    """The result on the other version of torch; empty: it was not run there."""
    started: CampaignStarted | None
    causes: tuple[str, ...] = ()
    """The known bugs that explain it; a regression of torch may be a known bug."""
    anchor: str = ""
    """The id of the finding within one page."""

    @cached_property
    def issue(self) -> str:
        """A bug report in PyTorch's form; empty: plain torch does not show the finding."""
        if self.fixes or not self.texts.repro:
            return ""
        with scratch.make() as folder:
            file = pathlib.Path(folder, "repro.py")
            file.write_text(self.texts.repro, encoding="utf-8")
            shown = Run(1, self.texts.printed or "(not recorded)")
            return report(read_entry(file), shown, _versions(self.started), finding=self.finding)


def displayed_findings(campaign: CampaignReport, folders: Sequence[Folder]) -> list[DisplayedFinding]:
    """Return the findings that make a campaign fail, by kind in the order of ``FindingKind``.

    Of each kind, the most harmful comes first, then the one that most programs show. A regression of torch
    may also be known, or among the new findings.
    """
    same: dict[tuple[object, ...], list[str]] = {}
    for key, tallied in campaign.tally.findings.items():
        kind, fixes = tallied.classification.kind, tallied.classification.fixes
        # Findings that different fixes cause are not one.
        about = (kind, fixes if kind == "regression" else (), tallied.finding.signature)
        same.setdefault(about, []).append(key)
    order = get_args(FindingKind)
    found = sorted(
        (_displayed(keys, campaign, folders) for keys in same.values()),
        key=lambda each: (
            order.index(each.kind),
            harmlessness(each.finding),
            -each.programs,
            each.first,
            each.key,
        ),
    )
    return [*_torch_regressions(campaign, folders), *found]


def _torch_regressions(campaign: CampaignReport, folders: Sequence[Folder]) -> Iterator[DisplayedFinding]:
    for number, event in enumerate(campaign.tally.changed("torch regression"), 1):
        assert event.finding is not None  # this torch shows it
        file = _file(event.fingerprint, folders)
        yield DisplayedFinding(
            kind="torch regression",
            key=event.fingerprint,
            keys=(event.fingerprint,),
            finding=event.finding,
            paths=(event.path,),
            programs=event.programs,
            first=event.example,
            command=repro_command(file, (), campaign.tally.corpora),
            texts=_texts(event.fingerprint, campaign, file),
            fixes=(),
            remark="",
            elsewhere=result_elsewhere(campaign.tally, event.fingerprint),
            started=campaign.tally.started,
            causes=event.causes,
            anchor=f"torch-{number}",
        )


def _displayed(keys: Sequence[str], campaign: CampaignReport, folders: Sequence[Folder]) -> DisplayedFinding:
    tally = campaign.tally
    key = max(keys, key=lambda each: tally.occurrences[each])
    tallied, file = tally.findings[key], _file(key, folders)
    paths = [path for each in keys for path in tally.findings[each].finding.shown_on]
    return DisplayedFinding(
        kind=tallied.classification.kind,
        key=key,
        keys=tuple(keys),
        finding=tallied.finding,
        paths=tuple(dict.fromkeys(map(str, (tallied.finding.path, *paths)))),
        programs=tally.occurrences[key],
        first=tallied.first_example,
        command=repro_command(file, tallied.classification.fixes, tally.corpora),
        texts=_texts(key, campaign, file),
        fixes=tallied.classification.fixes,
        remark=tallied.remark,
        elsewhere=result_elsewhere(tally, key),
        started=tally.started,
        anchor=key,
    )


def _file(key: str, folders: Sequence[Folder]) -> pathlib.Path:
    """Return the repro file of a finding, in the folder of the shard that has it."""
    files = [folder.repro(key) for folder in folders]
    return next((file for file in files if file.is_file()), files[0])


def _texts(key: str, campaign: CampaignReport, file: pathlib.Path) -> FindingTexts:
    """Return the texts of a finding, with the repro file as it is on disk."""
    texts = campaign.timeline.texts.get(key, FindingTexts("", "", ""))
    return replace(texts, repro=file.read_text(encoding="utf-8")) if file.is_file() else texts


def _versions(started: CampaignStarted | None) -> str:
    """Return what is recorded of the machine on which a campaign ran."""
    if started is None:
        return ""
    where = started.environment
    lines = [f"PyTorch version: {started.torch}", f"Python version: {started.python}"]
    if where is not None:
        lines += [f"Platform: {where.platform}", counted(where.processors, "processor")]
    return "\n".join(lines)
