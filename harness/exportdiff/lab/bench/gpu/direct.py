"""Compares one call of eager with one call of what was made from it, where no path can do that.

A path has one device, and no process state of its own. Here inputs may be on two devices, a program may
move, and a block such as autocast may surround export and call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from exportdiff.core.case import case_from_source, seed
from exportdiff.judging.checks.compare.leaves import compare_leaf
from exportdiff.runtime.inputs.copies import build
from exportdiff.runtime.observing.arguments import Inputs
from exportdiff.runtime.observing.captured_output import capture_output
from exportdiff.runtime.observing.tensors import tree_snapshot

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import nn
    from torch.export import ExportedProgram

    from exportdiff.core.case import Built
    from exportdiff.runtime.observing.tensors import Tree


@dataclass(frozen=True)
class Called:
    """What one call showed: what it returned and what it left in the inputs, or its exception."""

    seen: Tree | None = None
    raised: str = ""


def called(make: Callable[[], Callable[..., object]], inputs: Callable[[], Inputs]) -> Called:
    """Make what is called, and call it once."""
    with capture_output():
        try:
            function, given = make(), inputs()
            seed(0)
            outputs = function(*given.args, **given.kwargs)
            return Called(tree_snapshot([outputs, list(given.args), dict(given.kwargs)]))
        except Exception as error:
            return Called(raised=f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}")


def unlike(eager: Called, other: Called) -> str:
    """Return how the other call differs from eager's; empty if it does not."""
    if eager.seen is None or other.seen is None:
        return f"eager: {eager.raised or 'no exception'}; here: {other.raised or 'no exception'}"
    if len(eager.seen.leaves) != len(other.seen.leaves):
        return f"eager: {len(eager.seen.leaves)} leaves; here: {len(other.seen.leaves)}"
    for number, (ours, theirs) in enumerate(zip(eager.seen.leaves, other.seen.leaves, strict=True)):
        found = compare_leaf(ours.value, theirs.value)
        if found is not None:
            return f"leaf {number} differs in {found.aspect}: {found.details()}".replace("\n", " ")
    return ""


def model_of(source: str, device: str) -> tuple[nn.Module, Callable[[], Inputs]]:
    """Build a program on a device, and return what makes its inputs. ``as built``: where the program says."""
    case = case_from_source(source)
    if device != AS_BUILT:
        model, examples = build(case, device)
        return model, examples.fresh
    built = case.build()
    return built.model, lambda: _inputs(case.build())


AS_BUILT = "as built"


def _inputs(built: Built) -> Inputs:
    return Inputs(built.args, built.kwargs)


def exported(source: str, device: str, *, strict: bool = False) -> ExportedProgram:
    """Export a program on a device."""
    model, inputs = model_of(source, device)
    given = inputs()
    return torch.export.export(model, given.args, given.kwargs, strict=strict)
