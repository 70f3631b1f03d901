"""How the findings of a campaign compare with another version of torch (``fuzz --against``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.fuzzing.campaign.events import TorchesCompared
    from exportdiff.fuzzing.other_torch.differences import Change
    from exportdiff.interfaces.reports.tally import Tally

KEYS: dict[Change, str] = {
    "torch regression": "torch_regressions",
    "in both": "in_both",
    "changed": "changed",
    "fixed": "fixed",
    "newly refused": "newly_refused",
    "not comparable": "not_comparable",
}
"""The keys of ``against`` in summary.json."""


def comparison_document(tally: Tally) -> dict[str, Any]:
    """Return the value of ``against`` in summary.json."""
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


def comparison_lines(tally: Tally) -> Iterator[Text]:
    """Yield a summary of the comparison; nothing if there was none."""
    if tally.started is None or not tally.started.against:
        return
    number = {change: len(tally.changed(change)) for change in KEYS}
    yield Text(
        f"compared with torch {tally.started.against}: {number['torch regression']} regressions of torch, "
        f"{number['in both']} in both, {number['changed']} with another signature, "
        f"{number['newly refused']} newly refused, {number['fixed']} fixed, "
        f"{number['not comparable']} not comparable",
        style="bold",
    )
    if tally.fixed_entries:
        yield Text(f"entries fixed since then: {', '.join(tally.fixed_entries)}")


def result_elsewhere(tally: Tally, key: str) -> str:
    """Return the result of a finding on the other torch, in a few words; empty: it was not run there."""
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
