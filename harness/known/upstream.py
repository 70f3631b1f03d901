"""A repro file -> a report in PyTorch's own issue form, ready to be filed."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from string import Template
from typing import TYPE_CHECKING

from harness.known.entry import HEADER

if TYPE_CHECKING:
    from harness.known.entry import Entry
    from harness.patching.fixes import Fix
    from harness.processes.script import Run

FORM = "https://github.com/pytorch/pytorch/issues/new?template=pt2-bug-report.yml"
"""Whose fields the report has: Describe the bug, Error logs, Versions."""

LABEL = "topic: fuzzer"
"""The form asks for it where a fuzzer found the bug."""

_REPORT = Template("""\
$title

### 🐛 Describe the bug

$words

```python
$code
```
$cause
### Error logs

```
$output
```

### Versions

```
$versions
```
""")


@dataclass(frozen=True)
class _Parts:
    words: str
    code: str


def report(entry: Entry, run: Run, versions: str, fix: Fix | None = None) -> str:
    """Return the report: its title in the first line, then the form's fields.

    ``run`` is what the file printed just now; ``versions`` the text of ``torch.utils.collect_env``.
    """
    parts = _parts(entry.file.read_text(encoding="utf-8"))
    return _REPORT.substitute(
        title=entry.title or _title(entry),
        words=parts.words or _title(entry),
        code=parts.code,
        cause=_cause(entry, fix),
        output=run.output.strip(),
        versions=versions.strip(),
    )


def _parts(source: str) -> _Parts:
    """Split a file into the words that explain it and the code; its header is for machines."""
    text = HEADER.sub("", source).strip("\n")
    words = ast.get_docstring(ast.parse(text)) or ""
    if words:
        node = ast.parse(text).body[0]
        lines = text.splitlines()
        return _Parts(words, "\n".join([*lines[: node.lineno - 1], *lines[node.end_lineno :]]).strip("\n"))
    comment = re.match(r"(#[^\n]*\n)+", text)
    if comment is None:
        return _Parts("", text)
    said = " ".join(line.removeprefix("#").strip() for line in comment[0].splitlines())
    return _Parts(said, text[comment.end() :].strip("\n"))


def _title(entry: Entry) -> str:
    """``torch.export: unflatten differs from eager in its outputs (mismatch)``."""
    mode, _, rest = entry.path.partition(":")
    runner = rest.partition("@")[0]
    what = f"{mode} {runner}".strip() or "torch.export"
    return f"torch.export: {what} differs from eager ({entry.check or 'behaviour'} {entry.kind})".rstrip()


def _cause(entry: Entry, fix: Fix | None) -> str:
    lines = [""]
    if entry.at_fault:
        lines += [f"At fault: {entry.at_fault}.", ""]
    if fix is not None:
        lines += ["With this patch it behaves as eager does:", "", "```diff", fix.diff.strip("\n"), "```", ""]
    return "\n".join(lines)
