"""Limits about parameters, buffers and tensor attributes: copies, assignments, names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from exportdiff.judging.checks.aliasing import (
    BackwardBarred,
    OutputMemory,
    WriteDiffers,
    WriteRefused,
    WriteShows,
)
from exportdiff.judging.checks.compare.groups import not_together
from exportdiff.judging.checks.compare.leaves import compare_leaf
from exportdiff.judging.checks.fake import WrongFake
from exportdiff.judging.checks.gradients import BackwardRaised, GradientFlow, GradientLeaf
from exportdiff.judging.checks.guards.check import WrongRecord
from exportdiff.judging.checks.guards.deviations import BrokenByRefusal, WrongAnswer
from exportdiff.judging.checks.outputs import OutputIdentity, OutputLeaf
from exportdiff.judging.checks.sharing import MemorySplit
from exportdiff.judging.checks.state import StateLeaf
from exportdiff.judging.exemptions.limits.limit import UNFLATTEN, limit

if TYPE_CHECKING:
    from exportdiff.judging.exemptions.limits.limit import Comparison, Limit
    from exportdiff.runtime.observing.tensors import State, TensorSnapshot

LIMITS: list[Limit] = []


@limit(
    LIMITS,
    says="A copy of a tensor begins anywhere in its memory.",
    documented=f"{UNFLATTEN}: 'id_to_buffer ... buffer.clone()'; ExportedProgram.module() hands out its own",
)
def copies_begin_anywhere(compared: Comparison) -> bool:
    """Whether only the storage offset differs: of a tensor of the state, or of a result computed from it."""
    evidence = compared.evidence
    if evidence.aspect != "offset":
        return False
    if isinstance(evidence, StateLeaf):
        return True
    # A copy may keep the offset of its original (aten.slice_scatter): the documentation promises no more.
    ours, theirs = _offsets(compared.eager.before), _offsets(compared.seen.before)
    moved = any(ours[name] != theirs[name] for name in ours.keys() & theirs.keys())
    if isinstance(evidence, WrongFake):
        return moved
    return isinstance(evidence, OutputLeaf) and (evidence.is_state or moved)


def _offsets(state: State | None) -> dict[str, object]:
    tensors = {} if state is None else {**state.constants, **state.tensors}
    return {name: tensor.offset for name, tensor in tensors.items()}


@limit(
    LIMITS,
    says="The deep copy of a parameter that leaves gaps in its memory leaves none.",
    documented="torch/nn/parameter.py, Parameter.__deepcopy__: clone with torch.preserve_format, of which "
    "docs.pytorch.org, torch.clone, says: 'the output is converted to the dense (contiguous) format'",
)
def copied_parameters_are_packed(compared: Comparison) -> bool:
    """Whether only the strides differ: of a parameter that was deep-copied, or of a result computed from it.

    A part of the parameter, such as a row, then has another offset too.
    """
    evidence = compared.evidence
    if not _copied(compared):
        return False
    if isinstance(evidence, WrongAnswer):
        # After a call that should be refused, the state is compared too.
        differs = "" if evidence.is_input else evidence.leaf.word
    else:
        differs = evidence.aspect
    ours, theirs = (_parameters(each.before) for each in (compared.eager, compared.seen))
    packed = {
        name
        for name in ours.keys() & theirs.keys()
        if ours[name].stride != theirs[name].stride and _has_gaps(ours[name]) and not _has_gaps(theirs[name])
    }
    if isinstance(evidence, StateLeaf):
        return differs == "stride" and evidence.name in packed
    made = isinstance(evidence, OutputLeaf | WrongFake | WrongRecord | WrongAnswer | WriteDiffers)
    return made and differs in ("stride", "offset") and bool(packed)


@limit(
    LIMITS,
    says="The deep copy of a parameter has separate memory: views of the parameter are no longer views.",
    documented="torch/nn/parameter.py, Parameter.__deepcopy__: self.data.clone(). A copy of the eager model "
    "comes apart in the same way",
)
def copied_parameters_have_memory_of_their_own(compared: Comparison) -> bool:
    """Whether the cause may be a parameter that was copied without the tensors that share its memory."""
    ours, theirs = compared.eager.before, compared.seen.before
    if not _copied(compared) or ours is None or theirs is None:
        return False
    parameters = frozenset(_parameters(ours))
    torn = [
        names
        for names in not_together(ours.shared, theirs.shared, ours.names & theirs.names)
        if names & parameters
    ]
    evidence = compared.evidence
    if isinstance(evidence, MemorySplit):
        return evidence.names in torn
    about_memory = isinstance(evidence, OutputMemory | WriteRefused | WriteShows | WriteDiffers)
    return bool(torn) and (about_memory or evidence.aspect == "value")


@limit(
    LIMITS,
    says="A tensor that is moved to another device is a copy without gaps, in separate memory.",
    documented="docs.pytorch.org, torch.Tensor.to: 'a copy of self with the desired torch.dtype and "
    "torch.device', with torch.preserve_format. What nn.Module.to moves comes apart in the same way",
)
def moved_tensors_are_copies(compared: Comparison) -> bool:
    """Whether the cause is, or may be, the other layout or memory of state that was really moved."""
    if "todevice" not in compared.path.transforms or compared.path.device == "cpu":
        return False
    ours, theirs = compared.eager.before, compared.seen.before
    if ours is None or theirs is None:
        return False
    evidence = compared.evidence
    if isinstance(evidence, MemorySplit):
        return True
    packed = any(
        ours.tensors[name].stride != theirs.tensors[name].stride and _has_gaps(ours.tensors[name])
        for name in ours.tensors.keys() & theirs.tensors.keys()
    )
    # After a call that should be refused, the state is compared too.
    word = evidence.aspect
    if isinstance(evidence, WrongAnswer | BrokenByRefusal):
        word = evidence.leaf.word
    if packed and word == "stride":
        return True
    torn = any(not_together(ours.shared, theirs.shared, ours.names & theirs.names))
    about_memory = isinstance(evidence, OutputMemory | WriteRefused | WriteShows | WriteDiffers)
    return torn and (about_memory or evidence.aspect == "value")


def _copied(compared: Comparison) -> bool:
    return not {"deepcopy", "duplicate"}.isdisjoint(compared.path.transforms)


def _parameters(state: State | None) -> dict[str, TensorSnapshot]:
    tensors = {} if state is None else state.tensors
    return {name: tensor for name, tensor in tensors.items() if tensor.type == "Parameter"}


def _has_gaps(tensor: TensorSnapshot) -> bool:
    """Whether memory between the elements belongs to no element, or to several."""
    dense = 1
    for stride, size in sorted(zip(map(int, tensor.stride), map(int, tensor.shape), strict=False)):
        if size > 1 and stride != dense:
            return True
        dense *= size
    return False


@limit(
    LIMITS,
    says="A call may assign a tensor to an attribute that is not a buffer, but the assignment is lost.",
    documented="torch/_functorch/_aot_autograd/frontend_utils.py: 'must be registered as a buffer'",
)
def assigned_attributes_are_lost(compared: Comparison) -> bool:
    """Whether the model assigns the attribute."""
    evidence = compared.evidence
    if not isinstance(evidence, StateLeaf):
        return False
    return evidence.sort == "constant" and evidence.name in compared.eager.assigned


@limit(
    LIMITS,
    says="A tensor that is assigned to a buffer is copied into it, and an assigned attribute keeps its "
    "tensor: neither becomes the assigned tensor.",
    documented="torch/export/graph_signature.py, ExportGraphSignature: 'buffers_to_mutate' are returned "
    "by the graph and written back; torch/export/_unlift.py, _insert_copy_for_mutations",
)
def assigned_is_no_alias(compared: Comparison) -> bool:
    """Whether identity, memory or gradient of an attribute differs that eager rebinds.

    In eager the name stands for the new tensor after the call, and for the old one where nothing is assigned.
    """
    evidence, eager = compared.evidence, compared.eager
    if isinstance(evidence, GradientLeaf | GradientFlow):
        return evidence.name in eager.rebound
    if not isinstance(evidence, OutputIdentity | OutputMemory | WriteShows | WriteDiffers):
        return False
    return bool(evidence.names & (eager.rebound | eager.assigned))


@limit(
    LIMITS,
    says="A tensor that is assigned to a buffer is copied into it: the buffer keeps its strides.",
    documented="torch/export/_trace.py, _make_fx_helper: 'We copy nodes corresponding to buffer assignments "
    "to buffers in the graph'; docs.pytorch.org, torch.Tensor.copy_: 'Copies the elements from src into "
    "self tensor'",
)
def assigned_buffers_keep_their_strides(compared: Comparison) -> bool:
    """Whether only the strides of a buffer differ that eager rebinds, and the path keeps its first."""
    evidence, before = compared.evidence, compared.seen.before
    if not isinstance(evidence, StateLeaf) or evidence.call is None or before is None:
        return False
    if evidence.aspect != "stride" or evidence.name not in compared.eager.rebound:
        return False
    after = compared.seen.calls[evidence.call].state
    kept = [state.tensors.get(evidence.name) for state in (before, after)]
    layouts = {None if each is None else each.stride for each in kept}
    return len(layouts) == 1 and None not in layouts


@limit(
    LIMITS,
    says="torch.utils.checkpoint runs modules once more in the backward pass, on the state as it is then: if "
    "forward has changed the state, or functional_call has put the module's own back, eager's gradients are "
    "not those of the forward pass.",
    documented="docs.pytorch.org, torch.utils.checkpoint.checkpoint: 'If the function invocation during the "
    "backward pass differs from the forward pass ... silently incorrect gradients'",
)
def checkpoints_recompute_from_changed_state(compared: Comparison) -> bool:
    """Whether a gradient differs where eager recomputes modules and the call has changed the state.

    Without recomputing, autograd refuses to go back through a tensor that was changed in place. An exception
    while it recomputes is not such a refusal.
    """
    flow, eager, evidence = compared.eager.gradients, compared.eager, compared.evidence
    if flow is None or eager.before is None:
        return False
    refused = (
        isinstance(evidence, BackwardRaised | BackwardBarred)
        and evidence.failure.name == RuntimeError.__name__
        and not any(frame.startswith("checkpoint.py:") for frame in evidence.failure.frames)
    )
    if not refused and not isinstance(evidence, GradientLeaf | GradientFlow):
        return False
    before, after = eager.before.tensors, eager.calls[0].state.tensors
    common = before.keys() & after.keys()
    changed = bool(eager.rebound | eager.assigned) or "functional" in compared.path.transforms
    changed = changed or any(compare_leaf(before[name], after[name]) for name in common)
    return flow.recomputes and changed


@limit(
    LIMITS,
    says="torch.func.functional_call replaces parameters and buffers. In eager, an attribute or an item of "
    "a list that is one of them as well keeps the module's own tensor; a program has one tensor for both.",
    documented="docs.pytorch.org, torch.func.functional_call: 'by replacing the module parameters and "
    "buffers with the provided ones'; tie_weights: 'parameters and buffers tied in the original model'",
)
def attributes_are_not_replaced(compared: Comparison) -> bool:
    """Whether values or identity differ under functional_call, and the model has such a tensor."""
    evidence, twice = compared.evidence, compared.eager.held_twice
    if "functional" not in compared.path.transforms:
        return False
    if isinstance(evidence, OutputIdentity | OutputMemory):
        return bool(twice & evidence.names)
    if isinstance(evidence, GradientFlow):
        return evidence.name in twice
    leaves = OutputLeaf | StateLeaf | GradientLeaf
    return bool(twice) and isinstance(evidence, leaves) and evidence.aspect == "value"


@limit(
    LIMITS,
    says="What is computed from parameters, and held as an attribute, becomes a constant without a gradient.",
    documented="torch/export/_unlift.py warns: 'A model attribute ... requires gradient. but it's not "
    "properly registered as a parameter. torch.export will detach it and treat it as a constant tensor'",
)
def computed_attributes_are_detached(compared: Comparison) -> bool:
    """Whether a gradient is missing, and the module has a constant that requires one in eager."""
    evidence = compared.evidence
    if not compared.eager.computed_attributes or not _has_detached_constant(compared):
        return False
    if isinstance(evidence, OutputLeaf | StateLeaf):
        return (evidence.leaf.word, evidence.leaf.seen) == ("requires-grad", str(False))
    return isinstance(evidence, GradientLeaf) or (isinstance(evidence, GradientFlow) and evidence.lost)


def _has_detached_constant(compared: Comparison) -> bool:
    ours, theirs = compared.eager.before, compared.seen.before
    if ours is None or theirs is None:
        return False
    for name, constant in theirs.constants.items():
        original = ours.constants.get(name)
        in_eager = original.requires_grad if original is not None else _LIFTED.search(name) is not None
        if in_eager and not constant.requires_grad:
            return True
    return False


# Export gives such a name to a tensor that is no attribute itself, but in a list, for example.
_LIFTED = re.compile(r"(^|\.)lifted_tensor_\d+$")
