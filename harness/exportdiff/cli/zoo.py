"""``exportdiff zoo``: judge real models, and compare the results with the recorded table."""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from exportdiff.cli.arguments import add_time_limit_option, add_workers_option
from exportdiff.cli.around import run_in_child
from exportdiff.core.errors import UsageError
from exportdiff.known.corpus.entry import CORPORA
from exportdiff.runtime.processes.limits import most_of_the_machine

# Functions import the modules that import torch, so that ``exportdiff --help`` starts fast.
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping, Sequence

    from exportdiff.cli.types import Subparsers
    from exportdiff.lab.zoo.row import ModelRow
    from exportdiff.lab.zoo.sources import ModelSource


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "zoo",
        help="judge real models, and compare with the recorded table",
        description="Judge real models (small transformers; PyTorch's own modules, operators and examples) "
        "on the paths that people deploy, and compare the results with the recorded table of exportdiff. "
        "Nothing is downloaded.",
    )
    parser.add_argument(
        "--families",
        default="",
        metavar="NAME,...",
        help="judge only models of these sources: transformers, decoding, passing, exporters, "
        "module_db, export_db, docs, operators",
    )
    parser.add_argument(
        "--models",
        action="append",
        default=[],
        metavar="GLOB",
        help="judge only the models that match GLOB, e.g. 'transformers/*' or '*/bert'; may be repeated",
    )
    parser.add_argument(
        "--write", action="store_true", help="write the results into the table instead of comparing them"
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="with --write: judge only models that the table does not have yet",
    )
    add_workers_option(parser)
    add_time_limit_option(parser, "one model", 10)
    parser.set_defaults(run=run, memory=most_of_the_machine())


def run(arguments: argparse.Namespace) -> int:
    """Judge the chosen models; return 0, or 1 if a row is not as recorded."""
    from exportdiff.lab.zoo.differences import differences
    from exportdiff.lab.zoo.record import JSON, installed, read, with_cells_of_others
    from exportdiff.lab.zoo.run import ZooSettings, judge_all
    from exportdiff.runtime.processes.server import server

    if not CORPORA.is_dir():
        raise UsageError("there is no folder corpora/ here; run the command in a checkout of exportdiff")
    server(
        "exportdiff.lab.zoo.preload",
        "exportdiff.interfaces.checking.explaining",
        "exportdiff.lab.zoo.sources",
    )
    if arguments.resume and not arguments.write:
        raise UsageError("--resume continues what --write began: give both")
    listed = _listed(arguments.models, _families(arguments.families))
    every = [name for names in listed.values() for name in names]
    chosen = [name for name in every if _matches(name, arguments.models)]
    if not chosen:
        globs = " ".join(arguments.models)
        raise UsageError(
            f"--models {globs}: no model matches; there are {', '.join(every) or 'transformers/*'}"
        )
    recorded = read(JSON)
    if not arguments.write and installed().items() - recorded.versions.items():
        print(
            f"recorded with {_versions(recorded.versions)}; installed: {_versions(installed())}",
            file=sys.stderr,
        )
    rows = {
        row.model: row
        for row in recorded.rows
        if row.model.partition("/")[0] in listed and _matches(row.model, arguments.models)
    }
    if arguments.resume:
        chosen = [name for name in chosen if name not in rows]
    fresh: list[ModelRow] = []
    lines: list[str] = []
    settings = ZooSettings(CORPORA.resolve(), arguments.limit, arguments.workers)
    for judged in judge_all(chosen, settings):
        fresh.append(judged.row)
        remarks = "".join(f"; {remark}" for remark in judged.remarks)
        done = f"{len(fresh)}/{len(chosen)} {judged.row.model}{remarks}"
        print(done, file=sys.stderr, flush=True)
        # Write each row at once: judging all models takes long, and may be interrupted.
        if arguments.write:
            _write(fresh, listed)
        else:
            known = rows.pop(judged.row.model, None)
            now = with_cells_of_others(judged.row, known)
            lines += _printed(differences([known] if known is not None else [], [now]))
    if arguments.write:
        print(_write(fresh, listed))
        return 0
    lines += _printed(differences([*rows.values()], []))
    if not lines:
        print(f"{len(fresh)} models are as recorded")
    return 1 if lines else 0


def _families(written: str) -> tuple[str, ...]:
    """Return the names of the chosen sources; without a choice, of all. Raises UsageError."""
    from exportdiff.lab.zoo.sources import SOURCES

    every = [source.name for source in SOURCES]
    chosen = [name.strip() for name in written.split(",") if name.strip()]
    if wrong := [name for name in chosen if name not in every]:
        raise UsageError(f"--families {written}: there is no {wrong[0]}; there are {', '.join(every)}")
    return tuple(chosen or every)


def _listed(globs: Sequence[str], families: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the models of each chosen source that the patterns may match. Raises UsageError."""
    from exportdiff.lab.zoo.sources import SOURCES, names

    matching = [source for source in SOURCES if source.name in families and _may_match(source, globs)]
    if missing := [name for source in matching for name in source.missing]:
        raise UsageError(f"{', '.join(missing)} not installed; pip install 'exportdiff[zoo]'")
    return {
        source.name: run_in_child(f"listing the models of {source.name}", names, source.name)
        for source in matching
    }


def _may_match(source: ModelSource, globs: Sequence[str]) -> bool:
    """Whether a pattern may match a model of the source: its part before the slash matches."""
    return not globs or any(
        "/" not in glob or fnmatchcase(source.name, glob.partition("/")[0]) for glob in globs
    )


def _matches(name: str, globs: Sequence[str]) -> bool:
    return not globs or any(fnmatchcase(name, glob) for glob in globs)


def _versions(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in versions.items()) or "nothing"


def _printed(lines: Iterable[str]) -> list[str]:
    found = list(lines)
    for line in found:
        print(line, flush=True)
    return found


def _write(fresh: Sequence[ModelRow], listed: Mapping[str, Sequence[str]]) -> str:
    """Merge the rows into both files on disk; return a line about that."""
    from exportdiff.lab.zoo.record import JSON, MARKDOWN, RecordedTable, installed, read, write
    from exportdiff.lab.zoo.table import markdown

    before = read(JSON)
    # The rows of other sources stay, and so do the versions of packages that only they need.
    record = RecordedTable({**before.versions, **installed()}, before.merged(fresh, listed))
    write(record, JSON)
    MARKDOWN.write_text(markdown(record, CORPORA), encoding="utf-8")
    unexplained = sum(row.unexplained for row in record.rows)
    return f"wrote {len(record.rows)} rows to {MARKDOWN} and {JSON.name}; unexplained: {unexplained}"
