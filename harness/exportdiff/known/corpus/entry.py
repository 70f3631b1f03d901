"""Finds corpus files, and reads the metadata in their headers."""

from __future__ import annotations

import ast
import pathlib
import re
import sys
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from exportdiff.core import own_code
from exportdiff.core.program_text.parsing import parse
from exportdiff.known.corpus.header import HEADER
from exportdiff.known.corpus.ids import wrong_id
from exportdiff.known.corpus.severity import Harm, Reach, Severity, severity, wrong_labels
from exportdiff.known.corpus.topics import wrong_topics
from exportdiff.known.corpus.versions import NOT_TRIED, Versions, read_versions, wrong_versions
from exportdiff.runtime.paths import backends

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CORPORA = pathlib.Path("corpora")
"""The default folder of the corpus, relative to the current folder."""

FIXES = "fixes"
"""The folder of the candidate fixes, inside the folder of a corpus."""


def default_corpora() -> pathlib.Path | None:
    """Return the corpus in the current folder, or else the installed one; None if there is neither."""
    return next((folder for folder in (CORPORA, *own_code.corpora()) if (folder / FIXES).is_dir()), None)


OPEN, VARIANTS = "open", "variants"
"""The folders of the root causes and of their variants, inside the folder of a corpus."""

BACKENDS = "backends"
"""The folder of bugs of backends, inside the folder of a corpus. It has a folder for each backend."""

UpstreamMatch: TypeAlias = Literal["mechanism", "place", "symptom"]
"""``mechanism``: the thread is about the same cause. ``place``: about another mistake of the same function.
``symptom``: the symptom is the same, and the thread does not name a cause."""

EXPECTED = {"seed": 0, "fixed": 0, "open": 1}
"""The exit code that a file must have, by its status."""

RENAMED_KEYS = {
    "behind": "unmasked",
    "unseen": "undetected-because",
    "severity": "harm and reach",
    "severity-because": "reach-because",
}
"""Old keys of ``[tool.exportdiff]``, and what to write instead."""

FUNCTIONS = {
    "make": "returns the model and its example inputs",
    "show": "returns what eager gives and what the path gives, or raises the exception of the bug",
}
"""The functions that an entry defines."""

WORKAROUND = ("make_workaround", "workaround_options", "workaround_call")
"""The functions of a workaround: they return the model and its inputs, return keyword arguments for
torch.export.export, and call the result of the path."""

WRONG_CALL = "wrong_call"
"""The function of an entry of a backend that says whether the backend gets one call of an operator wrong."""


@dataclass(frozen=True)
class Entry:
    """The metadata of one corpus file."""

    file: pathlib.Path
    status: str = ""
    id: str = ""
    """The short name of the root cause, which never changes: ``XD042``. Empty for a variant."""
    former_ids: tuple[str, ...] = ()
    """The ids of entries that are now a part of this one."""
    fingerprint: str = ""
    signatures: tuple[tuple[str, ...], ...] = ()
    """The beginnings of the signatures of the findings that the bug causes."""
    path: str = ""
    """The path that shows the bug."""
    check: str = ""
    kind: str = ""
    title: str = ""
    harm: Harm | None = None
    """What the bug does to its users; None for a variant, or if it is not yet written."""
    reach: Reach | None = None
    """How many people meet it; None as above."""
    reach_because: str = ""
    """The code that meets the bug, in a few words."""
    evidence: tuple[str, ...] = ()
    """Public code that meets it: rows of the zoo (``zoo:MODEL``) and addresses of threads and pages."""
    topics: tuple[str, ...] = ()
    """What people write who meet the bug: words of ``topics.TOPICS``."""
    cause: str = ""
    """The mechanism, and what the function at fault should do."""
    variant_of: str = ""
    """For a variant, the name of the entry of its root cause; else empty."""
    at_fault: str = ""
    """The file and the function of torch that are wrong, and what the function does wrong."""
    fix: str = ""
    """The name of the candidate fix in corpora/fixes; empty if there is none."""
    trigger: tuple[str, ...] = ()
    """If there is no fix: the tags that a program needs to show the bug; see ``trigger.py``."""
    says_which_calls: bool = False
    """Whether the file also says which calls of an operator are wrong (``WRONG_CALL``)."""
    runners: tuple[str, ...] = ()
    """If there is no fix: the only runners that show the bug; empty if others of the mode may show it too."""
    upstream: str | None = None
    """The PyTorch thread about the bug; empty if a search found none; None if it was not searched for."""
    upstream_match: UpstreamMatch | None = None
    """What the thread has in common with the bug; None if they were not compared."""
    upstream_fix: str = ""
    """The pull request that fixes it, merged or not."""
    upstream_searched: str = ""
    """The day of the last search for a thread, as ``2026-11-26``; empty if the day is not known."""
    defended: str = ""
    """``THREAD: REASON`` if PyTorch's maintainers have defended the behaviour; else empty."""
    versions: Versions = NOT_TRIED
    """What it showed on the versions of torch on which it ran; ``exportdiff corpus bisect`` writes it."""
    hash_seeds: int = 1
    """Above 1 if the hash seed decides whether the bug shows: the file shows it if it does with one of
    PYTHONHASHSEED = 0, 1, ..., and this is how many are tried."""
    unmasked: tuple[tuple[str, ...], ...] = ()
    """The beginnings of the signatures of findings that appear only with the fix in place."""
    undetected_because: str = ""
    """The reason why the checks cannot show the bug although the file shows it; empty if they show it."""
    unmasked_by: tuple[str, ...] = ()
    """The exposing fixes: without them this bug is masked. Only files of campaigns have this key."""
    caused_by: tuple[str, ...] = ()
    """The fixes that cause this regression. Only files of campaigns have this key."""
    has_workaround: bool = False
    """Whether the file has code for what users can write instead (known/corpus/workaround.py)."""
    no_workaround: str = ""
    """Why there is nothing that users can write instead; empty if there is, or if nobody looked."""
    problem: str = ""
    """The reason why the file cannot be replayed; empty if it can."""

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.file.stem

    @property
    def root(self) -> str:
        """The name of its root cause, which is the name of the entry in ``open/``."""
        return self.variant_of or self.name

    @property
    def severity(self) -> Severity | None:
        """How severe the root cause is; None without labels."""
        return severity(self.harm, self.reach, self.has_workaround) if self.harm and self.reach else None

    @property
    def silent(self) -> bool:
        """Whether the bug raises nothing, and shows in a value."""
        return self.kind == "mismatch"

    @property
    def shows_after_refusal(self) -> bool:
        """Whether the bug shows in a call after one that raised; campaigns make few of such calls."""
        return any("after-refusal" in words for words in self.signatures)

    @property
    def needs(self) -> tuple[str, ...]:
        """The fixes that must be installed when the file runs."""
        return (*self.unmasked_by, *self.caused_by)


