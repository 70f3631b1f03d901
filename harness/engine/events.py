"""The events of a campaign: frozen plain data. The engine does not know who listens to them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from harness.findings import Finding

if TYPE_CHECKING:
    from harness.judge.verdict import PathResult

EndReason = Literal["examples", "time", "interrupted", "broken"]


@dataclass(frozen=True)
class Event:
    """Base of all events; ``at`` is the seconds since the campaign started."""

    at: float

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready data: the name of the event in snake case, and its fields."""
        name = "".join(f"_{c.lower()}" if c.isupper() else c for c in type(self).__name__)
        fields = asdict(self)
        if isinstance(self, ExampleDone):
            fields["paths"] = [result.as_dict() for result in self.paths]
        if isinstance(finding := getattr(self, "finding", None), Finding):
            fields["finding"] = finding.as_dict()
        return {"event": name.lstrip("_"), **fields}


@dataclass(frozen=True)
class CampaignStarted(Event):
    """Before the first example."""

    seed: int
    examples: int | None
    """None: as many as the time allows."""
    seconds: float | None
    """None: until the examples are done or somebody interrupts."""
    workers: int
    paths: tuple[str, ...]
    device: str
    profile: str
    shard: tuple[int, int]
    torch: str
    python: str


@dataclass(frozen=True)
class ExampleDone(Event):
    """One program was judged. These events come in the order of the index."""

    index: int
    valid: bool
    invalid_reason: str
    features: tuple[str, ...]
    """The tags of the program."""
    paths: tuple[PathResult, ...]
    fingerprints: tuple[str, ...]
    """The fingerprints of its new findings, confirmed or not."""
    known: tuple[str, ...]
    """The names of the corpus entries that explain its other findings."""
    torch_seconds: float
    seconds: float
    """The time it took in its worker, all included."""


@dataclass(frozen=True)
class FindingFound(Event):
    """The first confirmed program with a new fingerprint."""

    finding: Finding
    example: int
    source: str
    """The program."""
    repro: str
    """The text of the self-contained file that was run to confirm the finding."""


@dataclass(frozen=True)
class KnownSeen(Event):
    """The first program that shows an open bug of the corpus."""

    entry: str
    """The name of the corpus file, without folder and suffix."""
    finding: Finding
    example: int


@dataclass(frozen=True)
class FindingUnconfirmed(Event):
    """A fresh process did not show the difference: it does not count as a finding."""

    finding: Finding
    example: int
    reason: str


@dataclass(frozen=True)
class FindingShrunk(Event):
    """A smaller program shows the same finding, and a fresh process confirmed it too."""

    finding: Finding
    example: int
    source: str
    repro: str


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


@dataclass(frozen=True)
class HarnessError(Event):
    """An exception in exportdiff's own code: never the fault of the model, never a finding."""

    example: int | None
    traceback: str


@dataclass(frozen=True)
class CampaignFinished(Event):
    """After the last example."""

    reason: EndReason
