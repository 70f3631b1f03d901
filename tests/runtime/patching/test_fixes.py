"""Candidate fixes: a patch changes functions everywhere in the process, and only while its block runs."""

from __future__ import annotations

import difflib
import importlib
import io
import math
import pathlib
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import version
from types import ModuleType
from typing import Any

import pytest

from exportdiff.known.corpus.entry import FIXES
from exportdiff.known.corpus.needed_fixes import fixes_named
from exportdiff.runtime.patching.aligning import aligned
from exportdiff.runtime.patching.executed import ExecutedLines
from exportdiff.runtime.patching.fix import Edit, FixNotHereError, Hunk
from exportdiff.runtime.patching.fixes import (
    Fix,
    FixError,
    applied,
    find_functions,
    fixes_that_raised,
    read_candidates,
    read_fix,
    read_fixes,
    why_not_applicable,
)
from exportdiff.runtime.patching.placing import chunks_of
from support.folders import CORPORA
from support.of_this_torch import HERE, PINNED, held
from support.the_corpus import CANDIDATES, all_fixes

SOURCE = """
import functools

TABLE = {}
LIMIT = 3
NAMES = {
    "one",
}
NUMBERS = {
    "one": 1,
    "two": 3,
}


def register(function):
    TABLE[function.__name__] = function

    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


def one(x):
    y = x + 1
    return y


@register
def two(x):
    def inner(y):
        return y * 2

    return inner(x)


def three(
    x,
):
    return x


class Base:
    def name(self):
        return "base"


class Thing(Base):
    limit = 3

    def method(self, x):
        total = 0
        for each in range(x):
            total += each
        return total

    def below(self, x):
        return x < self.limit

    class Part:
        size = 1


def adder(x, z=10):
    def step(y):
        return x - y

    def add(y):
        return x + y

    return step, add
""".lstrip()

Patch = Callable[..., Fix]


