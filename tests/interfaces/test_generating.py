"""``exportdiff.strategies``: models drawn by Hypothesis, for tests of passes and backends."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, Phase, find, given, reject, settings
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

import exportdiff
from exportdiff.interfaces.model_strategies import DrawnModel
from support.hypothesis_profiles import examples

Pass = Callable[[torch.fx.Graph], None]

ENOUGH = settings(
    database=None,
    derandomize=True,
    max_examples=500,
    deadline=None,
    phases=[Phase.generate, Phase.shrink],  # to explain a failure, Hypothesis draws a hundred more
    suppress_health_check=list(HealthCheck),
)


def lines(source: str) -> int:
    return sum(bool(line.strip()) for line in source.splitlines())


# --- what is drawn ---


@settings(max_examples=examples(20))
@given(exportdiff.strategies.models())
def test_a_drawn_model_can_be_built_again(drawn: DrawnModel) -> None:
    (one, args, kwargs), (other, again, _) = drawn.build(), drawn.build()
    assert one is not other and isinstance(one, torch.nn.Module) and isinstance(kwargs, dict)
    for mine, theirs in zip(one.state_dict().values(), other.state_dict().values(), strict=True):
        assert torch.equal(mine, theirs) or mine.isnan().any()
    assert len(args) == len(again)
    assert drawn.tags <= set(exportdiff.strategies.tag_names()) and drawn.tags
    assert eval(repr(drawn), {"exportdiff": exportdiff}) == drawn


@settings(max_examples=examples(50))
@given(exportdiff.strategies.models(forbid=exportdiff.strategies.IN_PLACE))
def test_what_is_forbidden_is_not_drawn(drawn: DrawnModel) -> None:
    assert not [tag for tag in drawn.tags if tag.startswith(("inplace.", "update."))]


def test_without_forbidding_it_is_drawn() -> None:
    seen: set[str] = set()

    @settings(max_examples=30, phases=[Phase.generate], deadline=None)
    @given(exportdiff.strategies.models())
    def look(drawn: DrawnModel) -> None:
        seen.update(drawn.tags)

    look()
    assert {"inplace.value", "inplace.buffer"} <= seen


@settings(max_examples=examples(20))
@given(exportdiff.strategies.models(profile="dynamic"))
def test_dynamic_shapes_come_with_probes(drawn: DrawnModel) -> None:
    _, args, kwargs = drawn.build()
    assert isinstance(drawn.dynamic_shapes, dict) == bool(drawn.probes) == ("dynamic_shapes" in drawn.source)
    for more, further in drawn.probes:
        assert len(more) == len(args) and further.keys() == kwargs.keys()


def test_a_model_written_by_hand() -> None:
    drawn = exportdiff.strategies.DrawnModel(
        "import torch\n\ndef make():\n    return torch.nn.ReLU(), (torch.ones(2),)\n"
    )
    model, args, kwargs = drawn.build()
    assert torch.equal(model(*args, **kwargs), torch.ones(2))
    assert (drawn.tags, drawn.dynamic_shapes, drawn.probes) == (frozenset(), None, [])


@pytest.mark.parametrize("source", ["x = 1\n", "no end", "'''\n\"\"\"\n", "back\\slash\n", '"""\n', "a\r\n"])
def test_the_repr_of_any_source_makes_it_again(source: str) -> None:
    assert eval(repr(DrawnModel(source)), {"exportdiff": exportdiff}).source == source


def test_programs_are_plain_data() -> None:
    one = find(exportdiff.strategies.programs(allow=()), lambda program: True, settings=ENOUGH)
    assert len(one.classes) == 1 and hash(one) is not None