def find_files(names: Iterable[pathlib.Path]) -> Iterator[pathlib.Path]:
    """Yield the given files, and all Python files below the given folders, sorted.

    Below a folder, files for backends that are not installed are left out.
    """
    for name in names:
        found = sorted(name.rglob("*.py")) if name.is_dir() else (name,)
        yield from (file for file in found if not name.is_dir() or not lacking_for(file))


def lacking_for(file: pathlib.Path) -> tuple[str, ...]:
    """Return the modules of its backend that a file needs and that are not installed."""
    folders = file.resolve().parts[:-1]
    if BACKENDS not in folders[-2:-1]:
        return ()
    return backends.lacking(folders[-1]) if backends.is_mode(folders[-1]) else (folders[-1],)


def read_entry(file: pathlib.Path) -> Entry:
    """Read the ``[tool.exportdiff]`` table of a file without running the file.

    It never raises: ``Entry.problem`` names what is wrong with the file.
    """
    try:
        source = file.read_text(encoding="utf-8")
        match = HEADER.search(source)
    except FileNotFoundError:
        return Entry(file, problem="there is no such file")
    except (OSError, UnicodeDecodeError) as error:
        return Entry(file, problem=f"cannot be read: {error}")
    if match is None:
        return Entry(file, problem="has no '# /// script' header, so it is not a repro file")
    try:
        table = _table(match["toml"])
    except tomllib.TOMLDecodeError as error:
        return Entry(file, problem=f"has a broken header: {error}")
    status = str(table.get("status", ""))
    if status not in EXPECTED:
        known = ", ".join(EXPECTED)
        return Entry(file, problem=f"has status {status!r} in [tool.exportdiff]; expected {known}")
    if problem := _wrong(table) or problem_in(source, _of_backend(table)):
        return Entry(file, status, problem=problem)
    return Entry(
        file,
        status,
        id=str(table.get("id", "")),
        former_ids=tuple(map(str, table.get("former-ids", ()))),
        fingerprint=str(table.get("fingerprint", "")),
        signatures=_signatures(table),
        path=str(table.get("path", "")),
        check=str(table.get("check", "")),
        kind=str(table.get("kind", "")),
        title=str(table.get("title", "")),
        harm=table.get("harm"),
        reach=table.get("reach"),
        reach_because=str(table.get("reach-because", "")),
        evidence=tuple(table.get("evidence", ())),
        topics=tuple(table.get("topics", ())),
        cause=" ".join(str(table.get("cause", "")).split()),
        variant_of=str(table.get("variant-of", "")),
        at_fault=str(table.get("at-fault", "")),
        fix=str(table.get("fix", "")),
        trigger=tuple(map(str, table.get("trigger", ()))),
        says_which_calls=f"\ndef {WRONG_CALL}(" in source,
        runners=tuple(map(str, table.get("runners", ()))),
        upstream=str(table["upstream"]) if "upstream" in table else None,
        upstream_match=table.get("upstream-match"),
        upstream_fix=str(table.get("upstream-fix", "")),
        upstream_searched=str(table.get("upstream-searched", "")),
        defended=" ".join(str(table.get("defended", "")).split()),
        versions=read_versions(table),
        hash_seeds=table.get("hash-seeds", 1),
        unmasked=tuple(tuple(map(str, words)) for words in table.get("unmasked", ())),
        undetected_because=str(table.get("undetected-because", "")),
        unmasked_by=tuple(table.get("unmasked-by", ())),
        caused_by=tuple(table.get("caused-by", ())),
        has_workaround=table.get("workaround") == "code",
        no_workaround=" ".join(str(table.get("workaround", "")).split()).partition("none: ")[2],
    )


