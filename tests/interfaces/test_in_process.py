"""A model is judged in this process under the conditions of the command's child processes."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import exportdiff
from exportdiff.interfaces.checking import in_process
from exportdiff.judging.verdict import judge
from exportdiff.runtime.observing.process_state import use_threads


@pytest.mark.usefixtures("no_known_bugs")
def test_one_thread_but_for_paths_that_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int, object]] = []

    def noting(case: Any, *args: Any) -> Any:
        without_traces = getattr(torch.fx.config, "do_not_emit_stack_traces", True)
        seen.append((torch.get_num_threads(), case.threads, without_traces))
        return judge(case, *args)

    monkeypatch.setattr(in_process, "judge", noting)
    with use_threads(2):
        assert exportdiff.compare(torch.nn.ReLU(), (torch.ones(2),), paths=["nonstrict:module"]).judged
        assert torch.get_num_threads() == 2
    assert seen == [(1, 2, True)]
