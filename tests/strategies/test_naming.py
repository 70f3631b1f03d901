"""The names that a Program may get."""

from __future__ import annotations

from itertools import chain

from hypothesis import find, settings
from hypothesis import strategies as st

from exportdiff_strategies import program as ir
from exportdiff_strategies.naming import METHODS, names_for, with_unusual_names
from exportdiff_strategies.profiles import BASE
from exportdiff_strategies.swarm import Chooser, Draw


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


def test_an_argument_may_have_the_name_of_a_later_node() -> None:
    """The second addition of a graph is called add_1."""
    plain = program()
    doubled = ir.Return(ir.Op("add", (ir.Var("x"), ir.Op("add", (ir.Var("x"), ir.Var("x"))))))
    added = ir.Program((ir.ClassDef("Model", (), plain.root.args, (doubled,)),), (), ())

    weights = {**dict.fromkeys(BASE, 0), "names.operator": 100}

    @st.composite
    def renamed(draw: Draw) -> str:
        return with_unusual_names(added, Chooser(draw, weights)).root.args[0].name

    find(renamed(), lambda name: name == "add_1", settings=settings(database=None, max_examples=3000))
