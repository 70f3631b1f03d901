"""Pastes functions into repro files: the source of real functions, without types.

A template is a function of this project. It is linted, type-checked and tested like any other, and its source
text goes into the file. Where the text depends on the finding, the template has a name in upper case
(repro/templates/stand_ins.py), and ``Template.values`` says what goes there.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import libcst as cst

from exportdiff.core.program_text.parsing import parse

if TYPE_CHECKING:
    from collections.abc import Iterator


Values = Mapping[str, str | bool | Callable[..., Any]]
"""For each name in upper case: the text that replaces it, in strings as well.

A bool decides the conditions that test the name. Of a function that returns one expression, that expression
replaces the call.
"""


@dataclass(frozen=True)
class Template:
    """A function, and what goes into its text."""

    function: Callable[..., Any]
    values: Values = field(default_factory=dict)
    name: str = ""
    """What the pasted function is called, if not as the template."""

    @property
    def text(self) -> str:
        """Return the text of the function, without types."""
        module = _untyped(self.function)
        if self.name:
            definition = cst.ensure_type(module.body[0], cst.FunctionDef)
            module = module.with_changes(body=[definition.with_changes(name=cst.Name(self.name))])
        return _replaced(module.visit(_Decided(self.values)).code, self.values).strip()

    @property
    def body(self) -> str:
        """Return the statements of the function, without its docstring and without its last ``return``."""
        (function,) = cst.parse_module(self.text).body
        assert isinstance(function, cst.FunctionDef)
        block = cst.ensure_type(function.body, cst.IndentedBlock)
        statements = list(block.body)
        if function.get_docstring() is not None:
            statements = statements[1:]
        if statements and _is_return(statements[-1]):
            statements.pop()
        module = cst.Module([])
        return "".join(module.code_for_node(statement) for statement in statements).strip("\n")


def with_helpers(function: Callable[..., Any]) -> Iterator[str]:
    """Yield the text of the private functions that a function calls, then its text, without types."""
    module = sys.modules[function.__module__]
    text = Template(function).text
    for name in sorted(name for name in names_in(text) if name.startswith("_")):
        used = getattr(module, name, None)
        if inspect.isfunction(used) and used.__module__ == module.__name__:
            yield from with_helpers(used)
    yield text


@cache
def _untyped(function: Callable[..., Any]) -> cst.Module:
    return cst.parse_module(_source(function)).visit(_Untyped())


def _source(function: Callable[..., Any]) -> str:
    return textwrap.dedent(inspect.getsource(function))


def _is_return(statement: cst.CSTNode) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and isinstance(statement.body[0], cst.Return)


def _replaced(text: str, values: Values) -> str:
    for name, value in values.items():
        if isinstance(value, str):
            text = replace_name(text, name, value)
        elif not isinstance(value, bool):
            arguments = ", ".join(inspect.signature(value).parameters)
            text = text.replace(f"{name}({arguments})", expression(value))
    return text


def replace_name(text: str, name: str, value: str) -> str:
    """Replace each occurrence of a name in a text, in strings and comments as well."""
    return re.sub(rf"\b{name}\b", value.replace("\\", r"\\"), text)


def expression(function: Callable[..., Any]) -> str:
    """Return the text of the expression that a function returns. It has no other statement."""
    (definition,) = cst.parse_module(_source(function)).body
    block = cst.ensure_type(cst.ensure_type(definition, cst.FunctionDef).body, cst.IndentedBlock)
    returned = cst.ensure_type(cst.ensure_type(block.body[-1], cst.SimpleStatementLine).body[0], cst.Return)
    assert returned.value is not None
    return cst.Module([]).code_for_node(returned.value)


def names_in(text: str) -> set[str]:
    """Return the names that an expression or a module uses."""
    return {node.id for node in ast.walk(parse(text)) if isinstance(node, ast.Name)}


class _Untyped(cst.CSTTransformer):
    """Drops decorators and annotations: a file of torch alone does not import their names."""

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        return updated_node.with_changes(decorators=(), returns=None)

    def leave_Param(self, original_node: cst.Param, updated_node: cst.Param) -> cst.Param:
        bare = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
        equal = updated_node.equal if updated_node.annotation is None else bare
        if updated_node.default is None:
            equal = cst.MaybeSentinel.DEFAULT
        return updated_node.with_changes(annotation=None, equal=equal)

    def leave_TrailingWhitespace(
        self, original_node: cst.TrailingWhitespace, updated_node: cst.TrailingWhitespace
    ) -> cst.TrailingWhitespace:
        """Drop comments for a type checker or a linter."""
        comment = updated_node.comment
        if comment is None or not comment.value.startswith(_FOR_TOOLS):
            return updated_node
        return updated_node.with_changes(comment=None, whitespace=cst.SimpleWhitespace(""))

    def leave_AnnAssign(
        self, original_node: cst.AnnAssign, updated_node: cst.AnnAssign
    ) -> cst.BaseSmallStatement | cst.RemovalSentinel:
        if updated_node.value is None:
            return cst.RemoveFromParent()
        return cst.Assign([cst.AssignTarget(updated_node.target)], updated_node.value)


_FOR_TOOLS = ("# type:", "# noqa")


class _Decided(cst.CSTTransformer):
    """Resolves the conditions that the values decide: only the branch that is taken stays."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self._known = {name: value for name, value in values.items() if isinstance(value, bool)}

    def _outcome(self, test: cst.BaseExpression) -> bool | None:
        return self._known.get(test.value) if isinstance(test, cst.Name) else None

    def leave_BooleanOperation(
        self, original_node: cst.BooleanOperation, updated_node: cst.BooleanOperation
    ) -> cst.BaseExpression:
        """Take the right side of ``NAME and …`` if NAME is true, and NAME alone otherwise."""
        outcome = self._outcome(updated_node.left)
        if outcome is None or not isinstance(updated_node.operator, cst.And):
            return updated_node
        return updated_node.right if outcome else updated_node.left

    def leave_If(
        self, original_node: cst.If, updated_node: cst.If
    ) -> cst.If | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel:
        outcome = self._outcome(updated_node.test)
        if outcome is None:
            return updated_node
        if outcome:
            return statements_of(updated_node.body, updated_node.leading_lines)
        if isinstance(updated_node.orelse, cst.Else):
            return statements_of(updated_node.orelse.body, updated_node.leading_lines)
        return cst.RemoveFromParent()

    def leave_IfExp(self, original_node: cst.IfExp, updated_node: cst.IfExp) -> cst.BaseExpression:
        outcome = self._outcome(updated_node.test)
        if outcome is None:
            return updated_node
        return updated_node.body if outcome else updated_node.orelse

    def leave_With(
        self, original_node: cst.With, updated_node: cst.With
    ) -> cst.With | cst.FlattenSentinel[cst.BaseStatement]:
        """Keep the manager of ``with when(NAME, manager):``, or the statements alone."""
        call = updated_node.items[0].item
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Name) or call.func.value != "when":
            return updated_node
        condition, manager = call.args
        if self._outcome(condition.value):
            return updated_node.with_changes(items=[cst.WithItem(manager.value)])
        return statements_of(updated_node.body, updated_node.leading_lines)


def statements_of(
    block: cst.BaseSuite, leading_lines: Sequence[cst.EmptyLine] = ()
) -> cst.FlattenSentinel[cst.BaseStatement]:
    """Return the statements of a block, to replace the statement that has the block."""
    first, *rest = cst.ensure_type(block, cst.IndentedBlock).body
    assert isinstance(first, cst.SimpleStatementLine | cst.BaseCompoundStatement)
    own = first.leading_lines
    return cst.FlattenSentinel([first.with_changes(leading_lines=[*leading_lines, *own]), *rest])
