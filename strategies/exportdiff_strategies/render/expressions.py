"""Expressions, paths and conditions as Python source."""

from __future__ import annotations

import keyword
import math
from collections.abc import Iterable

from exportdiff_strategies.conditions import CONDS, MEASURES, MODES, RELATIONS
from exportdiff_strategies.ops import OPS, RESULTS
from exportdiff_strategies.program import (
    FORMS,
    FUNCTIONS,
    Apply,
    Attr,
    AttributePath,
    Bound,
    Call,
    Cond,
    Expr,
    Function,
    Group,
    Item,
    Key,
    Kind,
    Lit,
    Literal,
    Measure,
    Not,
    Op,
    Results,
    Size,
    Slice,
    Star,
    Ternary,
    Var,
)


def expression(expr: Expr | Star) -> str:
    """An expression, or a starred argument."""
    if isinstance(expr, Lit):
        return literal(expr.value)
    if isinstance(expr, Var):
        return expr.name
    if isinstance(expr, Op):
        return OPS[expr.name].template.format(*map(operand, expr.operands), p=expr.params)
    if isinstance(expr, Attr):
        return path_text(expr.path)
    if isinstance(expr, Call):
        callee = path_text(expr.callee) + (f".{expr.method}" if expr.method else "")
        return FORMS[expr.form].format(callee, args=_arguments(expr.args, expr.kwargs))
    if isinstance(expr, Group):
        return group(expr.kind, [expression(item) for item in expr.items], expr.keys)
    if isinstance(expr, Item):
        if expr.dotted:
            return f"{expr.base.name}.{expr.key}"
        return f"{expr.base.name}[{_key(expr.key)}]"
    if isinstance(expr, Not):
        return f"not {expr.flag.name}"
    if isinstance(expr, Measure):
        return MEASURES[expr.name].template.format(operand(expr.subject))
    if isinstance(expr, Results):
        return RESULTS[expr.name].template.format(operand(expr.operand), p=expr.params)
    if isinstance(expr, Apply):
        return f"{expr.function.name}({_arguments(expr.args)})"
    if isinstance(expr, Bound):
        return path_text(expr.path) + (f".{expr.method}" if expr.method else "")
    if isinstance(expr, Function):
        return FUNCTIONS[expr.name]
    if isinstance(expr, Star):
        return ("**" if expr.double else "*") + expr.value.name
    return f"{operand(expr.then)} if {condition(expr.test)} else {operand(expr.orelse)}"


def literal(value: Literal) -> str:
    """A Python constant."""
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, Kind):
        return str(value)
    if isinstance(value, Size):
        return f"torch.Size({list(value)})"
    return repr(value)


def _arguments(args: Iterable[Expr | Star], kwargs: Iterable[tuple[str, Expr]] = ()) -> str:
    positional = [expression(arg) for arg in args if not (isinstance(arg, Star) and arg.double)]
    named = [f"{name}={expression(value)}" for name, value in kwargs]
    return ", ".join(
        (*positional, *named, *(expression(a) for a in args if isinstance(a, Star) and a.double))
    )


def _key(key: Literal) -> str:
    return f'"{key}"' if isinstance(key, str) else literal(key)


def group(kind: str, items: list[str], keys: tuple[Literal, ...]) -> str:
    """A container of items that are already source; ``keys`` as in Group."""
    if kind == "dict":
        return "{" + ", ".join(f"{_key(k)}: {v}" for k, v in zip(keys, items, strict=True)) + "}"
    listed = ", ".join(items)
    if kind == "list":
        return f"[{listed}]"
    if kind in ("named", "data"):
        return f"{'Pair' if kind == 'named' else 'Parts'}({listed})"
    return f"({listed}{',' if len(items) == 1 else ''})"


def operand(expr: Expr) -> str:
    """An expression as an operand: in parentheses if it needs them."""
    text = expression(expr)
    bare = not isinstance(expr, Ternary) and not (isinstance(expr, Op) and OPS[expr.name].infix)
    return text if bare else f"({text})"


def condition(cond: Cond) -> str:
    """The test of a branch."""
    if cond.subject is None:
        return MODES[cond.name].template
    if cond.other is not None:
        return RELATIONS[cond.name].template.format(expression(cond.subject), expression(cond.other))
    return CONDS[cond.name].template.format(expression(cond.subject), p=cond.params)


def path_text(path: AttributePath) -> str:
    """The attribute at a path from ``self``."""
    text = "self"
    for step in path:
        if isinstance(step, Key):
            text += f'["{step.name}"]'
        elif isinstance(step, Slice):
            text += f"[{step.start or ''}:{step.stop}]"
        elif isinstance(step, int):
            text += f"[{step}]"
        else:
            text = f'getattr({text}, "{step}")' if keyword.iskeyword(step) else f"{text}.{step}"
    return text


def assignment(path: AttributePath, value: str) -> str:
    """A statement that assigns source to the attribute at a path."""
    *above, last = path
    if isinstance(last, str) and keyword.iskeyword(last):
        return f'setattr({path_text(tuple(above))}, "{last}", {value})'
    return f"{path_text(path)} = {value}"
