"""What a worker process does: draw and render a program, judge it, sort its findings into known and new."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from exportdiff.core.case import case_from_source
from exportdiff.core.programs import DEFAULT_PROFILE, program_source
from exportdiff.fuzzing.around.drawing import around_program
from exportdiff.fuzzing.campaign.own_errors import place_of
from exportdiff.fuzzing.campaign.schedule import paths_for
from exportdiff.fuzzing.campaign.settings import KNOWN_EVERY
from exportdiff.judging.exemptions.refusal import fix_refusals
from exportdiff.judging.judge_case import judge_case
from exportdiff.known.attribution.attribute import explain, on_first_paths
from exportdiff.known.attribution.classification import Classification
from exportdiff.known.attribution.knowledge import knowledge
from exportdiff.known.attribution.residual import ResidualFinding, find_exposing_fixes, sort_residual_findings
from exportdiff.known.corpus.fix_trials import cache_folder
from exportdiff.runtime.observing.between_programs import clean_state
from exportdiff.runtime.patching.fixes import blamed
from exportdiff.runtime.patching.installed import install, without_fixes
from exportdiff.runtime.paths import cost

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Mapping, Sequence

    from exportdiff.core.case import Case
    from exportdiff.core.finding import Finding
    from exportdiff.core.path import Path
    from exportdiff.fuzzing.around.base import Around
    from exportdiff.judging.results import Verdict
    from exportdiff.known.attribution.classification import Kind
    from exportdiff.known.attribution.explained import ExplainedFinding
    from exportdiff.known.attribution.knowledge import Knowledge


SAMPLE_JUDGEMENTS = 12
"""So often a sampled program may be judged again to find out which known bugs it shows."""
SAMPLE_COST = 6000.0
"""Milliseconds, by the usual cost of the paths, that this may take. On paths that compile with Inductor it is
one judgement, with the likeliest fix; what that does not mend stays unresolved."""


@dataclass(frozen=True)
class Job:
    """What all examples of a campaign have in common."""

    seed: int
    paths: tuple[Path, ...]
    """Empty: run eager alone, to see whether it survives."""
    profile: str = DEFAULT_PROFILE
    corpora: pathlib.Path | None = None
    """The corpus of the known bugs; None: every finding is new."""
    plain: bool = False
    """Whether to judge plain torch, and not torch with the fixes of the corpus."""
    known_every: int = KNOWN_EVERY
    """On one program in so many, find out which known bugs plain torch shows; 0: never."""
    compares: bool = False
    """Whether the sampled programs are judged on another torch as well."""
    attribute: bool = True
    """Whether to find out which findings are known; False: only judge."""
    around: Around | None = None
    """The model that all programs put into situations; None: programs are drawn."""


@dataclass(frozen=True)
class ExampleResult:
    """The result of one example. Plain data: it crosses a process boundary."""

    index: int
    verdict: Verdict | None
    """None: exportdiff itself failed; ``error`` says how."""
    tags: tuple[str, ...] = ()
    source: str = ""
    """The program, if it shows a finding, is compared, or exportdiff failed on it; else empty."""
    seconds: float = 0.0
    error: str = ""
    error_place: tuple[str, ...] = ()
    """Where exportdiff failed, as in the event HarnessError."""
    known: tuple[ExplainedFinding, ...] = ()
    """Those findings of the verdict that the corpus explains."""
    classifications: Mapping[str, Classification] = field(default_factory=dict)
    """For the other findings, by fingerprint: whether plain torch shows them."""
    sample: tuple[ExplainedFinding, ...] = ()
    """What the corpus explains of what plain torch shows, if this example was sampled."""
    sampled: bool = False
    """Whether it is known which known bugs plain torch shows on the program."""
    failed_fixes: tuple[str, ...] = ()
    """The fixes whose functions raised an error where no path was run; so plain torch was judged."""
    plain: Verdict | None = None
    """The verdict on plain torch, if this program is to be judged on another torch as well."""


def run_batch(job: Job, indices: Sequence[int]) -> tuple[ExampleResult, ...]:
    """Judge some examples, one after the other; earlier examples do not influence the results."""
    known = prepared(job)
    with clean_state(free=True):
        return tuple(_run_example(job, index, known) for index in indices)


def exposing_fixes_of(
    job: Job, source: str, finding: Finding, kind: Kind
) -> ExplainedFinding | ResidualFinding:
    """Find the fixes that uncover a finding of mended torch on a program."""
    known = prepared(job)
    if known is None:
        raise ValueError("without a corpus there are no fixes")
    with clean_state():
        return find_exposing_fixes(_case(job, source), finding, kind, known)


def prepared(job: Job) -> Knowledge | None:
    """Put the fixes in place that the job asks for, and no others; return what its corpus knows."""
    known = knowledge(job.corpora) if job.corpora is not None else None
    install(known.usable_fixes if known is not None and not job.plain else (), cache_folder())
    return known


def drawn(job: Job, index: int) -> tuple[str, tuple[str, ...]]:
    """Return the source and the tags of an example. Around a model that exists, this runs it in eager."""
    if job.around is not None:
        return around_program(job.around, job.seed, index)
    return program_source(job.seed, index, job.profile)


def _case(job: Job, source: str) -> Case:
    if job.around is None:
        return case_from_source(source)
    # Somebody's own model may compute with infinities, and ask if it is being exported.
    return replace(case_from_source(source, finite_only=False), may_ask=True)


@clean_state()
def _run_example(job: Job, index: int, known: Knowledge | None) -> ExampleResult:
    started = time.perf_counter()
    tags: tuple[str, ...] = ()
    source = ""
    try:
        source, tags = drawn(job, index)
        case = _case(job, source)
        paths = paths_for(index, job.paths, tags)
        if known is None:
            result = ExampleResult(index, judge_case(case, paths))
            result = replace(result, plain=_compared(job, index, result.verdict))
        elif job.plain or not known.usable_fixes:
            result = _on_plain_torch(job, index, case, paths, tags, known)
        else:
            result = _on_mended_torch_if_possible(job, index, case, paths, tags, known)
    except Exception as error:
        text, place = traceback.format_exc(), place_of(error)
        return ExampleResult(index, None, tags, source, error=text, error_place=place)
    seconds = time.perf_counter() - started
    wanted = result.plain is not None or (result.verdict is not None and result.verdict.findings)
    shown = source if wanted else ""
    return replace(result, tags=tags, source=shown, seconds=seconds)


def _on_plain_torch(
    job: Job, index: int, case: Case, paths: Sequence[Path], tags: tuple[str, ...], known: Knowledge
) -> ExampleResult:
    verdict = judge_case(case, paths)
    if not job.attribute:
        return ExampleResult(index, verdict)
    parts = explain(case, verdict, tags, known)
    verdict = replace(verdict, findings=tuple(part.finding for part in parts))
    explained = tuple(part for part in parts if part.causes)
    remarks = {
        part.finding.fingerprint: Classification(remark=part.remark) for part in parts if not part.causes
    }
    plain = _compared(job, index, verdict)
    return ExampleResult(index, verdict, known=explained, classifications=remarks, sampled=True, plain=plain)


def _on_mended_torch_if_possible(
    job: Job, index: int, case: Case, paths: Sequence[Path], tags: tuple[str, ...], known: Knowledge
) -> ExampleResult:
    """Judge plain torch where a fix itself fails outside of the paths: the model cannot even be built."""
    try:
        return _on_mended_torch(job, index, case, paths, tags, known)
    except Exception as error:
        names = blamed(error, known.usable_fixes)
        if not names:
            raise
    with without_fixes():
        return replace(_on_plain_torch(job, index, case, paths, tags, known), failed_fixes=names)


def _on_mended_torch(
    job: Job, index: int, case: Case, paths: Sequence[Path], tags: tuple[str, ...], known: Knowledge
) -> ExampleResult:
    verdict = judge_case(case, paths, fix_refusals(known.usable_fixes))
    if not job.attribute:
        return ExampleResult(index, verdict)
    unmended: Verdict | None = None
    sample: tuple[ExplainedFinding, ...] = ()
    if _is_sampled(job, index):
        with without_fixes():
            unmended = judge_case(case, paths)
        sample = _sample(case, unmended, verdict, tags, known)
    sorted_ = sort_residual_findings(case, verdict, tags, known, plain=unmended, search=False)
    left = [each for each in sorted_ if isinstance(each, ResidualFinding)]
    return ExampleResult(
        index,
        replace(verdict, findings=tuple(each.finding for each in sorted_)),
        known=tuple(each for each in sorted_ if not isinstance(each, ResidualFinding)),
        classifications={each.finding.fingerprint: each.classification for each in left},
        sample=sample,
        sampled=unmended is not None,
        plain=_compared(job, index, unmended),
    )


def _sample(
    case: Case, plain: Verdict, mended: Verdict, tags: tuple[str, ...], known: Knowledge
) -> tuple[ExplainedFinding, ...]:
    """Say which known bugs plain torch shows, as far as a few judgements can tell.

    What stays unexplained is not lost: mended torch shows something on its paths too.
    """
    unknown = {(path, each.signature) for each in mended.findings for path in each.shown_on}
    found = on_first_paths(plain).findings
    found = tuple(each for each in found if (each.path, each.signature) not in unknown)
    if not found:
        return ()
    affordable = round(SAMPLE_COST / max(cost(each.path) for each in found))
    parts = explain(
        case,
        replace(plain, findings=found),
        tags,
        known,
        mended=mended,
        judgements=max(1, min(SAMPLE_JUDGEMENTS, affordable)),
    )
    return tuple(part for part in parts if part.causes)


def _is_sampled(job: Job, index: int) -> bool:
    return job.known_every > 0 and index % job.known_every == 0


def _compared(job: Job, index: int, plain: Verdict | None) -> Verdict | None:
    """Return the verdict on plain torch if another torch is to be judged on the program as well."""
    return plain if job.compares and _is_sampled(job, index) else None
