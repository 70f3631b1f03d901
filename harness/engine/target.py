"""Where the user's own model is: ``FILE.py:NAME`` or ``package.module:NAME``."""

from __future__ import annotations

import pathlib
from dataclasses import dataclass

from harness.errors import UsageError


@dataclass(frozen=True)
class Target:
    """A callable that makes a model, by its name."""

    written: str
    """As the user wrote it."""
    module: str
    """A file, if it ends in ``.py``; else the dotted name of a module."""
    name: str

    @classmethod
    def parse(cls, text: str) -> Target:
        """Split the text. Raises UsageError."""
        module, colon, name = text.rpartition(":")
        if not colon or not module or not name.isidentifier():
            raise UsageError(f"{text!r}: write FILE.py:NAME or package.module:NAME")
        if module.endswith(".py") and not pathlib.Path(module).is_file():
            raise UsageError(f"{module}: there is no such file")
        if not module.endswith(".py") and not all(map(str.isidentifier, module.split("."))):
            raise UsageError(f"{module!r} is neither a .py file nor the name of a module")
        return cls(text, module, name)
