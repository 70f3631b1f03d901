"""The float64 reference: rounding is told from wrong values where operators differ, and only there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest
import torch
from torch import nn

from exportdiff.core.case import Case
from exportdiff.judging.checks.aliasing import aliasing
from exportdiff.judging.checks.compare.leaves import compare_leaf
from exportdiff.judging.checks.outputs import outputs
from exportdiff.judging.exemptions.limits.inference import (
    bits_show_rounding,
    interpolated_bytes_show_rounding,
)
from exportdiff.judging.exemptions.limits.limit import Comparison
from exportdiff.judging.precision import in_float64, with_exact_values
from exportdiff.judging.verdict import judge
from exportdiff.runtime.observing.observation import Call, EagerObservation, Observation
from exportdiff.runtime.observing.tensors import TensorSnapshot, snapshot
from exportdiff.runtime.paths import select_paths
from exportdiff.runtime.paths.run.by_export import observe_paths
from exportdiff.runtime.paths.run.eager import observe_eager
from exportdiff.runtime.paths.stopwatch import Stopwatch
from support.evidence_of import limit_name

Array: TypeAlias = npt.NDArray[Any]


class Sum(nn.Module):
    """Adds up, from the front, or from the back: the same but for rounding."""

    def __init__(self, *, backwards: bool, error: float = 0.0) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(0.1))
        self.backwards = backwards
        self.error = error

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.flip(0) if self.backwards else x
        total = x[0] * self.scale
        for each in x[1:]:
            total = total + each * self.scale
        return total + self.error


def observed(*, backwards: bool = False, error: float = 0.0) -> EagerObservation:
    return observe_eager(case(backwards=backwards, error=error), "cpu", Stopwatch())


def case(*, backwards: bool = False, error: float = 0.0) -> Case:
    x = torch.linspace(0.1, 100.0, 50) ** 2
    return Case("sum", "", lambda: (Sum(backwards=backwards, error=error), (x,)))


def words(eager: EagerObservation, path: Observation) -> list[str]:
    found = [each for each in outputs(eager, path) if each.call == 0]
    return [each.words()[0] for each in found if not limit_name(each, eager, path)]


def both(call: Call) -> tuple[Array, Array]:
    """Return the values of the tensor that a call returns, and the exact ones."""
    assert call.outputs is not None
    (leaf,) = call.outputs.leaves
    assert isinstance(leaf.value, TensorSnapshot)
    values, exact = leaf.value.values, leaf.value.exact
    assert isinstance(values, np.ndarray) and isinstance(exact, np.ndarray)
    return values, exact


EXACT = with_exact_values(observed(), observe_eager(in_float64(case()), "cpu", Stopwatch()))


def test_the_reference_is_nearer_to_the_truth() -> None:
    values, exact = both(EXACT.calls[0])
    assert exact.dtype == "float64" and values.dtype == "float32"
    assert float(exact) != float(values)


def test_an_ordinary_call_after_a_deviating_one_has_its_exact_values() -> None:
    modes = ("nonstrict",)
    eager = observe_eager(case(), "cpu", Stopwatch(), modes)
    exact = with_exact_values(eager, observe_eager(in_float64(case()), "cpu", Stopwatch(), modes))
    later = [made.then for made in exact.deviations if made.then is not None]
    assert later
    for call in later:
        assert [value.dtype for value in both(call)] == ["float32", "float64"]


def test_a_probe_has_its_exact_values() -> None:
    def probed() -> Case:
        return replace(case(), probes=lambda: [((torch.linspace(0.1, 100.0, 60) ** 2,), {})])

    exact = with_exact_values(
        *(observe_eager(each, "cpu", Stopwatch()) for each in (probed(), in_float64(probed())))
    )
    (probe,) = [call for call in exact.calls if call.probe]
    assert [value.dtype for value in both(probe)] == ["float32", "float64"]


def test_rounding_is_a_difference_where_the_operators_are_the_same() -> None:
    assert words(EXACT, observed(backwards=True)) == ["rounding"]


def test_rounding_is_none_where_they_differ() -> None:
    assert words(EXACT, replace(observed(backwards=True), same_operators=False)) == []


def test_a_wrong_value_is_wrong_everywhere() -> None:
    wrong = observed(backwards=True, error=0.5)
    for same in (True, False):
        assert words(EXACT, replace(wrong, same_operators=same)) == ["value"]


class Returned(nn.Module):
    """Returns one tensor twice: a write to the one output shows in the other."""

    def __init__(self, *, backwards: bool, error: float) -> None:
        super().__init__()
        self.sum = Sum(backwards=backwards, error=error)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        total = self.sum(x)
        return total, total


@pytest.mark.parametrize(("error", "found"), [(0.0, set()), (5.0, {("write", "output", "value")})])
def test_what_a_write_to_an_output_changes_has_its_exact_values(
    error: float, found: set[tuple[str, ...]]
) -> None:
    def returned(*, backwards: bool, error: float = 0.0) -> Case:
        x = torch.tensor([1e6, 0.1, 0.2, 0.3, -1e6, 0.4, 0.5])
        return Case("returned", "", lambda: (Returned(backwards=backwards, error=error), (x,)))

    def observe(case: Case) -> EagerObservation:
        return observe_eager(case, "cpu", Stopwatch(), modes=("nonstrict",))

    plain = returned(backwards=True)
    eager, exact = (observe(each) for each in (plain, in_float64(plain)))
    eager = with_exact_values(eager, exact)
    path = observe(returned(backwards=False, error=error))
    path = replace(path, same_operators=False)
    assert {each.words() for each in aliasing(eager, path) if not limit_name(each, eager, path)} == found


class Asks(nn.Module):
    """Adds up in another order when it is exported, as models do that avoid branches then."""

    def __init__(self, error: float) -> None:
        super().__init__()
        self.eager = Sum(backwards=False)
        self.exported = Sum(backwards=True, error=error)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        total: torch.Tensor = self.exported(x) if torch.compiler.is_exporting() else self.eager(x)
        return total


@pytest.mark.parametrize(
    ("may_ask", "error", "found"), [(False, 0.0, True), (True, 0.0, False), (True, 1.0, True)]
)
def test_a_model_that_may_ask_may_round(may_ask: bool, error: float, found: bool) -> None:
    x = torch.linspace(0.1, 100.0, 50) ** 2
    asked = Case("asks", "", lambda: (Asks(error), (x,)), may_ask=may_ask)
    verdict = judge(asked, select_paths(["nonstrict:module"]))
    assert any(each.check == "outputs" for each in verdict.findings) == found


class Bits(nn.Module):
    """Returns the bits of what other operators round in another way, and a count."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return nn.functional.silu(x).view(torch.int32), torch.ones(2, dtype=torch.int32)


