"""Writes the program of an entry as a method of a test class of PyTorch."""

from __future__ import annotations

import ast
import re
import textwrap
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from exportdiff.core.program_text.parsing import parse
from exportdiff.known.corpus.first_difference import MARK
from exportdiff.known.upstream.inlining import without_helpers
from exportdiff.known.upstream.style import formatted
from exportdiff.runtime.patching.source import lines_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from exportdiff.known.corpus.entry import Entry
    from exportdiff.known.upstream.plain_program import PlainProgram

_WORDS = 60
"""The number of characters of a message that a test compares."""

_SUPPRESS = "contextlib.suppress("

_APART = 8
"""The least number of lines between two new tests: then their patches do not meet."""


@dataclass(frozen=True)
class ClassOfTests:
    """A class of PyTorch's tests."""

    path: str
    name: str
    owner: str = "oncall: export"


_PIPELINE = ClassOfTests("test/distributed/pipelining/test_pipe.py", "PipeTests", "oncall: distributed")
_DYNAMO = ClassOfTests("test/dynamo/test_repros.py", "ReproTests", "module: dynamo")
_DRAFT = ClassOfTests("test/export/test_draft_export.py", "TestDraftExport")
_SAVE = ClassOfTests("test/export/test_serialize.py", "TestSaveLoad")
_SWAP = ClassOfTests("test/export/test_swap.py", "TestSwap")
_UNFLATTEN = ClassOfTests("test/export/test_unflatten.py", "TestUnflatten")
_EXPORT = ClassOfTests("test/export/test_export.py", "TestExport")

_CLASSES = {
    "pipeline": _PIPELINE,
    "compile": _DYNAMO,
    "draft": _DRAFT,
    "reload": _SAVE,
    "swap": _SWAP,
    "swap_one": _SWAP,
    "swapped": _SWAP,
    "unflatten": _UNFLATTEN,
}
"""The class of the tests of a mode, a transform or a runner; the first one of the path counts."""


@dataclass(frozen=True)
class ExpectedRefusal:
    """The exception that torch raises on purpose with the fix."""

    error: str
    """The class of the exception, with its module."""
    message: str
    line: int
    """The line of the program's statements that raises it, counted from 1."""


def class_for(entry: Entry) -> ClassOfTests:
    """Return the class of PyTorch that tests what the path of an entry does."""
    words = re.split(r"[+:@]", entry.path)
    return next((_CLASSES[word] for word in words if word in _CLASSES), _EXPORT)


def method(name: str, program: PlainProgram, refusal: ExpectedRefusal | None = None) -> str:
    """Return a test that fails if the program shows its bug, without the indentation of a class.

    ``refusal``: the test passes if torch refuses the program.
    """
    if refusal is None:
        program = without_helpers(program)
        # What eager raises, too, PyTorch's tests do not suppress, but expect.
        program = replace(program, statements=program.statements.replace(_SUPPRESS, "self.assertRaises("))
    body = list(_body(program, refusal))
    return _method(name, [*_imports(program, "\n".join(body), refusal), *body])


def new_file(home: ClassOfTests, methods: Collection[str]) -> str:
    """Return a test file with these methods."""
    body = "\n".join(textwrap.indent(each, "    ") for each in methods)
    lines = [f'# Owner(s): ["{home.owner}"]', ""]
    lines += ["import unittest", ""] if "@unittest." in body else []
    lines += ["import torch", "from torch.testing._internal.common_utils import run_tests, TestCase"]
    lines += [
        "",
        "",
        f"class {home.name}(TestCase):",
        body,
        "",
        'if __name__ == "__main__":',
        "    run_tests()",
    ]
    return "\n".join(lines) + "\n"


