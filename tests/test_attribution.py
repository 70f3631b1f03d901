"""Which known bug a finding is: told by what mends it, else by its trigger."""

from __future__ import annotations

import difflib
import importlib
import pathlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from types import ModuleType
from typing import TypeAlias

import pytest
from evidence_of import make_finding

from harness.case import Case, case_from_source
from harness.findings import Finding
from harness.judge.verdict import Verdict
from harness.known.attribution import explain, knowledge
from harness.path import Path
from harness.paths import parse

Judge: TypeAlias = Callable[[Case, Sequence[Path]], Verdict]

SOURCE = "".join(f"def is_wrong_{name}():\n    return True\n\n\n" for name in "abcde")
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
    path = torch_like.__name__.replace(".", "/") + ".py"
    for name in "abcde":
        mended = SOURCE.replace(
            f"is_wrong_{name}():\n    return True", f"is_wrong_{name}():\n    return False"
        )
        before, after = (text.splitlines(keepends=True) for text in (SOURCE, mended))
        diff = "".join(difflib.unified_diff(before, after, f"a/{path}", f"b/{path}"))
        (tmp_path / "corpora" / "fixes" / f"mends_{name}.patch").write_text(f"Mend {name}\n\n---\n{diff}")
    entry(tmp_path, "a_value", VALUE, fix="mends_a")
    entry(tmp_path, "a_shape", SHAPE, fix="mends_a")
    entry(tmp_path, "b_value", VALUE, fix="mends_b")
    entry(tmp_path, "c_shape", SHAPE, fix="mends_c")
    entry(tmp_path, "with_cond", TYPE, trigger=["op.cond"])
    entry(tmp_path, "untriggered", TYPE)
    return tmp_path / "corpora"


PLAIN = "def make():\n    ...\n"


def entry(
    folder: pathlib.Path,
    name: str,
    signature: Sequence[str],
    fix: str = "",
    trigger: Sequence[str] = (),
    code: str = PLAIN,
) -> None:
    lines = [
        "# /// script",
        "# [tool.exportdiff]",
        '# status = "open"',
        '# path = "nonstrict:unflatten@cpu"',
        f"# signatures = [{list(signature)}]".replace("'", '"'),
        f'# fix = "{fix}"',
        f"# trigger = {list(trigger)}".replace("'", '"'),
        "# ///",
    ]
    (folder / "corpora" / "open" / f"{name}.py").write_text("\n".join(lines) + f"\n{code}")


@pytest.fixture
def judging(torch_like: ModuleType) -> Callable[..., Judge]:
    """Make a judge whose findings depend on which functions are wrong; it counts its calls."""

    def make(calls: list[int], **wrong: Callable[..., bool]) -> Judge:
        signatures = {"value": VALUE, "shape": SHAPE, "type": TYPE}

        def judge(case: Case, paths: Sequence[Path]) -> Verdict:
            calls.append(1)
            state = {name: getattr(torch_like, f"is_wrong_{name}")() for name in "abcde"}
            shown = tuple(finding(signatures[name]) for name, shows in wrong.items() if shows(**state))
            return Verdict(True, "", (), shown, 0.0)

        return judge

    return make


UNFLATTEN, RELOAD, STRICT = "nonstrict:unflatten@cpu", "nonstrict+reload:module@cpu", "strict:module@cpu"

CASE = case_from_source("def make():\n    return None\n")


def test_what_a_fix_mends_is_that_entrys_however_it_shows(
    corpora: pathlib.Path, judging: Callable[..., Judge]
) -> None:
    judge = judging([], value=lambda a, **_: a, shape=lambda c, **_: c, type=lambda a, **_: a)
    found = judge(CASE, ()).findings
    answer = explain(CASE, found, (), knowledge(corpora), judge)
    value, shape, kind = found
    assert answer[value.fingerprint] == ("a_value",)
    assert answer[shape.fingerprint] == ("c_shape",)
    # No entry with this fix shows as this finding does: it is one of them all the same.
    assert answer[kind.fingerprint] == ("a_shape", "a_value")


def test_two_bugs_that_show_alike_are_both_named(
    corpora: pathlib.Path, judging: Callable[..., Judge]
) -> None:
    judge = judging([], value=lambda a, b, **_: a or b)
    found = judge(CASE, ()).findings
    assert explain(CASE, found, (), knowledge(corpora), judge) == {
        found[0].fingerprint: ("a_value", "b_value")
    }


