"""Faults of strict export: in Dynamo, and in the steps of export after Dynamo."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch.export._trace as trace
from torch._dynamo import functional_export
from torch._dynamo.variables.nn_module import UnspecializedNNModuleVariable
from torch._dynamo.variables.tensor import TensorVariable

from exportdiff.core.torch_versions import has
from exportdiff.lab.faults.exporting import TRANSPOSE
from exportdiff.lab.faults.registry import fault
from exportdiff.runtime.patching.editing import edited

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

GETATTR = "torch._dynamo.variables.tensor.TensorVariable.tp_getattro_impl"
read_attribute = getattr(TensorVariable, "tp_getattro_impl" if has(GETATTR) else "var_getattr")
"""What Dynamo calls where a model reads an attribute of a tensor; the older name is that of torch 2.13."""

UNUSED = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.zeros(3), persistent=False)

    def forward(self, x):
        return x + 1
"""

NAMESAKES = """
class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("bias", torch.ones(3))

    def forward(self, x):
        return x + self.bias


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()
        self.register_buffer("bias", torch.zeros(3))

    def forward(self, x):
        return self.child(x) * self.bias
"""

KEYWORDS = """
class Model(nn.Module):
    def forward(self, scale, bias):
        return scale - 2 * bias


def make():
    return Model(), (), {"scale": torch.ones(2, 3), "bias": torch.zeros(3)}
"""

HOOK = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = nn.Identity()
        self.child.register_forward_hook(lambda module, args, output: output * 2)

    def forward(self, x):
        return self.child(x)
"""

REQUIRES_GRAD = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x):
        total = torch.zeros(3)
        total.add_(self.weight)
        return x + 1 if total.requires_grad else x
"""

TWO_OUTPUTS = """
class Model(nn.Module):
    def forward(self, x):
        return x + 1, x * 3


def make():
    return Model(), (torch.ones(4, 3),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("n")}}
"""


@fault(check="guards", paths="strict:*", source=TRANSPOSE, cites="issue 93610")
def dynamo_traces_in_place_views_of_inputs() -> AbstractContextManager[object]:
    """Tracing applies an in-place view to an input, and records the changed shape as the input's shape."""
    return edited(
        read_attribute,
        "if self.source is not None and hasattr(torch.ops.aten, name):",
        "if False:",
    )


@fault(check="outputs", paths="strict:*", source=REQUIRES_GRAD, cites="PR 167583")
def dynamo_keeps_old_metadata_after_mutation() -> AbstractContextManager[object]:
    """Dynamo does not update its metadata of a tensor after an in-place operator."""
    return edited(TensorVariable._sync_if_inplace_mutation, "self.synchronize_attributes(tx)", "pass")


@fault(check="outputs", paths="strict:*", source=HOOK, cites="PR 92125")
def dynamo_skips_hooks() -> AbstractContextManager[object]:
    """Dynamo traces a submodule's forward instead of its call, so hooks do not run."""
    return edited(UnspecializedNNModuleVariable.call_function, "if not has_hooks:", "if True:")


@fault(check="outputs", paths="strict:*", source=TWO_OUTPUTS)
def dynamo_returns_outputs_in_reverse() -> AbstractContextManager[object]:
    """With dynamic shapes, the outputs come in reverse order."""
    return edited(
        functional_export.DynamoGraphTransformer.output,
        "sorted(self.graph_output_map.keys())",
        "reversed(self.graph_output_map.keys())",
    )


@fault(check="outputs", paths="strict:*", source=UNUSED, cites="PR 131756")
def an_unused_buffer_has_no_name() -> AbstractContextManager[object]:
    """Export looks up the name of a non-persistent buffer that the graph does not use, and fails."""
    return edited(trace._strict_export, "        if name in reverse_name_lookup\n", "")


@fault(check="outputs", paths="strict:*", source=NAMESAKES)
def buffers_with_the_same_name_are_confused() -> AbstractContextManager[object]:
    """Export takes a submodule's buffer for the root model's buffer with the same name."""
    return edited(
        trace._get_param_buffer_mapping,
        "buffer_lookup[id(buffer)] = name",
        "buffer_lookup[id(buffer)] = name.rpartition('.')[2]",
    )


@fault(check="guards", paths="strict:*", source=KEYWORDS, cites="PR 105337")
def keyword_arguments_are_described_in_alphabetical_order() -> AbstractContextManager[object]:
    """Export records the metadata of keyword arguments in alphabetical order."""
    return edited(
        trace._convert_to_positional_args,
        "for kw_name in orig_arg_names[len(args) :]",
        "for kw_name in sorted(kwargs)",
    )
