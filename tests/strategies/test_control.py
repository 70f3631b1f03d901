"""The machine rejects functions of control-flow operators that eager or export would not accept."""

from __future__ import annotations

import pytest

from exportdiff_strategies import program as ir
from exportdiff_strategies.control import COUNTER
from exportdiff_strategies.machine import Machine
from exportdiff_strategies.ops.spec import Rejected


def more(name: str) -> ir.Expr:
    return ir.Op("add_one", (ir.Var(name),))


def run_loop(*body: ir.Stmt, region: str = "enable_grad") -> object:
    """The result of the machine for a while_loop with this body, in a ``with`` block."""
    step = ir.LocalFunction(
        "f", (COUNTER, "x"), (*body, ir.Return(ir.Collection("tuple", (more(COUNTER), more("x")))))
    )
    loop = ir.Control("while_loop", "y", (ir.Var("x"),), (step,))
    state = (ir.TensorAttr("total", "buffer", ir.Fill((2, 2))),)
    model = ir.ClassDef(
        "Model", state, (ir.Arg("x", "tensor"),), (ir.With(region, (loop,)), ir.Return(ir.Var("y")))
    )
    program = ir.Program((model,), (("x", ir.TensorInput(ir.Fill((2, 2)))),))
    return Machine(program.classes, program.training).run_program(program)


def test_a_loop_counts_its_rounds() -> None:
    assert run_loop()
    assert run_loop(ir.Assign("y", more(COUNTER)))


@pytest.mark.parametrize(
    "stmt", [ir.Assign(COUNTER, more("x")), ir.Do(ir.Op("zero_", (ir.Var(COUNTER),)))], ids=str
)
def test_a_loop_that_may_never_end_is_no_program(stmt: ir.Stmt) -> None:
    for region in ("enable_grad", "no_grad"):
        with pytest.raises(Rejected):
            run_loop(stmt, region=region)


def test_no_loop_writes_to_what_it_carries() -> None:
    write = ir.Do(ir.Op("add_", (ir.Var("x"),)))
    for region in ("enable_grad", "no_grad"):
        with pytest.raises(Rejected, match="no updates of what a loop carries"):
            run_loop(write, region=region)


def test_only_without_gradients_a_loop_writes_to_a_buffer() -> None:
    write = ir.Do(ir.Op("add_", (ir.Attr(("total",)),)))
    assert run_loop(write, region="no_grad")
    with pytest.raises(Rejected, match="no updates in"):
        run_loop(write)
