"""Idioms do in eager what their table says, and change nothing else of a Program."""

from __future__ import annotations

from dataclasses import replace
from textwrap import indent

import pytest
import torch

from exportdiff.core.case import case_from_source
from exportdiff_strategies import Program, draw_program, render
from exportdiff_strategies import program as ir
from exportdiff_strategies.idioms import EXTRA, KINDS, NEW, OTHER, SAME, Idiom
from exportdiff_strategies.machine import Machine
from exportdiff_strategies.ops import Rejected
from exportdiff_strategies.profiles import IDIOMS, IDIOMS_LEFT_OUT
from exportdiff_strategies.tags import tags_of
from exportdiff_strategies.types import dense

SHAPE = (2, 3)
LARGEST = 2.25
COMPILED = ("cond_form", "associative_scan", "flex_attention")
"""The kinds of which eager compiles something: a second each."""

X = ir.Var("x")


def source(idiom: Idiom, dtype: str) -> str:
    """A model that consists of an idiom."""
    return "\n".join(
        (
            *idiom.imports,
            "import torch\nimport torch.nn.functional as F\nfrom torch import nn",
            idiom.preamble,
            "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()",
            indent(idiom.init, " " * 8),
            f"    def forward(self, x{f', *, {EXTRA}' if idiom.given else ''}):",
            indent("\n".join(idiom.lines("x", "x")), " " * 8),
            "        return x",
            "def make():\n    torch.manual_seed(0)",
            f"    x = torch.linspace(-1.5, {LARGEST}, 6, dtype=torch.{dtype}).view{SHAPE}",
            f"    return Model(), (x,), {{{f'{EXTRA!r}: {idiom.given}' if idiom.given else ''}}}",
        )
    )


def wrong(idiom: Idiom, dtype: str) -> list[str]:
    """What is not as the table says in one of three calls in train mode."""
    built = case_from_source(source(idiom, dtype)).build()
    found = []
    for requires_grad in (False, False, True):
        x = built.args[0].clone().requires_grad_(requires_grad)
        result = built.model(x, **built.kwargs)
        if idiom.gives == SAME and result is not x:
            found.append("gives another tensor")
        if idiom.gives != NEW:
            continue
        outcome = idiom.outcome(Known(dtype))
        if type(result) is not torch.Tensor or result is x:
            found.append(f"gives {type(result).__name__}")
        elif dense(tuple(result.shape), str(result.dtype).removeprefix("torch.")) != outcome.type:
            found.append(f"gives {result.dtype} {tuple(result.shape)}")
        elif result.requires_grad is not ((requires_grad or idiom.trains) and not idiom.detached):
            found.append(f"requires_grad is {result.requires_grad}")
        elif not result.is_contiguous() or float(result.detach().abs().max()) > outcome.bound:
            found.append("another memory layout, or a value that is too large")
        if result.requires_grad:
            result.sum().backward()
    return found


class Known:
    """The operand of an idiom, as the machine knows it."""

    bound, grad, lazy = LARGEST, False, False

    def __init__(self, dtype: str) -> None:
        """A tensor of this dtype."""
        self.type = dense(SHAPE, dtype)


@pytest.mark.parametrize("kind", KINDS)
def test_idioms_do_what_their_table_says(kind: str) -> None:
    idioms = KINDS[kind].idioms
    found = {
        (number, dtype): wrong(idiom, dtype)
        for number, idiom in enumerate(idioms[:1] if kind in COMPILED else idioms)
        for dtype in idiom.dtypes
    }
    assert {key: problems for key, problems in found.items() if problems} == {}


@pytest.mark.nightly
@pytest.mark.parametrize("kind", COMPILED)
def test_compiled_idioms_do_what_their_table_says(kind: str) -> None:
    found = {number: wrong(idiom, "float32") for number, idiom in enumerate(KINDS[kind].idioms)}
    assert {key: problems for key, problems in found.items() if problems} == {}


def test_without_its_idiom_a_program_is_as_before() -> None:
    with_one = 0
    for example in range(25):
        drawn, before = (
            draw_program(2, example, "wide", forbidden) for forbidden in (frozenset(), frozenset(IDIOMS))
        )
        uses = ir.of_type(drawn.classes, ir.UseIdiom)
        assert len(uses) <= 1
        with_one += len(uses)
        if not uses:
            assert render(drawn) == render(before)
        else:
            assert ir.of_type(drawn.classes, ir.Op) == ir.of_type(before.classes, ir.Op)
            assert f"idiom.{uses[0].kind}" in tags_of(drawn)
    assert with_one


