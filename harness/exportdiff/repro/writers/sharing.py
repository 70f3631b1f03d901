"""How to show findings of the sharing check."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import torch

from exportdiff.judging.checks.sharing import (
    CallVariantState,
    CopyShares,
    EditDiffers,
    EditRaised,
    MemoryMerged,
    MemorySplit,
    TensorsMerged,
    TensorSplit,
)
from exportdiff.repro.parts import ScriptParts
from exportdiff.repro.paste import Template
from exportdiff.repro.templates import pairs
from exportdiff.repro.templates.scripts import both_models, compare
from exportdiff.repro.templates.stand_ins import (
    COPIED,
    ORIGINAL,
    WORDED,
    WORDS,
    export,
    inputs,
    lower,
    make,
    observe,
)
from exportdiff.repro.writers.crashes import exception_words
from exportdiff.runtime.inputs.edits import FACTOR

if TYPE_CHECKING:
    from collections.abc import Callable

    from exportdiff.core.finding import Finding


# --- objects and memory ---


def objects(module: Any) -> dict[str, Any]:
    """Return all parameters, buffers and other tensor attributes, by name."""
    state = [*module.named_parameters(remove_duplicate=False)]
    state += module.named_buffers(remove_duplicate=False)
    for prefix, m in module.named_modules(remove_duplicate=False):
        dot = prefix and f"{prefix}."
        state += [(dot + n, t) for n, t in vars(m).items() if isinstance(t, torch.Tensor)]
    return dict(state)


def memories(module: Any) -> dict[str, Any]:
    """Return the memory of all parameters, buffers and other tensor attributes, by name."""
    state = [*module.named_parameters(remove_duplicate=False)]
    state += module.named_buffers(remove_duplicate=False)
    for prefix, m in module.named_modules(remove_duplicate=False):
        dot = prefix and f"{prefix}."
        state += [(dot + n, t) for n, t in vars(m).items() if isinstance(t, torch.Tensor)]
    return {name: t.untyped_storage()._cdata for name, t in state}


def observe_both(eager: Any, candidate: Any) -> Any:
    """Observe both as they are made."""
    expected, seen = observe(eager), observe(candidate)
    return expected, seen


# --- copies and call variants ---


def state(thing: Any) -> dict[str, Any]:
    """Return the parameters and buffers of a program or a module."""
    return dict([*thing.named_parameters(), *thing.named_buffers()])


def compare_with_copy() -> None:
    """Say what a copy shares with its original."""
    model, args, kwargs = make()
    ep = export(model)
    original = ORIGINAL
    copied = COPIED
    places = {t.untyped_storage()._cdata for t in observe(original).values()}
    wrong = [n for n, t in observe(copied).items() if t.numel() and t.untyped_storage()._cdata in places]
    print(f"BUG: {wrong[0]} of the copy is the original's memory" if wrong else "ok: they share nothing")
    sys.exit(bool(wrong))


def compare_call_variants() -> None:
    """Say which call of a module has a separate tensor."""
    model, args, kwargs = make()
    ep = export(model)
    candidate = lower(ep)
    tensors = observe(candidate)
    bases = {name: re.sub(r"@\d+", "", name) for name in tensors if "@" in name}
    wrong = [n for n, base in bases.items() if base in tensors and tensors[n] is not tensors[base]]
    print(f"BUG: {wrong[0]} is a separate tensor" if wrong else "ok: all calls share their state")
    sys.exit(bool(wrong))


# --- edits ---


def all_state(module: Any) -> dict[str, Any]:
    """Return all parameters and buffers by name."""
    named = [*module.named_parameters(remove_duplicate=False)]
    return dict([*named, *module.named_buffers(remove_duplicate=False)])


def outputs(out: Any) -> dict[str, str]:
    """Return the values of each output."""
    leaves = [t for t in torch.utils._pytree.tree_leaves(out) if isinstance(t, torch.Tensor)]
    return {f"output {i}": f"{list(t.shape)} {t.tolist()}" for i, t in enumerate(leaves)}


def make_both() -> Any:
    """Make both."""
    eager, args, kwargs = make()
    model, args, kwargs = make()
    ep = export(model)
    candidate = lower(ep)
    return eager, candidate, args, kwargs


def call_both(eager: Any, candidate: Any, args: Any, kwargs: Any) -> None:
    """Call both before the edit: what was compiled then is what matters."""
    eager(*args, **kwargs)
    candidate(*args, **kwargs)


def edit_and_call(eager: Any, candidate: Any) -> Any:
    """Edit the state of both in place, and observe the next call."""
    names: dict[int, str] = {}
    for name, t in sorted(all_state(eager).items()):  # of several names of one tensor, the last
        if name in all_state(candidate) and t.is_floating_point():
            names[id(t)] = name
    for module in (eager, candidate):
        for name in names.values():
            all_state(module)[name].detach().mul_(FACTOR)
    args, kwargs = inputs()
    expected = observe(eager(*args, **kwargs))
    args, kwargs = inputs()
    seen = observe(candidate(*args, **kwargs))
    return expected, seen


def edit_and_try(eager: Any, candidate: Any) -> Any:
    """Edit the state of both in place, and try the next call."""
    names: dict[int, str] = {}
    for name, t in sorted(all_state(eager).items()):  # of several names of one tensor, the last
        if name in all_state(candidate) and t.is_floating_point():
            names[id(t)] = name
    for module in (eager, candidate):
        for name in names.values():
            all_state(module)[name].detach().mul_(FACTOR)
    args, kwargs = inputs()
    expected = observe(eager(*args, **kwargs))
    args, kwargs = inputs()
    try:
        seen = observe(candidate(*args, **kwargs))
    except Exception as error:
        if type(error).__name__ != "ERROR":
            raise
        if WORDED and WORDS not in str(error):
            raise
        seen = {n: repr(error) for n in expected}
    return expected, seen


def write(finding: Finding) -> ScriptParts | None:
    """Write down which names are one tensor or share memory, and what an edit does."""
    match finding.evidence:
        case TensorSplit():
            return _compare(objects, pairs.object_split)
        case TensorsMerged():
            return _compare(objects, pairs.objects_merged)
        case MemorySplit():
            return _compare(memories, pairs.memory_split)
        case MemoryMerged():
            return _compare(memories, pairs.memory_merged)
        case CopyShares():
            return ScriptParts([Template(state, name="observe")], [Template(compare_with_copy)])
        case CallVariantState():
            return ScriptParts([Template(objects, name="observe")], [Template(compare_call_variants)])
        case EditDiffers():
            return _edited(finding, Template(edit_and_call, {"FACTOR": str(FACTOR)}))
        case EditRaised(failure=failure):
            return _edited(
                finding, Template(edit_and_try, {"FACTOR": str(FACTOR), **exception_words(failure)})
            )
    return None


def _edited(finding: Finding, edited: Template) -> ScriptParts:
    functions = [Template(all_state), Template(outputs, name="observe")]
    called = [Template(call_both)] if finding.mode == "compile" else []
    return ScriptParts(functions, [Template(make_both), *called, edited, Template(compare)])


def _compare(observe: Callable[..., Any], found: Callable[..., Any]) -> ScriptParts:
    script: list[Callable[..., Any]] = [both_models, observe_both, pairs.all_pairs, found, pairs.verdict]
    return ScriptParts([Template(observe, name="observe")], [Template(piece) for piece in script])
