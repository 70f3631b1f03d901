"""Faults of ExportedProgram.module()."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch.export._unlift as unlifting

from harness.faults.exporting import LINEAR
from harness.faults.models import INPUT_IN_PLACE
from harness.faults.rebuilding import FORGOTTEN, LITERAL, SCRATCH
from harness.faults.registry import fault
from harness.patching.editing import edited

if TYPE_CHECKING:
    from collections.abc import Iterator

DICT_OUTPUT = """
class Model(nn.Module):
    def forward(self, x):
        return {"a": x + 1}


def make():
    return Model(), (torch.ones(2, 3),)
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


def make():
    return Model(), (torch.ones(2, 3),)
"""


@fault(check="outputs", paths="nonstrict:module*", source=DICT_OUTPUT)
def module_returns_a_tuple_for_a_dict() -> Iterator[None]:
    """The flat module forgets the output's container."""
    with edited(unlifting._get_codegen, "            out_spec,\n", "            None,\n"):
        yield


@fault(check="state", paths="nonstrict:module*", source=COUNTED, cites="PR 107643")
def module_loses_buffer_updates() -> Iterator[None]:
    """An operation in place on a buffer is removed where nothing reads its result."""
    with edited(unlifting._unlift, "gm.graph.lint()", f"gm.graph.{FORGOTTEN.format('get_attr')}"):
        yield


@fault(check="inputs", paths="nonstrict:module*", source=INPUT_IN_PLACE, cites="PR 118272")
def module_loses_input_updates() -> Iterator[None]:
    """An operation in place on an input is removed where nothing reads its result."""
    with edited(unlifting._unlift, "gm.graph.lint()", f"gm.graph.{FORGOTTEN.format('placeholder')}"):
        yield


@fault(check="outputs", paths="nonstrict:module*", source=LITERAL, cites="PR 116266")
def module_asks_for_the_constants() -> Iterator[None]:
    """A tensor written into forward stays an input of the flat module's graph."""
    with edited(unlifting._unlift_exported_program_lifted_states, "InputKind.CONSTANT_TENSOR,\n", "\n"):
        yield


@fault(check="outputs", paths="nonstrict:module*", source=KEYWORDS, cites="PR 118272")
def module_mixes_up_keywords() -> Iterator[None]:
    """The flat module takes its keyword arguments in the order of their names."""
    with edited(unlifting._get_codegen, "names = forward_arg_names", "names = sorted(forward_arg_names)"):
        yield


@fault(check="outputs", paths="nonstrict:module*", source=SCRATCH, cites="PR 120715")
def module_looks_for_scratch_buffers_in_the_wrong_module() -> Iterator[None]:
    """Buffers that do not persist are read from the module that does not have them yet."""
    with edited(
        unlifting._create_stateful_graph_module,
        "plain_graph_module.get_buffer(buffer)",
        "torch.nn.Module().get_buffer(buffer)",
    ):
        yield


@fault(check="purity", paths="nonstrict:module*", source=LINEAR)
def module_uses_the_program_up() -> Iterator[None]:
    """The flat module is made of the program's own graph, and not of a copy."""
    with edited(unlifting._unlift_exported_program_lifted_states, "copy.deepcopy(ep.graph)", "ep.graph"):
        yield


@fault(check="purity", paths="nonstrict:module*", source=LINEAR)
def module_switches_gradients_off() -> Iterator[None]:
    """Making the flat module leaves grad mode switched off."""
    with edited(unlifting._unlift, "gm.graph.lint()", "gm.graph.lint(); torch.set_grad_enabled(False)"):
        yield
