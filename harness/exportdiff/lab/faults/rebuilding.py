"""Faults of torch.export.unflatten: parameters, buffers, constants, inputs and outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch.export import UnflattenedModule
from torch.export.graph_signature import ExportGraphSignature

from exportdiff.lab.faults.exporting import COUNTER, LINEAR
from exportdiff.lab.faults.hierarchy import CALLED_TWICE, unflattening
from exportdiff.lab.faults.models import FLAG, INPUT_IN_PLACE, TIED, TWO_NAMES
from exportdiff.lab.faults.registry import fault, wrapped
from exportdiff.runtime.patching.editing import edited

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from typing import Any

FROZEN = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3), requires_grad=False)

    def forward(self, x):
        return x * self.weight
"""

NON_PERSISTENT = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scratch", torch.ones(3), persistent=False)

    def forward(self, x):
        return x * self.scratch
"""

LITERAL = """
class Model(nn.Module):
    def forward(self, x):
        return x * torch.tensor([1.0, 2.0, 3.0])
"""

TWO_OUTPUTS = """
class Model(nn.Module):
    def forward(self, x):
        return x + 1, x * 3
"""

NO_IN_PLACE = 'eliminate_dead_code(lambda node: not (node.args and getattr(node.args[0], "op", "") == "{}"))'
"""A method call that removes in-place operators on nodes of the kind ``{}`` if nothing reads their result."""


@fault(check="outputs", paths="nonstrict:unflatten*", source=LINEAR)
def unflatten_raises_key_error() -> Iterator[None]:
    """Rebuilding the hierarchy looks up a module that does not exist."""

    def wrapper(outline: Any, *args: Any, **kwargs: Any) -> Any:
        raise KeyError("linear")

    with wrapped(unflattening, "_outline_submodules", wrapper):
        yield


@fault(check="outputs", paths="nonstrict:unflatten*", source=TWO_OUTPUTS)
def unflatten_swaps_outputs() -> AbstractContextManager[object]:
    """The rebuilt module returns its outputs in reverse order."""
    return edited(
        UnflattenedModule.forward,
        "pytree.tree_unflatten(tree_out, signature",
        "pytree.tree_unflatten(tree_out[::-1], signature",
    )


@fault(check="inputs", paths="nonstrict:unflatten*", source=INPUT_IN_PLACE)
def unflatten_loses_input_updates() -> AbstractContextManager[object]:
    """unflatten removes an in-place operator on an input if nothing reads its result."""
    return edited(
        UnflattenedModule.__init__,
        "_fix_nn_module_stacks(export_graph)",
        f"_fix_nn_module_stacks(export_graph); export_graph.{NO_IN_PLACE.format('placeholder')}",
    )


@fault(check="state", paths="nonstrict:unflatten*", source=FROZEN, cites="PR 134353")
def unflatten_unfreezes_parameters() -> AbstractContextManager[object]:
    """A parameter with requires_grad=False has requires_grad=True in the rebuilt module."""
    return edited(
        UnflattenedModule.__init__, "param.clone(), requires_grad=param.requires_grad", "param.clone()"
    )


@fault(check="sharing", paths="nonstrict:unflatten*", source=TIED, cites="PR 124892")
def unflatten_unties_parameters() -> AbstractContextManager[object]:
    """Each name of a tied parameter gets its own clone."""
    return edited(UnflattenedModule.__init__, "if _id(param) not in id_to_param:", "if True:")


@fault(check="sharing", paths="nonstrict:unflatten*", source=TWO_NAMES, cites="PR 125758")
def unflatten_unties_buffers() -> AbstractContextManager[object]:
    """Each name of a tied buffer gets its own clone."""
    return edited(UnflattenedModule.__init__, "if _id(buffer) not in id_to_buffer:", "if True:")


@fault(check="state", paths="nonstrict:unflatten*", source=TWO_NAMES)
def unflatten_zeroes_buffers() -> AbstractContextManager[object]:
    """The buffers of the rebuilt module have the right size but contain zeros."""
    return edited(
        UnflattenedModule.__init__, "(buffer.clone(), persistent)", "(torch.zeros_like(buffer), persistent)"
    )


@fault(check="state", paths="nonstrict:unflatten*", source=COUNTER)
def unflatten_forgets_buffers() -> AbstractContextManager[object]:
    """A buffer that the graph uses becomes a plain attribute of the rebuilt module."""
    return edited(
        unflattening._assign_attr,
        "to_module.register_buffer(field, from_obj, persistent=persistent)",
        "setattr(to_module, field, from_obj)",
    )


@fault(check="state", paths="nonstrict:*", source=NON_PERSISTENT)
def lowering_adds_buffers_to_the_state_dict() -> AbstractContextManager[object]:
    """A buffer that does not persist is in the state dict of what runs."""
    return edited(unflattening._assign_attr, "persistent=persistent", "persistent=True")


@fault(check="sharing", paths="nonstrict:unflatten*", source=CALLED_TWICE)
def each_call_has_its_own_parameters() -> AbstractContextManager[object]:
    """Each module, and each graph of a call, gets its own clone of a parameter."""
    return edited(
        unflattening._assign_attr,
        "to_module.register_parameter(field, from_obj)",
        "to_module.register_parameter(field, torch.nn.Parameter(from_obj.detach().clone()))",
    )


@fault(check="purity", paths="nonstrict:unflatten*", source=COUNTER)
def unflatten_mutates_the_programs_buffers() -> AbstractContextManager[object]:
    """Rebuilding the hierarchy mutates the buffers of the exported program."""
    return edited(
        UnflattenedModule.__init__, "(buffer.clone(), persistent)", "(buffer.add_(1).clone(), persistent)"
    )


@fault(check="outputs", paths="nonstrict:*", source=NON_PERSISTENT, cites="PR 118876")
def non_persistent_buffers_are_read_from_the_state_dict() -> Iterator[None]:
    """The signature lists non-persistent buffers as persistent ones."""
    scratch: Any = ExportGraphSignature.non_persistent_buffers
    with edited(scratch.fget, "if s.persistent is False", "if False"):
        yield


@fault(check="guards", paths="nonstrict:unflatten*", source=LITERAL, cites="issue 116914")
def unflatten_takes_constants_as_inputs() -> AbstractContextManager[object]:
    """The rebuilt module counts a tensor literal in forward as one of its inputs."""
    return edited(
        UnflattenedModule.__init__,
        'for node in self.graph.nodes if node.op == "placeholder"',
        'for node in export_graph.nodes if node.op == "placeholder" and node.name[:2] not in ("p_", "b_")',
    )


@fault(check="sharing", paths="nonstrict:unflatten*", source=LINEAR)
def unflatten_shares_the_parameters_of_the_program() -> AbstractContextManager[object]:
    """A parameter of an unflattened module is in the memory of the program's."""
    return edited(
        UnflattenedModule.__init__,
        "param.clone(), requires_grad=param",
        "param.detach(), requires_grad=param",
    )


@fault(check="guards", paths="nonstrict:unflatten*", source=FLAG)
def unflattened_modules_stay_busy_after_a_refusal() -> AbstractContextManager[object]:
    """An unflattened module that has refused a call refuses every later one."""
    return edited(
        UnflattenedModule.process_forward_inputs,
        "signature = self.module_call_graph[0].signature",
        "signature = self.module_call_graph[0].signature\n"
        "    if vars(self).get('busy'):\n"
        "        raise RuntimeError('busy')\n"
        "    vars(self)['busy'] = True",
        ("\n    return flat_args", "\n    vars(self)['busy'] = False\n    return flat_args"),
    )
