"""How to show findings of the aliasing check, and of the outputs check about identity."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch

from exportdiff.judging.checks.aliasing import (
    BackwardBarred,
    OutputMemory,
    WriteBarred,
    WriteDiffers,
    WriteRefused,
    WriteShows,
)
from exportdiff.repro.parts import ScriptParts, last_call
from exportdiff.repro.paste import Template
from exportdiff.repro.templates import pairs
from exportdiff.repro.templates.scripts import compare, consecutive_calls, first_call
from exportdiff.repro.templates.stand_ins import PLACE
from exportdiff.runtime.observing.aliasing import OUTPUT, write_to

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding


def objects(out: Any, given: Any, module: Any) -> dict[str, Any]:
    """Return all outputs, inputs and tensors of the state, by name."""
    leaves = torch.utils._pytree.tree_leaves
    named = [(f"output {i}", t) for i, t in enumerate(leaves(out))]
    named += [(f"input {i}", t) for i, t in enumerate(leaves(given))]
    for prefix, m in module.named_modules(remove_duplicate=False):
        store = {**vars(m), **m._parameters, **m._buffers}
        named += [(f"{prefix}.{n}", t) for n, t in store.items()]
    return {name: t for name, t in named if isinstance(t, torch.Tensor)}


def memories(out: Any, given: Any, module: Any) -> dict[str, Any]:
    """Return the memory of all outputs, inputs and tensors of the state, by name."""
    leaves = torch.utils._pytree.tree_leaves
    named = [(f"output {i}", t) for i, t in enumerate(leaves(out))]
    named += [(f"input {i}", t) for i, t in enumerate(leaves(given))]
    for prefix, m in module.named_modules(remove_duplicate=False):
        store = {**vars(m), **m._parameters, **m._buffers}
        named += [(f"{prefix}.{n}", t) for n, t in store.items()]
    return {name: t.untyped_storage()._cdata for name, t in named if isinstance(t, torch.Tensor)}


def after_write(out: Any, given: Any, module: Any) -> dict[str, str]:
    """Write to one output, and return what everything else holds then."""
    leaves = torch.utils._pytree.tree_leaves
    flat, _ = torch.utils._pytree.tree_flatten_with_path(out)
    target = next(t for p, t in flat if torch.utils._pytree.keystr(p) == PLACE)
    if not write_to(target):
        return {"the write": "fails"}
    seen = {f"output {i}": str(t) for i, (_, t) in enumerate(flat)}
    seen |= {f"input {i}": str(t) for i, t in enumerate(leaves(given))}
    seen["the write"] = "works"
    for store in (module.named_parameters, module.named_buffers):
        seen |= {n: str(t.tolist()) for n, t in store(remove_duplicate=False)}
    return seen


def after_add(out: Any, given: Any, module: Any) -> dict[str, str]:
    """Write to one output as users do, so that autograd checks it."""
    flat, _ = torch.utils._pytree.tree_flatten_with_path(out)
    target = next(t for p, t in flat if torch.utils._pytree.keystr(p) == PLACE)
    try:
        target.add_(1)
    except RuntimeError as error:
        return {"the write": f"raises {type(error).__name__}"}
    return {"the write": "works"}


def after_backward(out: Any, given: Any, module: Any) -> dict[str, str]:
    """Write to the outputs as users do, and compute gradients."""
    flat = [t for t in torch.utils._pytree.tree_leaves(out) if hasattr(t, "grad_fn") and t.requires_grad]
    for t in flat:
        with contextlib.suppress(RuntimeError):
            t.add_(1)
    try:
        sum(t.sum() for t in flat).backward()
    except Exception as error:
        return {"the backward pass": f"raises {type(error).__name__}"}
    return {"the backward pass": "works"}


def compare_objects(finding: Finding, *, split: bool) -> ScriptParts:
    """Write down what is one object on one side only; ``split``: in eager."""
    found = pairs.object_split if split else pairs.objects_merged
    return _compare(finding, Template(objects, name="observe"), Template(found))


def _compare(finding: Finding, observe: Template, found: Template) -> ScriptParts:
    calls = Template(consecutive_calls if finding.call else first_call)
    script = [calls, Template(pairs.pairs_with_output), found, Template(pairs.verdict)]
    return ScriptParts([observe], script, call=last_call(finding))


def write(finding: Finding) -> ScriptParts | None:
    """Write down who shares memory with an output, and where a write to it shows."""
    match finding.evidence:
        case WriteRefused(output=output) | WriteShows(output=output) | WriteDiffers(output=output):
            place = {"PLACE": repr(output.removeprefix(OUTPUT))}
            functions = [Template(write_to), Template(after_write, place, name="observe")]
            return ScriptParts(functions, [Template(first_call), Template(compare)])
        case WriteBarred(output=output):
            place = {"PLACE": repr(output.removeprefix(OUTPUT))}
            observe = Template(after_add, place, name="observe")
            return ScriptParts([observe], [Template(first_call), Template(compare)])
        case BackwardBarred():
            observe = Template(after_backward, name="observe")
            return ScriptParts([observe], [Template(first_call), Template(compare)])
        case OutputMemory(new=new):
            found = pairs.memory_merged if new else pairs.memory_split
            return _compare(finding, Template(memories, name="observe"), Template(found))
    return None
