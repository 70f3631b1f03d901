"""Trying the fixes of a corpus before a command holds them, once for each torch."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import TYPE_CHECKING

from exportdiff.known.corpus.fix_trials import Row, statuses, subjects, untried

if TYPE_CHECKING:
    import pathlib


def try_first(corpora: pathlib.Path | None, workers: int) -> None:
    """Try the fixes of which nobody knows whether they mend on this torch, and say so; mostly there are none.

    A fix that fits may still fail: it must not be in place while programs are judged. Raises FixError.
    """
    missing = frozenset(() if corpora is None else untried(corpora))
    if corpora is None or not missing:
        return
    from exportdiff.interfaces.reports.text import make_error_console
    from exportdiff.known.corpus.fix_trial import try_fixes

    count = f"{len(missing)} fix{'es' if len(missing) > 1 else ''}"
    print(f"trying {count} of known bugs on torch {version('torch')}, which is done once", flush=True)
    rows: dict[str, Row] = {}
    found = [each for each in subjects(corpora) if each.name in missing]
    with make_error_console().status("") as status:
        for row in try_fixes(found, workers):
            rows[row.name] = row
            status.update(f"{len(rows)} of {len(found)} fixes tried")
            if not sys.stderr.isatty() and len(rows) % 50 == 0:
                print(f"  {len(rows)} of {len(found)} tried", flush=True)
    print(f"  {', '.join(f'{number} {status}' for status, number in statuses(rows).items())}", flush=True)