@pytest.fixture
def module(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Write a new module for each test, because a process searches the functions of a file only once."""
    package = f"patched_{tmp_path.name}"
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").write_text("")
    (tmp_path / package / "code.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module(f"{package}.code")
    for name in (package, f"{package}.code"):
        del sys.modules[name]


@pytest.fixture
def patch(tmp_path: pathlib.Path, module: ModuleType) -> Patch:
    """Return a function that makes a fix from replacements in the text of the module."""

    def make(*changes: tuple[str, str], name: str = "fix", base: str = SOURCE) -> Fix:
        text = base
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = module.__name__.replace(".", "/") + ".py"
        before, after = (t.splitlines(keepends=True) for t in (base, text))
        diff = "".join(difflib.unified_diff(before, after, f"a/{path}", f"b/{path}"))
        file = tmp_path / f"{name}.patch"
        file.write_text(f"Correct it\n\nIt was wrong.\n\nFits: 2.13.0, 2.14.0\n---\n{diff}")
        return read_fix(file)

    return make


def test_an_added_function_stands_below_its_imports(patch: Patch, module: ModuleType) -> None:
    added = "def added(x: functools.partial[int]) -> None: ...\n"
    here = module.__name__.replace(".", "/") + ".py"
    elsewhere = patch(("import this\n", f"{added}import this\n"), base="import antigravity\nimport this\n")
    (chunk,) = chunks_of(here, str(module.__file__), [elsewhere])
    (edit,) = chunk.edits
    lines = SOURCE.splitlines(keepends=True)
    assert edit.lines == (added.strip(),)
    exec("".join((*lines[: edit.start], added, *lines[edit.start :])), {})


def test_a_fix_has_the_name_message_and_versions_of_its_patch(patch: Patch) -> None:
    fix = patch(("x + 1", "x + 5"))
    assert fix.name == "fix"
    assert fix.message.startswith("Correct it\n\nIt was wrong.")
    assert fix.fits == ("2.13.0", "2.14.0")


def test_all_references_to_a_function_run_the_fix_only_inside_the_block(
    module: ModuleType, patch: Patch
) -> None:
    held = module.one
    with applied([patch(("x + 1", "x + 5"))]):
        assert held(1) == module.one(1) == 6
    assert held(1) == 2


def test_functions_in_wrappers_tables_and_classes_run_the_fix(module: ModuleType, patch: Patch) -> None:
    thing = module.Thing()
    with applied([patch(("y * 2", "y * 3"), ("total += each", "total += each + LIMIT"))]):
        assert module.two(2) == module.TABLE["two"](2) == 6
        assert thing.method(3) == 12
    assert (module.two(2), thing.method(3)) == (4, 3)


def test_a_removed_line_does_not_run(module: ModuleType, patch: Patch) -> None:
    with applied([patch(("            total += each\n", "            pass\n"))]):
        assert module.Thing().method(3) == 0
    with applied([patch(("    y = x + 1\n    return y\n", "    return x\n"))]):
        assert module.one(3) == 3


def test_a_patch_may_add_functions_and_imports(module: ModuleType, patch: Patch) -> None:
    helper = "import math\n\n\ndef helper(x, *, more=LIMIT):\n    return one(x) + math.floor(more)\n\n\n"
    fix = patch(("def one", helper + "def one"), ("inner(x)", "inner(helper(x))"))
    with applied([fix]):
        assert module.two(1) == 10
    assert module.two(1) == 2


def test_a_patch_may_change_an_import(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = "from math import (\n    floor,\n    pi,\n)\n\n\ndef rounded(x):\n    return floor(x)\n"
    after = before.replace("    pi,\n", "    ceil,\n").replace("return floor", "return ceil")
    (tmp_path / "names_of_math.py").write_text(before)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("names_of_math")
    old, new = (text.splitlines(keepends=True) for text in (before, after))
    diff = "".join(difflib.unified_diff(old, new, "a/names_of_math.py", "b/names_of_math.py"))
    (tmp_path / "fix.patch").write_text(f"Round up\n\nIt was wrong.\n\n---\n{diff}")
    with applied([read_fix(tmp_path / "fix.patch")]):
        assert module.rounded(1.5) == 2
    assert module.rounded(1.5) == 1


def test_functions_made_by_a_fix_work_after_the_block(module: ModuleType, patch: Patch) -> None:
    helper = "def helper(x):\n    return x + LIMIT\n\n\n"
    fix = patch(("def one", helper + "def one"), ("y * 2", "helper(y)"), ("return inner(x)", "return inner"))
    with applied([fix]):
        made = module.two(1)  # torch keeps such a function if an export fails: a hook that nobody removes
    assert made(1) == 4
    # But no other fix may read the name.
    assert "no name 'helper'" in why_not_applicable(patch(("x + 1", "helper(x)"), name="other"))


def test_an_error_in_the_function_of_a_fix_is_blamed_on_it(module: ModuleType, patch: Patch) -> None:
    fixes = [
        patch(("y * 2", "y.gone"), name="inner"),
        patch(("total += each", "total += one(None)"), name="caller"),
        patch(("def one", "def more(x):\n    return x.lost\n\n\ndef one"), name="adds"),
    ]
    with applied(fixes):
        with pytest.raises(AttributeError) as raised:
            module.two(1)
        assert fixes_that_raised(raised.value, fixes) == ("inner",)
        with pytest.raises(TypeError) as wrong:
            module.Thing().method(1)
        assert fixes_that_raised(wrong.value, fixes) == ("caller",)
        with pytest.raises(AttributeError) as lost:
            module.more(1)
        assert fixes_that_raised(lost.value, fixes) == ("adds",)
        with pytest.raises(TypeError) as own:
            module.one(None)
        assert fixes_that_raised(own.value, fixes) == ()


def test_several_fixes_of_one_function_work_together(module: ModuleType, patch: Patch) -> None:
    fixes = [
        patch(("total = 0", "total = 100"), name="a"),
        patch(("return total", "return -total"), name="b"),
        patch(("return total", "return -total"), name="same"),
    ]
    with applied(fixes):
        assert module.Thing().method(3) == -103
    with applied(fixes[:1]), applied(fixes[1:2]):
        assert module.Thing().method(3) == -3


def test_an_error_names_the_fixes_that_conflict(patch: Patch) -> None:
    fixes = [patch(("x + 1", "x + 5"), name="a"), patch(("x + 1", "x + 6"), name="b")]
    with pytest.raises(FixError, match="a and b change the same line"), applied(fixes):
        pass


@pytest.mark.parametrize("below", ["def three", "class Thing", "def adder"])
def test_fixes_that_add_different_functions_of_one_name_conflict(patch: Patch, below: str) -> None:
    fixes = [
        patch(("def one", "def more(x):\n    return x\n\n\ndef one"), name="a"),
        patch((below, f"def more(x):\n    return -x\n\n\n{below}"), name="b"),
    ]
    with pytest.raises(FixError, match="a, b add different functions called more"), applied(fixes):
        pass


def test_an_exception_in_the_block_removes_the_fix(module: ModuleType, patch: Patch) -> None:
    with pytest.raises(ZeroDivisionError), applied([patch(("x + 1", "x / 0"))]):
        module.one(1)
    assert module.one(1) == 2


def test_a_patch_fits_a_file_with_other_lines_above(module: ModuleType, patch: Patch) -> None:
    other = SOURCE.replace("LIMIT = 3\n", "LIMIT = 3\nMORE = 4\nMOST = 5\n")
    with applied([patch(("x + 1", "x + 5"), base=other)]):
        assert module.one(1) == 6


REWRITTEN = (
    SOURCE.replace("def one(x):\n", 'def one(x: int) -> int:\n    """Add."""\n    # pyrefly: ignore\n')
    .replace("y = x + 1", "y: int = x + 1  # more")
    .replace("def three(\n    x,\n)", "def three(x)")
    .replace("total = 0", "total: int = (0)")
)
"""The module as another version of torch writes it."""


@pytest.mark.parametrize(
    ("old", "new", "call", "wanted"),
    [
        ("    return y\n", "    return -y\n", "one(1)", -2),
        ("    y: int = x + 1  # more\n", "    x *= 10\n    y: int = x + 1\n", "one(1)", 11),
        ("total: int = (0)\n", "total: int = (5)\n", "Thing().method(1)", 5),
        ("            total += each\n", "            total += 2\n", "Thing().method(3)", 6),
        ("def three", "def more(x):\n    return x\n\n\ndef three", "more(4)", 4),
        ("def three(x):\n    return x\n", "def three(x):\n    return x and 7\n", "three(1)", 7),
    ],
)
def test_a_patch_fits_a_function_that_is_written_in_another_way(
    module: ModuleType, patch: Patch, old: str, new: str, call: str, wanted: int
) -> None:
    """Annotations, docstrings, comments, line breaks and trailing commas make no difference."""
    with applied([patch((old, new), base=REWRITTEN)]):
        assert eval(call, vars(module)) == wanted


@pytest.mark.parametrize(
    ("old", "other"), [("x + 1", "x + 2"), ("return y", "return x"), ("    y = x", "    x = 0\n    y = x")]
)
def test_a_patch_does_not_fit_a_function_that_does_something_else(patch: Patch, old: str, other: str) -> None:
    base = REWRITTEN.replace("y: int = x", "y = x").replace(old, other, 1)
    fix = patch(("    # pyrefly: ignore\n", "    x = 3\n"), base=base)
    with pytest.raises(FixError, match="does not fit"), applied([fix]):
        pass


def test_statements_that_are_there_twice_are_no_place(patch: Patch) -> None:
    # Two functions of the same body; the hunk shows the body alone, and written in another way.
    base = "    for a in x:\n        b = (a)\n        c = b\n        d = c\n    return d\n"
    twin = f"def p(x):\n{base}\n\ndef q(x):\n{base}"
    text = twin.replace("(a)", "a")
    lines = tuple(text.splitlines())
    source = tuple(twin.splitlines()[1:5])
    hunk = Hunk(0, source, (Edit(2, 3, ("        c = -b",)),))
    assert aligned(lines, hunk) is None
    (edit,) = aligned(lines, replace(hunk, within="def q(x):")) or ()
    assert (edit.start, edit.stop, edit.lines) == (11, 12, ("        c = -b",))


def test_a_fix_that_reads_a_missing_name_does_not_fit(patch: Patch) -> None:
    assert "one of this torch has no name 'is_fake'" in why_not_applicable(patch(("x + 1", "x + is_fake(x)")))
    helper = "def helper(x):\n    return [gone(y) for y in x]\n\n\n"
    fix = patch(("def one", helper + "def one"), ("inner(x)", "inner(helper(x))"))
    assert "no name 'gone'" in why_not_applicable(fix)
    with applied([patch(("x + 1", "len(str(x)) + LIMIT"))]):
        pass


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("functools.reduced(x)", "functools.reduced"),
        ("[functools.partial.gone, functools.lost(x)][1]", "functools.lost"),
        ("importlib.nowhere", "importlib"),
        ("more(x)\n    from collections import Countre as more", "collections:Countre"),
        ("more(x)\n    from collections.gone import more", "collections.gone:"),
        # A variable of the enclosing function, which this torch does not have.
        ("(lambda: seen)()", "seen"),
    ],
)
def test_a_fix_that_reads_a_missing_member_does_not_fit(patch: Patch, text: str, gone: str) -> None:
    assert f"one of this torch has no name {gone!r}" in why_not_applicable(patch(("x + 1", text)))


@pytest.mark.parametrize(
    "text", ["functools.partial.any", "x.nobody.knows", "LIMIT.real", "more\n    from os import path as more"]
)
def test_a_fix_may_read_what_may_be_there(patch: Patch, text: str) -> None:
    assert not why_not_applicable(patch(("x + 1", text)))


def test_of_several_patches_of_a_fix_the_first_that_fits_is_chosen(
    module: ModuleType, patch: Patch, tmp_path: pathlib.Path
) -> None:
    other = SOURCE.replace("y = x + 1", "y = x + 2 - 1")
    patch(("x + 2 - 1", "x + 100"), base=other)  # fits another torch
    patch(("x + 1", "x + 5"), name="fix@2.5")
    patch(("x + 1", "x + 6"), name="fix@99.1")
    (candidates,) = read_candidates(tmp_path).values()
    assert {fix.patch for fix in candidates} == {"fix.patch", "fix@2.5.patch", "fix@99.1.patch"}
    assert {fix.name for fix in candidates} == {"fix"}
    # That for an older torch, before that for one which there is not yet.
    (fix,) = read_fixes(tmp_path).values()
    assert fix.version == "2.5"
    with applied([fix]):
        assert module.one(1) == 6
    patch(("x + 1", "x + 7"), name="fix@2.5.1")
    (tmp_path / "fixes").mkdir()
    for file in tmp_path.glob("*.patch"):
        file.rename(tmp_path / "fixes" / file.name)
    (named,) = fixes_named(["fix"], tmp_path)
    assert named.version == "2.5.1"
    (tmp_path / "fixes" / "fix@new.patch").write_text((tmp_path / "fixes" / "fix.patch").read_text())
    with pytest.raises(FixError, match=r"name it fix@2\.14\.patch"):
        read_candidates(tmp_path / "fixes")


def test_a_fix_may_add_members_to_a_set(module: ModuleType, patch: Patch) -> None:
    names = module.NAMES
    with applied([patch(('    "one",\n', '    "one",\n    "two",\n'))]):
        assert names == {"one", "two"}, "whoever has imported the set sees the new member"
    assert module.NAMES is names == {"one"}


def test_a_fix_may_change_entries_of_a_dict(module: ModuleType, patch: Patch) -> None:
    numbers = module.NUMBERS
    with applied([patch(('    "two": 3,\n', '    "two": LIMIT - 1,\n    "three": 3,\n'))]):
        assert numbers == {"one": 1, "two": 2, "three": 3}
    assert module.NUMBERS is numbers == {"one": 1, "two": 3}


def test_a_fix_may_give_a_class_values_and_methods(module: ModuleType, patch: Patch) -> None:
    thing = module.Thing()
    more = "    limit = LIMIT + 1\n    other: int = 5\n"
    more += "\n    @property\n    def half(self):\n        return self.other / 2\n"
    named = '\n    def name(self):\n        return f"thing of {super().name()}"\n'
    fix = patch(("    limit = 3\n", more + named), ("        size = 1\n", "        size = 2\n"))
    with applied([fix]):
        assert (thing.limit, thing.other, thing.half, thing.name()) == (4, 5, 2.5, "thing of base")
        assert thing.below(3) and module.Thing.Part.size == 2
    assert (thing.limit, thing.name(), module.Thing.Part.size) == (3, "base", 1)
    assert not hasattr(thing, "other") and not hasattr(module.Thing, "half") and not thing.below(3)
    with applied([fix]):
        recorder = ExecutedLines([fix])
    assert recorder.by_fix == {"fix": frozenset()}, "any code may have read the value"


def test_a_fix_may_change_the_arguments_of_a_function(module: ModuleType, patch: Patch) -> None:
    one, table = module.one, module.TABLE
    fix = patch(
        ("def one(x):\n    y = x + 1", "def one(x, z=LIMIT, *, w=0):\n    y = x + z + w"),
        (
            "    def method(self, x):\n        total = 0",
            "    def method(self, x, first=0):\n        total = first",
        ),
        ("def two(x):\n", "def two(x=4):\n"),
    )
    with applied([fix]):
        assert (one(1), one(1, 2), one(1, w=5), module.Thing().method(3, first=10)) == (4, 3, 9, 13)
        assert table["two"]() == 8
    assert (one(1), module.Thing().method(3)) == (2, 3)
    with pytest.raises(TypeError):
        one(1, 2)
    with pytest.raises(TypeError):
        table["two"]()


@pytest.mark.parametrize(
    ("changes", "base", "what"),
    [
        ([("x + 1", "x + 5")], SOURCE.replace("x + 1", "x + 1 + 0"), "not fit"),
        ([("LIMIT = 3", "LIMIT = 4")], SOURCE, "cannot change this line: LIMIT = 4"),
        ([("@register", "@functools.cache")], SOURCE, "cannot change this line: @functools.cache"),
        (
            [("@register\n", "@register\n@functools.cache\n")],
            SOURCE,
            "cannot change this line: @functools.cache",
        ),
        ([("x + 1", "x +")], SOURCE, "does not compile"),
        ([('"two": 3', '"two": MISSING')], SOURCE, "NUMBERS: NameError"),
        ([("def method(self, x)", "def method(self, x, first=limit)")], SOURCE, "Thing.method: NameError"),
        ([("return function(*args)", "return None")], SOURCE, "which variables a function captures"),
    ],
)
def test_a_fix_that_cannot_be_applied_is_refused(
    patch: Patch, changes: list[tuple[str, str]], base: str, what: str
) -> None:
    fix = patch(*changes, base=base)
    with pytest.raises(FixError, match=what), applied([fix]):
        pass


def test_functions_that_an_earlier_call_made_do_not_prevent_a_fix(module: ModuleType, patch: Patch) -> None:
    """A fix may make a nested function capture more. A compiled model has functions without it."""
    step, add = module.adder(5)
    with applied([patch(("return x + y", "return x + y + z"), ("return x - y", "return x - 2 * y"))]):
        assert [each(1) for each in module.adder(5)] == [3, 16]
        # One of the two could run the new code, but they belong together.
        assert (step(1), add(1)) == (4, 6)
    assert [each(1) for each in module.adder(5)] == [4, 6]


def test_functions_that_the_package_refers_to_must_run_the_fix(module: ModuleType, patch: Patch) -> None:
    module.TABLE["add"] = [types.SimpleNamespace(call=module.adder(5)[1])]
    with (
        pytest.raises(FixNotHereError, match="which variables a function captures"),
        applied([patch(("return x + y", "return x + y + z"))]),
    ):
        pass


def test_a_file_that_is_not_a_patch_is_refused(tmp_path: pathlib.Path) -> None:
    for text in ("", "hello", "--- a/x.py\n+++ b/x.py\n@@ -1 +1,9 @@\n-a\n+b\n"):
        (tmp_path / "bad.patch").write_text(text)
        with pytest.raises(FixError, match=r"bad\.patch"):
            read_fix(tmp_path / "bad.patch")


RELEASE = version("torch").partition("+")[0]


@pytest.fixture(scope="module")
def functions_found() -> None:
    """Find the functions that all fixes change: that takes as long as to find those of one fix."""
    find_functions(all_fixes().values())


@pytest.mark.usefixtures("functions_found")
@pytest.mark.parametrize("name", CANDIDATES)
def test_a_committed_fix_fits_the_torch_that_it_names(name: str) -> None:
    """On another torch it may not fit; then it says so, and leaves torch as it was."""
    fix = all_fixes()[name]
    problem = why_not_applicable(fix)
    if RELEASE in fix.fits:
        assert not problem
    assert not problem or fix.name in problem
    if not problem:
        with applied([fix]):
            pass


def test_every_fix_has_a_patch_that_was_tried_on_the_pinned_torch() -> None:
    for name, candidates in CANDIDATES.items():
        assert any(PINNED in fix.fits for fix in candidates), name
        assert all(fix.fits for fix in candidates), name


def test_all_committed_fixes_that_fit_work_together() -> None:
    assert HERE != PINNED or set(held()) == set(all_fixes().values())
    with applied(held()):
        pass


def test_fixed_preserved_call_records_its_size() -> None:
    import torch
    from torch import nn

    class Child(nn.Module):
        def forward(self, x: torch.Tensor, size: torch.Size) -> torch.Tensor:
            return x.expand(size)

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.child = Child()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            expanded: torch.Tensor = self.child(x, torch.Size([2, 3]))
            return expanded + 1

    x = torch.ones(1, 3)
    with applied([all_fixes()["preserved_call_before_pre_hooks"]]):
        program = torch.export.export(Model(), (x,), preserve_module_call_signature=("child",))
        assert torch.equal(torch.export.unflatten(program)(x), Model()(x))


def test_fixed_preserved_call_writes_its_state() -> None:
    import torch
    from torch import nn

    class Child(nn.Module):
        total: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", torch.ones(1))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.total.add_(1)
            return x + 1

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.child = Child()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.child.total = self.child.total * 3
            result: torch.Tensor = self.child(x)
            return result

    x = torch.ones(1)
    with applied(held()):
        program = torch.export.export(Model(), (x,), preserve_module_call_signature=("child",))
        unflattened = torch.export.unflatten(program)
        unflattened(x)
    assert torch.equal(dict(unflattened.named_buffers())["child.total"], torch.tensor([4.0]))


def _buffer_of_a_preserved_child(use: Callable[[Any, Any], None], assign: Callable[[Any, Any], Any]) -> Any:
    """Return a model whose child has a buffer: the child assigns to it, the model, or both."""
    import torch
    from torch import nn

    class Child(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", torch.ones(1, 2))

        def forward(self, x: torch.Tensor, given: torch.Tensor | None = None) -> Any:
            return assign(self, x)

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.child = Child()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            use(self.child, x)
            return x * 2

    return Model()


def _negates(child: Any, x: Any) -> Any:
    child.total = -child.total
    return x + 1


def _detaches(child: Any, x: Any) -> Any:
    child.total = (child.total * x).detach()
    return x + 1


def _reads(child: Any, x: Any) -> Any:
    return x + child.total


def _adds(child: Any, x: Any) -> Any:
    child.total.add_(1)
    return child.total


def _gives_it_to_itself(child: Any, x: Any) -> None:
    child(x, child.total)
    child(x)


def _assigns_a_value_made_from_a_view(child: Any, x: Any) -> None:
    child.total = (child.total * 2).view(2).view(1, 2) * 3
    child(x)


def _changes_the_result(child: Any, x: Any) -> None:
    child.total = x - 3
    child(x).mul_(5)


def _assigns_given_a_matrix(child: Any, x: Any) -> Any:
    if x.dim() == 2:
        child.total = child.total.clone()
    child.total.add_(1)
    return child.total


def _changes_the_result_and_adds_again(child: Any, x: Any) -> None:
    result = child(x)
    result.mul_(2)
    child(x.flatten()).sub_(3)
    x.copy_(result + 7 - child.total)


def _adds_to_the_new_one_and_returns_the_old_one(child: Any, x: Any) -> Any:
    old = child.total
    child.total = old + 1
    return old


def _adds_to_the_new_one_and_multiplies_the_old_one(child: Any, x: Any) -> Any:
    return _adds_to_the_new_one_and_returns_the_old_one(child, x) * 1


def _keeps_three_results(child: Any, x: Any) -> None:
    first, _, third = child(x), child(x), child(x)
    x.copy_(first * 4 + third)


@pytest.mark.parametrize(
    ("use", "assign"),
    [
        (_keeps_three_results, _adds_to_the_new_one_and_returns_the_old_one),
        (_keeps_three_results, _adds_to_the_new_one_and_multiplies_the_old_one),
        (_changes_the_result_and_adds_again, _assigns_given_a_matrix),
        (_gives_it_to_itself, _negates),
        (_assigns_a_value_made_from_a_view, _reads),
        (_changes_the_result, _adds),
        (_gives_it_to_itself, _detaches),
    ],
)
def test_fixed_assigned_buffer_of_a_preserved_owner(
    use: Callable[[Any, Any], None], assign: Callable[[Any, Any], Any]
) -> None:
    import torch

    x = torch.full((1, 2), 7.0, requires_grad=assign is _detaches)
    eager = _buffer_of_a_preserved_child(use, assign)
    expected = eager(x)
    with applied(held()):
        model = _buffer_of_a_preserved_child(use, assign)
        program = torch.export.export(model, (x,), preserve_module_call_signature=("child",))
        unflattened = torch.export.unflatten(program)
        seen = unflattened(x)
    assert torch.equal(seen, expected)
    assert x.tolist() == [[7, 7]]
    total = dict(unflattened.named_buffers())["child.total"]
    assert torch.equal(total, eager.child.total)
    assert total.requires_grad == eager.child.total.requires_grad


@pytest.mark.parametrize("rounded", [round, math.floor, math.ceil])
def test_fixed_deferred_checks_round_as_python_does(rounded: Callable[[float], int]) -> None:
    """Some checks were left out, and one with round raised TypeError. Saved programs have them as well."""
    import torch

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for _ in range(12 - rounded((9 - x.shape[0]) / 2)):
                x = x + 1
            return x

    model, sizes = Model(), range(3, 15)
    with applied([read_fix(CORPORA / FIXES / "deferred_checks_divide_sizes.patch")]):
        program = torch.export.export(
            model,
            (torch.zeros(12),),
            dynamic_shapes={"x": {0: torch.export.Dim.AUTO}},
            prefer_deferred_runtime_asserts_over_guards=True,
        )
        torch.export.save(program, file := io.BytesIO())
        file.seek(0)
        candidate = torch.export.load(file).module()
    right = {n for n in sizes if rounded((9 - n) / 2) == rounded((9 - 12) / 2)}
    assert len(right) in (1, 2, 3)
    for n in sizes:
        if n in right:
            assert candidate(torch.zeros(n)).equal(model(torch.zeros(n)))
        else:
            with pytest.raises(RuntimeError, match="Runtime assertion failed"):
                candidate(torch.zeros(n))


def test_fixed_dead_call_reads_the_right_state() -> None:
    """What one call of spectral_norm leaves to the next has no caller: that read a view of the weight."""
    import torch

    model = torch.nn.LSTM(2, 2)
    torch.nn.utils.parametrizations.spectral_norm(model, "weight_ih_l0")
    names = tuple(name for name, _ in model.named_modules() if name)
    with applied(held()):
        program = torch.export.export(model, (torch.ones(2, 2),), preserve_module_call_signature=names)
        with pytest.raises(RuntimeError, match="in another module whose call signature is preserved"):
            torch.export.unflatten(program.run_decompositions())


def test_with_all_fixes_a_preserved_call_may_lose_fields_of_dataclasses() -> None:
    """A dataclass flattens None away: the caller refused what its own child returned."""
    import torch

    @dataclass
    class Parts:
        left: torch.Tensor
        right: torch.Tensor

    class Child(torch.nn.Module):
        def forward(self, parts: Parts) -> Parts:
            changed = parts.right.clone()
            changed[0] = 1
            return Parts(parts.right + 1, changed)

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.child = Child()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            unread = x.clone()
            unread[0] = 2
            left: torch.Tensor = self.child(Parts(unread, x)).left
            return left

    torch.export.register_dataclass(Parts)
    with applied(held()):
        program = torch.export.export(Model(), (torch.ones(2),), preserve_module_call_signature=("child",))
        seen = torch.export.unflatten(program.run_decompositions())(torch.ones(2))
    assert seen.tolist() == [2, 2]


def test_fixed_dataclass_field_may_leave_a_check() -> None:
    """Nobody reads the field. one_hot leaves assertions, which were taken for its result."""
    import torch

    @dataclass
    class Parts:
        left: torch.Tensor
        right: torch.Tensor

    class Child(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> Parts:
            return Parts(x + 1, torch.nn.functional.one_hot(x.long(), 3))

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.child = Child()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            left: torch.Tensor = self.child(x).left
            return left

    torch.export.register_dataclass(Parts)
    with applied(held()):
        program = torch.export.export(Model(), (torch.ones(2),), preserve_module_call_signature=("child",))
        seen = torch.export.unflatten(program.run_decompositions())(torch.ones(2))
    assert seen.tolist() == [2, 2]


def test_with_all_fixes_a_buffer_may_be_assigned_beside_vmap() -> None:
    """What vmap batches has no storage to compare with that of the buffer."""
    import torch

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.mean: torch.Tensor
            self.last: torch.Tensor
            self.register_buffer("mean", torch.ones(2))
            self.register_buffer("last", torch.zeros(2))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y: torch.Tensor = torch.vmap(torch.neg)(x)
            self.last = self.mean
            self.mean.sub_(1)
            return y - self.last

    with applied(held()):
        seen = torch.export.export(Model(), (torch.ones(2),)).module()(torch.ones(2))
    assert seen.tolist() == Model()(torch.ones(2)).tolist()


def test_fixed_input_given_twice_is_one_tensor() -> None:
    """The guards of the program say so: a call with different values is refused, and equal tensors pass."""
    import torch

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x.clone() if x is y else x + y

    x = torch.ones(2, requires_grad=True) * 1
    with applied(held()):
        for program in (first := torch.export.export(Model(), (x, x)), first.run_decompositions()):
            for run in (program.module(), torch.export.unflatten(program)):
                assert torch.equal(run(x, x), x)
                assert torch.equal(run(x, x.clone()), x)
                with pytest.raises(AssertionError, match="Guard failed: x is y"):
                    run(x, x + 1)


@pytest.mark.parametrize("in_place", [False, True])
def test_fixed_program_can_be_exported_again(in_place: bool) -> None:
    """The example is kept without its history, so that a program which writes to it can be exported again."""
    import torch

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.mul_(2) if in_place else x * 2

    x = torch.ones(2, requires_grad=True) * 1
    with applied([read_fix(CORPORA / FIXES / "program_keeps_no_history_of_its_example.patch")]):
        program = torch.export.export(Model(), (x,))
        (example,), _ = program.example_inputs
        again = torch.export.export(program.module(), (example,))
    assert example.is_leaf and not example.requires_grad
    assert torch.equal(again.module()(torch.ones(2)), torch.full((2,), 2.0))


def test_fixed_constant_of_a_body_has_no_call_site() -> None:
    """It said what torch notes of its own functions; of two calls, the next export saw a contradiction."""
    import torch
    from torch._higher_order_ops.scan import scan

    class Child(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            def step(carry: torch.Tensor, row: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
                return carry + row, row + torch.tensor(1.0)

            rows: torch.Tensor = scan(step, torch.zeros(2), x)[1]
            return rows

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.child = Child()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            first, second = (self.child(x) for _ in range(2))
            return torch.add(first, second)

    class Tracer(torch.fx.Tracer):
        def is_leaf_module(self, m: torch.nn.Module, module_qualified_name: str) -> bool:
            return True

    names = ("export_takes_constants_out_of_bodies", "clone_constants_under_fake_mode")
    x = torch.ones(3, 2)
    with applied([read_fix(CORPORA / FIXES / f"{name}.patch") for name in names]):
        model = torch.fx.GraphModule(root := Model(), Tracer().trace(root))
        program = torch.export.export(model, (x,))
        again = torch.export.export(program.module(), (x,))
        assert again.module()(x).tolist() == model(x).tolist()


def test_fixed_decompose_keeps_a_constant_named_like_a_method() -> None:
    import torch

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.type = torch.ones(1)  # type: ignore[assignment]

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.type.zero_()  # type: ignore[attr-defined]
            return x * 1

    model = Model()
    with applied([read_fix(CORPORA / FIXES / "graph_module_copies_attributes_named_as_methods.patch")]):
        program = torch.export.export(model, (torch.ones(1),))
        with pytest.raises(RuntimeError, match="Constant type is mutated in the forward method"):
            program.run_decompositions()
    assert model.type.tolist() == [1.0]  # type: ignore[attr-defined]


def test_with_its_fix_a_pipeline_tells_nested_inputs_with_one_tensor_each() -> None:
    import torch
    from torch.distributed.pipelining import pipeline

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(2, 2)

        def forward(self, x: torch.Tensor, rest: list[torch.Tensor]) -> torch.Tensor:
            result: torch.Tensor = self.layer(x) + rest[0]
            return result

    args = (torch.ones(2, 2), [torch.arange(4.0).view(2, 2)])
    model = Model()
    with applied([read_fix(CORPORA / FIXES / "pipeline_flattens_inputs.patch")]):
        (seen,) = pipeline(model, args)(*args)
    assert torch.equal(seen, model(*args))


@pytest.mark.parametrize(("size", "step"), [(1, 1), (2, 2), (3, 3), (1, 2), (2, 4)])
def test_with_its_fix_windows_are_written_where_they_are(size: int, step: int) -> None:
    """The windows have the strides that they have in eager, too."""
    import torch

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, tuple[int, ...]]:
            x = x.clone()
            windows = x.unfold(1, size, step).mul_(2)
            return x, windows.stride()

    x = torch.arange(16.0).view(2, 8)
    with applied([read_fix(CORPORA / FIXES / "windows_are_written_as_blocks.patch")]):
        seen = torch.export.export(Model(), (x,)).run_decompositions().module()(x)
    expected = Model()(x)
    assert seen[0].tolist() == expected[0].tolist()
    assert seen[1] == expected[1]


def test_fixed_result_survives_a_second_assignment() -> None:
    import torch

    class Child(torch.nn.Module):
        k: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("k", torch.tensor([-1.0]))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            before = self.k.add_(1)
            self.k = self.k - x
            return before

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.child = Child()

        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return self.child(x), self.child.forward(x)

    x = torch.ones(1)
    with applied(held()):
        program = torch.export.export(Model(), (x,), preserve_module_call_signature=("child",))
        seen = torch.export.unflatten(program)(x)
    assert [each.tolist() for each in seen] == [each.tolist() for each in Model()(x)]


def test_fixed_state_gets_no_history_from_a_result() -> None:
    import torch

    class Reader(torch.nn.Module):
        k: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("k", torch.tensor(2.0))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + self.k

    class Child(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.reader = Reader()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.reader(x)
            before = self.reader.k
            self.reader.k = self.reader.k + 1
            return before

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.child = Child()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            factor: torch.Tensor = self.child(x)
            return x * factor.requires_grad_()

    x, calls = torch.ones(3), ("child", "child.reader")
    with applied(held()):
        program = torch.export.export(Model(), (x,), preserve_module_call_signature=calls)
        unflattened = torch.export.unflatten(program)
        unflattened(x)
    assert [(each.item(), each.requires_grad) for each in unflattened.buffers()] == [(3.0, False)]


def test_a_refuses_line_names_an_exception_that_the_fix_raises_on_purpose(tmp_path: pathlib.Path) -> None:
    diff = "--- a/torch/x.py\n+++ b/torch/x.py\n@@ -1,1 +1,1 @@\n-a\n+b\n"
    file = tmp_path / "one.patch"
    file.write_text(f"Refuse it\n\nFits: 2.13.0\nRefuses: UserError: cannot: hold\n---\n{diff}")
    assert [(each.type, each.text) for each in read_fix(file).refuses] == [("UserError", "cannot: hold")]
    file.write_text(f"Refuse it\n\nRefuses: no exception\n---\n{diff}")
    with pytest.raises(FixError, match=r"one\.patch: write 'Refuses: EXCEPTION: text of its message'"):
        read_fix(file)


def test_fixed_strict_export_returns_the_updated_buffer() -> None:
    """Python assigns to the attribute what the operator returns, which is the buffer."""
    import torch

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.total: torch.Tensor
            self.register_buffer("total", torch.zeros(2))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.total += x
            return self.total

    with applied([all_fixes()["strict_writes_back_assigned_buffers"]]):
        module = torch.export.export(Model(), (torch.ones(2),), strict=True).module()
    seen = module(torch.ones(2))
    assert seen is dict(module.named_buffers())["total"]
    assert seen.tolist() == [1, 1]
