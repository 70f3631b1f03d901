"""The table of documented limits: ways in which torch.export says that it does not do as eager does.

What one of them covers is counted and is no finding. Models that export refuses altogether are the
business of harness/judge/documented_refusals.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.checks.compare.groups import not_together
from harness.inputs.deviations import PROMISED
from harness.observe.aliasing import INPUT, OUTPUT
from harness.observe.observation import ExportedObservation

if TYPE_CHECKING:
    from harness.checks.registry import Difference
    from harness.observe.observation import EagerObservation, Observation
    from harness.observe.tensors import State, TensorSnapshot

Covers = Callable[[str, "Difference", "EagerObservation", "Observation"], bool]
"""From the name of a check, what it found, eager and the path."""

PROGRAMMING_MODEL = "docs.pytorch.org, torch.export Programming Model"
UNFLATTEN = "torch/export/unflatten.py"
INFERENCE = "docs.pytorch.org, torch.export, 'Export IR: Training vs Inference'"


@dataclass(frozen=True)
class Limit:
    """One documented limit."""

    name: str
    says: str
    """What is given up, in a line."""
    documented: str
    """The page, thread or comment in torch that says so."""
    covers: Covers
    everywhere: bool = False
    """Whether it holds where the model itself runs as well: nothing is exported there."""


LIMITS: list[Limit] = []
"""In the order in which they are asked."""


def _limit(*, says: str, documented: str, everywhere: bool = False) -> Callable[[Covers], Covers]:
    def enter(covers: Covers) -> Covers:
        LIMITS.append(Limit(covers.__name__.replace("_", "-"), says, documented, covers, everywhere))
        return covers

    return enter


def limit_for(check: str, found: Difference, eager: EagerObservation, path: Observation) -> Limit | None:
    """Return the documented limit that a difference is, if it is one."""
    compiles = path.path.mode == "compile"
    limits = [limit for limit in LIMITS if limit.everywhere] if compiles else LIMITS
    return next((limit for limit in limits if limit.covers(check, found, eager, path)), None)


@_limit(
    says="A torch.Size in the output is a tuple afterwards.",
    documented=f"{PROGRAMMING_MODEL}, 'Input types': list, tuple, dict and namedtuple; "
    "github.com/pytorch/pytorch/issues/149158",
)
def size_becomes_tuple(check: str, found: Difference, eager: EagerObservation, path: Observation) -> bool:
    """Ask whether two structures are the same but for torch.Size."""
    if found.what[:1] != ("structure",) or found.structures is None:
        return False
    one, other = (text.replace("TreeSpec(Size,", "TreeSpec(tuple,") for text in found.structures)
    return one == other


@_limit(
    says="A copy of a tensor begins anywhere in its memory.",
    documented=f"{UNFLATTEN}: 'id_to_buffer ... buffer.clone()'; ExportedProgram.module() hands out its own",
)
def copies_begin_anywhere(check: str, found: Difference, eager: EagerObservation, path: Observation) -> bool:
    """Ask whether only the storage offset differs, of a tensor of the state or of what is made of one."""
    if "offset" not in found.what or check not in ("state", "outputs"):
        return False
    # A copy may keep the offset of what it is a copy of (aten.slice_scatter): it says no more than that.
    ours, theirs = _offsets(eager.before), _offsets(path.before)
    moved = any(ours[name] != theirs[name] for name in ours.keys() & theirs.keys())
    return check == "state" or found.of_state or moved


def _offsets(state: State | None) -> dict[str, object]:
    tensors = {} if state is None else {**state.constants, **state.tensors}
    return {name: tensor.offset for name, tensor in tensors.items()}


@_limit(
    says="The deep copy of a parameter that leaves gaps in its memory leaves none.",
    documented="torch/nn/parameter.py, Parameter.__deepcopy__: clone with torch.preserve_format, of which "
    "docs.pytorch.org, torch.clone, says: 'the output is converted to the dense (contiguous) format'",
)
def copied_parameters_are_packed(
    check: str, found: Difference, eager: EagerObservation, path: Observation
) -> bool:
    """Ask whether only the strides differ of a parameter that was deep-copied, or of what is made of one."""
    # After a call that is to be refused, the state is compared as well.
    strides = "stride" in found.what or re.search(r"^\S+ differs in stride$", found.message, re.MULTILINE)
    if not _copied(path) or not strides or check not in ("state", "outputs", "guards"):
        return False
    ours, theirs = (_parameters(each.before) for each in (eager, path))
    packed = {
        name
        for name in ours.keys() & theirs.keys()
        if ours[name].stride != theirs[name].stride and _has_gaps(ours[name]) and not _has_gaps(theirs[name])
    }
    return bool(found.about & packed if check == "state" else packed)


@_limit(
    says="The deep copy of a parameter has memory of its own: a view of the parameter is one no longer.",
    documented="torch/nn/parameter.py, Parameter.__deepcopy__: self.data.clone(). A copy of the eager model "
    "comes apart in the same way",
)
def copied_parameters_have_memory_of_their_own(
    check: str, found: Difference, eager: EagerObservation, path: Observation
) -> bool:
    """Ask whether a parameter was copied without what shared its memory, or what may come of that."""
    if not _copied(path) or found.kind != "mismatch" or eager.before is None or path.before is None:
        return False
    ours, theirs = eager.before, path.before
    parameters = frozenset(_parameters(ours))
    torn = [
        names
        for names in not_together(ours.shared, theirs.shared, ours.names & theirs.names)
        if names & parameters
    ]
    if check == "sharing" and found.about:
        return found.about in torn
    return bool(torn) and (check == "aliasing" or "value" in found.what)


def _copied(path: Observation) -> bool:
    return bool({"deepcopy", "duplicate"} & {*path.path.transforms})


def _parameters(state: State | None) -> dict[str, TensorSnapshot]:
    tensors = {} if state is None else state.tensors
    return {name: tensor for name, tensor in tensors.items() if tensor.type == "Parameter"}


def _has_gaps(tensor: TensorSnapshot) -> bool:
    """Whether there are places between the elements that belong to none, or to several of them."""
    places = 1
    for stride, size in sorted(zip(map(int, tensor.stride), map(int, tensor.shape), strict=False)):
        if size > 1 and stride != places:
            return True
        places *= size
    return False


@_limit(
    says="A tensor attribute that is no buffer may be assigned, but the assignment is lost.",
    documented="torch/_functorch/_aot_autograd/frontend_utils.py: 'must be registered as a buffer'",
)
def assigned_attributes_are_lost(
    check: str, found: Difference, eager: EagerObservation, path: Observation
) -> bool:
    """Ask whether the attribute is one that the model assigns."""
    return check == "state" and bool(found.about & eager.assigned) and "constant" in found.what


@_limit(
    says="What is assigned to a buffer is copied into it, and an attribute that is assigned stays what it "
    "was: neither becomes that tensor.",
    documented="torch/export/graph_signature.py, ExportGraphSignature: 'buffers_to_mutate' are returned "
    "by the graph and written back; torch/export/_unlift.py, _insert_copy_for_mutations",
)
def assigned_is_no_alias(check: str, found: Difference, eager: EagerObservation, path: Observation) -> bool:
    """Ask whether identity or memory of an attribute is concerned that eager rebinds."""
    if check == "outputs" and found.what[:1] != ("identity",):
        return False
    return check in ("outputs", "aliasing") and bool(found.about & (eager.rebound | eager.assigned))


@_limit(
    says="Dynamo drops tensors that the graph does not use, and all names of one tensor but one.",
    documented=f"{UNFLATTEN}, UnflattenedModule.__init__: 'dynamo export will deduplicate aliased "
    "tensors, and ignore unused tensors'",
)
def unused_names_are_dropped(
    check: str, found: Difference, eager: EagerObservation, path: Observation
) -> bool:
    """Ask whether a missing name is one that the graph does not take as input."""
    return check == "state" and found.what[:1] == ("missing",) and found.about <= _dropped(path)


@_limit(
    says="With Dim.AUTO and Dim.DYNAMIC, export infers which sizes it accepts; unflatten, which has no "
    "guards, may come to notice in an operator.",
    documented="torch/export/dynamic_shapes.py: 'with the compiler inferring the remaining constraints'",
)
def sizes_are_inferred(check: str, found: Difference, eager: EagerObservation, path: Observation) -> bool:
    """Ask whether a probe is refused whose sizes were never promised."""
    probe = found.call is not None and found.call < len(path.calls) and path.calls[found.call].probe
    refused = check == "guards" and found.what[:1] == ("refused",)
    late = check == "outputs" and found.kind == "crash" and path.path.runner == "unflatten"
    return (refused or late) and probe and _may_narrow(path)


@_limit(
    says="Metadata of inputs other than shapes is static; that a call with other metadata is refused is "
    "not promised, nor that one is under another grad mode, or with an equal number of another type.",
    documented=f"{PROGRAMMING_MODEL}, 'Which values are static vs. dynamic?'",
)
def other_metadata_is_static(
    check: str, found: Difference, eager: EagerObservation, path: Observation
) -> bool:
    """Ask whether an deviating call changed what its mode does not promise to notice."""
    mode = path.path.mode
    return check == "guards" and found.what[:1] == ("accepted",) and found.what[1] not in PROMISED[mode]


@_limit(
    says="A slice of a container, and what is called through it, has a name of its own, inside the "
    "container: who replaces that replaces it as well.",
    documented="github.com/pytorch/pytorch/issues/142439 and 141939; torch/fx/experimental/proxy_tensor.py, "
    "AttrProxy.__getitem__",
)
def slices_have_names_of_their_own(
    check: str, found: Difference, eager: EagerObservation, path: Observation
) -> bool:
    """Ask whether all modules that eager does not have, or that went with what was replaced, are slices'."""
    if (
        check == "outputs"
        and found.kind == "crash"
        and any(name.startswith("swap") for name in path.path.transforms)
    ):
        return re.search(r"nonexistent target \S*\bslice\(", found.message) is not None
    names = found.about if check == "structure" and found.what == ("calls", "unknown") else ()
    return bool(names) and all("slice(" in name for name in names)


