"""How much sooner a campaign that learns finds bugs that it does not know.

Ten times, a random third of the corpus is hidden, with its fixes. Two campaigns with the same seed judge
programs until the same CPU time is used: one learns and seldom runs on the base paths, and starts with what
the campaign on the third before has learned; the other runs every program on them and keeps the usual rates.
Each finding that is new there is attributed with the whole corpus;
what counts is how many hidden root causes are found again.

The results are written to a file, one line for each campaign. The next measurement continues after them.
"""

from __future__ import annotations

import hashlib
import pathlib
import random
import shutil
import time
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from exportdiff.core.own_code import digest_of, source_files
from exportdiff.core.torch_versions import torch_digest
from exportdiff.fuzzing.campaign.clock import Clock
from exportdiff.fuzzing.campaign.examples import ExampleRunner
from exportdiff.fuzzing.campaign.learner import Learner
from exportdiff.fuzzing.campaign.learning import Yield, arm_of, earlier
from exportdiff.fuzzing.campaign.schedule import BASE, RATES
from exportdiff.fuzzing.campaign.settings import CampaignSettings
from exportdiff.fuzzing.campaign.worker import drawn, run_examples
from exportdiff.known.attribution.knowledge import knowledge
from exportdiff.known.corpus.entry import FIXES
from exportdiff.lab.bench.figures import Figure, Result, Rows
from exportdiff.lab.bench.first_shown import Shown, beyond
from exportdiff.lab.bench.records_file import append_records, read_records
from exportdiff.runtime.paths import parse
from exportdiff.runtime.processes import scratch
from exportdiff.runtime.processes.child import Death, TaskFailure
from exportdiff.runtime.processes.in_child import ReusableWorker

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from exportdiff.fuzzing.campaign.worker import ExampleResult, Job
    from exportdiff.lab.bench.context import Context

THIRDS = 10
CPU_SECONDS = 180.0
"""How much CPU time the workers of one campaign use for judging."""
PROGRAM_SECONDS = 120.0
WANTED = 1.5


@dataclass(frozen=True)
class Searched:
    """What one campaign found of a hidden third. Plain data: a line of the file."""

    third: int
    learns: bool
    hidden: int
    """How many root causes were hidden."""
    found: tuple[str, ...]
    """Those that it found."""
    programs: int
    cpu: float
    learned: Mapping[str, Yield]
    """What it can pass on to the next campaign."""

    @property
    def rate(self) -> float:
        """Hidden root causes for each CPU minute."""
        return 60 * len(self.found) / self.cpu


class UsualRates(Learner):
    """Learns nothing, and runs every program on the base paths."""

    def may_start(self, index: int) -> bool:
        """Whether a program may start: always."""
        return True

    def factors(self, index: int) -> Mapping[str, float]:
        """Return the same factors for each program."""
        return {arm_of(parse(path)): RATES[path] for path in BASE}


def measure(context: Context) -> Result:
    """Run the campaigns that the file does not have, until the time is over; the last one runs to its end."""
    if context.corpora is None:
        return Result((Figure("rediscovered", None, note="there is no corpora/ here"),))
    file = _file(context)
    done: list[Searched] = [] if file is None else read_records(file)
    until = time.monotonic() + context.seconds
    interrupted = False
    try:
        for third, learns in ((third, learns) for third in range(THIRDS) for learns in (True, False)):
            if any((each.third, each.learns) == (third, learns) for each in done):
                continue
            if time.monotonic() >= until:
                break
            start = earlier(done[-2].learned) if learns and third else {}
            done.append(search(context, context.corpora, third, start, learns=learns))
            if file is not None:
                append_records(file, done[-1:])
            context.report(result_of(done))
    except KeyboardInterrupt:
        interrupted = True
    return replace(result_of(done), interrupted=interrupted)


def _file(context: Context) -> pathlib.Path | None:
    """Return the file for this seed, code, corpus and torch; None: the records are not kept."""
    if context.programs is None or context.corpora is None:
        return None
    ours = digest_of([*source_files(), *sorted(context.corpora.rglob("*.py")), *_fixes(context.corpora)])
    digest = hashlib.sha256(f"{torch_digest()}\0{ours}".encode()).hexdigest()[:8]
    return context.programs / f"thirds-{context.seed}-{digest}.ndjson"


def _fixes(corpora: pathlib.Path) -> list[pathlib.Path]:
    return sorted((corpora / FIXES).glob("*.patch"))


