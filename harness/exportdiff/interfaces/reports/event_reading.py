"""Reads events.ndjson as events, so that all reports work on finished campaigns as well.

Folders of other versions of exportdiff can be read: unknown kinds of events and unknown fields are left out,
and missing fields have their defaults. An incomplete last line of a killed campaign is left out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any

from exportdiff.core.errors import UsageError
from exportdiff.core.finding import Consequence, Evidence, Finding, Kind, Relation, Stage
from exportdiff.core.path import Path
from exportdiff.fuzzing.campaign import events
from exportdiff.judging.results import Outcome, PathResult
from exportdiff.known.attribution.classification import Classification

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True)
class RecordedEvidence(Evidence):
    """The evidence of a finding, as far as a log records it."""

    kind: Kind
    stage: Stage
    call: int | None
    text: str
    """The message."""
    shown_title: str
    signature: tuple[str, ...]
    """The check's part of it."""

    relation = Relation.INDEPENDENT

    @property
    def title(self) -> str:
        """The recorded title; if there is none, the first line of the message."""
        return self.shown_title or self.headline

    def words(self) -> tuple[str, ...]:
        """Return the check's part of the signature."""
        return self.signature

    def lines(self) -> Iterable[str]:
        """Return the message."""
        return self.text.splitlines()


def read_events(file: pathlib.Path) -> Iterator[events.Event]:
    """Yield the events of a log in their order.

    Raises UsageError if the file cannot be read, is not a log, or has a damaged line.
    """
    try:
        with file.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                if not line.endswith(b"\n"):
                    break
                event = _read(file, number, line)
                if number == 1 and not isinstance(event, events.CampaignStarted):
                    raise _damaged(file, number)
                if event is not None:
                    yield event
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}; name the folder of a campaign") from None


def _read(file: pathlib.Path, number: int, line: bytes) -> events.Event | None:
    try:
        document = json.loads(line)
        kind = _kinds().get(document.pop("event"))
        return None if kind is None else _event(kind, document)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise _damaged(file, number) from None


def _damaged(file: pathlib.Path, number: int) -> UsageError:
    advice = "delete it to lose only this event" if number > 1 else "name the folder of a campaign"
    return UsageError(f"{file.parent}: line {number} of {file.name} is damaged; {advice}")


@cache
def _kinds() -> dict[str, type[events.Event]]:
    """Return every kind of event by its name in the log."""
    return {events.event_name(kind): kind for kind in events.Event.__subclasses__()}


def _event(kind: type[events.Event], document: dict[str, Any]) -> events.Event:
    names = {events.JSON_KEYS.get(field.name, field.name): field.name for field in fields(kind)}
    return kind(**{names[key]: _value(key, value) for key, value in document.items() if key in names})


def _value(key: str, value: Any) -> Any:
    """Return the value of a field: JSON has neither tuples nor dataclasses."""
    if key == "finding" and value is not None:
        return finding_from(value)
    if key == "standing":
        return _classification(value)
    if key == "environment" and value is not None:
        return events.CampaignEnvironment(**_only(events.CampaignEnvironment, value))
    if key == "paths":
        return tuple(_result(each) if isinstance(each, dict) else each for each in value)
    return tuple(value) if isinstance(value, list) else value


def _only(kind: type, document: dict[str, Any]) -> dict[str, Any]:
    known = {field.name for field in fields(kind)}
    return {name: value for name, value in document.items() if name in known}


def _classification(document: dict[str, Any]) -> Classification:
    return Classification(**{**_only(Classification, document), "fixes": tuple(document.get("fixes", ()))})


def _result(document: dict[str, Any]) -> PathResult:
    path = _path(document["path"])
    status, excused = document["status"], tuple(document.get("excused", ()))
    outcome = document.get("outcome", _OUTCOMES[status])
    return PathResult(path, status, document["reason"], excused, outcome=outcome)


_OUTCOMES: dict[str, Outcome] = {"ok": "agrees", "finding": "differs", "unsupported": "refused"}
"""For logs of versions that did not record outcomes."""


@cache
def _path(text: str) -> Path:
    """Return a path, even if this version does not have it."""
    before, _, device = text.partition("@")
    pieces, _, runner = before.partition(":")
    mode, *transforms = pieces.split("+")
    return Path(mode, runner, tuple(transforms), device or "cpu")


def finding_from(document: dict[str, Any]) -> Finding:
    """Return a finding that ``Finding.as_dict`` has written, with the recorded evidence."""
    words = tuple(document["signature"][2:])
    return Finding(
        _path(document["path"]),
        document["check"],
        RecordedEvidence(
            document["kind"],
            document["stage"],
            document["call"],
            document["message"],
            document.get("title", ""),
            words,
        ),
        shown_on=tuple(map(_path, document["shown_on"])),
        consequences=tuple(map(_consequence, document.get("consequences", ()))),
        minimal=document["minimal"],
    )


def _consequence(text: str) -> Consequence:
    check, _, headline = text.partition(": ")
    return Consequence(check, RecordedEvidence("mismatch", "run", None, headline, "", ()))
