"""Reads a file to minimize: a program with ``make()``, and its header."""

from __future__ import annotations

import pathlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from exportdiff.core.errors import UsageError
from exportdiff.fuzzing.minimizing.outline import FACTORY
from exportdiff.known.corpus.entry import read_entry
from exportdiff.repro import NeededFixes
from exportdiff.repro.program import program_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exportdiff.core.finding import Finding


@dataclass(frozen=True)
class ProgramFile:
    """A program to minimize, and the header of its file."""

    source: str
    folder: str
    """The folder of the file: the program may import from it."""
    path: str = ""
    """The path in the header of the file. The following fields are from the header as well."""
    check: str = ""
    fingerprint: str = ""
    signatures: tuple[tuple[str, ...], ...] = ()
    needs: NeededFixes | None = None
    """The fixes that must be installed for the finding to show."""

    def names(self, finding: Finding) -> bool:
        """Whether the header describes this finding."""
        if self.fingerprint and finding.fingerprint == self.fingerprint:
            return True
        if not self.signatures:
            return finding.check == self.check
        return any(map(finding.matches, self.signatures))


def read_program_file(written: str) -> ProgramFile:
    """Read ``FILE.py`` or ``FILE.py:NAME``. Raises UsageError."""
    name = FACTORY
    if not pathlib.Path(written).is_file() and ":" in written:
        written, _, name = written.rpartition(":")
    file = pathlib.Path(written)
    if file.suffix != ".py" or not name.isidentifier():
        raise UsageError(f"{written!r}: write FILE.py or FILE.py:NAME")
    try:
        source = file.read_text(encoding="utf-8")
        compile(source, written, "exec", dont_inherit=True)
        module = cst.parse_module(source)
    except FileNotFoundError:
        raise UsageError(f"{file}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: cannot be read: {error}") from None
    except (SyntaxError, ValueError, cst.ParserSyntaxError) as error:
        where = f" (line {error.lineno})" if isinstance(error, SyntaxError) else ""
        raise UsageError(f"{file}: is not valid Python: {getattr(error, 'msg', error)}{where}") from None
    if name not in _defined(module):
        raise UsageError(
            f"{file} defines no {name!r}: name a callable that returns (model, args), FILE.py:NAME"
        )
    entry = read_entry(file)
    folder = str(file.resolve().parent)
    if entry.problem:
        return ProgramFile(_with_factory(source, name), folder)
    source = program_of(source)
    needs = None
    if entry.needs:
        needs = NeededFixes(entry.needs, "unmasked-by" if entry.unmasked_by else "caused-by")
    return ProgramFile(
        _with_factory(source, name),
        folder,
        entry.path,
        entry.check,
        entry.fingerprint,
        entry.signatures,
        needs,
    )


def with_functions(source: str, functions: Mapping[str, str | None]) -> str:
    """Rename functions of a source: ``{"make": NAME, "probes": None}`` renames NAME to ``make``.

    Anything that has such a name already becomes ``make_other`` or ``probes_other``.
    """
    for wanted, name in functions.items():
        source = (
            _renamed(source, wanted, f"{wanted}_other") if name is None else _called(source, wanted, name)
        )
    return source


def _defined(module: cst.Module) -> set[str]:
    """Return the names that a module defines at its top level."""
    names: set[str] = set()
    for line in module.body:
        if isinstance(line, cst.FunctionDef | cst.ClassDef):
            names.add(line.name.value)
        elif isinstance(line, cst.SimpleStatementLine):
            for small in line.body:
                names |= _bound(small)
    return names


def _bound(statement: cst.BaseSmallStatement) -> set[str]:
    if isinstance(statement, cst.Assign):
        return {t.target.value for t in statement.targets if isinstance(t.target, cst.Name)}
    if isinstance(statement, cst.ImportFrom) and not isinstance(statement.names, cst.ImportStar):
        return {alias.evaluated_alias or alias.evaluated_name for alias in statement.names}
    return set()


def _with_factory(source: str, name: str) -> str:
    """Rename the factory to ``make``, and anything else of that name to ``make_other``."""
    return _called(source, FACTORY, name)


def _called(source: str, wanted: str, name: str) -> str:
    """Rename a function to the wanted name, and anything else of that name to ``…_other``."""
    if name == wanted:
        return source
    source = _renamed(source, wanted, f"{wanted}_other")
    if any(
        isinstance(line, cst.FunctionDef) and line.name.value == name
        for line in cst.parse_module(source).body
    ):
        return _renamed(source, name, wanted)
    return f"{source.rstrip()}\n\n\ndef {wanted}():\n    return {name}()\n"


def _renamed(source: str, old: str, new: str) -> str:
    module = cst.parse_module(source).visit(_Renaming(old, new))
    return module.code


class _Renaming(cst.CSTTransformer):
    def __init__(self, old: str, new: str) -> None:
        super().__init__()
        self._old = old
        self._new = new

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:  # noqa: N802
        # LibCST finds the method by this name.
        return cst.Name(self._new) if original_node.value == self._old else updated_node
