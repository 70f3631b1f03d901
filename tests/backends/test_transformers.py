"""Models that transformers exports by itself: both parts of a language model, and a fault in a late step."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import pytest

from exportdiff.judging.judge_case import judge_case
from exportdiff.lab.zoo.sources import load_model
from exportdiff.runtime.paths import parse

if TYPE_CHECKING:
    from exportdiff.judging.results import Verdict

pytest.importorskip("transformers.exporters", reason="pip install 'exportdiff[zoo]'")


def judged(model: str) -> Verdict:
    verdict = judge_case(load_model(model), [parse("transformers_dynamo:torch")])
    assert verdict.valid, verdict.invalid_reason
    return verdict


@pytest.mark.parametrize("part", ["prefill", "decode"])
def test_a_part_of_a_language_model_agrees(part: str) -> None:
    verdict = judged(f"exporters/gpt2.{part}")
    assert (verdict.paths[0].outcome, verdict.findings) == ("agrees", ())


def test_a_wrong_tenth_step_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    runner: Any = importlib.import_module("transformers.exporters.runners.runner_dynamo").DynamoModelRunner
    right = runner.__call__

    def wrong(self: Any, **kwargs: Any) -> Any:
        output = right(self, **kwargs)
        if kwargs["past_key_values"].get_seq_length() == 4 + 9:
            output.logits = output.logits + 0.01
        return output

    monkeypatch.setattr(runner, "__call__", wrong)
    (finding,) = judged("exporters/gpt2.decode").findings
    assert (finding.check, finding.evidence.call) == ("outputs", 12)
