"""A probe that cannot be compared is a mistake of the user, and is named."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.export import Dim

import exportdiff
from exportdiff.core.case import Case

pytestmark = pytest.mark.usefixtures("no_known_bugs")


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor, n: int = 2) -> torch.Tensor:
        if x.shape[0] == 7:
            raise ValueError("seven rows")
        return x * n


def probe(*shape: int, **more: Any) -> tuple[tuple[torch.Tensor], dict[str, Any]]:
    return (torch.ones(shape, dtype=more.pop("dtype", None)),), more


ROWS = Dim("rows", max=8)
MISTAKES: dict[str, tuple[object, list[object], str]] = {
    "no dynamic shapes": (
        None,
        [probe(4, 2), probe(3, 2)],
        "probe 1: x has size 3 in dimension 0, in the example 4; declare it in dynamic_shapes",
    ),
    "another dimension": ({"x": {0: ROWS}}, [probe(3, 3)], "probe 0: x has size 3 in dimension 1"),
    "a static dimension": (((Dim.AUTO, Dim.STATIC),), [probe(3, 3)], "probe 0: x has size 3 in dimension 1"),
    "outside of the range": (({0: ROWS},), [probe(9, 2)], "Dim 'rows' goes from 0 to 8"),
    "two sizes of one Dim": ({"x": (ROWS, ROWS)}, [probe(3, 5)], "Dim 'rows' has size 3 elsewhere"),
    "another dtype": ({"x": {0: ROWS}}, [probe(3, 2, dtype=torch.float64)], "probe 0: x is torch.float64"),
    "another rank": ({"x": {0: ROWS}}, [probe(3, 2, 1)], "probe 0: x has 3 dimensions, in the example 2"),
    "eager raises": (
        {"x": {0: ROWS}},
        [probe(3, 2), probe(7, 2)],
        "eager raised ValueError in probe 1: seven rows",
    ),
    "eager raises after a small probe": (
        {"x": {0: Dim.AUTO}},
        [probe(1, 2), probe(7, 2)],
        "eager raised ValueError in probe 1: seven rows",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_probe_that_is_a_mistake_is_named(name: str) -> None:
    shapes, probes, said = MISTAKES[name]
    example = (torch.ones(4, 4 if name == "two sizes of one Dim" else 2),)
    report = exportdiff.compare(
        Model(), example, dynamic_shapes=shapes, probes=probes, paths=["nonstrict:module"]
    )
    assert (report.exit_code(), report.found) == (2, ())
    assert said in report.why_unjudged()


def test_the_value_of_an_argument_is_no_size() -> None:
    probes = [((torch.ones(4, 2),), {"n": 3})]
    report = exportdiff.compare(
        Model(), (torch.ones(4, 2),), {"n": 2}, probes=probes, paths=["nonstrict:module"]
    )
    assert report.why_unjudged() == "probe 0: n is 3, in the example 2; export fixes Python values"


def test_probes_of_declared_sizes_are_judged_also_after_a_small_one() -> None:
    class Fixed(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * (4 if torch.compiler.is_exporting() else x.shape[0])

    report = exportdiff.compare(
        Fixed(),
        (torch.ones(4, 2),),
        dynamic_shapes={"x": {0: Dim.AUTO}},
        probes=[probe(1, 2), probe(5, 2)],
        paths=["nonstrict:module"],
    )
    (found,) = report.failing()
    assert found.finding.call == 3


def test_the_probes_of_a_drawn_program_keep_their_order() -> None:
    case = Case(
        "drawn", "", lambda: (Model(), (torch.ones(4, 2),)), probes=lambda: [probe(1, 2), probe(3, 2)]
    )
    assert case.build().order == (0, 1)
