"""The page about a campaign as a browser shows it: what is visible, on screens of each kind.

Skipped where there is no Chromium, or no playwright to drive it: ``pip install 'exportdiff[browser]'``.
"""

from __future__ import annotations

import os
import pathlib
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from exportdiff.fuzzing.campaign.events import FindingFound
from exportdiff.interfaces.reports.campaign_report import CampaignReport
from exportdiff.interfaces.reports.page.page import page as page_of
from support.handmade import MASKED, NEW, a_campaign, write

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BROWSER = os.environ.get("EXPORTDIFF_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
SCREENS = [(scheme, width) for scheme in ("light", "dark") for width in (1280, 380)]

pytestmark = pytest.mark.skipif(
    BROWSER is None, reason="there is no Chromium here; EXPORTDIFF_BROWSER names one"
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    root = tmp_path_factory.mktemp("nights")
    without = [
        event
        for event in a_campaign(seed=6, known="second")
        if not (isinstance(event, FindingFound) and event.finding == MASKED)
    ]
    now, before = write(root / "now", a_campaign()), write(root / "before", without)
    text = page_of(CampaignReport.of([now]), [now], CampaignReport.of([before]))
    (root / "report.html").write_text(text, encoding="utf-8")
    return root / "report.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        # The root of a container has no user namespaces to build the sandbox from.
        started = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(params=SCREENS, ids=[f"{scheme}-{width}" for scheme, width in SCREENS])
def screen(request: pytest.FixtureRequest, browser: Any, file: pathlib.Path) -> Iterator[Any]:
    """A tab that shows the page; it fails on errors of scripts, and on requests for anything else."""
    scheme, width = request.param
    tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    wrong: list[str] = []
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    tab.on("request", lambda asked: wrong.append(asked.url) if asked.url != file.as_uri() else None)
    tab.goto(file.as_uri())
    yield tab
    tab.close()
    assert wrong == []


BEYOND = """
(selector) => [...document.querySelectorAll(selector)].filter((element) => {
  const box = element.getBoundingClientRect();
  return box.height && (box.left < 0 || box.right > innerWidth + 0.5);
}).map((element) => element.outerHTML.slice(0, 200))
"""
"""The visible elements that leave the screen on the left or on the right."""


def test_nothing_is_wider_than_the_screen(screen: Any) -> None:
    assert screen.evaluate("document.documentElement.scrollWidth") <= screen.viewport_size["width"]
    selector = "h1, h2, nav a, .card, figure, .numbers > div, figure svg, .line, pre"
    assert len(screen.query_selector_all(selector)) > 30
    assert screen.evaluate(BEYOND, selector) == []


def test_the_first_screen_says_how_it_went(screen: Any, tmp_path: pathlib.Path) -> None:
    title = screen.locator("h1")
    assert title.inner_text() == "2 new findings and 1 masked by known bugs in 40 programs."
    for what in (title, screen.locator(".numbers").first, screen.locator("nav")):
        box = what.bounding_box()
        assert box["y"] + box["height"] <= 900
    tiles = [tile.inner_text().split("\n") for tile in screen.locator("header .numbers > div").all()]
    assert [sorted(tile)[0] for tile in tiles] == ["2", "1", "2", "40"]
    picture = tmp_path / "screen.png"
    screen.screenshot(path=picture, full_page=True)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_new_findings_are_unfolded_and_others_unfold(screen: Any) -> None:
    new, masked = (screen.locator(f"#f-{finding.fingerprint}") for finding in (NEW, MASKED))
    assert new.locator(".message").is_visible() and "eager <1.0> & here 2.0" in new.inner_text()
    assert new.locator("code").first.inner_text().startswith("python ")
    assert not masked.locator(".message").is_visible()
    masked.locator("summary").first.click()
    assert masked.locator(".message").is_visible()
    assert not screen.locator(f"#i-{NEW.fingerprint}").is_visible()
    screen.get_by_text("Issue text for PyTorch").first.click()
    assert screen.locator(f"#i-{NEW.fingerprint}").is_visible()


def test_a_link_to_a_finding_unfolds_it(screen: Any, file: pathlib.Path) -> None:
    screen.evaluate(f"location.hash = 'f-{MASKED.fingerprint}'")
    screen.wait_for_function(f"document.getElementById('f-{MASKED.fingerprint}').open")


def test_the_buttons_copy(screen: Any) -> None:
    screen.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    button = screen.get_by_role("button", name="Copy the issue text")
    button.click()
    screen.get_by_role("button", name="Copied").wait_for()
    assert screen.evaluate("window.copied").startswith("torch.export, nonstrict:unflatten: outputs mismatch")
    assert "### Versions" in screen.evaluate("window.copied")


CUT_OFF = """
() => [...document.querySelectorAll("figure svg text")].filter((text) => {
  const [inner, outer] = [text.getBoundingClientRect(), text.closest("figure").getBoundingClientRect()];
  return inner.width && (inner.left < outer.left - 1 || inner.right > outer.right + 1);
}).map((text) => text.textContent)
"""
"""The visible texts of plots that leave their frame."""


def test_each_plot_is_shown_in_one_size(screen: Any) -> None:
    shown, hidden = ("wide", "narrow") if screen.viewport_size["width"] > 720 else ("narrow", "wide")
    figures = screen.locator("figure").all()
    assert len(figures) == 7
    for figure in figures:
        assert not figure.locator(f".{hidden}").is_visible()
        box = figure.locator(f".{shown} svg").bounding_box()
        assert box["width"] > 200 and box["height"] > 30
    assert screen.evaluate(CUT_OFF) == []
    mark = screen.locator(f".{shown} [aria-label^='op.map on nonstrict:module:']").first
    mark.scroll_into_view_if_needed()
    mark.hover(force=True)
    tip = screen.locator("#tip")
    assert (
        tip.is_visible() and tip.inner_text() == "op.map on nonstrict:module: 39 programs, 0 with a finding"
    )
    box = tip.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= screen.viewport_size["width"]


CONTRAST = """
() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b]
    .map((c) => c / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, place) => sum + c * [0.2126, 0.7152, 0.0722][place], 0);
  const ground = (element) => {
    for (; element; element = element.parentElement) {
      const color = parse(getComputedStyle(element).backgroundColor);
      if (color.length === 3 || color[3] > 0) return color;
    }
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.checkVisibility() || ["SCRIPT", "STYLE"].includes(element.tagName)) continue;
    const style = getComputedStyle(element);
    const color = element.closest("svg") ? style.fill : style.color;
    const [one, two] = [light(parse(color)), light(ground(element))].sort((a, b) => b - a);
    const text = element.textContent.trim().slice(0, 40);
    found.push([(one + 0.05) / (two + 0.05), `${element.tagName} ${text}`]);
  }
  return found;
}
"""
"""The contrast of each text, as WCAG 2.2 defines it, with the text."""


def test_every_text_has_contrast_on_its_ground(screen: Any) -> None:
    found = screen.evaluate(CONTRAST)
    assert len(found) > 80
    assert [each for each in found if each[0] < 4.5] == []


def test_light_and_dark_follow_the_system(browser: Any, file: pathlib.Path) -> None:
    grounds = {}
    for scheme in ("light", "dark"):
        tab = browser.new_page(color_scheme=scheme)
        tab.goto(file.as_uri())
        color = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        grounds[scheme] = sum(map(int, color.removeprefix("rgb(").removesuffix(")").split(",")))
        tab.close()
    assert grounds["light"] > 3 * 200 and grounds["dark"] < 3 * 50
