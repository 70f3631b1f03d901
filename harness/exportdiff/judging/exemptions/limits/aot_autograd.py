"""Limits of AOTAutograd, which the backends of torch.compile go through.

What a compiling backend raises when the compiled function runs is a finding, however well the message is
worded, unless an entry below names the place in torch that documents the refusal. An entry covers only
exceptions that Dynamo wraps as BackendCompilerFailed: the backend refused the graph while it compiled, be it
in a later call. What the compiled code itself raises as it runs is never covered: the code is wrong, or a
guard is missing. Internal checks of AOTAutograd raise AssertionError and are findings too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from exportdiff.judging.checks.gradients import BackwardRaised, GradientLeaf
from exportdiff.judging.checks.guards.recompiles import DeviatingCallRaised
from exportdiff.judging.checks.outputs import OutputIdentity, PathRaised
from exportdiff.judging.exemptions.limits.limit import limit
from exportdiff.runtime.observing.aliasing import INPUT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from exportdiff.judging.exemptions.limits.limit import Comparison, Limit

LIMITS: list[Limit] = []


@limit(
    LIMITS,
    says="AOTAutograd builds the backward of a graph before it runs the forward: a model without one fails "
    "there and then.",
    documented="torch/_functorch/aot_autograd.py, aot_function: 'generates a joint forward and backward "
    "graph'; github.com/pytorch/pytorch/issues/148856",
    everywhere=True,
)
def backward_is_built_ahead(compared: Comparison) -> bool:
    """Ask whether what AOTAutograd compiles has no derivative."""
    return _raised(compared, "|".join(_NO_BACKWARD))


_NO_BACKWARD = (
    r"derivative for (aten::)?\w+ is not implemented",
    r"no autograd formula was registered",
    r"variables needed for gradient computation has been modified by an inplace operation",
)
"""What autograd says, in eager as well, of a model that has no backward."""


@limit(
    LIMITS,
    says="AOTAutograd does not take a write to a view that as_strided made of another view.",
    documented="github.com/pytorch/pytorch/issues/104505; pull 122502, 'ban mutations on non-compositional "
    "uses of as_strided'",
    everywhere=True,
)
def as_strided_is_not_functionalized(compared: Comparison) -> bool:
    """Ask whether functionalization refuses a chain of views."""
    return _raised(compared, r"encountered a mutation on a view chain .* as_strided\(\) call")


@limit(
    LIMITS,
    says="AOTAutograd does not take a write to what unfold returns if its windows are longer than the step, "
    "be there one window only.",
    documented="github.com/pytorch/pytorch/issues/165409; pull 99919",
    everywhere=True,
)
def overlapping_windows_are_not_functionalized(compared: Comparison) -> bool:
    """Ask whether functionalization refuses a write to what unfold returns."""
    return _raised(compared, r"encountered a tensor being mutated that has internal overlap")


@limit(
    LIMITS,
    says="AOTAutograd does not take a write to an input whose memory another one has, unless autograd knows "
    "that both are views of one tensor, with one dtype.",
    documented="torch/_functorch/_aot_autograd/runtime_wrappers.py, merge_view_inputs: 'For now, I'm banning "
    "a bunch of cases'; github.com/pytorch/pytorch/pull/88817",
    everywhere=True,
)
def inputs_of_one_memory_are_views_of_one_tensor(compared: Comparison) -> bool:
    """Ask whether AOTAutograd refuses to make one base of inputs that share memory."""
    return _raised(compared, r"does not yet handle (non-differentiable view )?input mutations")


@limit(
    LIMITS,
    says="A compiled backward is traced with gradients that are laid out like the outputs; others are copied "
    "into that layout, so that what flows out may be laid out otherwise than in eager.",
    documented="torch/_functorch/_aot_autograd/collect_metadata_analysis.py, Note [Tangents memory format]: "
    "'we coerce them at runtime'",
    everywhere=True,
)
def gradients_are_laid_out_as_foreseen(compared: Comparison) -> bool:
    """Ask whether only the strides of a gradient differ, on a path through AOTAutograd."""
    evidence = compared.evidence
    return (
        _uses_aot_autograd(compared) and isinstance(evidence, GradientLeaf) and evidence.leaf.word == "stride"
    )


@limit(
    LIMITS,
    says="AOTAutograd takes set_ and resize_ of an input only where all that writes to it is under no_grad.",
    documented="torch/_functorch/_aot_autograd/functional_utils.py, _check_if_mutation_can_be_in_graph: "
    "'This is not supported today'",
    everywhere=True,
)
def set_of_an_input_stands_alone(compared: Comparison) -> bool:
    """Ask whether AOTAutograd refuses to set an input that is written to as well."""
    return _raised(compared, r"Encountered a (set|resize)_ on a graph input")


@limit(
    LIMITS,
    says="AOTAutograd takes no write to memory that a tensor had before set_ or .data = gave it other, "
    "nor where that is the same memory.",
    documented="aten/src/ATen/FunctionalTensorWrapper.cpp, set__impl: 'FREEZE the old storage, preventing "
    "mutations to it', 'so we ban it'",
    everywhere=True,
)
def memory_before_set_is_frozen(compared: Comparison) -> bool:
    """Ask whether functionalization refuses to write to memory that it froze."""
    return _raised(compared, r"cannot mutate tensors with frozen storage")


@limit(
    LIMITS,
    says="Of inputs that share memory, AOTAutograd makes one base if one is written to: an output that is "
    "one of these inputs in eager is another view of their memory.",
    documented="torch/_functorch/_aot_autograd/input_output_analysis.py, create_synthetic_base_metadata: "
    "'the output must be regenerated as an alias of that base'",
    everywhere=True,
)
def views_of_one_base_are_regenerated(compared: Comparison) -> bool:
    """Ask whether outputs and one input are one object in eager, and another input has its memory."""
    evidence = compared.evidence
    if not _uses_aot_autograd(compared) or not isinstance(evidence, OutputIdentity) or evidence.new:
        return False
    call = compared.eager.calls[evidence.call]
    together = {name for group in call.memory.shared if evidence.names <= group for name in group}
    inputs, others = _inputs(evidence.names), _inputs(together - evidence.names)
    return set(evidence.sorts) == {"input", "output"} and len(inputs) == 1 and bool(others)


def _inputs(names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(INPUT)]


def _raised(compared: Comparison, pattern: str) -> bool:
    """Ask whether a backend that goes through AOTAutograd raised this."""
    evidence = compared.evidence
    if not isinstance(evidence, PathRaised | BackwardRaised | DeviatingCallRaised):
        return False
    failure = evidence.failure
    by_backend = _uses_aot_autograd(compared) and failure.name == "BackendCompilerFailed"
    return by_backend and re.search(pattern, failure.message) is not None


def _uses_aot_autograd(compared: Comparison) -> bool:
    return compared.path.mode == "compile" and compared.path.runner != "compiled"
