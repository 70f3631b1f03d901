"""Writes the program of an entry as a test of PyTorch: a method of a TestCase, in a separate file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.core.program_text.parsing import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.known.corpus.entry import Entry
    from exportdiff.known.upstream.plain_program import PlainProgram

_FOLDERS = {"pipeline": "test/distributed/pipelining", "compile": "test/dynamo"}
"""The folders of PyTorch's tests of a mode; all other modes have theirs in ``test/export``."""

_OWNERS = {"pipeline": "oncall: distributed", "compile": "module: dynamo"}

_WORDS = 60
"""The number of characters of a message that a test compares."""


@dataclass(frozen=True)
class ExpectedRefusal:
    """The exception that torch raises on purpose with the fix."""

    error: str
    """The class of the exception, with its module."""
    message: str
    line: int
    """The line of the program's statements that raises it, counted from 1."""


def file_of_test(
    entry: Entry, program: PlainProgram, refusal: ExpectedRefusal | None = None
) -> tuple[str, str]:
    """Return the path and the text of a test that fails without the fix of an entry and passes with it.

    ``refusal``: with the fix, torch refuses the program.
    """
    mode = mode_of(entry)
    path = f"{_FOLDERS.get(mode, 'test/export')}/test_{entry.name}.py"
    name = "".join(word.capitalize() for word in entry.name.split("_"))
    method = [f"def test_{entry.name}(self):", *(f"    {line}".rstrip() for line in _body(program, refusal))]
    lines = [
        f'# Owner(s): ["{_OWNERS.get(mode, "oncall: export")}"]',
        *_imports(program, refusal),
        "",
        "",
        f"class Test{name}(TestCase):",
        *(f"    {line}".rstrip() for line in method),
        "",
        "",
        'if __name__ == "__main__":',
        "    run_tests()",
        "",
    ]
    return path, "\n".join(lines)


def mode_of(entry: Entry) -> str:
    """Return the first word of the path of an entry."""
    return entry.path.partition("+")[0].partition(":")[0]


def _imports(program: PlainProgram, refusal: ExpectedRefusal | None) -> Iterator[str]:
    plain = sorted(each for each in program.imports if not each.partition(" ")[2].startswith("torch"))
    if plain:
        yield from (*plain, "")
    yield "import torch"
    module, _, name = (refusal.error if refusal else "").rpartition(".")
    own = [f"from {module} import {name}"] if module else []
    common = "from torch.testing._internal.common_utils import run_tests, TestCase"
    yield from sorted({*(each for each in program.imports if each not in plain), *own, common})


def _body(program: PlainProgram, refusal: ExpectedRefusal | None) -> Iterator[str]:
    for definition in program.definitions:
        yield from definition.splitlines()
        yield ""
    lines = program.statements.splitlines()
    if refusal is None:
        yield from lines
        if program.compares:
            yield "self.assertEqual(got, expected)"
        return
    raising = next(
        node
        for node in reversed(parse(program.statements).body)
        if node.lineno <= refusal.line or node.lineno == 1
    )
    yield from lines[: raising.lineno - 1]
    yield f"with self.assertRaisesRegex({refusal.error.rpartition('.')[2]}, {_pattern(refusal)}):"
    yield from (f"    {line}" for line in lines[raising.lineno - 1 : raising.end_lineno])


def _pattern(refusal: ExpectedRefusal) -> str:
    """Return a pattern for the beginning of the message, as Python text."""
    words = re.escape(refusal.message.strip().partition("\n")[0][:_WORDS]).replace("\\ ", " ")
    return f'r"{words}"' if '"' not in words and not words.endswith("\\") else repr(words)
