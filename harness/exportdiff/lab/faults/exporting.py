"""Faults of torch.export.export: in tracing, in lifting, and in the program that it writes."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import torch._export.utils as export_utils
import torch.export._trace as trace
from torch._export import non_strict_utils
from torch._export.passes import (
    lift_constants_pass,
    replace_autocast_with_hop_pass,
    replace_set_grad_with_hop_pass,
)
from torch.fx.experimental import proxy_tensor

from exportdiff.lab.faults.models import INPUT_IN_PLACE, TIED, TWO_NAMES
from exportdiff.lab.faults.registry import fault
from exportdiff.runtime.patching.editing import edited

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

# An ordinary import would return the function cond, which hides the module of the same name.
conditional = importlib.import_module("torch._higher_order_ops.cond")

LINEAR = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        return self.linear(x)
"""

COUNTER = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x):
        self.count.add_(1)
        return x * 2
"""

TRANSPOSE = """
class Model(nn.Module):
    def forward(self, x):
        return x.t_() + 1
"""

ASSIGNED = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x):
        self.mean = self.mean + 1
        return x * 2
"""

KEYWORDS = """
class Model(nn.Module):
    def forward(self, scale, bias):
        return scale - 2 * bias


def make():
    return Model(), (), {"scale": torch.ones(2, 3), "bias": torch.zeros(2, 3)}
"""

LITERAL = """
class Model(nn.Module):
    def forward(self, x):
        step = torch.tensor(1.0)
        step.add_(1)
        return x * step
"""

READ_TWICE = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.full((3,), 2.0)

    def forward(self, x):
        return x * self.scale + self.scale
"""

AUTOCAST = """
class Model(nn.Module):
    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = x @ x
        return (x @ x).float() + y


def make():
    return Model(), (torch.full((3, 3), 0.1),)
"""

COND = """
class Model(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))
"""


DETACHED = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return x * self.weight.detach() * self.weight
"""

NO_GRAD = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x):
        with torch.no_grad():
            y = self.weight * 2
        return x * y * self.weight
"""

NAMED_AS_A_NODE = """
class Model(nn.Module):
    def forward(self, add_1):
        once = add_1 + 1
        return once + once
"""

STEP = """
class Model(nn.Module):
    def forward(self, x, y):
        return y[: x.shape[0] : 2]


def make():
    return Model(), (torch.ones(3, 3), torch.ones(7, 3))


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("n", min=3, max=7)}, "y": None}
"""

VIEW = """
class Model(nn.Module):
    def forward(self, x):
        return x.view(6)
"""


@fault(check="guards", paths="nonstrict:*", source=TRANSPOSE, cites="PR 89140")
def recorded_metadata_changes_with_mutation() -> AbstractContextManager[object]:
    """Export records fake tensors without a snapshot, so later mutations change the record (issue 93610)."""
    return edited(proxy_tensor.snapshot_fake, "return fast_detach(", "return val if True else fast_detach(")


@fault(check="inputs", paths="*strict:*", source=INPUT_IN_PLACE, cites="PR 130552")
def in_place_operators_are_removed_as_dead_code() -> AbstractContextManager[object]:
    """Export removes an operator that has an unused result, even if the operator mutates its argument."""
    return edited(
        trace._export_to_aten_ir_make_fx,
        "                return True\n",
        "                return node.op != 'call_function'\n",
    )


@fault(check="state", paths="nonstrict:*", source=ASSIGNED, cites="PR 122337")
def assigned_buffers_keep_their_old_value() -> AbstractContextManager[object]:
    """The program does not write a buffer to which the model assigns a new tensor."""
    return edited(trace._export_to_aten_ir_make_fx, "in assigned_buffers.items():", "in ():")


@fault(check="state", paths="nonstrict:*", source=ASSIGNED)
def assigned_values_go_to_the_wrong_buffer() -> AbstractContextManager[object]:
    """Export matches graph inputs with buffers in alphabetical order, not in the order of registration."""
    return edited(
        trace._export_to_aten_ir_make_fx,
        "enumerate(non_strict_root._buffers.items())",
        "enumerate(sorted(non_strict_root._buffers.items()))",
    )


@fault(check="outputs", paths="nonstrict:*", source=TIED, cites="PR 124847")
def tied_parameters_are_missing_from_the_state_dict() -> AbstractContextManager[object]:
    """The program's state dict has only one name of a tied parameter, but its signature has all of them."""
    return edited(
        trace._get_original_state_dict,
        "mod.named_parameters(remove_duplicate=False)",
        "mod.named_parameters()",
    )


@fault(check="sharing", paths="nonstrict:*", source=TWO_NAMES)
def a_buffer_is_copied_for_each_of_its_names() -> AbstractContextManager[object]:
    """The program's state dict holds one copy of a buffer for each of its names."""
    return edited(
        trace._get_original_state_dict,
        "dict(mod.named_buffers(remove_duplicate=False))",
        "{name: buffer.clone() for name, buffer in mod.named_buffers(remove_duplicate=False)}",
    )


