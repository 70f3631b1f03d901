"""Inserting an idiom into a finished Program, which stays as it is if none fits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from exportdiff_strategies import program as ir
from exportdiff_strategies.idioms import EXTRA, KINDS, OTHER, Idiom
from exportdiff_strategies.machine import Machine
from exportdiff_strategies.naming import taken_names
from exportdiff_strategies.swarm import Chooser
from exportdiff_strategies.trace import Trace

ATTEMPTS = 8
"""How many places for an idiom are tried."""

RESULT = "result"
"""The variable for a result that only the model returns."""


def with_idiom(program: ir.Program, choose: Chooser, kind: str) -> ir.Program:
    """The Program with an idiom of this kind, or the same Program if no place fits."""
    for _ in range(ATTEMPTS):
        number = choose.upto(len(KINDS[kind].idioms) - 1)
        idiom = KINDS[kind].idioms[number]
        places = [*_places(program, idiom)]
        if not places or _names(idiom) & taken_names(program):
            continue
        cls, before, variable = choose.pick(places)
        changed = _inserted(program, cls, before, ir.UseIdiom(kind, number, variable, ir.Var(variable)))
        machine = Machine(changed.classes, changed.training)
        trace = machine.trace = Trace()
        if machine.accepts(changed) and any(
            id(use) in trace.executed for use in ir.of_type(changed.classes, ir.UseIdiom)
        ):
            return changed
    return program


def _names(idiom: Idiom) -> set[str]:
    """The attributes of the module that an idiom uses."""
    found = re.findall(r"self\.(\w+)|register_buffer\(\"(\w+)\"", f"{idiom.init}\n{idiom.body}")
    return {name for names in found for name in names if name}


def _places(program: ir.Program, idiom: Idiom) -> Iterator[tuple[str, ir.Stmt, str]]:
    """Where an idiom may stand: a class, the statement that follows, and a variable that it reads."""
    rigid = {arg.kind for arg in program.root.args} & {"rest", "options"} or program.dynamic is not None
    if idiom.given and rigid:
        return
    traced = {child.new.name for child in ir.of_type(program.classes, ir.NewChild) if child.traced}
    if program.graph:
        traced.add(program.root.name)
    for cls in program.classes:
        if cls.name in traced or ((idiom.given or idiom.gives == OTHER) and cls is not program.root):
            continue
        for stmt in _statements(cls.body):
            if idiom.gives == OTHER and not isinstance(stmt, ir.Return):
                continue
            for name in dict.fromkeys(var.name for var in ir.of_type(stmt, ir.Var)):
                yield cls.name, stmt, name


def _statements(body: Sequence[ir.Stmt]) -> Iterator[ir.Stmt]:
    """The statements of a body and of its suites, but not of local functions."""
    for stmt in body:
        yield stmt
        for suite in _SUITES.get(type(stmt), ()):
            yield from _statements(getattr(stmt, suite))


_SUITES: dict[type, tuple[str, ...]] = {
    ir.If: ("then", "orelse"),
    ir.With: ("body",),
    ir.Repeat: ("body",),
    ir.Try: ("body", "handler"),
}
"""Kind of statement -> the fields that hold further statements."""


def _inserted(program: ir.Program, name: str, before: ir.Stmt, use: ir.UseIdiom) -> ir.Program:
    """The Program with an idiom before a statement of a class, and with what the idiom needs."""
    idiom = KINDS[use.kind].idioms[use.number]
    new: tuple[ir.Stmt, ...] = (use, before)
    if idiom.gives == OTHER:
        assert isinstance(before, ir.Return)
        items = (before.value, ir.Var(RESULT))
        new = (replace(use, target=RESULT), ir.Return(ir.Collection("tuple", items)))
    classes = []
    for cls in program.classes:
        if cls.name == name:
            init = (*cls.init, ir.InitIdiom(use.kind, use.number)) if idiom.init else cls.init
            cls = replace(cls, init=init, body=_replaced(cls.body, before, new))
        if idiom.given and cls.name == program.root.name:
            cls = replace(cls, args=(*cls.args, ir.Arg(EXTRA, "other", keyword=True)))
        classes.append(cls)
    given = ((EXTRA, ir.IdiomInput(use.kind, use.number)),) if idiom.given else ()
    return replace(program, classes=tuple(classes), kwargs=(*program.kwargs, *given))


def _replaced(body: tuple[ir.Stmt, ...], old: ir.Stmt, new: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
    """A body in which these statements stand in place of one, wherever it is."""
    found: list[ir.Stmt] = []
    for stmt in body:
        if stmt is old:
            found += new
            continue
        suites: dict[str, Any] = {
            suite: _replaced(getattr(stmt, suite), old, new) for suite in _SUITES.get(type(stmt), ())
        }
        found.append(replace(stmt, **suites) if suites else stmt)
    return tuple(found)
