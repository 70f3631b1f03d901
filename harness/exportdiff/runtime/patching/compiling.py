"""Compiles the patched text of a chunk, and finds the functions that have new code."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, TypeAlias

from exportdiff.runtime.patching.binding import names_read
from exportdiff.runtime.patching.fix import FixError
from exportdiff.runtime.patching.outside_functions import (
    changed_classes,
    changed_signatures,
    changed_tables,
    decorator_lines,
)
from exportdiff.runtime.patching.placing import Chunk
from exportdiff.runtime.patching.source import lines_of, source_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType

Key: TypeAlias = tuple[str, int]
"""Qualified name and first line of a function, which identify the function in its file."""


@dataclass(frozen=True)
class Changed:
    """What a chunk changes in its module, as code objects, which ``marshal`` can write to disk."""

    codes: tuple[tuple[Key, CodeType], ...]
    """The new code of each changed function, by the function's key in the unpatched file."""
    added: CodeType | None
    """Code that defines the functions and imports that the patch adds to the module; None: there are none."""
    fix_names: str
    """The names of the fixes, separated by commas."""
    lines: tuple[tuple[int, str], ...]
    """The lines of the patched file that fixes have changed, each with the name of the fix."""
    reads: tuple[tuple[CodeType, frozenset[str]], ...]
    """What the code of each changed or added function reads, see ``names_read``."""
    tables: tuple[tuple[str, CodeType], ...]
    """The names of the module's sets and dicts that get entries, each with an expression of these."""
    classes: tuple[tuple[str, CodeType], ...]
    """The qualified names of classes that get members, each with code that defines a class of these."""
    defaults: tuple[tuple[Key, CodeType], ...]
    """The functions with other arguments, each with an expression of its defaults: a tuple and a dict."""


@cache
def changed_by(file: str, chunk: Chunk) -> Changed:
    """Compile a chunk of the patched file; return what differs from the installed file. Raises FixError."""
    source = source_of(file)
    text = _Text(source.lines, chunk)
    try:
        tree = ast.parse(text.source)
        whole = compile(text.source, file, "exec", source.flags, dont_inherit=True)
    except SyntaxError as error:
        raise FixError(f"{chunk.fix_names}: {file} does not compile: {error}") from None
    tables = list(changed_tables(tree.body, text.added))
    classes = list(changed_classes(tree.body, text.added))
    new = [node for node in tree.body if _is_new(node, text.added)]
    whole_statements = [
        *new,
        *(node for _, node, _ in tables),
        *(each for _, one in classes for each in one.body),
    ]
    covered = {line for node in whole_statements for line in lines_of(node)}
    defaults = {}
    for name, node, pair in changed_signatures(tree.body, text.added):
        first = lines_of(node).start
        if name in source.first_lines:
            text.origin.setdefault(first, source.first_lines[name])
        if first in text.origin:
            key = name, text.origin[first]
            defaults[key] = compile(ast.Expression(pair), file, "eval", source.flags, dont_inherit=True)
    codes = []
    for code, span in _functions(whole):
        touched = (text.added | text.next_to_removed) & span
        if touched and code.co_firstlineno in text.origin:
            codes.append(((code.co_qualname, text.origin[code.co_firstlineno]), code))
            covered |= touched
    covered -= set(decorator_lines(tree.body, text.added))
    outside = {line for line in text.added - covered if _is_code(text.lines[line])}
    if outside:
        raise FixError(
            f"{chunk.fix_names}: {file}: a fix cannot change this line: {text.lines[min(outside)].strip()}"
        )
    added = compile(ast.Module(new, []), file, "exec", dont_inherit=True) if new else None
    members = tuple(
        (name, compile(ast.Module([alone], []), file, "exec", source.flags, dont_inherit=True))
        for name, alone in classes
    )
    methods = (method for _, code in members for alone in _constants(code) for method in _constants(alone))
    functions = (*(code for _, code in codes), *_constants(added), *methods)
    return Changed(
        tuple(codes),
        added,
        chunk.fix_names,
        tuple(text.owners.items()),
        tuple((code, names_read(code)) for code in functions),
        tuple(
            (name, compile(ast.Expression(entries), file, "eval", source.flags, dont_inherit=True))
            for name, _, entries in tables
        ),
        members,
        tuple(defaults.items()),
    )


