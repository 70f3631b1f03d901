"""Statements that raise do so for every tensor with elements, and the machine knows who catches that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from test_ops import LAYOUTS, SHAPES, make
from torch import nn

from exportdiff_strategies import program as ir
from exportdiff_strategies import render
from exportdiff_strategies.failures import FAILURES
from exportdiff_strategies.machine import Machine
from exportdiff_strategies.tidy import tidy
from exportdiff_strategies.trace import Trace
from exportdiff_strategies.types import DTYPES

X = ir.Var("x")
ADDED = ir.Assign("x", ir.Op("add_one", (X,)))
DOUBLED = ir.Assign("x", ir.Op("double", (X,)))


def program(*body: ir.Stmt) -> ir.Program:
    """A model of one argument."""
    model = ir.ClassDef("Model", (), (ir.Arg("x", "tensor"),), (*body, ir.Return(X)))
    return ir.Program((model,), (("x", ir.TensorInput(ir.Fill((2, 2)))),))


def tensors() -> Iterator[torch.Tensor]:
    for shape in SHAPES:
        if 0 not in shape:
            yield from (make(shape, dtype, layout, "ones") for dtype in DTYPES for layout in LAYOUTS)


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_raises_what_the_table_says_and_changes_nothing(name: str) -> None:
    spec, count = FAILURES[name], 0
    code = compile(spec.template.format(x="x"), name, "exec")
    for x in tensors():
        before, version = x.clone(), x._version
        with pytest.raises(Exception) as caught:
            exec(code, {"torch": torch, "x": x, "self": nn.Module()})
        assert type(caught.value).__name__ == spec.error
        assert torch.equal(x, before)
        assert x._version == version
        count += 1
    assert count > 100


@pytest.mark.parametrize("name", FAILURES)
def test_a_try_that_names_the_exception_makes_the_model_run(name: str) -> None:
    error = FAILURES[name].error
    caught = program(ir.Try((ADDED, ir.Fail(name, X), DOUBLED), error, (DOUBLED,)))
    assert Machine(caught.classes).accepts(caught)
    names: dict[str, Any] = {}
    exec(render(caught), names)
    model, (x,) = names["make"]()
    assert torch.equal(model(x), (x + 1) * 2)
    missed = program(ir.Try((ir.Fail(name, X),), "OSError", (DOUBLED,)))
    assert not Machine(missed.classes).accepts(missed)
    assert not Machine(program(ir.Fail(name, X)).classes).accepts(program(ir.Fail(name, X)))


def test_tidying_keeps_only_a_try_that_caught_something() -> None:
    for failing in (True, False):
        body: tuple[ir.Stmt, ...] = (ADDED, ir.Fail("key", X)) if failing else (ADDED,)
        drawn = program(ir.Try(body, "KeyError", (DOUBLED,)))
        machine = Machine(drawn.classes)
        machine.trace = trace = Trace()
        machine.run_program(drawn)
        kept = tidy(drawn, trace).root.body
        assert any(isinstance(stmt, ir.Try) for stmt in kept) is failing
