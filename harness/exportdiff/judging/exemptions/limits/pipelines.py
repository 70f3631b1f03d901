"""Limits of torch.distributed.pipelining."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from exportdiff.judging.checks.compare.leaves import compare_leaf
from exportdiff.judging.checks.outputs import OutputIdentity, OutputLeaf, PathRaised
from exportdiff.judging.exemptions.limits.limit import limit
from exportdiff.runtime.observing.aliasing import INPUT, OUTPUT

if TYPE_CHECKING:
    from exportdiff.judging.exemptions.limits.limit import Comparison, Limit
    from exportdiff.runtime.observing.observation import EagerObservation

LIMITS: list[Limit] = []


@limit(
    LIMITS,
    says="A stage of a pipeline gets leaves: a tensor that requires grad is detached first. autograd refuses "
    "in-place operators on a leaf, and a view of it that is made under no_grad requires grad.",
    documented="torch/distributed/pipelining/_IR.py, DetachExecutor: 'detaches all inputs to a module "
    "invocation ... so that the values at the boundary are leaf modules in autograd execution'",
)
def stages_begin_with_leaves(compared: Comparison) -> bool:
    """Whether autograd refused an in-place operator in a stage, or a stage returns an input.

    A view made under no_grad requires grad as its base does (torch/csrc/autograd/variable.h,
    DifferentiableViewMeta::requires_grad). An input that is itself a view has another base.
    """
    evidence = compared.evidence
    if compared.path.mode != "pipeline":
        return False
    if isinstance(evidence, PathRaised):
        return "leaf Variable that requires grad" in evidence.failure.message
    if isinstance(evidence, OutputLeaf) and evidence.aspect == "requires-grad":
        return evidence.role == "output-views-input" and evidence.leaf.seen == str(True)
    if not isinstance(evidence, OutputIdentity) or evidence.new:
        return False
    outputs = compared.eager.calls[evidence.call].outputs
    given = any(name.startswith(INPUT) for name in evidence.names)
    if outputs is None or not given:
        return False
    leaves = (leaf for leaf in outputs.leaves if f"{OUTPUT}{leaf.where}" in evidence.names)
    return any(getattr(leaf.value, "requires_grad", False) for leaf in leaves)


@limit(
    LIMITS,
    says="A pipeline does not take a module that another module than its parent calls.",
    documented="torch/export/unflatten.py, _compute_accessor: 'This is currently unsupported'; unflatten "
    "itself has had _fix_nn_module_stacks since pull 159418, pipelining's _outline_submodules has not",
)
def pipelines_take_children_of_their_parents(compared: Comparison) -> bool:
    """Whether the split found a module from another part of the hierarchy."""
    evidence = compared.evidence
    if compared.path.mode != "pipeline" or not isinstance(evidence, PathRaised):
        return False
    text = evidence.failure.message
    return re.search(r"Child module .* is not a descendant of parent", text) is not None


@limit(
    LIMITS,
    says="A schedule runs the forward pass of the next microbatch before the backward pass of the last one. "
    "So the gradients must not depend on state that forward overwrites.",
    documented="docs.pytorch.org, torch.distributed.pipelining, ScheduleInterleaved1F1B: 'will perform one "
    "forward and one backward on the microbatches in steady state'",
)
def stages_run_ahead_of_gradients(compared: Comparison) -> bool:
    """Whether the backward pass of a stage fails, and the model writes to its state."""
    evidence = compared.evidence
    if compared.path.runner != "scheduled" or not isinstance(evidence, PathRaised):
        return False
    failed = "Failed to run stage backward" in evidence.failure.message
    return failed and _writes_state(compared.eager)


@limit(
    LIMITS,
    says="A microbatch does not see what the one before it has assigned to an attribute that is no buffer.",
    documented="torch/_functorch/_aot_autograd/frontend_utils.py: 'must be registered as a buffer'",
)
def microbatches_share_no_attributes(compared: Comparison) -> bool:
    """Whether a schedule returns other results, and the model assigns a tensor to an attribute."""
    if compared.path.runner != "scheduled" or not compared.eager.assigned:
        return False
    return isinstance(compared.evidence, OutputLeaf)


def _writes_state(eager: EagerObservation) -> bool:
    before, after = eager.before, eager.calls[0].state
    if before is None:
        return False
    pairs = ((tensor, after.tensors.get(name)) for name, tensor in before.tensors.items())
    return any(new is None or compare_leaf(old, new) is not None for old, new in pairs)
