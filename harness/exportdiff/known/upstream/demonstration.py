"""What an entry does, without its scaffolding: the statements that lead to the bug, and what shows it.

An entry has ``make()``, and a main part that prints one line and exits with 1 if the bug is there. A report
and a test of PyTorch's need the same program without ``make``, ``print``, ``bug`` and exits. This reads the
program from the tree of the file; it runs nothing.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from exportdiff.core.errors import UsageError
from exportdiff.core.program_text.parsing import parse, parse_expression

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from exportdiff.known.corpus.entry import Entry


@dataclass(frozen=True)
class Equal:
    """The bug shows in a value: it should equal another."""

    expected: str
    """An expression."""
    seen: str
    """An expression."""


@dataclass(frozen=True)
class Holds:
    """The bug shows in a condition."""

    condition: str
    """An expression."""
    wanted: bool
    """Its value without the bug."""


@dataclass(frozen=True)
class Raises:
    """The bug shows in an exception, which a statement raises."""


Outcome: TypeAlias = "Equal | Holds | Raises"


@dataclass(frozen=True)
class Demonstration:
    """The program of an entry."""

    imports: tuple[str, ...]
    """But for torch."""
    definitions: tuple[str, ...]
    """Classes and functions."""
    steps: tuple[str, ...]
    """Statements, in order."""
    outcome: Outcome


def demonstration(entry: Entry) -> Demonstration:
    """Read the program of an entry. Raises UsageError if its main part does not say what the bug is."""
    source = entry.file.read_text(encoding="utf-8")
    tree = parse(source)
    main = next((node for node in tree.body if isinstance(node, ast.If)), None)
    made = next((node for node in tree.body if _is_function(node, "make")), None)
    if main is None or not isinstance(made, ast.FunctionDef):
        raise UsageError(f"{entry.file} has no make(), or no 'if __name__ == \"__main__\":'")
    body = [statement for statement in main.body if not _sets_exit_code(statement)]
    verdict = _verdict(body)
    steps, raising = _steps(body)
    outcome = _outcome(verdict) if entry.silent and verdict is not None else Raises()
    if raising is not None and _is_about_words(outcome, steps):
        outcome = Raises()
    if isinstance(outcome, Raises):
        if raising is None:
            raise UsageError(f"{entry.file} has nothing in its main part that catches what is raised")
        steps = steps[:raising]
    elif isinstance(verdict, ast.Constant):
        raise UsageError(f"{entry.file} does not say in its main part when the bug is there")
    helpers = [
        node
        for node in tree.body
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node is not made and node.name != "probes"
    ]
    spread = _spread(made, steps, outcome)
    steps = _without_dead_names(spread.steps, spread.outcome)
    helpers = [*helpers, made] if spread.kept else helpers
    text = "\n".join([*map(ast.unparse, (*helpers, *steps)), *_texts(spread.outcome)])
    used = {node.id for node in ast.walk(parse(text)) if isinstance(node, ast.Name)}
    statements = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    others = [
        node
        for node in tree.body
        if isinstance(node, ast.Expr | ast.Assign) and node is not tree.body[0] and not _is_text(node)
    ]
    definitions = [node for node in tree.body if node in helpers and _needed(node, used)]
    return Demonstration(
        tuple(text for node in statements for text in _import(node, used)),
        tuple(
            _source(source, node) for node in sorted([*definitions, *others], key=lambda node: node.lineno)
        ),
        tuple(ast.unparse(step) for step in steps),
        spread.outcome,
    )


def _sets_exit_code(statement: ast.stmt) -> bool:
    """Whether a statement says with which code the file exits where another error is raised."""
    return isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "sys.excepthook"


def _needed(node: ast.stmt, used: set[str]) -> bool:
    return isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name in used


def _is_function(node: ast.stmt, name: str) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == name


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _source(source: str, node: ast.stmt) -> str:
    """Return the text of a definition, with its decorators."""
    decorators = getattr(node, "decorator_list", ())
    start = min([node.lineno, *(each.lineno for each in decorators)])
    return "\n".join(source.splitlines()[start - 1 : node.end_lineno])


def _import(node: ast.Import | ast.ImportFrom, used: set[str]) -> Iterator[str]:
    names = [each for each in node.names if (each.asname or each.name).partition(".")[0] in used]
    if isinstance(node, ast.ImportFrom) and names:
        yield ast.unparse(ast.ImportFrom(node.module, names, node.level))
    elif isinstance(node, ast.Import):
        yield from (f"import {each.name}" for each in names if each.name != "torch")


def _verdict(body: Iterable[ast.stmt]) -> ast.expr | None:
    """Return the condition that says whether the bug is there: what ``bug`` is, or what the exit code is."""
    found: ast.expr | None = None
    exits: ast.expr | None = None
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Assign) and _names(node.targets[0]) == ["bug"]:
                found = node.value
            elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                exits = node.exc.args[0]
            elif _calls(node, "sys.exit") and isinstance(node, ast.Call) and node.args:
                exits = node.args[0]
    return found or exits


def _outcome(verdict: ast.expr) -> Outcome:
    """Turn the condition of the bug into what should hold."""
    if isinstance(verdict, ast.BoolOp) and isinstance(verdict.op, ast.And):
        # The other parts ask whether there is something to compare.
        return _outcome(verdict.values[-1])
    if isinstance(verdict, ast.UnaryOp) and isinstance(verdict.op, ast.Not):
        inner = verdict.operand
        if isinstance(inner, ast.Call) and ast.unparse(inner.func) in ("torch.equal", "torch.allclose"):
            return _equal(*inner.args[:2])
        return Holds(ast.unparse(inner), True)
    if isinstance(verdict, ast.Compare) and isinstance(verdict.ops[0], ast.NotEq):
        return _equal(verdict.left, verdict.comparators[0])
    if isinstance(verdict, ast.Compare) and isinstance(verdict.ops[0], ast.IsNot):
        return Holds(ast.unparse(ast.Compare(verdict.left, [ast.Is()], verdict.comparators)), True)
    if isinstance(verdict, ast.Call) and ast.unparse(verdict.func) == "bool":
        return _outcome(verdict.args[0])
    return Holds(ast.unparse(verdict), False)


def _is_about_words(outcome: Outcome, steps: Sequence[ast.stmt]) -> bool:
    """Whether the condition of the bug is about the text of what was caught."""
    words = {
        name
        for step in steps
        if isinstance(step, ast.Assign) and isinstance(step.value, ast.Constant)
        for name in _names(step.targets[0])
    }
    return isinstance(outcome, Holds) and set(_names(parse_expression(outcome.condition))) <= words


def _equal(one: ast.expr, two: ast.expr) -> Equal:
    """Tell what is expected: it is a constant, is called so, or comes of the model itself."""
    if _expects(two) > _expects(one):
        one, two = two, one
    return Equal(ast.unparse(one), ast.unparse(two))


def _expects(side: ast.expr) -> int:
    names = {node.id for node in ast.walk(side) if isinstance(node, ast.Name)}
    if isinstance(side, ast.Constant) or names & {"expected", "before"} or not names - {"torch"}:
        return 2
    return int("model" in names)


def _texts(outcome: Outcome) -> tuple[str, ...]:
    if isinstance(outcome, Equal):
        return outcome.expected, outcome.seen
    return (outcome.condition,) if isinstance(outcome, Holds) else ()


def _names(target: ast.expr) -> list[str]:
    return [node.id for node in ast.walk(target) if isinstance(node, ast.Name)]


def _calls(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == name


def _steps(body: Sequence[ast.stmt]) -> tuple[list[ast.stmt], int | None]:
    """Leave out what only words the result; return also how many statements lead to the last exception."""
    steps: list[ast.stmt] = []
    raising = None
    for statement in body:
        if isinstance(statement, ast.Try):
            # What is caught is the bug, or the refusal that would be right.
            for each in statement.body:
                steps += _what_matters(each, caught=True)
            raising = len(steps)
        elif isinstance(statement, ast.With | ast.For):
            inner, inside = _steps(statement.body)
            statement.body = inner or [ast.Pass()]
            steps.append(statement)
            raising = raising if inside is None else len(steps)
        else:
            steps += _what_matters(statement, caught=False)
    return steps, raising


def _what_matters(statement: ast.stmt, caught: bool) -> Iterator[ast.stmt]:
    if isinstance(statement, ast.Raise) or _is_exit(statement):
        return
    if isinstance(statement, ast.Expr) and _calls(statement.value, "print"):
        # A crash may be in what is printed.
        for node in ast.walk(statement.value) if caught else ():
            if isinstance(node, ast.FormattedValue) and isinstance(node.value, ast.Call):
                yield ast.Expr(node.value)
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        for target, value in _pairs(statement.targets[0], statement.value):
            if _names(target) != ["bug"]:
                yield ast.Assign([target], value, lineno=0)
    else:
        yield statement


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Take ``a, b = 1, 2`` apart."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, two in zip(target.elts, value.elts, strict=True):
            yield from _pairs(one, two)
    else:
        yield target, value


def _is_exit(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and _calls(statement.value, "sys.exit")


@dataclass
class _Spread:
    steps: list[ast.stmt]
    outcome: Outcome
    kept: bool
    """Whether ``make`` is still called."""


def _spread(made: ast.FunctionDef, steps: list[ast.stmt], outcome: Outcome) -> _Spread:
    """Put what ``make`` does in the place of its calls, if there is one, or if it does nothing but return."""
    calls = sum(_calls(node, "make") for step in steps for node in ast.walk(step))
    calls += sum(text.count("make()") for text in _texts(outcome))
    *before, last = made.body
    if not isinstance(last, ast.Return) or not isinstance(last.value, ast.Tuple):
        return _Spread(steps, outcome, kept=True)
    if calls > 1 and before:
        return _Spread(steps, outcome, kept=True)
    inline = _Inline(last.value)
    out: list[ast.stmt] = []
    for step in steps:
        if any(_calls(node, "make") for node in ast.walk(step)):
            out += before
        out += inline.step(step)
    outcome = _inlined(outcome, inline)
    return _Spread([ast.fix_missing_locations(step) for step in out], outcome, kept=False)


def _inlined(outcome: Outcome, inline: _Inline) -> Outcome:
    def text(expression: str) -> str:
        return ast.unparse(inline.visit(parse_expression(expression)))

    if isinstance(outcome, Equal):
        return Equal(text(outcome.expected), text(outcome.seen))
    return Holds(text(outcome.condition), outcome.wanted) if isinstance(outcome, Holds) else outcome


class _Inline(ast.NodeTransformer):
    """Replaces ``make()`` by what it returns."""

    def __init__(self, returned: ast.Tuple) -> None:
        self._returned = returned

    def step(self, step: ast.stmt) -> list[ast.stmt]:
        """Return the statements that stand for one that calls ``make``."""
        if (
            isinstance(step, ast.Assign)
            and _calls(step.value, "make")
            and isinstance(step.targets[0], ast.Tuple)
        ):
            return [
                ast.Assign([target], value, lineno=0)
                for target, value in _pairs(step.targets[0], self._returned)
                if ast.unparse(target) not in (ast.unparse(value), "_")
            ]
        changed = self.visit(step)
        assert isinstance(changed, ast.stmt)
        return [changed]

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """``f(*make())`` and ``make()``."""
        self.generic_visit(node)
        if _calls(node, "make"):
            return self._returned
        node.args = [
            each
            for arg in node.args
            for each in (
                arg.value.elts if isinstance(arg, ast.Starred) and isinstance(arg.value, ast.Tuple) else [arg]
            )
        ]
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """``make()[1]``."""
        if _calls(node.value, "make") and isinstance(node.slice, ast.Constant):
            return self._returned.elts[int(str(node.slice.value))]
        self.generic_visit(node)
        return node


def _without_dead_names(steps: list[ast.stmt], outcome: Outcome) -> list[ast.stmt]:
    """Leave out constants and labels that nothing reads any more, and names of results that nothing reads."""
    while True:
        text = "\n".join([*map(ast.unparse, steps), *_texts(outcome)])
        read = {
            node.id
            for node in ast.walk(parse(text))
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }
        left = [each for step in steps for each in _alive(step, read)]
        if left == steps:
            return steps
        steps = left


def _alive(step: ast.stmt, read: set[str]) -> Iterator[ast.stmt]:
    if isinstance(step, ast.With):
        step.body = [each for inner in step.body for each in _alive(inner, read)] or [ast.Pass()]
    target = step.targets[0] if isinstance(step, ast.Assign) else None
    if not isinstance(step, ast.Assign) or not isinstance(target, ast.Name) or target.id in read:
        yield step
    elif not isinstance(step.value, ast.Constant | ast.Name | ast.Tuple):
        yield ast.Expr(step.value)
