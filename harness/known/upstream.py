"""Turns a repro file into a bug report that follows PyTorch's issue form."""

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
"""PyTorch's form for bugs of the compiler; the report has its fields."""

LABEL = "topic: fuzzer"
"""PyTorch's form asks for this label if a fuzzer found the bug."""

_REPORT = Template("""\
$title

### 🐛 Describe the bug

$explanation

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
    explanation: str
    code: str


def report(entry: Entry, run: Run, versions: str, fix: Fix | None = None) -> str:
    """Return the report: the title in the first line, then the form's fields.

    ``run`` is a run of the file with this torch; ``versions`` is the output of ``torch.utils.collect_env``.
    """
    parts = _parts(entry.file.read_text(encoding="utf-8"))
    return _REPORT.substitute(
        title=entry.title or _title(entry),
        explanation=parts.explanation or _title(entry),
        code=parts.code,
        cause=_cause(entry, fix),
        output=run.output.strip(),
        versions=versions.strip(),
    )


def _parts(source: str) -> _Parts:
    """Split a file into its explanation and its code; leave out the header, which is for machines."""
    text = HEADER.sub("", source).strip("\n")
    explanation = ast.get_docstring(ast.parse(text)) or ""
    if explanation:
        node = ast.parse(text).body[0]
        lines = text.splitlines()
        return _Parts(
            explanation, "\n".join([*lines[: node.lineno - 1], *lines[node.end_lineno :]]).strip("\n")
        )
    comment = re.match(r"(#[^\n]*\n)+", text)
    if comment is None:
        return _Parts("", text)
    explanation = " ".join(line.removeprefix("#").strip() for line in comment[0].splitlines())
    return _Parts(explanation, text[comment.end() :].strip("\n"))


def _title(entry: Entry) -> str:
    """Return a title like ``torch.export: nonstrict module differs from eager (outputs mismatch)``."""
    mode, _, rest = entry.path.partition(":")
    runner = rest.partition("@")[0]
    subject = f"{mode} {runner}".strip() or "torch.export"
    return f"torch.export: {subject} differs from eager ({entry.check or 'behaviour'} {entry.kind})".rstrip()


def _cause(entry: Entry, fix: Fix | None) -> str:
    lines = [""]
    if entry.at_fault:
        lines += [f"At fault: {entry.at_fault}.", ""]
    if fix is not None:
        lines += ["With this patch, it behaves like eager:", "", "```diff", fix.diff.strip("\n"), "```", ""]
    return "\n".join(lines)
