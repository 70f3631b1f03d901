"""The tolerance of the user, in place of the one that exportdiff derives."""

from __future__ import annotations

import math

import pytest
import torch

from exportdiff.core.case import Case
from exportdiff.core.tolerance import Metric, Tolerance, read_bound, read_metric
from exportdiff.judging.checks.compare.closeness import closeness
from exportdiff.judging.checks.compare.leaves import ValuesDiffer, compare_leaf
from exportdiff.judging.granted import with_tolerance
from exportdiff.judging.verdict import judge
from exportdiff.runtime.observing.observation import Call, EagerObservation
from exportdiff.runtime.observing.tensors import State, TensorSnapshot, snapshot, tree_snapshot
from exportdiff.runtime.paths import Path, parse


def compared(eager: torch.Tensor, here: torch.Tensor, tolerance: Tolerance) -> str:
    """Return in what the tensors differ; empty if the difference is tolerated."""
    call = Call(tree_snapshot(((), {})), State({}, {}), outputs=tree_snapshot(eager))
    granted = with_tolerance(EagerObservation(Path("eager", "model"), calls=(call,)), tolerance)
    assert granted.calls[0].outputs is not None
    (leaf,) = granted.calls[0].outputs.leaves
    assert isinstance(leaf.value, TensorSnapshot)
    found = compare_leaf(leaf.value, snapshot(here))
    return "" if found is None else found.word


ONES = torch.ones(4)


@pytest.mark.parametrize(
    ("tolerance", "apart", "word"),
    [
        (Tolerance(absolute=0.1), 0.05, ""),
        (Tolerance(absolute=0.01), 0.05, "value"),
        (Tolerance(relative=0.1), 0.05, ""),
        (Tolerance(absolute=0.0), 1e-7, "value"),
        (Tolerance(metrics=(("snr", 20.0),)), 0.05, ""),
        (Tolerance(metrics=(("snr", 40.0),)), 0.05, "value"),
        (Tolerance(metrics=(("relative", 0.06),)), 0.05, ""),
        (Tolerance(metrics=(("relative", 0.04),)), 0.05, "value"),
        (Tolerance(metrics=(("cosine", 0.999),)), 0.05, ""),
        (Tolerance(absolute=0.1, metrics=(("snr", 40.0),)), 0.05, "value"),
    ],
)
def test_bounds(tolerance: Tolerance, apart: float, word: str) -> None:
    assert compared(ONES, ONES + apart, tolerance) == word
    assert compared(ONES * 1j, (ONES + apart) * 1j, tolerance) == word


def test_what_is_never_tolerated() -> None:
    anything = Tolerance(absolute=1e9)
    assert compared(ONES, ONES / 0, anything) == "value"
    assert compared(ONES.long(), ONES.long() + 1, anything) == "value"
    assert compared(ONES, ONES.double(), anything) == "dtype"
    assert compared(torch.ones(2, 3), torch.ones(3, 2).t(), anything) == "stride"


def test_measures() -> None:
    (a, b) = (snapshot(torch.tensor(each)).values for each in ([3.0, 4.0], [4.0, 3.0]))
    assert a is not None and b is not None
    measured = closeness(a, b)
    assert measured.snr == pytest.approx(10 * math.log10(25 / 2))
    assert measured.cosine == pytest.approx(24 / 25)
    assert measured.relative == pytest.approx(1 / 4)


def test_the_evidence_has_the_measures() -> None:
    expected = with_tolerance_of(ONES, Tolerance(absolute=0.0))
    found = compare_leaf(expected, snapshot(ONES * 2))
    assert isinstance(found, ValuesDiffer)
    assert found.details().endswith("SNR 0 dB, cosine similarity 1, largest relative error 1")


def with_tolerance_of(tensor: torch.Tensor, tolerance: Tolerance) -> TensorSnapshot:
    call = Call(tree_snapshot(((), {})), State({"x": snapshot(tensor)}, {}))
    eager = EagerObservation(Path("eager", "model"), calls=(call,))
    return with_tolerance(eager, tolerance).calls[0].state.tensors["x"]


class Drifts(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * (1.01 if torch.compiler.is_exporting() else 1.0)


def test_a_path_that_promises_the_bits_of_eager() -> None:
    case = Case("drifts", "", lambda: (Drifts(), (torch.ones(2),)), thorough=True)
    paths = [parse("nonstrict:module")]
    for absolute, outcome in ((None, "differs"), (0.001, "differs"), (0.1, "agrees")):
        tolerance = None if absolute is None else Tolerance(absolute)
        assert judge(Case(**{**vars(case), "tolerance": tolerance}), paths).paths[0].outcome == outcome


@pytest.mark.parametrize(("text", "metric"), [("snr=40", ("snr", 40.0)), ("cosine=0.5", ("cosine", 0.5))])
def test_metrics_are_read(text: str, metric: tuple[Metric, float]) -> None:
    assert read_metric(text) == metric


@pytest.mark.parametrize("text", ["snr", "psnr=4", "snr=", "snr=x", "cosine=-1", "snr=inf", "snr=nan"])
def test_wrong_metrics(text: str) -> None:
    with pytest.raises(ValueError, match=r"write one of|is no number"):
        read_metric(text)


def test_bounds_are_read() -> None:
    assert read_bound("1e-3") == 0.001
