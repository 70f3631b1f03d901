"""Reads from source text which private names of torch it uses."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def private_names(text: str) -> frozenset[str]:
    """Return the full names of torch in a source of which a part is private: ``torch._ops.OpOverload``.

    They are imported, read as attributes, or named as text in ``patch.object(module, "name")``, and so on.
    """
    tree = ast.parse(text)
    bound = dict(_imported(tree))
    found = set(bound.values())
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and (name := _full(node, bound)):
            found.add(name)
        elif isinstance(node, ast.Call) and len(node.args) >= 2:
            owner, named = node.args[:2]
            if (
                isinstance(named, ast.Constant)
                and isinstance(named.value, str)
                and named.value.isidentifier()
            ):
                within = _full(owner, bound)
                found |= {f"{within}.{named.value}"} if within else set()
    private = {name for name in found if any(_is_private(part) for part in name.split("."))}
    # ``torch._dynamo.config`` is part of ``torch._dynamo.config.patch``.
    return frozenset(name for name in private if not any(o.startswith(f"{name}.") for o in private))


def _is_private(part: str) -> bool:
    return part.startswith("_") and not part.startswith("__")


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the names that a source binds to modules and members of torch, and what each stands for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "torch":
                    yield (alias.asname, alias.name) if alias.asname else ("torch", "torch")
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module.split(".")[0] == "torch":
                yield from ((a.asname or a.name, f"{node.module}.{a.name}") for a in node.names)
            elif node.module == "exportdiff.core.lazy":
                yield "torch", "torch"


def _full(node: ast.expr, bound: dict[str, str]) -> str:
    """Return the full name of an expression ``a.b.c`` whose first part is of torch; else nothing."""
    if isinstance(node, ast.Name):
        return bound.get(node.id, "")
    if isinstance(node, ast.Attribute) and (within := _full(node.value, bound)):
        return f"{within}.{node.attr}"
    return ""
