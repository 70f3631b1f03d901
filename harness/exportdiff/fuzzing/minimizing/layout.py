"""The usual layout of a program: one statement a line, the usual blank lines, no comments."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TypeVar

import libcst as cst

from exportdiff.core.program_text.parsing import parse

S = TypeVar("S", bound=cst.CSTNode)


def laid_out(source: str) -> str:
    """Return the same program in the usual layout. Raises libcst.ParserSyntaxError."""
    text = cst.parse_module(source).visit(_Layout()).code.strip("\n") + "\n"
    return text if ast.dump(parse(text)) == ast.dump(parse(source)) else source


_SPACE = cst.SimpleWhitespace(" ")
_NONE = cst.SimpleWhitespace("")
_ASIDE = cst.TrailingWhitespace()


class _Layout(cst.CSTTransformer):
    def leave_ParenthesizedWhitespace(  # noqa: N802 - LibCST finds the method by this name
        self, original_node: cst.ParenthesizedWhitespace, updated_node: cst.ParenthesizedWhitespace
    ) -> cst.SimpleWhitespace:
        return _SPACE

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        node: object = super().on_leave(original_node, updated_node)
        if isinstance(node, cst.CSTNode):
            node = _laid_out(node)
        return node  # type: ignore[return-value]  # only whitespace changes its type


def _laid_out(node: cst.CSTNode) -> cst.CSTNode:
    match node:
        case cst.Comma():
            return cst.Comma(_NONE, _SPACE)
        case cst.LeftParen():
            return cst.LeftParen(_NONE)
        case cst.RightParen():
            return cst.RightParen(_NONE)
        case cst.LeftSquareBracket():
            return cst.LeftSquareBracket(_NONE)
        case cst.RightSquareBracket():
            return cst.RightSquareBracket(_NONE)
        case cst.LeftCurlyBrace():
            return cst.LeftCurlyBrace(_NONE)
        case cst.RightCurlyBrace():
            return cst.RightCurlyBrace(_NONE)
        case cst.Dot():
            return cst.Dot(_NONE, _NONE)
        case cst.Arg():
            return node.with_changes(whitespace_after_arg=_NONE)
        case cst.Call():
            return node.with_changes(
                args=_unended(node.args), whitespace_before_args=_NONE, whitespace_after_func=_NONE
            )
        case cst.Tuple(elements=[cst.Element(comma=cst.Comma()) as only]):
            return node.with_changes(elements=[only.with_changes(comma=cst.Comma(_NONE, _NONE))])
        case cst.Tuple():
            return node.with_changes(elements=_unended(node.elements))
        case cst.List() | cst.Set() | cst.Dict():
            return node.with_changes(elements=_unended(node.elements))
        case cst.FunctionDef():
            return node.with_changes(
                lines_after_decorators=[], whitespace_before_params=_NONE, leading_lines=[]
            )
        case cst.Parameters() if node.params and not (node.star_kwarg or node.kwonly_params):
            return (
                node
                if isinstance(node.star_arg, cst.Param)
                else node.with_changes(params=_unended(node.params))
            )
        case cst.ClassDef():
            bare = {} if node.bases or node.keywords else {"lpar": cst.MaybeSentinel.DEFAULT}
            bare |= {"rpar": cst.MaybeSentinel.DEFAULT} if bare else {}
            return node.with_changes(lines_after_decorators=[], leading_lines=[], **bare)
        case cst.SimpleString():
            return _double_quoted(node)
        case cst.SimpleStatementLine():
            return node.with_changes(leading_lines=[], trailing_whitespace=_ASIDE)
        case cst.IndentedBlock():
            return node.with_changes(body=_apart(node.body, 1), header=_ASIDE, footer=[])
        case cst.SimpleStatementSuite():
            return cst.IndentedBlock([cst.SimpleStatementLine([each]) for each in node.body])
        case cst.Decorator():
            return node.with_changes(leading_lines=[], trailing_whitespace=_ASIDE)
        case cst.Module():
            return node.with_changes(body=_apart(node.body, 2), header=[], footer=[])
    if hasattr(node, "leading_lines"):
        return node.with_changes(leading_lines=[])
    return node


def _unended(nodes: Sequence[S]) -> list[S]:
    """Drop the comma after the last node."""
    new = list(nodes)
    if new:
        new[-1] = new[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return new


def _apart(body: Sequence[cst.CSTNode], lines: int) -> list[cst.CSTNode]:
    """Put blank lines around definitions, and one after imports."""
    new: list[cst.CSTNode] = []
    before: cst.CSTNode | None = None
    for node in body:
        blank = 0
        if before is not None:
            blank = _blank(before, node, lines)
        new.append(node.with_changes(leading_lines=[cst.EmptyLine(indent=False)] * blank))
        before = node
    return new


def _defines(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.FunctionDef | cst.ClassDef)


def _blank(before: cst.CSTNode, node: cst.CSTNode, lines: int) -> int:
    if _defines(before) or _defines(node):
        return lines
    return int(_imports(before) and not _imports(node))


def _imports(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.SimpleStatementLine) and isinstance(node.body[0], cst.Import | cst.ImportFrom)


def _double_quoted(node: cst.SimpleString) -> cst.SimpleString:
    inner = node.value[1:-1]
    plain = node.value.startswith("'") and not node.value.startswith("'''")
    return node if not plain or '"' in inner or "\\" in inner else cst.SimpleString(f'"{inner}"')
