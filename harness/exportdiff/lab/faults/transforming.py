"""Faults of single transforms and runners: each shows only on the paths with its transform or runner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest import mock

import torch
import torch.export._trace as trace
from torch import fx, nn
from torch._dynamo.output_graph import OutputGraph
from torch._dynamo.side_effects import SideEffects
from torch._export.serde.serialize import GraphModuleSerializer
from torch._functorch._aot_autograd import runtime_wrappers
from torch.export import ExportedProgram, UnflattenedModule, exported_program, passes
from torch.export.pt2_archive._package import AOTICompiledModel
from torch.export.unflatten import InterpreterModule, InterpreterModuleDispatcher, _ModuleFrame
from torch.fx.experimental import proxy_tensor
from torch.fx.passes.runtime_assert import insert_deferred_runtime_asserts

from exportdiff.lab.faults.exporting import LINEAR, VIEW
from exportdiff.lab.faults.registry import fault, wrapped
from exportdiff.runtime.patching.editing import edited

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

RELU = """
class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)


def make():
    return Model(), (torch.tensor([[-0.5, 0.25, 2.0]]),)
"""

EVEN = """
class Model(nn.Module):
    def forward(self, x):
        if x.shape[0] % 2 == 0:
            return x + 1
        return x - 1


def make():
    return Model(), (torch.ones(4, 3),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("n")}}


def probes():
    return [((torch.ones(3, 3),), {})]
"""

HALF = """
class Model(nn.Module):
    def forward(self, x):
        return x * 0.5
"""

TWO_ARGUMENTS = """
class Child(nn.Module):
    def forward(self, x, y):
        return x - y


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(x, x * 2)
"""

FLAG = """
class Leaf(nn.Module):
    def forward(self, x, twice):
        return x * 2 if twice else x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.leaf = Leaf()

    def forward(self, x):
        return self.leaf(x, True)
"""

CALLED_TWICE = """
class Leaf(nn.Module):
    def forward(self, x, twice):
        return x * 2 if twice else x + 1


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.leaf = Leaf()

    def forward(self, x):
        return self.leaf(self.leaf(x, True), False)
"""

NORM = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x):
        return self.norm(x)


def make():
    return Model().eval(), (torch.linspace(-1.0, 1.0, 12).view(4, 3),)
"""

ROWS = """
class Model(nn.Module):
    def forward(self, x):
        return x * x.shape[0]


def make():
    return Model(), (torch.ones(4, 3),)
"""

ROWS_OF_WEIGHTS = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4, 3))

    def forward(self, x):
        return x @ self.weight.T
"""

TWO_STAGES = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(3, 3)
        self.two = nn.Linear(3, 3)

    def forward(self, x, y):
        return self.two(self.one(x)) - y


def make():
    return Model(), (torch.ones(2, 3), torch.full((2, 3), 0.5))
"""

COUNTED = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = nn.Identity()
        self.calls = 0

    def forward(self, x):
        self.calls = self.calls + 1
        return self.child(x) * self.calls
