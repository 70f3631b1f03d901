"""Commits for PyTorch: the test as a method of a class, the style, the message, and the two tiers."""

from __future__ import annotations

import pathlib
import subprocess
import textwrap
from dataclasses import replace
from email import message_from_bytes
from email.policy import default

import pytest

from exportdiff.core.errors import UsageError
from exportdiff.known.corpus.entry import Entry
from exportdiff.known.upstream import verification
from exportdiff.known.upstream.commit import Commit, diff, mail, message_of, title_of
from exportdiff.known.upstream.expected_failures import expected_failures
from exportdiff.known.upstream.patch_series import LeftOut, MendedCause, Series, reasons_against
from exportdiff.known.upstream.plain_program import PlainProgram, with_load
from exportdiff.known.upstream.pytorch_test import (
    ClassOfTests,
    ExpectedRefusal,
    class_for,
    method,
    new_file,
    with_method,
)
from exportdiff.known.upstream.style import MESSAGE_COLUMNS, formatted_changes, wide_lines
from exportdiff.known.upstream.verification import Verified, verify
from exportdiff.known.upstream.written import Written
from exportdiff.runtime.patching.fix import Fix, Refused, read_fix
from support.the_corpus import CANDIDATES, all_causes

HOME = ClassOfTests("test/export/test_export.py", "TestExport")

PROGRAM = PlainProgram(
    ("import io", "from torch import nn"),
    ("class Model(nn.Module):\n    def forward(self, x):\n        return x.t_()  # first difference",),
    "model, args = Model(), (torch.ones(1),)\nexpected, got = model(*args), "
    "torch.export.export(model, args, strict=True).module()(*args)",
    compares=True,
)

TESTS = """\
import io

import torch


class TestExport(TestCase):
    def test_buffers(self):
        one = 1
        two = 2
        three = 3
        four = 4
        five = 5
        six = 6

    def test_order_of_dicts(self):
        one = 1
        two = 2
        three = 3
        four = 4
        five = 5
        six = 6

    def test_sizes(self):
        one = 1


class TestOther(TestCase):
    def test_order_of_dicts_and_keys(self):
        pass
"""

PATCH = """\
Keep the order of dicts

f, in torch/export/unflatten.py, sorts the keys of a dict, which may be of types that cannot be compared.

Kind: mend
Fits: 2.13.0
Objection: it sorts twice
---
--- a/torch/export/unflatten.py
+++ b/torch/export/unflatten.py
@@ -1,1 +1,1 @@
-a
+b
"""


@pytest.fixture
def fix(tmp_path: pathlib.Path) -> Fix:
    file = tmp_path / "keep_order.patch"
    file.write_text(PATCH)
    return read_fix(file)


def entry(**fields: object) -> Entry:
    found = Entry(
        pathlib.Path("loses_order.py"), status="open", path="nonstrict:module@cpu", harm="silently wrong"
    )
    fields = {"title": "unflatten: a dict comes back in another order", "reach": "occasional", **fields}
    return replace(found, **fields)  # type: ignore[arg-type]


def test_the_test_is_a_method_in_the_style_of_pytorch() -> None:
    assert method("keep_order", PROGRAM) == (
        "def test_keep_order(self):\n"
        "    import io\n"
        "\n"
        "    from torch import nn\n"
        "\n"
        "    class Model(nn.Module):\n"
        "        def forward(self, x):\n"
        "            return x.t_()\n"
        "\n"
        "    model, args = Model(), (torch.ones(1),)\n"
        "    expected = model(*args)\n"
        "    got = torch.export.export(model, args, strict=True).module()(*args)\n"
        "    self.assertEqual(got, expected)\n"
    )


@pytest.mark.parametrize(
    ("statements", "test"),
    [
        ("model, args = make()\nexpected, got = make()[0](*args), 1", "expected = Model()(*args)\ngot = 1\n"),
        ("(model, args), (other, _) = make(), make()\nexpected, got = 1, 2", "other = Model()\ngot = 2\n"),
        ("(expected,), (got,) = make()[1], make()[1]", "expected = torch.ones(1)\ngot = torch.ones(1)\n"),
        (
            "model = Model()\nexpected, got = model(*make()[1]), 1",
            "expected = model(torch.ones(1))\ngot = 1\n",
        ),
        ("expected, got = 0, export(shapes=dynamic_shapes())", 'got = export(shapes={"x": 1})\n'),
    ],
)
def test_a_test_calls_no_function_that_only_returns_a_value(statements: str, test: str) -> None:
    helpers = (
        "def make():\n    return Model(), (torch.ones(1),)",
        'def dynamic_shapes():\n    return {"x": 1}',
    )
    program = replace(PROGRAM, definitions=(*PROGRAM.definitions, *helpers), statements=statements)
    text = method("keep_order", program)
    assert textwrap.indent(test, "    ") in text
    assert "make" not in text and "dynamic_shapes" not in text
    several = "def make():\n    torch.manual_seed(0)\n    return Model(), (torch.ones(1),)"
    program = replace(program, definitions=(*PROGRAM.definitions, several, helpers[1]))
    assert ("= make()" in method("keep_order", program)) == ("= make()" in statements)