def test_bits_of_rounded_numbers_show_their_rounding_and_no_other_output_may() -> None:
    of_bits = Case("bits", "", lambda: (Bits(), (torch.linspace(2.0, -1.5, 6).view(3, 2),)))
    verdict = judge(of_bits, select_paths(["nonstrict+decompose:module"]), ["outputs"])
    assert verdict.findings == () and verdict.paths[0].excused == ("bits-show-rounding",)
    eager = observe_eager(of_bits, "cpu", Stopwatch())
    (seen,) = observe_paths(of_bits, select_paths(["nonstrict+decompose:module"]), Stopwatch())
    for place, off, excused in (("[0]", 1, True), ("[0]", 100, False), ("[1]", 1, False)):
        wrong = replace(eager, calls=(off_by(eager.calls[0], place, off), *eager.calls[1:]))
        (evidence,) = outputs(eager, wrong)
        compared = Comparison(evidence, eager, replace(seen, same_operators=False))
        assert bits_show_rounding(compared) == excused, (place, off)


class Enlarged(nn.Module):
    """Returns an enlarged image of bytes, and the image itself."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return nn.functional.interpolate(x, size=(5, 7), mode="bicubic"), x.clone()


def test_interpolated_bytes_may_be_off_by_one_and_no_other_output_may() -> None:
    image = torch.arange(60, 120, dtype=torch.uint8).view(1, 3, 4, 5) * 2
    enlarged = Case("enlarged", "", lambda: (Enlarged(), (image,)))
    eager = observe_eager(enlarged, "cpu", Stopwatch())
    (seen,) = observe_paths(enlarged, select_paths(["nonstrict+decompose:module"]), Stopwatch())
    for place, off, excused in (("[0]", 1, True), ("[0]", 2, False), ("[1]", 1, False)):
        wrong = replace(eager, calls=(off_by(eager.calls[0], place, off), *eager.calls[1:]))
        (evidence,) = outputs(eager, wrong)
        compared = Comparison(evidence, eager, replace(seen, same_operators=False))
        assert interpolated_bytes_show_rounding(compared) == excused, (place, off)


def off_by(call: Call, place: str, off: int) -> Call:
    """Return a call with an output that is off by so much."""
    assert call.outputs is not None
    leaves = []
    for leaf in call.outputs.leaves:
        assert isinstance(leaf.value, TensorSnapshot) and isinstance(leaf.value.values, np.ndarray)
        value = replace(leaf.value, values=leaf.value.values + off) if leaf.where == place else leaf.value
        leaves.append(replace(leaf, value=value))
    return replace(call, outputs=replace(call.outputs, leaves=tuple(leaves)))


class Diagonal(nn.Module):
    """The gradient of its input is a view in eager, and a new tensor where the operator is decomposed."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.diag(x)


def test_gradients_of_a_decomposed_program_may_have_other_strides() -> None:
    model = Case("diagonal", "", lambda: (Diagonal(), (torch.ones(3, requires_grad=True),)))
    verdict = judge(model, select_paths(["nonstrict+decompose:module"]), ["gradients"])
    assert verdict.findings == ()
    assert verdict.paths[0].excused == ("gradients-of-inference-have-other-strides",)


@pytest.mark.parametrize("seed", [7, 36, 43, 46])
def test_eager_may_be_nearer_to_the_reference_by_luck(seed: int) -> None:
    def make() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
        torch.manual_seed(seed)
        layer = nn.TransformerDecoderLayer(4, 2, 16, 0.0)
        return layer, (torch.rand(2, 3, 4) * 18 - 9, torch.rand(2, 3, 4) * 18 - 9)

    verdict = judge(Case("decoder", "", make), select_paths(["nonstrict+decompose:module"]))
    assert verdict.findings == ()
    assert verdict.paths[0].excused == ("other-operators-round",)


@pytest.mark.parametrize(("units", "word"), [(60, "rounding"), (70, "value")])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_64_units_of_the_largest_element_are_rounding(dtype: torch.dtype, units: int, word: str) -> None:
    given = torch.tensor([0.5, 1.0], dtype=dtype)
    eager = replace(snapshot(given), exact=given.double().numpy())
    off = given + torch.tensor([units * torch.finfo(dtype).eps, 0.0], dtype=dtype)
    found = compare_leaf(eager, snapshot(off))
    assert found is not None and found.word == word


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_of_low_precision_only_what_torch_tolerates_is_rounding(dtype: torch.dtype) -> None:
    given = torch.tensor([0.5, 1.0], dtype=dtype)
    eager = replace(snapshot(given), exact=given.double().numpy())
    found = compare_leaf(eager, snapshot(given + torch.tensor([0.05, 0.0], dtype=dtype)))
    assert found is not None and found.word == "value"
