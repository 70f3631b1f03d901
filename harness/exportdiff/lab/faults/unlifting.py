"""Faults of ExportedProgram.module()."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch.export._unlift as unlifting

from exportdiff.lab.faults.exporting import LINEAR
from exportdiff.lab.faults.models import INPUT_IN_PLACE
from exportdiff.lab.faults.rebuilding import LITERAL, NO_IN_PLACE, NON_PERSISTENT
from exportdiff.lab.faults.registry import fault
from exportdiff.runtime.patching.editing import edited

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

DICT_OUTPUT = """
class Model(nn.Module):
    def forward(self, x):
        return {"a": x + 1}
"""

KEYWORDS = """
class Model(nn.Module):
    def forward(self, x, y, z):
        return x - y / z


def make():
    return Model(), (torch.ones(2, 3),), {"z": torch.full((2, 3), 2.0), "y": torch.full((2, 3), 3.0)}
"""

REST = """
class Model(nn.Module):
    def forward(self, x, *rest):
        return x + rest[0] * rest[1]


def make():
    return Model(), (torch.ones(4, 3), torch.ones(4, 3), torch.ones(4, 3))


def dynamic_shapes():
    n = torch.export.Dim("n")
    return {"x": {0: n}, "rest": ({0: n}, {0: n})}
"""

COUNTED = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x):
        y = x + self.count
        self.count.add_(1)
        return y
"""


@fault(check="outputs", paths="nonstrict:module*", source=DICT_OUTPUT)
def module_returns_a_tuple_instead_of_a_dict() -> AbstractContextManager[object]:
    """ep.module() loses the container of the output."""
    return edited(unlifting._get_codegen, "            out_spec,\n", "            None,\n")


@fault(check="state", paths="nonstrict:module*", source=COUNTED, cites="PR 107643")
def module_loses_buffer_updates() -> AbstractContextManager[object]:
    """ep.module() removes an in-place operator on a buffer if nothing reads its result."""
    return edited(unlifting._unlift, "gm.graph.lint()", f"gm.graph.{NO_IN_PLACE.format('get_attr')}")


@fault(check="inputs", paths="nonstrict:module*", source=INPUT_IN_PLACE, cites="PR 118272")
def module_loses_input_updates() -> AbstractContextManager[object]:
    """ep.module() removes an in-place operator on an input if nothing reads its result."""
    return edited(unlifting._unlift, "gm.graph.lint()", f"gm.graph.{NO_IN_PLACE.format('placeholder')}")


@fault(check="outputs", paths="nonstrict:module*", source=LITERAL, cites="PR 116266")
def module_takes_constants_as_inputs() -> AbstractContextManager[object]:
    """A tensor literal in forward stays an input of the graph of ep.module()."""
    return edited(unlifting._unlift_exported_program_lifted_states, "InputKind.CONSTANT_TENSOR,\n", "\n")


@fault(check="outputs", paths="nonstrict:module*", source=KEYWORDS, cites="PR 118272")
def module_mixes_up_keywords() -> AbstractContextManager[object]:
    """ep.module() takes its keyword arguments in alphabetical order."""
    return edited(unlifting._get_codegen, "names = forward_arg_names", "names = sorted(forward_arg_names)")


@fault(check="outputs", paths="nonstrict:module*", source=NON_PERSISTENT, cites="PR 120715")
def module_reads_non_persistent_buffers_from_the_wrong_module() -> AbstractContextManager[object]:
    """ep.module() reads non-persistent buffers from a module that does not have them yet."""
    return edited(
        unlifting._create_stateful_graph_module,
        "plain_graph_module.get_buffer(buffer)",
        "torch.nn.Module().get_buffer(buffer)",
    )


@fault(check="state", paths="nonstrict:module*", source=NON_PERSISTENT)
def module_adds_buffers_to_the_state_dict() -> AbstractContextManager[object]:
    """A buffer that does not persist is in the state dict of ep.module()."""
    return edited(unlifting._create_stateful_graph_module, "persistent=False", "persistent=True")


@fault(check="purity", paths="nonstrict:module*", source=LINEAR)
def module_changes_the_programs_graph() -> AbstractContextManager[object]:
    """ep.module() changes the program's own graph instead of a copy."""
    return edited(unlifting._unlift_exported_program_lifted_states, "copy.deepcopy(ep.graph)", "ep.graph")


@fault(check="purity", paths="nonstrict:module*", source=LINEAR)
def module_switches_gradients_off() -> AbstractContextManager[object]:
    """ep.module() leaves the grad mode off."""
    return edited(unlifting._unlift, "gm.graph.lint()", "gm.graph.lint(); torch.set_grad_enabled(False)")
