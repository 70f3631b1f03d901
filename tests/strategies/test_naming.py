"""The names that a Program may get."""

from __future__ import annotations

from itertools import chain

from exportdiff_strategies import program as ir
from exportdiff_strategies.naming import METHODS, names_for


def program(*init: ir.Init) -> ir.Program:
    """A model with these statements in its constructor; class ``A`` is empty."""
    x, body = (ir.Arg("x", "tensor"),), (ir.Return(ir.Var("x")),)
    return ir.Program((ir.ClassDef("A", (), x, body), ir.ClassDef("Model", init, x, body)), ())


def fitting(attr: str, *init: ir.Init) -> set[str]:
    return set(chain.from_iterable(names_for(program(*init), attr)))


CONSTANT = ir.TensorAttr("k", "constant", ir.Fill((2,)))
CHILD = ir.NewChild("a", ir.New("A"))


def test_only_plain_tensors_get_the_names_of_methods() -> None:
    assert set(METHODS) < fitting("k", CONSTANT)
    assert not set(METHODS) & fitting("k", ir.TensorAttr("k", "buffer", ir.Fill((2,))))
    assert not set(METHODS) & fitting("a", CHILD)


def test_what_is_a_module_elsewhere_hides_no_method() -> None:
    assert set(METHODS) < fitting("k", CONSTANT, CHILD, ir.Bind(("b",), ("a",)))
    assert not set(METHODS) & fitting("k", CONSTANT, CHILD, ir.Bind(("a", "k"), ("a",)))