"""


@fault(check="outputs", paths="*+decompose*", source=RELU)
def the_decomposition_of_relu_is_inverted() -> Iterator[None]:
    """The decomposition of relu keeps negative values and removes positive ones."""

    def wrapper(decompose: Any, self: ExportedProgram) -> Any:
        table = exported_program.default_decompositions()
        table[torch.ops.aten.relu.default] = lambda x: torch.ops.aten.clamp.default(x, None, 0)
        return decompose(self, table)

    with wrapped(ExportedProgram, "run_decompositions", wrapper):
        yield


@fault(check="outputs", paths="*+functionalize*", source=RELU)
def relu_is_lost_where_nothing_is_decomposed() -> Iterator[None]:
    """A functional graph without decompositions has no relu."""

    def wrapper(decompose: Any, self: ExportedProgram, table: Any = None) -> Any:
        program = decompose(self, table)
        if table == {}:
            for node in program.graph.find_nodes(op="call_function", target=torch.ops.aten.relu.default):
                node.replace_all_uses_with(node.args[0])
        return program

    with wrapped(ExportedProgram, "run_decompositions", wrapper):
        yield


@fault(check="outputs", paths="*+deferred*", source=EVEN)
def deferred_checks_of_sizes_are_left_out() -> AbstractContextManager[object]:
    """What a program should check of its sizes when it runs is not checked."""
    return edited(
        insert_deferred_runtime_asserts, "shape_env.deferred_runtime_asserts.copy()", "dict[Any, Any]()"
    )


@fault(check="outputs", paths="*+reload*", source=HALF)
def floats_are_saved_as_integers() -> AbstractContextManager[object]:
    """Saving a program cuts off the fraction of a float argument of an operator."""
    return edited(
        GraphModuleSerializer.serialize_input, "create(as_float=arg)", "create(as_float=float(int(arg)))"
    )


def _no_argument_names_of(kind: type) -> Any:
    def wrapper(names: Any, model: Any, *given: Any) -> Any:
        if isinstance(model, kind):
            raise AttributeError("forward")
        return names(model, *given)

    return wrapped(trace, "_get_forward_arg_names", wrapper)


@fault(check="outputs", paths="nonstrict+reexport:*", source=HALF)
def a_graph_module_has_no_signature() -> Iterator[None]:
    """Export cannot read the argument names of a graph module."""
    with _no_argument_names_of(fx.GraphModule):
        yield


@fault(check="outputs", paths="*+reexport_unflattened:*", source=HALF)
def an_unflattened_module_has_no_signature() -> Iterator[None]:
    """Export cannot read the argument names of an unflattened module."""
    with _no_argument_names_of(UnflattenedModule):
        yield


@fault(check="outputs", paths="*+preserve*", source=TWO_ARGUMENTS)
def a_preserved_signature_repeats_the_first_argument() -> AbstractContextManager[object]:
    """A submodule with a preserved signature gets its first argument in place of every argument."""
    return edited(_ModuleFrame.__init__, "args=(flat_args, idx)", "args=(flat_args, 0)")


@fault(check="outputs", paths="*+preserve+swap*:unflatten*", source=FLAG)
def a_preserved_signature_forgets_constants() -> AbstractContextManager[object]:
    """A submodule with a preserved signature gets None for each Python value, which shows after a swap."""
    return edited(_ModuleFrame.__init__, "input_nodes.append(input.value)", "input_nodes.append(None)")


@fault(check="sharing", paths="*+deepcopy:*", source=LINEAR)
def a_copied_program_shares_its_tensors() -> Iterator[None]:
    """A deep copy of a program has its own graph but shares the tensors of the original."""

    def shallow(self: ExportedProgram, memo: object) -> ExportedProgram:
        copied = object.__new__(ExportedProgram)
        copied.__dict__.update(self.__dict__)
        return copied

    with mock.patch.object(ExportedProgram, "__deepcopy__", shallow, create=True):
        yield


@fault(check="sharing", paths="*+duplicate:module*", source=LINEAR)
def a_copied_module_shares_its_parameters() -> AbstractContextManager[object]:
    """A deep copy of a graph module has its own code but shares the parameters of the original."""
    return edited(
        fx.GraphModule.__deepcopy__,
        "memo[id(self)] = res",
        "memo[id(self)] = res; memo.update({id(p): p for p in self.parameters()})",
    )


@fault(check="state", paths="*+retie:unflatten*", source=LINEAR)
def an_unflattened_module_loads_no_submodule_state() -> Iterator[None]:
    """Loading a state dict into an unflattened module does not reach its submodules."""

    def wrapper(load: Any, self: Any, *given: Any, **rest: Any) -> Any:
        return None if isinstance(self, InterpreterModule) else load(self, *given, **rest)

    with wrapped(nn.Module, "_load_from_state_dict", wrapper):
        yield


@fault(check="state", paths="*+todevice:*", source=LINEAR)
def moved_parameters_are_frozen() -> AbstractContextManager[object]:
    """A parameter that is moved to a device no longer requires a gradient."""
    return edited(passes.move_to_device_pass, "                v.requires_grad,", "                False,")


@fault(check="outputs", paths="*+dynamic:*", source=ROWS)
def dynamic_sizes_become_constants() -> AbstractContextManager[object]:
    """The graph has the example's size as a constant where export was asked to make the size dynamic."""
    return edited(proxy_tensor.fetch_sym_proxy, "return get_proxy_slot(e, tracer).force()", "return n.hint")


@fault(check="outputs", paths="*+train:*", source=NORM)
def export_traces_the_model_in_eval_mode() -> Iterator[None]:
    """Export traces the model in eval mode, and restores the mode afterwards."""

    def wrapper(export: Any, model: Any, *given: Any, **rest: Any) -> Any:
        if isinstance(model, fx.GraphModule):
            return export(model, *given, **rest)
        training = {module: module.training for module in model.modules()}
        model.eval()
        try:
            return export(model, *given, **rest)
        finally:
            for module, mode in training.items():
                module.training = mode

    with wrapped(trace, "_export", wrapper):
        yield


