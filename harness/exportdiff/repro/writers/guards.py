"""How to show findings of the guards check."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

import torch

from exportdiff.judging.checks.guards.check import CallRefused, WrongRecord
from exportdiff.judging.checks.guards.deviations import (
    BrokenByRefusal,
    KeywordsRefused,
    RefusedButChanged,
    WrongAnswer,
)
from exportdiff.judging.checks.guards.sizes import SizeRefused
from exportdiff.repro.deviating_calls import deviating_parts
from exportdiff.repro.parts import ScriptParts
from exportdiff.repro.paste import Template
from exportdiff.repro.templates.observers import everything
from exportdiff.repro.templates.properties import PROPERTIES
from exportdiff.repro.templates.stand_ins import (
    FACT,
    NAMED,
    OF_VALUES,
    RESIZED,
    WORDED,
    WORDS,
    altered,
    export,
    inputs,
    lower,
    make,
    observe,
)
from exportdiff.repro.writers.crashes import crash, exception_words
from exportdiff.runtime.inputs.resizing import with_size

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding
    from exportdiff.judging.checks.compare.deviating import Altered
    from exportdiff.repro.paste import Values


# --- what the graph records of its inputs ---


def given_inputs() -> Any:
    """Name the inputs that the program is called with."""
    model, args, kwargs = make()
    ep = export(model)
    args, kwargs = inputs()
    names = [s.arg.name for s in ep.graph_signature.input_specs if s.kind.name == "USER_INPUT"]
    leaves = torch.utils._pytree.tree_leaves((args, kwargs))
    if OF_VALUES:
        actual = {n: t for n, t in zip(names, leaves, strict=False) if not isinstance(t, torch.Tensor)}
    else:
        actual = {n: t for n, t in zip(names, leaves, strict=False) if isinstance(t, torch.Tensor)}
    return ep, actual


def own_state() -> Any:
    """Name the parameters, or the buffers."""
    model, args, kwargs = make()
    ep = export(model)
    model, args, kwargs = make()
    state = dict(NAMED(model, remove_duplicate=False))
    actual = {n: state[fqn] for n, fqn in ep.graph_signature.inputs_to_KIND.items()}
    return ep, actual


def compare_records(ep: Any, actual: dict[str, Any]) -> None:
    """Say what the graph records of an input and is not so."""
    wrong = []
    for node in ep.graph.nodes:
        if node.op == "placeholder" and node.name in actual:
            expected, seen = (FACT(t) for t in (actual[node.name], node.meta["val"]))
            if expected != seen:
                wrong.append(f"WORD of {node.name}: handed in {expected}, recorded {seen}")
    print(f"BUG: {wrong[0]}" if wrong else "ok: the graph records its inputs as they are")
    sys.exit(bool(wrong))


# --- calls that deviate from the example ---


def call_deviating() -> None:
    """Make a call that should be refused, or answered as eager answers it."""
    eager, args, kwargs = make()
    with altered(eager):
        expected = observe(eager(*args, **kwargs), (args, kwargs), eager)
    model, args, kwargs = make()
    ep = export(model)
    candidate = lower(ep)
    args, kwargs = inputs()
    with altered(candidate):
        try:
            out = candidate(*args, **kwargs)
        except Exception as error:
            print(f"ok: RUNNER refuses the call: {type(error).__name__}")
            sys.exit(0)
        seen = observe(out, (args, kwargs), candidate)
    wrong = [n for n in expected if n in seen and seen[n] != expected[n]]
    for n in wrong[:1]:
        print(f"BUG: RUNNER accepts the call, and {n} is {seen[n]} instead of {expected[n]}")
    if not wrong:
        print("ok: RUNNER gives what eager gives")
    sys.exit(bool(wrong))


def call_refused() -> None:
    """Make a call that is refused, and see what it has changed."""
    model, args, kwargs = make()
    ep = export(model)
    candidate = lower(ep)
    args, kwargs = inputs()
    with altered(candidate):
        expected = observe((), (args, kwargs), candidate)
        with contextlib.suppress(Exception):
            candidate(*args, **kwargs)
            print("ok: RUNNER accepts the call")
            sys.exit(0)
    seen = observe((), (args, kwargs), candidate)
    wrong = [n for n in expected if seen[n] != expected[n]]
    for n in wrong[:1]:
        print(f"BUG: RUNNER refuses the call, but {n} was {expected[n]} and is {seen[n]}")
    if not wrong:
        print("ok: a refused call leaves all as it was")
    sys.exit(bool(wrong))


def call_again() -> None:
    """Make a call that raises, and then an ordinary one."""
    eager, args, kwargs = make()
    expected = observe(eager(*args, **kwargs), (args, kwargs), eager)
    model, args, kwargs = make()
    ep = export(model)
    candidate = lower(ep)
    args, kwargs = inputs()
    with altered(candidate):
        try:
            candidate(*args, **kwargs)
        except Exception as error:
            refusal = type(error).__name__
        else:
            print("ok: RUNNER accepts the call")
            sys.exit(0)
    args, kwargs = inputs()
    try:
        seen = observe(candidate(*args, **kwargs), (args, kwargs), candidate)
    except Exception as error:
        print(f"BUG: after a call that raises {refusal}, RUNNER raises {type(error).__name__}")
        sys.exit(1)
    wrong = [n for n in expected if n in seen and seen[n] != expected[n]]
    for n in wrong[:1]:
        print(f"BUG: after a call that raises {refusal}, {n} is {seen[n]} instead of {expected[n]}")
    if not wrong:
        print(f"ok: after a call that raises {refusal}, RUNNER gives what eager gives")
    sys.exit(bool(wrong))


# --- calls that must be accepted ---


def other_sizes(*given: Any) -> Any:
    """Return the example with other sizes."""
    pairs, spec = torch.utils._pytree.tree_flatten_with_path(given)
    leaves = [leaf for _, leaf in pairs]
    places = [torch.utils._pytree.keystr(p) for p, _ in pairs]
    for place, dim, size in RESIZED:
        at = places.index(place)
        leaves[at] = with_size(leaves[at], dim, size)
    return torch.utils._pytree.tree_unflatten(leaves, spec)


def call_accepted() -> None:
    """Make a call that must be accepted."""
    eager, args, kwargs = make()
    with altered(eager):
        eager(*args, **kwargs)
    model, args, kwargs = make()
    ep = export(model)
    candidate = lower(ep)
    args, kwargs = inputs()
    with altered(candidate):
        try:
            candidate(*args, **kwargs)
        except Exception as error:
            if type(error).__name__ != "ERROR":
                raise
            if WORDED and WORDS not in str(error):
                raise
            seen = f"{type(error).__name__}: {str(error).strip()[:200]!r}"
            print(f"BUG: eager accepts GIVEN, RUNNER raises {seen}")
            sys.exit(1)
    print("ok: RUNNER accepts GIVEN")
    sys.exit(0)


def write(finding: Finding) -> ScriptParts | None:
    """Write down wrong records, refusals, and deviating calls that are answered wrongly."""
    match finding.evidence:
        case CallRefused(failure=failure):
            return crash(finding, failure)
        case SizeRefused() as evidence:
            places: Values = {
                "RESIZED": repr([(each.place, each.dim, each.size) for each in evidence.resized])
            }
            given = {"GIVEN": f"size {evidence.size} of {evidence.where}"}
            return ScriptParts(
                [Template(with_size), Template(other_sizes, places, name="other")],
                [Template(call_accepted, {**exception_words(evidence.failure), **given})],
            )
        case KeywordsRefused(altered=altered, failure=failure):
            given = {"GIVEN": "keyword arguments in another order"}
            return _deviating(altered, Template(call_accepted, {**exception_words(failure), **given}))
        case WrongAnswer(altered=altered):
            return _deviating(altered, Template(call_deviating))
        case BrokenByRefusal(altered=altered):
            return _deviating(altered, Template(call_again))
        case RefusedButChanged(altered=altered):
            return _deviating(altered, Template(call_refused))
        case WrongRecord(sort=sort, leaf=leaf):
            of_values = leaf.word == "value"
            fact = PROPERTIES["python-value" if of_values else leaf.word]
            values: Values = {
                "OF_VALUES": of_values,
                "NAMED": f"torch.nn.Module.named_{sort}s",
                "inputs_to_KIND": f"inputs_to_{sort}s",
            }
            head = Template(given_inputs if sort == "input" else own_state, values)
            end = Template(compare_records, {"WORD": leaf.word, "FACT": fact})
            return ScriptParts([], [head, end], of_program=True)
    return None


def _deviating(altered: Altered, script: Template) -> ScriptParts:
    return deviating_parts(altered, [Template(everything, name="observe")], [script])
