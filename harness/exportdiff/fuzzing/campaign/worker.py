"""What a worker process does: draw a program, judge it, and sort its findings into known and new."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from exportdiff.core.cache_files import cache_folder
from exportdiff.core.case import case_from_source
from exportdiff.core.programs import DEFAULT_PROFILE, program_source
from exportdiff.fuzzing.around.drawing import around_program
from exportdiff.fuzzing.campaign.own_errors import place_of
from exportdiff.fuzzing.campaign.schedule import base_of, paths_for
from exportdiff.fuzzing.campaign.settings import KNOWN_EVERY
from exportdiff.fuzzing.near.drawing import near_program, path_of
from exportdiff.judging.exemptions.refusal import FixRefusal, fix_refusals
from exportdiff.judging.judge_case import judge_case
from exportdiff.known.attribution.attribute import explain, on_first_paths
from exportdiff.known.attribution.classification import Classification
from exportdiff.known.attribution.explained import ExplainedFinding
from exportdiff.known.attribution.knowledge import knowledge
from exportdiff.known.attribution.resemblance import resembling
from exportdiff.known.attribution.residual import ResidualFinding, find_exposing_fixes, sort_residual_findings
from exportdiff.known.attribution.wrong_refusals import find_wrong_refusals
from exportdiff.runtime.observing.freeing_programs import clean_state
from exportdiff.runtime.patching.fixes import fixes_that_raised
from exportdiff.runtime.patching.installed import install, without_fixes
from exportdiff.runtime.paths import cost

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Mapping, Sequence

    from exportdiff.core.case import Case
    from exportdiff.core.finding import Finding
    from exportdiff.core.path import Path
    from exportdiff.fuzzing.around.model import Around
    from exportdiff.fuzzing.near.model import Near
    from exportdiff.judging.results import Verdict
    from exportdiff.known.attribution.classification import ClassificationKind
    from exportdiff.known.attribution.knowledge import Knowledge


SAMPLE_JUDGEMENTS = 12
"""How often a sampled program may be judged again to find out which known bugs it shows."""
SAMPLE_COST = 6000.0
"""The milliseconds that this may take, by the usual cost of the paths. On paths that compile with Inductor it
is one judgement, with the likeliest fix. What that fix does not mend stays unresolved."""


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
    """Whether to judge plain torch instead of mended torch."""
    known_every: int = KNOWN_EVERY
    """N: on one program in N, find out which known bugs plain torch shows; 0: never."""
    compares: bool = False
    """Whether sampled programs are judged on another torch as well."""
    attribute: bool = True
    """Whether to find out which findings are known; False: only judge."""
    around: Around | None = None
    """The model that all programs use; None: programs are drawn."""
    near: Near | None = None
    """The files of which all programs are edits; None: programs are drawn."""
    factors: Mapping[str, float] = field(default_factory=dict)
    """By arm, how much more often than usual its paths run."""
    on_all_paths: bool = False
    """Whether each example runs on all paths; False: the schedule chooses some."""


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
    """For the other findings, by fingerprint: whether they are new, masked or regressions."""
    sample: tuple[ExplainedFinding, ...] = ()
    """The known bugs that plain torch shows, if this example was sampled."""
    sampled: bool = False
    """Whether plain torch was judged, to count the known bugs of the program."""
    failed_fixes: tuple[str, ...] = ()
    """The fixes that raised an error outside of the paths, so that plain torch was judged instead."""
    plain: Verdict | None = None
    """The verdict on plain torch, if another torch will judge this program as well."""


FREE_EVERY = 8
"""After this many programs, what they leave is freed. That takes a third of a second."""


class _Unfreed:
    programs = FREE_EVERY - 1
    """How many programs this process has judged since it last freed what they leave. The first one counts as
    many: most of what it leaves are caches, which are frozen then."""


def run_examples(job: Job, indices: Sequence[int]) -> tuple[ExampleResult, ...]:
    """Judge some examples, one after the other; earlier examples do not influence the results."""
    known = prepared(job)
    _Unfreed.programs += len(indices)
    free = _Unfreed.programs >= FREE_EVERY
    if free:
        _Unfreed.programs = 0
    with clean_state(free=free):
        return tuple(_run_example(job, index, known) for index in indices)


def exposing_fixes_of(
    job: Job, source: str, finding: Finding, kind: ClassificationKind
) -> ExplainedFinding | ResidualFinding:
    """Find the exposing fixes of a finding of mended torch on a program."""
    known = prepared(job)
    if known is None:
        raise ValueError("without a corpus there are no fixes")
    with clean_state():
        return find_exposing_fixes(_case(job, source), finding, kind, known)


def known_by_resemblance(
    job: Job, source: str, tags: tuple[str, ...], findings: Sequence[Finding]
) -> tuple[ExplainedFinding, ...]:
    """Return those findings that an entry without a fix explains.

    Nothing is judged: that may kill this process, as it did the one that showed the findings.
    """
    known = prepared(job)
    if known is None:
        return ()
    case = _case(job, source)
    parts = (resembling(finding, case, tags, known) for finding in findings)
    return tuple(part for part in parts if part is not None)


def prepared(job: Job) -> Knowledge | None:
    """Install the fixes that the job asks for, and no others; return what its corpus knows."""
    known = knowledge(job.corpora) if job.corpora is not None else None
    install(known.usable_fixes if known is not None and not job.plain else (), cache_folder())
    return known


def drawn(job: Job, index: int) -> tuple[str, tuple[str, ...]]:
    """Return the source and the tags of an example.

    With ``around`` or ``near``, this runs models in eager.
    """
    if job.around is not None:
        return around_program(job.around, job.seed, index)
    if job.near is not None:
        return near_program(job.near, job.seed, index)
    return program_source(job.seed, index, job.profile)


def chosen_paths(job: Job, index: int, tags: tuple[str, ...]) -> tuple[Path, ...]:
    """Choose the paths of an example: near a known bug, also the path that shows it."""
    if job.on_all_paths:
        return job.paths
    if job.near is None:
        return paths_for(index, job.paths, tags, job.factors)
    shows = path_of(job.near, job.seed, index)
    chosen = paths_for(index, job.paths, factors=job.factors)
    return tuple(each for each in job.paths if each in chosen or each == shows)


def _case(job: Job, source: str) -> Case:
    if job.around is None:
        return case_from_source(source)
    # A user's model may compute with infinities, and ask whether it is being exported.
    return replace(case_from_source(source, finite_only=False), may_ask=True)


@clean_state()
def _run_example(job: Job, index: int, known: Knowledge | None) -> ExampleResult:
    started = time.perf_counter()
    tags: tuple[str, ...] = ()
    source = ""
    try:
        source, tags = drawn(job, index)
        example = _Example(job, index, _case(job, source), chosen_paths(job, index, tags), tags)
        result = example.judged(known)
    except Exception as error:
        return failed_result(index, error, place=place_of(error), tags=tags, source=source)
    seconds = time.perf_counter() - started
    wanted = result.plain is not None or (result.verdict is not None and result.verdict.findings)
    return replace(result, source=source if wanted else "", seconds=seconds)


@dataclass(frozen=True)
class _Example:
    """One program to judge."""

    job: Job
    index: int
    case: Case
    paths: Sequence[Path]
    tags: tuple[str, ...]

    def judged(self, known: Knowledge | None) -> ExampleResult:
        """Judge the program, on mended torch where there are fixes."""
        if known is None:
            verdict = self._judged_with_base()
            return self._result(verdict, compared=verdict)
        if self.job.plain or not known.usable_fixes:
            return self._on_plain_torch(known)
        try:
            return self._on_mended_torch(known)
        except Exception as error:
            names = fixes_that_raised(error, known.usable_fixes)
            if not names:
                raise
        # A fix itself failed outside of the paths: the model cannot even be built.
        with without_fixes():
            return replace(self._on_plain_torch(known), failed_fixes=names)

    def _judged_with_base(self, refusals: Sequence[FixRefusal] = (), *, once: bool = False) -> Verdict:
        """Judge the program; if there is a finding, also on the base paths, which are simpler to report."""
        verdict = judge_case(self.case, self.paths, refusals, once=once)
        paths = self._with_base
        if not verdict.findings or len(paths) == len(self.paths):
            return verdict
        return judge_case(self.case, paths, refusals, once=once)

    @property
    def _with_base(self) -> tuple[Path, ...]:
        wanted = {*self.paths, *base_of(self.job.paths)}
        return tuple(path for path in self.job.paths if path in wanted)

    def _on_plain_torch(self, known: Knowledge) -> ExampleResult:
        verdict = self._judged_with_base()
        if not self.job.attribute:
            return self._result(verdict)
        parts = [
            part if part.causes else ResidualFinding(part.finding, Classification(remark=part.remark))
            for part in explain(self.case, verdict, self.tags, known)
        ]
        verdict = replace(verdict, findings=tuple(part.finding for part in parts))
        return self._result(verdict, parts, sampled=True, compared=verdict)

    def _on_mended_torch(self, known: Knowledge) -> ExampleResult:
        sampled = self.job.attribute and _is_sampled(self.job, self.index)
        # A sampled program is compared with plain torch on each path.
        verdict = self._judged_with_base(fix_refusals(known.usable_fixes), once=not sampled)
        if not self.job.attribute:
            return self._result(verdict)
        plain: Verdict | None = None
        sample: tuple[ExplainedFinding, ...] = ()
        if sampled:
            with without_fixes():
                plain = judge_case(self.case, self._with_base if verdict.findings else self.paths)
            sample = _sample(self.case, plain, verdict, self.tags, known)
        parts = sort_residual_findings(self.case, verdict, self.tags, known, plain=plain, search=False)
        if plain is not None:
            verdict, wrong = find_wrong_refusals(self.case, verdict, plain, known)
            parts += wrong
        verdict = replace(verdict, findings=tuple(part.finding for part in parts))
        return self._result(verdict, parts, sample=sample, sampled=plain is not None, compared=plain)

    def _result(
        self,
        verdict: Verdict,
        parts: Sequence[ExplainedFinding | ResidualFinding] = (),
        *,
        sample: tuple[ExplainedFinding, ...] = (),
        sampled: bool = False,
        compared: Verdict | None = None,
    ) -> ExampleResult:
        """Return the result. ``parts``: the findings of the verdict, with what is known about each.

        ``compared``: the verdict on plain torch, for a comparison with another torch.
        """
        return ExampleResult(
            self.index,
            verdict,
            self.tags,
            known=tuple(part for part in parts if isinstance(part, ExplainedFinding)),
            classifications={
                part.finding.fingerprint: part.classification
                for part in parts
                if isinstance(part, ResidualFinding)
            },
            sample=sample,
            sampled=sampled,
            plain=compared if self.job.compares and _is_sampled(self.job, self.index) else None,
        )


def failed_result(
    index: int,
    error: BaseException,
    *,
    place: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
    source: str = "",
) -> ExampleResult:
    """Return the result of an example on which exportdiff itself failed."""
    text = "".join(traceback.format_exception(error))
    return ExampleResult(index, None, tags, source, error=text, error_place=place)


def _sample(
    case: Case, plain: Verdict, mended: Verdict, tags: tuple[str, ...], known: Knowledge
) -> tuple[ExplainedFinding, ...]:
    """Return the known bugs that plain torch shows, as far as a few judgements can find out.

    A finding that stays unexplained is not lost: mended torch shows something on its paths too.
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
