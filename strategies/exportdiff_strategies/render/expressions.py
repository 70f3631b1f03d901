"""Expressions, paths and conditions as Python source."""

from __future__ import annotations

import keyword
import math
from collections.abc import Iterable

from exportdiff_strategies import program as ir
from exportdiff_strategies.conditions import CONDS, MEASURES, MODES, RELATIONS
from exportdiff_strategies.ops import OPS, RESULTS


def expression(expr: ir.Expr | ir.Star) -> str:
    """An expression, or a starred argument."""
    if isinstance(expr, ir.Lit):
        return literal(expr.value)
    if isinstance(expr, ir.Var):
        return expr.name
    if isinstance(expr, ir.Op):
        return OPS[expr.name].template.format(*map(operand, expr.operands), p=expr.params)
    if isinstance(expr, ir.Attr):
        return path_text(expr.path)
    if isinstance(expr, ir.CallModule):
        callee = path_text(expr.callee) + (f".{expr.method}" if expr.method else "")
        return ir.FORMS[expr.form].format(callee, args=_arguments(expr.args, expr.kwargs))
    if isinstance(expr, ir.Collection):
        return group(expr.kind, [expression(item) for item in expr.items], expr.keys)
    if isinstance(expr, ir.Item):
        if expr.dotted:
            return f"{expr.base.name}.{expr.key}"
        return f"{expr.base.name}[{_key(expr.key)}]"
    if isinstance(expr, ir.Not):
        return f"not {expr.flag.name}"
    if isinstance(expr, ir.Measure):
        return MEASURES[expr.name].template.format(operand(expr.subject))
    if isinstance(expr, ir.Results):
        return RESULTS[expr.name].template.format(operand(expr.operand), p=expr.params)
    if isinstance(expr, ir.CallVariable):
        return f"{expr.function.name}({_arguments(expr.args)})"
    if isinstance(expr, ir.ModuleOrMethod):
        return path_text(expr.path) + (f".{expr.method}" if expr.method else "")
    if isinstance(expr, ir.Function):
        return ir.FUNCTIONS[expr.name]
    if isinstance(expr, ir.Star):
        return ("**" if expr.double else "*") + expr.value.name
    return f"{operand(expr.then)} if {condition(expr.test)} else {operand(expr.orelse)}"


def literal(value: ir.Literal) -> str:
    """A Python constant."""
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, ir.Kind):
        return str(value)
    if isinstance(value, ir.Size):
        return f"torch.Size({list(value)})"
    return repr(value)


def _arguments(args: Iterable[ir.Expr | ir.Star], kwargs: Iterable[tuple[str, ir.Expr]] = ()) -> str:
    positional = [expression(arg) for arg in args if not (isinstance(arg, ir.Star) and arg.double)]
    named = [f"{name}={expression(value)}" for name, value in kwargs]
    return ", ".join(
        (*positional, *named, *(expression(a) for a in args if isinstance(a, ir.Star) and a.double))
    )


def _key(key: ir.Literal) -> str:
    return f'"{key}"' if isinstance(key, str) else literal(key)


def group(kind: str, items: list[str], keys: tuple[ir.Literal, ...]) -> str:
    """A container of items that are already source; ``keys`` as in Collection."""
    if kind == "dict":
        return "{" + ", ".join(f"{_key(k)}: {v}" for k, v in zip(keys, items, strict=True)) + "}"
    listed = ", ".join(items)
    if kind == "list":
        return f"[{listed}]"
    if kind in ("named", "data"):
        return f"{'Pair' if kind == 'named' else 'Parts'}({listed})"
    return f"({listed}{',' if len(items) == 1 else ''})"


def operand(expr: ir.Expr) -> str:
    """An expression as an operand: in parentheses if it needs them."""
    text = expression(expr)
    bare = not isinstance(expr, ir.Ternary) and not (isinstance(expr, ir.Op) and OPS[expr.name].infix)
    return text if bare else f"({text})"


def condition(cond: ir.Cond) -> str:
    """The test of a branch."""
    if cond.subject is None:
        return MODES[cond.name].template
    if cond.other is not None:
        return RELATIONS[cond.name].template.format(expression(cond.subject), expression(cond.other))
    return CONDS[cond.name].template.format(expression(cond.subject), p=cond.params)


def path_text(path: ir.AttributePath) -> str:
    """The attribute at a path from ``self``."""
    text = "self"
    for step in path:
        if isinstance(step, ir.Key):
            text += f'["{step.name}"]'
        elif isinstance(step, ir.Slice):
            text += f"[{step.start or ''}:{step.stop}]"
        elif isinstance(step, int):
            text += f"[{step}]"
        else:
            text = f'getattr({text}, "{step}")' if keyword.iskeyword(step) else f"{text}.{step}"
    return text


def assignment(path: ir.AttributePath, value: str) -> str:
    """A statement that assigns source to the attribute at a path."""
    *above, last = path
    if isinstance(last, str) and keyword.iskeyword(last):
        return f'setattr({path_text(tuple(above))}, "{last}", {value})'
    return f"{path_text(path)} = {value}"
