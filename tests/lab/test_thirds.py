"""``exportdiff bench --only thirds``: what learning finds of what is hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from exportdiff.fuzzing.campaign.learning import Yield
from exportdiff.known.attribution.knowledge import knowledge
from exportdiff.known.corpus.entry import CORPORA, FIXES
from exportdiff.lab.bench.thirds import THIRDS, Searched, UsualRates, hidden_roots, result_of, without

if TYPE_CHECKING:
    import pathlib


def test_a_hidden_third_leaves_no_entry_and_no_fix(tmp_path: pathlib.Path) -> None:
    hidden = hidden_roots(CORPORA, 0, 0)
    assert hidden == hidden_roots(CORPORA, 0, 0) != hidden_roots(CORPORA, 0, 1)
    without(CORPORA, hidden, tmp_path / "corpora")
    everything, left = knowledge(CORPORA), knowledge(tmp_path / "corpora")
    assert {entry.root for entry in left.entries} == {entry.root for entry in everything.entries} - hidden
    assert not any(each.problem for each in left.entries)
    gone = {entry.fix for entry in everything.entries if entry.root in hidden}
    kept = {entry.fix for entry in left.entries}
    assert gone - kept and not any(
        (tmp_path / "corpora" / FIXES / f"{fix}.patch").exists() for fix in gone - kept
    )


def searched(third: int, found: int, *, learns: bool) -> Searched:
    return Searched(third, learns, 100, tuple(map(str, range(found))), 300, 60.0, {"strict": Yield(1.0, 0.0)})


def test_the_gain_compares_the_campaigns_on_the_same_third() -> None:
    pair = (searched(0, 6, learns=True), searched(0, 4, learns=False))
    result = result_of([*pair, searched(1, 100, learns=True)])
    gain, learning, usual = (figure.value for figure in result.figures)
    assert gain == pytest.approx(1.5)
    assert (learning, usual) == (6.0, 4.0)
    assert f"1 of {THIRDS} thirds" in result.figures[0].note
    assert result.exit_code == 0
    assert result_of([searched(1, 100, learns=True)]).exit_code == 2


def test_the_usual_rates_learn_nothing_and_run_every_program_on_the_base_paths() -> None:
    usual = UsualRates({"strict": Yield(1.0, 100.0)})
    assert usual.may_start(10**6) and usual.factors(10**6) == {"nonstrict": 4.0}
