"""One Case over all paths and checks: the Verdict."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from exportdiff.core.finding import MESSAGE_LINES
from exportdiff.judging.causes import Judged, Seen, judged, over_paths
from exportdiff.judging.checks import CHECKS, OF_CALLS
from exportdiff.judging.checks.guards.check import CallRefused
from exportdiff.judging.declared_refusals import until_refused
from exportdiff.judging.documented_limits import Question, limit_for
from exportdiff.judging.documented_refusals import IN_CALLS, refusal
from exportdiff.judging.precision import in_float64, with_exact_values
from exportdiff.judging.results import PathResult, Unjudged, Verdict
from exportdiff.runtime.inputs.copies import CALLS
from exportdiff.runtime.observing.observation import CompiledObservation, PipelinedObservation
from exportdiff.runtime.observing.shortcuts import shortcuts
from exportdiff.runtime.observing.tensors import TensorSnapshot
from exportdiff.runtime.observing.values import parts
from exportdiff.runtime.paths import eager_key
from exportdiff.runtime.paths.run.eager import observe_eager
from exportdiff.runtime.paths.run.tree import observe_paths
from exportdiff.runtime.paths.stopwatch import Stopwatch
from exportdiff.runtime.paths.transforms.apply import applies, calls_often, reference_case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from exportdiff.core.case import Case
    from exportdiff.core.finding import Finding
    from exportdiff.core.path import Path
    from exportdiff.judging.declared_refusals import DeclaredRefusal, Refusing
    from exportdiff.judging.documented_refusals import Refusal
    from exportdiff.runtime.observing.failure import Failure
    from exportdiff.runtime.observing.observation import EagerObservation, Observation
    from exportdiff.runtime.observing.tensors import Leaf, Tree


def judge(
    case: Case,
    paths: Sequence[Path],
    checks: Sequence[str] | None = None,
    refusals: Sequence[DeclaredRefusal] = (),
    tell: Callable[[PathResult, Judged], None] = lambda result, judged: None,
) -> Verdict:
    """Run ``case`` eagerly and along every path, and compare what was observed.

    ``refusals``: what the fixes that are in place declare; a path that raises one is unsupported.
    ``tell`` gets the result of each path as soon as it is there, and its findings.
    Raises ValueError for an unknown check, and whatever building the case raises.
    """
    for name in checks or ():
        if name not in CHECKS:
            raise ValueError(f"no check {name!r}; there are {', '.join(CHECKS)}")
    chosen = frozenset(CHECKS if checks is None else checks)
    clock = Stopwatch()
    asked = paths
    unjudged = [
        Unjudged(path, "the model has dynamic shapes of its own") for path in paths if not applies(case, path)
    ]
    paths = [path for path in paths if applies(case, path)]
    references: dict[tuple[str, ...], EagerObservation] = {}
    first_call: dict[tuple[str, ...], str] = {}
    results: list[PathResult] = []
    judgements: list[tuple[Path, Judged]] = []
    with _quiet(), _own_random_numbers(), shortcuts():
        for path in {eager_key(path): path for path in paths}.values():
            varied = reference_case(case, path)
            modes = {each.mode for each in paths if eager_key(each) == eager_key(path)}
            reference = observe_eager(varied, path.device, clock, modes)
            if case.other_values and not case.finite_only and _wants_its_values(reference):
                return judge(replace(case, other_values=False), asked, checks, refusals, tell)
            reason = _invalid(reference) or _unstable(reference, observe_eager(varied, path.device, clock))
            if not reason and calls_often(path) and reference.first_call_only:
                reason = "the first call of eager changes what export fixes"
            if not reason:
                references[eager_key(path)] = _judgeable(reference)
                first_call[eager_key(path)] = _first_call_because(reference)
            elif eager_key(path) == (path.device,):  # eager as it is: no path can be compared with it
                return Verdict(False, reason, (), (), clock.seconds)
            else:
                alike = [each for each in paths if eager_key(each) == eager_key(path)]
                unjudged += [Unjudged(each, f"{reason}, {_varied(path)}") for each in alike]
        paths = [path for path in paths if eager_key(path) in references]
        for observed in observe_paths(case, paths, clock):
            observation, refused = until_refused(observed, (*refusals, *IN_CALLS))
            path = observation.path
            if case.may_ask:
                observation = replace(observation, same_operators=False)
            reference = references[eager_key(path)]
            because = first_call[eager_key(path)]
            if isinstance(observation, CompiledObservation | PipelinedObservation):
                reference = _judgeable(observation.reference)
                because = _first_call_because(observation.reference)
            judgement, excused = _judge_path(reference, observation, chosen)
            if not observation.same_operators and any(map(_is_about_a_value, judgement.findings)):
                wide = in_float64(reference_case(case, path))
                exact = with_exact_values(reference, observe_eager(wide, path.device, clock, {path.mode}))
                judgement, more = _judge_path(exact, observation, chosen)
                excused |= more
            result = _result(observation, judgement.findings, excused, refused)
            if result.status != "unsupported":
                result = replace(result, first_call_because=because)
            results.append(result)
            judgements.append((path, judgement))
            tell(results[-1], judgement)
    return Verdict(True, "", tuple(results), over_paths(judgements), clock.seconds, tuple(unjudged))


def _varied(path: Path) -> str:
    """Say how the eager model differs from the user's own."""
    return f"with {' and '.join(eager_key(path)[1:])} applied to the eager model"


