"""The events of a campaign: frozen plain data. A campaign does not know which reports read them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from exportdiff.core.finding import Finding
from exportdiff.fuzzing.other_torch.differences import Change
from exportdiff.known.attribution.classification import NEW, Classification
from exportdiff.known.attribution.explained import By

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exportdiff.fuzzing.campaign.learning import Yield
    from exportdiff.judging.results import PathResult

JSON_KEYS = {"classification": "standing", "failed_fixes": "lifted", "tags": "features"}
"""The keys in events.ndjson of fields with another name. Other programs read them, so they stay."""

EndReason = Literal["examples", "time", "interrupted", "errors"]


@dataclass(frozen=True)
class Event:
    """Base of all events; ``at`` is the seconds since the campaign started."""

    at: float

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready data: the name of the event in snake case, and its fields (see ``JSON_KEYS``)."""
        fields = {JSON_KEYS.get(name, name): value for name, value in asdict(self).items()}
        if isinstance(self, ExampleDone):
            fields["paths"] = [result.as_dict() for result in self.paths]
        if isinstance(finding := getattr(self, "finding", None), Finding):
            fields["finding"] = finding.as_dict()
        return {"event": event_name(type(self)), **fields}


def event_name(kind: type[Event]) -> str:
    """Return the name of a kind of event in snake case, as ``as_dict`` writes it."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in kind.__name__).lstrip("_")


@dataclass(frozen=True)
class CampaignEnvironment:
    """Where a campaign runs, in addition to the versions of torch and Python."""

    began: str
    """When the campaign first began: ISO 8601, in UTC; empty: not known."""
    exportdiff: str
    """The version, and a digest of the code; empty: not known."""
    corpus: str
    """A digest of the corpus; empty: there is none."""
    platform: str
    processors: int
    """The number that this process may use."""


@dataclass(frozen=True)
class CampaignStarted(Event):
    """Before the first example."""

    seed: int
    examples: int | None
    """None: as many as the time allows."""
    seconds: float | None
    """None: until the examples are done or the user interrupts."""
    workers: int
    paths: tuple[str, ...]
    device: str
    profile: str
    shard: tuple[int, int]
    torch: str
    python: str
    mended: bool = False
    """Whether programs are judged on mended torch."""
    known_every: int = 1
    """N: on one program in N plain torch is judged too, to count known bugs; 0: never."""
    left_out: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Names that this torch lacks, and the paths and switches that are left out because of each."""
    against: str = ""
    """The version of the other torch that the findings are compared with; empty: none."""
    around: str = ""
    """The model that all programs use; empty: programs are drawn."""
    near: str | None = None
    """The files of which all programs are edits; empty: the whole corpus; None: programs are drawn."""
    environment: CampaignEnvironment | None = None
    """None: not recorded."""


@dataclass(frozen=True)
class ExampleDone(Event):
    """One program was judged. These events come in the order of the index."""

    index: int
    valid: bool
    invalid_reason: str
    tags: tuple[str, ...]
    """The tags of the program."""
    paths: tuple[PathResult, ...]
    fingerprints: tuple[str, ...]
    """The fingerprints of its new findings, confirmed or not."""
    known: tuple[str, ...]
    """The names of the root causes that explain its other findings; if ``sampled``, also of those that plain
    torch shows."""
    torch_seconds: float
    seconds: float
    """The time in the worker."""
    sampled: bool = True
    """Whether plain torch was judged too, so that the known bugs of the program were counted."""
    failed_fixes: tuple[str, ...] = ()
    """The fixes that raised an error themselves, so that plain torch was judged instead."""


@dataclass(frozen=True)
class FindingFound(Event):
    """The first confirmed program with a new fingerprint."""

    finding: Finding
    example: int
    source: str
    """The program."""
    repro: str
    """The text of the self-contained file that was run to confirm the finding."""
    classification: Classification = NEW
    """Whether plain torch shows it, or only torch with some fixes."""
    printed: str = ""
    """The line that the repro file printed when a fresh process confirmed it."""