def test_the_core_profile_has_no_idioms() -> None:
    assert not any(ir.of_type(draw_program(0, example, "core").classes, ir.UseIdiom) for example in range(25))


def test_a_profile_leaves_out_idioms_whose_switches_are_off_in_it() -> None:
    drawn = [draw_program(4, example, "inference") for example in range(60)]
    kinds = {use.kind for one in drawn for use in ir.of_type(one.classes, ir.UseIdiom)}
    assert kinds
    assert not {f"idiom.{kind}" for kind in kinds} & IDIOMS_LEFT_OUT["inference"]
    assert IDIOMS_LEFT_OUT["inference"] < frozenset(IDIOMS)


def program(kind: str, number: int, *, region: str = "", operator: bool = False) -> Program:
    """A model with an idiom in a ``with`` block or in a control-flow operator."""
    use: tuple[ir.Stmt, ...] = (ir.UseIdiom(kind, number, "x", X),)
    if operator:
        made = (ir.Return(ir.Op("add_one", (X,))),)
        then, orelse = ir.LocalFunction("f", ("x",), (*use, *made)), ir.LocalFunction("g", ("x",), made)
        use = (ir.Control("cond", "x", (X,), (then, orelse)),)
    if region:
        use = (ir.With(region, use),)
    cls = ir.ClassDef("Model", (), (ir.Arg("x", "tensor"),), (*use, ir.Return(X)))
    return Program((cls,), (("x", ir.TensorInput(ir.Fill((2,)))),))


def number_of(kind: str, text: str) -> int:
    """The idiom of a kind that contains a text."""
    return next(n for n, idiom in enumerate(KINDS[kind].idioms) if text in idiom.body)


def test_an_idiom_that_reads_the_mode_has_the_tag_of_a_branch_on_it() -> None:
    tagged = set()
    for kind in KINDS:
        for number, idiom in enumerate(KINDS[kind].idioms):
            drawn = program(kind, number)
            init = (ir.InitIdiom(kind, number),) if idiom.init else ()
            drawn = replace(drawn, classes=(replace(drawn.classes[0], init=init),))
            if Machine(drawn.classes).accepts(drawn):
                has_tag = "control.training" in tags_of(drawn)
                assert has_tag is ("self.training" in idiom.body), (kind, number)
                tagged.add(has_tag)
    assert tagged == {True, False}


def test_the_machine_rejects_an_idiom_where_its_effect_is_not_known() -> None:
    seed = number_of("seed", "rand_like")
    hook = number_of("gradient_hook", "ones_like")
    for rejected in (
        program("seed", seed, region="autocast"),
        program("seed", seed, operator=True),
        program("gradient_hook", hook, region="inference_mode"),
    ):
        with pytest.raises(Rejected):
            Machine(rejected.classes).run_program(rejected)
    assert Machine(program("seed", seed).classes).accepts(program("seed", seed, region="no_grad"))


def test_a_module_with_a_computed_tensor_is_not_deeply_copied() -> None:
    judged = {}
    inits = ((name, number, each.init) for name in KINDS for number, each in enumerate(KINDS[name].idioms))
    for kind, number, init in inits:
        if not init:
            continue
        body = (ir.UseIdiom(kind, number, "x", X), ir.Return(X))
        part = ir.ClassDef("A", (ir.InitIdiom(kind, number),), (ir.Arg("x", "tensor"),), body)
        copied = (ir.NewChild("a", ir.New("A")), ir.CopiedModule("b", ("a",), deep=True))
        root = ir.ClassDef("Model", copied, (ir.Arg("x", "tensor"),), (ir.Return(X),))
        drawn = Program((part, root), (("x", ir.TensorInput(ir.Fill((2,)))),))
        try:
            case_from_source(render(drawn)).build()
            refused = False
        except RuntimeError as error:
            assert "deepcopy" in str(error)
            refused = True
        judged[kind, number] = (refused, not Machine(drawn.classes).accepts(drawn))
    assert {key: both for key, both in judged.items() if both[0] is not both[1]} == {}
    assert {key for key, (refused, _) in judged.items() if refused} >= {("pruned", 0)}


def test_another_object_is_returned_by_the_model_alone() -> None:
    for example in range(200):
        drawn = draw_program(6, example)
        for cls in drawn.classes[:-1]:
            for use in ir.of_type(cls.bodies, ir.UseIdiom):
                assert KINDS[use.kind].idioms[use.number].gives != OTHER
