"""Paths that compile, and eager for ``compile:*``, run with the number of threads that the case says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from exportdiff.core.case import Case
from exportdiff.judging.verdict import judge
from exportdiff.runtime.paths import select_paths


@pytest.mark.parametrize(("path", "used"), [("compile:aot_eager", {3}), ("nonstrict:module", set())])
def test_only_paths_that_compile_use_the_threads_of_the_user(
    path: str, used: set[int], case: Callable[[str], Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, chosen = torch.get_num_threads(), []
    set_threads = torch.set_num_threads

    def note(number: int) -> None:
        chosen.append(number)
        set_threads(number)

    monkeypatch.setattr(torch, "set_num_threads", note)
    doubles = case("class Model(nn.Module):\n    def forward(self, x):\n        return x * 2\n")
    verdict = judge(replace(doubles, threads=3), select_paths([path]))
    assert [result.status for result in verdict.paths] == ["ok"]
    assert {*chosen} - {before} == used
    assert torch.get_num_threads() == before