@dataclass(frozen=True)
class KnownSeen(Event):
    """The first program that shows a known root cause."""

    cause: str
    """The name of the root cause."""
    entry: str
    """The corpus entry of the root cause, without folder and suffix; empty: there is none."""
    finding: Finding
    example: int
    remark: str = ""
    """Why the answer is not complete."""
    by: By = "fix"
    """Whether the fix mends the finding, or the finding resembles the entry."""


@dataclass(frozen=True)
class FindingUnconfirmed(Event):
    """A fresh process did not show the difference, so it does not count as a finding."""

    finding: Finding
    example: int
    reason: str
    classification: Classification = NEW
    """What it would have been: new, masked or a regression."""


@dataclass(frozen=True)
class FindingShrunk(Event):
    """A better program shows the same finding, and a fresh process confirmed it: the program is smaller, or
    plain torch shows the finding."""

    finding: Finding
    example: int
    source: str
    repro: str
    classification: Classification = NEW
    printed: str = ""


@dataclass(frozen=True)
class FindingMinimized(Event):
    """The program of a finding was minimized and confirmed: the last event of a finding."""

    was: str
    """The fingerprint that the finding had in earlier events."""
    finding: Finding
    example: int
    source: str
    repro: str
    seconds: float
    tried: int
    """How many smaller programs were judged."""
    classification: Classification = NEW
    printed: str = ""


@dataclass(frozen=True)
class MinimizingStarted(Event):
    """The campaign waits until the program of this finding is minimized. Other workers minimize other
    programs at the same time."""

    number: int
    """Counted from 1, of ``total``."""
    total: int
    fingerprint: str
    spent: float
    """Seconds so far."""
    limit: float
    """Limit in seconds."""


@dataclass(frozen=True)
class NotMinimized(Event):
    """The finding keeps the program that showed it."""

    fingerprint: str
    reason: str


@dataclass(frozen=True)
class ComparingStarted(Event):
    """The campaign begins to confirm the differences between this torch and the other one."""

    findings: int
    """How many new and masked findings run on the other torch."""
    programs: int
    """How many programs the other torch is still judging."""


@dataclass(frozen=True)
class TorchesCompared(Event):
    """How a finding, or a path of some programs, differs between this torch and the other one."""

    change: Change
    fingerprint: str
    """The fingerprint of a finding in earlier events, or of ``finding``; empty: there is no finding."""
    path: str
    here: tuple[str, ...]
    """The signature here; for ``newly refused``, the reason; empty: the path is ok."""
    there: tuple[str, ...]
    """The signature on the other torch; empty: the path is ok, or shows the same."""
    example: int
    """The first example that shows it."""
    programs: int = 1
    """How many of the programs that both judged show it."""
    reason: str = ""
    """Why it is not comparable."""
    finding: Finding | None = None
    """The finding here."""
    causes: tuple[str, ...] = ()
    """The known root causes that explain it here; it may still be a regression of torch."""
    source: str = ""
    """The program, if no earlier event has it."""
    repro: str = ""
    """The repro file that was run with both, if no earlier event has it."""


@dataclass(frozen=True)
class EntriesFixed(Event):
    """The open entries of the corpus that pass here and show their bugs on the other torch."""

    entries: tuple[str, ...]


@dataclass(frozen=True)
class HarnessError(Event):
    """An exception in exportdiff's own code: the model did not cause it, and it is no finding."""

    example: int | None
    traceback: str
    place: tuple[str, ...] = ()
    """The type of the exception and the lines of exportdiff in its traceback; empty: not known."""
    source: str = ""
    """The program, if the error came from judging one."""


@dataclass(frozen=True)
class CampaignFinished(Event):
    """After the last example."""

    reason: EndReason
    given_up: int = 0
    """Examples that were in progress when the time was over, and have no result."""
    fuzzing: float = 0.0
    """Seconds until the last example was done, without the time for minimizing."""
    learned: Mapping[str, Yield] = field(default_factory=dict)
    """By arm, what this campaign and those before it have found."""
