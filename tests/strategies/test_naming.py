"""The names that a Program may get."""

from __future__ import annotations

from itertools import chain

from exportdiff_strategies.naming import METHODS, names_for
from exportdiff_strategies.program import (
    Arg,
    Bind,
    Child,
    ClassDef,
    Fill,
    Init,
    New,
    Program,
    Return,
    Tensor,
    Var,
)


def program(*init: Init) -> Program:
    """A model with these statements in its constructor; class ``A`` is empty."""
    x, body = (Arg("x", "tensor"),), (Return(Var("x")),)
    return Program((ClassDef("A", (), x, body), ClassDef("Model", init, x, body)), ())


def fitting(attr: str, *init: Init) -> set[str]:
    return set(chain.from_iterable(names_for(program(*init), attr)))


CONSTANT = Tensor("k", "constant", Fill((2,)))
CHILD = Child("a", New("A"))


def test_only_plain_tensors_get_the_names_of_methods() -> None:
    assert set(METHODS) < fitting("k", CONSTANT)
    assert not set(METHODS) & fitting("k", Tensor("k", "buffer", Fill((2,))))
    assert not set(METHODS) & fitting("a", CHILD)


def test_what_is_a_module_elsewhere_hides_no_method() -> None:
    assert set(METHODS) < fitting("k", CONSTANT, CHILD, Bind(("b",), ("a",)))
    assert not set(METHODS) & fitting("k", CONSTANT, CHILD, Bind(("a", "k"), ("a",)))