def _wrong(table: dict[str, Any]) -> str:
    """Return a message about the first mistake in a header; empty if there is none."""
    return _renamed_key(table) or _wrong_fixes(table) or _wrong_word(table) or wrong_versions(table)


def _renamed_key(table: dict[str, Any]) -> str:
    """Return a message about the first old key; empty if there is none."""
    for old, new in RENAMED_KEYS.items():
        if old in table:
            return f"has the key {old!r} in [tool.exportdiff]; write {new} instead"
    return ""


def _wrong_fixes(table: dict[str, Any]) -> str:
    """Return a message about a key that is not a list of names of fixes; empty if there is none."""
    for key in ("unmasked-by", "caused-by"):
        names = table.get(key, [])
        if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
            return f"has {key!r} in [tool.exportdiff], which is no list of names of fixes"
    return ""


def _wrong_word(table: dict[str, Any]) -> str:
    """Return a message about a key with an unknown word; empty if there is none."""
    if problem := wrong_labels(table) or wrong_topics(table.get("topics", [])) or wrong_id(table):
        return problem
    seeds = table.get("hash-seeds", 1)
    if not isinstance(seeds, int) or seeds < 1:
        return f"has hash-seeds {seeds!r} in [tool.exportdiff]; expected a number of seeds"
    workaround = table.get("workaround", "code")
    if workaround != "code" and not re.match("none: .", str(workaround)):
        return f"has workaround {workaround!r} in [tool.exportdiff]; expected 'code' or 'none: REASON'"
    match, matches = table.get("upstream-match"), get_args(UpstreamMatch)
    if match is not None and (match not in matches or not table.get("upstream")):
        return f"has upstream-match {match!r} in [tool.exportdiff]; expected one of {', '.join(matches)}"
    searched = str(table.get("upstream-searched", "2026-11-26"))
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", searched):
        return f"has upstream-searched {searched!r} in [tool.exportdiff]; expected a day like '2026-11-26'"
    defended = str(table.get("defended", "https://host: reason"))
    if not re.match(r"https://\S+: \S", defended):
        return f"has defended {defended!r} in [tool.exportdiff]; expected 'THREAD: REASON'"
    return ""


def _of_backend(table: dict[str, Any]) -> frozenset[str]:
    """Return the modules that a file for a path on a backend may import."""
    found = backends.backend(re.split("[+:]", str(table.get("path", "")), maxsplit=1)[0])
    return frozenset() if found is None else frozenset(found.requires)


def problem_in(source: str, of_backend: frozenset[str] = frozenset()) -> str:
    """Return the reason why this source cannot be a corpus file; empty if it can. It does not run.

    ``of_backend``: the modules besides torch that it may import.
    """
    try:
        tree = parse(source)
    except (SyntaxError, ValueError) as error:
        line = f" (line {error.lineno})" if isinstance(error, SyntaxError) else ""
        return f"does not parse: {type(error).__name__}: {error.args[0]}{line}"
    forbidden = sorted(_imported(tree) - sys.stdlib_module_names - {"torch"} - of_backend)
    if forbidden:
        return f"imports {', '.join(forbidden)}: a corpus file imports torch and nothing else"
    if not any(isinstance(node, ast.FunctionDef) and node.name == "make" for node in tree.body):
        return "defines no make() that returns (model, args)"
    return ""


def missing_functions(source: str) -> tuple[str, ...]:
    """Return the functions that an entry must define and this source does not, each with its task."""
    defined = {node.name for node in parse(source).body if isinstance(node, ast.FunctionDef)}
    return tuple(f"{name}(), which {task}" for name, task in FUNCTIONS.items() if name not in defined)


def _imported(tree: ast.Module) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").partition(".")[0])
    return names


def _signatures(table: dict[str, Any]) -> tuple[tuple[str, ...], ...]:
    """Read ``signatures``. A file of a campaign has one complete ``signature`` instead."""
    if "signature" in table:
        return (tuple(map(str, table["signature"])),)
    return tuple(tuple(map(str, words)) for words in table.get("signatures", ()))


def _table(header: str) -> dict[str, Any]:
    lines = (line.removeprefix("#").removeprefix(" ") for line in header.splitlines())
    table = tomllib.loads("\n".join(lines)).get("tool", {}).get("exportdiff", {})
    return table if isinstance(table, dict) else {}
