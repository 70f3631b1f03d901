"""``exportdiff corpus list``: the root causes of the corpus, the most severe first."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError
from exportdiff.interfaces.reports.known_bug_pages import worst_table
from exportdiff.known.catalog import sheet_of
from exportdiff.known.corpus.entry import CORPORA, FIXES, find_files, read_entry
from exportdiff.known.corpus.ranking import RootCause, root_causes
from exportdiff.known.corpus.versions import by_old_keys
from exportdiff.runtime.patching.fixes import read_candidates

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from exportdiff.cli.types import Subparsers
    from exportdiff.known.corpus.entry import Entry
    from exportdiff.runtime.patching.fix import Fix

    Candidates = Mapping[str, tuple[Fix, ...]]


def add_parser(actions: Subparsers) -> None:
    """Add the action to those of ``corpus``."""
    parser = actions.add_parser(
        "list",
        help="print one line for each root cause, the most severe first",
        description="Print one line for each root cause that shows on the newest torch on which it was "
        "tried: severity, whether it is silent, the file, what is wrong, how many variants it has, what its "
        "fix does, and the upstream thread. A: everyday code, wrong without an error, or broken without a "
        "workaround; B: occasional code, or an error that has a workaround; C: contrived code, or no result "
        "is wrong. Those that are fixed follow.",
    )
    parser.add_argument("--first", type=int, metavar="N", help="only the N most severe")
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--json",
        action="store_true",
        help="print JSON: every file, with every field of its header, its root cause and the kind of its fix",
    )
    form.add_argument("--markdown", action="store_true", help="print a table in Markdown")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the root causes; return 0."""
    if not CORPORA.is_dir():
        raise UsageError("there is no corpora/ here")
    entries = [read_entry(file) for file in find_files([CORPORA])]
    fixes = read_candidates(CORPORA / FIXES)
    if arguments.json:
        print(json.dumps([_document(entry, fixes) for entry in entries], indent=1, ensure_ascii=False))
        return 0
    every = root_causes(entries)
    causes = [cause for cause in every if cause.open][: arguments.first]
    if arguments.markdown:
        print("\n".join(worst_table([sheet_of(cause) for cause in causes])))
        return 0
    for cause in causes:
        print("  ".join(_cells(cause, fixes)))
    if arguments.first is None:
        for cause in every:
            if not cause.open:
                print(f"fixed in {cause.entry.versions.fixed_in[0]}  {cause.entry.file}  {cause.entry.title}")
        for entry in entries:
            if entry.problem or entry.status != "open":
                print(f"{entry.file} {entry.problem}" if entry.problem else f"{entry.status}  {entry.file}")
    return 0


def _document(entry: Entry, fixes: Candidates) -> dict[str, object]:
    kind = fixes[entry.fix][0].kind if entry.fix in fixes else ""
    tried = {"versions": dict(entry.versions.rows), **by_old_keys(entry.versions)}
    tried["regression_since"] = entry.versions.appeared_in
    labels = {"severity": entry.severity, "severity_because": entry.reach_because}
    named = {"file": str(entry.file), "root_cause": entry.root, "fix_kind": kind}
    return {**asdict(entry), **tried, **labels, **named}


def _cells(cause: RootCause, fixes: Candidates) -> Iterator[str]:
    entry = cause.entry
    yield entry.severity or "?"
    yield "silent" if entry.silent else "raises"
    yield str(entry.file)
    yield entry.title or "(no title)"
    if cause.variants:
        yield f"({len(cause.variants)} variants)" if len(cause.variants) > 1 else "(1 variant)"
    kinds = dict.fromkeys(fixes[name][0].kind for name in cause.fixes if name in fixes)
    yield ", ".join(kinds) if kinds else "no fix"
    if entry.upstream:
        yield entry.upstream