@fault(check="outputs", paths="nonstrict:module*", source=KEYWORDS, cites="PR 105337")
def keyword_arguments_are_taken_in_alphabetical_order() -> AbstractContextManager[object]:
    """Export records the names of keyword arguments in alphabetical order, but their values in call order."""
    return edited(trace._get_forward_arg_names, "names.extend(kwargs.keys())", "names.extend(sorted(kwargs))")


@fault(check="outputs", paths="*strict:*", source=LITERAL, cites="PR 81192")
def constants_are_not_copied() -> AbstractContextManager[object]:
    """All calls share one tensor for a literal in forward, so a mutation in one call affects the next."""
    return edited(
        proxy_tensor.proxy_call, "        func = torch.ops.aten.lift_fresh_copy.default\n", "        pass\n"
    )


@fault(check="outputs", paths="*strict:*", source=LITERAL)
def constants_are_mutated_while_tracing() -> AbstractContextManager[object]:
    """To know the value of a constant, tracing runs in-place operators on the constant instead of a copy."""
    return edited(proxy_tensor.proxy_call, "constant = args[0].clone()", "constant = args[0]")


@fault(check="outputs", paths="nonstrict:module*", source=READ_TWICE)
def a_constant_that_is_read_twice_is_lifted_twice() -> AbstractContextManager[object]:
    """Every read of a constant becomes a graph input with the same target, which lowering refuses."""
    return edited(lift_constants_pass.lift_constants_pass, "if constant_val in lifted_objs:", "if False:")


@fault(check="outputs", paths="nonstrict:*", source=AUTOCAST)
def code_after_autocast_runs_with_autocast() -> AbstractContextManager[object]:
    """The submodule of an autocast block also contains the operators after the block."""
    return edited(
        replace_autocast_with_hop_pass._split_autocast,
        "first_node_after_outer_most_exit = True",
        "first_node_after_outer_most_exit = False",
    )


@fault(check="outputs", paths="*strict:*", source=COND)
def the_branches_of_cond_are_swapped() -> AbstractContextManager[object]:
    """In the graph of torch.cond, the true branch and the false branch are swapped."""
    return edited(
        conditional.trace_cond,
        "args = (pred, true_graph, false_graph, operands)",
        "args = (pred, false_graph, true_graph, operands)",
    )


def _changed_tracing(code: str) -> AbstractContextManager[object]:
    """Run ``code`` before tracing handles an operator; ``code`` may change ``func``, the operator."""
    next_line = "    if func is torch.ops.aten.is_nonzero.default:\n"
    return edited(proxy_tensor.proxy_call, next_line, code + next_line)


@fault(check="gradients", paths="*strict:*", source=DETACHED)
def detach_is_ignored() -> AbstractContextManager[object]:
    """Tracing uses x where the model uses x.detach(), so gradients flow where they must not."""
    return _changed_tracing("    if func is torch.ops.aten.detach.default:\n        return args[0]\n")


@fault(check="gradients", paths="*strict:*", source=NO_GRAD, cites="PR 116339")
def no_grad_regions_are_inlined() -> AbstractContextManager[object]:
    """Export inlines a region that changes the grad mode, and keeps a region that does not change it."""
    return edited(
        replace_set_grad_with_hop_pass._is_set_grad_enabled_sub_mod,
        "first_non_ph.args[0] != torch.is_grad_enabled()",
        "first_non_ph.args[0] == torch.is_grad_enabled()",
    )


@fault(check="aliasing", paths="*strict:*", source=VIEW)
def views_are_traced_as_copies() -> AbstractContextManager[object]:
    """The program returns or mutates a copy where the model returns or mutates a view."""
    return _changed_tracing(
        "    name = func._schema.name.removeprefix('aten::')\n"
        "    if name in ('view', 'select', 'slice', 'transpose', 'unsqueeze', 'squeeze', 'permute'):\n"
        "        func = getattr(getattr(torch.ops.aten, f'{name}_copy'), func._overloadname)\n"
    )


@fault(check="outputs", paths="nonstrict:*", source=NAMED_AS_A_NODE)
def a_name_with_a_new_number_is_taken() -> AbstractContextManager[object]:
    """The number that makes the name of an operator unique is that of another name."""
    return edited(export_utils._rename_without_collisions, "find_available[key] + 1", "find_available[key]")


@fault(check="outputs", paths="nonstrict:*", source=STEP)
def a_slice_up_to_a_dynamic_size_has_no_step() -> AbstractContextManager[object]:
    """A slice loses its step if one of its ends is a dynamic size."""
    return edited(
        non_strict_utils._NonStrictTorchFunctionHandler._override,
        "step = 1 if item.step is None else item.step",
        "step = 1",
    )
