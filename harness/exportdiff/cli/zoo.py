"""``exportdiff zoo``: what real models show on the paths that people deploy; is it as recorded?"""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from exportdiff.cli.arguments import duration, workers
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

LISTING_SECONDS = 300.0
"""For listing the models of one source, in a child process."""


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "zoo",
        help="judge real models, and compare with the recorded table",
        description="Judge real models (transformers in tiny form, PyTorch's own modules and "
        "examples) on the paths that people deploy, and compare with the table in harness/zoo. Nothing is "
        "downloaded. Exit code: 0 all is as recorded, 1 a row differs, 2 a package is missing or an argument "
        "is wrong, 3 exportdiff itself failed.",
    )
    parser.add_argument(
        "--models",
        action="append",
        default=[],
        metavar="GLOB",
        help="judge only these models, e.g. 'transformers/*' or '*/bert'; repeat it for more",
    )
    parser.add_argument(
        "--write", action="store_true", help="write what is found into the table, instead of comparing"
    )
    parser.add_argument(
        "--workers",
        type=workers,
        default="auto",
        metavar="N",
        help="processes; auto: one for each core (default: auto)",
    )
    parser.add_argument(
        "--limit",
        type=duration,
        default=600.0,
        metavar="TIME",
        help="time limit for one model, e.g. 90s (default: 10m)",
    )
    parser.set_defaults(run=run, memory=most_of_the_machine())


def run(arguments: argparse.Namespace) -> int:
    """Judge the chosen models; return 0, or 1 if a row is not as recorded."""
    from exportdiff.lab.zoo.differences import differences
    from exportdiff.lab.zoo.record import JSON, installed, read
    from exportdiff.lab.zoo.run import ZooSettings, judge_all
    from exportdiff.runtime.processes.server import server

    if not CORPORA.is_dir():
        raise UsageError("there is no folder corpora here; run it in a checkout of exportdiff")
    server(
        "exportdiff.lab.zoo.preload",
        "exportdiff.interfaces.checking.explaining",
        "exportdiff.lab.zoo.sources",
    )
    listed = _listed(arguments.models)
    every = [name for names in listed.values() for name in names]
    chosen = [name for name in every if _matches(name, arguments.models)]
    if not chosen:
        globs = " ".join(arguments.models)
        raise UsageError(
            f"--models {globs}: no model matches; there are {', '.join(every) or 'transformers/*'}"
        )
    recorded = read(JSON)
    if not arguments.write and recorded.versions != installed():
        print(
            f"recorded with {_versions(recorded.versions)}; here is {_versions(installed())}", file=sys.stderr
        )
    rows = {row.model: row for row in recorded.rows if _matches(row.model, arguments.models)}
    fresh: list[ModelRow] = []
    lines: list[str] = []
    settings = ZooSettings(CORPORA.resolve(), arguments.limit, arguments.workers)
    for judged in judge_all(chosen, settings):
        fresh.append(judged.row)
        remarks = "".join(f"; {remark}" for remark in judged.remarks)
        done = f"{len(fresh)}/{len(chosen)} {judged.row.model}{remarks}"
        print(done, file=sys.stderr, flush=True)
        # At once: the whole zoo takes long, and who interrupts it keeps these rows.
        if arguments.write:
            _write(fresh, listed)
        else:
            known = rows.pop(judged.row.model, None)
            lines += _printed(differences([known] if known is not None else [], [judged.row]))
    if arguments.write:
        print(_write(fresh, listed))
        return 0
    lines += _printed(differences([*rows.values()], []))
    if not lines:
        print(f"{len(fresh)} models are as recorded")
    return 1 if lines else 0


def _listed(globs: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the names of all models of the sources that the patterns can mean. Raises UsageError."""
    from exportdiff.lab.zoo.sources import SOURCES

    meant = [source for source in SOURCES if _meant(source, globs)]
    if missing := [name for source in meant for name in source.missing]:
        raise UsageError(f"{', '.join(missing)} not installed; pip install 'exportdiff[zoo]'")
    return {source.name: _names(source) for source in meant}


def _meant(source: ModelSource, globs: Sequence[str]) -> bool:
    """Whether a pattern may name a model of the source: its part before the slash matches."""
    return not globs or any(
        "/" not in glob or fnmatchcase(source.name, glob.partition("/")[0]) for glob in globs
    )


def _names(source: ModelSource) -> tuple[str, ...]:
    from exportdiff.lab.zoo.sources import names
    from exportdiff.runtime.processes.child import Death, TaskFailure
    from exportdiff.runtime.processes.in_child import call_fresh

    listed = call_fresh(LISTING_SECONDS, names, source.name)
    if isinstance(listed, TaskFailure):
        raise listed.error
    if isinstance(listed, Death):
        raise UsageError(f"the models of {source.name} cannot be listed ({listed.reason})")
    return listed


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
    """Put the rows into both files, as they are on disk now; return a line that says so."""
    from exportdiff.lab.zoo.record import JSON, MARKDOWN, RecordedTable, installed, read, write
    from exportdiff.lab.zoo.table import markdown

    record = RecordedTable(installed(), read(JSON).merged(fresh, listed))
    write(record, JSON)
    MARKDOWN.write_text(markdown(record, CORPORA), encoding="utf-8")
    unexplained = sum(row.unexplained for row in record.rows)
    return f"wrote {len(record.rows)} rows to {MARKDOWN} and {JSON.name}; unexplained: {unexplained}"