def test_a_test_compares_with_a_constant_and_expects_what_eager_raises() -> None:
    statements = (
        "with contextlib.suppress(IndexError):\n    call()\nexpected, got = True, torch.is_grad_enabled()"
    )
    text = method("keep", replace(PROGRAM, imports=("import contextlib",), statements=statements))
    assert text.endswith(
        "    with self.assertRaises(IndexError):\n"
        "        call()\n"
        "    got = torch.is_grad_enabled()\n"
        "    self.assertEqual(got, True)\n"
    )
    assert "contextlib" not in text


def test_a_refusal_is_what_the_test_demands() -> None:
    refusal = ExpectedRefusal("torch._dynamo.exc.UserError", "x (here) is refused", 2)
    text = method("keep_order", PROGRAM, refusal)
    assert "    from torch._dynamo.exc import UserError\n    from torch import nn\n" not in text
    assert "from torch._dynamo.exc import UserError" in text
    start = (
        '    with self.assertRaisesRegex(UserError, r"x \\(here\\) is refused"):\n        expected, got = ('
    )
    assert start in text
    compile(new_file(HOME, [text]), "test.py", "exec")


def test_the_test_comes_below_the_test_with_the_most_words_of_its_name() -> None:
    taken: set[int] = set()
    text = method("keep_order_of_keys", PROGRAM)
    one = with_method(TESTS, HOME, text, taken)
    assert one is not None
    names = [line.split()[1] for line in one.splitlines() if line.startswith("    def ")]
    assert [name.partition("(")[0] for name in names] == [
        "test_buffers",
        "test_order_of_dicts",
        "test_keep_order_of_keys",
        "test_sizes",
        "test_order_of_dicts_and_keys",
    ]
    # The file imports it already.
    assert one.count("import io\n") == 1
    # The next one needs another line, so that both patches apply in any order.
    two = with_method(TESTS, HOME, text, taken)
    assert two is not None and two.index("test_keep") < two.index("test_order_of_dicts")
    assert with_method(TESTS, HOME, text, taken) is None
    assert with_method(TESTS, ClassOfTests("", "TestUnflatten"), text, set()) is None


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("nonstrict:module@cpu", "TestExport"),
        ("strict+preserve:unflatten@cpu", "TestUnflatten"),
        ("nonstrict+reload:unflatten@cpu", "TestSaveLoad"),
        ("pipeline:stages@cpu", "PipeTests"),
        ("compile:aot_eager@cpu", "ReproTests"),
        ("nonstrict+preserve+swapped:module@cpu", "TestSwap"),
    ],
)
def test_the_class_of_a_test_follows_from_the_path(path: str, name: str) -> None:
    assert class_for(entry(path=path)).name == name


def test_a_test_of_saving_also_loads() -> None:
    program = replace(
        PROGRAM, statements="ep = export(model, args)\ntorch.export.save(ep, io.BytesIO())", compares=False
    )
    loads = with_load(program)
    assert loads.compares
    assert method("saves", loads).endswith(
        "    buffer = io.BytesIO()\n"
        "    torch.export.save(ep, buffer)\n"
        "    buffer.seek(0)\n"
        "    expected = model(*args)\n"
        "    got = torch.export.load(buffer).module()(*args)\n"
        "    self.assertEqual(got, expected)\n"
    )
    assert with_load(loads) == loads
    assert with_load(PROGRAM) == PROGRAM


def test_what_a_fix_changes_gets_the_width_of_pytorch() -> None:
    before = "def f(a):\n    return  {'a':1}\n\n\ndef g(a):\n    return 1\n"
    call = "call(argument_of_some_length, another_argument, a_third_argument, 'text', 1000000)"
    comment = "# " + "words that go on " * 6
    after = before.replace("    return 1\n", f"    {comment.strip()}\n    return {call}\n")
    text = formatted_changes(before, after)
    assert "    return  {'a':1}\n" in text  # the fix does not touch this line
    assert "\n    return call(\n" in text and 'a_third_argument, "text", 1000000\n' in text
    assert text.count("    # words") + text.count("    # go on") >= 1
    assert not wide_lines(before, text)
    wide = f"    return '{'x' * 80}'\n"
    assert wide_lines(before, before.replace("    return 1\n", wide)) == [wide.rstrip("\n")]
    assert not wide_lines(f"a = 1\n{wide}", f"{wide}a = 1\n")  # it moves
    pragma = f"    return {'x' * 70}  # type: ignore[attr-defined]\n"
    assert not wide_lines(before, before.replace("    return 1\n", pragma))


