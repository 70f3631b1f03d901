"""What a campaign runs: its programs, its paths, its limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from exportdiff.core.programs import DEFAULT_PROFILE
from exportdiff.fuzzing.campaign.learning import Yield
from exportdiff.known.corpus.entry import FIXES
from exportdiff.runtime.processes.limits import Limits

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Iterator, Mapping, Sequence

    from exportdiff.fuzzing.around.model import Around
    from exportdiff.fuzzing.near.model import Near
    from exportdiff.fuzzing.other_torch.probe import Interpreter
    from exportdiff.runtime.paths import Path


KNOWN_EVERY = 40
"""One program in this many is judged on plain torch too. Finding out what it shows costs about four times as
much as the program, so this adds a tenth to the cost, and counts every frequent bug within a few minutes."""

MINIMIZED = 3
"""The time for minimizing all findings, as a multiple of the time for one: workers minimize several at a
time, and many findings need less than their limit."""

MINIMIZING_PART = 3
"""A campaign with findings keeps the last third of its time, at most, for minimizing them."""


@dataclass(frozen=True)
class CampaignSettings:
    """The settings of a campaign."""

    paths: tuple[Path, ...]
    seed: int = 0
    examples: int | None = None
    """None: as many as the time allows."""
    seconds: float | None = None
    """None: no time limit."""
    workers: int = 1
    device: str = "cpu"
    profile: str = DEFAULT_PROFILE
    shard: tuple[int, int] = (1, 1)
    """``(2, 5)``: the second of five parts."""
    example_seconds: float = 60.0
    """A program that takes longer hangs."""
    memory: int = Limits().memory
    """MiB. A program that takes more is ended."""
    minimize_seconds: float = 0.0
    """Time to minimize the program of each new or masked finding; 0: minimize none."""
    minimize_total_seconds: float | None = None
    """Time to minimize all of them; None: ``MINIMIZED`` times the time for one."""
    corpora: pathlib.Path | None = None
    """The corpus of the known bugs; None: every finding is new."""
    plain: bool = False
    """Whether to judge plain torch instead of mended torch."""
    known_every: int = KNOWN_EVERY
    """N: on one program in N, find out which known bugs plain torch shows; 0: never."""
    against: Interpreter | None = None
    """The interpreter whose torch the findings are compared with; None: they are not."""
    left_out: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Names that this torch lacks, and the paths and switches that are left out because of each."""
    around: Around | None = None
    """The model that all programs use; None: programs are drawn."""
    near: Near | None = None
    """The files of which all programs are edits; None: programs are drawn."""
    learned: Mapping[str, Yield] = field(default_factory=dict)
    """By arm, what earlier campaigns have found."""

    @property
    def mends(self) -> bool:
        """Whether programs are judged on mended torch. Workers do not use fixes that do not fit."""
        return self.corpora is not None and not self.plain and any((self.corpora / FIXES).glob("*.patch"))

    @property
    def minimize_total(self) -> float:
        """The seconds for minimizing all findings."""
        given = self.minimize_total_seconds
        return MINIMIZED * self.minimize_seconds if given is None else given

    @property
    def reserved(self) -> float:
        """The seconds at the end that are kept for minimizing, if there is a finding and a time limit."""
        if self.seconds is None or not self.minimize_seconds:
            return 0.0
        return min(self.minimize_total, self.seconds / MINIMIZING_PART)

    def indices(self) -> Iterator[int]:
        """Return the indices of the examples in this shard, in order."""
        part, parts = self.shard
        indices = count() if self.examples is None else range(self.examples)
        return (index for index in indices if index % parts == part - 1)
