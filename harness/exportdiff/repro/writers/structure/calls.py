"""How to show that a program makes other calls of submodules than eager."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import torch

from exportdiff.judging.checks.structure.call_order import CallMissing, CallOrder, CallsUnknown
from exportdiff.repro.parts import ScriptParts
from exportdiff.repro.paste import Template
from exportdiff.repro.templates.stand_ins import inputs
from exportdiff.repro.writers.structure.common import exported, lowered, verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def calls_during(run: Callable[[], Any], name_of: dict[Any, str]) -> list[Any]:
    """Return the calls of submodules during a run: the name of each, and the calls during it."""
    root: list[Any] = []
    stack = [root]

    def enter(module: Any, args: Any) -> None:
        stack[-1].append((name_of[module], []))
        stack.append(stack[-1][-1][1])

    def leave(module: Any, args: Any, out: Any) -> None:
        stack.pop()

    for module in name_of:
        module.register_forward_pre_hook(enter)
        module.register_forward_hook(leave)
    run()
    return root


def fits(ours: list[Any], theirs: list[Any]) -> bool:
    """Return whether calls are those of eager, in order, though some may be left out."""
    if not theirs or not ours:
        return not theirs
    (name, during), (other, inner) = ours[0], theirs[0]
    taken = name == other and fits(during, inner) and fits(ours[1:], theirs[1:])
    return taken or fits(ours[1:], theirs)


def module_stacks(owner: Any, graph: Any) -> Iterator[list[tuple[str, str]]]:
    """Yield the module stack that export recorded of each node, and of the nodes of a region in its place."""
    for node in graph.nodes:
        if node.op == "get_attr" and any("wrap_with" in str(user.target) for user in node.users):
            body = getattr(owner, node.target)
            yield from module_stacks(body, body.graph)
        elif node.op == "call_function":
            stack = node.meta.get("nn_module_stack", {}).items()
            yield [(path, key) for key, (path, _) in stack if path and not path.startswith("_empty_")]


def recorded_calls(owner: Any, graph: Any, first: dict[str, str]) -> list[Any]:
    """Return the calls that a graph says its nodes were made in."""
    root: list[Any] = []
    known: dict[Any, Any] = {}
    for stack in module_stacks(owner, graph):
        calls = root
        where: tuple[str, ...] = ()
        for path, key in stack:
            if first.get(path, path):
                where += (key,)
                if where not in known:
                    known[where] = (first.get(path, path), [])
                    calls.append(known[where])
                calls = known[where][1]
    return root


# --- scripts ---


def name_modules(model: Any) -> Any:
    """Name the modules of eager, each by the first of its names."""
    name_of = {m: n for n, m in model.named_modules() if n and not isinstance(m, torch.fx.GraphModule)}
    first = {n: name_of.get(m, "") for n, m in model.named_modules(remove_duplicate=False)}
    return name_of, first


def call_eager(model: Any, name_of: Any) -> Any:
    """Note the calls of eager."""
    args, kwargs = inputs()
    ours = calls_during(lambda: model(*args, **kwargs), name_of)
    return ours


def find_unknown(ep: Any, first: Any) -> list[str]:
    """Look for modules that eager does not have."""
    names = {path for stack in module_stacks(ep.graph_module, ep.graph) for path, _ in stack}
    bug = [f"the graph has operators of {n}, eager has no such module" for n in sorted(names - first.keys())]
    return bug


def compare_order(ep: Any, first: Any, ours: Any) -> list[str]:
    """Compare the recorded calls with those of eager."""
    theirs = recorded_calls(ep.graph_module, ep.graph, first)
    bug = [] if fits(ours, theirs) else [f"the graph has the calls {theirs}, eager makes {ours}"]
    return bug


def count_calls(ep: Any, first: Any, ours: Any) -> list[str]:
    """Count the calls of one module."""
    count = [
        str(calls).count("('NAME'") for calls in (ours, recorded_calls(ep.graph_module, ep.graph, first))
    ]
    counted = f"eager calls NAME {count[0]} times, the graph has {count[1]} of them"
    bug = [counted] if count[1] < count[0] else []
    return bug


def compare_made(candidate: Any, first: Any, ours: Any) -> list[str]:
    """Compare the calls that are made with those of eager."""
    named = {m: re.sub(r"@\d+", "", n) for n, m in candidate.named_modules() if n}
    named = {m: first.get(n, n) for m, n in named.items() if not isinstance(m, torch.fx.GraphModule)}
    args, kwargs = inputs()
    theirs = calls_during(lambda: candidate(*args, **kwargs), named)
    bug = [] if fits(ours, theirs) else [f"RUNNER makes the calls {theirs}, eager {ours}"]
    return bug


def write(evidence: CallsUnknown | CallOrder | CallMissing) -> ScriptParts:
    """Write down calls that the graph records, or that are made, and those of eager."""
    during, order = Template(calls_during), Template(fits)
    recorded = [Template(module_stacks), Template(recorded_calls)]
    eager = Template(call_eager)
    match evidence:
        case CallsUnknown():
            functions, script = recorded, [Template(find_unknown)]
        case CallMissing(module=module):
            functions, script = [during, *recorded], [eager, Template(count_calls, {"NAME": module})]
        case CallOrder(stage="export"):
            functions, script = [during, order, *recorded], [eager, Template(compare_order)]
        case CallOrder():
            functions, script = [during, order], [eager, Template(compare_made)]
    start = [Template(lowered if evidence.stage == "lower" else exported), Template(name_modules)]
    return ScriptParts(functions, [*start, *script, verdict("the calls are those of eager")], of_program=True)
