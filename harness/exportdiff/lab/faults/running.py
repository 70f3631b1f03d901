"""Faults of running a lowered program: in aliasing, sharing and gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.export._unlift as unlifting
import torch.fx
from torch.export import UnflattenedModule

from exportdiff.lab.faults.exporting import LINEAR
from exportdiff.lab.faults.hierarchy import unflattening
from exportdiff.lab.faults.registry import fault, wrapped
from exportdiff.runtime.patching.editing import edited

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from typing import Any

VIEW = """
class Model(nn.Module):
    def forward(self, x):
        return x[0]
"""

RETURNED_BUFFER = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.ones(3))

    def forward(self, x):
        return x + 1, self.mean.view(1, 3)
"""

BUFFER = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.full((3,), 0.5))

    def forward(self, x):
        return x * self.scale
"""

LEARNED = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Parameter(torch.full((3,), 0.5))
        self.two = nn.Parameter(torch.full((3,), 0.25))

    def forward(self, x):
        return x * self.one + self.two


def make():
    return Model(), (torch.ones(2, 3, requires_grad=True),)
"""


@fault(check="outputs", paths="nonstrict:unflatten*", source=LINEAR)
def unflatten_runs_without_gradients() -> Iterator[None]:
    """The rebuilt module runs under torch.no_grad."""

    def wrapper(forward: Any, *args: Any, **kwargs: Any) -> Any:
        with torch.no_grad():
            return forward(*args, **kwargs)

    with wrapped(UnflattenedModule, "forward", wrapper):
        yield


@fault(check="gradients", paths="nonstrict:unflatten*", source=LEARNED)
def unflatten_detaches_parameters() -> AbstractContextManager[object]:
    """No gradient reaches the parameters of the rebuilt module."""
    return edited(
        torch.fx.Interpreter.get_attr,
        "return self.fetch_attr(target)",
        "value = self.fetch_attr(target); "
        "return value.detach() if isinstance(value, torch.Tensor) else value",
    )


@fault(check="aliasing", paths="nonstrict:unflatten*", source=VIEW)
def unflatten_returns_copies() -> AbstractContextManager[object]:
    """The rebuilt module returns a copy where the model returns a view of an input."""
    return edited(
        UnflattenedModule.forward,
        "return pytree.tree_unflatten(tree_out,",
        "tree_out = [o.clone() if isinstance(o, torch.Tensor) else o for o in tree_out]; "
        "return pytree.tree_unflatten(tree_out,",
    )


@fault(check="aliasing", paths="nonstrict:module*", source=RETURNED_BUFFER)
def module_returns_copies_of_its_state() -> AbstractContextManager[object]:
    """ep.module() reads a copy of each buffer, and returns a view of the copy."""
    return edited(
        unlifting._unlift_inputs_as_getattr,
        "input_node.replace_all_uses_with(getattr_node)",
        "with gm.graph.inserting_after(getattr_node): input_node.replace_all_uses_with("
        "gm.graph.call_function(torch.ops.aten.clone.default, (getattr_node,)))",
    )


@fault(check="sharing", paths="nonstrict:unflatten*", source=BUFFER)
def unflatten_copies_the_state_into_the_graph() -> AbstractContextManager[object]:
    """The graph reads its own copy of each tensor, so later changes of the state have no effect."""
    return edited(
        unflattening._sink_params,
        'new_node = graph.create_node("get_attr", ".".join(attr_path))',
        'setattr(module, "_" + node.name, state_attr.clone()); '
        'new_node = graph.create_node("get_attr", "_" + node.name)',
    )
