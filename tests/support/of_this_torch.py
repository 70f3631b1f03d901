"""What is known of the torch that runs the tests: the corpus describes the pinned one.

On another torch, the headers of the entries say which bugs it has, or the trial of the fixes (``corpus
fit``), and this trial says which fixes work there. Tests of an entry that it does not have are skipped,
with the version in the reason.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Mapping
from functools import cache

import pytest
import torch

from exportdiff.core.cache_files import cache_folder
from exportdiff.core.torch_versions import torch_version
from exportdiff.known.attribution.knowledge import knowledge
from exportdiff.known.corpus.entry import Entry
from exportdiff.known.corpus.trial_results import TrialResult, fix_trials
from exportdiff.known.corpus.versions import IN_WORDS
from exportdiff.runtime.patching.fixes import Fix, remember
from support.folders import CORPORA

HERE = torch_version()


def _pinned() -> str:
    constraints = (CORPORA.parent / "constraints.txt").read_text()
    (version,) = re.findall(r"^torch==([\d.]+)", constraints, re.MULTILINE)
    return str(version)


PINNED = _pinned()
"""The release of torch that the corpus describes."""

only_on_the_pinned_torch = pytest.mark.skipif(HERE != PINNED, reason=f"it is about torch {PINNED}")


@cache
def rows() -> Mapping[str, TrialResult]:
    """What the trial of each fix on this torch has shown."""
    return {each.name: row for each in fix_trials(CORPORA) if (row := each.result) is not None}


@cache
def held() -> tuple[Fix, ...]:
    """The fixes that campaigns hold on this torch. Compiled once for all processes, as campaigns do it."""
    fixes = knowledge(CORPORA).usable_fixes
    remember(fixes, cache_folder())
    return fixes


def skip_unless_tried() -> None:
    """Skip a test that holds the fixes, if nobody knows which of them work on this torch."""
    if HERE != PINNED and not rows():
        pytest.skip(f"nobody has tried the fixes on torch {HERE}: exportdiff corpus fit")


@cache
def _has_lstm_in_bfloat16() -> bool:
    try:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            torch.nn.LSTM(4, 4)(torch.ones(2, 1, 4))
    except RuntimeError:
        return False
    return True


def skip_unless_this_processor_runs(file: pathlib.Path) -> None:
    """Skip a test of a file that eager cannot run: some processors have no LSTM in bfloat16 (oneDNN)."""
    if "lstm_in_autocast" in file.stem and not _has_lstm_in_bfloat16():
        pytest.skip("oneDNN has no LSTM in bfloat16 on this processor")


def skip_unless_here(entry: Entry) -> None:
    """Skip a test of an entry if this torch does not have its bug, or nobody knows."""
    skip_unless_this_processor_runs(entry.file)
    shown = dict(entry.versions.rows).get(HERE)
    if HERE == PINNED or shown == "shows" or entry.status != "open":
        return
    if shown is not None:
        pytest.skip(f"torch {HERE}: {IN_WORDS[shown]}")
    row = rows().get(entry.fix)
    if row is None:
        pytest.skip(f"nobody has tried it on torch {HERE}: exportdiff corpus fit")
    if entry.file.stem in row.fixed:
        pytest.skip(f"torch {HERE} does not have this bug")
    if entry.file.stem in row.broken:
        pytest.skip(f"torch {HERE} cannot run it")


def skip_unless_usable(entry: Entry) -> None:
    """Skip a test of an entry if it cannot be mended on this torch, or nobody knows."""
    skip_unless_here(entry)
    row = rows().get(entry.fix)
    if HERE != PINNED and (row is None or row.status != "usable"):
        pytest.skip(f"its fix: {row.status if row else 'not tried'}, on torch {HERE}")
