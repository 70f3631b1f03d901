"""The machine rejects functions of control-flow operators that eager or export would not accept."""

from __future__ import annotations

import pytest

from exportdiff_strategies.control import COUNTER
from exportdiff_strategies.machine import Machine
from exportdiff_strategies.ops.spec import Rejected
from exportdiff_strategies.program import (
    Arg,
    Assign,
    Attr,
    ClassDef,
    Control,
    Do,
    Expr,
    Fill,
    Group,
    Lambda,
    Op,
    Program,
    Return,
    Stmt,
    Tensor,
    TensorInput,
    Var,
    With,
)


def more(name: str) -> Expr:
    return Op("add_one", (Var(name),))


def run_loop(*body: Stmt, region: str = "enable_grad") -> object:
    """The result of the machine for a while_loop with this body, in a ``with`` block."""
    step = Lambda("f", (COUNTER, "x"), (*body, Return(Group("tuple", (more(COUNTER), more("x"))))))
    loop = Control("while_loop", "y", (Var("x"),), (step,))
    state = (Tensor("total", "buffer", Fill((2, 2))),)
    model = ClassDef("Model", state, (Arg("x", "tensor"),), (With(region, (loop,)), Return(Var("y"))))
    program = Program((model,), (("x", TensorInput(Fill((2, 2)))),))
    return Machine(program.classes, program.training).run_program(program)


def test_a_loop_counts_its_rounds() -> None:
    assert run_loop()
    assert run_loop(Assign("y", more(COUNTER)))


@pytest.mark.parametrize("stmt", [Assign(COUNTER, more("x")), Do(Op("zero_", (Var(COUNTER),)))], ids=str)
def test_a_loop_that_may_never_end_is_no_program(stmt: Stmt) -> None:
    for region in ("enable_grad", "no_grad"):
        with pytest.raises(Rejected):
            run_loop(stmt, region=region)


def test_no_loop_writes_to_what_it_carries() -> None:
    write = Do(Op("add_", (Var("x"),)))
    for region in ("enable_grad", "no_grad"):
        with pytest.raises(Rejected, match="no updates of what a loop carries"):
            run_loop(write, region=region)


def test_only_without_gradients_a_loop_writes_to_a_buffer() -> None:
    write = Do(Op("add_", (Attr(("total",)),)))
    assert run_loop(write, region="no_grad")
    with pytest.raises(Rejected, match="no updates in"):
        run_loop(write)