def _constants(code: CodeType | None) -> Iterator[CodeType]:
    """Yield the functions and classes that code defines, without those inside of them."""
    for const in code.co_consts if code is not None else ():
        if isinstance(const, CodeType):
            yield const


class _Text:
    """The patched text of a chunk. Its first line has the same number (from 1) as in the installed file."""

    def __init__(self, old: tuple[str, ...], chunk: Chunk) -> None:
        self.lines: dict[int, str] = {}
        self.added: set[int] = set()
        self.next_to_removed: set[int] = set()
        """The lines before and after removed lines: the function that contains them changes."""
        self.origin: dict[int, int] = {}
        """Line number in the patched text -> line number in the installed file, for the unchanged lines."""
        self._first = self._next = chunk.start + 1
        at = chunk.start
        self.owners: dict[int, str] = {}
        """Line number in the patched text -> name of the fix that has changed the line."""
        for edit, owner in zip(chunk.edits, chunk.owners, strict=True):
            self._keep(old, at, edit.start)
            new = range(self._next, self._next + len(edit.lines))
            self.added |= set(new)
            self.owners |= dict.fromkeys(new or (self._next,), owner)
            self.next_to_removed |= set() if edit.lines else {self._next - 1, self._next}
            for line in edit.lines:
                self._append(line)
            at = edit.stop
        self._keep(old, at, chunk.stop)
        self.source = "\n" * (self._first - 1) + "\n".join(self.lines.values()) + "\n"

    def _append(self, line: str) -> None:
        self.lines[self._next] = line
        self._next += 1

    def _keep(self, old: tuple[str, ...], start: int, stop: int) -> None:
        for line in range(start, stop):
            self.origin[self._next] = line + 1
            self._append(old[line])


def _is_code(line: str) -> bool:
    return bool(line.strip()) and not line.strip().startswith("#")


def _is_new(node: ast.stmt, added: set[int]) -> bool:
    """Whether a statement is a new function or import, or an import of more names than before."""
    lines = set(lines_of(node))
    if isinstance(node, ast.Import | ast.ImportFrom):
        return bool(lines & added)
    return isinstance(node, ast.FunctionDef) and lines <= added


def added_names(module: ModuleType, own: Mapping[str, object], changed: Changed) -> dict[str, object]:
    """Run the code that a chunk adds, in a copy of the module's own namespace; return the new names.

    ``own``: what the module has without fixes. Raises FixError if that code raises an exception.
    """
    if changed.added is None:
        return {}
    namespace = dict(own)
    try:
        exec(changed.added, namespace)
    except Exception as error:
        raise FixError(f"{changed.fix_names}: the code added to {module.__name__} raises {error!r}") from None
    new = {name: value for name, value in namespace.items() if own.get(name, namespace) is not value}
    for name, value in list(new.items()):
        if isinstance(value, FunctionType) and value.__globals__ is namespace:
            # A new function must read the namespace of the module itself, not of the copy.
            function = FunctionType(value.__code__, module.__dict__, name, value.__defaults__)
            function.__kwdefaults__ = value.__kwdefaults__
            new[name] = function
    return new


def _functions(code: CodeType) -> Iterator[tuple[CodeType, set[int]]]:
    """Yield each function in a code object, and the lines of the function."""
    for const in _constants(code):
        yield from _functions(const)
        if const.co_flags & _OPTIMIZED:
            yield const, _span(const)


_OPTIMIZED = 0x1
"""The flag CO_OPTIMIZED: functions have it, class bodies do not."""


def _span(code: CodeType) -> set[int]:
    lines = {line for _, _, line in code.co_lines() if line}
    for const in _constants(code):
        lines |= _span(const)
    return set(range(code.co_firstlineno, max(lines, default=code.co_firstlineno) + 1))
