"""What a campaign says of another torch that its findings were compared with."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.fuzzing.campaign.events import TorchesCompared
    from exportdiff.fuzzing.other_torch.differences import Change
    from exportdiff.interfaces.reports.folder import Folder
    from exportdiff.interfaces.reports.tally import Tally

BLOCKS = 5
"""How many regressions of torch are shown; the others are counted."""
KEYS: dict[Change, str] = {
    "torch regression": "torch_regressions",
    "in both": "in_both",
    "changed": "changed",
    "fixed": "fixed",
    "newly refused": "newly_refused",
    "not comparable": "not_comparable",
}
"""The keys of ``against`` in summary.json."""


def against_document(tally: Tally) -> dict[str, Any]:
    """Return what summary.json says under ``against``."""
    changes = {key: [_document(each) for each in tally.changed(change)] for change, key in KEYS.items()}
    fixed = None if tally.fixed_entries is None else list(tally.fixed_entries)
    torch = tally.started.against if tally.started else ""
    return {"torch": torch, **changes, "fixed_entries": fixed}


def _document(event: TorchesCompared) -> dict[str, Any]:
    return {
        "fingerprint": event.fingerprint,
        "path": event.path,
        "signature": list(event.here),
        "signature_there": list(event.there),
        "message": event.finding.message if event.finding is not None else "",
        "causes": list(event.causes),
        "reason": event.reason,
        "first_example": event.example,
        "count": event.programs,
        "repro": f"findings/{event.fingerprint}.py" if event.finding is not None else "",
    }


def regression_lines(tally: Tally, folder: Folder, width: int) -> Iterator[Text]:
    """Yield a block for each regression of torch."""
    found = tally.changed("torch regression")
    for event in found[:BLOCKS]:
        assert event.finding is not None  # this torch shows it
        other = tally.started.against if tally.started else ""
        head = "torch regression"
        what = Text(f"{head}: {event.finding.check} {event.finding.kind}: {event.finding.evidence.headline}")
        what.stylize("bold red", 0, len(head))
        what.truncate(width, overflow="ellipsis")
        yield what
        known = f"; known as {', '.join(event.causes)}" if event.causes else ""
        yield Text(f"  {event.path}; ok on torch {other}; first {event.example}{known}", style="dim")
        yield Text(f"  $ python {shlex.quote(str(folder.repro(event.fingerprint)))}", style="cyan")
    if len(found) > BLOCKS:
        yield Text(
            f"and {len(found) - BLOCKS} more regressions of torch: {folder.findings}", style="bold red"
        )


def against_lines(tally: Tally) -> Iterator[Text]:
    """Yield what else differs, in a few lines."""
    if tally.started is None or not tally.started.against:
        return
    number = {change: len(tally.changed(change)) for change in KEYS}
    yield Text(
        f"against torch {tally.started.against}: {number['torch regression']} regressions of torch, "
        f"{number['in both']} in both, {number['changed']} of another signature, "
        f"{number['newly refused']} newly refused, {number['fixed']} fixed, "
        f"{number['not comparable']} not comparable",
        style="bold",
    )
    if tally.fixed_entries:
        yield Text(f"fixed since: {len(tally.fixed_entries)} entries: {', '.join(tally.fixed_entries)}")


def result_elsewhere(tally: Tally, key: str) -> str:
    """Say in a few words how a finding stands on the other torch; empty if nobody has looked."""
    event = next((each for each in tally.compared if each.fingerprint == key), None)
    if event is None or tally.started is None:
        return ""
    other = f"torch {tally.started.against}"
    words: dict[Change, str] = {
        "torch regression": f"ok on {other}",
        "in both": f"also on {other}",
        "changed": f"another signature on {other}",
        "not comparable": f"not comparable with {other}",
    }
    return words.get(event.change, "")
