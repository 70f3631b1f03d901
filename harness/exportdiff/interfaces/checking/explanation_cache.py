"""Caches which known bugs explain the findings of a model, so that the next check of it explains at once.

An answer is used again if nothing has changed that it depends on: the source text of the model and of all
modules that the user wrote, the findings, torch, the corpus, and exportdiff itself. Nothing is cached for a
model that was given as an object: its source text does not say what its weights and inputs are.
"""

from __future__ import annotations

import hashlib
import json
import pathlib
import sys
import sysconfig
from typing import TYPE_CHECKING

from exportdiff.core.cache_files import cache_folder, write_cache_file
from exportdiff.core.own_code import digest_of, packages, source_files
from exportdiff.core.plain_data import NotPlainError, dumps, loads
from exportdiff.known.attribution.knowledge import digest_of_corpus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exportdiff.core.case import Case
    from exportdiff.core.finding import Finding
    from exportdiff.interfaces.checking.found import Found


class ExplanationCache:
    """The cached explanations of the findings of one model."""

    def __init__(self, case: Case, findings: Sequence[Finding], corpora: pathlib.Path) -> None:
        """``findings``: all findings of the model, because each answer depends on the others."""
        self._usable = bool(case.source)
        parts = [
            sys.version,
            digest_of_corpus(corpora),
            digest_of(source_files()),
            digest_of(_users_files()),
            case.source,
            *(json.dumps(each.as_dict()) for each in findings),
        ]
        self._key = hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def read(self, finding: Finding) -> tuple[Found, ...] | None:
        """Return a finding with its causes, in parts; None if there is no answer."""
        if not self._usable:
            return None
        try:
            parts: tuple[Found, ...] = loads(self._file(finding).read_text(encoding="utf-8"))
        except (OSError, NotPlainError):
            return None
        return parts

    def write(self, finding: Finding, parts: Sequence[Found]) -> None:
        """Keep an answer, unless the search for it ended early."""
        if not self._usable or not all(each.searched and not each.remark for each in parts):
            return
        write_cache_file(self._file(finding), dumps(tuple(parts)).encode())

    def _file(self, finding: Finding) -> pathlib.Path:
        return cache_folder() / "explained" / f"{self._key}-{finding.fingerprint}.json"


_NOT_USERS = ("stdlib", "platstdlib", "purelib", "platlib")


def _users_files() -> list[pathlib.Path]:
    """Return the files of the imported modules that the user wrote."""
    folders = {*map(pathlib.Path, map(sysconfig.get_path, _NOT_USERS)), *packages(), pathlib.Path(sys.prefix)}
    names = {getattr(module, "__file__", None) or "" for module in list(sys.modules.values())}
    files = sorted(pathlib.Path(name) for name in names if name.endswith(".py"))
    return [each for each in files if each.is_file() and folders.isdisjoint(each.parents)]
