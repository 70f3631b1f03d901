"""How to show findings of the outputs check."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch

from exportdiff.judging.checks.outputs import (
    OnlyEagerRaised,
    OutputAttribute,
    OutputIdentity,
    OutputLeaf,
    OutputStructure,
    PathRaised,
)
from exportdiff.repro.observe_functions import observing_leaves
from exportdiff.repro.parts import ScriptParts, last_call
from exportdiff.repro.paste import Template
from exportdiff.repro.templates.scripts import compare, consecutive_calls, first_call
from exportdiff.repro.templates.stand_ins import ATTRIBUTE, CALLS, export, inputs, lower, make
from exportdiff.repro.writers.aliasing import compare_objects
from exportdiff.repro.writers.crashes import crash

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding


def structure(out: Any) -> dict[str, str]:
    """Return how the outputs are nested."""
    return {"output structure": str(torch.utils._pytree.tree_flatten(out)[1])}


def attribute(out: Any) -> dict[str, str]:
    """Return an attribute of an object in the output."""
    try:
        return {"the attribute": str(ATTRIBUTE)}
    except AttributeError:
        return {"the attribute": "is missing"}


def compare_exceptions() -> None:
    """Say whether only eager raises."""
    eager, args, kwargs = make()
    model, args, kwargs = make()
    ep = export(model)
    candidate = lower(ep)
    for call in range(CALLS):
        raised = []
        for run in (eager, candidate):
            args, kwargs = inputs(call)
            try:
                run(*args, **kwargs)
                raised.append("nothing")
            except Exception as error:
                raised.append(type(error).__name__)
    expected, seen = raised
    bug = expected == "ERROR" and seen == "nothing"
    print(f"{'BUG' if bug else 'ok'}: eager raises {expected}, RUNNER raises {seen}")
    sys.exit(1 if bug else 0 if expected in ("ERROR", seen) else 3)


def write(finding: Finding) -> ScriptParts | None:
    """Write down exceptions, and differences of the structure and the leaves of outputs."""
    match finding.evidence:
        case PathRaised(failure=failure):
            return crash(finding, failure)
        case OnlyEagerRaised(failure=failure):
            script = [Template(compare_exceptions, {"ERROR": failure.name})]
            return ScriptParts([], script, call=max(last_call(finding), 1))
        case OutputIdentity(new=new):
            return compare_objects(finding, split=not new)
        case OutputStructure() | OutputLeaf() | OutputAttribute() as evidence:
            calls = Template(consecutive_calls if finding.call else first_call)
            observe = observing_outputs(evidence)
            return ScriptParts(
                [observe], [calls, Template(compare)], call=last_call(finding), observes=("out",)
            )
    return None


def observing_outputs(evidence: OutputStructure | OutputLeaf | OutputAttribute) -> Template:
    """Return the function that observes what differs."""
    if isinstance(evidence, OutputAttribute):
        return Template(attribute, {"ATTRIBUTE": f"out{evidence.place}"}, name="observe")
    if isinstance(evidence, OutputLeaf):
        return observing_leaves(evidence.leaf.word, "output")
    return Template(structure, name="observe")
