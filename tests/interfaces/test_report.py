"""The page about a campaign: what it says, and that it is one file."""

from __future__ import annotations

import json
import pathlib
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from markupsafe import escape

from exportdiff.cli import main
from exportdiff.fuzzing.campaign.events import (
    CampaignFinished,
    EntriesFixed,
    Event,
    FindingFound,
    HarnessError,
    TorchesCompared,
)
from exportdiff.interfaces.reports.campaign_comparison import Rate, compare_campaigns
from exportdiff.interfaces.reports.campaign_report import CampaignReport
from exportdiff.interfaces.reports.discovery import Discovery
from exportdiff.interfaces.reports.folder import Folder
from exportdiff.interfaces.reports.page.page import page
from exportdiff.interfaces.reports.plots.bars import Bar, bars
from exportdiff.interfaces.reports.plots.growth import growth
from exportdiff.interfaces.reports.tally import Tally
from exportdiff.judging.checks import CHECKS
from exportdiff.runtime.paths import promise
from support import handmade
from support.evidence_of import make_finding
from support.handmade import AGAIN, MASKED, NEW, WRONG, a_campaign, started, write

VOID = {"meta", "br", "link", "img", "input"}


class Page(HTMLParser):
    """What a page consists of; complains where it is not closed properly."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.texts: dict[str, str] = {}
        self.open: list[tuple[str, str]] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        if "id" in named:
            self.ids.append(named["id"])
        self.links += [
            named[name] for name in ("href", "src", "xlink:href", "action", "data", "srcset") if name in named
        ]
        if tag not in VOID:
            self.open.append((tag, named.get("id", "")))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1][0] not in ("style", "script"):
            self.words.append(data)
        for _, name in self.open:
            self.texts[name] = self.texts.get(name, "") + data

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.words))


def text_of(folders: list[Folder], before: Folder | None = None) -> str:
    return page(
        CampaignReport.of(folders), folders, CampaignReport.of([before]) if before is not None else None
    )


def told(tmp_path: pathlib.Path, events: list[Event]) -> Page:
    return Page(text_of([write(tmp_path, events)]))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page about a campaign with findings, compared with the night before."""
    root = tmp_path_factory.mktemp("nights")
    without = [
        event
        for event in a_campaign(seed=6, known="second")
        if not (isinstance(event, FindingFound) and event.finding == MASKED)
    ]
    before = write(root / "before", without)
    return text_of([write(root / "now", a_campaign())], before)


def test_it_needs_no_other_file(whole: str) -> None:
    seen = Page(whole)
    assert seen.links and all(link.startswith("#") for link in seen.links)
    assert {link[1:] for link in seen.links} <= set(seen.ids)
    style = "".join(re.findall(r"<style>(.*?)</style>", whole, re.DOTALL))
    assert "@import" not in style and "url(" not in style and "@font-face" not in style
    assert "default-src 'none'" in whole
    # Names of XML are no addresses that anybody opens.
    addresses = set(re.findall(r"(?:https?:)?//[\w.]+[\w/.]*", seen_without_texts(whole)))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert re.findall(r"\b(?:fetch|XMLHttpRequest|import|WebSocket)\s*\(", whole) == []


def seen_without_texts(whole: str) -> str:
    """Return the page without what it quotes and its comments."""
    return re.sub(r"<pre.*?</pre>|^//.*?$|^\s*// .*?$", "", whole, flags=re.DOTALL | re.MULTILINE)


def test_ids_are_unique_and_buttons_copy_what_is_there(whole: str) -> None:
    seen = Page(whole)
    assert len(seen.ids) == len(set(seen.ids)) > 10
    copied = re.findall(r'data-copy="([^"]+)"', whole)
    assert copied and set(copied) <= set(seen.ids)
    assert set(re.findall(r'aria-labelledby="([^"]+)"', whole)) <= set(seen.ids)


def test_every_finding_is_there_with_what_to_paste(whole: str) -> None:
    seen = Page(whole)
    # Those of one signature share a card.
    assert [name for name in seen.ids if name.startswith("f-")] == [
        f"f-{NEW.fingerprint}",
        f"f-{MASKED.fingerprint}",
    ]
    assert f"{AGAIN.fingerprint}: {handmade.RELOAD}" in seen.text
    assert WRONG.fingerprint not in whole
    issue = seen.texts[f"i-{NEW.fingerprint}"]
    assert issue.startswith(
        "torch.export, nonstrict:unflatten: outputs mismatch: call 0: output differs in value\n"
    )
    assert "differ:\n\n```\ncall 0: output differs in value\neager <1.0> & here 2.0\n```\n" in issue
    assert "### 🐛 Describe the bug" in issue and "torch.nn.Identity()" in issue and "it <differs>" in issue
    assert "PyTorch version: 2.13.0\nPython version: 3.11.7\nPlatform: Linux-6-x86_64" in issue
    assert seen.texts[f"r-{NEW.fingerprint}"].strip() == handmade.REPRO.strip()
    assert seen.texts[f"c-{NEW.fingerprint}"].endswith(f"/findings/{NEW.fingerprint}.py")
    assert seen.texts[f"c-{NEW.fingerprint}"].startswith("python ")
    # Plain torch does not show what is masked: there is nothing to report yet.
    assert f"i-{MASKED.fingerprint}" not in seen.ids
    assert seen.texts[f"c-{MASKED.fingerprint}"].startswith("exportdiff replay ")
    assert all(name in seen.texts[f"f-{MASKED.fingerprint}"] for name in handmade.FIXES)


