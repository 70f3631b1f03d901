"""How to show exceptions that eager does not raise."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from exportdiff.repro.parts import ScriptParts, last_call
from exportdiff.repro.paste import Template
from exportdiff.repro.stable_words import plain_part
from exportdiff.repro.templates.stand_ins import (
    CALLS,
    LOWERS,
    RUNS,
    WORDED,
    WORDS,
    export,
    inputs,
    lower,
    make,
)

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding
    from exportdiff.runtime.observing.failure import Failure


def run_eager() -> Any:
    """Show that eager raises nothing."""
    eager, args, kwargs = make()
    eager(*args, **kwargs)
    model, args, kwargs = make()
    seen = "nothing"
    return model, args, kwargs, seen


def try_stage(model: Any, seen: str) -> str:
    """Try the export alone, with the runner, or with the first call as well."""
    try:
        ep = export(model)
        if LOWERS:
            candidate = lower(ep)
        if RUNS:
            args, kwargs = inputs()
            candidate(*args, **kwargs)
    except Exception as error:
        if type(error).__name__ != "ERROR":
            raise
        if WORDED and WORDS not in str(error):
            raise
        seen = f"{type(error).__name__}: {str(error).strip()[:200]!r}"
    return seen


def report(seen: str) -> None:
    """Say what was raised."""
    bug = seen != "nothing"
    print(f"{'BUG' if bug else 'ok'}: eager raises nothing, STAGE raises {seen}")
    sys.exit(bug)


def try_consecutive_calls() -> None:
    """Make several calls of each."""
    eager, args, kwargs = make()
    model, args, kwargs = make()
    ep = export(model)
    candidate = lower(ep)
    seen = "nothing"
    for call in range(CALLS):
        args, kwargs = inputs(call)
        eager(*args, **kwargs)
        args, kwargs = inputs(call)
        try:
            candidate(*args, **kwargs)
        except Exception as error:
            if type(error).__name__ != "ERROR":
                raise
            if WORDED and WORDS not in str(error):
                raise
            seen = f"{type(error).__name__}: {str(error).strip()[:200]!r}"
            break
    bug = seen != "nothing"
    print(f"{'BUG' if bug else 'ok'}: eager raises nothing, call {call} of RUNNER raises {seen}")
    sys.exit(bug)


def exception_words(failure: Failure) -> dict[str, str | bool]:
    """Return what says in a template which exception is the bug: its class, and words of its message."""
    words = plain_part(failure.message)
    return {"ERROR": failure.name, "WORDED": bool(words), "WORDS": repr(words)}


_STAGES = {"export": "export", "lower": "making the RUNNER", "run": "calling the RUNNER"}


def crash(finding: Finding, failure: Failure) -> ScriptParts:
    """Return the parts for an exception. The file does not catch any other one."""
    error = exception_words(failure)
    if finding.call:
        return ScriptParts([], [Template(try_consecutive_calls, error)], call=last_call(finding))
    attempt = Template(
        try_stage, {**error, "LOWERS": finding.stage != "export", "RUNS": finding.stage == "run"}
    )
    return ScriptParts(
        [], [Template(run_eager), attempt, Template(report, {"STAGE": _STAGES[finding.stage]})]
    )
