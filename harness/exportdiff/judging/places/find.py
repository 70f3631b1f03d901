"""Finds the first difference of a finding: runs eager and the path once more, with every operator logged."""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING

from exportdiff.core.first_difference import FirstDifference, not_found
from exportdiff.judging.places.matching import match
from exportdiff.judging.places.search import first_moved, first_of_all, search
from exportdiff.judging.places.subject import subject
from exportdiff.runtime.observing.logged_values import in_words
from exportdiff.runtime.paths import MODES, same_operators
from exportdiff.runtime.paths.run.logged import log_eager, log_path

if TYPE_CHECKING:
    from exportdiff.core.case import Case
    from exportdiff.core.finding import Finding
    from exportdiff.judging.places.search import Parting
    from exportdiff.judging.places.subject import Subject
    from exportdiff.runtime.observing.code_places import CodePlace
    from exportdiff.runtime.observing.operator_log import Event
    from exportdiff.runtime.paths.run.logged import LoggedRun


def first_difference(case: Case, finding: Finding) -> FirstDifference:
    """Return where the path of a finding first differs from eager, or why that is not known."""
    wanted = subject(finding.evidence)
    if wanted.why_not:
        return not_found(wanted.why_not)
    if wanted.module is not None:
        return FirstDifference(module=wanted.module)
    if MODES[finding.path.mode].export is None:
        return not_found(f"the operators of {finding.path.mode} paths are not logged")
    if finding.path.mode == "aoti":
        return not_found("the operators of machine code cannot be logged")
    eager = log_eager(case, finding.path, wanted.wanted)
    here = log_path(case, finding.path, wanted.wanted)
    if wanted.raises or here.stage is not None:
        return _where_raised(eager, here)
    same = same_operators(finding.path)
    matching = match(eager.events, here.events, same_operators=same, stride=wanted.aspect == "stride")
    targets = [e for e in eager.events if e.name in wanted.names and e.call == wanted.call]
    parting = search(eager.events, here.events, matching, targets) if targets else None
    if wanted.aspect == "module":
        parting = first_moved(eager.events, matching)
    if parting is None:
        parting = first_of_all(eager.events, here.events, matching)
    if parting is None:
        return not_found("all operators give in both runs what they give in eager")
    return _described(parting, eager, wanted)


def _where_raised(eager: LoggedRun, here: LoggedRun) -> FirstDifference:
    side = here if here.stage is not None else eager
    if side.stage is None:
        return not_found("nothing raises when the operators are logged")
    call = side.call if side.stage == "run" else None
    place = side.raised_at
    if place.module is None and not place.file:
        return not_found(f"no line of the model leads to the exception in {side.stage}")
    raised = {"here": side.raised} if side is here else {"eager": side.raised}
    return _at(place, call, eager, **raised)


def _described(parting: Parting, eager: LoggedRun, wanted: Subject) -> FirstDifference:
    event = parting.eager or parting.here
    assert event is not None, "a difference is on one side at least"
    ours, theirs = _values(parting)
    return _at(event.place, event.call, eager, operator=event.short_operator, eager=ours, here=theirs)


def _values(parting: Parting) -> tuple[str, str]:
    ours, theirs = parting.eager, parting.written or parting.here
    pair = [(a, b) for a, b in zip(_of(ours), _of(theirs), strict=False) if not a.equals(b)]
    if pair:
        one, two = in_words(*pair[0])
        other = parting.here
        if ours is not None and other is not None and ours.operator != other.operator and not parting.written:
            two = f"{two} (by {other.short_operator})"
        return one, two
    return _alone(ours, "not called"), _alone(theirs, "not called")


def _of(event: Event | None) -> tuple:
    return event.values if event is not None else ()


def _alone(event: Event | None, otherwise: str) -> str:
    if event is None:
        return otherwise
    return str(event.values[0]) if event.values else "called"


def _at(place: CodePlace, call: int | None, reference: LoggedRun, **fields: str) -> FirstDifference:
    module = place.module
    if module is not None and reference.first is not None:
        module = reference.first.get(module, module)
    code = linecache.getline(place.file, place.line).strip() if place.file and place.line else ""
    return FirstDifference(call, module, place.module_call, file=place.file, line=place.line, code=code, **fields)
