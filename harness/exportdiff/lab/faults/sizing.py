"""Faults of dynamic shapes: symbols, guards and ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch.export._trace as trace
from torch._export import non_strict_utils
from torch.fx.experimental import proxy_tensor
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from exportdiff.lab.faults.models import SIZE
from exportdiff.lab.faults.registry import fault, wrapped
from exportdiff.runtime.patching.editing import edited

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

BRANCH = """
class Model(nn.Module):
    def forward(self, x):
        return x + 1 if x.shape[0] > 5 else x - 1


def make():
    return Model(), (torch.ones(4, 3),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("n")}}


def probes():
    return [((torch.ones(8, 3),), {})]
"""

RANGE = """
class Model(nn.Module):
    def forward(self, x):
        return x + 1


def make():
    return Model(), (torch.ones(4, 3),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("n", min=3, max=8)}}


def probes():
    return [((torch.ones(8, 3),), {})]
"""


@fault(check="guards", paths="*strict:*", source=SIZE)
def export_ignores_dynamic_shapes() -> Iterator[None]:
    """Export silently ignores dynamic_shapes and fixes every size."""

    def wrapper(export: Any, model: Any, args: Any, kwargs: Any, shapes: Any, **rest: Any) -> Any:
        return export(model, args, kwargs, None, **rest)

    with wrapped(trace, "_export", wrapper):
        yield


@fault(check="outputs", paths="*strict:*", source=SIZE)
def the_graph_computes_with_the_examples_size() -> AbstractContextManager[object]:
    """The graph has the example's size as a constant where the size is dynamic."""
    return edited(proxy_tensor.fetch_sym_proxy, "return get_proxy_slot(e, tracer).force()", "return n.hint")


@fault(check="outputs", paths="*strict:*", source=BRANCH)
def a_branch_on_a_size_makes_no_guard() -> AbstractContextManager[object]:
    """The example's size decides a branch for all sizes, without a guard."""
    return edited(
        ShapeEnv._evaluate_expr,
        "        self._check_frozen(expr, concrete_val)\n",
        "        if isinstance(expr, sympy.Gt | sympy.Lt | sympy.Ge | sympy.Le):\n"
        "            return concrete_val\n",
    )


@fault(check="guards", paths="*strict:*", source=RANGE)
def the_largest_size_is_refused() -> AbstractContextManager[object]:
    """The upper bound of a range of sizes is one too small."""
    return edited(
        non_strict_utils.make_constraints, "lower=dim.min, upper=dim.max", "lower=dim.min, upper=dim.max - 1"
    )
