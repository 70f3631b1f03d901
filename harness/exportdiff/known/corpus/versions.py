"""What a corpus file showed on the versions of torch on which it ran: a table at the end of its header.

Everything that is said about versions follows from this table: whether a bug is open, where it was fixed,
where it shows again. A version that is not in the table was not tried, and nothing is said about it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from exportdiff.core.listing import listed
from exportdiff.known.corpus.header import HEADER
from exportdiff.runtime.processes.script import LACKING

if TYPE_CHECKING:
    from collections.abc import Mapping

Shown: TypeAlias = Literal["shows", "fixed", "other", "cannot run"]
"""``shows``: the file exits with 1. ``fixed``: it exits with 0, also on a version before the bug appeared.
``cannot run``: this torch lacks a module, a name or an argument that the file uses. ``other``: the file fails
in another way, or does not end."""

News: TypeAlias = Literal["fixed", "broken", "shows again", "new"]
"""What is new in the newest version. ``broken``: the file can no longer tell. ``new``: no earlier version
that was tried has the bug."""

IN_WORDS: dict[Shown, str] = {
    "shows": "shows",
    "fixed": "does not show",
    "other": "fails in another way",
    "cannot run": "cannot run",
}

Change: TypeAlias = Literal["appeared", "fixed", "shows again"]

KEY = "versions"
_TABLE = f"# [tool.exportdiff.{KEY}]"

OLD_KEYS: dict[str, Shown] = {"affected": "shows", "unaffected": "fixed", "undecided": "other"}
"""Lists of versions in files of earlier campaigns, and what they mean."""
_OLD_LINE = re.compile(rf"# ({'|'.join((*OLD_KEYS, 'regression-since'))}) = .*")
_LIST_GOES_ON = re.compile(r"#  +\S.*|# \]")


@dataclass(frozen=True)
class Transition:
    """The bug appeared, was fixed or shows again between two versions that were tried."""

    what: Change
    after: str
    """The last version that was tried before the change."""
    by: str
    """The first version that was tried after it."""


@dataclass(frozen=True)
class Versions:
    """What a file showed on the versions that were tried, the oldest first."""

    rows: tuple[tuple[str, Shown], ...] = ()

    def on(self, *shown: Shown) -> tuple[str, ...]:
        """Return the versions on which the file showed one of these."""
        return tuple(version for version, each in self.rows if each in shown)

    def up_to(self, torch: str) -> Versions:
        """Return the rows of this version and of older ones."""
        return Versions(tuple(row for row in self.rows if age(row[0]) <= age(torch)))

    @property
    def open(self) -> bool:
        """Whether the newest version that can tell has the bug. A file that was never tried is open."""
        told = [shown for _, shown in self.rows if shown in ("shows", "fixed")]
        return not told or told[-1] == "shows"

    @property
    def fixed_in(self) -> tuple[str, ...]:
        """The versions without the bug that are newer than all versions with it."""
        last = max(map(age, self.on("shows")), default=None)
        return tuple(version for version in self.on("fixed") if last is None or age(version) > last)

    @property
    def not_yet_in(self) -> tuple[str, ...]:
        """The other versions without the bug."""
        return tuple(version for version in self.on("fixed") if version not in self.fixed_in)

    @property
    def changes(self) -> tuple[Transition, ...]:
        """Where the bug appeared, was fixed, and showed again. Versions that cannot tell are left out."""
        told = [row for row in self.rows if row[1] in ("shows", "fixed")]
        seen = False
        found = []
        for (after, before), (by, shown) in pairwise(told):
            seen = seen or before == "shows"
            if before != shown:
                what: Change = "shows again" if seen else "appeared"
                found.append(Transition("fixed" if shown == "fixed" else what, after, by))
        return tuple(found)

    @property
    def news(self) -> News | None:
        """Say what is new in the newest version; None: it shows what the version before it showed."""
        if not self.rows:
            return None
        newest, shown = self.rows[-1]
        if shown in ("other", "cannot run"):
            return "broken"
        if self.changes and self.changes[-1].by == newest:
            return "new" if self.changes[-1].what == "appeared" else self.changes[-1].what
        alone = len(self.on("shows", "fixed")) == 1
        return "new" if alone and shown == "shows" else None

    @property
    def appeared_in(self) -> str:
        """The version where the bug last appeared; empty: it is in the oldest version that can tell."""
        return next((change.by for change in reversed(self.changes) if change.what != "fixed"), "")

    @property
    def in_words(self) -> str:
        """Say what was tried: ``tried on 2.9.1 and 2.13.0: shows; on 2.15.0: does not show``; or nothing."""
        parts: list[tuple[list[str], Shown]] = []
        for version, shown in self.rows:
            if parts and parts[-1][1] == shown:
                parts[-1][0].append(version)
            else:
                parts.append(([version], shown))
        words = "; ".join(f"on {listed(each)}: {IN_WORDS[shown]}" for each, shown in parts)
        return f"tried {words}" if words else ""


NOT_TRIED = Versions()


def shown_by(code: int | None) -> Shown:
    """Return what the exit code of a file means; None: it did not end."""
    known: dict[int | None, Shown] = {0: "fixed", 1: "shows", LACKING: "cannot run"}
    return known.get(code, "other")


def versions(rows: Mapping[str, Shown]) -> Versions:
    """Return what was shown, sorted by the age of the versions."""
    return Versions(tuple((version, rows[version]) for version in sorted(rows, key=age)))


def read_versions(table: Mapping[str, Any]) -> Versions:
    """Read the versions from the table ``[tool.exportdiff]`` of a header; old keys are understood."""
    rows: dict[str, Shown] = {}
    for key, shown in OLD_KEYS.items():
        value = table.get(key, ())
        rows |= dict.fromkeys(map(str, value if isinstance(value, list | tuple) else (value,)), shown)
    rows.pop("", None)
    return versions(rows | dict(table.get(KEY, {})))


def by_old_keys(found: Versions) -> dict[str, tuple[str, ...]]:
    """Return the lists of versions under their old names, for JSON."""
    cannot_tell = found.on("other", "cannot run")
    return {"affected": found.on("shows"), "unaffected": found.on("fixed"), "undecided": cannot_tell}


def wrong_versions(table: Mapping[str, Any]) -> str:
    """Return a message about a table of versions that cannot be read; empty if it can."""
    found, known = table.get(KEY, {}), get_args(Shown)
    if not isinstance(found, dict):
        return f"has {KEY!r} in [tool.exportdiff], which is no table [tool.exportdiff.{KEY}]"
    wrong = [f"{version} = {shown!r}" for version, shown in found.items() if shown not in known]
    return f"has {wrong[0]} in [tool.exportdiff.{KEY}]; expected {', '.join(known)}" if wrong else ""


def with_versions(text: str, found: Versions) -> str:
    """Return the text of a file with this table at the end of its header, without old keys.

    An empty table is left out. Raises ValueError if the file has no header.
    """
    header = HEADER.search(text)
    if header is None:
        raise ValueError("the file has no '# /// script' header")
    kept: list[str] = []
    dropping = ""
    for line in header["toml"].rstrip("\n").split("\n"):
        if dropping == "list" and _LIST_GOES_ON.fullmatch(line):
            dropping = "" if line == "# ]" else dropping
        elif line == _TABLE:
            dropping = "table"
        elif dropping == "table" and not line.startswith("# ["):
            continue
        elif _OLD_LINE.fullmatch(line):
            dropping = "list" if line.endswith("[") else ""
        else:
            dropping = ""
            kept.append(line)
    while kept and kept[-1] == "#":
        kept.pop()
    kept += header_lines(found)
    return text[: header.start("toml")] + "\n".join(kept) + "\n" + text[header.end("toml") :]


def header_lines(found: Versions) -> list[str]:
    """Return the lines of the table in a header; none if there are no versions."""
    rows = [f'# "{version}" = "{shown}"' for version, shown in found.rows]
    return ["#", _TABLE, *rows] if rows else []


def age(version: str) -> tuple[tuple[int, ...], int, int]:
    """Return a key that sorts versions, the oldest first: 2.9.1, 2.15.0.dev20261101, 2.15.0."""
    public = version.partition("+")[0]
    release = re.match(r"\d+(\.\d+)*", public)
    numbers = tuple(map(int, release[0].split("."))) if release else ()
    rest = public[release.end() :] if release else public
    stage = 4 if not rest or rest.startswith((".post", "post")) else 0
    stage = next((n for n, word in enumerate(("dev", "a", "b", "rc")) if word in rest), stage)
    last = re.search(r"\d+$", rest)
    return (*numbers, *(0,) * (3 - len(numbers))), stage, int(last[0]) if last else 0
