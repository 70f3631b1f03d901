"""The API of torch that a bug belongs to. It follows from the path that shows the bug."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.runtime.paths.parsing import parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from exportdiff.core.path import Path
    from exportdiff.known.corpus.entry import Entry


@dataclass(frozen=True)
class Api:
    """A part of torch, as people search for it."""

    name: str
    """A word for files and links."""
    title: str
    holds: Callable[[Path, Entry], bool]
    """Whether a bug belongs to it, if it belongs to none before it in the table."""


def _has(*transforms: str) -> Callable[[Path, Entry], bool]:
    return lambda path, entry: not set(transforms).isdisjoint(path.transforms)


def _mode(*modes: str) -> Callable[[Path, Entry], bool]:
    return lambda path, entry: path.mode in modes


APIS = (
    Api("compile", "torch.compile", _mode("compile", "aoti")),
    Api("pipeline", "torch.distributed.pipelining", _mode("pipeline")),
    Api("draft-export", "torch.export.draft_export", _mode("draft")),
    Api("swap", "_swap_modules", _has("swapped")),
    Api(
        "preserve",
        "preserve_module_call_signature",
        lambda path, entry: any(name.startswith("preserve") for name in path.transforms),
    ),
    Api("save-load", "torch.export.save and torch.export.load", _has("reload")),
    Api("unflatten", "torch.export.unflatten", lambda path, entry: path.runner == "unflatten"),
    Api("run-decompositions", "run_decompositions", _has("decompose", "functionalize")),
    Api("copies", "Copies and passes of an ExportedProgram", _has("deepcopy", "duplicate", "todevice")),
    Api("strict", "torch.export.export(strict=True)", _mode("strict")),
    Api(
        "export-errors",
        "torch.export.export and ep.module(): errors",
        lambda path, entry: entry.kind != "mismatch",
    ),
    Api("export", "torch.export.export and ep.module(): wrong results", lambda path, entry: True),
)
"""The APIs. A bug belongs to the first that holds."""


def api_of(entry: Entry) -> Api:
    """Return the API that an entry with a path belongs to."""
    path = parse(entry.path)
    return next(api for api in APIS if api.holds(path, entry))
