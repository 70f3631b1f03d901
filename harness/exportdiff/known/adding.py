"""Adds a repro file to the corpus, and closes an entry when torch no longer has its bug."""

from __future__ import annotations

import ast
import json
import pathlib
import re
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError
from exportdiff.core.program_text.canonical import fingerprint
from exportdiff.known.corpus.entry import find_files, read_entry
from exportdiff.known.corpus.header import HEADER
from exportdiff.known.corpus.ids import next_id
from exportdiff.known.corpus.versions import header_lines, versions
from exportdiff.runtime.processes.child import Death, TaskFailure
from exportdiff.runtime.processes.in_child import call_fresh
from exportdiff.runtime.processes.script import run_file

if TYPE_CHECKING:
    from exportdiff.known.corpus.entry import Entry

SECONDS = 120.0
"""The time limit for one run of a file."""

_STATUS = re.compile(r'^# status = "open"$', re.MULTILINE)


@dataclass(frozen=True)
class AddedEntry:
    """The file of a new entry, and the header keys that a person must still write."""

    file: pathlib.Path
    missing: tuple[str, ...]


def add_entry(
    file: pathlib.Path, name: str, corpora: pathlib.Path, *, title: str = "", force: bool = False
) -> AddedEntry:
    """Copy a repro file to ``open/NAME.py`` of a corpus, and give it the header of an entry.

    If an entry with the same root cause exists, a person must move the new file to ``variants/``.

    Raises UsageError, and writes nothing, if the file is not a repro file, imports more than torch, shows no
    bug in a fresh process, or shows it only with fixes installed. Unless ``force`` is set, it raises it also
    if known bugs explain all findings.
    """
    target = corpora / "open" / f"{name}.py"
    if not name.isidentifier():
        raise UsageError(f"{name!r}: name an entry like a Python module: export_forgets_offsets")
    if target.exists():
        raise UsageError(f"{target} exists; choose another --name")
    entry = read_entry(file)
    if entry.problem:
        raise UsageError(f"{file}: {entry.problem}")
    _refuse_needs(entry)
    source = file.read_text(encoding="utf-8")
    run = run_file(file, SECONDS)
    if run.problem or run.code != 1:
        raise UsageError(f"{file} does not show its bug in a fresh process: {run.problem or run.last_line}")
    known = () if force else _explaining_entries_in_child(entry, corpora)
    if known:
        raise UsageError(f"{file} shows only known bugs: {', '.join(known)} (--force adds it anyway)")
    header = _header(entry, source, title, next_id(map(_text, find_files([corpora]))))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(header + HEADER.sub("", source, count=1).lstrip("\n"), encoding="utf-8")
    return AddedEntry(target, tuple(_missing_fields(read_entry(target))))


def close_entry(file: pathlib.Path, corpora: pathlib.Path) -> pathlib.Path:
    """Move an open entry that now passes to ``fixed/``, where it must keep passing; return the new file.

    Raises UsageError if the entry is not open, or does not pass.
    """
    entry = read_entry(file)
    if entry.problem or entry.status != "open":
        raise UsageError(f"{file} {entry.problem or f'is {entry.status}, not open'}")
    _refuse_needs(entry)
    run = run_file(file, SECONDS)
    if run.problem or run.code != 0:
        raise UsageError(f"{file} does not pass with this torch: {run.problem or run.last_line}")
    target = corpora / "fixed" / file.name
    if target.exists():
        raise UsageError(f"{target} exists")
    source = _STATUS.sub('# status = "fixed"', file.read_text(encoding="utf-8"), count=1)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(source, encoding="utf-8")
    file.unlink()
    return target


def _refuse_needs(entry: Entry) -> None:
    """Raise UsageError if only torch with fixes shows the bug: entries are about plain torch."""
    if entry.unmasked_by:
        raise UsageError(
            f"{entry.file} shows its bug only with fixes in place (unmasked-by): add its signature to "
            f"'unmasked' in the header of an entry with the fix {entry.unmasked_by[0]}"
        )
    if entry.caused_by:
        raise UsageError(
            f"{entry.file} shows a mistake of a fix, not of torch (caused-by): correct the fix "
            f"{entry.caused_by[0]}"
        )


def _explaining_entries_in_child(entry: Entry, corpora: pathlib.Path) -> tuple[str, ...]:
    """Run ``explaining_entries`` in a fresh process. Raises UsageError if the process fails."""
    answer = call_fresh(SECONDS, explaining_entries, entry.file.absolute(), entry.path, corpora.resolve())
    if isinstance(answer, Death | TaskFailure):
        reason = answer.reason if isinstance(answer, Death) else str(answer.error)
        raise UsageError(f"{entry.file} cannot be judged on {entry.path}: {reason}")
    return answer


def explaining_entries(file: pathlib.Path, path: str, corpora: pathlib.Path) -> tuple[str, ...]:
    """Judge a file along one path; return the entries that explain all findings, or () if one is new."""
    from exportdiff.core.case import case_from_source
    from exportdiff.judging.judge_case import judge_case
    from exportdiff.known.attribution.attribute import explain
    from exportdiff.known.attribution.knowledge import knowledge
    from exportdiff.runtime.paths import parse

    case = case_from_source(file.read_text(encoding="utf-8"), finite_only=False)
    parts = explain(case, judge_case(case, (parse(path),)), (), knowledge(corpora))
    if not all(part.causes for part in parts):
        return ()
    return tuple(sorted({cause.entry or cause.name for part in parts for cause in part.causes}))


def _text(file: pathlib.Path) -> str:
    return file.read_text(encoding="utf-8")


def _header(entry: Entry, source: str, title: str, new_id: str) -> str:
    torch = version("torch").partition("+")[0]
    first_line = (ast.get_docstring(ast.parse(source)) or "").strip().partition("\n")[0]
    fields: dict[str, str | list[str] | list[list[str]] | None] = {
        "id": "" if entry.variant_of else new_id,
        "title": title or entry.title or first_line,
        "harm": entry.harm,
        "reach": entry.reach,
        "reach-because": entry.reach_because,
        "evidence": list(entry.evidence),
        "topics": list(entry.topics),
        "variant-of": entry.variant_of,
        "fingerprint": fingerprint(entry.path, entry.check, entry.kind, entry.signatures, source),
        "path": entry.path,
        "check": entry.check,
        "kind": entry.kind,
        "status": "open",
        "signatures": [list(words) for words in entry.signatures],
        "at-fault": entry.at_fault,
    }
    if entry.upstream is not None:
        fields["upstream"] = entry.upstream
    if entry.fix:
        fields["fix"] = entry.fix
    if entry.trigger:
        fields["trigger"] = list(entry.trigger)
    lines = [
        "# /// script",
        '# requires-python = ">=3.10"',
        f'# dependencies = ["torch=={torch}"]',
        "#",
        "# [tool.exportdiff]",
        # JSON and TOML write strings and lists of strings in the same way.
        *(f"# {key} = {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items() if value),
        *header_lines(entry.versions if entry.versions.rows else versions({torch: "shows"})),
        "# ///",
    ]
    return "\n".join(lines) + "\n"


def _missing_fields(entry: Entry) -> list[str]:
    wanted = {
        "title": entry.title,
        "harm, reach and topics, or variant-of": (entry.severity and entry.topics) or entry.variant_of,
        "at-fault": entry.at_fault,
        "fix or trigger": entry.fix or entry.trigger,
    }
    return [name for name, value in wanted.items() if not value] + ["upstream"] * (entry.upstream is None)
