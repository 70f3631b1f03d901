"""Tensors and arguments of special kinds: they are judged, or not judged with a line that says why."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils import _pytree as pytree

from exportdiff.core.case import Case
from exportdiff.judging.checks.aliasing import WriteBarred
from exportdiff.judging.checks.outputs import OutputAttribute, OutputLeaf, PathRaised
from exportdiff.judging.checks.state import StateAdded
from exportdiff.judging.results import Verdict
from exportdiff.judging.verdict import judge
from exportdiff.runtime.observing import tensors
from exportdiff.runtime.observing.parts import CannotObserveError
from exportdiff.runtime.paths import parse
from support.wrappers import COMPOSED, UNREADABLE, Batch, jagged, titled, two

MODULE, RELOAD, DECOMPOSE = "nonstrict:module", "nonstrict+reload:module", "nonstrict+decompose:module"
COMPILE = "compile:aot_eager"


class Calls(nn.Module):
    """Calls a function with itself and the arguments."""

    def __init__(self, function: Callable[..., Any], state: torch.Tensor | None = None) -> None:
        super().__init__()
        self.function = function
        if isinstance(state, nn.Parameter):
            self.state = state
        elif state is not None:
            self.register_buffer("state", state)

    def forward(self, *args: Any) -> Any:
        return self.function(self, *args)


def _judged(
    paths: str, function: Callable[..., Any], *args: Callable[[], object], state: Any = lambda: None
) -> Verdict:
    def make() -> object:
        return Calls(function, state()), tuple(each() for each in args)

    return judge(Case("special", repr(function), make), [parse(path) for path in paths.split()])


def _x() -> torch.Tensor:
    return torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def _agrees(verdict: Verdict) -> set[str]:
    assert verdict.valid, verdict.invalid_reason
    return {str(result.path).removesuffix("@cpu") for result in verdict.paths if result.status == "ok"}


def test_a_parameter_of_two_tensors_has_other_names_after_decompositions() -> None:
    def parameter() -> nn.Parameter:
        return nn.Parameter(two())

    paths = f"{MODULE} {RELOAD} {DECOMPOSE}"
    verdict = _judged(paths, lambda model, x: x + model.state.sum(), _x, state=parameter)
    assert _agrees(verdict) == {MODULE, RELOAD}
    assert not any(isinstance(each.evidence, StateAdded) for each in verdict.findings)
    (decomposed,) = [each for each in verdict.paths if str(each.path) == f"{DECOMPOSE}@cpu"]
    assert decomposed.excused == ("subclasses-in-state-are-unwrapped",)


@pytest.mark.parametrize(
    ("kind", "function"),
    [
        ("two tensors", lambda model, x: x * 2 + model.state),
        ("of a user", lambda model, x: x * 2 + model.state),
        ("coordinates", lambda model, x: torch.sparse.mm(x, model.state.to_dense()).to_sparse()),
        ("rows", lambda model, x: (x @ torch.ones(3, 2), (model.state @ torch.ones(3)))),
    ],
)
def test_inputs_buffers_and_results_that_consist_of_others(kind: str, function: Callable[..., Any]) -> None:
    verdict = _judged(f"{MODULE} {COMPILE}", function, COMPOSED[kind], state=COMPOSED[kind])
    assert _agrees(verdict) == {MODULE, COMPILE}


def test_a_wrong_part_of_a_result_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    # Only while torch exports, so that the path computes another scale than eager.
    def forward(model: Calls, x: torch.Tensor) -> torch.Tensor:
        return x * (3 if torch.compiler.is_compiling() else 2)

    verdict = _judged(MODULE, forward, two)
    (finding,) = verdict.findings
    assert isinstance(finding.evidence, OutputLeaf)
    assert (finding.evidence.leaf.word, finding.evidence.leaf.part) == ("value", ".a")


def test_jagged_inputs_and_results_agree() -> None:
    verdict = _judged(f"{MODULE} {COMPILE}", lambda model, x: x * 2, jagged)
    assert COMPILE in _agrees(verdict)
    assert {str(each.path) for each in verdict.unjudged} == set()


def test_sparse_gradients_are_compared() -> None:
    def make() -> object:
        return nn.Embedding(5, 3, sparse=True), (torch.tensor([1, 2, 1]),)

    verdict = judge(Case("embedding", "", make), [parse(MODULE), parse(COMPILE)])
    assert _agrees(verdict) == {MODULE, COMPILE}


class Color(Enum):
    RED = 1
    BLUE = 2


@pytest.mark.parametrize("keys", [(0, 5), (None, 5)], ids=str)
def test_keys_of_dicts_that_are_no_text(keys: tuple[Any, Any]) -> None:
    one, other = keys

    def forward(model: Calls, given: dict[Any, torch.Tensor]) -> dict[Any, torch.Tensor]:
        return {one: given[one] + 1, other: given[other] * 2}

    verdict = _judged(f"{MODULE} {RELOAD}", forward, lambda: {one: _x(), other: torch.ones(2)})
    assert _agrees(verdict) == {MODULE, RELOAD}


def test_tuple_keys_break_when_a_program_is_loaded() -> None:
    def forward(model: Calls, given: Any) -> Any:
        return [{(0, 1): given[0][0, 1] + 1}]

    example = [{(0, 1): torch.ones(2), (1, (2, "a")): torch.ones(3)}]
    verdict = _judged(f"{MODULE} {RELOAD}", forward, lambda: example)
    assert _agrees(verdict) == {MODULE}
    (finding,) = verdict.findings
    assert isinstance(finding.evidence, PathRaised) and finding.evidence.failure.name == "TypeError"


def test_enum_keys_are_judged() -> None:
    def forward(model: Calls, given: dict[Color, torch.Tensor]) -> torch.Tensor:
        return given[Color.RED] + given[Color.BLUE]

    verdict = _judged(f"{MODULE} {COMPILE}", forward, lambda: {Color.RED: _x(), Color.BLUE: _x()})
    assert COMPILE in _agrees(verdict)
    assert [type(each.evidence) for each in verdict.findings] in ([], [PathRaised])


@pytest.mark.parametrize("kind", UNREADABLE)
def test_what_cannot_be_read_is_not_judged(kind: str) -> None:
    verdict = _judged(f"{MODULE} {RELOAD}", lambda model, x: x.clone(), UNREADABLE[kind])
    assert (verdict.valid, verdict.paths, verdict.findings) == (True, (), ())
    assert [str(each.path) for each in verdict.unjudged] == [f"{MODULE}@cpu", f"{RELOAD}@cpu"]
    for each in verdict.unjudged:
        assert each.reason.startswith("exportdiff cannot read args[0], ") and kind in each.reason


def test_state_and_results_that_cannot_be_read_are_named() -> None:
    opaque = UNREADABLE["the layout _mkldnn"]
    (held,) = _judged(MODULE, lambda model, x: x + 1, _x, state=opaque).unjudged
    assert held.reason == "exportdiff cannot read state, a tensor with the layout _mkldnn"
    (returned,) = _judged(MODULE, lambda model, x: [x, x.to_mkldnn()], _x).unjudged
    assert returned.reason == "exportdiff cannot read output[1], a tensor with the layout _mkldnn"


def test_a_path_that_cannot_be_observed_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    from exportdiff.runtime.paths.run import exported

    def state_snapshot(module: nn.Module) -> object:
        if type(module).__name__ == "UnflattenedModule":
            raise CannotObserveError("a tensor of the class Odd")
        return tensors.state_snapshot(module)

    monkeypatch.setattr(exported, "state_snapshot", state_snapshot)
    paths = f"nonstrict:unflatten {MODULE} {RELOAD}"
    verdict = _judged(paths, lambda model, x: x + 1, _x)
    assert _agrees(verdict) == {MODULE, RELOAD}
    (left_out,) = verdict.unjudged
    assert str(left_out.path) == "nonstrict:unflatten@cpu"
    assert left_out.reason == "exportdiff cannot read a tensor of the class Odd"


def test_attributes_that_eager_reads_reach_it() -> None:
    def forward(model: Calls, batch: Batch) -> torch.Tensor:
        first: torch.Tensor = batch.items[0]
        return first * (3 if batch.title == "given" else 2)

    verdict = _judged(f"{MODULE} {COMPILE}", forward, lambda: titled(_x()))
    assert _agrees(verdict) == {COMPILE}
    (finding,) = verdict.findings
    assert isinstance(finding.evidence, OutputLeaf) and finding.evidence.leaf.expected in ("18.0", "3.0")


def test_attributes_that_are_lost_in_the_result_are_a_finding() -> None:
    def forward(model: Calls, x: torch.Tensor) -> list[Batch]:
        return [titled(x + 1, title="kept")]

    verdict = _judged(f"{MODULE} {COMPILE}", forward, _x)
    assert _agrees(verdict) == {COMPILE}
    (finding,) = verdict.findings
    assert finding.evidence == OutputAttribute(0, "[0].title", "str: 'kept'", "str: 'none'")


def _leaf() -> torch.Tensor:
    return _x().requires_grad_()


def _without_grad(model: Calls, x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return (x * 2).view(-1)


def test_a_result_that_cannot_be_written_in_place_is_a_finding() -> None:
    verdict = _judged(f"{MODULE} {COMPILE}", lambda model, x: (x * 2).unsqueeze_(0), _leaf)
    assert _agrees(verdict) == {MODULE}
    (finding,) = verdict.findings
    assert isinstance(finding.evidence, WriteBarred) and finding.evidence.output == "output"


@pytest.mark.parametrize(
    "function",
    [
        lambda model, x: x,  # a leaf that requires grad: eager raises too
        lambda model, x: model.state.view(1, 3),
        lambda model, x: (x * 2).chunk(3, 1),  # views of which eager allows no write
        lambda model, x: ((x * 2).view(-1), x.exp()),  # a write to what the backward pass needs
        lambda model, x: (x * 2)[:1].expand(4, 3),
        _without_grad,
    ],
    ids=["input", "view of a parameter", "chunks", "needed", "expanded", "no_grad"],
)
def test_writes_that_eager_refuses_too_are_no_finding(function: Callable[..., Any]) -> None:
    verdict = _judged(f"{MODULE} {COMPILE}", function, _leaf, state=lambda: nn.Parameter(torch.ones(3)))
    assert [text for each in verdict.findings for text in each.evidence.lines()] == []


def test_pytree_does_not_see_the_title() -> None:
    leaves, spec = pytree.tree_flatten(titled(_x()))
    assert pytree.tree_unflatten(leaves, spec).title == "none"
