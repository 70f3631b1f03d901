"""A path: one way to run a case, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Path:
    """A mode, transforms, a runner and a device; written ``nonstrict+decompose:module@cpu``.

    This class accepts any names. ``exportdiff.runtime.paths.parse`` checks that they exist and fit together.
    """

    mode: str
    runner: str
    transforms: tuple[str, ...] = ()
    device: str = "cpu"

    def __str__(self) -> str:
        """Return the text that ``exportdiff.runtime.paths.parse`` reads."""
        return f"{self.without_device}@{self.device}"

    @property
    def without_device(self) -> str:
        """Return the text of the path without ``@device``."""
        return f"{'+'.join((self.mode, *self.transforms))}:{self.runner}"

    def matches(self, glob: str) -> bool:
        """Whether a shell pattern matches the path; a pattern without ``@`` matches it on any device."""
        return fnmatchcase(str(self), glob) or fnmatchcase(self.without_device, glob)