def search(
    context: Context, corpora: pathlib.Path, third: int, start: Mapping[str, Yield], *, learns: bool
) -> Searched:
    """Run one campaign, and attribute what it finds with the whole corpus.

    ``start``: what earlier campaigns have learned.
    """
    hidden = hidden_roots(corpora, context.seed, third)
    with scratch.make() as folder:
        shown = pathlib.Path(folder, "corpora")
        without(corpora, hidden, shown)
        settings = CampaignSettings(
            context.default_paths,
            seed=context.seed + third,
            workers=context.workers,
            corpora=shown,
            known_every=0,
        )
        results, cpu, programs = [], 0.0, 0
        learner = Learner(start) if learns else UsualRates(start)
        runner = ExampleRunner(settings, with_cpu_seconds, drawn, Clock(), None, learner=learner)
        with closing(runner.results()) as judged:
            for result in judged:
                programs += 1
                cpu += result.seconds
                if result.verdict is not None and result.verdict.findings:
                    results.append(result)
                if cpu >= CPU_SECONDS:
                    break
    found = found_again(results, corpora, hidden)
    return Searched(third, learns, len(hidden), tuple(sorted(found)), programs, round(cpu, 1), learner.yields)


def hidden_roots(corpora: pathlib.Path, seed: int, third: int) -> frozenset[str]:
    """Choose a third of the root causes that have a usable fix."""
    known = knowledge(corpora)
    roots = sorted({entry.root for entry in known.entries if entry.fix in known.usable})
    return frozenset(random.Random(f"{seed} {third}").sample(roots, len(roots) // 3))


def without(corpora: pathlib.Path, hidden: frozenset[str], folder: pathlib.Path) -> None:
    """Copy a corpus without the entries, variants and fixes of some root causes."""
    entries = knowledge(corpora).entries
    left = {entry.fix for entry in entries if entry.root not in hidden}
    gone = {entry.file.resolve() for entry in entries if entry.root in hidden}
    gone |= {
        (corpora / FIXES / f"{entry.fix}.patch").resolve()
        for entry in entries
        if entry.root in hidden and entry.fix and entry.fix not in left
    }

    def ignored(place: str, names: list[str]) -> list[str]:
        return [name for name in names if pathlib.Path(place, name).resolve() in gone]

    shutil.copytree(corpora, folder, ignore=ignored)


def with_cpu_seconds(job: Job, indices: Sequence[int]) -> tuple[ExampleResult, ...]:
    """Judge examples as a campaign does; the time of each is the CPU time of this process."""
    return tuple(_with_cpu_seconds(job, index) for index in indices)


def _with_cpu_seconds(job: Job, index: int) -> ExampleResult:
    since = time.process_time()
    (result,) = run_examples(job, (index,))
    return replace(result, seconds=time.process_time() - since)


def found_again(
    results: Iterable[ExampleResult], corpora: pathlib.Path, hidden: frozenset[str]
) -> frozenset[str]:
    """Return the hidden root causes that explain new findings of these programs."""
    visible = frozenset(entry.root for entry in knowledge(corpora).entries) - hidden
    found: frozenset[str] = frozenset()
    with ReusableWorker() as child:
        for result in results:
            assert result.verdict is not None, "only judged programs are attributed"
            shown = Shown(result.source, result.verdict, result.tags)
            answer = child.ask(PROGRAM_SECONDS, beyond, shown, corpora, visible | found)
            if not isinstance(answer, Death | TaskFailure):
                found |= answer & hidden
    return found


def result_of(done: Sequence[Searched]) -> Result:
    """Compare the campaigns on each third for which both have run."""
    pairs = dict(_pairs(done))
    ratios = [learned.rate / usual.rate for learned, usual in pairs.values() if usual.rate]
    learned_rate = _mean([learned.rate for learned, _ in pairs.values()])
    usual_rate = _mean([usual.rate for _, usual in pairs.values()])
    gain = learned_rate / usual_rate if learned_rate and usual_rate else None
    note = (
        f"{len(pairs)} of {THIRDS} thirds, {CPU_SECONDS:g} CPU s for each campaign; "
        f"mean of ratios: {_mean(ratios)}"
    )
    return Result(
        (
            Figure("gain by learning", gain, wanted=f">= {WANTED}", note=note),
            Figure("hidden causes a CPU minute, learning", learned_rate, "/min"),
            Figure("hidden causes a CPU minute, usual rates", usual_rate, "/min"),
        ),
        (
            Rows(
                "thirds",
                ("third", "hidden", "learning", "programs", "usual rates", "programs"),
                tuple(
                    (
                        third,
                        learned.hidden,
                        len(learned.found),
                        learned.programs,
                        len(usual.found),
                        usual.programs,
                    )
                    for third, (learned, usual) in pairs.items()
                ),
            ),
        ),
        data={"searched": [asdict(each) for each in done]},
        exit_code=0 if pairs else 2,
    )


def _pairs(done: Sequence[Searched]) -> Iterator[tuple[int, tuple[Searched, Searched]]]:
    by_key = {(each.third, each.learns): each for each in done}
    for third in range(THIRDS):
        if (third, True) in by_key and (third, False) in by_key:
            yield third, (by_key[third, True], by_key[third, False])


def _mean(numbers: Sequence[float]) -> float | None:
    return round(sum(numbers) / len(numbers), 3) if numbers else None
