"""Which known bug a finding is: the one that mends it is the cause, else the trigger decides."""

from __future__ import annotations

import difflib
import importlib
import json
import pathlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from types import ModuleType
from typing import Any, TypeAlias

import pytest

from exportdiff.core.case import Case, case_from_source
from exportdiff.core.finding import Consequence, Finding
from exportdiff.core.path import Path
from exportdiff.judging.results import PathResult, Verdict
from exportdiff.known.attribution import residual as leftovers_module
from exportdiff.known.attribution.attribute import explain
from exportdiff.known.attribution.classification import NEW, Classification
from exportdiff.known.attribution.explained import UNRESOLVED, ExplainedFinding
from exportdiff.known.attribution.knowledge import Knowledge, knowledge
from exportdiff.known.attribution.residual import ResidualFinding, sort_residual_findings
from exportdiff.runtime.patching import fixes, live, plan
from exportdiff.runtime.patching.installed import install, only_these_fixes, without_fixes
from exportdiff.runtime.paths import parse
from support.evidence_of import make_finding

Judge: TypeAlias = Callable[..., Verdict]

SOURCE = "".join(f"def is_wrong_{name}():\n    return True\n\n\n" for name in "abcde")
SOURCE += "MADE = []\n\n\ndef make(value):\n    def made():\n        return True\n\n    return made\n"
VALUE = ("outputs", "mismatch", "value")
SHAPE = ("outputs", "mismatch", "shape")
TYPE = ("outputs", "mismatch", "type")


def finding(signature: tuple[str, ...], mode: str = "nonstrict") -> Finding:
    return make_finding(*signature[2:], path=f"{mode}:module@cpu")


