"""What a PyTorch developer sees who breaks a line of torch, and runs ``fuzz --against`` the release.

Each of twenty patches breaks one line. A torch with this line runs the command, and the installed torch is
the other one. A patch is found if the campaign reports a regression of torch; it has confirmed each of them
in fresh processes of both. First of all, a torch in which only a comment is new must show no regression.

The results are written to a file, one line for each patch. The next measurement of the same continues after
them.
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from exportdiff.core.own_code import digest_of, import_folders, source_files
from exportdiff.core.torch_versions import torch_digest, torch_folder, torch_version
from exportdiff.known.corpus.entry import FIXES
from exportdiff.lab.bench.edited_torch import EDITS, RELEASE, edited_file, link_torch, read_edits
from exportdiff.lab.bench.figures import Figure, Result, Rows
from exportdiff.lab.bench.records_file import append_records, read_records
from exportdiff.runtime.processes import scratch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from exportdiff.lab.bench.context import Context
    from exportdiff.runtime.patching.fix import Fix

EXAMPLES = 300
WANTED = 14
CAMPAIGN_SECONDS = 3600.0
"""A campaign that takes longer is ended."""
COMMENT = "only a comment"
"""The name of the torch that breaks nothing."""
COMMENTED = pathlib.PurePosixPath("export", "unflatten.py")
SHOWN = 70
"""Characters of a signature in the table; the JSON document has all of it."""


@dataclass(frozen=True)
class Tried:
    """What a campaign on one edited torch reported. Plain data: a line of the file."""

    edit: str
    regressions: int = 0
    """How many regressions of torch were confirmed."""
    first_example: int | None = None
    """The number of the first program that shows one."""
    signature: tuple[str, ...] = ()
    """The signature of that one."""
    path: str = ""
    seconds: float = 0.0
    said: str = ""
    """The first line on standard error: which fixes do not fit the edited torch."""
    error: str = ""
    """Why the campaign has no result."""


def measure(context: Context) -> Result:
    """Try one patch after the other, until the time is over; the last campaign runs to its end."""
    if torch_version() != RELEASE:
        return Result((Figure("edits found", None, note=f"the edits are for torch {RELEASE}"),), exit_code=2)
    edits = read_edits()
    file = _file(context)
    tried: list[Tried] = [] if file is None else [each for each in read_records(file) if not each.error]
    until = time.monotonic() + context.seconds
    interrupted = False
    try:
        for name, (path, text) in _torches(edits, {each.edit for each in tried}):
            if time.monotonic() >= until:
                break
            tried.append(try_torch(name, path, text, context))
            if file is not None:
                append_records(file, tried[-1:])
            context.report(result_of(tried, len(edits)))
    except KeyboardInterrupt:
        interrupted = True
    return result_of(tried, len(edits), interrupted=interrupted)


def _file(context: Context) -> pathlib.Path | None:
    """Return the file for these programs, patches, fixes and this torch; None: the records are not kept."""
    if context.programs is None:
        return None
    fixes = () if context.corpora is None else sorted((context.corpora / FIXES).glob("*.patch"))
    ours = digest_of([*source_files(), *sorted(EDITS.glob("*.patch")), *fixes])
    digest = hashlib.sha256(f"{torch_digest()}\0{ours}".encode()).hexdigest()[:8]
    return context.programs / f"edits-{context.seed}-{digest}.ndjson"


def _torches(edits: Sequence[Fix], done: set[str]) -> Iterator[tuple[str, tuple[pathlib.PurePosixPath, str]]]:
    """Yield the name, the edited file and its text of each torch that is not done. Raises FixError."""
    if COMMENT not in done:
        text = (torch_folder() / COMMENTED).read_text(encoding="utf-8")
        yield COMMENT, (COMMENTED, f"{text}# A comment.\n")
    for edit in edits:
        if edit.name not in done:
            yield edit.name, edited_file(edit)


def try_torch(name: str, path: pathlib.PurePosixPath, text: str, context: Context) -> Tried:
    """Run a campaign on a torch with another text of one file."""
    started = time.monotonic()
    with scratch.make() as folder:
        made, out = pathlib.Path(folder, "edited"), pathlib.Path(folder, "out")
        made.mkdir()
        link_torch(made, path, text)
        lines = _run(_command(context, out), made, pathlib.Path(folder))
        seconds, said = round(time.monotonic() - started, 1), "".join(lines[:1])
        try:
            summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return Tried(name, seconds=seconds, said=said, error="\n".join(lines[-5:]) or "no summary.json")
    return tried_of(name, summary, seconds, said)


def _command(context: Context, out: pathlib.Path) -> list[str]:
    campaign = ("--examples", str(EXAMPLES), "--seed", str(context.seed), "--workers", str(context.workers))
    only = ("--minimize", "0", "--out", str(out), "--against", sys.executable)
    corpora = () if context.corpora is None else ("--corpora", str(context.corpora))
    return [sys.executable, "-m", "exportdiff", "fuzz", *campaign, *only, *corpora]


def environment(made: pathlib.Path) -> dict[str, str]:
    """Return environment variables with which Python imports the torch in ``made``."""
    path = (str(made), *import_folders(), os.environ.get("PYTHONPATH"))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}


def _run(command: Sequence[str], made: pathlib.Path, folder: pathlib.Path) -> list[str]:
    """Run a command with an edited torch; return its lines on standard error."""
    with (folder / "stderr").open("w+", encoding="utf-8", errors="replace") as said:
        running = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=said, env=environment(made), cwd=folder
        )
        try:
            running.wait(CAMPAIGN_SECONDS)
        except subprocess.TimeoutExpired:
            said.write(f"\nit was ended after {CAMPAIGN_SECONDS:g} s\n")
        finally:
            if running.poll() is None:
                running.terminate()  # it ends its processes itself
                running.wait()
        said.seek(0)
        return said.read().strip().splitlines()


def tried_of(name: str, summary: dict[str, Any], seconds: float, said: str) -> Tried:
    """Return what the summary of a campaign says."""
    found = summary["against"]["torch_regressions"]
    if not found:
        return Tried(name, seconds=seconds, said=said)
    first = min(found, key=lambda each: int(each["first_example"]))
    return Tried(
        name, len(found), first["first_example"], tuple(first["signature"]), first["path"], seconds, said
    )


def result_of(tried: Iterable[Tried], number: int, *, interrupted: bool = False) -> Result:
    """Add up the records. ``number``: how many patches there are."""
    tried = list(tried)
    broken = [each for each in tried if each.edit != COMMENT]
    found = [each for each in broken if each.regressions]
    comment = next((each for each in tried if each.edit == COMMENT and not each.error), None)
    failed = sum(bool(each.error) for each in tried)
    note = f"{len(broken)} of {number} edits were tried, {EXAMPLES} programs each; {failed} campaigns failed"
    firsts = [each.first_example for each in found if each.first_example is not None]
    return Result(
        (
            Figure("edits found", len(found), wanted=f">= {WANTED} of {number}", note=note),
            Figure("first program that shows it, median", median(firsts) if firsts else None),
            Figure("regressions by a comment", None if comment is None else comment.regressions, wanted="0"),
        ),
        (
            Rows(
                "edits",
                ("edit", "found", "first program", "signature", "s"),
                tuple(map(_row, tried)),
            ),
        ),
        data={"edits": [vars(each) for each in tried]},
        interrupted=interrupted,
        exit_code=2 if not broken else 1 if comment is not None and comment.regressions else 0,
    )


def _row(tried: Tried) -> tuple[object, ...]:
    found = "failed" if tried.error else "yes" if tried.regressions else "no"
    first = "" if tried.first_example is None else tried.first_example
    return tried.edit, found, first, " ".join(tried.signature)[:SHOWN], round(tried.seconds)
