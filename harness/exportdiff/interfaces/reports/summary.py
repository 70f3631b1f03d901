"""summary.json: the result of a campaign, as one JSON document."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from exportdiff.fuzzing.campaign.events import CampaignFinished, Event
from exportdiff.interfaces.output_files import replace_text
from exportdiff.interfaces.reports.torch_comparison import comparison_document
from exportdiff.known.corpus.entry import FIXES

if TYPE_CHECKING:
    import pathlib

    from exportdiff.interfaces.reports.folder import Folder
    from exportdiff.interfaces.reports.tally import TalliedFinding, Tally


FORMAT = 1
"""The version of the document: interfaces/schemas/summary-1.schema.json."""


def summary_document(tally: Tally) -> dict[str, Any]:
    """Return the document; its keys are in a fixed order."""
    started = tally.started
    seconds = tally.finished.at if tally.finished else 0.0
    fuzzing = tally.finished.fuzzing if tally.finished else 0.0
    return {
        "format": FORMAT,
        "torch": started.torch if started else "",
        "python": started.python if started else "",
        "seed": started.seed if started else 0,
        "profile": started.profile if started else "",
        "around": started.around if started else "",
        "near": started.near if started else None,
        "seconds": seconds,
        "fuzzing_seconds": fuzzing,
        "given_up": tally.finished.given_up if tally.finished else 0,
        "examples": tally.examples,
        "valid": tally.valid,
        "invalid": tally.examples - tally.valid,
        "unsupported": tally.unsupported,
        "examples_per_second": round(tally.examples / fuzzing, 2) if fuzzing else 0.0,
        "torch_seconds": round(tally.torch_seconds, 3),
        "paths": {path: vars(of_path) for path, of_path in tally.paths.items()},
        "features": dict(sorted(tally.tags.items())),
        "findings": [
            *(_new(tally, fingerprint, tallied) for fingerprint, tallied in tally.of_kind("new").items()),
            *(_known(tally, name, tallied) for name, tallied in tally.known.items()),
        ],
        "known": {name: tally.occurrences[name] for name in tally.known},
        "known_by": tally.known_by,
        "known_sample": {"every": started.known_every if started else 0, "programs": tally.sampled},
        "masked": [_new(tally, key, tallied) for key, tallied in tally.of_kind("masked").items()],
        "regressions": [_new(tally, key, tallied) for key, tallied in tally.of_kind("regression").items()],
        "unconfirmed": tally.unconfirmed,
        "unconfirmed_by_standing": tally.unconfirmed_by_class,
        "not_minimized": tally.not_minimized,
        "harness_errors": tally.harness_errors,
        "lifted_fixes": dict(sorted(tally.failed_fixes.items())),
        "invalid_reasons": dict(tally.invalid_reasons.most_common()),
        "exports": {
            mode: {**vars(exports), "refusals": dict(exports.refusals.most_common())}
            for mode, exports in tally.exports.items()
        },
        "against": comparison_document(tally) if started and started.against else None,
        "finished": tally.finished.reason if tally.finished else None,
    }


def _new(tally: Tally, fingerprint: str, tallied: TalliedFinding) -> dict[str, Any]:
    return {
        **tallied.finding.as_dict(),
        "known": False,
        "fixes": list(tallied.classification.fixes),
        "remark": tallied.remark,
        **_occurrence(tally, fingerprint, tallied),
        "repro": f"findings/{fingerprint}.py",
    }


def _known(tally: Tally, name: str, tallied: TalliedFinding) -> dict[str, Any]:
    return {
        **tallied.finding.as_dict(),
        "known": True,
        "root_cause": name,
        "entry": tallied.entry,
        "by": tallied.by,
        "remark": tallied.remark,
        **_occurrence(tally, name, tallied),
        "repro": os.path.relpath(_file(tally, name, tallied), tally.folder),
    }


def _file(tally: Tally, name: str, tallied: TalliedFinding) -> pathlib.Path:
    """Return the entry of a root cause, or its fix if there is no entry."""
    if tallied.entry:
        return tally.corpora / "open" / f"{tallied.entry}.py"
    return tally.corpora / FIXES / f"{name}.patch"


def _occurrence(tally: Tally, key: str, tallied: TalliedFinding) -> dict[str, Any]:
    return {
        "count": tally.occurrences[key],
        "first_example": tallied.first_example,
        "first_seconds": tallied.first_seconds,
        "example": tallied.example,
    }


class SummaryFile:
    """Writes summary.json when the campaign ends."""

    def __init__(self, folder: Folder, tally: Tally) -> None:
        """Write the sums of ``tally``, which must receive each event first."""
        self._folder = folder
        self._tally = tally

    def __call__(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, CampaignFinished):
            text = json.dumps(summary_document(self._tally), indent=1, ensure_ascii=False)
            replace_text(self._folder.summary, text + "\n")
