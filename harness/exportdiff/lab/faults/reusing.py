"""Faults of what people do with a lowered module: other state, other calls, passes over its graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest import mock

import torch
import torch.export._trace as trace
from torch import fx, nn
from torch._export.serde.serialize import GraphModuleDeserializer
from torch.export import ExportedProgram, UnflattenedModule, _draft_export, _swap, _unlift
from torch.export.unflatten import InterpreterModule, InterpreterModuleDispatcher
from torch.fx.experimental import proxy_tensor
from torch.nn.utils import _named_member_accessor as accessor

from exportdiff.lab.faults.exporting import LINEAR
from exportdiff.lab.faults.models import INPUT_IN_PLACE
from exportdiff.lab.faults.rebuilding import NON_PERSISTENT
from exportdiff.lab.faults.registry import fault, wrapped
from exportdiff.lab.faults.transforming import CALLED_TWICE, HALF, RELU, ROWS, TWO_ARGUMENTS
from exportdiff.runtime.patching.editing import edited

if TYPE_CHECKING:
    from collections.abc import Iterator

EQUAL_PARAMETERS = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Parameter(torch.ones(3))
        self.two = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return x * self.one - self.two
"""

RETURNED_BUFFER = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(2, 3))

    def forward(self, x):
        self.total.add_(x)
        return self.total
"""

ROUNDED = """
class Model(nn.Module):
    def forward(self, x):
        return torch.div(x, 2.0, rounding_mode="floor")
"""


@fault(check="state", paths="*+converted:unflatten*", source=LINEAR)
def an_unflattened_module_converts_no_submodule_state() -> Iterator[None]:
    """A conversion of an unflattened module, as by to() or double(), does not reach its submodules."""

    def wrapper(apply: Any, self: Any, *given: Any, **rest: Any) -> Any:
        return self if isinstance(self, InterpreterModule) else apply(self, *given, **rest)

    with wrapped(nn.Module, "_apply", wrapper):
        yield


@fault(check="outputs", paths="*+load_strictly:unflatten*", source=LINEAR)
def an_unflattened_submodule_asks_for_a_name_too_many() -> Iterator[None]:
    """Loading a state dict into an unflattened module misses a name that eager's has not."""

    def wrapper(load: Any, self: Any, state: Any, prefix: str, info: Any, strict: Any, *given: Any) -> None:
        load(self, state, prefix, info, strict, *given)
        if isinstance(self, InterpreterModule):
            given[0].append(f"{prefix}scale")

    with wrapped(nn.Module, "_load_from_state_dict", wrapper):
        yield


@fault(check="outputs", paths="*+functional:unflatten*", source=LINEAR)
def an_unflattened_submodule_keeps_its_own_parameters() -> Iterator[None]:
    """A functional call with other parameters does not reach the submodules of an unflattened module."""

    def wrapper(swap: Any, module: Any, name: str, tensor: Any, *given: Any, **rest: Any) -> Any:
        if isinstance(module, InterpreterModule):
            return getattr(module, name)
        return swap(module, name, tensor, *given, **rest)

    with wrapped(accessor, "swap_tensor", wrapper):
        yield


