"""Faults of torch.export.unflatten: parameters, buffers and constants, and the way in and out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch.export import UnflattenedModule
from torch.export.graph_signature import ExportGraphSignature

from harness.faults.exporting import COUNTER, LINEAR
from harness.faults.hierarchy import CALLED_TWICE, unflattening
from harness.faults.models import INPUT_IN_PLACE, TIED, TWO_NAMES
from harness.faults.registry import fault, wrapped
from harness.patching.editing import edited

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

FROZEN = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3), requires_grad=False)

    def forward(self, x):
        return x * self.weight


def make():
    return Model(), (torch.ones(2, 3),)
"""

SCRATCH = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scratch", torch.ones(3), persistent=False)

    def forward(self, x):
        return x * self.scratch


def make():
    return Model(), (torch.ones(2, 3),)
"""

LITERAL = """
class Model(nn.Module):
    def forward(self, x):
        return x * torch.tensor([1.0, 2.0, 3.0])


def make():
    return Model(), (torch.ones(2, 3),)
"""

TWO_OUTPUTS = """
class Model(nn.Module):
    def forward(self, x):
        return x + 1, x * 3


def make():
    return Model(), (torch.ones(2, 3),)
"""

FORGOTTEN = 'eliminate_dead_code(lambda node: not (node.args and getattr(node.args[0], "op", "") == "{}"))'
"""What removes updates in place of an input or of the state: nobody reads their result."""


@fault(check="outputs", paths="nonstrict:unflatten*", source=LINEAR)
def unflatten_dies_of_a_missing_key() -> Iterator[None]:
    """Rebuilding the hierarchy looks up a module that is not there."""

    def wrapper(outline: Any, *args: Any, **kwargs: Any) -> Any:
        raise KeyError("linear")

    with wrapped(unflattening, "_outline_submodules", wrapper):
        yield


@fault(check="outputs", paths="nonstrict:unflatten*", source=TWO_OUTPUTS)
def unflatten_swaps_outputs() -> Iterator[None]:
    """The rebuilt module returns its outputs in reverse."""
    with edited(
        UnflattenedModule.forward,
        "pytree.tree_unflatten(tree_out, signature",
        "pytree.tree_unflatten(tree_out[::-1], signature",
    ):
        yield


@fault(check="inputs", paths="nonstrict:unflatten*", source=INPUT_IN_PLACE)
def unflatten_loses_input_updates() -> Iterator[None]:
    """An operation in place on an input is removed where nothing reads its result."""
    with edited(
        UnflattenedModule.__init__,
        "_fix_nn_module_stacks(export_graph)",
        f"_fix_nn_module_stacks(export_graph); export_graph.{FORGOTTEN.format('placeholder')}",
    ):
        yield


@fault(check="state", paths="nonstrict:unflatten*", source=FROZEN, cites="PR 134353")
def unflatten_thaws_parameters() -> Iterator[None]:
    """A parameter that requires no gradient requires one in the rebuilt module."""
    with edited(
        UnflattenedModule.__init__, "param.clone(), requires_grad=param.requires_grad", "param.clone()"
    ):
        yield


@fault(check="sharing", paths="nonstrict:unflatten*", source=TIED, cites="PR 124892")
def unflatten_unties_parameters() -> Iterator[None]:
    """Two names of one parameter get a clone each."""
    with edited(UnflattenedModule.__init__, "if _id(param) not in id_to_param:", "if True:"):
        yield


@fault(check="sharing", paths="nonstrict:unflatten*", source=TWO_NAMES, cites="PR 125758")
def unflatten_unties_buffers() -> Iterator[None]:
    """Two names of one buffer get a clone each."""
    with edited(UnflattenedModule.__init__, "if _id(buffer) not in id_to_buffer:", "if True:"):
        yield


@fault(check="state", paths="nonstrict:unflatten*", source=TWO_NAMES)
def unflatten_starts_buffers_empty() -> Iterator[None]:
    """The rebuilt module has buffers of the right size, and nobody has filled them."""
    with edited(
        UnflattenedModule.__init__, "(buffer.clone(), persistent)", "(torch.zeros_like(buffer), persistent)"
    ):
        yield


@fault(check="state", paths="nonstrict:unflatten*", source=COUNTER)
def unflatten_forgets_buffers() -> Iterator[None]:
    """A buffer that the graph uses is a plain attribute of the rebuilt module, and no buffer."""
    with edited(
        unflattening._assign_attr,
        "to_module.register_buffer(field, from_obj, persistent=persistent)",
        "setattr(to_module, field, from_obj)",
    ):
        yield


@fault(check="sharing", paths="nonstrict:unflatten*", source=CALLED_TWICE)
def each_call_has_its_own_parameters() -> Iterator[None]:
    """A parameter is cloned for each module and each graph of a call that it is assigned to."""
    with edited(
        unflattening._assign_attr,
        "to_module.register_parameter(field, from_obj)",
        "to_module.register_parameter(field, torch.nn.Parameter(from_obj.detach().clone()))",
    ):
        yield


@fault(check="purity", paths="nonstrict:unflatten*", source=COUNTER)
def unflatten_moves_the_programs_buffers() -> Iterator[None]:
    """Rebuilding the hierarchy writes to the buffers of the program that it rebuilds from."""
    with edited(
        UnflattenedModule.__init__, "(buffer.clone(), persistent)", "(buffer.add_(1).clone(), persistent)"
    ):
        yield


@fault(check="outputs", paths="nonstrict:*", source=SCRATCH, cites="PR 118876")
def scratch_buffers_are_looked_up_in_the_state_dict() -> Iterator[None]:
    """The signature takes buffers that do not persist for ordinary ones."""
    scratch: Any = ExportGraphSignature.non_persistent_buffers
    with edited(scratch.fget, "if s.persistent is False", "if False"):
        yield


@fault(check="guards", paths="nonstrict:unflatten*", source=LITERAL, cites="issue 116914")
def unflatten_asks_for_the_constants() -> Iterator[None]:
    """A tensor written into forward is counted as an input of the rebuilt module."""
    with edited(
        UnflattenedModule.__init__,
        'for node in self.graph.nodes if node.op == "placeholder"',
        'for node in export_graph.nodes if node.op == "placeholder" and node.name[:2] not in ("p_", "b_")',
    ):
        yield