@pytest.mark.parametrize(
    "needed", [*map(set, "abcde"), *map(set, combinations("abcde", 2)), set("abcde")], ids=sorted
)
def test_fixes_are_found_wherever_they_stand(
    corpora: pathlib.Path, judging: Callable[..., Judge], needed: set[str]
) -> None:
    for file in (corpora / "open").iterdir():
        file.unlink()
    judge = judging([], value=lambda **state: any(state[name] for name in needed))
    found = judge(CASE, ()).findings
    expected = tuple(f"mends_{name}" for name in sorted(needed))
    assert explain(CASE, found, (), knowledge(corpora), judge) == {found[0].fingerprint: expected}


@pytest.mark.parametrize(("name", "other"), permutations("abcde", 2))
def test_a_fix_that_brings_about_what_shows_alike_hides_no_other(
    corpora: pathlib.Path, judging: Callable[..., Judge], name: str, other: str
) -> None:
    judge = judging([], value=lambda **state: state[name] or not state[other])
    found = judge(CASE, ()).findings
    expected = {"a": "a_value", "b": "b_value", "c": "c_shape"}.get(name, f"mends_{name}")
    assert explain(CASE, found, (), knowledge(corpora), judge) == {found[0].fingerprint: (expected,)}


@pytest.mark.parametrize("name", "bcde")
def test_of_what_shows_alike_the_program_most_alike_is_tried_first(
    corpora: pathlib.Path, judging: Callable[..., Judge], name: str
) -> None:
    code = "def make():\n    return flip(torch.ones(2))\n"
    entry(corpora.parent, "z_value", VALUE, f"mends_{name}", code=code)
    calls: list[int] = []
    judge = judging(calls, value=lambda **state: state[name])
    case = case_from_source(f"import torch\n{code}")
    found = judge(case, ()).findings
    calls.clear()
    assert "z_value" in explain(case, found, (), knowledge(corpora), judge)[found[0].fingerprint]
    assert len(calls) == 1


def test_a_fix_without_an_entry_still_explains(corpora: pathlib.Path, judging: Callable[..., Judge]) -> None:
    judge = judging([], value=lambda d, **_: d)
    found = judge(CASE, ()).findings
    assert explain(CASE, found, (), knowledge(corpora), judge) == {found[0].fingerprint: ("mends_d",)}


def test_what_no_fix_mends_is_new_though_it_looks_known(
    corpora: pathlib.Path, judging: Callable[..., Judge]
) -> None:
    judge = judging([], value=lambda **_: True)
    assert explain(CASE, judge(CASE, ()).findings, ("op.cond",), knowledge(corpora), judge) == {}


def test_without_a_fix_mode_signature_and_trigger_decide(
    corpora: pathlib.Path, judging: Callable[..., Judge]
) -> None:
    judge, known = judging([], type=lambda **_: True), knowledge(corpora)
    (found,) = judge(CASE, ()).findings
    assert explain(CASE, [found], ("op.cond", "op.add"), known, judge) == {found.fingerprint: ("with_cond",)}
    assert explain(CASE, [found], ("op.add",), known, judge) == {}
    strict = finding(TYPE, "strict")
    assert (
        explain(CASE, [strict], ("op.cond",), known, lambda *_: Verdict(True, "", (), (strict,), 0.0)) == {}
    )


def test_what_a_fix_uncovers_on_another_path_is_another_finding(
    corpora: pathlib.Path, torch_like: ModuleType
) -> None:
    def on(*paths: str) -> Finding:
        shown_on = tuple(map(parse, paths))
        return replace(finding(VALUE), path=shown_on[0], shown_on=shown_on)

    def hidden(case: Case, paths: Sequence[Path]) -> Verdict:
        shown = on(UNFLATTEN) if torch_like.is_wrong_a() else on(RELOAD)
        return Verdict(True, "", (), (shown,), 0.0)

    def merged(case: Case, paths: Sequence[Path]) -> Verdict:
        shown = on(UNFLATTEN, RELOAD) if torch_like.is_wrong_a() else on(STRICT, RELOAD)
        return Verdict(True, "", (), (shown,), 0.0)

    known = knowledge(corpora)
    (found,) = hidden(CASE, ()).findings
    assert explain(CASE, [found], (), known, hidden) == {found.fingerprint: ("a_value",)}
    (found,) = merged(CASE, ()).findings
    assert explain(CASE, [found], (), known, merged) == {}


def test_it_is_cheap(corpora: pathlib.Path, judging: Callable[..., Judge]) -> None:
    calls: list[int] = []
    judge = judging(calls, value=lambda a, **_: a)
    found = judge(CASE, ()).findings
    calls.clear()
    assert explain(CASE, (), (), knowledge(corpora), judge) == {}
    assert not calls
    explain(CASE, found, (), knowledge(corpora), judge)
    # Once, with the fix of the entry which shows like this.
    assert len(calls) == 1
