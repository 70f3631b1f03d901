"""The name of a user's model: ``FILE.py:NAME`` or ``package.module:NAME``."""

from __future__ import annotations

import ast
import difflib
import pathlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Target:
    """The name of a callable that makes a model."""

    written: str
    """As the user wrote it."""
    module: str
    """The path of a file if it ends in ``.py``; else the dotted name of a module."""
    name: str

    @classmethod
    def parse(cls, text: str) -> Target:
        """Read ``MODULE:NAME``. Raises UsageError."""
        module, colon, name = text.rpartition(":")
        if not colon or not module or not name.isidentifier():
            raise UsageError(f"{text!r}: write FILE.py:NAME or package.module:NAME")
        if module.endswith(".py"):
            _look_for(name, pathlib.Path(module))
        elif not all(map(str.isidentifier, module.split("."))):
            raise UsageError(f"{module!r} is neither a .py file nor the name of a module")
        return cls(text, module, name)

    @property
    def from_anywhere(self) -> Target:
        """The same callable, with an absolute path if a process in another folder could not find it."""
        file = pathlib.Path(self.module)
        return replace(self, module=str(file.absolute())) if ".." in file.parts else self


def _look_for(name: str, file: pathlib.Path) -> None:
    """Raise UsageError if the file cannot define the name. Importing the file would take seconds."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{file}: there is no such file") from None
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}") from None
    except SyntaxError as error:
        raise UsageError(f"{file} does not import: SyntaxError: {error.msg} (line {error.lineno})") from None
    except ValueError as error:  # no text, or with a null byte
        raise UsageError(f"{file} is no Python file: {error}") from None
    names = set(_bound(tree))
    if name not in names and not names & {"*", "__getattr__", "globals", "exec", "setattr"}:
        like = difflib.get_close_matches(name, sorted(names), 1)
        hint = f"; did you mean {like[0]}?" if like else ""
        raise UsageError(f"{file} defines no {name!r}{hint}")


def _bound(tree: ast.AST) -> Iterator[str]:
    """Yield every name that the file may define, and the names of functions that may define others."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, ast.Name):
            yield node.id