@_limit(
    says="An export that fails shows on standard error what it has traced so far.",
    documented="torch/export/_trace.py, _log_export_wrapper: print(..., file=sys.stderr)",
)
def failed_export_shows_its_graph(
    check: str, found: Difference, eager: EagerObservation, path: Observation
) -> bool:
    """Ask whether a failed export has written to standard error."""
    return check == "purity" and found.what == ("export", "prints", "standard error", "failed")


@_limit(
    says="Other operators round differently.",
    documented="docs.pytorch.org, Numerical accuracy: 'PyTorch is not guaranteed to produce bitwise "
    "identical results for floating point computations that are mathematically identical'",
    everywhere=True,
)
def other_operators_round(check: str, found: Difference, eager: EagerObservation, path: Observation) -> bool:
    """Ask whether a value is as near to the float64 reference as eager's, on a path with other operators."""
    return not path.same_operators and bool({"rounding", "sign-of-zero"} & set(found.what))


@_limit(
    says="Machine code, and a decomposed program, are for inference: whether results, or inputs after the "
    "call, require gradients is not promised.",
    documented="torch/_inductor/__init__.py, aoti_compile_and_package: for inference; "
    f"{INFERENCE}: training with autograd is a use of training IR alone",
)
def results_have_no_history(
    check: str, found: Difference, eager: EagerObservation, path: Observation
) -> bool:
    """Ask whether only requires_grad of a result or an input is concerned, of what is for inference."""
    return _for_inference(path) and check in ("outputs", "inputs") and "requires-grad" in found.what


