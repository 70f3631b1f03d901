"""The program in a repro file: its source text, and what the rest of the file depends on."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.core.case import OPTIONAL_FUNCTIONS
from exportdiff.core.program_text.parsing import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

MODULES = (
    "contextlib",
    "copy",
    "gc",
    "inspect",
    "io",
    "itertools",
    "re",
    "subprocess",
    "sys",
    "tempfile",
    "threading",
    "warnings",
    "weakref",
)
"""The modules besides torch that a file may import."""


@dataclass(frozen=True)
class ParsedProgram:
    """The source, and what the rest of the file depends on."""

    source: str
    has_kwargs: bool
    dynamic: bool
    """Whether it says which sizes are dynamic."""
    has_probes: bool = False
    """Whether it gives further calls."""
    of_parts: bool = False
    """Whether it makes tensors that consist of others: of a subclass, jagged or sparse."""


def program_of(source: str, *, probes: bool = True) -> str:
    """Cut a repro file back to its program; any other source is one already.

    What a finding does not need of ``probes`` goes as well.
    """
    header = re.match(r"# /// script\n(#[^\n]*\n)+", source)
    if header is not None:
        source = source[header.end() :]
    functions = {node.name: node for node in parse(source).body if isinstance(node, ast.FunctionDef)}
    kept = source.splitlines()
    ends = [functions[name].end_lineno or 0 for name in ("make", *OPTIONAL_FUNCTIONS) if name in functions]
    if header is not None and ends:
        kept = kept[: max(ends)]
        used = set(_names(parse("\n".join(kept))))
        ours = {f"import {name}" for name in MODULES if name not in used}
        kept = ["" if line in ours else line for line in kept]
    if not probes and "probes" in functions:
        node = functions["probes"]
        kept[node.lineno - 1 : node.end_lineno] = []
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(kept)).strip("\n")


# A class of tensors, an import of one, a layout, and the functions that return a sparse tensor.
_OF_PARTS = re.compile(r"__tensor_flatten__|\bTwoTensor\b|\btorch\.jagged\b|\bsparse_|\bto_sparse")


def read_program(source: str) -> ParsedProgram:
    """Find out what the functions of a program return."""
    tree = parse(source)
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    return ParsedProgram(
        source=source,
        has_kwargs="make" in functions and _returns_three(functions["make"]),
        dynamic="dynamic_shapes" in functions,
        has_probes="probes" in functions,
        of_parts=_OF_PARTS.search(source) is not None,
    )


def future_first(source: str) -> tuple[tuple[str, ...], str]:
    """Return the imports from ``__future__``, which come first in a file, and the source without them."""
    nodes = [
        node
        for node in parse(source).body
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
    ]
    lines = source.splitlines()
    for node in nodes:
        lines[node.lineno - 1 : node.end_lineno] = [""] * ((node.end_lineno or 0) - node.lineno + 1)
    return tuple(map(ast.unparse, nodes)), "\n".join(lines) if nodes else source


def _returns_three(function: ast.FunctionDef) -> bool:
    """Whether it returns ``(model, args, kwargs)``."""
    returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    tuples = [value for value in returned if isinstance(value, ast.Tuple)]
    return bool(tuples) and len(tuples[-1].elts) == 3


def _names(tree: ast.AST) -> Iterator[str]:
    """Yield every name that is read or called, with and without what it is an attribute of."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
