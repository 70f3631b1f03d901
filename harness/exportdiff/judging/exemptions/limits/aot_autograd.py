"""Limits of AOTAutograd, which the backends of torch.compile go through.

What a compiling backend raises when the compiled function runs is a finding, however well the message is
worded, unless an entry below names the place in torch that documents the refusal. An entry covers only
exceptions that Dynamo wraps as BackendCompilerFailed: the backend refused the graph while it compiled,
perhaps in a later call. It never covers what the compiled code itself raises: then the code is wrong, or a
guard is missing. Internal checks of AOTAutograd raise AssertionError and are findings too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from exportdiff.judging.checks.gradients import BackwardRaised, GradientLeaf
from exportdiff.judging.checks.guards.recompiles import DeviatingCallRaised
from exportdiff.judging.checks.outputs import OutputIdentity, PathRaised
from exportdiff.judging.exemptions.limits.limit import Limit, limit
from exportdiff.runtime.observing.aliasing import INPUT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from exportdiff.judging.exemptions.limits.limit import Comparison, Covers


def _raises(*patterns: str) -> Covers:
    """Cover what a backend that goes through AOTAutograd raises, if one of the patterns is in its message."""
    pattern = re.compile("|".join(patterns))

    def covers(compared: Comparison) -> bool:
        evidence = compared.evidence
        if not isinstance(evidence, PathRaised | BackwardRaised | DeviatingCallRaised):
            return False
        failure = evidence.failure
        by_backend = _uses_aot_autograd(compared) and failure.name == "BackendCompilerFailed"
        return by_backend and pattern.search(failure.message) is not None

    return covers


def _uses_aot_autograd(compared: Comparison) -> bool:
    return compared.path.mode == "compile" and compared.path.runner != "compiled"


LIMITS: list[Limit] = [
    Limit(
        "backward-is-built-ahead",
        says="AOTAutograd builds the backward of a graph before it runs the forward: a model without one "
        "fails there and then.",
        documented="torch/_functorch/aot_autograd.py, aot_function: 'generates a joint forward and backward "
        "graph'; github.com/pytorch/pytorch/issues/148856",
        # What autograd says, in eager as well, of a model that has no backward.
        covers=_raises(
            r"derivative for (aten::)?\w+ is not implemented",
            r"no autograd formula was registered",
            r"variables needed for gradient computation has been modified by an inplace operation",
        ),
        everywhere=True,
    ),
    Limit(
        "as-strided-is-not-functionalized",
        says="AOTAutograd does not take a write to a view that as_strided made of another view.",
        documented="github.com/pytorch/pytorch/issues/104505; pull 122502, 'ban mutations on "
        "non-compositional uses of as_strided'",
        covers=_raises(r"encountered a mutation on a view chain .* as_strided\(\) call"),
        everywhere=True,
    ),
    Limit(
        "overlapping-windows-are-not-functionalized",
        says="AOTAutograd does not take a write to what unfold returns if its windows are longer than the "
        "step, even if there is one window only.",
        documented="github.com/pytorch/pytorch/issues/165409; pull 99919",
        covers=_raises(r"encountered a tensor being mutated that has internal overlap"),
        everywhere=True,
    ),
    Limit(
        "inputs-of-one-memory-are-views-of-one-tensor",
        says="AOTAutograd does not take a write to an input that shares memory with another input, unless "
        "autograd knows that both are views of one tensor, with one dtype.",
        documented="torch/_functorch/_aot_autograd/runtime_wrappers.py, merge_view_inputs: 'For now, I'm "
        "banning a bunch of cases'; github.com/pytorch/pytorch/pull/88817",
        covers=_raises(r"does not yet handle (non-differentiable view )?input mutations"),
        everywhere=True,
    ),
    Limit(
        "set-of-an-input-stands-alone",
        says="AOTAutograd takes set_ and resize_ of an input only where all that writes to it is under "
        "no_grad.",
        documented="torch/_functorch/_aot_autograd/functional_utils.py, _check_if_mutation_can_be_in_graph: "
        "'This is not supported today'",
        covers=_raises(r"Encountered a (set|resize)_ on a graph input"),
        everywhere=True,
    ),
    Limit(
        "memory-before-set-is-frozen",
        says="AOTAutograd takes no write to the memory that a tensor had before set_ or an assignment to "
        ".data gave it other memory, even if that is the same memory.",
        documented="aten/src/ATen/FunctionalTensorWrapper.cpp, set__impl: 'FREEZE the old storage, "
        "preventing mutations to it', 'so we ban it'",
        covers=_raises(r"cannot mutate tensors with frozen storage"),
        everywhere=True,
    ),
]


@limit(
    LIMITS,
    says="A compiled backward is traced with gradients that are laid out like the outputs; others are copied "
    "into that layout, so that what flows out may be laid out otherwise than in eager.",
    documented="torch/_functorch/_aot_autograd/collect_metadata_analysis.py, Note [Tangents memory format]: "
    "'we coerce them at runtime'",
    everywhere=True,
)
def gradients_are_laid_out_as_foreseen(compared: Comparison) -> bool:
    """Whether only the strides of a gradient differ, on a path through AOTAutograd."""
    evidence = compared.evidence
    return (
        _uses_aot_autograd(compared) and isinstance(evidence, GradientLeaf) and evidence.leaf.word == "stride"
    )


@limit(
    LIMITS,
    says="Of inputs that share memory, AOTAutograd makes one base if one is written to: an output that is "
    "one of these inputs in eager is another view of their memory.",
    documented="torch/_functorch/_aot_autograd/input_output_analysis.py, create_synthetic_base_metadata: "
    "'the output must be regenerated as an alias of that base'",
    everywhere=True,
)
def views_of_one_base_are_regenerated(compared: Comparison) -> bool:
    """Whether outputs and one input are one object in eager, and another input has its memory."""
    evidence = compared.evidence
    if not _uses_aot_autograd(compared) or not isinstance(evidence, OutputIdentity) or evidence.new:
        return False
    call = compared.eager.calls[evidence.call]
    together = {name for group in call.memory.shared if evidence.names <= group for name in group}
    inputs, others = _inputs(evidence.names), _inputs(together - evidence.names)
    return set(evidence.sorts) == {"input", "output"} and len(inputs) == 1 and bool(others)


def _inputs(names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(INPUT)]
