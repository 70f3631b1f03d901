"""How to show weights that stay in memory."""

from __future__ import annotations

import gc
import sys
import weakref
from typing import TYPE_CHECKING, Any

from exportdiff.judging.checks.memory import WeightsKept
from exportdiff.repro.parts import ScriptParts
from exportdiff.repro.paste import Template
from exportdiff.repro.templates.stand_ins import export, inputs, lower, make

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding


def weights_of(model: Any) -> dict[str, Any]:
    """Return a weak reference to each parameter and buffer."""
    named = [*model.named_parameters(), *model.named_buffers()]
    return {name: weakref.ref(tensor) for name, tensor in named}


def leave_nothing() -> None:
    """Export, call, and delete everything."""
    model, args, kwargs = make()
    weights = weights_of(model)
    ep = export(model)
    candidate = lower(ep)
    args, kwargs = inputs()
    candidate(*args, **kwargs)
    del model, ep, candidate
    for _ in range(3):
        gc.collect()
    kept = [name for name, weight in weights.items() if weight() is not None]
    print(f"BUG: everything is gone, and {kept} are still in memory" if kept else "ok: all weights are freed")
    sys.exit(bool(kept))


def write(finding: Finding) -> ScriptParts | None:
    """Write down what stays in memory."""
    if not isinstance(finding.evidence, WeightsKept):
        return None
    return ScriptParts([Template(weights_of)], [Template(leave_nothing)])
