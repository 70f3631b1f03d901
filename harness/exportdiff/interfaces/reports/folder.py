"""The folder that a campaign writes to, and the names of the files in it."""

from __future__ import annotations

import pathlib
import shutil
from dataclasses import dataclass

from exportdiff.core.errors import UsageError


@dataclass(frozen=True)
class Folder:
    """The folder that ``--out`` names."""

    root: pathlib.Path

    @property
    def summary(self) -> pathlib.Path:
        """One JSON document; the campaign writes it at the end."""
        return self.root / "summary.json"

    @property
    def log(self) -> pathlib.Path:
        """One JSON object per line; the campaign writes each event when it happens."""
        return self.root / "events.ndjson"

    @property
    def journal(self) -> pathlib.Path:
        """The state of the campaign, for ``--resume``."""
        return self.root / "journal.ndjson"

    @property
    def learned(self) -> pathlib.Path:
        """Which exports have shown new findings, for ``--learned``; the campaign writes it at the end."""
        return self.root / "learned.json"

    @property
    def findings(self) -> pathlib.Path:
        """The folder of the repro files."""
        return self.root / "findings"

    def repro(self, fingerprint: str) -> pathlib.Path:
        """The repro file of one finding."""
        return self.findings / f"{fingerprint}.py"

    def prepare(self) -> None:
        """Create the folder, and delete the files of an earlier campaign in it. Raises UsageError."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            self.summary.unlink(missing_ok=True)
            self.log.unlink(missing_ok=True)
            self.journal.unlink(missing_ok=True)
            self.learned.unlink(missing_ok=True)
            shutil.rmtree(self.findings, ignore_errors=True)
            self.findings.mkdir(exist_ok=True)
        except FileExistsError:
            raise UsageError(f"--out {self.root} is a file; name a folder") from None
        except OSError as error:
            raise UsageError(f"--out {self.root}: {error.strerror}; name another folder") from None
