"""Judges a corpus entry, and returns the signatures of its findings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from exportdiff.known.corpus.workaround import without_workaround

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Collection

    from exportdiff.runtime.patching.fixes import Fix


def entry_signatures(
    file: pathlib.Path,
    path: str,
    fixes: Collection[Fix] = (),
    only_there: bool = False,
    thorough: bool = False,
) -> set[tuple[str, ...]]:
    """Judge a file along the cheap paths and its own; return the signatures of what is found.

    Those of its own path only, if asked: on the others, another bug may show alike. What the fixes refuse on
    purpose is no finding, as in campaigns. ``thorough``: make all calls that leave the spec.
    """
    from exportdiff.core.case import case_from_source
    from exportdiff.judging.exemptions.refusal import fix_refusals
    from exportdiff.judging.judge_case import judge_case
    from exportdiff.runtime.patching.fixes import applied
    from exportdiff.runtime.paths import parse, select_paths

    own = parse(path)
    routes = dict.fromkeys((*select_paths(["nonstrict:*"], ["cpu"]), own))
    # Of the calls that leave the spec, compiling makes a few only, and the bug may be in another one.
    case = case_from_source(without_workaround(file.read_text(encoding="utf-8")), finite_only=False)
    case = replace(case, thorough=thorough or own.mode == "compile")
    with applied(fixes):
        found = judge_case(case, tuple(routes), fix_refusals(fixes)).findings
    return {each.signature for each in found if not only_there or own in each.shown_on}
