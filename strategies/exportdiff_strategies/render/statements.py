"""Statements of a method's body as lines of source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from exportdiff_strategies import program as ir
from exportdiff_strategies.control import CONTROLS
from exportdiff_strategies.failures import FAILURES
from exportdiff_strategies.idioms import KINDS
from exportdiff_strategies.regions import REGIONS
from exportdiff_strategies.render.expressions import assignment, condition, expression, operand, path_text

INDENT = "    "


def body_lines(body: Iterable[ir.Stmt], depth: int) -> list[str]:
    """The statements of a body, indented by ``depth`` levels."""
    return [(INDENT * depth + line).rstrip() for stmt in body for line in _statement(stmt)]


def _statement(stmt: ir.Stmt) -> Iterator[str]:
    if isinstance(stmt, ir.Assign):
        yield f"{stmt.target} = {expression(stmt.value)}"
    elif isinstance(stmt, ir.Do):
        yield "pass" if stmt.value == ir.Lit(None) else expression(stmt.value)
    elif isinstance(stmt, ir.Return):
        yield f"return {expression(stmt.value)}"
    elif isinstance(stmt, ir.SetAttr):
        yield assignment(stmt.path, expression(stmt.value))
    elif isinstance(stmt, ir.Swap):
        first, second = path_text(stmt.first), path_text(stmt.second)
        yield f"{first}, {second} = {second}, {first}"
    elif isinstance(stmt, ir.Increment):
        yield f"{path_text(stmt.path)} += 1"
    elif isinstance(stmt, ir.If):
        yield from _match(stmt) if stmt.match else _if(stmt, "if")
    elif isinstance(stmt, ir.Loop):
        yield from _loop(stmt)
    elif isinstance(stmt, ir.Repeat):
        yield from _repeat(stmt)
    elif isinstance(stmt, ir.With):
        yield f"with {REGIONS[stmt.region].template}:"
        yield from body_lines(stmt.body, 1)
    elif isinstance(stmt, ir.Fail):
        yield FAILURES[stmt.name].template.format(x=operand(stmt.subject))
    elif isinstance(stmt, ir.Try):
        yield "try:"
        yield from body_lines(stmt.body, 1)
        yield f"except {stmt.error}:"
        yield from body_lines(stmt.handler, 1)
    elif isinstance(stmt, ir.UseIdiom):
        yield from KINDS[stmt.kind].idioms[stmt.number].lines(stmt.operand.name, stmt.target)
    else:
        yield from _control(stmt)


def _if(stmt: ir.If, word: str) -> Iterator[str]:
    yield f"{word} {condition(stmt.test)}:"
    yield from body_lines(stmt.then, 1)
    if len(stmt.orelse) == 1 and isinstance(stmt.orelse[0], ir.If) and not stmt.orelse[0].match:
        yield from _if(stmt.orelse[0], "elif")
    elif stmt.orelse:
        yield "else:"
        yield from body_lines(stmt.orelse, 1)


def _match(stmt: ir.If) -> Iterator[str]:
    assert stmt.test.subject is not None
    yield f"match {expression(stmt.test.subject)}:"
    yield f"{INDENT}case {stmt.test.params[0]!r}:"
    yield from body_lines(stmt.then, 2)
    if stmt.orelse:
        yield f"{INDENT}case _:"
        yield from body_lines(stmt.orelse, 2)


def _loop(stmt: ir.Loop) -> Iterator[str]:
    over, names = path_text(stmt.container), "layer"
    if stmt.style == "enumerate":
        over, names = f"enumerate({over})", "_, layer"
    elif stmt.style:
        over, names = f"{over}.{stmt.style}()", "_, layer" if stmt.style == "items" else "layer"
    yield f"for {names} in {over}:"
    arguments = ", ".join([stmt.target, *(expression(arg) for arg in stmt.args)])
    yield f"{INDENT}{stmt.target} = layer({arguments})"


def _repeat(stmt: ir.Repeat) -> Iterator[str]:
    if stmt.style == "for":
        yield f"for {stmt.var} in range({expression(stmt.count)}):"
        yield from body_lines(stmt.body, 1)
        return
    yield f"{stmt.var} = 0"
    yield f"while {stmt.var} < {expression(stmt.count)}:"
    yield from body_lines(stmt.body, 1)
    yield f"{INDENT}{stmt.var} += 1"


def _control(stmt: ir.Control) -> Iterator[str]:
    for function in stmt.functions:
        yield from _local_function(function)
    names = [function.name for function in stmt.functions]
    yield CONTROLS[stmt.name].template.format(t=stmt.target, x=operand(stmt.operands[0]), f=names)


def _local_function(function: ir.LocalFunction) -> Iterator[str]:
    yield f"def {function.name}({', '.join(function.args)}):"
    yield from body_lines(function.body, 1)
    yield ""
