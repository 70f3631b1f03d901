"""Gives code the style of PyTorch's sources: its formatter, and 88 columns."""

from __future__ import annotations

import difflib
import re
import shutil
import subprocess
import sysconfig
import textwrap
from functools import cache
from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

COLUMNS = 88
"""The width of PyTorch's Python files."""

_PRAGMA = re.compile(r"\s+# (type: ignore|noqa|pyrefly: ignore)\b.*$")
"""A comment for a linter at the end of a line, which may be wider."""

MESSAGE_COLUMNS = 72
"""The width of the messages of its commits."""


def formatted(text: str, lines: range | None = None) -> str:
    """Return Python code as PyTorch formats it: all of it, or only these lines (counted from 0).

    Raises UsageError if ruff, which formats it, is missing or fails.
    """
    words = [_ruff(), "format", "--isolated", "--line-length", str(COLUMNS), "--stdin-filename", "a.py"]
    if lines is not None:
        words += ["--range", f"{lines.start + 1}:1-{lines.stop + 1}:1"]
    done = subprocess.run([*words, "-"], input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UsageError(f"ruff cannot format this: {done.stderr.strip()}\n{text}")
    return done.stdout


def formatted_changes(before: str, after: str) -> str:
    """Return ``after``, with the lines that it changes in PyTorch's style. Raises UsageError."""
    for lines in reversed(_changed(before, after)):  # from below: the lines above keep their numbers
        after = formatted(after, lines)
    return _with_narrow_comments(before, after)


def wide_lines(before: str, after: str) -> list[str]:
    """Return the lines that only ``after`` has and that are wider than PyTorch allows."""
    lines, old = after.splitlines(), set(before.splitlines())
    new = (lines[number] for span in _changed(before, after) for number in span)
    return [line for line in new if line not in old and len(_PRAGMA.sub("", line)) > COLUMNS]


def paragraphs(text: str) -> str:
    """Return a text with lines as short as those of a commit message; indented lines stay as they are."""
    return "\n\n".join(map(_paragraph, text.strip().split("\n\n")))


def _paragraph(text: str) -> str:
    lines = text.splitlines()
    if any(line.startswith((" ", "- ", "* ")) for line in lines):
        return text
    return textwrap.fill(" ".join(lines), MESSAGE_COLUMNS, break_long_words=False, break_on_hyphens=False)


def _changed(before: str, after: str) -> list[range]:
    """Return the lines of ``after`` that ``before`` does not have, counted from 0."""
    matcher = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines())
    found = (range(start, stop) for tag, _, _, start, stop in matcher.get_opcodes() if tag != "equal")
    return [lines for lines in found if lines]


def _with_narrow_comments(before: str, after: str) -> str:
    """Break the new comments that are too wide."""
    lines = after.splitlines()
    for span in reversed(_changed(before, after)):
        for block in reversed(list(_comments(lines, span))):
            lines[block.start : block.stop] = _narrow(lines[block.start : block.stop])
    return "\n".join(lines) + "\n"


def _comments(lines: Sequence[str], span: range) -> Iterable[range]:
    """Yield the blocks of comments that have a line that is too wide."""
    start = span.start
    while start < span.stop:
        stop = start
        while stop < span.stop and _margin(lines[stop]) == _margin(lines[start]) is not None:
            stop += 1
        if any(len(line) > COLUMNS for line in lines[start:stop]):
            yield range(start, stop)
        start = max(stop, start + 1)


def _margin(line: str) -> int | None:
    """Return where the comment of a line begins; None if the line is more than a comment."""
    text = line.lstrip()
    return len(line) - len(text) if text.startswith("# ") else None


def _narrow(comment: Sequence[str]) -> list[str]:
    margin = " " * (_margin(comment[0]) or 0) + "# "
    text = " ".join(line.lstrip().removeprefix("# ") for line in comment)
    return textwrap.wrap(text, COLUMNS, initial_indent=margin, subsequent_indent=margin)


@cache
def _ruff() -> str:
    found = shutil.which("ruff", path=sysconfig.get_path("scripts")) or shutil.which("ruff")
    if found is None:
        raise UsageError("ruff formats the code for PyTorch, and is missing: pip install ruff")
    return found
