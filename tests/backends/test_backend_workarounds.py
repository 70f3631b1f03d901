"""The workarounds of the bugs of backends: each makes its path right, and eager stays as it was."""

from __future__ import annotations

import pytest

from exportdiff.known.corpus.entry import BACKENDS, Entry, lacking_for, read_entry
from exportdiff.known.corpus.verify_workaround import workaround_problems
from support.folders import CORPORA
from support.of_this_torch import only_on_the_pinned_torch

FILES = sorted((CORPORA / BACKENDS).rglob("*.py"))
ENTRIES = [each for each in map(read_entry, FILES) if each.has_workaround]


@only_on_the_pinned_torch
@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.name) for entry in ENTRIES])
def test_a_workaround_works(entry: Entry) -> None:
    if missing := lacking_for(entry.file):
        pytest.skip(f"{', '.join(missing)} is not installed")
    assert workaround_problems(entry) == []
