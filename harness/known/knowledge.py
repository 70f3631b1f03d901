"""What a corpus knows: its open entries, the fixes that fit this torch, and which programs are alike."""

from __future__ import annotations

import hashlib
import pathlib
import pickle
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING

import platformdirs

from harness.known.entry import FIXES, Entry, find_files, read_entry
from harness.known.likeness import Likeness
from harness.patching.fixes import Fix, FixError, applied, read_fixes, remember

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True)
class Knowledge:
    """The open bugs of a corpus, and the fixes that fit this torch."""

    entries: tuple[Entry, ...]
    fixes: Mapping[str, Fix]
    """By name: each fits when it is applied alone."""
    together: tuple[str, ...]
    """The names of the fixes that a process can hold at the same time."""

    @cached_property
    def likeness(self) -> Likeness:
        """Compares programs with those of the entries."""
        return Likeness([entry.file.read_text(encoding="utf-8") for entry in self.entries])

    @cached_property
    def held(self) -> tuple[Fix, ...]:
        """The fixes that a process can hold at the same time."""
        return tuple(self.fixes[name] for name in self.together)


def cache_folder() -> pathlib.Path:
    """Return the folder of this user where results are kept that take long to compute."""
    return pathlib.Path(platformdirs.user_cache_dir("exportdiff"))


@cache
def knowledge(corpora: pathlib.Path) -> Knowledge:
    """Read a corpus; a fix that does not fit this torch is left out.

    A process reads it once. What was read is kept on disk too, by content: parsing takes most of a second.
    """
    corpora = corpora.resolve()
    file = cache_folder() / f"{_digest(corpora)}.knowledge"
    with suppress(OSError, pickle.UnpicklingError, EOFError, AttributeError, ImportError, ValueError):
        known = pickle.loads(file.read_bytes())
        if isinstance(known, Knowledge):
            return known
    known = _read(corpora)
    # With the words of all programs, which take as long to find.
    known.likeness, known.held  # noqa: B018  # computes them
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as written:
            written.write(pickle.dumps(known))
        # Nobody ever reads half a file.
        pathlib.Path(written.name).replace(file)
    return known


def _read(corpora: pathlib.Path) -> Knowledge:
    entries = tuple(entry for entry in map(read_entry, find_files([corpora])) if entry.status == "open")
    fixes = read_fixes(corpora / FIXES)
    if _fit(tuple(fixes.values())):
        return Knowledge(entries, fixes, tuple(fixes))
    fitting = {name: fix for name, fix in fixes.items() if _fit((fix,))}
    return Knowledge(entries, fitting, tuple(_together(fitting)))


def _fit(fixes: tuple[Fix, ...]) -> bool:
    try:
        if len(fixes) > 1:
            remember(fixes, cache_folder())
        with applied(fixes):
            return True
    except FixError:
        return False


def _together(fixes: Mapping[str, Fix]) -> Iterator[str]:
    """Choose fixes that fit together: each that fits with those before it."""
    chosen: tuple[Fix, ...] = ()
    for name, fix in fixes.items():
        try:
            with applied((*chosen, fix)):
                pass
        except FixError:
            continue
        chosen = (*chosen, fix)
        yield name


def _digest(corpora: pathlib.Path) -> str:
    """Return a digest of everything that the knowledge depends on."""
    digest = hashlib.sha256(f"{sys.version}\0{version('torch')}\0{corpora}\0".encode())
    here = pathlib.Path(__file__).parent
    own = [here / f"{name}.py" for name in ("knowledge", "entry", "likeness")]
    own += sorted((here.parent / "patching").glob("*.py"))
    for file in (*own, *find_files([corpora]), *sorted((corpora / FIXES).glob("*.patch"))):
        with suppress(OSError):
            content = file.read_bytes()
            digest.update(f"{file}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()
