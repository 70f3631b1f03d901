"""Judges one case: runs it eagerly and along every path, and compares what was observed."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from exportdiff.judging.causes import Difference, over_paths, path_findings
from exportdiff.judging.checks import CHECKS, OF_CALLS
from exportdiff.judging.checks.compare.leaves import compare_leaf
from exportdiff.judging.checks.guards.check import CallRefused
from exportdiff.judging.exemptions.backend import backend_of
from exportdiff.judging.exemptions.find_limit import limit_for
from exportdiff.judging.exemptions.limits import Comparison
from exportdiff.judging.exemptions.refusal import find_refusal
from exportdiff.judging.exemptions.refusals import REFUSALS
from exportdiff.judging.granted import with_tolerance
from exportdiff.judging.outcome import Excused, path_result
from exportdiff.judging.precision import in_float64, with_exact_values
from exportdiff.judging.probes import probe_mistake
from exportdiff.judging.promises import as_promised, stops_because
from exportdiff.judging.results import Unjudged, Verdict
from exportdiff.judging.surroundings import own_random_numbers, quiet
from exportdiff.judging.unreadable import require_readable
from exportdiff.runtime.inputs.copies import CALLS
from exportdiff.runtime.observing.faster_torch import faster_torch
from exportdiff.runtime.observing.observation import (
    CompiledObservation,
    ExportedObservation,
    NotObserved,
    PipelinedObservation,
)
from exportdiff.runtime.observing.parts import CannotObserveError
from exportdiff.runtime.observing.rounding_noise import called_with_noise
from exportdiff.runtime.observing.tensors import TensorSnapshot
from exportdiff.runtime.observing.values import parts
from exportdiff.runtime.paths import eager_key, export_key
from exportdiff.runtime.paths.run.by_export import observe_paths
from exportdiff.runtime.paths.run.eager import observe_eager
from exportdiff.runtime.paths.stopwatch import Stopwatch
from exportdiff.runtime.paths.transforms.apply import (
    applies,
    called_in_settings,
    calls_often,
    reference_case,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from exportdiff.core.case import Case
    from exportdiff.core.finding import Finding
    from exportdiff.core.path import Path
    from exportdiff.judging.causes import PathFindings
    from exportdiff.judging.exemptions.refusal import FixRefusal, Refusal
    from exportdiff.judging.results import PathResult
    from exportdiff.runtime.observing.failure import Failure
    from exportdiff.runtime.observing.observation import EagerObservation, Observation
    from exportdiff.runtime.observing.tensors import Leaf, Tree


def judge(
    case: Case,
    paths: Sequence[Path],
    checks: Sequence[str] | None = None,
    refusals: Sequence[FixRefusal] = (),
    on_path: Callable[[PathResult, PathFindings], None] = lambda result, found: None,
    *,
    once: bool = False,
) -> Verdict:
    """Run ``case`` eagerly and along every path, and compare what was observed.

    ``refusals``: what the installed fixes declare; a path that raises one is unsupported. ``on_path`` gets
    the result and the findings of each path as soon as they are there. ``once``: if torch refuses to export
    the case, the other paths that share this export are not judged.

    Raises ValueError for an unknown check, and whatever building the case raises.
    """
    for name in checks or ():
        if name not in CHECKS:
            raise ValueError(f"no check {name!r}; there are {', '.join(CHECKS)}")
    chosen = frozenset(CHECKS if checks is None else checks)
    with quiet(), own_random_numbers(), faster_torch():
        with contextlib.suppress(_OtherValuesFailError):
            return _Judgement(case, paths, chosen, refusals, once=once).verdict(on_path)
        case = replace(case, other_values=False)
        return _Judgement(case, paths, chosen, refusals, once=once).verdict(on_path)


ROUNDINGS = 9
"""How often eager runs as if its operators rounded differently."""


class _OtherValuesFailError(Exception):
    """The user's model accepts only values like those of the example."""


