"""The main property, on a fixed list of programs: exported programs behave like eager.

A finding that an entry of the corpus explains does not fail these tests. A new finding fails them, and the
message names a file that reproduces it.
"""

from __future__ import annotations

import pathlib

import pytest

from exportdiff.core.case import case_from_source
from exportdiff.fuzzing.campaign.schedule import paths_for
from exportdiff.judging.judge_case import judge_case
from exportdiff.repro import repro_source
from exportdiff.runtime.paths import core_paths, select_paths
from exportdiff_strategies import draw_program, render, tags_of
from support.hypothesis_profiles import examples
from support.new_findings import new_on_mended_torch

SEED = 137013
EXAMPLES = examples(40)
PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_exported_programs_behave_like_eager(part: int, tmp_path: pathlib.Path) -> None:
    valid = 0
    for index in range(part, EXAMPLES, PARTS):
        program = draw_program(SEED, index)
        source = render(program)
        # paths_for gets the index within the part, so that every part also runs strict export.
        case = case_from_source(source)
        paths = paths_for(index // PARTS, core_paths(["cpu"]))
        verdict, new = new_on_mended_torch(case, paths, tags_of(program))
        valid += verdict.valid
        for finding in new:
            file = tmp_path / f"{finding.fingerprint}.py"
            file.write_text(repro_source(finding, source))
            pytest.fail(f"new finding, reproduce with: python {file}\n{finding.message}\n\n{source}")
    assert valid >= 0.99 * (EXAMPLES // PARTS) - 1


def test_a_verdict_does_not_depend_on_earlier_programs() -> None:
    paths = select_paths(["nonstrict:*", "strict:module"])
    first = [judge_case(case_from_source(render(draw_program(9, k))), paths) for k in range(4)]
    again = [judge_case(case_from_source(render(draw_program(9, k))), paths) for k in reversed(range(4))]
    assert [(v.paths, v.findings) for v in first] == [(v.paths, v.findings) for v in reversed(again)]
