"""How to show modules that are missing, unknown, below themselves, or there twice."""

from __future__ import annotations

import re
from typing import Any

import torch

from harness.repro.parts import Parts
from harness.repro.paste import Template
from harness.repro.writers.structure.common import lowered, verdict


def module_names(module: Any, name: str = "", above: tuple[Any, ...] = ()) -> set[str | None]:
    """Return the names of modules, without call variants and graphs of regions; None: one is below itself."""
    if module in above:
        return {None}
    names: set[str | None] = {re.sub(r"@\d+", "", name)}
    for key, child in module._modules.items():
        if child is not None and not isinstance(child, torch.fx.GraphModule):
            names |= module_names(child, f"{name}.{key}".strip("."), (*above, module))
    return names


def find_cycle(candidate: Any) -> list[str]:
    """Look for a module below itself."""
    bug = ["a module is below itself"] if None in module_names(candidate) else []
    return bug


def find_missing(model: Any, candidate: Any) -> list[str]:
    """Look for modules of eager that are missing."""
    names = [n for n, _ in model.named_modules(remove_duplicate=False)]
    bug = [f"eager has {n}, RUNNER has not" for n in names if n not in module_names(candidate)]
    return bug


def find_unknown(model: Any, candidate: Any) -> list[str]:
    """Look for modules that eager does not have."""
    names: set[Any] = {n for n, _ in model.named_modules(remove_duplicate=False)}
    bug = [f"RUNNER has {n}, eager has not" for n in sorted(module_names(candidate) - names)]
    return bug


def graph_text(module: Any) -> str:
    """Return what a module's graph does: its nodes by number, the graphs that it calls in their places."""
    number: dict[Any, str] = {}
    lines: list[str] = []
    for node in module.graph.nodes:
        args = torch.fx.map_arg((node.args, node.kwargs), number.get)
        target = "" if node.op == "placeholder" else node.target
        below = node.op in ("call_module", "get_attr") and getattr(module, target, None)
        below = module.get_submodule(target) if node.op == "call_module" else below
        inner = isinstance(below, torch.nn.Module) and hasattr(below, "graph")
        number[node] = f"%{len(lines)}"
        lines.append(f"{node.op} {graph_text(below) if inner else target} {args}")
    return "; ".join(lines)


def find_equal_variants(candidate: Any) -> list[str]:
    """Look for graphs of one module that do the same."""
    bug: list[str] = []
    known: dict[Any, str] = {}
    for name, module in candidate.named_modules():
        if isinstance(getattr(module, "graph", None), torch.fx.Graph) and len(module.graph.nodes):
            other = known.setdefault((re.sub(r"@\d+", "", name), graph_text(module)), name)
            if other is not name:
                bug.append(f"{other} and {name} have a graph each, and the two are the same")
    return bug


FINDERS = {"cycle": find_cycle, "missing": find_missing, "unknown": find_unknown}
"""By what is wrong with a module."""


def write_modules(word: str) -> Parts:
    """Write down a module that is missing, unknown or below itself."""
    pieces = [Template(lowered), Template(FINDERS[word])]
    script = [*pieces, verdict("RUNNER has the modules of eager")]
    return Parts([Template(module_names)], script, of_program=True)


def write_variants() -> Parts:
    """Write down a call variant that repeats another."""
    pieces = [Template(lowered), Template(find_equal_variants)]
    return Parts(
        [Template(graph_text)], [*pieces, verdict("no two graphs of a module are the same")], of_program=True
    )
