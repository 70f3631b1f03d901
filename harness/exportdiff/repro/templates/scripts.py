"""Statements of scripts that several checks share. Each function continues the one before it."""

from __future__ import annotations

import sys
from typing import Any

from exportdiff.repro.templates.stand_ins import CALLS, export, inputs, lower, make, observe


def first_call() -> Any:
    """Observe the first call of each."""
    eager, args, kwargs = make()
    out = eager(*args, **kwargs)
    expected = observe(out, (args, kwargs), eager)

    model, args, kwargs = make()
    ep = export(model)
    candidate = lower(ep)
    args, kwargs = inputs()
    out = candidate(*args, **kwargs)
    seen = observe(out, (args, kwargs), candidate)
    return expected, seen


def consecutive_calls() -> Any:
    """Observe the last of several calls of each."""
    eager, args, kwargs = make()
    model, args, kwargs = make()
    ep = export(model)
    candidate = lower(ep)
    for call in range(CALLS):
        args, kwargs = inputs(call)
        out = eager(*args, **kwargs)
        expected = observe(out, (args, kwargs), eager)
        args, kwargs = inputs(call)
        out = candidate(*args, **kwargs)
        seen = observe(out, (args, kwargs), candidate)
    return expected, seen


def both_models() -> Any:
    """Make both, and call neither."""
    eager, args, kwargs = make()
    model, args, kwargs = make()
    ep = export(model)
    candidate = lower(ep)
    return eager, candidate


def compare(expected: dict[str, Any], seen: dict[str, Any]) -> None:
    """Say which of the things that both have differs."""
    wrong = [n for n in expected if n in seen and seen[n] != expected[n]]
    for n in wrong[:1]:
        print(f"BUG: {n}: eager gives {expected[n]}, RUNNER gives {seen[n]}")
    if not wrong:
        print("ok: RUNNER gives what eager gives")
    sys.exit(bool(wrong))
