"""structure: the modules that eager called are there, each call runs its own graph, in eager's order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harness.checks.structure.call_order import made_calls, recorded_calls
from harness.checks.structure.signature import names, signature
from harness.checks.structure.translation import translation
from harness.checks.structure.wording import different, listed
from harness.observe.observation import ExportedObservation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.checks.registry import Difference
    from harness.observe.graphs import Exported, Hierarchy, Rebuilt
    from harness.observe.observation import EagerObservation, Observation

NOT_PROMISED = {
    "a call that leaves no operators has no graph": "torch/export/unflatten.py, _sink_params: 'Not all "
    "modules have graphs defined, if they are empty modules with no operations'",
    "an operator on sizes alone is filed under whoever asked first, or nobody": "pytorch issue 132930; "
    "torch/_export/passes/_node_metadata_hook.py",
    "a call of a module that is not below its caller is part of the caller's graph": "pytorch PR 159418, "
    "torch/export/unflatten.py, _fix_nn_module_stacks",
    "a call inside no_grad, autocast or a control-flow operator is part of the graph that the operator "
    "holds, and has none of its own": "pytorch PR 138978",
    "a fx.GraphModule is traced like a function": "torch/fx/experimental/proxy_tensor.py, "
    "_ModuleStackTracer.call_module: 'For now, we just inline them'",
    "strict mode takes one name for all of a tensor": "pytorch PRs 124892 and 125758; "
    "torch/export/unflatten.py, UnflattenedModule.__init__, on aliasing",
}
"""What torch.export leaves open, and where it says so: none of this is a difference."""


def structure(reference: EagerObservation, candidate: Observation) -> Iterator[Difference]:
    """Compare modules, calls and graphs with those of eager and of the exported program."""
    for difference in _compare(reference, candidate):
        yield replace(difference, follows=True)


def _compare(reference: EagerObservation, candidate: Observation) -> Iterator[Difference]:
    if not isinstance(candidate, ExportedObservation):
        return
    hierarchy, program, rebuilt = reference.hierarchy, candidate.exported, candidate.rebuilt
    if hierarchy is None or program is None:
        return
    yield from signature(program)
    if reference.before is not None:
        yield from names(hierarchy, reference.before, program)
    if program.listing is None:
        yield different("export", ("graph", "broken"), f"the exported graph is broken: {program.broken}")
        return
    told = list(recorded_calls(hierarchy, program.listing))
    yield from told
    if rebuilt is not None:
        yield from _modules(hierarchy, program, rebuilt)
        if rebuilt.listing is not None and not told:  # it can only repeat what the graph says
            yield from made_calls(hierarchy, rebuilt)
        yield from translation(program, rebuilt, reference.before)


def _modules(hierarchy: Hierarchy, program: Exported, rebuilt: Rebuilt) -> Iterator[Difference]:
    """Look for modules that are missing, unknown, below themselves, or there twice for no reason."""
    if rebuilt.cycle:
        yield different("lower", ("modules", "cycle"), f"{rebuilt.cycle} is a module that it is itself below")
        return
    called = {visit.module for visit in hierarchy.visits}
    if missing := [name for name in hierarchy.first if name not in rebuilt.modules]:
        calls = "called by eager" if any(hierarchy.first[name] in called for name in missing) else "of eager"
        yield different("lower", ("modules", "missing"), f"{listed(missing)}, {calls}, is not there")
    if unknown := rebuilt.modules - hierarchy.first.keys() - _recorded_names(program):
        yield different("lower", ("modules", "unknown"), f"eager has no {listed(sorted(unknown))}")
    for graphs in rebuilt.variants.values():
        first: dict[str, str] = {}
        for name, text in graphs:
            if first.setdefault(text, name) is not name:
                yield different(
                    "lower",
                    ("variants", "needless"),
                    f"{first[text]} and {name} have a graph each, and the two are the same",
                    *text.splitlines()[:6],
                )
                return
    if rebuilt.broken:
        yield different("lower", ("graph", "broken"), f"calling it cannot work: {rebuilt.broken}")


def _recorded_names(program: Exported) -> set[str]:
    """Return the modules that the graph speaks of, and what they are below."""
    names: set[str] = set()
    for step in program.listing.steps if program.listing else ():
        for frames in (step.frames or (), *step.inside):
            names.update(frame.module for frame in frames)
    return names | {name[:dot] for name in names for dot, each in enumerate(name) if each == "."}