def with_method(source: str, home: ClassOfTests, text: str, taken: set[int]) -> str | None:
    """Return a test file with one more method in a class: below the test with the most words of its name.

    ``taken`` are the lines below which other commits put their tests; this line is added to them. None: the
    file has no such class, or no free line.
    """
    tree = parse(source)
    found = next((n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == home.name), None)
    tests = [n for n in found.body if isinstance(n, ast.FunctionDef)] if found else []
    free = [n for n in tests if all(abs(lines_of(n).stop - 1 - line) >= _APART for line in taken)]
    if not free:
        return None
    words = set(text.partition("(")[0].split("_")) - {"test"}
    near = max(free, key=lambda n: (len(words & set(n.name.split("_"))), n.lineno))
    end = lines_of(near).stop - 1
    taken.add(end)
    lines = source.splitlines()
    known = {ast.unparse(n) for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)}
    wanted = [line for line in text.splitlines() if line.strip() not in known]
    lines[end:end] = ["", *textwrap.indent("\n".join(wanted), "    ").splitlines()]
    return "\n".join(lines) + "\n"


def _method(name: str, body: Collection[str]) -> str:
    lines = [f"def test_{name}(self):", *(f"    {line}" if line else "" for line in body)]
    in_class = "\n".join(["class C:", *(f"    {line}" if line else "" for line in lines)])
    return textwrap.dedent(formatted(in_class).partition("\n")[2])


def _imports(program: PlainProgram, body: str, refusal: ExpectedRefusal | None) -> Iterator[str]:
    """Yield the imports that a body needs."""
    module, _, name = (refusal.error if refusal else "").rpartition(".")
    own = [f"from {module} import {name}"] if module else []
    needed = [each for each in program.imports if each != "import contextlib" or "contextlib" in body]
    plain = sorted(each for each in needed if not each.partition(" ")[2].startswith("torch"))
    if plain:
        yield from (*plain, "")
    if ours := sorted({*(each for each in needed if each not in plain), *own}):
        yield from (*ours, "")


def _body(program: PlainProgram, refusal: ExpectedRefusal | None) -> Iterator[str]:
    for definition in program.definitions:
        yield from _without_marks(definition)
        yield ""
    if refusal is None:
        lines = list(_without_marks(_one_by_one(program.statements)))
        yield from _compared(lines) if program.compares else lines
        return
    lines = list(_without_marks(program.statements))
    raising = next(
        node
        for node in reversed(parse(program.statements).body)
        if node.lineno <= refusal.line or node.lineno == 1
    )
    yield from lines[: raising.lineno - 1]
    yield f"with self.assertRaisesRegex({refusal.error.rpartition('.')[2]}, {_pattern(refusal)}):"
    yield from (f"    {line}" for line in lines[raising.lineno - 1 : raising.end_lineno])


def _compared(lines: list[str]) -> list[str]:
    """Return the lines with an assertion at the end."""
    constants = [(n, line) for n, line in enumerate(lines) if re.match(r"expected = (True|False|\d+)$", line)]
    if len(constants) != 1:
        return [*lines, "self.assertEqual(got, expected)"]
    number, line = constants[0]
    return [*lines[:number], *lines[number + 1 :], f"self.assertEqual(got, {line.partition(' = ')[2]})"]


def _one_by_one(statements: str) -> str:
    """Split ``expected, got = A, B`` at the end into two assignments."""
    match parse(statements).body[-1]:
        case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)) as last if len(targets) == len(values) > 1:
            names = map(ast.unparse, targets)
            texts = (ast.get_source_segment(statements, value) for value in values)
            before = statements.splitlines()[: last.lineno - 1]
            return "\n".join(
                [*before, *(f"{name} = {text}" for name, text in zip(names, texts, strict=True))]
            )
    return statements


def _without_marks(text: str) -> Iterator[str]:
    """Yield the lines of a text without the comment that marks the first difference."""
    for line in text.splitlines():
        yield line.removesuffix(MARK).rstrip()


def _pattern(refusal: ExpectedRefusal) -> str:
    """Return a pattern for the beginning of the message, as Python text."""
    words = re.escape(refusal.message.strip().partition("\n")[0][:_WORDS]).replace("\\ ", " ")
    return f'r"{words}"' if '"' not in words and not words.endswith("\\") else repr(words)
