"""Which weights of a model stay in memory when it was exported, and everything is gone."""

from __future__ import annotations

import contextlib
import gc
import weakref
from typing import TYPE_CHECKING, Any

from exportdiff.runtime.inputs.copies import build
from exportdiff.runtime.observing.captured_output import capture_output
from exportdiff.runtime.observing.process_state import restore_modes
from exportdiff.runtime.observing.tensors import named_state
from exportdiff.runtime.paths.backends import mode_of, runner_of
from exportdiff.runtime.paths.transforms.apply import export_arguments, extra_arguments, transform_program

if TYPE_CHECKING:
    from collections.abc import Mapping

    import torch
    from torch import nn

    from exportdiff.core.case import Case
    from exportdiff.core.path import Path
    from exportdiff.runtime.observing.arguments import Inputs
    from exportdiff.runtime.paths.stopwatch import Stopwatch

_COLLECTIONS = 3
"""How often garbage is collected: guards refer from C++ to objects that only a second collection frees."""


def kept_weights(case: Case, path: Path, clock: Stopwatch) -> tuple[str, ...]:
    """Export, lower and call a fresh model; return the names of what stays, and does not after eager."""
    kept = _living(_weights_of_run(case, path, clock, exports=True))
    if kept:  # the program itself may keep its tensors in a global
        kept -= _living(_weights_of_run(case, path, clock, exports=False))
    return tuple(sorted(kept))


def _weights_of_run(
    case: Case, path: Path, clock: Stopwatch, *, exports: bool
) -> Mapping[str, weakref.ref[torch.Tensor]]:
    """Run a fresh model, exported or eager; nothing but the result lives on."""
    model, examples = build(case, path.device)
    weights = {name: weakref.ref(tensor) for name, tensor in named_state(model)}
    with clock, restore_modes(), capture_output(), contextlib.suppress(Exception):
        inputs = examples.fresh()
        runs = _lowered(case, path, model, inputs) if exports else model
        runs(*inputs.args, **inputs.kwargs)
    return weights


def _lowered(case: Case, path: Path, model: nn.Module, inputs: Inputs) -> Any:
    export = mode_of(path.mode).export
    assert export is not None, "the modes without an export have no such path"
    program = export(model, inputs, case.shapes(), export_arguments(path, model, case))
    return runner_of(path).function(transform_program(path, program, extra_arguments(path, case)))


def _living(weights: Mapping[str, weakref.ref[torch.Tensor]]) -> set[str]:
    for _ in range(_COLLECTIONS):
        if not gc.collect():
            break
    return {name for name, weight in weights.items() if weight() is not None}
