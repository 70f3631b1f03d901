"""Finds the calls after which inputs, state and process can be compared with eager."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.judging.checks.compare.guard_failures import is_guard_failure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.runtime.observing.observation import Call, Observation


def comparable(reference: Observation, candidate: Observation) -> Iterator[tuple[int, Call, Call]]:
    """Yield the number of each call, and the calls of eager and of the path, until only one of them raises.

    A call that a guard refused, or that raised while Dynamo traced it, has changed nothing, whatever eager
    did before it raised.
    """
    for number, (ours, theirs) in enumerate(zip(reference.calls, candidate.calls, strict=False)):
        raised = ours.failure is not None, theirs.failure is not None
        if raised[0] != raised[1] or is_guard_failure(theirs) or _raised_in_trace(theirs):
            return
        yield number, ours, theirs
        if any(raised):
            return


def _raised_in_trace(call: Call) -> bool:
    return call.failure is not None and any(
        name.startswith("torch._dynamo.exc.") for name in call.failure.types
    )
