"""The schedule of paths: which paths of the list the programs of a campaign run on."""

from __future__ import annotations

from collections import Counter
from fnmatch import fnmatchcase

from exportdiff.fuzzing.campaign.schedule import RATES, SUITED, UNSUITED, paths_for, share
from exportdiff.runtime.paths import all_paths, core_paths, cost, export_key, select_paths
from exportdiff_strategies.tags import TAGS

EVERY_PATH = all_paths()


def test_1000_programs_run_on_every_path_often_enough() -> None:
    taken = Counter(path for index in range(1000) for path in paths_for(index, EVERY_PATH))
    assert set(taken) == set(EVERY_PATH)
    assert all(count >= 5 for count in taken.values())


def test_expensive_paths_run_on_fewer_programs() -> None:
    without_rate = [path for path in EVERY_PATH if str(path).partition("@")[0] not in RATES]
    by_cost = sorted(without_rate, key=cost)
    assert [share(path) for path in by_cost] == sorted(share(path) for path in without_rate)
    assert {share(path) for path in core_paths()} == {4, 11, 29}


def test_paths_with_the_same_export_and_share_run_on_the_same_programs() -> None:
    kept = [path for path in EVERY_PATH if path.transforms[:1] == ("preserve",)]
    assert len(kept) > 2 and len({export_key(path) for path in kept}) == 1
    for every in map(share, kept):
        together = {path for path in kept if share(path) == every}
        for index in range(100):
            assert set(paths_for(index, EVERY_PATH)) & together in (set(), together)


def test_the_most_frequent_of_the_chosen_paths_run_on_every_program() -> None:
    *decomposed, inductor = chosen = select_paths(["nonstrict+decompose:*", "compile:inductor"])
    taken = [paths_for(index, chosen) for index in range(30)]
    assert all(set(decomposed) <= set(paths) for paths in taken)
    assert sum(inductor in paths for paths in taken) == 15


def test_a_path_outside_the_lists_runs_on_every_program() -> None:
    chosen = select_paths(["nonstrict:module", "strict+preserve+decompose:unflatten"])
    assert all(set(paths_for(index, chosen)) == set(chosen) for index in range(30))
    assert [share(path) for path in chosen] == [4, 1]


def test_suited_programs_run_on_a_path_more_often_and_others_more_rarely() -> None:
    matching = {
        path: next((one for one in SUITED if fnmatchcase(path.without_device, one.paths)), None)
        for path in EVERY_PATH
    }
    for each in SUITED:
        suited = [path for path, first in matching.items() if first is each]
        assert suited, each.paths
        assert all(each.every < share(path) < each.others for path in suited)


def test_tags_decide_how_often_a_path_runs() -> None:
    retie = select_paths(["nonstrict+retie:module"])[0]

    def runs(tags: tuple[str, ...] | None) -> int:
        return sum(retie in paths_for(index, EVERY_PATH, tags) for index in range(17 * 97))

    assert runs(("state.tied",)) == 97
    assert runs(("op.map",)) == 17
    assert runs(None) in (44, 45)  # one in 37


def test_programs_that_a_path_refuses_seldom_run_on_it() -> None:
    preserve = select_paths(["nonstrict+preserve:unflatten"])[0]

    def runs(*tags: str) -> int:
        return sum(preserve in paths_for(index, EVERY_PATH, tags) for index in range(7 * 47))

    assert runs("calls.bool") == 47
    assert runs("calls.bool", "calls.function") == 7


def test_every_tag_that_makes_a_program_suited_or_unsuited_exists() -> None:
    groups = [each.tags for each in SUITED] + [each.tags for each in UNSUITED]
    globs = [glob for tags in groups for glob in tags]
    unknown = [glob for glob in globs if not any(fnmatchcase(tag, glob) for tag in TAGS)]
    assert unknown == []
