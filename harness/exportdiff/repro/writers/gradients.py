"""How to show findings of the gradients check."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import torch

from exportdiff.judging.checks.gradients import BackwardRaised, GradientFlow, GradientLeaf
from exportdiff.repro.parts import ScriptParts
from exportdiff.repro.paste import Template
from exportdiff.repro.templates.scripts import compare, first_call
from exportdiff.repro.templates.stand_ins import WORDED, WORDS
from exportdiff.repro.writers.crashes import exception_words
from exportdiff.runtime.observing.gradients import weights

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding


def observe(out: Any, given: Any, module: Any) -> dict[str, Any]:
    """Return what flows back from all outputs, differently weighted, to parameters and inputs."""
    outs = [t for t in torch.utils._pytree.tree_leaves(out) if isinstance(t, torch.Tensor)]
    outs = [t for t in outs if t.requires_grad]
    named = [(f"input {i}", t) for i, t in enumerate(torch.utils._pytree.tree_leaves(given))]
    for store in (module.named_parameters, module.named_buffers):
        named += [(re.sub(r"@\d+", "", n), t) for n, t in store(remove_duplicate=False)]
    named = [(n, t) for n, t in named if isinstance(t, torch.Tensor) and t.requires_grad and t.is_leaf]
    flow: Any = [None for _ in named]
    if outs:
        flow = torch.autograd.grad(outs, [t for _, t in named], [weights(t) for t in outs], allow_unused=True)
    text = [None if g is None else f"{g.dtype} {list(g.shape)} {g.stride()} {g.tolist()}" for g in flow]
    return {f"gradient of {n}": t for (n, _), t in zip(named, text, strict=True)}


def observe_whether(out: Any, given: Any, module: Any) -> dict[str, Any]:
    """Return whether gradients flow back from all outputs to parameters and inputs."""
    outs = [t for t in torch.utils._pytree.tree_leaves(out) if isinstance(t, torch.Tensor)]
    outs = [t for t in outs if t.requires_grad]
    named = [*torch.utils._pytree.tree_leaves(given), *module.parameters(), *module.buffers()]
    named = [t for t in named if isinstance(t, torch.Tensor) and t.requires_grad and t.is_leaf]
    try:
        torch.autograd.grad(outs, named, [weights(t) for t in outs], allow_unused=True)
    except Exception as error:
        if type(error).__name__ != "ERROR":
            raise
        if WORDED and WORDS not in str(error):
            raise
        return {"backward pass": f"{type(error).__name__}: {error}"}
    return {"backward pass": "works"}


def write(finding: Finding) -> ScriptParts | None:
    """Write down backward passes that fail, and other gradients."""
    match finding.evidence:
        case BackwardRaised(failure=failure):
            observing = Template(observe_whether, exception_words(failure), name="observe")
        case GradientFlow() | GradientLeaf():
            observing = Template(observe)
        case _:
            return None
    return ScriptParts([Template(weights), observing], [Template(first_call), Template(compare)])
