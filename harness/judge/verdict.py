"""One Case over all paths and checks: the Verdict."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch

from harness.checks import CHECKS, DYNAMIC, STATIC
from harness.findings import Finding
from harness.inputs.copies import CALLS
from harness.judge.documented_limits import limit_for
from harness.judge.documented_refusals import refusal
from harness.judge.precision import in_float64, with_exact_values
from harness.observe.observation import CompiledObservation, PipelinedObservation
from harness.observe.tensors import TensorSnapshot
from harness.paths import Stopwatch, applies, observe_eager, observe_paths, reference_case, variation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from harness.case import Case
    from harness.checks import Difference
    from harness.observe.observation import EagerObservation, Observation
    from harness.observe.tensors import Leaf, Tree
    from harness.path import Path

Status = Literal["ok", "unsupported", "finding"]


@dataclass(frozen=True)
class PathResult:
    """How one path fared."""

    path: str
    status: Status
    reason: str = ""
    """For ``unsupported``: the short name of the refusal."""
    excused: tuple[str, ...] = ()
    """Documented limits (harness/judge/documented_limits.py) that differences of this path are."""


@dataclass(frozen=True)
class Verdict:
    """What the harness has to say about one case. Plain data."""

    valid: bool
    invalid_reason: str
    paths: tuple[PathResult, ...]
    findings: tuple[Finding, ...]
    torch_seconds: float
    """Time spent inside torch: exporting, lowering, running."""


def judge(case: Case, paths: Sequence[Path], checks: Sequence[str] | None = None) -> Verdict:
    """Run ``case`` eagerly and along every path, and compare what was observed.

    Raises ValueError for an unknown check, and whatever building the case raises.
    """
    for name in checks or ():
        if name not in CHECKS:
            raise ValueError(f"no check {name!r}; there are {', '.join(CHECKS)}")
    chosen = frozenset(CHECKS if checks is None else checks)
    clock = Stopwatch()
    paths = [path for path in paths if applies(case, path)]
    references: dict[tuple[str, ...], EagerObservation] = {}
    results: list[PathResult] = []
    found: list[list[Finding]] = []
    told: set[tuple[str, ...]] = set()
    with _quiet(), _own_random_numbers():
        for path in {variation(path): path for path in paths}.values():
            varied = reference_case(case, path)
            modes = {each.mode for each in paths if variation(each) == variation(path)}
            reference = observe_eager(varied, path.device, clock, modes)
            reason = _invalid(reference) or _unstable(reference, observe_eager(varied, path.device, clock))
            if reason and not path.transforms:
                return Verdict(False, reason, (), (), clock.seconds)
            if not reason:
                references[variation(path)] = _judgeable(reference)
        paths = [path for path in paths if variation(path) in references]
        for observation in observe_paths(case, paths, clock):
            path = observation.path
            excused: set[str] = set()
            below: set[tuple[str, ...]] = set()
            reference = references[variation(path)]
            if isinstance(observation, CompiledObservation | PipelinedObservation):
                reference = _judgeable(observation.reference)
            findings = _findings(reference, observation, path, chosen, excused, below)
            if not observation.same_operators and any("value" in each.signature for each in findings):
                wide = in_float64(reference_case(case, path))
                exact = with_exact_values(reference, observe_eager(wide, path.device, clock, {path.mode}))
                below.clear()
                findings = _findings(exact, observation, path, chosen, excused, below)
            told |= {(path.mode, *signature) for signature in below}
            results.append(replace(_result(observation, findings), excused=tuple(sorted(excused))))
            found.append(findings)
    # What is told below one path's finding is none of its own on another path of the same export.
    left = [[each for each in findings if (each.mode, *each.signature) not in told] for findings in found]
    return Verdict(True, "", tuple(results), _merged(left), clock.seconds)


def _judgeable(reference: EagerObservation) -> EagerObservation:
    if reference.first_call_only:
        # Export documents that it fixes Python values as they are: later calls prove nothing.
        return replace(reference, calls=reference.calls[:1], edited=None, mutation_probes=(), deviations=())
    return reference


def _invalid(reference: EagerObservation) -> str:
    if reference.invalid:
        return reference.invalid
    for number, call in enumerate(reference.calls):
        if call.failure is not None and call.probe:
            return ""  # it is the last one, and every path has to raise as well
        if call.failure is not None:
            first_line = call.failure.message.strip().partition("\n")[0]
            return f"eager raised {call.failure.name} in {_called(number)}: {first_line}"
        leaves = [leaf.value for leaf in (*call.inputs.leaves, *_output_leaves(call.outputs))]
        for value in (*leaves, *call.state.tensors.values()):
            if isinstance(value, TensorSnapshot) and not _finite(value):
                return f"eager produced a value that is not finite in {_called(number)}"
    return ""


def _called(number: int) -> str:
    return f"call {number}" if number < CALLS else f"probe {number - CALLS}"


def _output_leaves(outputs: Tree | None) -> tuple[Leaf, ...]:
    return () if outputs is None else outputs.leaves


def _finite(tensor: TensorSnapshot) -> bool:
    values = tensor.values
    return values is None or values.dtype.kind not in "fc" or bool(np.isfinite(values).all())


def _unstable(first: EagerObservation, second: EagerObservation) -> str:
    for check in DYNAMIC.values():
        for difference in check(first, second):
            line = difference.message.partition("\n")[0]
            return f"eager disagrees with itself on a second run: {line}"
    return ""


def _result(observation: Observation, findings: Sequence[Finding]) -> PathResult:
    if findings:
        return PathResult(str(observation.path), "finding")
    if observation.failure is not None and (rule := refusal(observation.failure)) is not None:
        return PathResult(str(observation.path), "unsupported", rule.name)
    return PathResult(str(observation.path), "ok")


def _findings(
    reference: EagerObservation,
    candidate: Observation,
    path: Path,
    chosen: frozenset[str],
    excused: set[str],
    below: set[tuple[str, ...]],
) -> list[Finding]:
    """One finding for the first of what happens call by call, and one for each static difference.

    ``excused`` gets the limits that cover something, ``below`` the signatures of what may be the cause of
    another finding and is told with it.
    """
    if candidate.failure is not None and refusal(candidate.failure) is not None:
        # Refusing is fine; leaving a mess behind is not.
        candidate = replace(candidate, failure=None)
    static: list[tuple[str, Difference]] = []
    dynamic: list[tuple[str, Difference]] = []
    for name, check in CHECKS.items():
        if name in chosen:
            for difference in check(reference, candidate):
                if (limit := limit_for(name, difference, reference, candidate)) is not None:
                    excused.add(limit.name)
                    continue
                alone = difference.alone or (name in STATIC and not difference.follows)
                (static if alone else dynamic).append((name, difference))
    # Within a call the order of the checks stays, but for what is weak.
    dynamic.sort(key=lambda each: _order(each[1]))
    if dynamic and dynamic[0][1].kind == "crash":
        # A name that is gone may well be why: the exception tells more, and comes first.
        dynamic += [each for each in static if each[1].alone]
        static = [each for each in static if not each[1].alone]
    probes = frozenset(number for number, call in enumerate(candidate.calls) if call.probe)
    likely = [each for each in dynamic[1:] if _may_follow(each[1])]
    below.update(
        _finding(*each, path, probes).signature for each in likely if each[1].what != dynamic[0][1].what
    )
    # First what may be why.
    rest = likely + [each for each in dynamic[1:] if each not in likely]
    also = tuple(f"{name}: {_line(each)}" for name, each in (*dynamic[:1], *rest))
    findings = [_finding(*each, path, probes) for each in static]
    cause = next((n for n, each in enumerate(static) if _explains(each[1], dynamic)), None)
    if cause is not None:
        findings[cause] = replace(findings[cause], also=also[:_ALSO])
    elif dynamic:
        findings.insert(0, replace(_finding(*dynamic[0], path, probes), also=also[1 : 1 + _ALSO]))
    return list(_once_each(findings))


def _order(difference: Difference) -> tuple[bool, int, bool]:
    """Sort what shows in no call first, but last if it may follow from what shows in one."""
    call = -1 if difference.call is None else difference.call
    return _may_follow(difference), call, difference.weak


def _may_follow(difference: Difference) -> bool:
    return difference.call is None and difference.follows


_ALSO = 6
"""How many consequences one finding lists."""


def _explains(static: Difference, dynamic: Sequence[tuple[str, Difference]]) -> bool:
    """Whether a difference that holds without a call is plainly the cause of the first that does.

    State that export changed starts out wrong; state whose memory is no longer shared moves apart.
    """
    if not dynamic:
        return False
    name, first = dynamic[0]
    if first.kind != "mismatch" or _may_follow(first):
        return False
    if first.call is None:
        return static.spoils == "start"
    return static.spoils == "calls" or (
        static.spoils == "values" and ("value" in first.what or name == "aliasing")
    )


def _line(difference: Difference) -> str:
    return difference.message.partition("\n")[0]


def _finding(name: str, difference: Difference, path: Path, probes: frozenset[int]) -> Finding:
    probe = difference.call in probes
    lines = difference.message.splitlines()[: 10 - probe]
    if probe:
        lines.append(f"call {difference.call} is a probe: its sizes are not those of the example")
    return Finding(
        path=str(path),
        mode=path.mode,
        transforms=path.transforms,
        runner=path.runner,
        device=path.device,
        check=name,
        kind=difference.kind,
        stage=difference.stage,
        # What shows with other sizes only has a cause of its own.
        signature=(name, difference.kind, *difference.what, *(("probe",) if probe else ())),
        message="\n".join(lines),
        call=difference.call,
    )


def _once_each(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Fold findings of one signature into the first."""
    kept: dict[tuple[str, ...], Finding] = {}
    for finding in findings:
        first = kept.setdefault(finding.signature, finding)
        if first is not finding:
            line = finding.message.partition("\n")[0]
            line = f"{finding.check}: {line}" if finding.path == first.path else finding.path
            kept[finding.signature] = replace(first, also=(*first.also, line)[: 2 * _ALSO])
    return iter(kept.values())


def _merged(found: Iterable[Sequence[Finding]]) -> tuple[Finding, ...]:
    """Fold equal signatures over all paths into the first path, in canonical order."""
    return tuple(_once_each(finding for findings in found for finding in findings))


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
