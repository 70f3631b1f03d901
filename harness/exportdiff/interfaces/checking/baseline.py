"""Baselines: JSON files of the findings that the owner of a model has accepted.

interfaces/schemas/baseline-2.schema.json describes the format; accepting.py says what an entry accepts.
"""

from __future__ import annotations

import json
import os
import pathlib
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from exportdiff.core.difference import Amount
from exportdiff.core.errors import UsageError
from exportdiff.core.model_identity import ModelIdentity
from exportdiff.interfaces.checking.accepting import (
    Accepted,
    AcceptedDifference,
    AcceptedFinding,
    AcceptedFingerprint,
    AcceptedWithoutBound,
    Entry,
    differences,
    root_causes,
)
from exportdiff.interfaces.output_files import check_writable, write_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from exportdiff.interfaces.checking.found import FailOn, Found
    from exportdiff.interfaces.checking.report import Report

FORMAT = 2
BOUND = 10
"""A baseline accepts differences of up to ten times the recorded one."""

Accept: TypeAlias = str | os.PathLike[str] | tuple[str, ...] | list[str]
"""What a caller accepts: a baseline file, or the fingerprints of findings."""


@dataclass(frozen=True)
class Baseline:
    """The entries of a file, each with a function that says whether it is about a model."""

    file: pathlib.Path
    entries: tuple[tuple[Callable[[ModelIdentity], bool], Entry], ...] = ()
    documents: tuple[Any, ...] = ()
    """The entries as they are in the file; none of a file of format 1."""
    notice: str = ""
    """What the user should do about the file: renew it. Empty: nothing."""

    def of(self, model: ModelIdentity | None) -> tuple[Entry, ...]:
        """Return the entries that are about a model; none if it could not be built."""
        return tuple(entry for is_about, entry in self.entries if model is not None and is_about(model))

    def about_others(self, model: ModelIdentity | None) -> str:
        """Say that the file is about other models only; empty if it is about this one."""
        if not self.entries or self.of(model):
            return ""
        return f"{self.file} accepts nothing of this model, only of others; --write-baseline adds this one"


NO_BASELINE = Baseline(pathlib.Path())