def _is_about_a_value(finding: Finding) -> bool:
    evidence = finding.evidence
    refused = isinstance(evidence, CallRefused) and evidence.misfit == "value"
    return refused or evidence.aspect == "value"


def _first_call_because(reference: EagerObservation) -> str:
    """Return why later calls prove nothing; empty: they do."""
    if reference.first_call_only:  # export documents that it fixes these as they are
        return "the first call of eager changes Python values, modules or the layout of the state"
    for number, call in enumerate(reference.calls):
        if number and call.failure is not None and not call.probe:
            return f"eager raises {call.failure.name} in {_called(number)}"
    return ""


def _judgeable(reference: EagerObservation) -> EagerObservation:
    if _first_call_because(reference):
        return replace(
            reference,
            calls=reference.calls[:1],
            edited=None,
            mutation_probes=(),
            deviations=(),
            small_calls=(),
        )
    return reference


def _invalid(reference: EagerObservation) -> str:
    if reference.invalid:
        return reference.invalid
    for number, call in enumerate(reference.calls):
        if call.failure is not None and call.probe:
            return ""  # it is the last one, and every path has to raise as well
        if call.failure is not None and number and not reference.finite_only:
            return ""  # a user's own model may refuse to be called again: its first call is judged alone
        if call.failure is not None:
            first_line = call.failure.message.strip().partition("\n")[0]
            return f"eager raised {call.failure.name} in {_called(number)}: {first_line}"
        if not reference.finite_only:
            continue
        leaves = [leaf.value for leaf in (*call.inputs.leaves, *_output_leaves(call.outputs))]
        for value in (*leaves, *call.state.tensors.values()):
            if isinstance(value, TensorSnapshot) and not _finite(value):
                return f"eager produced a value that is not finite in {_called(number)}"
    return ""


def _wants_its_values(reference: EagerObservation) -> bool:
    """Whether a user's model fails on inputs with other values only, as nn.BCELoss does outside of [0, 1]."""
    first, *others = reference.calls
    return first.failure is None and any(call.failure is not None and not call.probe for call in others)


def _called(number: int) -> str:
    return f"call {number}" if number < CALLS else f"probe {number - CALLS}"


def _output_leaves(outputs: Tree | None) -> tuple[Leaf, ...]:
    return () if outputs is None else outputs.leaves


def _finite(tensor: TensorSnapshot) -> bool:
    values = tensor.values
    if values is None or values.dtype.kind not in "fc":
        return True
    return all(bool(np.isfinite(part).all()) for _, (part,) in parts(values))


def _unstable(first: EagerObservation, second: EagerObservation) -> str:
    for check in OF_CALLS.values():
        for evidence in check(first, second):
            return f"eager disagrees with itself on a second run: {evidence.headline}"
    return ""


def _result(
    observation: Observation,
    findings: Sequence[Finding],
    excused: set[str],
    refused: Refusing | Refusal | None,
) -> PathResult:
    limits = tuple(sorted(excused))
    if refused is None and observation.failure is not None:
        refused = refusal(observation.failure)
    name = refused.name if refused else ""
    if findings:
        headline = findings[0].evidence.headline
        return PathResult(observation.path, "finding", "", limits, headline, refused=name)
    if refused is not None:
        said = _first_lines(observation.failure)
        return PathResult(observation.path, "unsupported", name, limits, said)
    return PathResult(observation.path, "ok", excused=limits)


def _first_lines(failure: Failure | None) -> str:
    """Return what torch said, without the pages that follow in some messages."""
    if failure is None:
        return ""
    lines = [line for line in f"{failure.name}: {failure.message.strip()}".splitlines() if line.strip()]
    return "\n".join(lines[:MESSAGE_LINES])


def _judge_path(
    reference: EagerObservation, candidate: Observation, chosen: frozenset[str]
) -> tuple[Judged, set[str]]:
    """Return the findings of one path, and the names of the documented limits that excuse differences."""
    if candidate.failure is not None and refusal(candidate.failure) is not None:
        # Export may refuse a model, but must not change anything while it does.
        candidate = replace(candidate, failure=None)
    excused: set[str] = set()
    seen: list[Seen] = []
    for name, check in CHECKS.items():
        for evidence in check(reference, candidate) if name in chosen else ():
            limit = limit_for(Question(evidence, reference, candidate))
            if limit is None:
                seen.append(Seen(name, evidence))
            else:
                excused.add(limit.name)
    probes = frozenset(number for number, call in enumerate(candidate.calls) if call.probe)
    probes |= {each.number for each in candidate.small_calls}
    return judged(seen, candidate.path, probes), excused


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep what torch prints, warns and logs off the console; formatting it costs time as well."""
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)


@contextlib.contextmanager
def _own_random_numbers() -> Iterator[None]:
    """Seeding every call must not disturb whoever called."""
    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() else ()
    with torch.random.fork_rng(devices=devices):
        yield