def test_it_begins_with_the_verdict_and_escapes_what_models_say(whole: str) -> None:
    seen = Page(whole)
    assert "<h1>2 new findings and 1 masked by known bugs in 40 programs.</h1>" in whole
    assert "41 s on 2 workers, 58.5 programs per minute, seed 7." in seen.text
    assert "eager <1.0> & here 2.0" in seen.texts[f"f-{NEW.fingerprint}"]
    assert "2026-03-01 23:30 UTC" in seen.text and "Linux-6-x86_64, 4 processors" in seen.text
    assert "None" not in seen.text and "Undefined" not in seen.text
    assert "exportdiff itself raised no exception." in seen.text


def test_each_plot_is_drawn_for_wide_and_narrow_screens(whole: str) -> None:
    for part in ("wide", "narrow"):
        plots = re.findall(rf'<div class="{part}">(<svg.*?</svg>)</div>', whole, re.DOTALL)
        assert len(plots) == 7, part
        # Colours follow the page.
        assert all("var(--" in plot and "<text" in plot for plot in plots)
    labels = re.findall(r'<div role="img" aria-label="([^"]+)"', whole)
    assert len(labels) == 7 and len(set(labels)) == 7


def test_the_heat_map_says_how_often_and_how_many(whole: str) -> None:
    # On the path without transforms 39 programs ran, 19 of them with odd numbers and not refused.
    assert "state.buffer on nonstrict:unflatten: 20 programs, 6 with a finding" in whole
    assert "op.map on nonstrict+reload:module: 6 programs, 0 with a finding" in whole
    assert "paths are shown, on a narrow screen fewer; the strongest colour means 39 programs." in whole


def test_checks_and_the_paths_of_findings_are_explained(whole: str) -> None:
    for name, check in CHECKS.items():
        first = escape(str(check.__doc__).splitlines()[0])
        assert f"<dt>{name}</dt><dd>{first}</dd>" in whole
    assert f"<dt>{NEW.path}</dt><dd>{escape(promise(NEW.path))}</dd>" in whole


def test_a_path_that_no_longer_exists_is_not_explained(tmp_path: pathlib.Path) -> None:
    gone = replace(NEW, path=replace(NEW.path, transforms=("gone",)))
    events = [
        replace(each, finding=gone) if isinstance(each, FindingFound) else each for each in a_campaign()
    ]
    text = text_of([write(tmp_path, events)])
    assert f"<li>{gone.path}</li>" in text and f"<dt>{gone.path}</dt>" not in text


def test_what_is_left_to_find_is_said_with_its_estimator(whole: str) -> None:
    text = Page(whole).text
    # The value on eight programs and the dtype on one: one signature was seen once.
    assert "2 findings found; one program in 40 shows one that no program has shown before." in text
    assert "2 known bugs found" in text
    assert "Chao2" in text and "STADS" in text


def test_what_nobody_can_estimate_is_not_estimated(tmp_path: pathlib.Path) -> None:
    several = [make_finding(f"word{number}") for number in range(9)]
    programs = [handmade.done(number, each.fingerprint) for number, each in enumerate(several)]
    found = [FindingFound(9.0, each, number, "x\n", handmade.REPRO) for number, each in enumerate(several)]
    seen = told(tmp_path, [started(), *programs, *found])
    # Chao2 would say 8 / 9 * 9 * 8 / 2 = 32.
    assert (
        "9 findings found, too few of them twice to estimate how many are still to be found; one program"
        in seen.text
    )
    assert "programs judged9" in seen.text and "still to be found, at least" not in seen.text


def test_without_findings_it_says_so(tmp_path: pathlib.Path) -> None:
    seen = told(tmp_path, a_campaign(findings=False))
    assert "Nothing new in 40 programs." in seen.text
    assert "Plain torch shows nothing that the corpus does not explain." in seen.text
    assert "masked" not in seen.ids and "left" not in seen.ids and "throughput" in seen.ids


