"""The documents say what is true: their Python runs, their commands, links and names exist."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import pathlib
import re
import shlex
import subprocess
import sys
from functools import cache

import pytest

from exportdiff.cli import make_parser, reference
from exportdiff.core.programs import program_source
from support.folders import CORPORA, ROOT
from support.the_corpus import all_causes

DOCS = ROOT / "docs"
TOP = [ROOT / f"{name}.md" for name in ("README", "ARCHITECTURE", "CONTRIBUTING", "CHANGELOG")]
PAGES = sorted(DOCS.rglob("*.md"))
ZOO = ROOT / "harness" / "exportdiff" / "lab" / "zoo" / "README.md"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SOURCES = (
    ROOT,
    ROOT / "corpora",
    ROOT / "harness" / "exportdiff",
    ROOT / "strategies" / "exportdiff_strategies",
)
"""The folders that names of files in the documents may begin in."""


def _blocks(language: str) -> list[tuple[pathlib.Path, str]]:
    return [
        (file, text)
        for file in (*TOP, *PAGES)
        for kind, text in FENCE.findall(file.read_text(encoding="utf-8"))
        if kind == language
    ]


def test_the_python_runs_and_prints_what_its_comments_say(tmp_path: pathlib.Path) -> None:
    """One process imports every block as a file of tests, and runs the tests that blocks define."""
    said: list[str] = []
    for number, (file, text) in enumerate(_blocks("python")):
        if text.startswith(" "):
            continue  # a part of another block
        # Three examples of a property are enough to see that the text is right.
        text = text.replace("@settings(deadline=None)", "@settings(deadline=None, max_examples=3)")
        name = re.sub(r"\W", "_", str(file.relative_to(ROOT)))
        (tmp_path / f"test_{number}_{name}.py").write_text(text, encoding="utf-8")
        said += re.findall(r"^print\(.*\)  # (.*)$", text, re.MULTILINE)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-s",
        "-p",
        "no:cacheprovider",
        "--export-paths",
        "nonstrict:*",
        ".",
    ]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line for line in said if line not in done.stdout] == []


def test_the_drawn_program_is_the_one_that_is_shown() -> None:
    source, _ = program_source(0, 27, "core")
    for file in (ROOT / "ARCHITECTURE.md", DOCS / "tutorials" / "first-fuzzing-campaign.md"):
        assert f"```python\n{source}```" in file.read_text(encoding="utf-8")


@pytest.mark.nightly
def test_check_prints_what_the_tutorial_shows(tmp_path: pathlib.Path) -> None:
    """The smaller tests of ``check`` are in tests/interfaces."""
    tutorial = (DOCS / "tutorials" / "check-a-model.md").read_text(encoding="utf-8")
    blocks = FENCE.findall(tutorial)
    (tmp_path / "my_model.py").write_text(blocks[0][1], encoding="utf-8")
    (tmp_path / "corpora").symlink_to(CORPORA)
    done = subprocess.run(
        [sys.executable, "-m", "exportdiff", "check", "my_model.py:make"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    printed = "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())
    assert (done.returncode, printed) == (1, blocks[2][1])


def _commands() -> list[tuple[str, str]]:
    shell = [(file, line) for file, block in _blocks("sh") for line in block.splitlines()]
    workflows = [
        (file, line) for file, block in _blocks("yaml") for line in re.findall(r"run: (exportdiff .*)", block)
    ]
    return [
        (file.name, line.partition("#")[0].strip())
        for file, line in (*shell, *workflows)
        if line.startswith("exportdiff ")
    ]


def test_the_commands_exist() -> None:
    wrong = []
    for name, command in _commands():
        words = shlex.split(re.sub(r"\[(\S+)\]", r"\1", command))[1:]
        with contextlib.redirect_stderr(io.StringIO()) as printed:
            try:
                make_parser().parse_args(words)
            except SystemExit:
                wrong.append((name, command, printed.getvalue()))
    assert wrong == []


@cache
def _anchors(file: pathlib.Path) -> set[str]:
    """Return what a link to a heading of the file may say, as code hosts make it from the text."""
    text = FENCE.sub("", file.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _links(file: pathlib.Path) -> list[str]:
    """Return the links of a page; ``table["name"](x)`` in a block of code is none."""
    return re.findall(r"\]\(([^)]+)\)", FENCE.sub("", file.read_text(encoding="utf-8")))


def test_the_links_lead_somewhere() -> None:
    wrong = []
    for file in (*TOP, *PAGES, ZOO):
        for link in _links(file):
            if "://" in link:
                continue
            path, _, anchor = link.partition("#")
            target = (file.parent / path).resolve() if path else file
            if not target.exists() or (anchor and anchor not in _anchors(target)):
                wrong.append((file.name, link))
    assert wrong == []


def test_the_readme_is_short() -> None:
    assert (ROOT / "README.md").stat().st_size <= 8000


def test_the_changelog_counts_the_corpus() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    still = sum(cause.open for cause in all_causes())
    variants = len(list(CORPORA.glob("variants/*.py")))
    fixes = {file.stem.partition("@")[0] for file in CORPORA.glob("fixes/*.patch")}
    assert f"{len(all_causes())} root causes in torch 2.13.0 ({still} of them show on 2.15.0)" in text
    assert f"{variants} variants, and {len(fixes)} candidate fixes" in text


def test_a_page_begins_with_whom_it_is_for() -> None:
    firsts = {page: page.read_text(encoding="utf-8").split("\n\n")[1] for page in PAGES}
    assert [
        page.name for page, first in firsts.items() if not re.match(r"(This page is f|F)or ", first)
    ] == []


def test_the_table_of_contents_has_every_page() -> None:
    """The pages of known bugs have their own."""
    contents = DOCS / "README.md"
    both = (contents, DOCS / "reference" / "known-bugs.md")
    linked = {(page.parent / link.partition("#")[0]).resolve() for page in both for link in _links(page)}
    assert [page.name for page in PAGES if page not in linked and page != contents] == []


def test_the_files_and_modules_that_are_named_exist() -> None:
    """A name of a file may begin in a folder that the same line names."""
    wrong = []
    for file in (ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *PAGES):
        for line in FENCE.sub("", file.read_text(encoding="utf-8")).splitlines():
            names = [name for name in re.findall(r"`([^`\n]+)`", line) if not YOURS.search(name)]
            folders = [top / name for name in names if name.endswith("/") for top in SOURCES]
            for name in names:
                if re.fullmatch(r"[\w./-]+\.(py|md|toml|yml|jinja|patch)|[\w./-]+/", name):
                    exists = any((folder / name).exists() for folder in (*SOURCES, *folders))
                elif re.fullmatch(r"exportdiff(_strategies)?([.:]\w+)+", name):
                    exists = _importable(name.replace(":", "."))
                else:
                    continue
                if not exists:
                    wrong.append((file.name, name))
    assert wrong == []


YOURS = re.compile(
    r"^(out|shards|findings|commits|test/export|exportdiff-repros|fixed|corpora/fixed)/|NAME|FILE|^my_model|^(accepted|report|summary|events)\."
)
"""Names of files that a command writes, or that a reader has."""


def _importable(name: str) -> bool:
    """Whether it is a module, or a name that a module defines at its top level."""
    top, *rest = name.split(".")
    base = {"exportdiff": SOURCES[-2], "exportdiff_strategies": SOURCES[-1]}[top]
    module = base.joinpath(*rest)
    if module.with_suffix(".py").exists() or (module / "__init__.py").exists():
        return True
    parent = base.joinpath(*rest[:-1])
    file = parent / "__init__.py" if parent.is_dir() else parent.with_suffix(".py")
    return file.exists() and rest[-1] in _defined(file)


def _defined(file: pathlib.Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {
        word
        for node in tree.body
        for each in ast.walk(node)
        for word in (getattr(each, "name", None), getattr(each, "id", None), getattr(each, "asname", None))
        if isinstance(word, str)
    }


def test_contributing_names_what_its_files_contain() -> None:
    """In each row of the table, a backticked name such as ``CONDS`` occurs in a file of the same row."""
    rows = [
        line
        for line in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| ")
    ]
    wrong = []
    for row in rows:
        words = re.findall(r"`([^`]+)`", row)
        files = [
            path
            for word in words
            for folder in SOURCES
            for path in [folder / word]
            if path.suffix == ".py" or path.is_dir()
        ]
        files += [file for path in files for file in path.glob("*.py")]
        text = "\n".join(file.read_text(encoding="utf-8") for file in files if file.is_file())
        wrong += [word for word in words if re.fullmatch(r"_?[A-Z][A-Z_]+", word) and word not in text]
    assert wrong == []


@pytest.mark.parametrize("name", reference.PAGES)
def test_the_reference_agrees_with_the_code(name: str) -> None:
    text = (ROOT / reference.FOLDER / name).read_text(encoding="utf-8")
    assert text == reference.page(name), "run: python -m exportdiff.cli.reference"
