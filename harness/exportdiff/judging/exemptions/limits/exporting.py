"""Limits of every export: containers, sizes, guards, names of modules, output on standard error."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from exportdiff.judging.checks.aliasing import WriteDiffers
from exportdiff.judging.checks.gradients import BackwardRaised, GradientFlow, GradientLeaf
from exportdiff.judging.checks.guards.check import CallRefused
from exportdiff.judging.checks.guards.deviations import WrongAnswer
from exportdiff.judging.checks.guards.sizes import SizeRefused
from exportdiff.judging.checks.inputs import InputLeaf
from exportdiff.judging.checks.outputs import OutputLeaf, PathRaised
from exportdiff.judging.checks.purity import ModuleChanged, Printed, ProcessChanged
from exportdiff.judging.checks.state import StateLeaf
from exportdiff.judging.checks.structure.call_order import CallsUnknown
from exportdiff.judging.checks.structure.check import ModulesUnknown
from exportdiff.judging.exemptions.limits.limit import PROGRAMMING_MODEL, limit
from exportdiff.judging.exemptions.limits.replacing import SELECTS
from exportdiff.runtime.inputs.deviations import CONTEXTS, METADATA, PROMISED_DEVIATIONS
from exportdiff.runtime.observing.observation import ExportedObservation, PipelinedObservation
from exportdiff.runtime.paths.catalog import chooses_sizes, narrows

if TYPE_CHECKING:
    from exportdiff.judging.exemptions.limits.limit import Comparison, Limit

LIMITS: list[Limit] = []


@limit(
    LIMITS,
    says="With Dim.AUTO and Dim.DYNAMIC, export infers which sizes it accepts, and declares their ranges in "
    "the program. What unflatten returns has no guards: there, an operator may raise.",
    documented="torch/export/dynamic_shapes.py, Dim: 'the compiler inferring the remaining constraints'; "
    "'More complex relations between dimensions may also be codegened as runtime assertion nodes'; "
    "torch/export/_trace.py, prefer_deferred_runtime_asserts_over_guards: 'as runtime asserts'",
)
def sizes_are_inferred(compared: Comparison) -> bool:
    """Whether a size is refused that is not in the ranges that the program declares.

    It may be the size of a probe, or one that was tried because the spec declares it. Where exportdiff itself
    makes the spec, with Dim.AUTO for every size, a guard that no range shows is no finding either.
    """
    if isinstance(compared.evidence, SizeRefused):
        return compared.evidence.standing == "inferred"
    seen = compared.seen
    refused = isinstance(compared.evidence, CallRefused)
    declared = isinstance(seen, ExportedObservation) and compared.evidence.call in seen.declared
    # A transform may turn guards into checks of the program, or leave all sizes to export.
    if declared and not narrows(compared.path) and not (refused and chooses_sizes(compared.path)):
        return False
    late = isinstance(compared.evidence, PathRaised) and compared.path.runner == "unflatten"
    return (refused or late) and compared.in_unpromised_probe


@limit(
    LIMITS,
    says="Export assumes that a dynamic size is not 0 or 1: the program may refuse these.",
    documented="torch/fx/experimental/symbolic_shapes.py, StrictMinMaxConstraint: 'should not be 0 or 1'; "
    "'the backend can assume the size is non-negative and that it is not 0 or 1'",
)
def sizes_are_larger_than_one(compared: Comparison) -> bool:
    """Whether a size of 0 or 1 is refused, without a spec and a range of the program that begin with it."""
    return isinstance(compared.evidence, SizeRefused) and compared.evidence.standing == "small"


@limit(
    LIMITS,
    says="Metadata of inputs other than shapes is static. torch does not promise to refuse a call with other "
    "metadata, or under another grad mode.",
    documented=f"{PROGRAMMING_MODEL}, 'Which values are static vs. dynamic?'",
)
def other_metadata_is_static(compared: Comparison) -> bool:
    """Whether a deviating call changed only metadata, and its mode does not promise to notice that.

    A value is not metadata: 2.0 where the example has 2, or True where it has 1.
    """
    evidence = compared.evidence
    if not isinstance(evidence, WrongAnswer):
        return False
    kind = evidence.altered.deviation
    return kind in METADATA | CONTEXTS and kind not in PROMISED_DEVIATIONS.get(compared.path.mode, ())


@limit(
    LIMITS,
    says="A module in a plain list or dict, an attribute of a class, or set by object.__setattr__, is not "
    "registered. The graph names it by the expression that reads it.",
    documented="docs.pytorch.org, torch.nn.ModuleList: 'modules it contains are properly registered, and "
    "will be visible by all Module methods', unlike those in a list",
)
def modules_in_lists_are_not_registered(compared: Comparison) -> bool:
    """Whether all modules that eager lacks have names with an index, a key, or an attribute of a class."""
    evidence, hierarchy = compared.evidence, compared.eager.hierarchy
    if not isinstance(evidence, CallsUnknown | ModulesUnknown):
        return False
    attributes = hierarchy.unregistered if hierarchy else frozenset()
    return all(_is_unregistered(name, attributes) for name in evidence.names)


def _is_unregistered(name: str, attributes: frozenset[str]) -> bool:
    """Whether a name in a graph is the expression that reads an unregistered module."""
    if of_class := _OF_CLASS.match(name):
        return f"{of_class[1]}.{of_class[2]}{name[of_class.end() :]}".removeprefix(".") in attributes
    return name in attributes or _IN_CONTAINER.match(name) is not None


# Such as dict(type(L['self'].block).__dict__)['ACTIVATIONS'], which one would write as block.ACTIVATIONS.
_OF_CLASS = re.compile(r"dict\(type\(L\['self'\]\.?([\w.]*)\)(?:\.__mro__\[\d+\])?\.__dict__\)\['(\w+)'\]")
# Such as layers[0] or block.layers['first']. Expressions of Dynamo with __dict__['_modules'] or getattr(...)
# stand for registered modules.
_IN_CONTAINER = re.compile(r"(?!.*(?:\b__dict__\[|\bgetattr\())[\w.]+\[(?:-?\w+|'[^']*'|\"[^\"]*\")\]")


@limit(
    LIMITS,
    says="A slice of a container, and each module that is called through it, has a separate name inside the "
    "container. To replace the container is to replace the slice.",
    documented="github.com/pytorch/pytorch/issues/142439 and 141939; torch/fx/experimental/proxy_tensor.py, "
    "AttrProxy.__getitem__",
)
def slices_have_names_of_their_own(compared: Comparison) -> bool:
    """Whether all modules that eager lacks, or that went with a replaced container, are slices."""
    evidence = compared.evidence
    if isinstance(evidence, PathRaised) and not SELECTS.keys().isdisjoint(compared.path.transforms):
        return re.search(r"nonexistent target \S*\bslice\(", evidence.failure.message) is not None
    return isinstance(evidence, CallsUnknown | ModulesUnknown) and all(
        "slice(" in name for name in evidence.names
    )


@limit(
    LIMITS,
    says="An export that fails shows on standard error what it has traced so far.",
    documented="torch/export/_trace.py, _log_export_wrapper: print(..., file=sys.stderr)",
)
def failed_export_shows_its_graph(compared: Comparison) -> bool:
    """Whether a failed export has written to standard error."""
    evidence = compared.evidence
    if not isinstance(evidence, Printed):
        return False
    return evidence.failed and evidence.stage == "export" and evidence.stream == "standard error"


@limit(
    LIMITS,
    says="Draft export runs operators on real tensors as well, so random ones draw numbers.",
    documented="torch/export/_draft_export.py: 'fake_tensor_propagate_real_tensors=True'; torch/_functorch/"
    "config.py on that: 'when you provide a real tensor to fakeify, we will clone it'",
)
def draft_export_draws_random_numbers(compared: Comparison) -> bool:
    """Whether draft export has changed the random number generator, and nothing else of the process."""
    evidence = compared.evidence
    if not isinstance(evidence, ProcessChanged) or compared.path.mode != "draft":
        return False
    return evidence.stage == "export" and evidence.names == ("global random number generator",)


@limit(
    LIMITS,
    says="A custom autograd function is traced into the operators of its forward; its backward is not kept.",
    documented="torch/_export/db/examples/autograd_function.py: 'TorchDynamo does not keep track of "
    "backward() on autograd functions'; torch/_export/wrappers.py, allow_in_pre_dispatch_graph, for those "
    "that are to be kept",
)
def custom_backward_is_not_kept(compared: Comparison) -> bool:
    """Whether only gradients or requires_grad differ, and the model has a custom autograd function."""
    flow, evidence = compared.eager.gradients, compared.evidence
    if flow is None or not flow.customized:
        return False
    if isinstance(evidence, GradientLeaf | GradientFlow | BackwardRaised):
        return True
    return isinstance(evidence, OutputLeaf | InputLeaf) and evidence.leaf.word == "requires-grad"


@limit(
    LIMITS,
    says="The order of the keys of a dict is static. Another order is accepted, and values are read by key.",
    documented="torch/export/_unlift.py, eq_spec: 'in the case of dict, the context is list of keys and we "
    "allow the keys to be in any order'",
)
def order_of_keys_is_static(compared: Comparison) -> bool:
    """Whether a call with keys in another order has the answer of a call in the order of the example."""
    evidence = compared.evidence
    if not isinstance(evidence, WrongAnswer) or evidence.altered.deviation != "order":
        return False
    return evidence.as_example and isinstance(compared.seen, ExportedObservation)


@limit(
    LIMITS,
    says="A product with a constant may round differently from one with a parameter: it runs another kernel.",
    documented="docs.pytorch.org, Numerical accuracy: 'PyTorch is not guaranteed to produce bitwise "
    "identical results for floating point computations that are mathematically identical'",
)
def constants_take_other_kernels(compared: Comparison) -> bool:
    """Whether only rounding differs, and eager has parameters that are constants in the program."""
    evidence = compared.evidence
    exported = isinstance(compared.seen, ExportedObservation | PipelinedObservation)
    if not compared.eager.unregistered or not exported:
        return False
    leaves = OutputLeaf | InputLeaf | StateLeaf | WriteDiffers
    return isinstance(evidence, leaves) and evidence.leaf.word in ("rounding", "sign-of-zero")


@limit(
    LIMITS,
    says="Non-strict export runs the Python code of the model: it adds or removes the hooks that a call of "
    "eager adds or removes.",
    documented=f"{PROGRAMMING_MODEL}, 'Strict vs. Non-Strict Tracing': non-strict mode uses the Python "
    "interpreter",
)
def hooks_change_as_in_eager(compared: Comparison) -> bool:
    """Whether only hooks changed, and only of modules whose hooks also change in eager."""
    evidence = compared.evidence
    return (
        isinstance(evidence, ModuleChanged)
        and (evidence.stage, evidence.sort) == ("export", "hooks")
        and compared.path.mode == "nonstrict"
        and compared.eager.hooked.issuperset(evidence.names)
    )
