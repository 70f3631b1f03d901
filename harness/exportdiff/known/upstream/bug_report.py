"""Turns a repro file into a bug report in PyTorch's issue form.

The title names the API, the symptom and the trigger. The report begins with the expected and the actual
result, and one sentence about the cause. Then comes a program to paste. The program runs when the report is
made: the values in the report are the ones that it computed.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from string import Template
from typing import TYPE_CHECKING

from exportdiff.core.program_text.parsing import parse
from exportdiff.known.corpus.entry import missing_functions
from exportdiff.known.corpus.header import HEADER
from exportdiff.known.corpus.known_bug import not_found
from exportdiff.known.upstream.plain_program import plain_program, run_program

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding
    from exportdiff.known.corpus.entry import Entry
    from exportdiff.runtime.patching.fix import Fix, FixKind
    from exportdiff.runtime.processes.script import Run

FORM = "https://github.com/pytorch/pytorch/issues/new?template=pt2-bug-report.yml"
"""PyTorch's form for bugs of the compiler; the report has its fields."""

LABEL = "topic: fuzzer"
"""PyTorch's form asks for this label if a fuzzer found the bug."""

OF_KIND: dict[FixKind, str] = {
    "mend": "With this patch, it behaves like eager:",
    "refuse": "With this patch, torch refuses it with a message that says why:",
    "workaround": "With this patch, the program above behaves like eager; it is a workaround, neither clean "
    "nor complete:",
}
"""The sentence above a patch of each kind."""

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

$tried```
$versions
```
""")


@dataclass(frozen=True)
class _Parts:
    explanation: str
    code: str
    output: str


def report(
    entry: Entry, run: Run, versions: str, fix: Fix | None = None, finding: Finding | None = None
) -> str:
    """Return the report: the title in the first line, then the form's fields.

    ``run`` is a run of the file with this torch; ``versions`` is the output of ``torch.utils.collect_env``.
    ``finding`` is what the file shows, for a file that has neither a title nor an explanation.
    """
    parts = _of_entry(entry) or _as_it_is(entry, run)
    return _REPORT.substitute(
        title=entry.title or _title(entry, finding),
        explanation=_both(parts.explanation, entry, finding),
        code=parts.code,
        cause=_cause(entry, fix),
        output=parts.output.strip(),
        tried=_tried(entry),
        versions=versions.strip(),
    )


def _tried(entry: Entry) -> str:
    """Return a line about the versions that were tried; empty if none was."""
    words = entry.versions.in_words
    return f"{words[0].upper()}{words[1:]}.\n\n" if words else ""


def _of_entry(entry: Entry) -> _Parts | None:
    """Run the plain program of an entry; None: the file is no entry, or its program does not show the bug."""
    if missing_functions(entry.file.read_text(encoding="utf-8")):
        return None
    program = plain_program(entry)
    shown = run_program(program)
    if shown.right or not (shown.error or shown.values):
        return None
    if shown.error:
        first = shown.message.strip().partition("\n")[0]
        explanation = f"Expected: no error, as in eager.\nGot: `{shown.error}: {first}`"
        output = shown.traceback
    else:
        explanation = "Expected: {}\nGot: {}".format(*map(_value, shown.values))
        output = "\n".join(shown.values)
    if entry.cause:
        explanation += f"\n\nCause: {entry.cause}"
    return _Parts(explanation, program.text(prints=not shown.error), output)


def _value(text: str) -> str:
    return f"`{text}`" if "\n" not in text else f"\n```\n{text}\n```"


def _as_it_is(entry: Entry, run: Run) -> _Parts:
    """Split a file into its explanation and its code; leave out the header, which is for machines."""
    text = HEADER.sub("", entry.file.read_text(encoding="utf-8")).strip("\n")
    explanation = ast.get_docstring(parse(text)) or ""
    if explanation:
        node = parse(text).body[0]
        lines = text.splitlines()
        code = "\n".join([*lines[: node.lineno - 1], *lines[node.end_lineno :]]).strip("\n")
        return _Parts(explanation, code, run.output)
    comment = re.match(r"(#[^\n]*\n)+", text)
    if comment is None:
        return _Parts("", text, run.output)
    explanation = " ".join(map(_sentence, comment[0].splitlines()))
    return _Parts(explanation, text[comment.end() :].strip("\n"), run.output)


def _both(explanation: str, entry: Entry, finding: Finding | None) -> str:
    """Return the finding, or else the explanation of the file, or else a sentence about its header."""
    return explanation if explanation and finding is None else _explanation(entry, finding)


def _sentence(comment: str) -> str:
    """Return the text of a comment line; an indented one is code."""
    text = comment.removeprefix("#").removeprefix(" ")
    return f"`{text.strip()}`" if text.startswith("    ") else text


def _explanation(entry: Entry, finding: Finding | None) -> str:
    if finding is None:
        return _title(entry, finding)
    return f"Eager and {finding.path.without_device} differ:\n\n```\n{finding.message}\n```"


def _title(entry: Entry, finding: Finding | None) -> str:
    """Return a title like ``torch.export: nonstrict module differs from eager (outputs mismatch)``."""
    if finding is not None:
        return f"torch.export, {finding.path.without_device}: {finding.title}"
    mode, _, rest = entry.path.partition(":")
    runner = rest.partition("@")[0]
    subject = f"{mode} {runner}".strip() or "torch.export"
    return f"torch.export: {subject} differs from eager ({entry.check or 'behaviour'} {entry.kind})".rstrip()


def _cause(entry: Entry, fix: Fix | None) -> str:
    lines = [""]
    if entry.at_fault:
        lines += [f"At fault: {entry.at_fault}.", ""]
    lines += _threads(entry)
    if fix is not None:
        lines += [OF_KIND[fix.kind], "", "```diff", fix.diff.strip("\n"), "```", ""]
    return "\n".join(lines)


def _threads(entry: Entry) -> list[str]:
    """Return lines about the threads that a search found, or that it found none; empty if nobody searched."""
    if entry.upstream:
        same = f" (the same {entry.upstream_match})" if entry.upstream_match else ""
        lines = [f"See also: {entry.upstream}{same}.", ""]
    elif entry.upstream_searched:
        lines = [f"Thread about it: {not_found(entry.upstream_searched)}.", ""]
    else:
        lines = []
    return [*lines, f"Defended in {entry.defended}.", ""] if entry.defended else lines
