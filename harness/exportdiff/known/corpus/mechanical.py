"""Edits of one statement that a program can make: for workarounds that do not depend on the entry's model."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def copied_into_the_attribute(source: str, node: ast.stmt) -> str | None:
    """Turn ``self.total = value`` into ``self.total.copy_(value)``."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return None
    (target,) = node.targets
    if not isinstance(target, ast.Attribute):
        return None
    return f"{_text(source, target)}.copy_({_text(source, node.value)})"


def result_cloned(source: str, node: ast.stmt) -> str | None:
    """Turn ``return y`` into ``return y.clone()``."""
    if not isinstance(node, ast.Return) or not isinstance(node.value, ast.Name | ast.Attribute | ast.Call):
        return None
    return f"return {_text(source, node.value)}.clone()"


def data_detached(source: str, node: ast.stmt) -> str | None:
    """Turn ``x.data`` into ``x.detach()``."""
    found = [each for each in ast.walk(node) if isinstance(each, ast.Attribute) and each.attr == "data"]
    if len(found) != 1 or not isinstance(node, ast.Return | ast.Assign | ast.Expr):
        return None
    whole, owner = _text(source, found[0]), _text(source, found[0].value)
    return _text(source, node).replace(whole, f"{owner}.detach()", 1)


EDITS: dict[str, Callable[[str, ast.stmt], str | None]] = {
    edit.__name__: edit for edit in (copied_into_the_attribute, result_cloned, data_detached)
}
"""By name. Each returns the new text of a statement, or None if it cannot change it."""


def edit_that_makes(code: Sequence[str]) -> str:
    """Return the name of the edit that turns the ``-`` line of a workaround into its ``+`` line; or empty."""
    if len(code) != 2 or code[0][:1] != "-" or code[1][:1] != "+":
        return ""
    before, after = (line[1:].strip() for line in code)
    return next((name for name in EDITS if _same(edited_line(before, 1, name), after)), "")


def edited_line(source: str, line: int, name: str) -> str | None:
    """Return the source with the statement at a line edited; None if the edit does not fit there."""
    try:
        nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt)]
    except SyntaxError:
        return None
    at = [node for node in nodes if node.lineno <= line <= (node.end_lineno or 0)]
    node = max(at, key=lambda each: each.lineno, default=None)
    new = None if node is None else EDITS[name](source, node)
    if node is None or new is None or node.end_col_offset is None:
        return None
    lines = source.splitlines(keepends=True)
    first, last = lines[node.lineno - 1].encode(), lines[(node.end_lineno or 0) - 1].encode()
    text = first[: node.col_offset].decode() + new + last[node.end_col_offset :].decode()
    return "".join([*lines[: node.lineno - 1], text, *lines[node.end_lineno or 0 :]])


def _text(source: str, node: ast.AST) -> str:
    return ast.get_source_segment(source, node) or ""


def _same(one: str | None, other: str) -> bool:
    return one is not None and ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))