@dataclass(frozen=True)
class _Reference:
    """A run of eager, as far as paths can be compared with it."""

    observation: EagerObservation
    first_call_because: str
    """Why only the first call is compared; empty if all calls are."""

    @classmethod
    def of(cls, eager: EagerObservation) -> _Reference:
        """Leave out the calls that prove nothing."""
        because = _first_call_because(eager)
        if because:
            eager = replace(
                eager,
                calls=eager.calls[:1],
                edited=None,
                mutation_probes=(),
                deviations=(),
                small_calls=(),
            )
        return cls(eager, because)


class _Judgement:
    """The steps of judging one case; ``verdict`` takes them in order."""

    def __init__(
        self,
        case: Case,
        paths: Sequence[Path],
        checks: frozenset[str],
        refusals: Sequence[FixRefusal],
        *,
        once: bool,
    ) -> None:
        self._case = case
        self._once = once
        self._refused: set[tuple[str, ...]] = set()
        """The export keys of the exports that torch refused."""
        self._checks = checks
        self._refusals: tuple[Refusal, ...] = (*refusals, *REFUSALS)
        self._clock = Stopwatch()
        self._paths = [path for path in paths if applies(case, path)]
        self._unjudged = [
            Unjudged(path, "the model has its own dynamic shapes")
            for path in paths
            if not applies(case, path)
        ]
        self._references: dict[tuple[str, ...], _Reference] = {}
        """By eager key."""

    def verdict(self, on_path: Callable[[PathResult, PathFindings], None]) -> Verdict:
        """Run eager, then each path; return the verdict."""
        mistake = probe_mistake(self._case, self._paths)
        if mistake:
            return Verdict(False, mistake, (), (), self._clock.seconds)
        for path in {eager_key(path): path for path in self._paths}.values():
            try:
                reason = self._run_eager(path)
            except CannotObserveError as error:
                self._unjudged += [Unjudged(each, error.reason) for each in self._alike(path)]
                continue
            if reason and eager_key(path) == (path.device,):  # plain eager: no path can be compared with it
                return Verdict(False, reason, (), (), self._clock.seconds)
            if reason:
                varied = f"with {' and '.join(eager_key(path)[1:])} applied to the eager model"
                self._unjudged += [Unjudged(each, f"{reason}, {varied}") for each in self._alike(path)]
        results: list[PathResult] = []
        found: list[tuple[Path, PathFindings]] = []
        paths = [path for path in self._paths if eager_key(path) in self._references]
        reading = [path for path in paths if self._reads_settings(path)]
        self._unjudged += [Unjudged(path, "eager returns other results in its settings") for path in reading]
        paths = [path for path in paths if path not in reading]
        for observed in observe_paths(self._case, paths, self._clock):
            if isinstance(observed, NotObserved):
                self._unjudged.append(Unjudged(observed.path, observed.reason))
                continue
            result, findings = self._judge_path(observed)
            if self._repeats_refusal(observed, result):
                self._unjudged.append(Unjudged(observed.path, f"torch refuses this export: {result.reason}"))
                continue
            results.append(result)
            found.append((observed.path, findings))
            on_path(result, findings)
        return Verdict(
            True, "", tuple(results), over_paths(found), self._clock.seconds, tuple(self._unjudged)
        )

    def _repeats_refusal(self, observed: Observation, result: PathResult) -> bool:
        """Whether the path shows nothing but a refusal of an export that an earlier path has shown."""
        failure = observed.failure
        if not self._once or result.status != "unsupported" or failure is None or failure.stage != "export":
            return False
        key = export_key(observed.path)
        repeats = key in self._refused
        self._refused.add(key)
        return repeats

    def _alike(self, path: Path) -> list[Path]:
        """Return the paths that are compared with the same run of eager."""
        return [each for each in self._paths if eager_key(each) == eager_key(path)]

    def _run_eager(self, path: Path) -> str:
        """Run eager for all paths like this one; return why they cannot be compared with it, or nothing."""
        case = reference_case(self._case, path)
        modes = {each.mode for each in self._alike(path)}
        called = called_in_settings(path, by_eager=True)
        eager = observe_eager(case, path.device, self._clock, modes, called)
        if self._case.other_values and not self._case.finite_only and _needs_given_values(eager):
            raise _OtherValuesFailError
        require_readable(eager)
        own = case.own_probes and case.probes is not None and case is self._case
        reason = _invalid(eager, case.build().order if own else ())
        again = partial(observe_eager, case, path.device, self._clock, run=called)
        if not reason and self._needs_python_values(eager, again):
            eager = replace(eager, first_call_only=True)
        backwards = not reason and _leaves_tensors(eager)
        if not reason:
            reason = _unstable(eager, again(backwards=backwards))
        if reason and backwards:  # either the order matters, or eager disagrees with itself
            reason = _unstable(eager, again())
            eager = replace(eager, order_matters=True, first_call_only=True)
        if not reason and calls_often(path) and eager.first_call_only:
            reason = "the first call of eager changes what export fixes"
        if not reason:
            self._references[eager_key(path)] = _Reference.of(eager)
        return reason

    def _needs_python_values(self, eager: EagerObservation, again: Callable[..., EagerObservation]) -> bool:
        """Whether a result of eager depends on Python values outside of the model that its calls change."""
        if eager.first_call_only or not eager.python_values:
            return False
        if eager.lasting:
            return True
        return bool(_unstable(eager, again(fixed=True)))

    def _reads_settings(self, path: Path) -> bool:
        """Whether eager returns other results in settings of the path that should change none."""
        called = called_in_settings(path, by_eager=False)
        if called is None:
            return False
        inside = observe_eager(reference_case(self._case, path), path.device, self._clock, run=called)
        outside = self._references[eager_key(path)].observation
        found = (evidence for check in OF_CALLS.values() for evidence in check(outside, inside))
        return any(evidence.aspect != "requires-grad" for evidence in found)

    def _judge_path(self, observed: Observation) -> tuple[PathResult, PathFindings]:
        """Compare one path with eager."""
        of_backend = backend_of(observed.path)
        more_refusals = () if of_backend is None else of_backend.refusals
        refused = find_refusal(observed, (*self._refusals, *more_refusals))
        if refused is not None:
            observed = refused.until
        path = observed.path
        reference = self._references[eager_key(path)]
        if self._case.may_ask and reference.observation.asks:
            observed = replace(observed, same_operators=False)
        if isinstance(observed, CompiledObservation | PipelinedObservation):
            reference = _Reference.of(observed.reference)
        findings, excused = self._compare(reference.observation, observed)
        decides = self._case.tolerance is None
        if decides and not observed.same_operators and any(map(_is_about_a_value, findings.findings)):
            wide = in_float64(reference_case(self._case, path))
            called = called_in_settings(path, by_eager=True)
            exact = observe_eager(wide, path.device, self._clock, {path.mode}, called)
            eager = with_exact_values(reference.observation, exact)
            findings, more = self._compare(eager, observed)
            excused += more
            if of_backend is not None and any(map(_is_about_a_value, findings.findings)):
                eager = replace(eager, rounded=self._rounded(path))
                findings, excused = self._compare(eager, observed)
        because = reference.first_call_because or stops_because(reference.observation, observed)
        result = path_result(observed, refused, findings.findings, excused, because)
        if isinstance(observed, ExportedObservation):
            result = replace(result, sizes=observed.sizes)
        return result, findings

    def _rounded(self, path: Path) -> tuple[EagerObservation, ...]:
        """Run eager as if its operators rounded differently, in several ways."""
        case = reference_case(self._case, path)
        return tuple(
            observe_eager(case, path.device, self._clock, {path.mode}, called_with_noise(seed))
            for seed in range(ROUNDINGS)
        )

    def _compare(
        self, reference: EagerObservation, candidate: Observation
    ) -> tuple[PathFindings, list[Excused]]:
        """Return the findings of one path, and the differences that documented limits excuse."""
        candidate = as_promised(reference, candidate)
        if self._case.tolerance is not None:
            reference = with_tolerance(reference, self._case.tolerance)
        excused: list[Excused] = []
        differences: list[Difference] = []
        for name, check in CHECKS.items():
            for evidence in check(reference, candidate) if name in self._checks else ():
                limit = limit_for(Comparison(evidence, reference, candidate))
                if limit is None:
                    differences.append(Difference(name, evidence))
                else:
                    excused.append(Excused(limit.name, evidence))
        probes = frozenset(number for number, call in enumerate(candidate.calls) if call.probe)
        probes |= {each.number for each in candidate.small_calls}
        draws = self._references[eager_key(candidate.path)].observation.draws
        return path_findings(differences, candidate.path, probes, draws), excused