@_limit(
    says="A decomposed program changes nothing in place: what it writes to, it returns and writes back, and "
    "t_() is a view. An output that eager has as the very input or buffer is a tensor of its own.",
    documented=f"{INFERENCE}: run_decompositions 'removes all mutations and converts them to functional "
    "equivalents'; torch/export/graph_signature.py, ExportGraphSignature: 'the updated values of mutated "
    "buffers are modeled as additional outputs'",
)
def written_back_is_no_alias(
    check: str, found: Difference, eager: EagerObservation, path: Observation
) -> bool:
    """Ask whether outputs alone part from what is written back, and not from each other."""
    if "decompose" not in path.path.transforms or found.call is None or found.what[-1] == "new":
        return False
    if check == "aliasing" and found.what[:1] == ("write",):
        return bool(found.about & _written(path)) or _parted_by_writing_back(found, eager, path)
    if (check, *found.what[:1]) not in (("outputs", "identity"), ("aliasing", "no-longer-shared")):
        return False
    seen = path.calls[found.call].memory
    if check == "outputs" and any(found.about <= group for group in seen.shared):
        return True
    # Those that do live in what is written back may part from those that do not.
    there = frozenset().union(*(group for group in seen.shared if group & _written(path)))
    outputs = frozenset(name for name in found.about - there if name.startswith(OUTPUT))
    groups = seen.same if check == "outputs" else seen.shared
    together = len(outputs) < 2 or any(outputs <= group for group in groups)
    return together and bool(found.about & _written(path))


