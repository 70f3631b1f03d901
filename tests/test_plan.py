from __future__ import annotations

from collections import Counter

from harness.engine.schedule import RATES, paths_for, share
from harness.paths import EXPENSIVE, all_paths, core_paths, cost, select_paths, stem

EVERY = all_paths()


def test_500_programs_take_every_path_often_enough() -> None:
    taken = Counter(path for index in range(500) for path in paths_for(index, EVERY))
    assert set(taken) == set(EVERY)
    seldom = {path for path in EVERY if cost(path) >= EXPENSIVE or "pickle" in path.transforms}
    assert all(count >= (5 if path in seldom else 20) for path, count in taken.items())


def test_the_dearer_the_more_seldom() -> None:
    further = [path for path in EVERY if str(path).partition("@")[0] not in RATES]
    by_cost = sorted(further, key=cost)
    assert [share(path) for path in by_cost] == sorted(share(path) for path in further)
    assert {share(path) for path in core_paths()} == {1, 4}


def test_what_shares_an_export_and_comes_as_often_comes_together() -> None:
    kept = [path for path in EVERY if path.transforms[:1] == ("preserve",)]
    assert len(kept) > 2 and len({stem(path) for path in kept}) == 1
    for every in map(share, kept):
        together = {path for path in kept if share(path) == every}
        for index in range(100):
            assert set(paths_for(index, EVERY)) & together in (set(), together)


def test_what_comes_most_often_of_the_chosen_paths_comes_always() -> None:
    *decomposed, inductor = chosen = select_paths(["nonstrict+decompose:*", "compile:inductor"])
    taken = [paths_for(index, chosen) for index in range(30)]
    assert all(set(decomposed) <= set(paths) for paths in taken)
    assert sum(inductor in paths for paths in taken) == 10