@pytest.mark.parametrize(
    ("upstream", "match", "fixes"),
    [
        ("https://github.com/pytorch/pytorch/issues/12", "mechanism", True),
        ("https://github.com/pytorch/pytorch/issues/12", "symptom", False),
        ("https://github.com/pytorch/pytorch/pull/12", "mechanism", False),
        ("", None, False),
    ],
)
def test_the_message_names_the_thread_with_the_same_cause(
    fix: Fix, upstream: str, match: str | None, fixes: bool
) -> None:
    text = message_of(entry(upstream=upstream, upstream_match=match), fix)
    assert text.startswith(
        "unflatten: a dict comes back in another order.\n\nf, in torch/export/unflatten.py"
    )
    assert " ".join(text.split()).endswith("be compared." + " Fixes #12" * fixes)
    assert max(map(len, text.splitlines())) <= MESSAGE_COLUMNS
    assert "Kind" not in text and "Objection" not in text
    assert title_of(fix) == "[export] Keep the order of dicts"


def test_each_mail_alone_and_all_in_turn_apply(tmp_path: pathlib.Path) -> None:
    taken: set[int] = set()
    texts = [with_method(TESTS, HOME, method(name, PROGRAM), taken) for name in ("keep_order", "keep_sizes")]
    tree = tmp_path / "tree"
    (tree / HOME.path).parent.mkdir(parents=True)
    (tree / HOME.path).write_text(TESTS)
    git(tree, "init", "-q", "-b", "main")
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", "before")
    title = "[export] Keep the order of what is in a dict, and of a list in Größe"
    files = []
    for number, text in enumerate(texts):
        commit = Commit("loses_order", title, "Why.", {HOME.path: (TESTS, text or "")})
        files.append(tmp_path / f"{number}.patch")
        files[-1].write_bytes(mail(commit, "A B <a@b.c>", "Thu, 01 Jan 1970 00:00:00 -0000"))
        git(tree, "checkout", "-q", "--detach", "main")
        git(tree, "am", "--keep-non-patch", str(files[-1]))
        assert git(tree, "log", "-1", "--format=%an|%s|%b").strip() == f"A B|{title}|Why."
        assert (tree / HOME.path).read_text() == text
    git(tree, "checkout", "-q", "main")
    git(tree, "am", *map(str, files))


def test_a_mail_is_read_as_a_mail() -> None:
    commit = Commit("new", "[fx] New", "Why.", {"test/a.py": ("", "a = 1\n")})
    head, _, rest = mail(commit, "A B <a@b.c>", "Thu, 01 Jan 1970 00:00:00 -0000").partition(b"\n")
    assert head.startswith(b"From 0000000000000000000000000000000000000000 ")
    message = message_from_bytes(rest, policy=default)
    assert message["Subject"] == "[PATCH] [fx] New"
    body = message.get_content()
    assert body.startswith("Why.\n---\n test/a.py | 1\n\ndiff --git a/test/a.py b/test/a.py\nnew file mode")
    assert diff(commit) in body


@pytest.mark.parametrize(
    ("of_entry", "of_fix", "refusal", "reason"),
    [
        ({"reach": "contrived"}, {}, False, "its severity is C"),
        ({}, {"kind": "workaround"}, False, 'its fix is of kind "workaround"'),
        ({}, {"refuses": (Refused("ValueError", "no"),)}, False, "its fix refuses models"),
        ({}, {}, True, "its fix refuses models"),
        ({}, {"objection": "it sorts twice"}, False, "a reviewer would object: it sorts twice"),
        ({"defended": "URL: no"}, {}, False, "a maintainer has defended the behaviour: URL: no"),
        ({"upstream_fix": "URL"}, {}, False, "a pull request is about it already: URL"),
        ({"reach": "everyday"}, {}, False, ""),
    ],
)
def test_the_second_tier_has_a_reason(
    fix: Fix, of_entry: dict[str, object], of_fix: dict[str, object], refusal: bool, reason: str
) -> None:
    fix = replace(fix, objection="")
    mended = MendedCause(
        entry(**of_entry),
        replace(fix, **of_fix),  # type: ignore[arg-type]
        PROGRAM,
        ExpectedRefusal("ValueError", "no", 1) if refusal else None,
    )
    commit = Commit("a", "[fx] A", "Why.", {"torch/a.py": ("a\n", "b\n")})
    assert reasons_against(mended, commit) == [reason] * bool(reason)


