"""The canonical form of a program, which ignores names, comments and layout."""

from __future__ import annotations

import ast
import builtins
import hashlib
import json

from exportdiff.core.case import OPTIONAL_FUNCTIONS
from exportdiff.core.program_text.parsing import parse

DIGITS = 10
"""The number of hexadecimal digits of a fingerprint."""

_KEPT = frozenset((*dir(builtins), "make", *OPTIONAL_FUNCTIONS))


def canonical_digest(source: str) -> str:
    """Return a digest that is equal for programs that differ only in names, comments and layout.

    Each name that the program defines is replaced by its number, in order of appearance. Names of torch, and
    names that the harness uses (``make``, ``probes``), stay as they are. Imports and everything below ``if``
    at the top level are ignored. Raises SyntaxError.
    """
    tree = parse(source)
    counted = ast.ClassDef | ast.FunctionDef | ast.Assign
    body: list[ast.stmt] = [node for node in tree.body if isinstance(node, counted)]
    whole = _Renamed(_defined(body)).visit(ast.Module(body, []))
    return hashlib.sha256(ast.dump(whole).encode()).hexdigest()


def fingerprint(path: str, check: str, kind: str, signature: object, source: str) -> str:
    """Return a stable id of the bug that a minimized program shows.

    The id depends on the path (without the device), the check and the kind. For a crash it also depends on
    the signature, which contains the type of the exception, and the torch functions of its traceback or words
    of its message. For other kinds it depends on the canonical form of the program.
    """
    subject = signature if kind == "crash" else canonical_digest(source)
    text = json.dumps([path.partition("@")[0], check, kind, subject])
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def _defined(body: list[ast.stmt]) -> set[str]:
    """Return the names of the classes, functions, arguments, variables and attributes of a program."""
    names: set[str] = set()
    for node in (each for statement in body for each in ast.walk(statement)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.id if isinstance(node, ast.Name) else node.attr)
        elif isinstance(node, ast.Call) and _registers(node):
            names.add(ast.literal_eval(node.args[0]))
    return names - _KEPT - {"forward", "self"}


def _registers(call: ast.Call) -> bool:
    return (
        isinstance(call.func, ast.Attribute)
        and call.func.attr in ("register_buffer", "register_parameter", "add_module", "register_module")
        and bool(call.args)
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[0].value, str)
    )


class _Renamed(ast.NodeTransformer):
    """Replaces the names of a program by numbers, in the order in which the names appear."""

    def __init__(self, names: set[str]) -> None:
        self._names = names
        self._numbers: dict[str, str] = {}

    def _new(self, name: str) -> str:
        return self._numbers.setdefault(name, f"name{len(self._numbers)}") if name in self._names else name

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for field in ("name", "arg", "id", "attr"):
            if isinstance(name := getattr(node, field, None), str):
                setattr(node, field, self._new(name))
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = self._new(node.value)
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
        return super().generic_visit(node)
