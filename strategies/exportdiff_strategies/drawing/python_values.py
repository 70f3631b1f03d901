"""Drawing Python values that are passed on or returned together with tensors, and keys of dicts."""

from __future__ import annotations

import math

from exportdiff_strategies import program as ir
from exportdiff_strategies.constants import KEYS, LITERALS, OTHER_TYPES, collection_keys
from exportdiff_strategies.drawing.scope import Scope
from exportdiff_strategies.swarm import Chooser
from exportdiff_strategies.values import CollectionValue, PythonValue, Value

CONSTANTS: tuple[ir.Literal, ...] = (
    *(None, 3, True, "a", 2.5, ir.Kind.A, ir.Size((2, 3)), ""),
    *(None, "b", math.inf, math.nan, ir.Kind.B, ir.Size(())),
)
"""The constants that a model returns, simplest first; those that are one of a kind come twice."""

EMPTY = ("tuple", "list", "dict")
"""The kinds of containers that may be empty."""


def keys_of(choose: Chooser, kind: str) -> tuple[ir.Literal, ...]:
    """The keys of a container of two items; those of a dict need not be text, nor be sorted."""
    if kind == "dict" and choose.maybe("names.keys", 60):
        return choose.pick(KEYS)
    return collection_keys(kind)


def draw_input_value(choose: Chooser) -> ir.Input:
    """An item of a container of inputs that is no tensor."""
    options: list[ir.Input] = [ir.Lit(value) for value in (None, 3, "a", True, 2.5, ir.Kind.A)]
    options += [ir.CollectionInput(kind, ()) for kind in EMPTY]
    return choose.pick(options)


def literals(choose: Chooser, kind: str) -> tuple[PythonValue | None, ...]:
    """The constants to pass for an argument of this kind: a few are equal to one, but of another type."""
    if kind in OTHER_TYPES and choose.maybe("calls.other_type", 30):
        return OTHER_TYPES[kind]
    return LITERALS[kind]


def draw_output_value(scope: Scope) -> ir.Expr:
    """A value to return that is no tensor: a flag, an item of a container, a constant, an empty container."""
    choose = scope.choose
    passed: list[ir.Expr] = [*scope.flags(*ir.FLAGS), *_items(scope), *scope.boxes()]
    if passed and choose.chance(50):
        return choose.pick(passed)
    if choose.chance(20):
        return ir.Collection(choose.pick(EMPTY), ())
    return ir.Lit(choose.pick(CONSTANTS))


def _items(scope: Scope) -> list[ir.Expr]:
    """The Python values in containers that are variables, where every scenario has one."""
    found: list[ir.Expr] = []
    for var in scope.boxes():
        boxes = [box for frame in scope.frames if isinstance(box := frame.names[var.name], CollectionValue)]
        for key in boxes[0].items:
            if all(key in box.items and _is_constant(box.items[key]) for box in boxes):
                found.append(ir.Item(var, key, boxes[0].kind in ("named", "data")))
    return found


def _is_constant(value: Value) -> bool:
    return value is None or isinstance(value, PythonValue)
