"""What a run of the machine recognizes in how values move between state, and what copies of modules share."""

from __future__ import annotations

import pytest
import torch

from exportdiff.core.case import case_from_source
from exportdiff_strategies import Program, render
from exportdiff_strategies.machine import Machine, new_tensor
from exportdiff_strategies.program import (
    Again,
    Arg,
    Assign,
    Attr,
    Call,
    Child,
    ClassDef,
    Copied,
    Do,
    Expr,
    Fill,
    Held,
    Init,
    New,
    Op,
    Return,
    Set,
    Stmt,
    Tensor,
    TensorInput,
    Var,
)
from exportdiff_strategies.tags import tags_of
from exportdiff_strategies.types import dense
from exportdiff_strategies.values import Instance

X, V = Var("x"), Var("v")
A, B = Attr(("a",)), Attr(("b",))
STATE: tuple[Init, ...] = tuple(Tensor(name, "buffer", Fill((2,))) for name in "ab")


def program(*body: Stmt, init: tuple[Init, ...] = STATE, classes: tuple[ClassDef, ...] = ()) -> Program:
    """A model with two buffers and this body, called with a tensor ``x`` and a view ``y`` of it."""
    args = (Arg("x", "tensor"), Arg("y", "tensor"))
    given = (("x", TensorInput(Fill((2,)))), ("y", Again("x", "rows", (0, 1))))
    return Program((*classes, ClassDef("Model", init, args, body)), given)


def op(name: str, *operands: Expr) -> Op:
    return Op(name, operands)


def copy(target: Expr, value: Expr) -> Do:
    return Do(op("copy_", target, value))


NEW = Assign("v", op("add", X, A))
"""A value computed from the buffer ``a``."""


@pytest.mark.parametrize(
    ("tag", "with_it", "without"),
    [
        ("one_value_twice", [NEW, Set(("a",), V), copy(B, V)], [NEW, Set(("a",), V), copy(B, X)]),
        ("copied_then_overwritten", [copy(A, B), copy(B, X)], [copy(B, X), copy(A, B)]),
        ("copied_then_overwritten", [Set(("a",), B), Set(("b",), X)], [Set(("a",), B)]),
        ("recurrent", [NEW, copy(A, V)], [NEW, copy(B, V)]),
        (
            "read_between",
            [NEW, Assign("x", op("mul", X, A)), copy(A, V)],
            [NEW, copy(A, V), Assign("x", op("mul", X, A))],
        ),
    ],
)
def test_a_flow_is_recognized(tag: str, with_it: list[Stmt], without: list[Stmt]) -> None:
    assert f"flow.{tag}" in tags_of(program(*with_it, Return(X)))
    assert f"flow.{tag}" not in tags_of(program(*without, Return(X)))


def test_of_two_inputs_in_one_memory_one_is_written_and_the_other_viewed() -> None:
    write, view = Do(op("add_", X)), Op("rows", (Var("y"),), (0, 1))
    assert "flow.alias_written" in tags_of(program(write, Return(view)))
    assert "flow.alias_written" not in tags_of(program(Return(view)))
    assert "flow.alias_written" not in tags_of(program(write, Return(op("add_one", X))))


@pytest.mark.parametrize("written", [True, False])
def test_a_module_returns_what_its_caller_writes_to(written: bool) -> None:
    counts = ClassDef("C", STATE, (Arg("x", "tensor"),), (Do(op("add_", A)), Return(A)))
    call = Assign("v", Call(("c",), (X,)))
    write = (Do(op("mul_", V)),) if written else ()
    found = tags_of(program(call, *write, Return(V), init=(Child("c", New("C")),), classes=(counts,)))
    assert ("flow.returned_then_written" in found) is written


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("attr", ["a", "b", "k"])
def test_a_copy_shares_what_eager_shares(deep: bool, attr: str) -> None:
    """A shallow copy shares what is registered, also after it is rebound; a deep copy shares nothing."""
    rebinds = (Set(("b",), op("add", A, X)), Set(("k",), op("add_one", X)), Return(X))
    cls = ClassDef("C", (*STATE, Tensor("k", "constant", Fill((2,)))), (Arg("x", "tensor"),), rebinds)
    init = (Child("c", New("C")), Copied("d", ("c",), deep))
    body = (Do(Call(("c",), (X,))), Return(X))
    drawn = program(*body, init=init, classes=(cls,))
    machine = Machine(drawn.classes, drawn.training)
    model = machine.builder.build(New("Model"), None)
    x = new_tensor(dense((2,)))
    machine.call(model, (x, x), {}, [9])
    mine, copied = model.attrs["c"], model.attrs["d"]
    assert isinstance(mine, Instance) and isinstance(copied, Instance)
    real = case_from_source(render(drawn)).build().model
    real(torch.ones(2), torch.ones(1))
    shared = getattr(real.c, attr) is getattr(real.d, attr)
    assert (mine.attrs[attr] is copied.attrs[attr]) is shared
    assert shared is (not deep and attr != "k")


def test_tensors_in_plain_containers_are_written_as_such() -> None:
    items = (Tensor("", "parameter", Fill((2,))), Tensor("", "constant", Fill((2,), 2.0)))
    held = (Held("held", "dict", items, ("u", "v")),)
    source = render(program(Return(X), init=held))
    assert 'self.held = {"u": nn.Parameter(torch.ones(2)), "v": torch.full((2,), 2.0)}' in source
    assert not list(case_from_source(source).build().model.parameters())
