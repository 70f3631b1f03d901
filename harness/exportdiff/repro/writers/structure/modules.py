"""How to show modules that are missing, unknown, below themselves, or there twice."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import torch

from exportdiff.judging.checks.structure.check import (
    ModuleCycle,
    ModulesMissing,
    ModulesUnknown,
    NeedlessVariant,
)
from exportdiff.repro.parts import ScriptParts
from exportdiff.repro.paste import Template
from exportdiff.repro.writers.structure.common import lowered, verdict

if TYPE_CHECKING:
    from collections.abc import Callable


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
    names = {n for n, _ in model.named_modules(remove_duplicate=False)}
    unknown = sorted(str(n) for n in module_names(candidate) - names)
    bug = [f"RUNNER has {n}, eager has not" for n in unknown]
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


def write(evidence: ModuleCycle | ModulesMissing | ModulesUnknown | NeedlessVariant) -> ScriptParts:
    """Write down a module that is missing, unknown, below itself or there twice."""
    function: Callable[..., Any] = module_names
    finder: Callable[..., Any]
    fine = "RUNNER has the modules of eager"
    match evidence:
        case ModuleCycle():
            finder = find_cycle
        case ModulesMissing():
            finder = find_missing
        case ModulesUnknown():
            finder = find_unknown
        case NeedlessVariant():
            function, finder = graph_text, find_equal_variants
            fine = "no two graphs of a module are the same"
    script = [Template(lowered), Template(finder), verdict(fine)]
    return ScriptParts([Template(function)], script, of_program=True)