def test_large_and_wide_commits_are_of_the_second_tier(fix: Fix) -> None:
    mended = MendedCause(entry(), replace(fix, objection=""), PROGRAM, None)
    large = Commit("a", "[fx] A", "Why.", {"torch/a.py": ("", "a\n" * 61), "test/a.py": ("", "a\n" * 200)})
    assert reasons_against(mended, large) == ["it changes 61 lines of torch, more than 60"]
    wide = Commit("a", f"[fx] {'a ' * 40}", "Why.", {})
    assert reasons_against(mended, wide) == [f"too wide: {wide.title.strip()}"]


def test_the_objection_of_a_reviewer_is_read(fix: Fix) -> None:
    assert fix.objection == "it sorts twice"


def test_the_folder_has_both_tiers_and_the_tests_of_open_bugs(fix: Fix, tmp_path: pathlib.Path) -> None:
    tree, folder = tmp_path / "tree", tmp_path / "out"
    for path, text in {HOME.path: TESTS, "torch/export/unflatten.py": "a\n"}.items():
        (tree / path).parent.mkdir(parents=True)
        (tree / path).write_text(text)
    written = Written(folder, "A B <a@b.c>", "Thu, 01 Jan 1970 00:00:00 -0000", Series(tree))
    good = MendedCause(entry(), replace(fix, objection=""), PROGRAM, None)
    assert written.add(good) == "0001      loses_order  [export] Keep the order of dicts"
    other = replace(entry(), file=pathlib.Path("other.py"))
    assert written.add(replace(good, entry=other)) == "left out  other: the commit of loses_order has its fix"
    assert written.add(MendedCause(other, replace(fix, name="x"), PROGRAM, None)).startswith(
        "second    other"
    )
    assert written.add(LeftOut(replace(other, path="draft:module@cpu"), "it has no fix")).startswith(
        "left out"
    )
    draft = MendedCause(replace(other, path="draft:module@cpu"), replace(fix, name="y"), PROGRAM, None)
    assert written.add(draft).endswith("has no file test/export/test_draft_export.py")
    assert written.finish().startswith("1 commits of the first tier; 4 tests of open bugs")
    assert (folder / "0001-loses_order.patch").exists() and (folder / "second-tier/other.patch").exists()
    reasons = (folder / "second-tier.md").read_text()
    assert "- [`other`](second-tier/other.patch): a reviewer would object: it sorts twice\n" in reasons


def test_a_verification_goes_on_where_it_was(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mails = [tmp_path / f"{name}.patch" for name in ("bad", "good", "old")]
    for mail_ in mails:
        mail_.write_text(mail_.stem)
    ran: list[str] = []

    def run_test(mail: pathlib.Path, digest: str, sources: pathlib.Path | None) -> Verified:
        ran.append(mail.stem)
        if mail.stem == "old":
            raise UsageError("git am: patch does not apply")
        return Verified(digest, fails_without=mail.stem == "good", passes_with=True, output="")

    monkeypatch.setattr(verification, "_run_test", run_test)
    problems = {mail.stem: verified.problem for mail, verified in verify(mails, None, 1)}
    assert problems == {
        "bad": "its test passes without it",
        "good": "",
        "old": "its test fails with it: git am: patch does not apply",
    }
    mails[0].write_text("another")
    assert {mail.stem: verified.problem for mail, verified in verify(mails, None, 1)} == problems
    assert sorted(ran) == ["bad", "bad", "good", "old"]


def test_an_open_bug_has_an_expected_failure() -> None:
    text = expected_failures([(entry(id="XD9"), PROGRAM)])
    assert text.startswith('# Owner(s): ["oncall: export"]\n\nimport unittest\n\nimport torch\n')
    assert (
        "    # XD9: unflatten: a dict comes back in another order\n"
        "    @unittest.expectedFailure\n"
        "    def test_loses_order(self):\n"
    ) in text
    assert text.endswith('\n\nif __name__ == "__main__":\n    run_tests()\n')
    compile(text, "test.py", "exec")


def test_titles_of_fixes_that_mend_fit_into_a_subject() -> None:
    for cause in all_causes():
        for fix in CANDIDATES.get(cause.entry.fix, ()):
            if fix.kind == "mend" and not fix.refuses and cause.entry.severity in ("A", "B"):
                assert len(title_of(fix)) <= MESSAGE_COLUMNS, fix.patch


def git(folder: pathlib.Path, *words: str) -> str:
    author = ["-c", "user.name=C", "-c", "user.email=c@d.e"]
    done = subprocess.run(
        ["git", *author, *words], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