def _is_about_a_value(finding: Finding) -> bool:
    evidence = finding.evidence
    refused = isinstance(evidence, CallRefused) and evidence.misfit == "value"
    return refused or evidence.aspect == "value"


def _first_call_because(reference: EagerObservation) -> str:
    """Return why later calls prove nothing; empty if they do."""
    if reference.order_matters:
        return "results of eager depend on the calls before, though its tensors stay as they are"
    if reference.first_call_only and reference.python_values:
        names = ", ".join(sorted(reference.python_values)[:3])
        return f"calls of eager change {names}, which export fixes as they are (documented)"
    if reference.first_call_only:  # export documents that it fixes these as they are
        return (
            "the first call of eager changes Python values, modules or the layout of the state, which export "
            "fixes as they are (documented)"
        )
    for number, call in enumerate(reference.calls):
        if number and call.failure is not None and not call.probe:
            return f"eager raises {call.failure.name} in {_called(number)}"
    return ""


def _invalid(reference: EagerObservation, order: Sequence[int]) -> str:
    """Return why a case is invalid. ``order``: the numbers of the probes, if eager must not raise there."""
    if reference.invalid:
        return reference.invalid
    for number, call in enumerate(reference.calls):
        if call.failure is not None and call.probe:
            # It is the last call. In a drawn program, every path has to raise too.
            return _raised(number, call.failure, order) if order else ""
        if call.failure is not None and number and not reference.finite_only:
            return ""  # a user's own model may refuse to be called again: its first call is judged alone
        if call.failure is not None:
            return _raised(number, call.failure, order)
        if not reference.finite_only:
            continue
        leaves = [leaf.value for leaf in (*call.inputs.leaves, *_output_leaves(call.outputs))]
        for value in (*leaves, *call.state.tensors.values()):
            if isinstance(value, TensorSnapshot) and not _finite(value):
                return f"eager produced a value that is not finite in {_called(number)}"
    for each in reference.small_calls if order else ():
        if each.call.failure is not None:
            return _raised(each.number, each.call.failure, order)
    return ""


