"""Finds the first difference of a finding: runs eager and the path once more, with every operator logged."""

from __future__ import annotations

import linecache
from dataclasses import replace
from typing import TYPE_CHECKING

from exportdiff.core.first_difference import FirstDifference, not_found
from exportdiff.judging.places.matching import match
from exportdiff.judging.places.picture import side_by_side
from exportdiff.judging.places.search import (
    Parting,
    first_moved,
    first_of_all,
    first_without_gradient,
    search,
)
from exportdiff.judging.places.subject import subject
from exportdiff.runtime.observing.aliasing import OUTPUT
from exportdiff.runtime.observing.logged_values import in_words
from exportdiff.runtime.paths import same_operators
from exportdiff.runtime.paths.backends import product, runner_of
from exportdiff.runtime.paths.run.logged_sides import log_eager, log_path

if TYPE_CHECKING:
    from exportdiff.core.case import Case
    from exportdiff.core.finding import Finding
    from exportdiff.core.path import Path
    from exportdiff.judging.places.matching import Matching
    from exportdiff.judging.places.subject import Subject
    from exportdiff.runtime.observing.code_places import CodePlace
    from exportdiff.runtime.observing.logged_values import LoggedValue
    from exportdiff.runtime.observing.operator_log import LogEntry
    from exportdiff.runtime.paths.run.logged import LoggedRun


def in_machine_code(product: str, *, raises: bool = False) -> str:
    """Say where the search ends. ``product``: ``torch``, which compiles graphs, or a backend."""
    right, wrong = "graphs that are compiled are", "their machine code"
    if product != "torch":
        right, wrong = "exported program is", f"what {product} makes of it"
    what = "error" if raises else "difference"
    return f"the {right} right. The {what} comes from {wrong}, and the search goes no further"


_NOT_LOGGED: dict[str, str] = {
    "file": "the file runs outside of torch, where operators are not logged",
    "model": "the backend exports by itself, and its operators are not logged",
}
"""By what a runner starts from."""


def first_difference(case: Case, finding: Finding) -> FirstDifference:
    """Return where the path of a finding first differs from eager, or why that is not known."""
    wanted = subject(finding.evidence)
    if wanted.why_not:
        return not_found(wanted.why_not)
    if wanted.module is not None:
        return FirstDifference(module=wanted.module)
    if (start := runner_of(finding.path).starts_from) != "export":
        return not_found(_NOT_LOGGED[start])
    path = _interpreted(finding.path)
    machine_code = path != finding.path
    eager = log_eager(case, path, wanted.wanted)
    here = log_path(case, path, wanted.wanted)
    same = same_operators(path, case.program)
    matching = match(
        eager.events,
        here.events,
        same_operators=same,
        stride=wanted.aspect == "stride",
        of_memory=wanted.aspect == "memory",
        first_names=eager.first,
    )
    parting: Parting | None = None
    if here.stage is not None or (wanted.raises and not machine_code):
        place = _where_raised(eager, here)
    else:
        if not wanted.raises:
            parting = _parting(eager, here, matching, wanted, every=not machine_code)
        if parting is None and not machine_code and any(name.startswith(OUTPUT) for name in wanted.names):
            parting = Parting(None, None)
        place = _place(parting, wanted, eager, compiled_by=product(finding.path.mode) if machine_code else "")
    if place.why_not:
        return place
    recorded = side_by_side(eager, here, matching, parting, place, same_operators=same)
    return replace(place, recorded=recorded)


def _place(
    parting: Parting | None, wanted: Subject, eager: LoggedRun, *, compiled_by: str
) -> FirstDifference:
    if parting is None:
        same = "each operator gives what it gives in eager"
        return not_found(in_machine_code(compiled_by, raises=wanted.raises) if compiled_by else same)
    if parting.eager is None and parting.here is None:
        return _returned(parting, wanted.call, eager)
    return _described(parting, eager)


def _interpreted(path: Path) -> Path:
    """Return the path itself, or for machine code one that runs the same graphs operator by operator."""
    by = runner_of(path).interpreted
    return path if by is None else replace(path, mode=by[0], runner=by[1])


def _parting(
    eager: LoggedRun, here: LoggedRun, matching: Matching, wanted: Subject, *, every: bool
) -> Parting | None:
    """Search for the first difference. ``every``: these runs show the finding, so there must be one."""
    if wanted.aspect == "module":
        return first_moved(eager.events, matching)
    if wanted.aspect == "requires-grad" or wanted.wanted.backward:
        flow = first_without_gradient(eager.events, matching, eager.requires_grad, here.requires_grad)
        if flow is not None:
            return flow
    targets = [e for e in eager.events if e.name in wanted.names and e.call == wanted.call]
    if not every:  # what is right in the graphs is wrong in their machine code
        targets = [event for event in targets if event.index not in matching.same]
    found = search(eager.events, here.events, matching, targets)
    return found or (first_of_all(eager.events, here.events, matching) if every else None)


def _where_raised(eager: LoggedRun, here: LoggedRun) -> FirstDifference:
    side = here if here.stage is not None else eager
    if side.stage is None:
        return not_found("nothing raises when the operators are logged")
    if side.raised_at.module is None and not side.raised_at.file:
        return not_found(f"torch does not say which line of the model it was working on ({side.stage})")
    raised = {"here": side.raised} if side is here else {"eager": side.raised}
    return _at(side.raised_at, side.call, eager, **raised)


def _described(parting: Parting, eager: LoggedRun) -> FirstDifference:
    event = parting.eager or parting.here
    assert event is not None, "a difference is on one side at least"
    if parting.returned and event.call in eager.returned:
        return _returned(parting, event.call, eager)
    ours, theirs = _values(parting)
    return _at(event.place, event.call, eager, operator=event.short_operator, eager=ours, here=theirs)


def _returned(parting: Parting, call: int, eager: LoggedRun) -> FirstDifference:
    """Say that the statement that returns the output is the first difference."""
    if call not in eager.returned:
        return not_found("each operator gives what it gives in eager")
    ours, theirs = _values(parting) if parting.returned else ("", "")
    return _at(eager.returned[call], call, eager, eager=ours, here=theirs)


def _values(parting: Parting) -> tuple[str, str]:
    if parting.requires_grad is not None:
        return f"requires_grad {parting.requires_grad}", str(not parting.requires_grad)
    ours, theirs = parting.eager, parting.written or parting.here
    pairs = zip(_results(ours), _results(theirs), strict=False)
    one, two = next((in_words(a, b) for a, b in pairs if not a.equals(b)), ("", ""))
    if not one:
        return _alone(ours), _alone(theirs)
    if parting.eager is not None and parting.here is not None and not parting.written:
        other = parting.here
        if other.operator != parting.eager.operator:
            two = f"{two} (by {other.short_operator})"
    return one, two


def _results(event: LogEntry | None) -> tuple[LoggedValue, ...]:
    return event.values if event is not None else ()


def _alone(event: LogEntry | None) -> str:
    if event is None:
        return "not called"
    return str(event.values[0]) if event.values else "called"


def _at(
    place: CodePlace,
    call: int | None,
    reference: LoggedRun,
    *,
    operator: str = "",
    eager: str = "",
    here: str = "",
) -> FirstDifference:
    module = place.module
    if module is not None and reference.first is not None:
        module = reference.first.get(module, module)
    code = linecache.getline(place.file, place.line).strip() if place.file and place.line else ""
    return FirstDifference(
        call, module, place.module_call, operator, place.file, place.line, code, eager, here
    )
