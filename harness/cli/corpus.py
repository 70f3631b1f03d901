"""``exportdiff corpus``: list and verify the entries of the corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.corpus import CORPORA, FIXES
from harness.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from harness.cli.types import Subparsers
    from harness.fixes import Fix


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser("corpus", help="list and verify the committed bugs")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    verify = actions.add_parser("verify", help="does each entry show its bug, does its fix mend it?")
    verify.add_argument(
        "files", nargs="*", type=Path, metavar="FILE", help="files or folders (default: corpora/)"
    )
    verify.set_defaults(run=run_verify)


def run_verify(arguments: argparse.Namespace) -> int:
    """Print one line an entry, and what is wrong with it below; return 0 if nothing is."""
    from harness.corpus import find_files
    from harness.verify import verify_file
    from harness.work import feature_tags

    fixes, tags, wrong = _fixes(), feature_tags(), 0
    files = list(find_files(_wanted(arguments.files)))
    for file in files:
        found = verify_file(file, fixes, tags)
        print(f"{'wrong' if found else 'ok':<5}  {file}", flush=True)
        for problem in found:
            print(f"         {problem}", flush=True)
        wrong += bool(found)
    print(f"{len(files) - wrong} of {len(files)} entries are as they should be")
    return 1 if wrong else 0


def _wanted(files: Sequence[Path]) -> Sequence[Path]:
    if not files and not CORPORA.is_dir():
        raise UsageError("there is no corpora/ here; name the files")
    return files or [CORPORA]


def _fixes() -> dict[str, Fix]:
    from harness.fixes import FixError, read_fixes

    try:
        return read_fixes(CORPORA / FIXES)
    except FixError as error:
        raise UsageError(str(error)) from None