def read_baseline(file: pathlib.Path) -> Baseline:
    """Read a baseline. Raises UsageError if the file is missing or wrong."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        if document["format"] == 1:
            return _of_format_1(file, document)
        if document["format"] != FORMAT:
            raise UsageError(
                f"{file} has format {document['format']}; this version reads formats 1 and {FORMAT}"
            )
        entries = document["accepted"]
        return Baseline(
            file, tuple((_model(each, file).is_same, _entry(each)) for each in entries), tuple(entries)
        )
    except OSError as error:
        raise UsageError(
            f"{file}: {error.strerror or error}; write one with --write-baseline {file}"
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UsageError(f"{file} is not a baseline; write one with --write-baseline {file}") from None


def read_before_writing(option: str, file: pathlib.Path) -> Baseline:
    """Return what is in the file that a baseline will be written to, so that other models keep their entries.

    Raises UsageError if it cannot be written, or is another file.
    """
    check_writable(option, file, pathlib.Path())
    try:
        return read_baseline(file) if file.exists() and file.stat().st_size else NO_BASELINE
    except UsageError:
        raise UsageError(f"{option} {file}: this file exists and is no baseline; name another file") from None


def _of_format_1(file: pathlib.Path, document: Any) -> Baseline:
    """Read a file that names its model as the user wrote it, and no sizes of differences."""
    module, _, name = document["model"].rpartition(":")
    last = pathlib.PurePath(module).stem if module.endswith(".py") else module.rpartition(".")[2]

    def is_about(model: ModelIdentity) -> bool:
        return (pathlib.PurePath(model.file).stem, model.name) == (last, name)

    entries = tuple(
        (is_about, AcceptedWithoutBound(each["check"], each["kind"], tuple(each["signature"]), paths))
        for each in document["accepted"]
        for paths in [frozenset(each["paths"])]
    )
    notice = (
        f"{file} has the old format 1, without sizes: it accepts small differences only. Renew it: "
        f"exportdiff check {document['model']} --accept {file} --write-baseline {file}"
    )
    return Baseline(file, entries, notice=notice)


def _model(document: Any, file: pathlib.Path) -> ModelIdentity:
    model = document["model"]
    place = str((file.parent / model["file"]).resolve()) if model["file"] else ""
    return ModelIdentity(place, model["name"], model["class"], model["state"])


def _entry(document: Any) -> AcceptedFinding:
    return AcceptedFinding(
        document["check"],
        document["kind"],
        tuple(document["signature"]),
        frozenset(document["paths"]),
        frozenset(document["root_causes"]),
        tuple(
            AcceptedDifference(
                each["check"], each["evidence"], each["call"], dict(each["what"]), _bound(each)
            )
            for each in document["differences"]
        ),
    )


def _bound(document: Any) -> Amount | None:
    if "at_most" not in document:
        return None
    most = document["at_most"]
    return Amount(float(most["absolute"]), float(most["relative"]), 0.0)


def acceptance(accept: Accept) -> Callable[[ModelIdentity | None], Sequence[Accepted]]:
    """Return a function that returns what ``accept`` accepts of a model.

    A file is read at once. Raises UsageError.
    """
    if isinstance(accept, str | os.PathLike):
        baseline = read_baseline(pathlib.Path(accept))
        if baseline.notice:
            warnings.warn(baseline.notice, stacklevel=3)
        return baseline.of
    fingerprints = [*map(AcceptedFingerprint, accept)]
    return lambda model: fingerprints


def write_baseline(file: str | os.PathLike[str], report: Report, fail_on: FailOn = "any") -> int:
    """Write the findings of a model that fail, and those that are accepted already; return how many.

    If the file exists, its entries about other models are kept. Raises UsageError if it is another file, or
    cannot be written.
    """
    file = pathlib.Path(file)
    before = read_before_writing("write_baseline", file)
    found = [each for each in report.found if each.accepted or each.fails(fail_on)]
    kept = [each for each in before.documents if not _is_about(each, before.file, report.model)]
    reasons = {_key(each): each.get("because", "") for each in before.documents if each not in kept}
    new = [entry for each in found for entry in _entries(each, report.model, file)]
    for each in new:
        each["because"] = reasons.get(_key(each), "")
    document = {"format": FORMAT, "torch": report.torch, "accepted": [*kept, *new]}
    write_text(file, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    return len(found)


def _is_about(document: Any, file: pathlib.Path, model: ModelIdentity | None) -> bool:
    return model is not None and _model(document, file).is_same(model)


def _key(document: Any) -> tuple[str, ...]:
    """Return what says that an old entry and a new one are about one finding."""
    return (document["check"], document["kind"], *document["signature"], *document["paths"])


def _entries(found: Found, model: ModelIdentity | None, file: pathlib.Path) -> Iterable[dict[str, Any]]:
    """Yield an entry for each group of paths that show exactly the same."""
    finding = found.finding
    groups: dict[str, dict[str, Any]] = {}
    for path in finding.shown_on:
        seen = [*map(_document, differences(finding.on(path), finding.check))]
        entry = groups.setdefault(
            json.dumps(seen),
            {
                "headline": finding.on(path).evidence.headline,
                "model": _model_document(model, file),
                "paths": [],
                "check": finding.check,
                "kind": finding.kind,
                "signature": list(finding.signature),
                "root_causes": sorted(root_causes(found)),
                "differences": seen,
                "because": "",
            },
        )
        entry["paths"].append(path.without_device)
    return groups.values()


def _model_document(model: ModelIdentity | None, file: pathlib.Path) -> dict[str, str]:
    """Write the file of the model relative to the baseline, so that both can be in another folder later."""
    if model is None:
        raise UsageError(f"{file} cannot be written: the model was not built")
    place = os.path.relpath(model.file, file.resolve().parent) if model.file else ""
    return {
        "file": pathlib.PurePath(place).as_posix() if place else "",
        "name": model.name,
        "class": model.class_name,
        "state": model.state,
    }


def _document(difference: AcceptedDifference) -> dict[str, Any]:
    written: dict[str, Any] = {
        "check": difference.check,
        "evidence": difference.evidence,
        "call": difference.call,
        "what": difference.what,
    }
    if difference.amount is not None:
        most = difference.amount.scaled(BOUND)
        written["at_most"] = {
            "absolute": _number(most.absolute),
            "relative": _number(most.relative),
        }
    return written


def _number(value: float) -> float | str:
    """JSON has no infinity."""
    return "inf" if value == float("inf") else float(f"{value:.6g}")