@pytest.fixture
def torch_like(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Write a module with functions that are wrong until they are mended."""
    package = f"like_{tmp_path.name}"
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").write_text("")
    (tmp_path / package / "code.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module(f"{package}.code")
    for name in (package, f"{package}.code"):
        del sys.modules[name]


@pytest.fixture
def corpora(tmp_path: pathlib.Path, torch_like: ModuleType) -> pathlib.Path:
    """Write a corpus with a fix for each of these functions, and entries for some of them."""
    (tmp_path / "corpora" / "open").mkdir(parents=True)
    (tmp_path / "corpora" / "fixes").mkdir()
    for name in "abcde":
        start = f"is_wrong_{name}():\n    return "
        write_fix(tmp_path, torch_like, name, f"{start}True", f"{start}False")
    entry(tmp_path, "a_value", VALUE, fix="mends_a")
    entry(tmp_path, "a_shape", SHAPE, fix="mends_a")
    entry(tmp_path, "b_value", VALUE, fix="mends_b")
    entry(tmp_path, "c_shape", SHAPE, fix="mends_c")
    entry(tmp_path, "with_cond", TYPE, trigger=["op.cond"])
    entry(tmp_path, "untriggered", TYPE)
    return tmp_path / "corpora"


def write_fix(folder: pathlib.Path, module: ModuleType, name: str, old: str, new: str) -> None:
    path = module.__name__.replace(".", "/") + ".py"
    mended = SOURCE.replace(old, new)
    before, after = (text.splitlines(keepends=True) for text in (SOURCE, mended))
    diff = "".join(difflib.unified_diff(before, after, f"a/{path}", f"b/{path}"))
    (folder / "corpora" / "fixes" / f"mends_{name}.patch").write_text(f"Mend {name}\n\n---\n{diff}")


PLAIN = "def make():\n    ...\n"


def entry(
    folder: pathlib.Path,
    name: str,
    signature: Sequence[str],
    fix: str = "",
    trigger: Sequence[str] = (),
    code: str = PLAIN,
    path: str = "nonstrict:unflatten@cpu",
    runners: Sequence[str] = (),
) -> None:
    lines = [
        "# /// script",
        "# [tool.exportdiff]",
        '# status = "open"',
        f'# path = "{path}"',
        f"# signatures = [{list(signature)}]".replace("'", '"'),
        f'# fix = "{fix}"',
        f"# trigger = {list(trigger)}".replace("'", '"'),
        f"# runners = {list(runners)}".replace("'", '"'),
        "# ///",
    ]
    (folder / "corpora" / "open" / f"{name}.py").write_text("\n".join(lines) + f"\n{code}")


@pytest.fixture
def judging(torch_like: ModuleType) -> Callable[..., Judge]:
    """Make a judge whose findings depend on which functions are wrong; it counts its calls."""

    def make(calls: list[int], **wrong: Callable[..., bool]) -> Judge:
        signatures = {"value": VALUE, "shape": SHAPE, "type": TYPE}

        def judge(case: Case, paths: Sequence[Path], refusals: object = ()) -> Verdict:
            calls.append(1)
            state = {name: getattr(torch_like, f"is_wrong_{name}")() for name in "abcde"}
            shown = tuple(finding(signatures[name]) for name, shows in wrong.items() if shows(**state))
            return Verdict(True, "", (), shown, 0.0)

        return judge

    return make


UNFLATTEN, RELOAD, STRICT = "nonstrict:unflatten@cpu", "nonstrict+reload:module@cpu", "strict:module@cpu"

CASE = case_from_source("def make():\n    return None\n")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def causes(answer: Sequence[ExplainedFinding]) -> dict[str, tuple[str, ...]]:
    """Return the names of the causes by fingerprint, without what is new."""
    return {each.finding.fingerprint: tuple(c.name for c in each.causes) for each in answer if each.causes}


def entries(answer: Sequence[ExplainedFinding]) -> list[tuple[str, ...]]:
    return [tuple(cause.entry for cause in each.causes) for each in answer]


def verdict_of(*findings: Finding) -> Verdict:
    return Verdict(True, "", (), findings, 0.0)


def on(signature: tuple[str, ...], *paths: str) -> Finding:
    shown_on = tuple(map(parse, paths))
    return replace(finding(signature), path=shown_on[0], shown_on=shown_on)


def test_what_a_fix_mends_is_its_bug_however_it_shows(
    corpora: pathlib.Path, judging: Callable[..., Judge]
) -> None:
    judge = judging([], value=lambda a, **_: a, shape=lambda c, **_: c, type=lambda a, **_: a)
    answer = explain(CASE, judge(CASE, ()), (), knowledge(corpora), judge)
    assert list(causes(answer).values()) == [("mends_a",), ("mends_c",), ("mends_a",)]
    # One line for a root cause: the entry that shows as the finding does; of the others the first.
    assert entries(answer) == [("a_value",), ("c_shape",), ("a_shape",)]


def test_a_fix_that_changes_how_a_bug_shows_explains_nothing(
    corpora: pathlib.Path, judging: Callable[..., Judge]
) -> None:
    judge = judging([], value=lambda a, **_: a, shape=lambda a, **_: not a)
    assert causes(explain(CASE, judge(CASE, ()), (), knowledge(corpora), judge)) == {}


def test_a_fix_that_only_mends_what_another_exposes_is_not_named(
    corpora: pathlib.Path, judging: Callable[..., Judge]
) -> None:
    judge = judging([], value=lambda a, **_: a, shape=lambda a, d, **_: not a and d)
    answer = explain(CASE, judge(CASE, ()), (), knowledge(corpora), judge)
    assert list(causes(answer).values()) == [("mends_a",)]


def test_what_the_corpus_records_as_exposed_is_no_objection(
    corpora: pathlib.Path, judging: Callable[..., Judge]
) -> None:
    file = corpora / "open" / "a_value.py"
    file.write_text(file.read_text().replace("# trigger", f"# unmasked = [{json.dumps(SHAPE)}]\n# trigger"))
    judge = judging([], value=lambda a, **_: a, shape=lambda a, **_: not a)
    answer = explain(CASE, judge(CASE, ()), (), knowledge(corpora), judge)
    assert list(causes(answer).values()) == [("mends_a",)]


def test_what_follows_from_a_finding_was_shown_already(corpora: pathlib.Path, torch_like: ModuleType) -> None:
    shape = finding(SHAPE)
    value = replace(finding(VALUE), consequences=(Consequence("outputs", shape.evidence),))

    def judge(case: Case, paths: Sequence[Path], refusals: object = ()) -> Verdict:
        return verdict_of(value if torch_like.is_wrong_a() else shape)

    answer = explain(CASE, judge(CASE, ()), (), knowledge(corpora), judge)
    assert causes(answer) == {value.fingerprint: ("mends_a",)}


@pytest.mark.parametrize(("after", "explained"), [("too-dynamic", True), ("another", False)])
def test_what_a_refused_export_leaves_is_explained_though_torch_still_refuses(
    corpora: pathlib.Path, torch_like: ModuleType, after: str, *, explained: bool
) -> None:
    def judge(case: Case, paths: Sequence[Path], refusals: object = ()) -> Verdict:
        path = parse("nonstrict:module@cpu")
        if torch_like.is_wrong_a():
            result = PathResult(path, "finding", "too-dynamic", outcome="refused")
            return Verdict(True, "", (result,), (finding(VALUE),), 0.0)
        return Verdict(True, "", (PathResult(path, "unsupported", after),), (), 0.0)

    answer = explain(CASE, judge(CASE, ()), (), knowledge(corpora), judge)
    assert (list(causes(answer).values()) == [("mends_a",)]) == explained


def test_two_bugs_that_show_alike_on_one_path_are_both_named(
    corpora: pathlib.Path, judging: Callable[..., Judge]
) -> None:
    judge = judging([], value=lambda a, b, **_: a or b)
    answer = explain(CASE, judge(CASE, ()), (), knowledge(corpora), judge)
    assert list(causes(answer).values()) == [("mends_a", "mends_b")]


@pytest.mark.parametrize("second", ["b", "nothing"])
def test_two_bugs_that_show_alike_on_two_paths_are_two(
    corpora: pathlib.Path, torch_like: ModuleType, second: str
) -> None:
    def judge(case: Case, paths: Sequence[Path], refusals: object = ()) -> Verdict:
        wrong = [UNFLATTEN] if torch_like.is_wrong_a() else []
        wrong += [RELOAD] if second != "b" or torch_like.is_wrong_b() else []
        shown = [path for path in wrong if parse(path) in paths]
        return verdict_of(*([on(VALUE, *shown)] if shown else []))

    plain = judge(CASE, tuple(map(parse, (UNFLATTEN, RELOAD))))
    answer = explain(CASE, plain, (), knowledge(corpora), judge)
    parts = {tuple(map(str, each.finding.shown_on)): [c.name for c in each.causes] for each in answer}
    assert parts == {(UNFLATTEN,): ["mends_a"], (RELOAD,): ["mends_b"] if second == "b" else []}


@pytest.mark.parametrize(
    "needed", [*map(set, "abcde"), *map(set, combinations("abcde", 2)), set("abcde")], ids=sorted
)
def test_fixes_are_found_wherever_they_stand(
    corpora: pathlib.Path, judging: Callable[..., Judge], needed: set[str]
) -> None:
    for file in (corpora / "open").iterdir():
        file.unlink()
    judge = judging([], value=lambda **state: any(state[name] for name in needed))
    answer = explain(CASE, judge(CASE, ()), (), knowledge(corpora), judge, each=40)
    assert list(causes(answer).values()) == [tuple(f"mends_{name}" for name in sorted(needed))]


@pytest.mark.parametrize(("name", "other"), list(permutations("abcde", 2)))
def test_a_fix_that_brings_about_what_shows_alike_hides_no_other(
    corpora: pathlib.Path, judging: Callable[..., Judge], name: str, other: str
) -> None:
    judge = judging([], value=lambda **state: state[name] or not state[other])
    answer = explain(CASE, judge(CASE, ()), (), knowledge(corpora), judge)
    assert list(causes(answer).values()) == [(f"mends_{name}",)]


@pytest.mark.parametrize("name", "bcde")
def test_of_what_shows_alike_the_program_most_alike_is_tried_first(
    corpora: pathlib.Path, judging: Callable[..., Judge], name: str
) -> None:
    code = "def make():\n    return flip(torch.ones(2))\n"
    entry(corpora.parent, "z_value", VALUE, f"mends_{name}", code=code)
    calls: list[int] = []
    judge = judging(calls, value=lambda **state: state[name])
    case = case_from_source(f"import torch\n{code}")
    found = judge(case, ())
    calls.clear()
    assert entries(explain(case, found, (), knowledge(corpora), judge)) == [("z_value",)]
    assert len(calls) == 3


def test_a_fix_without_an_entry_still_explains(corpora: pathlib.Path, judging: Callable[..., Judge]) -> None:
    judge = judging([], value=lambda d, **_: d)
    answer = explain(CASE, judge(CASE, ()), (), knowledge(corpora), judge)
    assert list(causes(answer).values()) == [("mends_d",)] and entries(answer) == [("",)]


def test_what_no_fix_mends_is_new_though_it_looks_known(
    corpora: pathlib.Path, judging: Callable[..., Judge]
) -> None:
    judge = judging([], value=lambda **_: True)
    assert causes(explain(CASE, judge(CASE, ()), ("op.cond",), knowledge(corpora), judge)) == {}


def test_without_a_fix_mode_signature_and_trigger_decide(
    corpora: pathlib.Path, judging: Callable[..., Judge]
) -> None:
    judge, known = judging([], type=lambda **_: True), knowledge(corpora)
    found = judge(CASE, ())
    assert causes(explain(CASE, found, ("op.cond", "op.add"), known, judge)) == {
        found.findings[0].fingerprint: ("with_cond",)
    }
    assert causes(explain(CASE, found, ("op.add",), known, judge)) == {}
    strict = verdict_of(finding(TYPE, "strict"))
    assert causes(explain(CASE, strict, ("op.cond",), known, lambda *_: strict)) == {}


def test_a_bug_of_a_transform_explains_nothing_on_a_path_without_it(
    tmp_path: pathlib.Path, corpora: pathlib.Path, judging: Callable[..., Judge]
) -> None:
    path = "nonstrict+preserve+swapped:module@cpu"
    entry(tmp_path, "with_cond", TYPE, trigger=["op.cond"], path=path)
    judge, known = judging([], type=lambda **_: True), knowledge(corpora)
    found = judge(CASE, ())
    assert causes(explain(CASE, found, ("op.cond",), known, judge)) == {}
    swapped = verdict_of(finding(TYPE, "nonstrict+preserve+swapped"))
    assert causes(explain(CASE, swapped, ("op.cond",), known, lambda *_: swapped)) == {
        swapped.findings[0].fingerprint: ("with_cond",)
    }


@pytest.mark.parametrize("runner", ["unflatten", "module"])
def test_an_entry_that_names_its_runners_explains_nothing_on_others(
    tmp_path: pathlib.Path, corpora: pathlib.Path, judging: Callable[..., Judge], runner: str
) -> None:
    entry(tmp_path, "with_cond", TYPE, trigger=["op.cond"], runners=[runner])
    judge = judging([], type=lambda **_: True)
    found = judge(CASE, ())
    explained = causes(explain(CASE, found, ("op.cond",), knowledge(corpora), judge))
    assert bool(explained) == (found.findings[0].runner == runner)


@pytest.mark.parametrize(
    ("paths", "names"), [((UNFLATTEN, RELOAD), ("one", "other")), ((UNFLATTEN,), ("one",))]
)
def test_entries_of_different_runners_explain_a_finding_together(
    tmp_path: pathlib.Path, corpora: pathlib.Path, paths: tuple[str, ...], names: tuple[str, ...]
) -> None:
    entry(tmp_path, "one", TYPE, trigger=["op.map"], runners=["unflatten"])
    entry(tmp_path, "other", TYPE, trigger=["op.map"], runners=["module"])
    found = verdict_of(on(TYPE, *paths))
    known = knowledge(corpora)
    explained = causes(explain(CASE, found, ("op.map",), known, lambda *_: found))
    assert explained == {found.findings[0].fingerprint: names}


def test_it_is_cheap(corpora: pathlib.Path, judging: Callable[..., Judge]) -> None:
    calls: list[int] = []
    judge = judging(calls, value=lambda a, **_: a)
    found = judge(CASE, ())
    calls.clear()
    assert explain(CASE, verdict_of(), (), knowledge(corpora), judge) == ()
    assert not calls
    explain(CASE, found, (), knowledge(corpora), judge)
    # To see which fixes are executed, here and by an ordinary model; and with the fix of the entry that shows
    # like this. The second time, the lines of the ordinary model are cached.
    assert len(calls) == 3
    explain(CASE, found, (), knowledge(corpora), judge)
    assert len(calls) == 5


def test_no_process_compiles_all_fixes_again(
    corpora: pathlib.Path, judging: Callable[..., Judge], monkeypatch: pytest.MonkeyPatch
) -> None:
    def begin_process() -> Knowledge:
        knowledge.cache_clear()
        fixes._patched.cache_clear()
        plan._PLANS.clear()
        return knowledge(corpora)

    judge = judging([], value=lambda a, **_: a)
    found = judge(CASE, ())
    begin_process()
    compiled = list[tuple[fixes.Fix, ...]]()
    new_plan = plan._new_plan

    def watched(together: tuple[fixes.Fix, ...], files: Mapping[str, str]) -> plan.Plan:
        compiled.append(together)
        return new_plan(together, files)

    monkeypatch.setattr(plan, "_new_plan", watched)
    assert len(causes(explain(CASE, found, (), begin_process(), judge))) == 1
    assert [len(each) for each in compiled if len(each) > 1] == []


@pytest.mark.parametrize(("limit", "word"), [({"each": 0}, "judgements"), ({"seconds": 0.0}, "time")])
def test_a_finding_says_when_attribution_ended_early(
    corpora: pathlib.Path, judging: Callable[..., Judge], limit: dict[str, Any], word: str
) -> None:
    judge = judging([], value=lambda a, **_: a)
    (part,) = explain(CASE, judge(CASE, ()), (), knowledge(corpora), judge, **limit)
    assert part.causes == () and part.remark == f"attribution ran out of {word}"
    # The mended verdict is known already: it is a known bug, and only its name is not.
    (part,) = explain(CASE, judge(CASE, ()), (), knowledge(corpora), judge, mended=MENDED, **limit)
    assert part.causes == (UNRESOLVED,) and "one of 5 fixes" in part.remark


def test_all_findings_share_the_judgements(corpora: pathlib.Path, judging: Callable[..., Judge]) -> None:
    calls: list[int] = []
    judge = judging(calls, value=lambda a, b, **_: a or b)
    found = judge(CASE, ())
    calls.clear()
    parts = explain(
        CASE,
        replace(found, findings=found.findings * 2),
        (),
        knowledge(corpora),
        judge,
        judgements=1,
    )
    assert all(part.remark.startswith("attribution ran out of judgements") for part in parts)
    assert len(parts) == 2
    assert len(calls) == 2  # one, and one of an ordinary model, which later findings use again
    (part,) = explain(CASE, found, (), knowledge(corpora), judge, judgements=100)
    assert part.causes and not part.remark


MENDED = Verdict(True, "", (PathResult(parse("nonstrict:module@cpu"), "ok"),), (), 0.0)


def residual(
    corpora: pathlib.Path, judge: Judge, tags: Sequence[str] = ()
) -> list[ExplainedFinding | ResidualFinding]:
    known = knowledge(corpora)
    with only_these_fixes(known.usable_fixes):
        mended = judge(CASE, (parse("nonstrict:module@cpu"),))
        return list(sort_residual_findings(CASE, mended, tags, known, judge))


@pytest.fixture
def status(torch_like: ModuleType) -> Callable[..., Judge]:
    """Make a judge that says of the one path what it shows: a signature, ``ok`` or a refusal."""

    def make(answer: Callable[[str], tuple[str, ...] | str]) -> Judge:
        def judge(case: Case, paths: Sequence[Path], refusals: object = ()) -> Verdict:
            mended = "".join(name for name in "abcde" if not getattr(torch_like, f"is_wrong_{name}")())
            shown = answer(mended)
            (path,) = paths
            if isinstance(shown, tuple):
                return Verdict(True, "", (PathResult(path, "finding"),), (finding(shown),), 0.0)
            return Verdict(True, "", (PathResult(path, "ok" if shown == "ok" else "unsupported"),), (), 0.0)

        return judge

    return make


def test_what_plain_torch_shows_too_is_new(corpora: pathlib.Path, status: Callable[..., Judge]) -> None:
    (left,) = residual(corpora, status(lambda mended: VALUE))
    assert left == ResidualFinding(finding(VALUE), NEW)


def test_an_entry_without_a_fix_explains_a_leftover(
    corpora: pathlib.Path, status: Callable[..., Judge]
) -> None:
    (left,) = residual(corpora, status(lambda mended: TYPE), ["op.cond"])
    assert isinstance(left, ExplainedFinding) and left.causes[0].name == "with_cond"


@pytest.mark.parametrize("needed", ["a", "d", "be"])
def test_a_fix_that_breaks_what_is_right_is_named(
    corpora: pathlib.Path, status: Callable[..., Judge], needed: str
) -> None:
    (left,) = residual(corpora, status(lambda mended: VALUE if {*needed} <= {*mended} else "ok"))
    assert isinstance(left, ResidualFinding)
    assert left.classification == Classification("regression", tuple(f"mends_{name}" for name in needed))


@pytest.mark.parametrize("instead", [SHAPE, "unsupported"])
@pytest.mark.parametrize("needed", ["c", "ad"])
def test_a_bug_that_a_known_one_hides_is_masked(
    corpora: pathlib.Path, status: Callable[..., Judge], needed: str, instead: tuple[str, ...] | str
) -> None:
    (left,) = residual(corpora, status(lambda mended: VALUE if {*needed} <= {*mended} else instead))
    assert isinstance(left, ResidualFinding)
    assert left.classification == Classification("masked", tuple(f"mends_{name}" for name in needed))


def test_a_search_that_ends_early_says_so(
    corpora: pathlib.Path, status: Callable[..., Judge], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leftovers_module, "JUDGEMENTS", 0)
    (left,) = residual(corpora, status(lambda mended: VALUE if "d" in mended else SHAPE))
    assert isinstance(left, ResidualFinding) and left.classification.kind == "masked"
    assert left.classification.fixes == tuple(f"mends_{name}" for name in "abcde")
    assert "ran out of judgements" in left.classification.remark


def test_held_fixes_are_lifted_and_come_back(corpora: pathlib.Path, torch_like: ModuleType) -> None:
    known = knowledge(corpora).fixes
    install((known["mends_a"], known["mends_b"]))
    try:
        assert not torch_like.is_wrong_a() and not torch_like.is_wrong_b()
        with only_these_fixes((known["mends_c"],)):
            assert torch_like.is_wrong_a() and not torch_like.is_wrong_c()
            with without_fixes():
                assert torch_like.is_wrong_c()
            assert not torch_like.is_wrong_c()
        assert not torch_like.is_wrong_a() and torch_like.is_wrong_c()
    finally:
        install(())
    assert torch_like.is_wrong_a()


def test_knowledge_is_read_again_when_a_file_changes(corpora: pathlib.Path) -> None:
    before = knowledge(corpora)
    knowledge.cache_clear()
    assert knowledge(corpora) == before
    entry(corpora.parent, "further", VALUE)
    knowledge.cache_clear()
    assert len(knowledge(corpora).entries) == len(before.entries) + 1


def test_functions_that_are_alive_by_chance_decide_nothing_for_other_processes(
    corpora: pathlib.Path, torch_like: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user's call can put functions of torch into one of torch's tables; there they must run the fix."""
    write_fix(corpora.parent, torch_like, "f", "        return True", "        return value")
    torch_like.MADE.append(torch_like.make(1))
    assert knowledge(corpora).unusable == {"mends_f"}
    torch_like.MADE.clear()
    knowledge.cache_clear()
    fixes._patched.cache_clear()
    monkeypatch.setattr(live, "_LIVE", {})
    assert knowledge(corpora).unusable == frozenset()
