"""What a corpus knows: its open entries, the fixes that fit this torch, and which programs are similar."""

from __future__ import annotations

import hashlib
import pickle
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING

from exportdiff.core.cache_files import cache_folder, write_cache_file
from exportdiff.core.own_code import PACKAGE, digest_of
from exportdiff.core.torch_versions import torch_digest
from exportdiff.known.attribution.likeness import Likeness
from exportdiff.known.corpus.entry import FIXES, Entry, find_files
from exportdiff.known.corpus.known_bug import KnownBug, known_bug
from exportdiff.known.corpus.trial_results import fix_trials, open_entries
from exportdiff.known.corpus.workaround import without_workaround
from exportdiff.runtime.patching.fix import FixNotHereError
from exportdiff.runtime.patching.fixes import Fix, FixError, applied, choose_patches, find_functions, remember

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Collection, Iterator, Mapping


@dataclass(frozen=True)
class Knowledge:
    """The open bugs of a corpus, and the fixes that fit this torch."""

    entries: tuple[Entry, ...]
    fixes: Mapping[str, Fix]
    """By name. Each of them can be installed alone."""
    usable: tuple[str, ...]
    """The names of the fixes that can be installed together."""
    unusable: frozenset[str] = frozenset()
    """The names of the fixes that cannot be installed on this torch. Their entries explain by resemblance."""
    digest: str = ""
    """Depends on the corpus, on torch, and on the code of exportdiff that reads them."""

    @cached_property
    def likeness(self) -> Likeness:
        """Compares programs with those of the entries."""
        texts = (entry.file.read_text(encoding="utf-8") for entry in self.entries)
        return Likeness([without_workaround(text) for text in texts])

    def bug(self, root: str) -> KnownBug | None:
        """Describe a root cause; None if the corpus has no entry of this name."""
        entry = next((each for each in self.entries if each.name == root), None)
        return None if entry is None else known_bug(entry)

    @cached_property
    def usable_fixes(self) -> tuple[Fix, ...]:
        """The fixes that can be installed together."""
        return tuple(self.fixes[name] for name in self.usable)


@cache
def knowledge(corpora: pathlib.Path) -> Knowledge:
    """Read a corpus, without the entries that pass on this torch and the fixes that do not work on it.

    A fix that was not tried on this torch is used if it fits. A process reads a corpus once. The result is
    also cached on disk, because parsing takes most of a second.
    """
    corpora = corpora.resolve()
    digest = digest_of_corpus(corpora)
    file = cache_folder() / f"{digest}.knowledge"
    with suppress(OSError, pickle.UnpicklingError, EOFError, AttributeError, ImportError, ValueError):
        known = pickle.loads(file.read_bytes())
        if isinstance(known, Knowledge):
            return known
    fitting = _Fitting()
    known = replace(_read(corpora, fitting), digest=digest)
    if fitting.elsewhere_too:
        known.likeness, known.usable_fixes  # noqa: B018  # computes them, so that they are cached too
        write_cache_file(file, pickle.dumps(known))
    return known


def _read(corpora: pathlib.Path, fitting: _Fitting) -> Knowledge:
    entries = open_entries(corpora)
    found = fix_trials(corpora, entries)
    results = {each.name: result for each in found if (result := each.result) is not None}
    passing = {stem for result in results.values() for stem in result.fixed}
    entries = tuple(entry for entry in entries if entry.file.stem not in passing)
    wanted = [each for each in found if each.name not in results or results[each.name].status == "usable"]
    fixes = choose_patches({each.name: each.candidates for each in wanted})
    if not fitting.fit(fixes.values()):
        find_functions(fixes.values())
        fixes = {name: fix for name, fix in fixes.items() if fitting.fit((fix,))}
    without = frozenset(each.name for each in found if each.name not in fixes)
    return Knowledge(entries, fixes, tuple(_together(fixes, fitting)), without)


class _Fitting:
    """Finds out which fixes can be installed."""

    def __init__(self) -> None:
        self.elsewhere_too = True
        """Whether the answers are the same in another process with this torch."""

    def fit(self, fixes: Collection[Fix]) -> bool:
        """Whether these fixes can be installed together."""
        try:
            if len(fixes) > 1:
                remember(fixes, cache_folder())
            with applied(fixes):
                return True
        except FixError as error:
            self.elsewhere_too &= not isinstance(error, FixNotHereError)
            return False


def _together(fixes: Mapping[str, Fix], fitting: _Fitting) -> Iterator[str]:
    """Choose fixes that fit together: all if they do; else each that fits with those before it."""
    if fitting.fit(fixes.values()):
        yield from fixes
        return
    chosen: tuple[Fix, ...] = ()
    for name, fix in fixes.items():
        try:
            with applied((*chosen, fix)):
                pass
        except FixError:
            continue
        chosen = (*chosen, fix)
        yield name


def digest_of_corpus(corpora: pathlib.Path) -> str:
    """Return a digest of everything that the knowledge depends on."""
    corpora = corpora.resolve()
    own = sorted(file for part in ("known", "runtime/patching") for file in (PACKAGE / part).rglob("*.py"))
    files = (*own, *find_files([corpora]), *sorted((corpora / FIXES).glob("*.*")))
    # The name of each recorded trial is a digest of what was tried.
    trials = sorted(file.name for file in (cache_folder() / "fit").glob("*.json"))
    parts = [sys.version, torch_digest(), str(corpora), digest_of(files), *trials]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
