"""structure: the modules, their order and the graph of each call are those of eager.

docs/reference/what-does-not-count.md lists what torch does not promise, so that this check leaves it out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.judging.checks.structure.call_order import made_calls, recorded_calls
from exportdiff.judging.checks.structure.common import OfStructure, listed
from exportdiff.judging.checks.structure.enumeration import (
    buffers_in_order,
    modules_in_order,
    parameters_in_order,
)
from exportdiff.judging.checks.structure.signature import names, signature
from exportdiff.judging.checks.structure.translation import translation
from exportdiff.runtime.observing.observation import ExportedObservation
from exportdiff.runtime.paths.read.normal_forms import without_idle_steps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.core.finding import Evidence, Stage
    from exportdiff.runtime.observing.graphs import Exported, Hierarchy, Rebuilt
    from exportdiff.runtime.observing.observation import EagerObservation, Observation


@dataclass(frozen=True)
class GraphBroken(OfStructure):
    """The exported graph, or what unflatten made from it, cannot run."""

    stage: Stage
    reason: str

    fixed_words = ("graph", "broken")

    def lines(self) -> Iterator[str]:
        """Show the reason."""
        what = "the exported graph is broken" if self.stage == "export" else "calling it cannot work"
        yield f"{what}: {self.reason}"


@dataclass(frozen=True)
class ModuleCycle(OfStructure):
    """A rebuilt module is among its own children's children."""

    name: str

    stage = "lower"
    fixed_words = ("modules", "cycle")

    def lines(self) -> Iterator[str]:
        """Name the module."""
        yield f"{self.name} is a module that it is itself below"


@dataclass(frozen=True)
class ModulesMissing(OfStructure):
    """Modules of eager are not in the rebuilt module."""

    names: tuple[str, ...]
    called: bool
    """Whether eager calls one of them."""

    stage = "lower"
    fixed_words = ("modules", "missing")

    def lines(self) -> Iterator[str]:
        """List the modules."""
        yield f"{listed(self.names)}, {'called by eager' if self.called else 'of eager'}, is not there"


@dataclass(frozen=True)
class ModulesUnknown(OfStructure):
    """The rebuilt module has modules that eager does not have."""

    names: tuple[str, ...]

    stage = "lower"
    fixed_words = ("modules", "unknown")

    def lines(self) -> Iterator[str]:
        """List the modules."""
        yield f"eager has no {listed(self.names)}"


@dataclass(frozen=True)
class NeedlessVariant(OfStructure):
    """Two calls of a module have a graph each, and the two are the same."""

    names: tuple[str, str]
    graph: str

    stage = "lower"
    fixed_words = ("variants", "needless")

    def lines(self) -> Iterator[str]:
        """Show the beginning of the graph."""
        yield f"{self.names[0]} and {self.names[1]} have a graph each, and the two are the same"
        yield from self.graph.splitlines()[:6]


def structure(reference: EagerObservation, candidate: Observation) -> Iterator[Evidence]:
    """Compare modules, calls and graphs with those of eager and of the exported program."""
    if not isinstance(candidate, ExportedObservation):
        return
    hierarchy, program, rebuilt = reference.hierarchy, candidate.exported, candidate.rebuilt
    if hierarchy is None or program is None:
        return
    of_signature = list(signature(program))
    yield from of_signature
    if reference.before is not None:
        yield from names(hierarchy, reference.before, program)
    if program.listing is None:
        yield GraphBroken("export", str(program.broken))
        return
    of_graph = list(recorded_calls(hierarchy, without_idle_steps(program.listing)))
    yield from of_graph
    if rebuilt is not None:
        yield from _modules(hierarchy, program, rebuilt)
        if rebuilt.listing is not None and not of_graph:  # it can only repeat what the graph says
            yield from made_calls(hierarchy, rebuilt)
        yield from translation(program, rebuilt, reference.before)
        yield from modules_in_order(hierarchy, rebuilt)
    # The state is in the order of the signature.
    if reference.before is not None and candidate.before is not None and not of_signature:
        yield from parameters_in_order(reference.before, candidate.before)
        if rebuilt is not None:
            yield from buffers_in_order(reference.before, candidate.before)


def _modules(hierarchy: Hierarchy, program: Exported, rebuilt: Rebuilt) -> Iterator[Evidence]:
    """Look for modules that are missing, unknown, below themselves, or there twice without need."""
    if rebuilt.cycle:
        yield ModuleCycle(rebuilt.cycle)
        return
    called = {visit.module for visit in hierarchy.visits}
    if missing := [name for name in hierarchy.first if name not in rebuilt.modules]:
        yield ModulesMissing(tuple(missing), any(hierarchy.first[name] in called for name in missing))
    if unknown := rebuilt.modules - hierarchy.first.keys() - _recorded_names(program):
        yield ModulesUnknown(tuple(sorted(unknown)))
    for graphs in rebuilt.variants.values():
        first: dict[str, str] = {}
        for name, text in graphs:
            if first.setdefault(text, name) is not name:
                yield NeedlessVariant((first[text], name), text)
                return
    if rebuilt.broken:
        yield GraphBroken("lower", rebuilt.broken)


def _recorded_names(program: Exported) -> set[str]:
    """Return the modules that the graph names, and their parents."""
    names: set[str] = set()
    for step in without_idle_steps(program.listing).steps if program.listing else ():
        for frames in (step.frames or (), *step.inside):
            names.update(frame.module for frame in frames)
    return names | {name[:dot] for name in names for dot, each in enumerate(name) if each == "."}
