"""Which fixes may explain a finding: those whose changed lines are executed on its path.

A path executes changed lines of many fixes, and most of these lines are executed for each model. So an
ordinary model runs on the same path, and the fixes with lines that it does not execute are *unusual*.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from exportdiff.core.cache_files import cache_folder, write_cache_file
from exportdiff.core.case import case_from_source
from exportdiff.known.attribution.resemblance import shows_as
from exportdiff.runtime.paths import parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exportdiff.core.finding import Finding
    from exportdiff.core.path import Path
    from exportdiff.known.attribution.trial import Budget, Trial
    from exportdiff.runtime.patching.executed import Line

ORDINARY = """
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.norm, self.drop = nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.1)
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x, *, scale=1.0):
        self.count.add_(1)
        return self.drop(torch.relu(self.norm(self.linear(x)))) * scale


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Block(), Block()

    def forward(self, x, y=None):
        x = self.second(self.first(x), scale=2.0)
        return {"out": x, "mean": x.mean()}


def make():
    return Model(), (torch.ones(3, 4),)
"""
"""A model on which no path differs from eager."""


@dataclass(frozen=True)
class Order:
    """The fixes to try for one finding, the likeliest first."""

    likely: tuple[str, ...]
    """The unusual ones, and those with an entry that shows as the finding does."""
    executed: tuple[str, ...]
    """All whose functions are executed; the likely ones first."""


class Suspects:
    """The fixes that may explain the findings of one case."""

    def __init__(self, trial: Trial) -> None:
        """``trial`` judges the case."""
        self._trial = trial

    def order(self, finding: Finding, similar: Sequence[str], budget: Budget) -> Order:
        """Return the fixes to try on the first path of a finding. Raises OutOfBudget.

        ``similar``: all usable fixes, those of similar entries first. Fixes with similar entries and unusual
        fixes take turns.
        """
        ran = self._trial.executed(finding.path, budget)
        if not ran:  # with all fixes, the case cannot be judged
            return Order((), tuple(similar))
        usual = self._usual(finding.path)
        unusual = {name for name, lines in ran.items() if not lines <= usual.get(name, frozenset())}
        shown = self._shown(finding)
        executed = [name for name in similar if name in ran]
        by_entry = sorted(executed, key=lambda name: (shown.get(name, 2), name not in unusual))
        turns = zip_longest(by_entry, (name for name in executed if name in unusual))
        order = [name for name in dict.fromkeys(chain.from_iterable(turns)) if name is not None]
        likely = tuple(name for name in order if name in unusual or name in shown)
        return Order(likely, (*likely, *(name for name in order if name not in likely)))

    def _shown(self, finding: Finding) -> dict[str, int]:
        """Return the fixes with an entry that shows as the finding does; 0: with the same transforms."""
        shown: dict[str, int] = {}
        for entry in self._trial.known.entries:
            if shows_as(entry, finding):
                other = int(parse(entry.path).transforms != finding.transforms)
                shown[entry.fix] = min(other, shown.get(entry.fix, 1))
        return shown

    def _usual(self, path: Path) -> Mapping[str, frozenset[Line]]:
        """Return the changed lines that an ordinary model executes. The answer is cached on disk."""
        key = f"{self._trial.known.digest}\0{path}\0{ORDINARY}"
        file = cache_folder() / "usual" / f"{hashlib.sha256(key.encode()).hexdigest()}.json"
        try:
            read = json.loads(file.read_text(encoding="utf-8"))
            return {fix: frozenset((name, line) for name, line in lines) for fix, lines in read.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            pass
        ran = self._trial.executed_by(case_from_source(ORDINARY), path)
        write_cache_file(file, json.dumps({fix: sorted(lines) for fix, lines in ran.items()}).encode())
        return ran
