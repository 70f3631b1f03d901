"""ExecuTorch: to_edge and to_executorch make a program file, and the runtime of the wheel runs it.

Functions import what imports torch: naming the backend must not take seconds.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from exportdiff.judging.exemptions.backend import Backend

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Callable, Sequence

    from exportdiff.judging.exemptions.limits.limit import Comparison


backend = Backend(
    "executorch",
    install="pip install 'exportdiff[executorch]'",
    requires=("executorch",),
    packages=("executorch",),
    promises=("state between calls", "dynamic sizes", "Python values", "keyword order"),
    decomposes=True,
    cost=1500,
    # Kernels sum in another order, and XNNPACK approximates exp, tanh and similar functions.
    tolerance={
        "float32": (1e-5, 1e-6),
        "float64": (1e-5, 1e-6),
        "float16": (4e-3, 1e-5),
        "bfloat16": (3e-2, 1e-5),
    },
)

_FAQ = "docs.pytorch.org/executorch, 'Frequently Asked Questions'"

backend.refuses(
    "operator-without-kernel",
    "RuntimeError",
    f"{_FAQ}, 'Missing out variants'",
    pattern="^Missing out variants",
)
backend.refuses(
    "operator-without-kernel",
    "RuntimeError",
    "executorch/runtime/core/error.h: OperatorMissing, 0x14, 'Operator(s) missing in the operator registry'",
    pattern="^Failed to load method .*error: 0x:?14$",
)
backend.refuses(
    "operator-without-kernel",
    "RuntimeError",
    "executorch/runtime/core/error.h: OperatorMissing, 0x14; portable_lib loads a method in its first call",
    pattern="^Failed to set output for method .*error: 0x:?14$",
    stage="run",
)
backend.refuses(
    "not-core-aten",
    "torch._export.verifier.SpecViolationError",
    "docs.pytorch.org/executorch, 'Definition of the Core ATen Operator Set'; "
    "executorch/exir/verification/verifier.py, check_valid_op",
    pattern="is not in Core ATen opset",
)
backend.refuses(
    "dtypes-of-operator",
    "torch._export.verifier.SpecViolationError",
    "docs.pytorch.org/executorch, 'Export IR Specification', 'Edge Operators': each has constraints for the "
    "dtypes of its inputs; executorch/exir/verification/verifier.py",
    pattern="are taking Tensor inputs with mismatched dtypes",
)
backend.refuses(
    "argument-of-python",
    "RuntimeError",
    "executorch/extension/pybindings/pybindings.cpp, set_inputs: 'Ensure that inputs are passed as a flat "
    "list of tensors'",
    pattern="^Unsupported python type",
    stage="run",
)
backend.refuses(
    "text-as-output",
    "executorch.exir.error.InternalError",
    "executorch/exir/emit/_emitter.py, output: 'Returning {arg} is not yet supported in the emitter', which "
    "is raised if an output is a str",
    pattern="^Failed with error: Returning .* is not yet supported in the emitter",
)
backend.refuses(
    "write-to-buffer-with-gradient",
    "RuntimeError",
    "docs.pytorch.org/executorch, 'Model Export and Lowering', 'State Management': 'Consider "
    "explicitly calling detach() on tensors before assigning to a buffer'",
    pattern="^a leaf Variable that requires grad is being used in an in-place operation",
)
backend.refuses(
    "strides-of-zero",
    "RuntimeError",
    "executorch/exir/tensor.py, dim_order_from_stride: '0 in strides is not supported for ExecuTorch'",
    pattern="^0 in strides is not supported",
)
backend.refuses(
    "unbounded-size",
    "RuntimeError",
    "docs.pytorch.org/executorch, 'Model Export and Lowering', 'Supporting Varying Input Sizes'; "
    "executorch/exir/sym_util.py, eval_upper_bound",
    pattern="^Cannot evaluate (a finite upper bound|the shape upper bound)",
)


@backend.limit(
    says="A loaded method keeps its state: nothing can set it back before a call.",
    documented="docs.pytorch.org/executorch, 'Model Export and Lowering', 'State Management'",
)
def state_is_not_set_back(compared: Comparison) -> bool:
    """Whether values differ in a call after other calls outside of the ordinary ones, of a model with state.

    A call that is refused changes no state, since ``Method::set_inputs`` in
    executorch/runtime/executor/method.cpp compares the inputs before anything runs. So the state is that of
    eager until a deviating call, or an ordinary call after one, has returned.
    """
    from exportdiff.judging.checks.compare.deviating import Altered
    from exportdiff.judging.checks.compare.ordinary import unlike_states
    from exportdiff.judging.checks.guards.deviations import BrokenByRefusal, WrongAnswer

    evidence, eager = compared.evidence, compared.eager
    if not isinstance(evidence, BrokenByRefusal | WrongAnswer) or evidence.leaf.word != "value":
        return False
    ran = False
    for made in compared.seen.deviations:
        if Altered.of(made) == evidence.altered:
            break
        ran |= any(each is not None and each.failure is None for each in (made.call, made.then))
    states = [*([eager.before] if eager.before else []), *(call.state for call in eager.calls)]
    return ran and any(any(unlike_states(one, other)) for one, other in pairwise(states))


@backend.limit(
    says="The runtime compares the number of elements of an input with the largest one, and nothing else: it "
    "does not refuse sizes for which the program was not exported.",
    documented="executorch/runtime/core/tensor_shape_dynamism.h, DYNAMIC_BOUND; "
    "executorch/runtime/executor/method.cpp, set_input: resize_tensor",
)
def sizes_are_not_guarded(compared: Comparison) -> bool:
    """Whether a probe shows it whose sizes are not in the ranges that the exported program declares.

    executorch/runtime/core/portable_type/tensor_impl.cpp, internal_resize_contiguous, takes such sizes if
    they have no more elements than planned. For sizes that the program declares, and that no guard of it
    excludes, the method must give what eager gives.
    """
    from exportdiff.runtime.observing.observation import ExportedObservation

    seen, call = compared.seen, compared.evidence.call
    if not isinstance(seen, ExportedObservation) or not compared.in_unpromised_probe:
        return False
    declared = (seen.declared - seen.excluded) | {each.number for each in seen.small_calls}
    return call not in declared


@backend.limit(
    says="ExecuTorch writes its log to standard error.",
    documented=f"{_FAQ}, 'Missing Logs': by default, logs are sent to stdout/stderr",
)
def log_is_printed(compared: Comparison) -> bool:
    """Whether lowering prints to standard error."""
    from exportdiff.judging.checks.purity import Printed

    return isinstance(compared.evidence, Printed) and compared.evidence.stream == "standard error"


@backend.runner
def portable(ep: Any) -> Callable[..., object]:
    """Lower with to_edge; call the method that executorch.runtime loads from the bytes."""
    from executorch.exir import to_edge

    edge = to_edge(_lowered(ep))
    return _method(ep, edge.to_executorch(_config(edge)), "forward")


@backend.runner
def unplanned(ep: Any) -> Callable[..., object]:
    """The same without memory for inputs and outputs in the plan; call the module of portable_lib."""
    from executorch.exir import to_edge
    from executorch.exir.passes import MemoryPlanningPass
    from executorch.extension.pybindings import portable_lib

    planning = MemoryPlanningPass(alloc_graph_input=False, alloc_graph_output=False)
    edge = to_edge(_lowered(ep))
    made = edge.to_executorch(_config(edge, memory_planning_pass=planning))
    loaded = portable_lib._load_for_executorch_from_buffer(made.buffer)
    return _called(ep, loaded.forward, made)


@backend.runner
def methods(ep: Any) -> Callable[..., object]:
    """Two methods in one file, which share no state; each call of the first follows one of the second."""
    from executorch.exir import to_edge

    program = _lowered(ep)
    edge = to_edge({"forward": program, "other": _copied(program)})
    return _method(ep, edge.to_executorch(_config(edge)), "forward", before="other")


@backend.runner
def xnnpack(ep: Any) -> Callable[..., object]:
    """Lower with to_edge_transform_and_lower: XNNPACK runs the operators that its partitioner takes."""
    import torch

    # The first call in a process draws random numbers (executorch_xnnpack_changes_random_numbers.py). Without
    # this, what ran before would decide whether a program shows it.
    with torch.random.fork_rng(devices=[]):
        from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
        from executorch.exir import to_edge_transform_and_lower

        edge = to_edge_transform_and_lower(_lowered(ep), partitioner=[XnnpackPartitioner()])
    return _method(ep, edge.to_executorch(_config(edge)), "forward")


@backend.saved
def saved(path: pathlib.Path, model: Any, result: Any) -> Callable[..., object]:
    """A .pte file that somebody else has made; executorch.runtime calls its method forward."""
    import torch
    from executorch.runtime import Runtime

    from exportdiff.runtime.paths.flat_results import in_containers

    program = Runtime.get().load_program(path)
    method = program.load_method("forward")
    wanted = method.metadata.num_inputs()
    names: dict[str, None] = {}

    def run(*args: Any, **kwargs: Any) -> object:
        # The first call is the example. The file has its keyword arguments in the order of the export.
        names.update(dict.fromkeys(kwargs))
        leaves = torch.utils._pytree.tree_leaves((args, {name: kwargs[name] for name in names}))
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        given = next((each for each in (leaves, tensors) if len(each) == wanted), None)
        if given is None:
            raise ValueError(f"the file has {wanted} inputs, the call has {len(leaves)}")
        return in_containers(list(method.execute([_given(leaf) for leaf in given])), result)

    return run


def _lowered(ep: Any) -> Any:
    """Bound dynamic sizes by 64 where the export does not: ExecuTorch plans memory for the largest size.

    Containers whose classes cannot be saved become tuples: the runtime takes and returns flat lists.
    """
    import copy

    import torch
    from torch.utils._sympy.numbers import int_oo
    from torch.utils._sympy.value_ranges import ValueRanges

    for node in ep.graph.nodes:
        value = node.meta.get("val")
        environment = getattr(getattr(value, "fake_mode", None), "shape_env", None)
        if not isinstance(value, torch.Tensor) or environment is None:
            continue
        for symbol, each in ep.range_constraints.items():
            if each.upper == int_oo:
                bounds = ValueRanges(each.lower, 64)
                ep.range_constraints[symbol] = bounds
                if symbol in environment.var_to_range:
                    environment.var_to_range[symbol] = bounds
        break
    signature = ep.module_call_graph[0].signature
    try:
        torch.utils._pytree.treespec_dumps(signature.in_spec)
        torch.utils._pytree.treespec_dumps(signature.out_spec)
    except (NotImplementedError, TypeError):  # TypeError: the keys of a dict are not of JSON
        args, kwargs = signature.in_spec.children()
        inputs = [(0,) * each.num_leaves if each.num_nodes > 1 else 0 for each in args.children()]
        named = [(0,) * each.num_leaves if each.num_nodes > 1 else 0 for each in kwargs.children()]
        flat = copy.copy(signature)
        tree = (tuple(inputs), dict(zip(kwargs.context, named, strict=True)))
        flat.in_spec = torch.utils._pytree.tree_structure(tree)
        flat.out_spec = torch.utils._pytree.tree_structure((0,) * signature.out_spec.num_leaves)
        graph = [copy.copy(ep.module_call_graph[0]), *ep.module_call_graph[1:]]
        graph[0].signature = flat
        ep = copy.copy(ep)
        ep._module_call_graph = graph
    return ep


def _copied(ep: Any) -> Any:
    """Copy a program, also if its example or a constant was computed: deepcopy refuses such tensors."""
    import copy

    import torch

    leaves = torch.utils._pytree.tree_leaves((ep.example_inputs, ep.constants))
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and not leaf.is_leaf]
    return copy.deepcopy(ep, {id(tensor): tensor.detach() for tensor in tensors})


def _config(edge: Any, **options: Any) -> Any:
    """Keep the initial values of the buffers that the model writes to: by default, they are left out."""
    from executorch.exir import ExecutorchBackendConfig
    from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass

    signature = edge.exported_program().graph_signature
    written = set(signature.buffers_to_mutate.values())
    names = [name for name, target in signature.inputs_to_buffers.items() if target in written]
    return ExecutorchBackendConfig(passes=[InitializedMutableBufferPass(names)], **options)


def _method(ep: Any, made: Any, name: str, before: str = "") -> Callable[..., object]:
    """Load methods from the bytes of a file; ``before``: the method that each call calls first."""
    from executorch.runtime import Runtime

    program = Runtime.get().load_program(made.buffer)
    method = program.load_method(name)
    other = program.load_method(before) if before else None

    def execute(inputs: Sequence[Any]) -> Any:
        if other is not None:
            other.execute(inputs)
        return method.execute(inputs)

    return _called(ep, execute, (made, program))


def _called(ep: Any, execute: Callable[[Sequence[Any]], Any], kept: object) -> Callable[..., object]:
    """Give a flat list of inputs, as the runtime demands; ``kept``: what must not be freed."""
    import torch

    names = ep.call_spec.in_spec.child(1).context

    def run(*args: Any, **kwargs: Any) -> object:
        ordered = {name: kwargs[name] for name in names}
        leaves = torch.utils._pytree.tree_leaves((args, ordered))
        outputs = list(execute([_given(leaf) for leaf in leaves]))
        assert kept is not None  # naming it here is what keeps it
        if len(outputs) != ep.call_spec.out_spec.num_leaves:
            return outputs
        return torch.utils._pytree.tree_unflatten(outputs, ep.call_spec.out_spec)

    return run


def _given(leaf: Any) -> Any:
    """Return a tensor as the runtime takes it: contiguous, and without gradients."""
    import torch

    if not isinstance(leaf, torch.Tensor):
        return leaf
    leaf = leaf.detach()
    last = leaf.dim() == 4 and leaf.is_contiguous(memory_format=torch.channels_last)
    return leaf if last else leaf.contiguous()
