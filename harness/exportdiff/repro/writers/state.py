"""How to show findings of the state check."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from exportdiff.judging.checks.state import StateAdded, StateLeaf, StateMissing, UpdateLost
from exportdiff.repro.observe_functions import observing
from exportdiff.repro.parts import ScriptParts, last_call
from exportdiff.repro.paste import Template
from exportdiff.repro.templates import observers
from exportdiff.repro.templates.scripts import both_models, compare, consecutive_calls, first_call
from exportdiff.repro.templates.stand_ins import VARIANTS, make, observe

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding


def names(module: Any) -> dict[str, str]:
    """Return the shapes of all parameters and buffers."""
    state = [*module.named_parameters(remove_duplicate=False)]
    state += module.named_buffers(remove_duplicate=False)
    if VARIANTS:
        # A call's own copy (n@1.w) only counts where n.w is missing.
        state.sort(key=lambda pair: "@" not in pair[0])
        state = [(re.sub(r"@\d+", "", name), t) for name, t in state]
    return {name: str(list(t.shape)) for name, t in state}


def saved_names(module: Any) -> dict[str, str]:
    """Return the names in the state dict; a call's own copy (n@1.w) is a further name."""
    return {re.sub(r"@\d+", "", name): "saved" for name in module.state_dict()}


def before_any_call(eager: Any, candidate: Any) -> Any:
    """Observe both before the first call."""
    expected, seen = observe(eager), observe(candidate)
    return expected, seen


def missing(expected: dict[str, Any], seen: dict[str, Any]) -> None:
    """Say whether a name of eager is missing."""
    bug = "NAME" in expected and "NAME" not in seen
    print(f"{'BUG' if bug else 'ok'}: is NAME in eager: True, in RUNNER: {not bug}")
    sys.exit(bug)


def added(expected: dict[str, Any], seen: dict[str, Any]) -> None:
    """Say which names eager's state dict has not."""
    names = sorted(seen.keys() - expected.keys())
    print(f"{'BUG' if names else 'ok'}: in the state dict of RUNNER, and not in eager's: {names}")
    sys.exit(bool(names))


def lost_updates(expected: dict[str, Any], seen: dict[str, Any]) -> None:
    """Say what eager changes and the other does not have."""
    start = observe(make()[0])
    lost = [n for n in expected if n not in seen and expected[n] != start[n]]
    for n in lost[:1]:
        print(f"BUG: {n}: eager leaves {expected[n]}, RUNNER does not have it")
    if not lost:
        print("ok: RUNNER has what eager changes")
    sys.exit(bool(lost))


def write(finding: Finding) -> ScriptParts | None:
    """Write down missing names, and state that differs before the first call or after a call."""
    match finding.evidence:
        case StateMissing(name=name):
            observe = Template(names, {"VARIANTS": finding.runner == "unflatten"}, name="observe")
            end = Template(missing, {"NAME": name})
            return ScriptParts([observe], [Template(both_models), Template(before_any_call), end])
        case StateAdded():
            script = [Template(both_models), Template(before_any_call), Template(added)]
            return ScriptParts([Template(saved_names, name="observe")], script)
        case StateLeaf(call=None) as evidence:
            script = [Template(both_models), Template(before_any_call), Template(compare)]
            return ScriptParts([observing_state(finding, evidence)], script)
        case StateLeaf() | UpdateLost() as evidence:
            calls = Template(consecutive_calls if finding.call else first_call)
            end = Template(lost_updates if isinstance(evidence, UpdateLost) else compare)
            observe = observing_state(finding, evidence)
            return ScriptParts([observe], [calls, end], call=last_call(finding), observes=("module",))
    return None


def observing_state(finding: Finding, evidence: StateLeaf | UpdateLost) -> Template:
    """Return the function that observes what differs."""
    if evidence.sort == "constant":
        return observing(observers.constants, evidence.leaf.word)
    return observing(observers.state, evidence.leaf.word, VARIANTS=finding.runner == "unflatten")