@fault(check="outputs", paths="*+children:unflatten*", source=TWO_ARGUMENTS)
def a_child_depends_on_its_parent() -> Iterator[None]:
    """A preserved submodule takes its arguments in reverse order, unless its parent calls it."""
    running: list[object] = []

    def parent(forward: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        running.append(self)
        try:
            return forward(self, *args, **kwargs)
        finally:
            running.pop()

    def child(forward: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        return forward(self, *(args if running else args[::-1]), **kwargs)

    with wrapped(UnflattenedModule, "forward", parent), wrapped(InterpreterModule, "forward", child):
        yield


@fault(check="outputs", paths="*+rewritten:*", source=ROUNDED)
def a_copied_node_loses_its_keyword_arguments() -> Iterator[None]:
    """A node that is copied within its own graph loses its keyword arguments."""

    def wrapper(copy: Any, self: Any, node: Any, *given: Any) -> Any:
        copied = copy(self, node, *given)
        if node.graph is self:
            copied.kwargs = {}
        return copied

    with wrapped(fx.Graph, "node_copy", wrapper):
        yield


@fault(check="outputs", paths="*+dynamic+reexport:*", source=ROWS)
def exporting_again_makes_dynamic_sizes_constants() -> Iterator[None]:
    """The graph has the example's size as a constant where a graph module is exported with dynamic sizes."""

    def wrapper(export: Any, model: Any, *given: Any, **rest: Any) -> Any:
        if not isinstance(model, fx.GraphModule):
            return export(model, *given, **rest)
        with edited(
            proxy_tensor.fetch_sym_proxy, "return get_proxy_slot(e, tracer).force()", "return n.hint"
        ):
            return export(model, *given, **rest)

    with wrapped(trace, "_export", wrapper):
        yield


@fault(check="outputs", paths="draft:*", source=RELU)
def draft_export_records_another_operator() -> Iterator[None]:
    """A draft export records a negation in the place of relu."""

    def wrapper(export: Any, *given: Any, **rest: Any) -> Any:
        program = export(*given, **rest)
        for node in program.graph.find_nodes(op="call_function", target=torch.ops.aten.relu.default):
            node.target = torch.ops.aten.neg.default
        return program

    with wrapped(_draft_export, "_export", wrapper):
        yield


@fault(check="outputs", paths="*+lifted:*", source=HALF)
def the_code_of_a_program_is_older_than_its_graph() -> Iterator[None]:
    """The generated code of a program's graph module is that of a graph with another result."""

    def negated(kind: Any) -> Any:
        current = kind.forward

        def forward(self: fx.GraphModule, *args: Any) -> tuple[Any, ...]:
            return tuple(-value for value in current(self, *args))

        return forward

    def graph_module(self: ExportedProgram) -> Any:
        module: Any = self._graph_module
        kind = type(module)
        if kind.forward.__module__ != __name__:  # compiled again
            kind.forward = negated(kind)
        return module

    with mock.patch.object(ExportedProgram, "graph_module", property(graph_module)):
        yield


@fault(check="outputs", paths="*+swapped:*", source=TWO_ARGUMENTS)
def a_swapped_module_gets_reversed_arguments() -> Iterator[None]:
    """A module that is swapped into a program gets its arguments in reverse order."""

    def wrapper(insert: Any, gm: Any, args: Any, *given: Any) -> Any:
        return insert(gm, args[::-1], *given)

    with wrapped(_swap, "_insert_call_module", wrapper):
        yield


@fault(check="outputs", paths="*+repeated:*", source=CALLED_TWICE)
def a_dispatcher_loses_count() -> Iterator[None]:
    """After 150 calls of a preserved submodule, its dispatcher is one call ahead."""
    made: dict[int, int] = {}

    def wrapper(forward: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        made[id(self)] = made.get(id(self), 0) + 1
        if made[id(self)] == 150:
            self._num_calls = (self._num_calls + 1) % len(self._call_modules)
        return forward(self, *args, **kwargs)

    with wrapped(InterpreterModuleDispatcher, "forward", wrapper):
        yield


@fault(check="outputs", paths="*+decompose:module*", source=RETURNED_BUFFER)
def a_decomposed_program_returns_copies_of_updated_buffers() -> Iterator[None]:
    """A buffer that is updated and returned is returned as a separate tensor."""
    with edited(_unlift._insert_copy_for_mutations, "return_nodes_to_copy.get(node, node)", "node"):
        yield


@fault(check="outputs", paths="*+decompose:module*", source=INPUT_IN_PLACE)
def a_decomposed_program_writes_nothing_to_its_inputs() -> Iterator[None]:
    """What a functional graph should write to an input is one more result."""
    with edited(_unlift._unlift_exported_program_lifted_states, "OutputKind.USER_INPUT_MUTATION,\n", "\n"):
        yield


@fault(check="outputs", paths="*+reload*", source=NON_PERSISTENT)
def a_loaded_program_looks_for_all_buffers_in_its_state_dict() -> Iterator[None]:
    """Loading takes buffers that do not persist for those that do."""
    with edited(
        GraphModuleDeserializer.deserialize_input_spec,
        "persistent=i.buffer.persistent,",
        "persistent=True,",
    ):
        yield


@fault(check="sharing", paths="*+vector:unflatten*", source=EQUAL_PARAMETERS)
def parts_of_one_memory_are_taken_for_one_tensor() -> Iterator[None]:
    """Tensors of one memory and one size are one tensor in the rebuilt module, wherever they begin."""
    with edited(UnflattenedModule.__init__, "storage_offset=obj.storage_offset(),", "storage_offset=0,"):
        yield


@fault(check="state", paths="*+cast*:module*", source=LINEAR)
def a_program_is_cast_by_way_of_bfloat16() -> Iterator[None]:
    """float() of a graph module first casts its state to bfloat16, and so rounds it."""

    def wrapper(to_float: Any, self: Any) -> Any:
        return to_float(self.bfloat16() if isinstance(self, fx.GraphModule) else self)

    with wrapped(nn.Module, "float", wrapper):
        yield


@fault(check="outputs", paths="*+unflatten_first*:*", source=RELU)
def unflatten_edits_the_program() -> Iterator[None]:
    """unflatten puts a negation in the place of relu into the program itself."""

    def wrapper(init: Any, self: Any, program: Any, *given: Any, **rest: Any) -> None:
        init(self, program, *given, **rest)
        for node in program.graph.find_nodes(op="call_function", target=torch.ops.aten.relu.default):
            node.target = torch.ops.aten.neg.default

    with wrapped(UnflattenedModule, "__init__", wrapper):
        yield


@fault(check="outputs", paths="*+load_back:*", source=LINEAR)
def eager_misses_a_name_of_a_program() -> Iterator[None]:
    """An eager module misses a name in the state dict of a program."""

    def wrapper(load: Any, self: Any, state: Any, prefix: str, info: Any, strict: Any, *given: Any) -> None:
        load(self, state, prefix, info, strict, *given)
        if isinstance(self, nn.Linear):
            given[0].append(f"{prefix}scale")

    with wrapped(nn.Module, "_load_from_state_dict", wrapper):
        yield
