"""``exportdiff corpus``: list, verify, add and close entries of the corpus."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING

from exportdiff.cli import bisect, corpus_fit, corpus_list
from exportdiff.core.errors import UsageError
from exportdiff.core.programs import tag_names
from exportdiff.known.corpus.entry import CORPORA, FIXES, find_files
from exportdiff.runtime.patching.fixes import read_fixes

# Functions import the modules that import torch, so that ``exportdiff --help`` starts fast.
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from exportdiff.cli.types import Subparsers


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "corpus",
        help="list, verify, add and close the bugs in corpora/",
        description="Maintain the corpus: the known bugs, each a repro file in corpora/.",
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    corpus_list.add_parser(actions)
    adding = actions.add_parser(
        "add",
        help="copy a repro file to corpora/open, with a header",
        description="Copy a repro file to corpora/open, with a header to fill in. A file that passes with a "
        "fix of the corpus is refused.",
    )
    adding.add_argument("file", type=pathlib.Path, metavar="FILE", help="the repro file")
    adding.add_argument(
        "--name",
        required=True,
        metavar="NAME",
        help="the name of the entry; it says what is wrong, e.g. export_forgets_offsets",
    )
    adding.add_argument(
        "--title",
        default="",
        metavar="TEXT",
        help="one line about the bug (default: the first line of the docstring)",
    )
    adding.add_argument(
        "--force", action="store_true", help="add the file even if it passes with a fix of the corpus"
    )
    adding.set_defaults(run=run_add)
    closing = actions.add_parser(
        "close",
        help="move an open entry that now passes to corpora/fixed",
        description="Move an open entry that now passes to corpora/fixed, where it must keep passing.",
    )
    closing.add_argument("file", type=pathlib.Path, metavar="FILE", help="the file of the entry")
    closing.set_defaults(run=run_close)
    corpus_fit.add_parser(actions)
    bisect.add_parser(actions)
    verify = actions.add_parser(
        "verify",
        help="check that each entry shows its bug, and passes with its fix",
        description="Check that each entry shows its bug, passes with its fix, and is complete and short.",
    )
    verify.add_argument(
        "files", nargs="*", type=pathlib.Path, metavar="FILE", help="files or folders (default: corpora/)"
    )
    verify.set_defaults(run=run_verify)


def run_add(arguments: argparse.Namespace) -> int:
    """Add a file to the corpus; return 0."""
    from exportdiff.known.adding import add_entry

    added = add_entry(arguments.file, arguments.name, CORPORA, title=arguments.title, force=arguments.force)
    print(f"added {added.file}")
    if added.missing:
        print(f"write into its header: {', '.join(added.missing)}")
        print(f"then: exportdiff corpus verify {added.file}")
    return 0


def run_close(arguments: argparse.Namespace) -> int:
    """Move an entry to corpora/fixed; return 0."""
    from exportdiff.known.adding import close_entry

    print(f"moved to {close_entry(arguments.file, CORPORA)}")
    return 0


def run_verify(arguments: argparse.Namespace) -> int:
    """Print one line for each entry, and its problems below; return 0 if there are none, else 1."""
    from exportdiff.known.corpus.verify import verify_file

    fixes, tags, wrong = read_fixes(CORPORA / FIXES), tag_names(), 0
    files = list(find_files(_wanted(arguments.files)))
    for missing in (file for file in files if not file.exists()):
        raise UsageError(f"{missing}: there is no such file")
    for file in files:
        found = verify_file(file, fixes, tags)
        print(f"{'wrong' if found else 'ok':<5}  {file}", flush=True)
        for problem in found:
            print(f"         {problem}", flush=True)
        wrong += bool(found)
    print(f"{len(files) - wrong} of {len(files)} entries are as they should be")
    return 1 if wrong else 0


def _wanted(files: Sequence[pathlib.Path]) -> Sequence[pathlib.Path]:
    if not files and not CORPORA.is_dir():
        raise UsageError("there is no corpora/ here; name the files")
    return files or [CORPORA]