# --- mistakes ---


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"profile": "wild"}, "there is no such profile; there are default"),
        ({"forbid": ["in_place"]}, "forbid: no switch matches 'in_place'"),
        ({"allow": ["nothing.*"]}, "allow: no switch matches"),
        ({"allow": "control.*"}, r"give a list of patterns, such as \['control"),
        ({"allow": ["control.*"], "profile": "core"}, "give one of them"),
    ],
)
def test_a_mistake_is_said(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        exportdiff.strategies.models(**arguments)


# --- shrinking ---


def smallest(wanted: Callable[[DrawnModel], bool], allow: list[str], start: int = 0) -> str:
    strategy = exportdiff.strategies.models(allow=allow)
    return find(strategy, wanted, settings=ENOUGH, random=random.Random(start)).source


def test_an_in_place_op_shrinks_to_15_lines() -> None:
    assert lines(smallest(lambda m: "inplace.value" in m.tags, ["inplace.*", "op.inplace.value"])) <= 15


@pytest.mark.nightly
def test_an_in_place_op_shrinks_to_10_lines_from_one_of_four_starts() -> None:
    """What is found first in a child may stay there: Hypothesis seldom moves it to the root class."""
    sources = [
        smallest(lambda m: "inplace.value" in m.tags, ["inplace.*", "op.inplace.value"], start)
        for start in range(4)
    ]
    assert all("_(" in source for source in sources)
    assert min(map(lines, sources)) <= 10 and max(map(lines, sources)) <= 15, sources


def test_two_modules_shrink_to_a_few_lines() -> None:
    source = smallest(lambda m: m.source.count("(nn.Module)") == 2, [])
    assert lines(source) <= 15, source


FAILS = """\
import exportdiff
from hypothesis import Phase, given, settings


@settings(derandomize=True, database=None, max_examples=20, phases=[Phase.generate, Phase.shrink])
@given(exportdiff.strategies.models(allow=["control.if"]))
def test_it(drawn):
    assert "impossible" in drawn.source


test_it()
"""


def test_a_failing_example_prints_what_can_be_pasted() -> None:
    run = subprocess.run([sys.executable, "-c", FAILS], capture_output=True, text=True, check=False)
    start = run.stderr.index("exportdiff.strategies.DrawnModel(")
    pasted = run.stderr[start : run.stderr.index('""")', start) + 4]
    drawn = eval(pasted, {"exportdiff": exportdiff})
    model, args, _ = drawn.build()
    assert model(*args).shape == args[0].shape
    assert lines(drawn.source) <= 10, drawn.source


# --- a compiler pass: docs/guides/your-own-compiler-pass.md shows this test ---


def drop_double_negation(graph: torch.fx.Graph) -> None:
    """A right pass: ``-(-x)`` becomes ``x``."""
    for node in graph.find_nodes(op="call_function", target=torch.ops.aten.neg.default):
        (once,) = node.args
        if once.target is torch.ops.aten.neg.default:
            node.replace_all_uses_with(once.args[0])
            graph.erase_node(node)


def mix_up(graph: torch.fx.Graph) -> None:
    """A wrong pass: it takes every subtraction for an addition."""
    for node in graph.find_nodes(op="call_function", target=torch.ops.aten.sub.Tensor):
        node.target = torch.ops.aten.add.Tensor


def check_pass(
    my_pass: Pass, examples: int, phases: Sequence[Phase] = tuple(Phase), **drawn_with: Any
) -> None:
    @settings(deadline=None, max_examples=examples, database=None, derandomize=True, phases=phases)
    @given(exportdiff.strategies.models(**drawn_with))
    def test_my_pass(drawn: DrawnModel) -> None:
        model, args, kwargs = drawn.build()
        try:
            module = torch.export.export(model, args, kwargs).module()
            expected = module(*args, **kwargs)
        except Exception:
            reject()  # torch.export refuses some models, and has bugs of its own on others
        my_pass(module.graph)
        module.recompile()
        torch.testing.assert_close(module(*args, **kwargs), expected, rtol=0, atol=0, equal_nan=True)

    test_my_pass()


EXPORTED = examples(12)
"""Models that a right pass is tried on: each is exported, which takes a second or two."""


def test_a_right_pass_passes() -> None:
    plain = [*exportdiff.strategies.IN_PLACE, *exportdiff.strategies.RANDOM, "output.*", "calls.group*"]
    plain.append("region.func_grad")  # torch.export of these returns fake tensors: an entry of the corpus
    check_pass(drop_double_negation, EXPORTED, forbid=plain)


def test_a_wrong_pass_is_found() -> None:
    with pytest.raises(AssertionError, match="not equal"):
        check_pass(mix_up, 100, [Phase.generate], allow=["op.zip"])


@pytest.mark.nightly
def test_what_a_wrong_pass_fails_on_shrinks() -> None:
    with pytest.raises(AssertionError, match="not equal") as caught:
        check_pass(mix_up, 100, allow=["op.zip"])
    text = "\n".join(caught.value.__notes__)
    assert "DrawnModel" in text and "- " in text
    start, end = text.index('("""'), text.index('""")')
    assert lines(text[start:end]) <= 10, text


def test_a_drawn_model_goes_to_the_other_doors() -> None:
    """By ``st.just``, or ``@example``: a model of one's own among the drawn ones."""
    source = "import torch\n\ndef make():\n    return torch.nn.Tanh(), (torch.ones(2),)\n"
    drawn = find(st.just(exportdiff.strategies.DrawnModel(source)), lambda each: True)
    report = exportdiff.compare(
        drawn.build, dynamic_shapes=drawn.dynamic_shapes, probes=drawn.probes, paths="nonstrict:module"
    )
    assert report.judged and not report.found


def test_the_dynamic_profile_draws_dynamic_shapes() -> None:
    drawn = find(
        exportdiff.strategies.models(allow=["dynamic.shapes"]), lambda m: bool(m.probes), settings=ENOUGH
    )
    assert isinstance(drawn.dynamic_shapes, dict) and lines(drawn.source) <= 15, drawn