def _raised(number: int, failure: Failure, order: Sequence[int]) -> str:
    first_line = failure.message.strip().partition("\n")[0]
    where = f"probe {order[number - CALLS]}" if number >= CALLS and order else _called(number)
    line = f" ({failure.line})" if failure.line else ""
    return f"eager raised {failure.name} in {where}: {first_line}{line}"


def _needs_given_values(reference: EagerObservation) -> bool:
    """Whether a user's model fails only on inputs with other values, as nn.BCELoss does outside of [0, 1]."""
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


def _leaves_tensors(eager: EagerObservation) -> bool:
    """Whether no call changes the state or raises, so that the calls may be made in any order."""
    before = eager.before
    if before is None or eager.first_call_only or any(call.failure is not None for call in eager.calls):
        return False
    states = [call.state for call in eager.calls]
    return all(
        each.names == before.names
        and all(compare_leaf(before.tensors[name], each.tensors[name]) is None for name in before.tensors)
        and all(
            compare_leaf(before.constants[name], each.constants[name]) is None for name in before.constants
        )
        for each in states
    )


def _unstable(first: EagerObservation, second: EagerObservation) -> str:
    for check in OF_CALLS.values():
        for evidence in check(first, second):
            return f"eager disagrees with itself on a second run: {evidence.headline}"
    return ""