@fault(check="outputs", paths="*+adapted:*", source=TWO_STAGES)
def an_adapter_gets_its_inputs_reversed() -> AbstractContextManager[object]:
    """The adapter of an unflattened module gets the inputs in reverse order."""
    return edited(UnflattenedModule._adapt_flat_args, "input_args=flat_args", "input_args=flat_args[::-1]")


@fault(check="outputs", paths="*+preserve+described:*", source=CALLED_TWICE)
def printing_a_module_counts_as_a_call() -> Iterator[None]:
    """Printing a submodule that is called in two ways makes its next call the second one."""

    def wrapper(readable: Any, self: InterpreterModuleDispatcher, *given: Any, **rest: Any) -> Any:
        self._num_calls = 1
        return readable(self, *given, **rest)

    with wrapped(InterpreterModuleDispatcher, "print_readable", wrapper):
        yield


@fault(check="outputs", paths="*+generated:*", source=TWO_ARGUMENTS)
def generated_code_gets_reversed_arguments() -> AbstractContextManager[object]:
    """The generated code of a submodule gets its arguments in reverse order; its interpreter does not."""
    return edited(
        InterpreterModule.forward,
        "type(self.graph_module).forward(self, *args, **kwargs)",
        "type(self.graph_module).forward(self, *args[::-1], **kwargs)",
    )


@fault(check="outputs", paths="pipeline:*", source=TWO_STAGES)
def a_pipeline_reverses_its_inputs() -> Iterator[None]:
    """The pipeline stages get the inputs in reverse order."""
    from torch.distributed.pipelining import Pipe

    with edited(Pipe.forward, "self.executor.run(*executor_args)", "self.executor.run(*executor_args[::-1])"):
        yield


@fault(check="outputs", paths="compile+graph_break:*", source=COUNTED)
def assignments_before_a_graph_break_are_lost() -> Iterator[None]:
    """At a graph break, attributes that Python code has set are not written back."""

    def wrapper(compile_subgraph: Any, self: Any, tx: Any, reason: Any, *given: Any, **rest: Any) -> Any:
        if not reason.graph_break:
            return compile_subgraph(self, tx, reason, *given, **rest)
        with mock.patch.object(SideEffects, "codegen_update_mutated", lambda *_: None):
            return compile_subgraph(self, tx, reason, *given, **rest)

    with wrapped(OutputGraph, "compile_subgraph", wrapper):
        yield


@fault(check="aliasing", paths="compile:aot_eager*", source=VIEW)
def aot_eager_returns_copies() -> Iterator[None]:
    """The compiled code returns a copy where the model returns a view of an input."""

    def wrapper(regenerate: Any, *given: Any, **rest: Any) -> Any:
        return regenerate(*given, **rest).clone()

    with wrapped(runtime_wrappers, "gen_alias_from_base", wrapper):
        yield


@fault(check="outputs", paths="compile:inductor*", source=RELU)
def the_generated_code_of_relu_is_inverted() -> Iterator[None]:
    """The generated code of relu takes the minimum with 0 instead of the maximum."""
    from torch._inductor import lowering

    with mock.patch.dict(lowering.lowerings, {torch.ops.aten.relu.default: lambda x: lowering.minimum(x, 0)}):
        yield


@fault(check="outputs", paths="aoti:*", source=TWO_STAGES)
def a_package_reverses_its_inputs() -> AbstractContextManager[object]:
    """A loaded AOTInductor package passes its inputs in reverse order."""
    return edited(AOTICompiledModel.__call__, "boxed_run(flat_inputs)", "boxed_run(flat_inputs[::-1])")


@fault(check="outputs", paths="aoti:updated*", source=ROWS_OF_WEIGHTS)
def new_weights_stay_inactive() -> AbstractContextManager[object]:
    """A package puts weights that it loads where the next swap would activate them: it uses the old ones."""
    return edited(AOTICompiledModel.load_constants, "constants_map, False", "constants_map, True")


@fault(check="outputs", paths="aoti:managed*", source=ROWS_OF_WEIGHTS)
def managed_weights_are_copied() -> AbstractContextManager[object]:
    """A package copies weights that its caller manages, and misses what the caller writes to them."""
    return edited(AOTICompiledModel.load_constants, ", user_managed, allow", ", False, allow")
