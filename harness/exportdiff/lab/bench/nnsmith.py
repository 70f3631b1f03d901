"""NNSmith's programs on the same paths: how many a second, and how many root causes in the same time.

NNSmith generates operator graphs with one flat module. Its own oracle compares the values of a backend with
those of eager; here its models go through this harness's checks, so that only the programs are compared.
Only where the package ``nnsmith`` is installed.
"""

from __future__ import annotations

import copy
import gc
import pathlib
import time
from importlib.util import find_spec
from itertools import count
from typing import TYPE_CHECKING, Any

from exportdiff.core.case import Case, case_from_source
from exportdiff.fuzzing.campaign.worker import Job
from exportdiff.judging.judge_case import judge_case
from exportdiff.lab.bench.figures import Figure, Result
from exportdiff.lab.bench.records import record_batch, warm_up
from exportdiff.lab.bench.roots import roots_of
from exportdiff.runtime.processes.child import Death, TaskFailure
from exportdiff.runtime.processes.in_child import call_fresh

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exportdiff.core.path import Path
    from exportdiff.judging.results import Verdict
    from exportdiff.lab.bench.context import Context

MISSING = "not measured: the package nnsmith is not installed (github.com/ise-uiuc/nnsmith)"
GRACE = 600.0
"""Seconds for imports and for NNSmith's test of the dtypes of its operators; no figure contains them."""
NODES = 10
"""Operators in a program; NNSmith's own default is 5."""

Counted = tuple[int, float, list[str], int]
"""Programs, seconds, what was found, and how many programs could not be made or judged."""


def measure(context: Context) -> Result:
    """Run both for the same time, on one core, on ``nonstrict:*``."""
    if find_spec("nnsmith") is None:
        return Result((Figure("programs a second over NNSmith", None, note=MISSING),))
    seconds, corpora = context.scale.nnsmith_seconds, context.corpora
    paths = context.nonstrict_paths
    theirs = call_fresh(GRACE + 4 * seconds, _theirs, context.seed, seconds, paths, corpora)
    ours = call_fresh(GRACE + 4 * seconds, _ours, Job(context.seed, paths), seconds, corpora)
    for answer in (theirs, ours):
        if isinstance(answer, Death | TaskFailure):
            reason = answer.reason if isinstance(answer, Death) else str(answer.error).splitlines()[-1]
            return Result((Figure("programs a second over NNSmith", None, note=reason),))
    assert isinstance(theirs, tuple)
    assert isinstance(ours, tuple)
    return _result(ours, theirs, seconds, "root causes" if corpora else "signatures")


def _result(ours: Counted, theirs: Counted, seconds: float, what: str) -> Result:
    rates = [programs / taken if taken else 0.0 for programs, taken, *_ in (ours, theirs)]
    ratio = rates[0] / rates[1] if rates[1] else None
    note = f"{rates[0]:.2f}/s against {rates[1]:.2f}/s, nonstrict:*, one core"
    return Result(
        (
            Figure("programs a second over NNSmith", ratio, "x", note=note),
            Figure(f"{what} found by exportdiff", len(ours[2]), note=f"in {seconds:g} s, {ours[0]} programs"),
            Figure(
                f"{what} found by NNSmith's programs",
                len(theirs[2]),
                note=f"in {seconds:g} s, {theirs[0]} programs, {theirs[3]} failed",
            ),
        ),
        data={"exportdiff": ours[2], "nnsmith": theirs[2]},
    )


def _ours(job: Job, seconds: float, corpora: pathlib.Path | None) -> Counted:
    gc.disable()
    warm_up(job.paths)
    found: set[str] = set()
    programs, taken = 0, 0.0
    for index in count():
        if taken >= seconds:
            break
        since = time.process_time()
        (one,) = record_batch(job, (index,))
        taken += time.process_time() - since
        programs += 1
        found |= _named(case_from_source(one.source), one.verdict, one.tags, corpora)
    return programs, taken, sorted(found), 0


def _named(case: Case, verdict: Verdict, tags: Sequence[str], corpora: pathlib.Path | None) -> set[str]:
    if corpora is None:
        return {" ".join(finding.signature) for finding in verdict.findings}
    return set().union(*roots_of(case, verdict, tags, corpora).values())


def _theirs(seed: int, seconds: float, paths: Sequence[Path], corpora: pathlib.Path | None) -> Counted:
    """Generate with NNSmith and judge, in this process."""
    # Imported here: the package is optional.
    from nnsmith.graph_gen import model_gen
    from nnsmith.materialize import Model
    from nnsmith.narrow_spec import auto_opset

    gc.disable()
    warm_up(tuple(paths))
    kind = Model.init("torch", backend_target="cpu")
    kind.add_seed_setter()
    operators = auto_opset(kind)
    found: set[str] = set()
    programs, failed, taken = 0, 0, 0.0
    for number in count(seed):
        if taken >= seconds:
            break
        since = time.process_time()
        try:
            generated = model_gen(opset=operators, method="symbolic", seed=number, max_nodes=NODES)
            case = _case(kind.from_gir(generated.make_concrete()).torch_model, number)
            verdict = judge_case(case, paths)
        except Exception:
            failed += 1
            taken += time.process_time() - since
            continue
        taken += time.process_time() - since
        programs += 1
        found |= _named(case, verdict, (), corpora)
        gc.collect()
    return programs, taken, sorted(found), failed


def _case(model: Any, number: int) -> Case:
    inputs = tuple(model.get_random_inps().values())
    return Case(
        f"nnsmith {number}",
        f"# NNSmith, seed {number}",
        lambda: (copy.deepcopy(model), tuple(each.clone() for each in inputs)),
    )
