"""Limits of decomposed programs and of machine code (AOTInductor): other operators, for inference only."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from exportdiff.judging.checks.aliasing import (
    BackwardBarred,
    OutputMemory,
    WriteBarred,
    WriteDiffers,
    WriteShows,
)
from exportdiff.judging.checks.compare.leaves import ValuesDiffer
from exportdiff.judging.checks.gradients import BackwardRaised, GradientFlow, GradientLeaf
from exportdiff.judging.checks.guards.deviations import WrongAnswer
from exportdiff.judging.checks.inputs import InputLeaf
from exportdiff.judging.checks.outputs import OutputIdentity, OutputLeaf, PathRaised
from exportdiff.judging.checks.state import StateAdded, StateLeaf, StateMissing
from exportdiff.judging.checks.structure.check import ModulesUnknown
from exportdiff.judging.checks.structure.signature import TableNames
from exportdiff.judging.exemptions.limits.limit import INFERENCE, limit
from exportdiff.runtime.observing.aliasing import OUTPUT
from exportdiff.runtime.observing.observation import ExportedObservation
from exportdiff.runtime.observing.tensors import TensorSnapshot

if TYPE_CHECKING:
    from collections.abc import Callable

    from exportdiff.judging.exemptions.limits.limit import Comparison, Limit
    from exportdiff.runtime.observing.graphs import Exported, Operand, Step

LIMITS: list[Limit] = []


@limit(
    LIMITS,
    says="Other operators round differently.",
    documented="docs.pytorch.org, Numerical accuracy: 'PyTorch is not guaranteed to produce bitwise "
    "identical results for floating point computations that are mathematically identical'",
    everywhere=True,
)
def other_operators_round(compared: Comparison) -> bool:
    """Whether a value is as near to the float64 reference as eager's, on a path with other operators."""
    return not compared.seen.same_operators and compared.evidence.aspect in ("rounding", "sign-of-zero")


ULPS = 16
"""How far apart rounded numbers may be, in steps of the last bit."""


@limit(
    LIMITS,
    says="Other operators round differently; the bits of a number, read as an integer, show its rounding.",
    documented="docs.pytorch.org, Numerical accuracy; torch.Tensor.view(dtype): 'a new tensor with the same "
    "data as the self tensor but of a different dtype'",
    everywhere=True,
)
def bits_show_rounding(compared: Comparison) -> bool:
    """Whether an output is made of the bits of floats and off by little, where operators differ."""
    return _integer_off_by(ULPS, ("int", "uint"), _reinterprets, compared)


@limit(
    LIMITS,
    says="Interpolation of bytes, decomposed, rounds the weights of its fixed-point numbers differently.",
    documented="github.com/pytorch/pytorch/issues/113024, upsampling of uint8: 'max abs error = 1 which is "
    "ok due roundings errors for uint8. We have a similar error for aten op'",
    everywhere=True,
)
def interpolated_bytes_show_rounding(compared: Comparison) -> bool:
    """Whether an output of bytes is made with weights of 16 bits, and off by one; operators differ."""
    return _integer_off_by(1, ("uint8",), _makes_weights, compared)


def _reinterprets(step: Step) -> bool:
    """Whether a step reads the bits of a tensor as integers."""
    return step.operator == "aten.view.dtype" and "int" in step.arguments


def _makes_weights(step: Step) -> bool:
    """Whether a step makes integers of 16 bits, as the decomposition of interpolation does of weights."""
    return step.operator == "aten._to_copy.default" and "torch.int16" in step.arguments


def _integer_off_by(
    steps: float, dtypes: tuple[str, ...], source: Callable[[Step], bool], compared: Comparison
) -> bool:
    """Whether an output of integers is off by little, and depends on such a step; operators differ."""
    evidence, seen = compared.evidence, compared.seen
    if (
        seen.same_operators
        or not isinstance(seen, ExportedObservation)
        or not isinstance(evidence, OutputLeaf)
    ):
        return False
    differs, made = evidence.leaf, compared.eager.calls[evidence.call].outputs
    if (
        not isinstance(differs, ValuesDiffer)
        or differs.apart > steps
        or made is None
        or seen.exported is None
    ):
        return False
    index = [leaf.where for leaf in made.leaves].index(evidence.place)
    value = made.leaves[index].value
    integer = isinstance(value, TensorSnapshot) and value.dtype.startswith(dtypes)
    return integer and _depends_on(source, seen.exported, index)


