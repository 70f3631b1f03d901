"""The first difference of a finding: the call, the module, the operator, the line and both values."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from exportdiff.core.case import Case, case_from_source
from exportdiff.core.first_difference import FirstDifference
from exportdiff.judging.places.find import first_difference, in_machine_code
from exportdiff.judging.verdict import judge
from exportdiff.lab.bench.places import VALUE_FAULTS, of_faults
from exportdiff.lab.faults.replacing import operator_of_a_call_replaced, operator_replaced
from exportdiff.runtime.paths import parse

SHARED = """
import torch
from torch import nn

class Center(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("average", torch.zeros(2))

    def forward(self, x):
        self.average = 0.5 * self.average + x.mean(0)  # assigned in a submodule
        return x - self.average

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.center = Center()

    def forward(self, x):
        return self.center(self.center(x) * 2)

def make():
    return Model(), (torch.ones(3, 2) + torch.arange(6.0).view(3, 2),)
"""

CHILD_WITH_BRANCHES = """
import torch
from torch import nn

class Child(nn.Module):
    def forward(self, x, twice):
        if twice:
            return torch.cond(x.sum() > 0, lambda t: t.sin(), lambda t: t - 7, (x,))
        with torch.no_grad():
            return x.exp()

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(x, True) + 1, self.child(x, False)

def make():
    return Model(), (torch.ones(3),)
"""


def places(source: str, path: str) -> list[FirstDifference]:
    """Return the first difference of each finding."""
    case = case_from_source(source)
    return [first_difference(case, each) for each in judge(case, [parse(path)]).findings]


@cache
def branches() -> Case:
    return case_from_source(CHILD_WITH_BRANCHES)


@pytest.mark.parametrize("path", ["nonstrict:module", "strict:module", "nonstrict+decompose:module"])
def test_state_that_is_not_written_is_the_statement_that_writes_it_in_eager(path: str) -> None:
    place = places(SHARED, path)[0]
    assert (place.call, place.module, place.module_call) == (0, "center", 2)
    assert place.operator == "aten.add"
    assert place.code == "self.average = 0.5 * self.average + x.mean(0)  # assigned in a submodule"
    assert (place.line, place.here) == (11, "0")


@pytest.mark.parametrize(
    "plant",
    [operator_replaced, operator_of_a_call_replaced],
    ids=["of the exported graph", "of a call variant"],
)
def test_a_replaced_operator_is_found_in_branches_and_regions(plant: object) -> None:
    operators = set()
    for seed in (0, 2, 4):
        with plant(str(seed)) as done:  # type: ignore[operator]
            finding = judge(branches(), [parse("nonstrict:unflatten")]).findings[0]
            place = first_difference(branches(), finding)
        assert (place.module, place.operator) == (done.module, done.operator)
        operators.add(place.operator)
    assert len(operators) == 3


def test_planted_bugs_are_found_where_they_are() -> None:
    names = [
        "assigned_buffers_keep_their_old_value",  # state
        "module_loses_input_updates",
        "detach_is_ignored",  # gradients
        "unflatten_detaches_parameters",
        "every_call_runs_the_first_calls_graph",
        "an_unflattened_submodule_keeps_its_own_parameters",  # a module that is wrapped
        "the_decomposition_of_relu_is_inverted",  # other operators
    ]
    assert set(names) <= VALUE_FAULTS.keys()
    assert [each.subject for each in of_faults(names) if not each.right_operator] == []


RAISES = """
import torch
from torch import nn

class Model(nn.Module):
    def forward(self, x):
        y = x * 2
        return torch.div(y, 2.0, rounding_mode="floor")

def make():
    return Model(), (torch.ones(2),)
"""


def test_a_crash_is_at_the_line_of_the_node_that_fails() -> None:
    from exportdiff.lab.faults import FAULTS

    with FAULTS["a_copied_node_loses_its_keyword_arguments"].plant():
        place = places(RAISES, "nonstrict+rewritten:module")[0]
    assert place.line == 8
    assert place.here.startswith("RuntimeError: aten::div() is missing value")


@pytest.mark.parametrize("path", ["aoti:package@cpu", "compile:inductor@cpu"])
def test_of_machine_code_the_graphs_are_searched_and_no_more(path: str) -> None:
    case, wanted = case_from_source(SHARED), parse(path)
    finding = next(
        each for each in judge(case, [parse("nonstrict:module")]).findings if each.check == "state"
    )
    place = first_difference(case, replace(finding, path=wanted, shown_on=(wanted,)))
    if wanted.mode == "aoti":  # the exported program itself is wrong
        assert (place.module, place.line, place.here) == ("center", 11, "0")
    else:  # Dynamo's graphs are right
        assert place.why_not == in_machine_code("torch")
        assert next(place.lines()).startswith("first difference not found: the graphs that are compiled")


def test_structure_names_the_module() -> None:
    from exportdiff.lab.faults import FAULTS

    fault = FAULTS["uncalled_modules_are_missing"]
    with fault.plant():
        assert places(fault.source, "nonstrict:unflatten")[0].module == "spare"


def test_lines_for_people() -> None:
    place = FirstDifference(0, "blocks.1", 2, "aten.mul", "/a/net.py", 14, "self.ema = y", "0.084", "0.0")
    assert list(place.lines()) == [
        "first difference: blocks.1 (2nd call), net.py:14",
        "    self.ema = y",
        "aten.mul: eager 0.084, here 0.0",
    ]
    assert list(FirstDifference(module="").lines()) == ["first difference: the model itself"]


RETURNED = {
    "another type": ("x = x + 1\n        return x.shape", "nonstrict:module"),
    "a buffer for a copied value": (
        "y = x + 1\n        self.last.copy_(y)\n        return y",
        "nonstrict+decompose:module",
    ),
    "a view of another input": ("x.add_(100)\n        return y[0]", "compile:aot_eager"),
}
"""Every operator is right; what the model returns is not, because of a known bug of torch."""

RETURNS = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("last", torch.zeros(4))

    def forward(self, x, y):
        BODY

def make():
    x = torch.arange(4.0)
    return Model(), (x, x[1:])
"""


@pytest.mark.parametrize(("body", "path"), RETURNED.values(), ids=RETURNED.keys())
def test_what_is_right_until_it_is_returned_differs_at_the_return(body: str, path: str) -> None:
    case = case_from_source(RETURNS.replace("BODY", body))
    findings = judge(case, [parse(path)]).findings
    (found,) = {first_difference(case, each) for each in findings if each.check in ("outputs", "aliasing")}
    assert (found.module, found.operator, found.code) == ("", "", body.splitlines()[-1].strip())
