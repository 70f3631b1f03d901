"""Where an operator makes a large difference of a small one, a backend may differ from eager; only there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from exportdiff.core.case import Case
from exportdiff.judging.checks.outputs import OutputLeaf, outputs
from exportdiff.judging.exemptions import of_backends
from exportdiff.judging.exemptions.backend import Backend
from exportdiff.judging.exemptions.limits.limit import Comparison
from exportdiff.judging.verdict import ROUNDINGS
from exportdiff.runtime.observing.observation import EagerObservation
from exportdiff.runtime.observing.rounding_noise import called_with_noise
from exportdiff.runtime.observing.tensors import snapshot
from exportdiff.runtime.paths.run.eager import observe_eager
from exportdiff.runtime.paths.stopwatch import Stopwatch


class Jumps(nn.Module):
    """Tells whether normalized values are zero: those of the first row are, up to rounding."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.logical_not(nn.functional.group_norm(x, 1)).float()


class Moves(nn.Module):
    """Tells which values are 3, after operators that only move them."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([x.flip(0).clone(), x.t().reshape(2, 3)]).eq(3).float()


CONSTANT = torch.tensor([[0.7, 0.7, 0.7], [1.0, 3.0, 4.0]])


def excused(model: nn.Module, monkeypatch: pytest.MonkeyPatch, flip: Any) -> bool:
    """Whether a backend may return what ``flip`` makes of the result."""
    backend = Backend("stub", install="", tolerance={"float32": (1e-5, 1e-6)})
    monkeypatch.setattr(of_backends, "backend_of", lambda path: backend)
    case = Case("model", "", lambda: (model, (CONSTANT,)))
    eager = replace(observed(case), rounded=tuple(observed(case, seed) for seed in range(ROUNDINGS)))
    call = eager.calls[0]
    assert call.outputs is not None
    leaf = replace(call.outputs.leaves[0], value=snapshot(flip(model(CONSTANT))))
    seen = replace(eager, calls=(replace(call, outputs=replace(call.outputs, leaves=(leaf,))),))
    (evidence,) = (each for each in outputs(replace(eager, calls=(call,)), seen))
    assert isinstance(evidence, OutputLeaf)
    return of_backends.rounding_decides(Comparison(evidence, eager, seen))


def observed(case: Case, seed: int | None = None) -> EagerObservation:
    run = None if seed is None else called_with_noise(seed)
    return observe_eager(case, "cpu", Stopwatch(), run=run)


def first_row(result: torch.Tensor) -> torch.Tensor:
    return torch.cat([1 - result[:1], result[1:]])


def test_a_backend_may_say_that_what_is_nearly_zero_is_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    assert excused(Jumps(), monkeypatch, first_row)


class Crosses(nn.Module):
    """Rounds down what is nearly 2."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x.repeat(8, 1) / x.repeat(8, 1) * 2).floor()


def test_each_element_near_a_jump_may_be_on_the_other_side(monkeypatch: pytest.MonkeyPatch) -> None:
    assert excused(Crosses(), monkeypatch, lambda result: result - 1)
    assert not excused(Crosses(), monkeypatch, lambda result: result + 1)


class Amplifies(nn.Module):
    """Normalizes rows: what is left of the first one is rounding, times a large factor."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.group_norm(x, 1)


def test_a_number_may_lie_between_those_of_two_roundings(monkeypatch: pytest.MonkeyPatch) -> None:
    def moved(by: float) -> bool:
        return excused(Amplifies(), monkeypatch, lambda result: result + torch.tensor([[by], [0.0]]))

    assert moved(-4e-5) and not moved(0.1)


def test_other_values_are_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not excused(Jumps(), monkeypatch, lambda result: 1 - result)
    assert not excused(Jumps(), monkeypatch, lambda result: result + 0.5)


def test_operators_that_only_move_values_round_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not excused(Moves(), monkeypatch, lambda result: result + (result == 0))