def _depends_on(source: Callable[[Step], bool], exported: Exported, output: int) -> bool:
    """Whether an output of the user's depends on such a step."""
    listing = exported.listing
    if listing is None or len(listing.returns.operands) != len(exported.outputs):
        return False
    made: set[Operand] = set()
    for number, step in enumerate(listing.steps):
        if source(step) or not made.isdisjoint(step.operands):
            made.add(number)
    ours = [n for n, spec in enumerate(exported.outputs) if spec.kind == "USER_OUTPUT"]
    return output < len(ours) and listing.returns.operands[ours[output]] in made


@limit(
    LIMITS,
    says="Machine code and decomposed programs are for inference: torch does not promise which results, "
    "inputs and tensors of the state require grad after a call.",
    documented="torch/_inductor/__init__.py, aoti_compile_and_package: for inference; "
    f"{INFERENCE}: training with autograd is a use of training IR alone; "
    "torch/export/exported_program.py: 'run_decompositions is supposed to specialize to post-autograd graph'",
)
def results_have_no_history(compared: Comparison) -> bool:
    """Whether only requires_grad of what a call returns or changes is concerned, on a path for inference.

    A state that differs before the first call is another matter; so are inputs and state that only the path
    gives a history, which inference has no use for and each call makes longer.
    """
    evidence = compared.evidence
    inference = compared.path.mode == "aoti" or compared.for_inference
    return (
        inference
        and isinstance(evidence, OutputLeaf | InputLeaf | StateLeaf)
        and evidence.call is not None
        and evidence.leaf.word == "requires-grad"
        and (isinstance(evidence, OutputLeaf) or evidence.leaf.seen == "False")
    )


@limit(
    LIMITS,
    says="A decomposed program is for inference: autograd may refuse its backward pass, for example where "
    "batch norm has updated its statistics, or a write to a result. Gradients that it gives must be right.",
    documented=f"{INFERENCE}: training with autograd is a use of training IR alone",
)
def inference_refuses_backward(compared: Comparison) -> bool:
    """Whether autograd refuses the backward pass of a decomposed program, or a write before it."""
    evidence = compared.evidence
    if not compared.for_inference:
        return False
    if isinstance(evidence, PathRaised):  # the transform runs the backward pass
        in_call = "differentiated" in compared.path.transforms
        return in_call and any(frame.endswith(":_engine_run_backward") for frame in evidence.failure.frames)
    return isinstance(evidence, BackwardRaised | BackwardBarred | WriteBarred)


@limit(
    LIMITS,
    says="A decomposed program has other operators than eager; their gradients may have other strides.",
    documented=f"{INFERENCE}: training with autograd is a use of training IR alone",
)
def gradients_of_inference_have_other_strides(compared: Comparison) -> bool:
    """Whether only the strides of a gradient differ, on a path for inference."""
    evidence = compared.evidence
    return compared.for_inference and isinstance(evidence, GradientLeaf) and evidence.leaf.word == "stride"


@limit(
    LIMITS,
    says="A decomposed program has the parts of a tensor subclass instead of the subclass: a parameter or "
    "buffer called w becomes parametrizations.w.original0 and so on, and gradients flow through the parts.",
    documented="torch/export/exported_program.py, [NOTE] Unwrapping subclasses AOT: 'ExportedProgram "
    "state_dict won't be same as eager model because eager model could have subclass weights'",
)
def subclasses_in_state_are_unwrapped(compared: Comparison) -> bool:
    """Whether a subclass in the state is missing, its parts are new, or gradients flow through its parts."""
    state, evidence = compared.eager.before, compared.evidence
    if state is None or not compared.for_inference:
        return False
    wrappers = {
        name
        for name, tensor in state.tensors.items()
        if tensor.composed is not None and not tensor.composed.of.startswith("sparse_")
    }
    if not wrappers:
        return False
    if isinstance(evidence, StateMissing):
        return evidence.name in wrappers
    if isinstance(evidence, StateAdded):
        return all(_whole(name) in wrappers for name in evidence.names)
    if isinstance(evidence, ModulesUnknown):
        return wrappers >= {_whole(f"{name}.original0") for name in evidence.names if not _holds_all(name)}
    if isinstance(evidence, TableNames):
        ours, theirs = set(evidence.expected), set(evidence.seen)
        return wrappers >= ours - theirs and wrappers >= {_whole(name) for name in theirs - ours}
    return isinstance(evidence, GradientFlow) and not evidence.lost


# Of a.w, such as a.parametrizations.w.original0. A subclass within a subclass adds no further level.
_PART = re.compile(r"\bparametrizations\.(\w+)\.original\d+$")


def _holds_all(name: str) -> bool:
    """Whether a name is that of the module with all parts of a module."""
    return name.rpartition(".")[2] == "parametrizations"


def _whole(part: str) -> str:
    """Return the name of the subclass to which the part of this name belongs."""
    return _PART.sub(r"\1", part)


