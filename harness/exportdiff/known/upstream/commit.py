"""A commit for PyTorch, as a mail in the format of ``git format-patch``, which ``git am`` reads."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP
from typing import TYPE_CHECKING

from exportdiff.known.upstream.style import MESSAGE_COLUMNS, paragraphs, wide_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from exportdiff.known.corpus.entry import Entry
    from exportdiff.runtime.patching.fix import Fix

_FIELDS = re.compile(r"^[A-Z][a-z]+: .*\n?", re.MULTILINE)
"""Lines of a patch's message that are for exportdiff, such as ``Kind: mend``."""

_AREAS = {
    "torch/distributed/pipelining/": "pipelining",
    "torch/_dynamo/": "dynamo",
    "torch/_functorch/": "AOTAutograd",
    "torch/_higher_order_ops/": "HOP",
    "torch/_subclasses/": "FakeTensor",
    "torch/_decomp/": "decomp",
    "torch/_refs/": "decomp",
    "torch/_meta_registrations.py": "meta",
    "torch/fx/": "fx",
}
"""The areas in the titles of PyTorch's commits, by the path of what they change; all others: ``export``."""

_ISSUE = re.compile(r"github\.com/pytorch/pytorch/issues/(\d+)")


@dataclass(frozen=True)
class Commit:
    """The commit that mends one root cause. It stands alone: it needs no other commit."""

    name: str
    """The name of the entry."""
    title: str
    message: str
    """Without the title."""
    files: Mapping[str, tuple[str, str]]
    """The text of each file before and after the commit, by path; a new file was empty before."""

    @property
    def changed(self) -> int:
        """The number of lines of torch that it adds or removes."""
        return sum(_changed(*texts) for path, texts in self.files.items() if path.startswith("torch/"))

    @property
    def too_wide(self) -> tuple[str, ...]:
        """What is wider than PyTorch allows: lines of the message, and lines of code."""
        lines = (line for line in self.message.splitlines() if " " in line.strip())
        wide = [line for line in (self.title, *lines) if len(line) > MESSAGE_COLUMNS]
        return (*wide, *(line for texts in self.files.values() for line in wide_lines(*texts)))


def title_of(fix: Fix) -> str:
    """Return the title of a fix's commit: ``[export] Keep dict order in unflatten``."""
    path = fix.files[0][0]
    area = next((area for start, area in _AREAS.items() if path.startswith(start)), "export")
    return f"[{area}] {fix.message.partition(chr(10))[0]}"


def message_of(entry: Entry, fix: Fix) -> str:
    """Return the text below the title: the symptom, the cause and the change, and the thread."""
    rest = _FIELDS.sub("", fix.message.partition("\n")[2]).strip()
    parts = [paragraphs(f"{entry.title}."), paragraphs(rest)]
    thread = _ISSUE.search(entry.upstream or "")
    if thread and entry.upstream_match == "mechanism":
        parts.append(f"Fixes #{thread[1]}")
    return "\n\n".join(filter(None, parts))


def mail(commit: Commit, author: str, date: str) -> bytes:
    """Return a commit in the format of ``git format-patch``."""
    message = EmailMessage(policy=SMTP.clone(linesep="\n", cte_type="8bit", max_line_length=None))
    message["From"] = author
    message["Date"] = date
    message["Subject"] = f"[PATCH] {commit.title}"
    body = f"{commit.message}\n---\n{_stat(commit.files)}\n\n{diff(commit)}-- \nexportdiff\n"
    message.set_content(body, cte="8bit")
    # git recognizes the format by this line; the number of the commit does not matter.
    return f"From {0:040x} Mon Sep 17 00:00:00 2001\n".encode() + message.as_bytes()


def diff(commit: Commit) -> str:
    """Return the changes of a commit in the format of ``git apply``."""
    return "".join(line for path, texts in commit.files.items() for line in _diff(path, *texts))


def _diff(path: str, before: str, after: str) -> Iterable[str]:
    yield f"diff --git a/{path} b/{path}\n"
    if not before:
        yield "new file mode 100644\n"
    old, new = (text.splitlines(keepends=True) for text in (before, after))
    yield from difflib.unified_diff(old, new, f"a/{path}" if before else "/dev/null", f"b/{path}")


def _stat(files: Mapping[str, tuple[str, str]]) -> str:
    return "\n".join(f" {path} | {_changed(*texts)}" for path, texts in files.items())


def _changed(before: str, after: str) -> int:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return sum(1 for line in lines if line[0] in "+-" and line[:3] not in ("+++", "---"))
