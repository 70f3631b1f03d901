"""Notes of a run of the minimizer for the next run: the smallest text so far, and the rejected texts."""

from __future__ import annotations

import contextlib
import hashlib
import json
import pathlib


class Notes:
    """An NDJSON file with one line per event. After a kill, it can be read except for an incomplete last
    line."""

    def __init__(self, file: pathlib.Path, *key: str) -> None:
        """Read the file of an earlier run with the same key; without one, start an empty file."""
        self._file = file
        self._key = hashlib.sha256(json.dumps(key).encode()).hexdigest()[:16]
        self.best = ""
        self.tried: set[str] = set()
        with contextlib.suppress(FileNotFoundError):
            self._read(file.read_text(encoding="utf-8", errors="replace"))
        self._stream = file.open("w", encoding="utf-8")
        self._write({"of": self._key})
        if self.best:
            self.note(self.best)
        for digest in sorted(self.tried):
            self.reject(digest)

    def _read(self, text: str) -> None:
        for number, line in enumerate(text.splitlines()):
            try:
                fact = json.loads(line)
            except json.JSONDecodeError:
                continue
            if not isinstance(fact, dict) or (number == 0 and fact.get("of") != self._key):
                return
            self.best = str(fact.get("best", self.best))
            if "tried" in fact:
                self.tried.add(str(fact["tried"]))

    def __enter__(self) -> Notes:
        """Leaving the block closes the file."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._stream.close()

    def note(self, best: str) -> None:
        """Remember the smallest text so far."""
        self.best = best
        self._write({"best": best})

    def reject(self, digest: str) -> None:
        """Remember a text that does not show the finding."""
        self._write({"tried": digest})

    def remove(self) -> None:
        """Delete the file, because nothing is left to do."""
        self._stream.close()
        self._file.unlink(missing_ok=True)

    def _write(self, fact: dict[str, str]) -> None:
        self._stream.write(json.dumps(fact) + "\n")
        self._stream.flush()