@limit(
    LIMITS,
    says="A decomposed program changes nothing in place: it returns new values, which are written back, and "
    "t_() is a view. An output that is an input or a buffer in eager is another tensor, except where "
    "ep.module() returns the new value of an input or a buffer.",
    documented=f"{INFERENCE}: run_decompositions 'removes all mutations and converts them to functional "
    "equivalents'; torch/export/graph_signature.py, ExportGraphSignature: 'the updated values of mutated "
    "buffers are modeled as additional outputs'",
)
def written_back_is_no_alias(compared: Comparison) -> bool:
    """Whether outputs alone part from what is written back, and not from each other."""
    evidence, written = compared.evidence, compared.written
    if not compared.for_inference:
        return False
    if isinstance(evidence, WriteShows | WriteDiffers):
        parted = _parted_by_writing_back(evidence.names, compared)
        return parted or bool(evidence.names & written)
    if not isinstance(evidence, OutputIdentity | OutputMemory) or evidence.new:
        return False
    memory = compared.seen.calls[evidence.call].memory
    of_objects = isinstance(evidence, OutputIdentity)
    if of_objects and any(evidence.names <= group for group in memory.shared):
        return True
    # torch/export/_unlift.py, _insert_copy_for_mutations, returns what was written to for its new value.
    by_module = compared.path.runner == "module" and "lifted" not in compared.path.transforms
    if of_objects and by_module and evidence.names & compared.returned:
        return False
    # Those that do live in what is written back may part from those that do not.
    there = frozenset().union(*(group for group in memory.shared if group & written))
    outputs = frozenset(name for name in evidence.names - there if name.startswith(OUTPUT))
    groups = memory.same if of_objects else memory.shared
    together = len(outputs) < 2 or any(outputs <= group for group in groups)
    return together and bool(evidence.names & written)


def _parted_by_writing_back(names: frozenset[str], compared: Comparison) -> bool:
    """Whether both have the memory of what is written to in eager, and one of them has it here."""
    in_eager, here = (
        [group for group in each.calls[-1].memory.shared if group & compared.written]
        for each in (compared.eager, compared.seen)
    )
    together = any(names <= group for group in in_eager)
    return together and any(names & group and not names <= group for group in here)


@limit(
    LIMITS,
    says="Machine code returns tensors: a number among the results is a tensor without dimensions.",
    documented="torch/_inductor/codegen/cpp_wrapper_cpu.py, codegen_scalar_to_tensor; "
    "github.com/pytorch/pytorch/issues/139797",
)
def numbers_become_tensors(compared: Comparison) -> bool:
    """Whether a result of machine code is a tensor where eager returns a number."""
    evidence = compared.evidence
    if compared.path.mode != "aoti" or not isinstance(evidence, OutputLeaf) or evidence.leaf.word != "kind":
        return False
    ours, theirs = (each.calls[evidence.call].outputs for each in (compared.eager, compared.seen))
    if ours is None or theirs is None:
        return False
    return any(
        one.where == evidence.place
        and isinstance(one.value, str)
        and one.value.startswith(("int: ", "float: ", "bool: "))
        and isinstance(other.value, TensorSnapshot)
        and other.value.shape == ()
        for one, other in zip(ours.leaves, theirs.leaves, strict=True)
    )


@limit(
    LIMITS,
    says="Machine code, and the graph of a program without its guards, do not check whether sizes are in the "
    "range that export inferred.",
    documented="torch/_inductor/codegen/cpp_wrapper_cpu.py: inputs are checked where "
    "AOTI_RUNTIME_CHECK_INPUTS is set; torch/export/exported_program.py, ExportedProgram.module: its module "
    "has the checks, '_guards_fn'",
)
def graphs_alone_check_no_sizes(compared: Comparison) -> bool:
    """Whether it shows in a probe with sizes that export may refuse."""
    unguarded = not {"lifted", "unguarded"}.isdisjoint(compared.path.transforms)
    unchecked = compared.path.mode == "aoti" or unguarded
    return unchecked and compared.in_unpromised_probe


@limit(
    LIMITS,
    says="The graph of a program without its guards does not check whether two arguments are one tensor, as "
    "in the example.",
    documented="torch/export/exported_program.py, ExportedProgram.module: 'When `check_guards=False`, a "
    "subset of these checks are performed'",
)
def graphs_alone_check_no_identity(compared: Comparison) -> bool:
    """Whether an argument that the example passed twice was given as two tensors."""
    evidence = compared.evidence
    given_apart = isinstance(evidence, WrongAnswer) and evidence.altered.deviation == "unlike"
    return given_apart and "unguarded" in compared.path.transforms
