"""An entry as a test of PyTorch's own: a method of a TestCase, in a file beside PyTorch's."""

from __future__ import annotations

import ast
import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.core.program_text.parsing import parse
from exportdiff.known.upstream.demonstration import Demonstration, Equal, Holds, Raises
from exportdiff.known.upstream.plain_program import styled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.known.corpus.entry import Entry

_FOLDERS = {"pipeline": "test/distributed/pipelining", "compile": "test/dynamo"}
"""Where the tests of a mode are; those of all others are in ``test/export``."""

_OWNERS = {"pipeline": "oncall: distributed", "compile": "module: dynamo"}

_WORDS = 60
"""Characters of a message that a test asks for."""


@dataclass(frozen=True)
class Refusal:
    """What torch raises on purpose with the fix."""

    error: str
    """The exception's class, with its module."""
    message: str
    step: int
    """Which step of the program ends in it."""


def file_of_test(entry: Entry, demo: Demonstration, refusal: Refusal | None = None) -> tuple[str, str]:
    """Return the path and the text of a test that fails without the fix of an entry and passes with it.

    ``refusal``: what the program ends in with the fix, where it cannot be right.
    """
    mode = mode_of(entry)
    path = f"{_FOLDERS.get(mode, 'test/export')}/test_{entry.name}.py"
    name = "".join(word.capitalize() for word in entry.name.split("_"))
    method = [f"def test_{entry.name}(self):", *(f"    {line}".rstrip() for line in _body(demo, refusal))]
    lines = [
        f'# Owner(s): ["{_OWNERS.get(mode, "oncall: export")}"]',
        *_imports(demo, refusal),
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


def _imports(demo: Demonstration, refusal: Refusal | None) -> Iterator[str]:
    plain = sorted(each for each in demo.imports if not each.partition(" ")[2].startswith("torch"))
    if plain:
        yield from (*plain, "")
    yield "import torch"
    module, _, name = (refusal.error if refusal else "").rpartition(".")
    own = [f"from {module} import {name}"] if module else []
    common = "from torch.testing._internal.common_utils import run_tests, TestCase"
    yield from sorted({*(each for each in demo.imports if each not in plain), *own, common})


def _body(demo: Demonstration, refusal: Refusal | None) -> Iterator[str]:
    for definition in demo.definitions:
        yield from definition.splitlines()
        yield ""
    steps = [styled(step) for step in demo.steps]
    if refusal is None:
        yield from (line for step in steps for line in step.splitlines())
        yield from _assertion(demo)
        return
    yield from (line for step in steps[: refusal.step] for line in step.splitlines())
    yield f"with self.assertRaisesRegex({refusal.error.rpartition('.')[2]}, {_pattern(refusal)}):"
    yield textwrap.indent(styled(_without_name(demo.steps[refusal.step])), "    ")


def _without_name(step: str) -> str:
    """Leave out the name of a result that nobody reads."""
    node = parse(step).body[0]
    return ast.unparse(node.value) if isinstance(node, ast.Assign) else step


def _pattern(refusal: Refusal) -> str:
    """Return a pattern for the beginning of the message, as Python text."""
    words = re.escape(refusal.message.strip().partition("\n")[0][:_WORDS]).replace("\\ ", " ")
    return f'r"{words}"' if '"' not in words and not words.endswith("\\") else repr(words)


def _assertion(demo: Demonstration) -> list[str]:
    if isinstance(demo.outcome, Equal):
        return [f"self.assertEqual({styled(demo.outcome.seen)}, {styled(demo.outcome.expected)})"]
    if isinstance(demo.outcome, Holds):
        kind = "True" if demo.outcome.wanted else "False"
        return [f"self.assert{kind}({styled(demo.outcome.condition)})"]
    assert isinstance(demo.outcome, Raises)
    return []