def test_without_programs_there_are_no_plots(tmp_path: pathlib.Path) -> None:
    seen = told(tmp_path, [started(), CampaignFinished(0.5, "interrupted")])
    assert "No program was judged." in seen.text and "The campaign was interrupted." in seen.text
    assert not {"throughput", "heat", "known", "left"} & set(seen.ids)


def test_a_campaign_that_was_killed_before_it_began(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in ("", '{"event": "campaign_st'):
        Folder(tmp_path).log.write_text(text)
        assert main(["report", str(tmp_path), "--out", str(tmp_path / "page.html")]) == 2
        assert "events.ndjson is empty: no program was judged yet" in capsys.readouterr().err


def test_programs_around_a_model_are_named(tmp_path: pathlib.Path) -> None:
    seen = told(tmp_path, [replace(started(), around="model.py:make"), *a_campaign()[1:]])
    assert "All programs put model.py:make into situations." in seen.text


def test_a_killed_campaign_is_told_as_far_as_it_came(tmp_path: pathlib.Path) -> None:
    folder = write(tmp_path, a_campaign())
    folder.log.write_bytes(folder.log.read_bytes()[:-400])
    seen = Page(text_of([folder]))
    assert "The campaign is still running, or it was killed." in seen.text
    assert f"f-{NEW.fingerprint}" in seen.ids


def test_old_folders_say_what_was_not_recorded(tmp_path: pathlib.Path) -> None:
    folder = write(tmp_path, a_campaign())
    lines = [json.loads(line) for line in folder.log.read_text().splitlines()]
    for line in lines:
        for name in ("environment", "printed"):
            line.pop(name, None)
    folder.log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    seen = Page(text_of([folder]))
    assert seen.text.count("not recorded") >= 4
    assert "(not recorded)" in seen.texts[f"i-{NEW.fingerprint}"]


def test_errors_of_exportdiff_and_another_torch_are_told(tmp_path: pathlib.Path) -> None:
    worse = TorchesCompared(
        3.0, "torch regression", NEW.fingerprint, handmade.MODULE, (), (), 3, finding=NEW, causes=("a_bug",)
    )
    first, *others, last = a_campaign()
    assert isinstance(first, type(started()))
    events = [
        replace(first, against="2.12.0"),
        *others,
        worse,
        EntriesFixed(4.0, ("an_entry",)),
        HarnessError(4.0, 3, "Traceback\n  line 8\nKeyError: 'q'", ("KeyError", "8"), "def model(): 1"),
        HarnessError(5.0, 7, "Traceback\n  line 8\nKeyError: 'r'", ("KeyError", "8")),
        last,
    ]
    seen = told(tmp_path, events)
    assert "1 regression of torch, 2 new findings and 1 masked by known bugs in 40 programs." in seen.text
    assert "Right on torch 2.12.0, wrong on torch 2.13.0." in seen.text
    card = seen.texts["f-torch-1"]
    assert NEW.title in card and f"findings/{NEW.fingerprint}.py" in card and handmade.MODULE in card
    assert "It is ok on torch 2.12.0." in card and "The corpus knows it: a_bug." in card
    assert len(seen.ids) == len(set(seen.ids)) and f"f-{NEW.fingerprint}" in seen.ids
    assert "Entries of the corpus that are fixed here: an_entry." in seen.text
    assert "exportdiff itself failed 2 times: see below." in seen.text
    assert "KeyError: 'q'2 times" in seen.text and "KeyError: 'r'" not in seen.text
    assert "First in program 3." in seen.text and "def model(): 1" in seen.text


def test_since_last_time(whole: str) -> None:
    seen = Page(whole)
    assert "Compared with a campaign of 40 programs on torch 2.13.0, seed 6." in seen.text
    assert "They ran different programs" in seen.text
    for what, number in (
        ("findings that are new since then", 1),
        ("findings in both campaigns", 2),
        ("findings no longer found", 0),
    ):
        assert f"{what}{number}" in seen.text.replace(f"{what} ", what), what
    assert "also before" in seen.texts[f"f-{NEW.fingerprint}"]
    assert "first found" in seen.texts[f"f-{MASKED.fingerprint}"]
    # Ten of ten programs showed it, and none of ten: 2 / 2 ** 10.
    assert "chance alone would hide them less than once in 500 times: second_bug." in seen.text
    assert "first_bug: 0.0% of the programs before, 100.0% now" in whole


def test_findings_are_compared_by_every_fingerprint_that_they_had(tmp_path: pathlib.Path) -> None:
    plain = a_campaign()
    small = [*plain[:-1], handmade.minimized(), plain[-1]]
    now = CampaignReport.of([write(tmp_path / "now", plain)])
    before = CampaignReport.of([write(tmp_path / "before", small)])
    assert (
        compare_campaigns(now, before).new_findings
        == compare_campaigns(before, now).new_findings
        == frozenset()
    )
    nothing = CampaignReport.of([write(tmp_path / "nothing", a_campaign(findings=False))])
    compared = compare_campaigns(now, nothing)
    assert compared.new_findings == set(now.tally.findings) and compared.gone == ()
    assert [each.finding.fingerprint for each in compare_campaigns(nothing, now).gone] == [
        each.fingerprint for each in (NEW, AGAIN, MASKED)
    ]
    assert compared.new_bugs == {"first_bug", "first_rare_bug"}
    assert compared.same_programs


def test_rates_have_changed_if_chance_hardly_explains_it() -> None:
    # All of ten, and none of ten: one of 2 ** 10 outcomes, and the reverse.
    assert Rate("x", 10, 10, 0, 10).chance == pytest.approx(2 / 1024)
    assert Rate("x", 10, 10, 0, 10).gone and Rate("x", 0, 10, 10, 10).changed
    assert not Rate("x", 9, 10, 0, 10).changed  # 2 / 512
    # Once on 15 programs is no reason to expect it on 78: 15 / (15 + 78).
    assert Rate("x", 1, 15, 0, 78).chance == pytest.approx(15 / 93)
    # Three of four, each with the probability 1 / 4: 12 / 256, and all four: 1 / 256.
    assert Rate("x", 1, 30, 3, 10).chance == pytest.approx(13 / 256)
    assert Rate("x", 2, 10, 2, 10).chance == pytest.approx(1.0)
    assert Rate("x", 0, 10, 0, 10).chance == Rate("x", 5, 10, 0, 0).chance == 1.0
    # Large counts do not overflow.
    assert Rate("x", 5000, 10000, 5600, 10000).changed and not Rate("x", 5000, 10000, 5050, 10000).changed


def test_few_findings_have_a_tick_each() -> None:
    found = Discovery()
    for species in (["a"], [], ["b"], ["b"]):
        found.add(species)
    spec = growth(found, 440, "programs")
    axes = [layer["encoding"]["y"]["axis"] for layer in spec["layer"]]
    assert all(axis["values"] == [0, 1, 2] for axis in axes)
    assert [row["found"] for row in spec["data"]["values"] if row["part"] == "seen"] == [0, 1, 2, 2]


def test_bars_have_room_for_the_night_before() -> None:
    spec = bars([Bar("a", 8.0, "a"), Bar("b", 3.0, "b", before=20.0)], 920, 420)
    (scale,) = {tuple(layer["encoding"]["x"]["scale"]["domain"]) for layer in spec["layer"]}
    assert scale[0] == 0 and scale[1] > 20


def test_known_bugs_are_compared_where_they_were_counted(tmp_path: pathlib.Path) -> None:
    """Program 41 shows it too, but plain torch was not judged there."""
    events = [*a_campaign()[:-1], handmade.done(41, known=("first_bug",)), a_campaign()[-1]]
    told = CampaignReport.of([write(tmp_path, events)])
    assert told.tally.occurrences["first_bug"] == 11
    (frequent,) = [rate for rate in compare_campaigns(told, told).rates if rate.name == "first_bug"]
    assert (frequent.now, frequent.of_now, frequent.before, frequent.of_before) == (10, 10, 10, 10)


def test_throughput_in_windows() -> None:
    timeline = CampaignReport(Tally()).timeline
    timeline.times.extend([1.0, 2.0, 3.0, 12.0, 25.0, 29.0])
    assert timeline.rates(60, 30.0) == [(0.0, 0.3), (10.0, 0.1), (20.0, 0.2)]
    assert timeline.rates(2, 30.0) == [(0.0, 4 / 15), (15.0, 2 / 15)]
    assert CampaignReport(Tally()).timeline.rates(60, 0.0) == []


def test_the_command(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    shards = [write(tmp_path / str(part), a_campaign(shard=(part, 2))) for part in (1, 2)]
    file = tmp_path / "page.html"
    names = [str(shard.root) for shard in shards]
    assert main(["report", *names, "--out", str(file), "--since", names[0]]) == 0
    assert "2 new findings and 1 masked by known bugs in 40 programs." in capsys.readouterr().out
    assert f"f-{NEW.fingerprint}" in Page(file.read_text()).ids
    assert main(["report", str(tmp_path / "nowhere"), "--out", str(file)]) == 2
    assert "nowhere/events.ndjson: No such file or directory; name the folder" in capsys.readouterr().err
    assert main(["report", *names, "--out", str(tmp_path / "no" / "page.html")]) == 2
    assert "page.html cannot be written: No such file or directory" in capsys.readouterr().err


def test_without_the_library_that_draws(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    name = str(write(tmp_path / "now", a_campaign()).root)
    assert main(["report", name, "--out", str(tmp_path / "page.html")]) == 2
    error = capsys.readouterr().err
    assert error == (
        "exportdiff report: the plots of a report need vl-convert-python: pip install 'exportdiff[report]'\n"
    )
