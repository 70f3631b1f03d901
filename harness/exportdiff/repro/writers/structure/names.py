"""How to show that a program disagrees with itself, or with eager, about names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from exportdiff.judging.checks.structure.signature import SignatureMismatch, TableNames
from exportdiff.repro.parts import ScriptParts
from exportdiff.repro.paste import Template
from exportdiff.repro.writers.structure.common import exported, verdict

if TYPE_CHECKING:
    from exportdiff.judging.checks.structure.signature import SpecKind, SpecTarget


def compare_modules(model: Any, ep: Any) -> list[str]:
    """Compare the names of modules."""
    expected = [name for name, _ in model.named_modules(remove_duplicate=False)]
    seen = [entry.fqn for entry in ep.module_call_graph if "@" not in entry.fqn]
    bug = [f"module_call_graph has {seen}, eager has {expected}"] if seen != expected else []
    return bug


def compare_state(model: Any, ep: Any) -> list[str]:
    """Compare the names of the state."""
    expected = sorted(model.state_dict())
    seen = sorted(ep.state_dict)
    bug = [f"state_dict has {seen}, eager has {expected}"] if seen != expected else []
    return bug


def compare_inputs(ep: Any) -> list[str]:
    """Compare the inputs of the graph with the signature."""
    seen = [node.name for node in ep.graph.nodes if node.op == "placeholder"]
    named = [getattr(spec.arg, "name", None) for spec in ep.graph_signature.input_specs]
    differs = len(seen) != len(named) or any(a and a != b for a, b in zip(seen, named, strict=True))
    bug = [f"the graph has the inputs {seen}, its signature has {named}"] if differs else []
    return bug


def compare_outputs(ep: Any) -> list[str]:
    """Compare the outputs of the graph with the signature."""
    seen = [getattr(out, "name", None) for out in next(iter(reversed(ep.graph.nodes))).args[0]]
    named = [getattr(spec.arg, "name", None) for spec in ep.graph_signature.output_specs]
    differs = len(seen) != len(named) or any(a and a != b for a, b in zip(seen, named, strict=True))
    bug = [f"the graph has the outputs {seen}, its signature has {named}"] if differs else []
    return bug


def compare_kinds(model: Any, ep: Any) -> list[str]:
    """Compare what the signature says of parameters and buffers with eager, and with the program."""
    state = model.state_dict(keep_vars=True)
    state |= dict(model.named_buffers(remove_duplicate=False))
    bug = []
    for spec in ep.graph_signature.input_specs:
        name, kind = spec.target, spec.kind.name
        if kind not in ("PARAMETER", "BUFFER", "CONSTANT_TENSOR"):
            continue
        if name in state:
            real = "PARAMETER" if isinstance(state[name], torch.nn.Parameter) else "BUFFER"
            kept = name in model.state_dict()
            if kind != real or (kind == "BUFFER" and spec.persistent != kept):
                bug.append(f"{name} is a {kind} (persistent: {spec.persistent}), in eager a {real} ({kept})")
        in_state = kind == "PARAMETER" or (kind == "BUFFER" and spec.persistent)
        if name not in (ep.state_dict if in_state else ep.constants):
            bug.append(f"the signature has {name}, and the program holds none of that name")
    return bug


_TABLES: dict[str, Callable[..., list[str]]] = {
    "module_call_graph": compare_modules,
    "state_dict": compare_state,
}
_SIDES: dict[str, Callable[..., list[str]]] = {"inputs": compare_inputs, "outputs": compare_outputs}


def write(evidence: SignatureMismatch | TableNames | SpecKind | SpecTarget) -> ScriptParts:
    """Write down a table of the program that has wrong names or kinds."""
    match evidence:
        case SignatureMismatch(side=side):
            comparing = _SIDES[side]
        case TableNames(table=table):
            comparing = _TABLES[table]
        case _:
            comparing = compare_kinds
    script = [Template(exported), Template(comparing)]
    return ScriptParts(
        [], [*script, verdict("the program agrees with itself and with eager")], of_program=True
    )