def _parted_by_writing_back(found: Difference, eager: EagerObservation, path: Observation) -> bool:
    """Ask whether both have the memory of what is written to in eager, and one of them has it here."""
    together = any(found.about <= group and group & _written(path) for group in eager.calls[-1].memory.shared)
    here = [group for group in path.calls[-1].memory.shared if group & _written(path)]
    return together and any(found.about & group and not found.about <= group for group in here)


def _for_inference(path: Observation) -> bool:
    return path.path.mode == "aoti" or "decompose" in path.path.transforms


@_limit(
    says="AOTAutograd builds the backward of a graph before it runs the forward: a model without one fails "
    "there and then.",
    documented="torch/_functorch/aot_autograd.py, aot_function: 'generates a joint forward and backward "
    "graph'; github.com/pytorch/pytorch/issues/148856",
    everywhere=True,
)
def backward_is_built_ahead(
    check: str, found: Difference, eager: EagerObservation, path: Observation
) -> bool:
    """Ask whether what AOTAutograd compiles has no derivative."""
    return _raised(check, found, path, "|".join(_NO_BACKWARD))


_NO_BACKWARD = (
    r"derivative for (aten::)?\w+ is not implemented",
    r"no autograd formula was registered",
    r"variables needed for gradient computation has been modified by an inplace operation",
)
"""What autograd says, in eager as well, of a model that has no backward."""


@_limit(
    says="AOTAutograd does not take a write to a view that as_strided made of another view.",
    documented="github.com/pytorch/pytorch/issues/104505; pull 122502, 'ban mutations on non-compositional "
    "uses of as_strided'",
    everywhere=True,
)
def as_strided_is_not_functionalized(
    check: str, found: Difference, eager: EagerObservation, path: Observation
) -> bool:
    """Ask whether functionalization refuses a chain of views."""
    return _raised(check, found, path, r"encountered a mutation on a view chain .* as_strided\(\) call")


@_limit(
    says="AOTAutograd does not take a write to what unfold returns if its windows are longer than the step, "
    "be there one window only.",
    documented="github.com/pytorch/pytorch/issues/165409; pull 99919",
    everywhere=True,
)
def overlapping_windows_are_not_functionalized(
    check: str, found: Difference, eager: EagerObservation, path: Observation
) -> bool:
    """Ask whether functionalization refuses a write to what unfold returns."""
    return _raised(check, found, path, r"encountered a tensor being mutated that has internal overlap")


@_limit(
    says="A compiled backward is traced with gradients that are laid out like the outputs; others are copied "
    "into that layout, so that what flows out may be laid out otherwise than in eager.",
    documented="torch/_functorch/_aot_autograd/collect_metadata_analysis.py, Note [Tangents memory format]: "
    "'we coerce them at runtime'",
    everywhere=True,
)
def gradients_are_laid_out_as_foreseen(
    check: str, found: Difference, eager: EagerObservation, path: Observation
) -> bool:
    """Ask whether only the strides of a gradient differ, behind a backend that goes through AOTAutograd."""
    compiles = path.path.mode == "compile" and path.path.runner != "compiled"
    return compiles and check == "gradients" and found.what[:1] == ("stride",)


