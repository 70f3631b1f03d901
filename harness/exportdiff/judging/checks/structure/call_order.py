"""Part of the structure check: the calls of submodules are those of eager, in the same order."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from exportdiff.judging.checks.structure.common import OfStructure, listed, two_lists
from exportdiff.runtime.observing.graphs import Visit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from exportdiff.core.finding import Evidence, Stage
    from exportdiff.runtime.observing.graphs import Frames, Hierarchy, Listing, Rebuilt


@dataclass(frozen=True)
class CallsUnknown(OfStructure):
    """The graph has operators of modules that eager does not have."""

    names: tuple[str, ...]

    stage = "export"
    fixed_words = ("calls", "unknown")

    def lines(self) -> Iterator[str]:
        """List the modules."""
        yield f"the graph has operators of {listed(self.names)}, which eager does not have"


@dataclass(frozen=True)
class CallOrder(OfStructure):
    """The graph records, or the rebuilt module makes, other calls than eager, or in another order."""

    stage: Stage
    """``export``: the calls recorded in the graph; ``lower``: those of the rebuilt module."""
    expected: tuple[str, ...]
    seen: tuple[str, ...]

    fixed_words = ("calls", "order")

    def lines(self) -> Iterator[str]:
        """Show both lists of calls."""
        if self.stage == "export":
            yield "the calls recorded in the graph are not those that eager makes, in their order"
        else:
            yield "the calls that the rebuilt module makes are not those of eager, in their order"
        yield from two_lists(self.expected, self.seen)


@dataclass(frozen=True)
class CallMissing(OfStructure):
    """Eager computes something in a call, and the graph has no operator of this call."""

    module: str
    expected: tuple[str, ...]
    """Eager's calls; ``*`` marks those that compute something."""
    seen: tuple[str, ...]

    stage = "export"
    fixed_words = ("calls", "missing")

    def lines(self) -> Iterator[str]:
        """Show both lists of calls."""
        yield f"eager computes something in a call of {self.module}, and the graph does not have it"
        yield from two_lists(self.expected, self.seen)


class _Tree(NamedTuple):
    """One call, and the calls during it. A module with several names has the first of them here."""

    module: str
    must: bool
    """Whether the graph must have it."""
    children: list[_Tree]


def _forest(visits: Iterable[Visit], hierarchy: Hierarchy) -> list[_Tree]:
    """Nest calls: each is below the call during which it was made.

    Calls of graph modules are left out: export replaces them by their operators.
    """
    roots: list[_Tree] = []
    lists: list[list[_Tree]] = []
    for module, within, computes in visits:
        siblings = roots if within is None else lists[within]
        if module in hierarchy.inlined:
            lists.append(siblings)
            continue
        siblings.append(_Tree(module, computes, []))
        lists.append(siblings[-1].children)
    return roots


def _recorded(hierarchy: Hierarchy, listing: Listing) -> list[_Tree]:
    """Return the calls that the operators of a graph were recorded in."""
    named = hierarchy.named
    roots: list[_Tree] = []
    known: dict[Frames, _Tree] = {}
    for step in listing.steps:
        for frames in (step.frames or (), *step.inside):
            siblings = roots
            path: Frames = ()
            for frame in frames:
                module = named.get(frame.module, frame.module)
                if module in hierarchy.inlined:
                    continue
                path = (*path, frame)
                if path not in known:
                    known[path] = _Tree(module, True, [])
                    siblings.append(known[path])
                siblings = known[path].children
    return roots


def _needed(tree: _Tree) -> bool:
    return tree.must or any(map(_needed, tree.children))


def _fits(ours: Sequence[_Tree], theirs: Sequence[_Tree], *, all_needed: bool) -> bool:
    """Whether the calls of a graph, ``theirs``, are calls of eager, in the same order.

    Calls of eager may be missing; with ``all_needed``, those that compute something may not.
    """
    reached = {0}  # numbers of calls of the graph that eager's calls so far can stand for
    for tree in ours:
        after = set() if all_needed and _needed(tree) else set(reached)
        for n in reached:
            there = n < len(theirs) and theirs[n].module == tree.module
            if there and _fits(tree.children, theirs[n].children, all_needed=all_needed):
                after.add(n + 1)
        reached = after
    return len(theirs) in reached


def _is_graph(hierarchy: Hierarchy) -> bool:
    """Whether the model is a graph, such as ``ep.module()``: its operators keep the calls that an earlier
    export recorded."""
    return "" in hierarchy.inlined


def recorded_calls(hierarchy: Hierarchy, listing: Listing) -> Iterator[Evidence]:
    """Compare the calls that the exported graph records with eager's."""
    if _is_graph(hierarchy):
        return
    frames = [frames for step in listing.steps for frames in (step.frames or (), *step.inside)]
    names = dict.fromkeys(frame.module for each in frames for frame in each)
    if unknown := [name for name in names if name not in hierarchy.named]:
        yield CallsUnknown(tuple(unknown))
        return
    ours, theirs = _forest(hierarchy.visits, hierarchy), _recorded(hierarchy, listing)
    if not _fits(ours, theirs, all_needed=False):
        yield CallOrder("export", _flat(ours), _flat(theirs))
    elif not any(step.opaque for step in listing.steps) and not _fits(ours, theirs, all_needed=True):
        yield CallMissing(_absent(ours, theirs), _flat(ours, marked=True), _flat(theirs))


def _absent(ours: Sequence[_Tree], theirs: Sequence[_Tree]) -> str:
    """Return the module of a call that must be there and is not."""
    there = Counter(tree.module for tree in _all(theirs))
    needed = Counter(tree.module for tree in _all(ours) if tree.must)
    return next(iter((needed - there) or needed))


def _all(trees: Iterable[_Tree]) -> Iterator[_Tree]:
    for tree in trees:
        yield tree
        yield from _all(tree.children)


def made_calls(hierarchy: Hierarchy, rebuilt: Rebuilt) -> Iterator[Evidence]:
    """Compare the calls that the rebuilt module makes with eager's.

    A call of a module that eager does not have is reported as a difference of the modules instead.
    """
    first = hierarchy.named
    if _is_graph(hierarchy) or any(name not in first for name, _ in rebuilt.calls):
        return
    theirs = _forest([Visit(first[name], within, True) for name, within in rebuilt.calls], hierarchy)
    ours = _forest(hierarchy.visits, hierarchy)
    if not _fits(ours, theirs, all_needed=False):
        yield CallOrder("lower", _flat(ours), _flat(theirs))


def _flat(trees: Iterable[_Tree], *, marked: bool = False) -> tuple[str, ...]:
    names: list[str] = []
    for tree in trees:
        inner = _flat(tree.children, marked=marked)
        name = f"{tree.module}*" if marked and tree.must else tree.module
        names.append(f"{name}({', '.join(inner)})" if inner else name)
    return tuple(names)
