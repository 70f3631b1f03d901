"""Baselines: JSON files of findings that the owner of a model has accepted."""

from __future__ import annotations

import json
import os
import pathlib
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from exportdiff.core.errors import UsageError
from exportdiff.interfaces.output_files import write_text
from exportdiff.known.attribution.explained import on_paths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from exportdiff.interfaces.checking.found import FailOn, Found
    from exportdiff.interfaces.checking.report import Report

FORMAT = 1

Accept: TypeAlias = str | os.PathLike[str] | tuple[str, ...] | list[str]
"""What a caller accepts: a baseline file, or the fingerprints of findings."""


@dataclass(frozen=True)
class AcceptedFinding:
    """One accepted finding, and the paths on which it is accepted."""

    check: str
    kind: str
    signature: tuple[str, ...]
    paths: frozenset[str]
    """The names of the paths, without device."""


def read_baseline(file: pathlib.Path) -> tuple[AcceptedFinding, ...]:
    """Read a baseline. Raises UsageError if the file is missing or wrong."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        if document["format"] != FORMAT:
            raise UsageError(f"{file} has format {document['format']}; this version reads format {FORMAT}")
        return tuple(
            AcceptedFinding(each["check"], each["kind"], tuple(each["signature"]), frozenset(each["paths"]))
            for each in document["accepted"]
        )
    except OSError as error:
        raise UsageError(
            f"{file}: {error.strerror or error}; write one with --write-baseline {file}"
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UsageError(f"{file} is not a baseline; write one with --write-baseline {file}") from None


def marker(accept: Accept) -> Callable[[Iterable[Found]], tuple[Found, ...]]:
    """Return a function that marks the findings that ``accept`` names as accepted.

    A file is read at once. Raises UsageError.
    """
    if isinstance(accept, str | os.PathLike):
        return partial(with_accepted, accepted=read_baseline(pathlib.Path(accept)))
    names = frozenset(accept)
    return lambda found: tuple(replace(each, accepted=each.finding.fingerprint in names) for each in found)


def write_baseline(file: pathlib.Path, report: Report, fail_on: FailOn) -> int:
    """Write the findings that fail, and those that are accepted already; return how many.

    Raises UsageError if the file cannot be written.
    """
    found = [each for each in report.found if each.accepted or each.fails(fail_on)]
    document = {
        "format": FORMAT,
        "model": report.name,
        "torch": report.torch,
        "accepted": [_entry(each) for each in found],
    }
    write_text(file, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    return len(found)


def _entry(found: Found) -> dict[str, object]:
    finding = found.finding
    return {
        "headline": finding.evidence.headline,
        "check": finding.check,
        "kind": finding.kind,
        "signature": list(finding.signature),
        "paths": [path.without_device for path in finding.shown_on],
        "because": "",
    }


def with_accepted(found: Iterable[Found], accepted: Sequence[AcceptedFinding]) -> tuple[Found, ...]:
    """Mark the accepted findings; a finding that also shows on other paths is split into two."""
    return tuple(part for each in found for part in _parts(each, accepted))


def _parts(found: Found, accepted: Sequence[AcceptedFinding]) -> Iterable[Found]:
    finding = found.finding
    names = {
        name
        for each in accepted
        if (each.check, each.kind, each.signature) == (finding.check, finding.kind, finding.signature)
        for name in each.paths
    }
    inside = tuple(path for path in finding.shown_on if path.without_device in names)
    outside = tuple(path for path in finding.shown_on if path.without_device not in names)
    if inside:
        yield replace(found, finding=on_paths(finding, inside), accepted=True)
    if outside:
        yield replace(found, finding=on_paths(finding, outside))


def no_longer_shown(report: Report, accepted: Sequence[AcceptedFinding]) -> tuple[AcceptedFinding, ...]:
    """Return the accepted findings that did not show, if all their paths were judged."""
    judged = {each.path.without_device for each in report.paths}
    shown = {
        (each.finding.check, each.finding.kind, each.finding.signature)
        for each in report.found
        if each.accepted
    }
    return tuple(
        each
        for each in accepted
        if (each.check, each.kind, each.signature) not in shown and each.paths <= judged
    )