@_limit(
    says="AOTAutograd takes set_ and resize_ of an input only where all that writes to it is under no_grad.",
    documented="torch/_functorch/_aot_autograd/functional_utils.py, _check_if_mutation_can_be_in_graph: "
    "'This is not supported today'",
    everywhere=True,
)
def set_of_an_input_stands_alone(
    check: str, found: Difference, eager: EagerObservation, path: Observation
) -> bool:
    """Ask whether AOTAutograd refuses to set an input that is written to as well."""
    return _raised(check, found, path, r"Encountered a (set|resize)_ on a graph input")


def _raised(check: str, found: Difference, path: Observation, pattern: str) -> bool:
    """Ask whether a backend that goes through AOTAutograd raised this."""
    runs = path.path.mode == "compile" and path.path.runner != "compiled"
    crash = found.kind == "crash" and "BackendCompilerFailed" in found.what
    return runs and crash and re.search(pattern, found.message) is not None


@_limit(
    says="What a stage of a pipeline gets is a leaf, another tensor than that given if it requires grad: "
    "autograd refuses in-place operators on it.",
    documented="torch/distributed/pipelining/_IR.py, DetachExecutor: 'detaches all inputs to a module "
    "invocation ... so that the values at the boundary are leaf modules in autograd execution'",
)
def stages_begin_with_leaves(
    check: str, found: Difference, eager: EagerObservation, path: Observation
) -> bool:
    """Ask whether autograd refused an in-place operator in a stage, or a stage returns an input."""
    if check != "outputs" or path.path.mode != "pipeline":
        return False
    if found.kind == "crash":
        return re.search(r"leaf Variable that requires grad", found.message) is not None
    outputs = eager.calls[found.call].outputs if found.call is not None else None
    if found.what[:1] != ("identity",) or found.what[-1] == "new" or outputs is None:
        return False
    given = any(name.startswith(INPUT) for name in found.about)
    leaves = (leaf for leaf in outputs.leaves if f"{OUTPUT}{leaf.where}" in found.about)
    return given and any(getattr(leaf.value, "requires_grad", False) for leaf in leaves)


@_limit(
    says="Machine code returns tensors: a number among the results is a tensor without dimensions.",
    documented="torch/_inductor/codegen/cpp_wrapper_cpu.py, codegen_scalar_to_tensor; "
    "github.com/pytorch/pytorch/issues/139797",
)
def numbers_become_tensors(check: str, found: Difference, eager: EagerObservation, path: Observation) -> bool:
    """Ask whether a result of AOTInductor's is a tensor where eager returns a number."""
    number = re.search(r"eager: (int|float|bool): .*; here: \w+\[\]$", found.message, re.MULTILINE)
    return path.path.mode == "aoti" and check == "outputs" and "kind" in found.what and number is not None


@_limit(
    says="Machine code does not ask whether sizes are among those that export inferred for it.",
    documented="torch/_inductor/codegen/cpp_wrapper_cpu.py: inputs are checked where "
    "AOTI_RUNTIME_CHECK_INPUTS is set",
)
def machine_code_checks_no_sizes(
    check: str, found: Difference, eager: EagerObservation, path: Observation
) -> bool:
    """Ask whether AOTInductor's result is that of a probe whose sizes were never promised."""
    probe = found.call is not None and found.call < len(path.calls) and path.calls[found.call].probe
    return path.path.mode == "aoti" and probe and _may_narrow(path)


@_limit(
    says="A pipeline takes no module that is called by another one than its parent.",
    documented="torch/export/unflatten.py, _compute_accessor: 'This is currently unsupported'; unflatten "
    "itself has had _fix_nn_module_stacks since pull 159418, pipelining's _outline_submodules has not",
)
def pipelines_take_children_of_their_parents(
    check: str, found: Difference, eager: EagerObservation, path: Observation
) -> bool:
    """Ask whether splitting a model came upon a module from elsewhere in the hierarchy."""
    crash = check == "outputs" and found.kind == "crash" and path.path.mode == "pipeline"
    return crash and re.search(r"Child module .* is not a descendant of parent", found.message) is not None


def _may_narrow(path: Observation) -> bool:
    return isinstance(path, ExportedObservation) and path.may_narrow


def _dropped(path: Observation) -> frozenset[str]:
    return path.dropped if isinstance(path, ExportedObservation) else frozenset()


def _written(path: Observation) -> frozenset[str]:
    return path.written if isinstance(path, ExportedObservation) else frozenset()
