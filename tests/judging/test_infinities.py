"""Infinities and NaN in a user's own model compare like other values; drawn programs must not have any."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from exportdiff.core.case import Case
from exportdiff.judging.checks.compare.leaves import ValuesDiffer, compare_leaf
from exportdiff.judging.precision import in_float64
from exportdiff.judging.verdict import judge
from exportdiff.runtime.inputs.copies import CALLS, Examples
from exportdiff.runtime.observing.tensors import snapshot
from exportdiff.runtime.paths import select_paths
from exportdiff.runtime.paths.run.eager import observe_eager
from exportdiff.runtime.paths.stopwatch import Stopwatch

INF, NAN = float("inf"), float("nan")
PATHS = select_paths(["nonstrict:*", "nonstrict+decompose:module"])


class Attends(nn.Module):
    """Attention under a causal mask of -inf."""

    mask: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mask", torch.full((4, 4), -INF).triu(1))

    def forward(self, x: torch.Tensor, more: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        scores = x @ x.t() + self.mask + more
        return scores, scores.softmax(-1) @ x


def attention() -> Case:
    more = torch.zeros(4, 4)
    more[:, 3] = -INF
    return Case("attention", "", lambda: (Attends(), (torch.linspace(-1, 1, 12).reshape(4, 3), more)))


class Unordered(nn.Module):
    """Has NaN in its state and gives NaN and infinities."""

    state: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("state", torch.tensor([NAN, 1.0, INF, -INF]))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        self.state.add_(1)
        return self.state * x, torch.complex(self.state, x)


def unordered() -> Case:
    return Case("unordered", "", lambda: (Unordered(), (torch.tensor([1.0, NAN, 2.0, -1.0]),)))


@pytest.mark.parametrize("make", [attention, unordered])
def test_a_model_with_infinities_and_nan_is_judged(make: Callable[[], Case]) -> None:
    verdict = judge(make(), PATHS)
    assert verdict.valid, verdict.invalid_reason
    assert len(verdict.paths) == len(PATHS)
    assert [finding.signature for finding in verdict.findings] == []


def test_in_a_drawn_program_they_are_an_accident() -> None:
    verdict = judge(replace(attention(), finite_only=True), select_paths(["nonstrict:*"]))
    assert not verdict.valid and "not finite" in verdict.invalid_reason


@pytest.mark.parametrize(
    ("make", "name", "place", "value"),
    [
        (attention, "mask", (0, 1), 0.0),
        (attention, "mask", (1, 0), -INF),
        (attention, "mask", (0, 1), INF),
        (unordered, "state", (1,), NAN),
        (unordered, "state", (0,), 1.0),
        (unordered, "state", (2,), -INF),
    ],
)
def test_a_wrong_infinity_or_nan_is_found(
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[], Case],
    name: str,
    place: tuple[int, ...],
    value: float,
) -> None:
    right = torch.export.unflatten

    def wrong(*args: object, **kwargs: object) -> nn.Module:
        module = right(*args, **kwargs)  # type: ignore[arg-type]  # passed through as they come
        getattr(module, name)[place] = value
        return module

    monkeypatch.setattr(torch.export, "unflatten", wrong)
    verdict = judge(make(), select_paths(["nonstrict:*"]))
    assert verdict.valid
    assert {(f.check, str(f.path), f.evidence.aspect) for f in verdict.findings} >= {
        ("state", "nonstrict:unflatten@cpu", "value")
    }


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64])
@pytest.mark.parametrize(
    ("seen", "word"),
    [
        ([1.0, INF, -INF, NAN], None),
        ([1.0 + 1e-7, INF, -INF, NAN], "rounding"),
        ([1.5, INF, -INF, NAN], "value"),
        ([1.0, 3e38, -INF, NAN], "value"),
        ([1.0, -INF, -INF, NAN], "value"),
        ([1.0, INF, INF, NAN], "value"),
        ([1.0, INF, -INF, 0.0], "value"),
        ([NAN, INF, -INF, NAN], "value"),
        ([INF, INF, -INF, NAN], "value"),
        ([1.0, NAN, -INF, INF], "value"),
    ],
)
def test_each_place_is_compared(
    exact: bool, dtype: torch.dtype, seen: list[float], word: str | None, recwarn: pytest.WarningsRecorder
) -> None:
    def tensor(of: list[float]) -> torch.Tensor:
        real = torch.tensor(of)
        return torch.complex(real, torch.ones(4)) if dtype.is_complex else real

    ours = snapshot(tensor([1.0, INF, -INF, NAN]))
    if exact:
        assert ours.values is not None
        wide = np.asarray(ours.values)
        ours = replace(ours, exact=wide.astype(np.complex128 if dtype.is_complex else np.float64))
    found = compare_leaf(ours, snapshot(tensor(seen)))
    assert (None if found is None else found.word) == word
    assert not recwarn.list


def test_the_parts_of_a_complex_number_are_compared() -> None:
    ours = snapshot(torch.tensor([complex(INF, 1), complex(NAN, 1)]))
    assert compare_leaf(ours, snapshot(torch.tensor([complex(INF, 1), complex(NAN, 1)]))) is None
    for other in ([complex(INF, 2), complex(NAN, 1)], [complex(INF, 1), complex(NAN, 2)]):
        found = compare_leaf(ours, snapshot(torch.tensor(other)))
        assert isinstance(found, ValuesDiffer) and found.differing == 1 and found.apart == INF


def test_where_float64_is_not_finite_eager_is_the_reference() -> None:
    ours = snapshot(torch.tensor([1.0, 2.0]))
    ours = replace(ours, exact=np.array([INF, 2.0]))
    words = [compare_leaf(ours, snapshot(torch.tensor([x, 2.0]))) for x in (1.0 + 1e-7, 1.5)]
    assert [found.word for found in words if found is not None] == ["rounding", "value"]


def test_a_wrong_value_next_to_an_infinity_is_no_rounding() -> None:
    ours = replace(snapshot(torch.tensor([INF, 2.0])), exact=np.array([1e39, 2.0]))
    found = compare_leaf(ours, snapshot(torch.tensor([INF, 2.5])))
    assert found is not None and found.word == "value"


def test_later_calls_keep_the_infinities_of_a_mask() -> None:
    examples = Examples((torch.tensor([-INF, 1.0, NAN]), torch.tensor([complex(0, INF), 1 + 1j])), {})
    calls = [examples.fresh(call).args for call in range(CALLS)]
    assert all(mask[0] == -INF and mask[2].isnan() for mask, _ in calls)
    assert [mask[1].item() for mask, _ in calls] == [1.0, -0.25, 0.625]
    assert all(each[0] == complex(0, INF) for _, each in calls)


def test_the_float64_reference_of_a_mask_is_a_mask() -> None:
    eager = observe_eager(in_float64(attention()), "cpu", Stopwatch())
    mask = eager.calls[0].state.tensors["mask"]
    assert mask.dtype == "float64" and np.isneginf(np.asarray(mask.values)).sum() == 6
