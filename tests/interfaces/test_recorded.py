"""Reading the log of a campaign, and of its shards, gives what listening to it gave."""

from __future__ import annotations

import json
import pathlib
from dataclasses import replace

import pytest
from test_reporting import EVENTS

from exportdiff.core.errors import UsageError
from exportdiff.core.finding import Consequence
from exportdiff.fuzzing.campaign.events import CampaignFinished, Event, TorchesCompared
from exportdiff.interfaces.reports.event_reading import read_events
from exportdiff.interfaces.reports.folder import Folder
from exportdiff.interfaces.reports.joining import campaign_events
from exportdiff.interfaces.reports.summary import summary_document
from exportdiff.interfaces.reports.tally import Tally
from support import handmade
from support.handmade import AGAIN, MASKED, NEW, a_campaign, write
from support.schemas import validator

COMPARED = TorchesCompared(
    3.0, "torch regression", NEW.fingerprint, handmade.MODULE, ("outputs",), (), 3, finding=NEW, causes=("x",)
)


def told(event: Event) -> dict[str, object]:
    """Return what a log says of an event, but for the class of the evidence of a finding."""
    document: dict[str, object] = json.loads(json.dumps(event.as_dict()))
    if isinstance(finding := document.get("finding"), dict):
        del finding["evidence"]
    return document


def test_every_event_comes_back_as_it_was(tmp_path: pathlib.Path) -> None:
    further = replace(NEW, consequences=(Consequence("state", MASKED.evidence),), minimal="abcdef0123")
    events = [*EVENTS, *a_campaign(), handmade.minimized(), COMPARED, replace(COMPARED, finding=further)]
    back = list(read_events(write(tmp_path, events).log))
    assert [told(event) for event in back] == [told(event) for event in events]
    assert [type(event) for event in back] == [type(event) for event in events]


def test_a_finding_keeps_its_fingerprint(tmp_path: pathlib.Path) -> None:
    back = read_events(write(tmp_path, [handmade.started(), replace(COMPARED, finding=AGAIN)]).log)
    finding = next(event for event in back if isinstance(event, TorchesCompared)).finding
    assert finding is not None and finding.minimal == ""
    assert (finding.fingerprint, finding.signature) == (AGAIN.fingerprint, AGAIN.signature)


def test_folders_of_other_versions_can_be_read(tmp_path: pathlib.Path) -> None:
    folder = write(tmp_path, a_campaign())
    first, *others = map(json.loads, folder.log.read_text().splitlines())
    del first["environment"]
    first["invented_later"] = 1
    others = [{name: value for name, value in each.items() if name != "printed"} for each in others]
    lines = [first, {"event": "invented_later", "at": 1.0}, *others]
    folder.log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    back = list(read_events(folder.log))
    assert len(back) == len(a_campaign())
    assert [event.at for event in back] == [event.at for event in a_campaign()]


def test_a_line_without_an_end_counts_as_not_written(tmp_path: pathlib.Path) -> None:
    folder = write(tmp_path, a_campaign())
    whole = folder.log.read_bytes()
    folder.log.write_bytes(whole[:-20])
    assert len(list(read_events(folder.log))) == len(a_campaign()) - 1


@pytest.mark.parametrize("line", [b"no json\n", b"[1]\n", b'{"event": "example_done"}\n', b"\xff\n"])
def test_a_damaged_line_is_named(tmp_path: pathlib.Path, line: bytes) -> None:
    folder = write(tmp_path, a_campaign())
    first, second, *rest = folder.log.read_bytes().splitlines(keepends=True)
    folder.log.write_bytes(b"".join((first, second, line, *rest)))
    with pytest.raises(UsageError, match=r"line 3 of events\.ndjson is damaged; delete it"):
        list(read_events(folder.log))


@pytest.mark.parametrize("text", ["x\n", json.dumps(CampaignFinished(1.0, "time").as_dict()) + "\n"])
def test_what_is_no_log_is_refused(tmp_path: pathlib.Path, text: str) -> None:
    Folder(tmp_path).log.write_text(text)
    with pytest.raises(UsageError, match="name the folder of a campaign"):
        list(read_events(Folder(tmp_path).log))
    with pytest.raises(UsageError, match=r"No such file.*name the folder of a campaign"):
        list(read_events(tmp_path / "nowhere" / "events.ndjson"))


def summary(folders: list[Folder]) -> dict[str, object]:
    tally = Tally()
    for event in campaign_events(folders):
        tally(event)
    document = summary_document(tally)
    validator("summary-1").validate(document)
    return document


def test_shards_are_told_as_one_campaign(tmp_path: pathlib.Path) -> None:
    shards = [write(tmp_path / str(part), a_campaign(shard=(part, 3))) for part in (1, 2, 3)]
    whole = write(tmp_path / "whole", a_campaign())
    joined, single = summary(shards), summary([whole])
    assert joined == single
    assert single["examples"] == 40 and len(single["masked"]) == 1  # type: ignore[arg-type]
    (first, *_) = campaign_events(shards)
    assert first == replace(handmade.started(), workers=6)


def test_a_shard_without_an_end_is_a_campaign_without_an_end(tmp_path: pathlib.Path) -> None:
    shards = [
        write(tmp_path / "1", a_campaign(shard=(1, 2))[:-1]),
        write(tmp_path / "2", a_campaign(shard=(2, 2))),
    ]
    assert not [event for event in campaign_events(shards) if isinstance(event, CampaignFinished)]
    assert summary(shards)["examples"] == 40


def test_what_does_not_belong_together_is_refused(tmp_path: pathlib.Path) -> None:
    one = write(tmp_path / "1", a_campaign(shard=(1, 2)))
    other = write(tmp_path / "2", a_campaign(seed=8, shard=(2, 2)))
    with pytest.raises(UsageError, match=r"1 and .*2 are not shards of one campaign: .* different seeds"):
        list(campaign_events([one, other]))
    thirds = write(tmp_path / "3", a_campaign(shard=(2, 3)))
    with pytest.raises(UsageError, match="2 shards, and 3"):
        list(campaign_events([one, thirds]))
    with pytest.raises(UsageError, match="both have program 0; name each shard once"):
        list(campaign_events([one, Folder(one.root)]))
