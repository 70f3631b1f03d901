"""Which findings no entry of the corpus explains."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from exportdiff.core.case import Case
from exportdiff.core.finding import Finding
from exportdiff.core.path import Path
from exportdiff.judging.exemptions.refusal import fix_refusals
from exportdiff.judging.judge_case import judge_case
from exportdiff.judging.results import Verdict
from exportdiff.known.attribution.attribute import explain
from exportdiff.known.attribution.knowledge import knowledge
from exportdiff.known.attribution.residual import ResidualFinding, sort_residual_findings
from exportdiff.runtime.patching.fixes import applied
from support.folders import CORPORA
from support.of_this_torch import held


def new_findings(case: Case, verdict: Verdict, tags: Collection[str] = ()) -> list[Finding]:
    """Return the findings that no entry explains.

    Where nothing is left with all fixes in place, every finding is known; a test need not find out which fix
    each of them takes.
    """
    if not verdict.findings:
        return []
    paths = tuple(dict.fromkeys(path for finding in verdict.findings for path in finding.shown_on))
    with applied(held()):
        if not judge_case(case, paths).findings:
            return []
    return [part.finding for part in explain(case, verdict, tags, knowledge(CORPORA)) if not part.causes]


def new_on_mended_torch(
    case: Case, paths: Sequence[Path], tags: Collection[str]
) -> tuple[Verdict, list[Finding]]:
    """Judge with all fixes in place; return the verdict, and the findings that plain torch shows as well.

    Plain torch judges only what is left: a known bug may kill the process there.
    """
    known = knowledge(CORPORA)
    with applied(held()):
        verdict = judge_case(case, paths, fix_refusals(held()))
    left = (
        each
        for each in sort_residual_findings(case, verdict, tags, known)
        if isinstance(each, ResidualFinding)
    )
    return verdict, [each.finding for each in left if each.classification.kind == "new"]
