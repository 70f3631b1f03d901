"""The program in a repro file: its source text, and what the rest of the file must know of it."""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.core.case import OPTIONAL_FUNCTIONS
from exportdiff.core.program_text.parsing import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

MODULES = (
    "contextlib",
    "copy",
    "inspect",
    "io",
    "itertools",
    "re",
    "subprocess",
    "sys",
    "tempfile",
    "warnings",
)
"""What else than torch a file may import."""


@dataclass(frozen=True)
class Program:
    """What the rest of the file must know of the source."""

    source: str
    has_kwargs: bool
    dynamic: bool
    """Whether it says which sizes are dynamic."""
    random_build: bool
    """Whether building the model or its inputs draws random numbers."""
    random_forward: bool
    """Whether calling the model draws random numbers."""
    random_probes: bool
    """Whether anything in it draws random numbers by name, as its probes may."""


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


def read_program(source: str) -> Program:
    """Find out what ``make`` returns, and whether random numbers play a part."""
    tree = parse(source)
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    names = set(_names(tree))
    layers = set(_layers(tree)) - _WITHOUT_RANDOM_NUMBERS
    hidden = bool(set(_imported(tree)) - {"torch", "__future__", *sys.stdlib_module_names})
    return Program(
        source=source,
        has_kwargs="make" in functions and _returns_three(functions["make"]),
        dynamic="dynamic_shapes" in functions,
        random_build=hidden or bool(layers) or any(name.startswith(_DRAWING) for name in names),
        random_forward=hidden or any(word in name for name in names for word in _DRAWING_IN_CALLS),
        random_probes=any("rand" in name for name in names),
    )


def future_first(source: str) -> tuple[tuple[str, ...], str]:
    """Take out the imports from ``__future__``: Python wants them above all others.

    Return them, and the source without them.
    """
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


def _imported(tree: ast.AST) -> Iterator[str]:
    """Yield the packages that it imports: what they draw, the source does not say."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def _names(tree: ast.AST) -> Iterator[str]:
    """Yield every name that is read or called, with and without what it is an attribute of."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def _layers(tree: ast.AST) -> Iterator[str]:
    """Yield the classes of ``nn`` that are named."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr[0].isupper():
            owner = node.value
            name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
            if name == "nn":
                yield node.attr


_DRAWING = ("rand", "normal_", "uniform_")
"""How the names of functions begin that draw random numbers."""
_DRAWING_IN_CALLS = ("rand", "ropout", "bernoulli", "multinomial", "normal_")
"""What the names of functions and layers contain that draw random numbers when they are called."""
_WITHOUT_RANDOM_NUMBERS = {
    "Module",
    "ModuleList",
    "ModuleDict",
    "Sequential",
    "Parameter",
    "ReLU",
    "GELU",
    "SiLU",
    "Tanh",
    "Sigmoid",
    "Identity",
    "Flatten",
    "LayerNorm",
    "BatchNorm1d",
    "BatchNorm2d",
    "Softmax",
}
"""The classes of ``nn`` that draw no random numbers when they are made."""
