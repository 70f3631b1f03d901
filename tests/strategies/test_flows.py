"""What a run of the machine recognizes in how values move between state, and what copies of modules share."""

from __future__ import annotations

import pytest
import torch

from exportdiff.core.case import case_from_source
from exportdiff_strategies import Program, render
from exportdiff_strategies import program as ir
from exportdiff_strategies.machine import Machine, new_tensor
from exportdiff_strategies.tags import tags_of
from exportdiff_strategies.types import dense
from exportdiff_strategies.values import Instance

X, V = ir.Var("x"), ir.Var("v")
A, B = ir.Attr(("a",)), ir.Attr(("b",))
STATE: tuple[ir.Init, ...] = tuple(ir.TensorAttr(name, "buffer", ir.Fill((2,))) for name in "ab")


def program(
    *body: ir.Stmt, init: tuple[ir.Init, ...] = STATE, classes: tuple[ir.ClassDef, ...] = ()
) -> Program:
    """A model with two buffers and this body, called with a tensor ``x`` and a view ``y`` of it."""
    args = (ir.Arg("x", "tensor"), ir.Arg("y", "tensor"))
    given = (("x", ir.TensorInput(ir.Fill((2,)))), ("y", ir.AliasInput("x", "rows", (0, 1))))
    return Program((*classes, ir.ClassDef("Model", init, args, body)), given)


def op(name: str, *operands: ir.Expr) -> ir.Op:
    return ir.Op(name, operands)


def copy(target: ir.Expr, value: ir.Expr) -> ir.Do:
    return ir.Do(op("copy_", target, value))


NEW = ir.Assign("v", op("add", X, A))
"""A value computed from the buffer ``a``."""


@pytest.mark.parametrize(
    ("tag", "with_it", "without"),
    [
        (
            "one_value_twice",
            [NEW, ir.SetAttr(("a",), V), copy(B, V)],
            [NEW, ir.SetAttr(("a",), V), copy(B, X)],
        ),
        ("copied_then_overwritten", [copy(A, B), copy(B, X)], [copy(B, X), copy(A, B)]),
        ("copied_then_overwritten", [ir.SetAttr(("a",), B), ir.SetAttr(("b",), X)], [ir.SetAttr(("a",), B)]),
        ("recurrent", [NEW, copy(A, V)], [NEW, copy(B, V)]),
        (
            "read_between",
            [NEW, ir.Assign("x", op("mul", X, A)), copy(A, V)],
            [NEW, copy(A, V), ir.Assign("x", op("mul", X, A))],
        ),
    ],
)
def test_a_flow_is_recognized(tag: str, with_it: list[ir.Stmt], without: list[ir.Stmt]) -> None:
    assert f"flow.{tag}" in tags_of(program(*with_it, ir.Return(X)))
    assert f"flow.{tag}" not in tags_of(program(*without, ir.Return(X)))


def test_one_of_two_aliased_inputs_is_written() -> None:
    write, view = ir.Do(op("add_", X)), ir.Op("rows", (ir.Var("y"),), (0, 1))
    assert "flow.alias_written" in tags_of(program(write, ir.Return(view)))
    assert "flow.alias_written" not in tags_of(program(ir.Return(view)))
    assert "flow.alias_written" not in tags_of(program(write, ir.Return(op("add_one", X))))


@pytest.mark.parametrize("written", [True, False])
def test_a_module_returns_what_its_caller_writes_to(written: bool) -> None:
    counts = ir.ClassDef("C", STATE, (ir.Arg("x", "tensor"),), (ir.Do(op("add_", A)), ir.Return(A)))
    call = ir.Assign("v", ir.CallModule(("c",), (X,)))
    write = (ir.Do(op("mul_", V)),) if written else ()
    found = tags_of(
        program(call, *write, ir.Return(V), init=(ir.NewChild("c", ir.New("C")),), classes=(counts,))
    )
    assert ("flow.returned_then_written" in found) is written


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("attr", ["a", "b", "k"])
def test_a_copy_shares_what_eager_shares(deep: bool, attr: str) -> None:
    """A shallow copy shares what is registered, also after it is rebound; a deep copy shares nothing."""
    rebinds = (ir.SetAttr(("b",), op("add", A, X)), ir.SetAttr(("k",), op("add_one", X)), ir.Return(X))
    cls = ir.ClassDef(
        "C", (*STATE, ir.TensorAttr("k", "constant", ir.Fill((2,)))), (ir.Arg("x", "tensor"),), rebinds
    )
    init = (ir.NewChild("c", ir.New("C")), ir.CopiedModule("d", ("c",), deep))
    body = (ir.Do(ir.CallModule(("c",), (X,))), ir.Return(X))
    drawn = program(*body, init=init, classes=(cls,))
    machine = Machine(drawn.classes, drawn.training)
    model = machine.builder.build(ir.New("Model"), None)
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
    items = (ir.TensorAttr("", "parameter", ir.Fill((2,))), ir.TensorAttr("", "constant", ir.Fill((2,), 2.0)))
    held = (ir.TensorContainer("held", "dict", items, ("u", "v")),)
    source = render(program(ir.Return(X), init=held))
    assert 'self.held = {"u": nn.Parameter(torch.ones(2)), "v": torch.full((2,), 2.0)}' in source
    assert not list(case_from_source(source).build().model.parameters())
