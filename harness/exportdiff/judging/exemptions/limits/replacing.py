"""Limits of replacing submodules of an unflattened model by their eager originals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.judging.checks.outputs import OutputLeaf
from exportdiff.judging.exemptions.limits.limit import PROGRAMMING_MODEL, limit
from exportdiff.runtime.observing.tensors import TensorSnapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from exportdiff.judging.exemptions.limits.limit import Comparison, Limit

LIMITS: list[Limit] = []


@limit(
    LIMITS,
    says="A tensor that a submodule assigns to an attribute is passed on in the graph, and may reach the "
    "state after the call. The module that replaces the submodule neither gets nor returns it.",
    documented="github.com/pytorch/pytorch/pull/137999: 'preserving call signatures for multiple calls to a "
    "module when buffers are mutated is not supported yet'; "
    "torch/_functorch/_aot_autograd/frontend_utils.py: 'must be registered as a buffer'",
)
def replacements_are_assigned_nothing(compared: Comparison) -> bool:
    """Whether a call shows it, and eager assigns a tensor to a submodule that is replaced."""
    eager, hierarchy = compared.eager, compared.eager.hierarchy
    if hierarchy is None or compared.evidence.stage != "run":
        return False
    replaced = _replaced(compared.path.transforms, hierarchy.first)
    owners = {name.rpartition(".")[0] for name in eager.assigned | eager.rebound}
    return not replaced.isdisjoint(hierarchy.first.get(owner, owner) for owner in owners)


@limit(
    LIMITS,
    says="Python values are part of the graph. The module that replaces a submodule does not learn that its "
    "caller has switched its mode, or caches parametrizations.",
    documented=f"{PROGRAMMING_MODEL}, 'Which values are static vs. dynamic?'; torch/nn/utils/parametrize.py, "
    "cached: a global variable, which the context manager sets",
)
def replacements_are_told_nothing(compared: Comparison) -> bool:
    """Whether a call shows it, and eager changed a Python value of a submodule that is replaced."""
    hierarchy = compared.eager.hierarchy
    if hierarchy is None or compared.evidence.stage != "run":
        return False
    return not _replaced(compared.path.transforms, hierarchy.first).isdisjoint(hierarchy.called_in_other_mode)


@limit(
    LIMITS,
    says="A result that is not read is not computed: a child that runs alone returns None for a result that "
    "its parent does not read.",
    documented="docs.pytorch.org, torch.fx.Graph.eliminate_dead_code: 'Remove all dead code from the graph'; "
    "github.com/pytorch/pytorch/pull/128260, a preserved module that 'contains unused inputs/outputs': "
    "torch/export/unflatten.py, finalize_outputs, puts None there",
)
def unread_results_are_none(compared: Comparison) -> bool:
    """Whether a child that runs alone returns None where eager's child returns a tensor.

    A number is part of the preserved signature.
    """
    evidence = compared.evidence
    if "children" not in compared.path.transforms or not isinstance(evidence, OutputLeaf):
        return False
    ours, theirs = (each.calls[evidence.call].outputs for each in (compared.eager, compared.seen))
    if ours is None or theirs is None:
        return False
    return any(
        one.where == evidence.place
        and other.value == "NoneType: None"
        and isinstance(one.value, TensorSnapshot)
        for one, other in zip(ours.leaves, theirs.leaves, strict=False)
    )


@limit(
    LIMITS,
    says="torch.export does not preserve call signatures in a model that is a torch.fx.GraphModule: the "
    "module that replaces a submodule gets what the graph reads, in the order of the graph.",
    documented="github.com/pytorch/pytorch/pull/143676, 'graph module retracing without preserving MCS': "
    "'module swapping on retraced programs, which is still not possible'",
)
def graph_modules_preserve_no_calls(compared: Comparison) -> bool:
    """Whether a call shows it, the model is a graph module, and submodules are replaced or run alone."""
    hierarchy = compared.eager.hierarchy
    if hierarchy is None or compared.evidence.stage != "run":
        return False
    # The wrapper that runs children alone has the model as a child.
    root = "model" if "children" in compared.path.transforms else ""
    return root in hierarchy.inlined and bool(_replaced(compared.path.transforms, hierarchy.first))


def _children(first: Mapping[str, str]) -> list[str]:
    return [name for name in first if name and "." not in name]


def _leaves(first: Mapping[str, str]) -> list[str]:
    parents = {name.rpartition(".")[0] for name in first if name}
    return [name for name in first if name and name not in parents]


def _one(first: Mapping[str, str]) -> list[str]:
    names = [name for name, one in first.items() if name and name == one]
    return names[len(names) // 2 :][:1]


SELECTS: Mapping[str, Callable[[Mapping[str, str]], list[str]]] = {
    "swap": _children,
    "swap_leaves": _leaves,
    "swap_one": _one,
}
"""For each transform that replaces submodules (runtime/paths/transforms/modules.py): which ones it replaces.

The functions take a mapping from each name of a module to the first name of that module.
"""


_APART: Mapping[str, Callable[[Mapping[str, str]], list[str]]] = {
    **SELECTS,
    "swapped": _children,
    "children": _children,
}
"""The same, with the transforms that run submodules alone; some of these submodules may be left out."""


def _replaced(transforms: Iterable[str], first: Mapping[str, str]) -> frozenset[str]:
    """Return the first names of the modules that are replaced or run alone, and of those below them."""
    roots = [root for name in transforms if name in _APART for root in _APART[name](first)]
    return frozenset(
        one for name, one in first.items() if any(f"{name}.".startswith(f"{root}.") for root in roots)
    )
