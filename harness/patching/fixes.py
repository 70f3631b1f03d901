"""Candidate fixes: patches of torch's Python source, put in place for the length of a ``with`` block.

A fix is a file that ``git apply`` takes in a checkout of PyTorch: the start of a pull request. Here it is
applied to the running torch instead. Each function that the patch changes gets the code that the patched
file would give it; the function objects stay, and so do all tables, decorators and closures that hold them.
"""

from __future__ import annotations
import __future__

import ast
import gc
import importlib
import importlib.util
import pathlib
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, TypeAlias

from unidiff.errors import UnidiffParseError
from unidiff.patch import Hunk as PatchHunk
from unidiff.patch import PatchSet

from harness.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from types import ModuleType

Key: TypeAlias = tuple[str, int]
"""Qualified name and first line: what tells the functions of a file apart."""


class FixError(UsageError):
    """A fix cannot be put in place; says which, and why."""


@dataclass(frozen=True)
class Edit:
    """Lines of a file, from ``start`` up to ``stop`` (from 0), that are to be others."""

    start: int
    stop: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Hunk:
    """One place of a patch."""

    start: int
    """The first line (from 0) in the file that the patch was made for."""
    source: tuple[str, ...]
    """What must be there, context included."""
    edits: tuple[Edit, ...]
    """Relative to the hunk's first line."""


@dataclass(frozen=True)
class Fix:
    """One patch file."""

    name: str
    message: str
    """What is at fault and why, and what the patch does about it."""
    fits: tuple[str, ...]
    """The versions of torch that it was tried with: the patch's ``Fits:`` line."""
    files: tuple[tuple[str, tuple[Hunk, ...]], ...]
    """By path in PyTorch's repository: ``torch/export/unflatten.py``."""
    diff: str
    """The patch, as it is in the file."""


def read_fixes(folder: pathlib.Path) -> dict[str, Fix]:
    """Return all fixes of a folder by name; empty if there is none. Raises FixError."""
    return {file.stem: read_fix(file) for file in sorted(folder.glob("*.patch"))}


def read_fix(file: pathlib.Path) -> Fix:
    """Read a patch file. Raises FixError."""
    try:
        text = file.read_text(encoding="utf-8")
        patches = PatchSet(text)
    except (OSError, UnicodeDecodeError, UnidiffParseError) as error:
        raise FixError(f"{file}: cannot be read as a patch: {error}") from None
    files = []
    for patch in patches:
        if not patch.is_modified_file or not patch.path.endswith(".py"):
            raise FixError(f"{file}: {patch.path}: a fix changes existing Python files only")
        files.append((patch.path, tuple(map(_hunk, patch))))
    if not files:
        raise FixError(f"{file}: holds no patch")
    message, _, diff = text.partition("\n---\n")
    fits = [line.partition(":")[2] for line in message.splitlines() if line.startswith("Fits:")]
    versions = tuple(version.strip() for line in fits for version in line.split(","))
    return Fix(file.stem, message.strip(), versions, tuple(files), diff)


def _hunk(hunk: PatchHunk) -> Hunk:
    source: list[str] = []
    edits: list[Edit] = []
    first = hunk.source_start - 1
    for line in hunk:
        text = line.value.rstrip("\n")
        at = len(source)
        if line.is_added:
            if edits and edits[-1].stop == at:
                edits[-1] = Edit(edits[-1].start, at, (*edits[-1].lines, text))
            else:
                edits.append(Edit(at, at, (text,)))
            continue
        source.append(text)
        if line.is_removed:
            if edits and edits[-1].stop == at:
                edits[-1] = Edit(edits[-1].start, at + 1, edits[-1].lines)
            else:
                edits.append(Edit(at, at + 1, ()))
    return Hunk(first, tuple(source), tuple(edits))


@contextmanager
def applied(fixes: Collection[Fix]) -> Iterator[None]:
    """Hold fixes in place. Raises FixError if one does not fit this torch, or two do not fit together."""
    from harness.observe.caches import forget_predictions

    patched = _patched(tuple(sorted(set(fixes), key=lambda fix: fix.name)))
    old = [(function, function.__code__) for function, _ in patched.codes]
    missing = object()
    before = [(space, name, space.get(name, missing)) for space, name, _ in patched.names]
    try:
        for space, name, value in patched.names:
            space[name] = value
        for function, code in patched.codes:
            function.__code__ = code
        forget_predictions()
        yield
    finally:
        for function, code in old:
            function.__code__ = code
        for space, name, value in before:
            if value is missing:
                del space[name]
            else:
                space[name] = value
        forget_predictions()


@dataclass(frozen=True)
class _Patched:
    codes: tuple[tuple[FunctionType, CodeType], ...]
    names: tuple[tuple[dict[str, object], str, object], ...]
    """What is new in a module's namespace: helpers and imports."""


@cache
def _patched(fixes: tuple[Fix, ...]) -> _Patched:
    of_file: dict[str, list[Fix]] = defaultdict(list)
    for fix in fixes:
        for path, _ in fix.files:
            of_file[path].append(fix)
    modules = {path: _module(path, of_path[0]) for path, of_path in of_file.items()}
    live = _live_functions([str(module.__file__) for module in modules.values()])
    codes: list[tuple[FunctionType, CodeType]] = []
    names: list[tuple[dict[str, object], str, object]] = []
    for path, of_path in of_file.items():
        module = modules[path]
        for chunk in _chunks(path, module, of_path):
            changed = _changed(module, chunk)
            for key, code in changed.codes:
                functions = live[str(module.__file__)].get(key, [])
                _check_replaceable(path, functions, code)
                codes.extend((function, code) for function in functions)
            names.extend((module.__dict__, name, value) for name, value in changed.names)
    return _Patched(tuple(codes), tuple(names))


def _check_replaceable(path: str, functions: list[FunctionType], code: CodeType) -> None:
    """Raise FixError where swapping the code would not do."""
    what = f"{path}, {code.co_qualname}"
    if not functions and "<locals>" not in code.co_qualname:
        raise FixError(f"{what}: this torch holds no such function")
    for function in functions:
        old = function.__code__
        if old.co_freevars != code.co_freevars:
            raise FixError(f"{what}: a fix must not change which names a function takes from around it")
        if old.co_varnames[: old.co_argcount] != code.co_varnames[: code.co_argcount]:
            raise FixError(f"{what}: a fix must not change the arguments of a function")


def _module(path: str, fix: Fix) -> ModuleType:
    import torch

    name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    with torch.random.fork_rng(devices=()):  # some modules draw random numbers when they are imported
        try:
            module = importlib.import_module(name)
        except ImportError as error:
            raise FixError(f"{fix.name}: this torch has no {path} ({error})") from None
    return module


_LIVE: dict[str, dict[Key, list[FunctionType]]] = {}
"""By file. Looking for them takes a quarter of a second, so it is done once for all files wanted."""


def _live_functions(files: Collection[str]) -> Mapping[str, Mapping[Key, list[FunctionType]]]:
    """Find every function object that was made from these files, wherever it is held."""
    missing = set(files) - set(_LIVE)
    if missing:
        _LIVE.update({file: defaultdict(list) for file in missing})
        gc.unfreeze()  # what is frozen is not listed
        for each in gc.get_objects():
            # Some of torch's objects warn when isinstance looks at them.
            if type(each) is FunctionType and each.__code__.co_filename in missing:
                code = each.__code__
                _LIVE[code.co_filename][code.co_qualname, code.co_firstlineno].append(each)
    return _LIVE


@dataclass(frozen=True)
class _Source:
    """A file of torch as it is."""

    lines: tuple[str, ...]
    statements: tuple[range, ...]
    """The lines (from 0) of each of its statements, decorators included."""
    flags: int
    """What its ``from __future__ import`` mean to a compiler."""


@cache
def _source(file: str) -> _Source:
    text = pathlib.Path(file).read_text(encoding="utf-8")
    tree = ast.parse(text)
    futures = [
        alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
        for alias in node.names
    ]
    flags = sum(getattr(__future__, name).compiler_flag for name in futures)
    spans = (range(_lines(node).start - 1, _lines(node).stop - 1) for node in tree.body)
    return _Source(tuple(text.splitlines()), tuple(spans), flags)


@dataclass(frozen=True)
class _Chunk:
    """Statements of a file that edits fall into, or the place between two where they add some.

    Fixes of different chunks know nothing of each other: a chunk is compiled once, whatever else is fixed.
    """

    start: int
    stop: int
    edits: tuple[Edit, ...]
    who: str
    """The fixes that these edits are from."""


def _chunks(path: str, module: ModuleType, fixes: Iterable[Fix]) -> list[_Chunk]:
    """Place the edits of all fixes in a file, and sort them by the statements that they change."""
    source = _source(str(module.__file__))
    edits = _placed(path, source.lines, fixes)
    chunks: list[_Chunk] = []
    for edit, fix in edits.items():
        inside = [s for s in source.statements if edit.start < s.stop and edit.stop > s.start]
        start = min([edit.start, *(s.start for s in inside)])
        stop = max([edit.stop, *(s.stop for s in inside)])
        if chunks and start < chunks[-1].stop:
            last = chunks.pop()
            who = last.who if fix.name in last.who.split(", ") else f"{last.who}, {fix.name}"
            chunks.append(_Chunk(last.start, max(last.stop, stop), (*last.edits, edit), who))
        else:
            chunks.append(_Chunk(start, stop, (edit,), fix.name))
    return chunks


def _placed(path: str, lines: tuple[str, ...], fixes: Iterable[Fix]) -> dict[Edit, Fix]:
    """Return the edits of all fixes as lines of the file, in order."""
    edits: dict[Edit, Fix] = {}
    for fix in fixes:
        for hunk in dict(fix.files)[path]:
            start = _place(lines, hunk)
            if start is None:
                raise FixError(f"{fix.name}: does not fit {path} of this torch at line {hunk.start + 1}")
            for edit in hunk.edits:
                edits[Edit(start + edit.start, start + edit.stop, edit.lines)] = fix
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.stop))
    for one, two in pairwise(ordered):
        if two.start < one.stop or two.start == one.start:
            raise FixError(f"{edits[one].name} and {edits[two].name} change the same line of {path}")
    return {edit: edits[edit] for edit in ordered}


def _place(lines: tuple[str, ...], hunk: Hunk) -> int | None:
    """Find where a hunk fits: where it says, or at the one other place."""
    size = len(hunk.source)
    if lines[hunk.start : hunk.start + size] == hunk.source:
        return hunk.start
    places = [at for at in range(len(lines) - size + 1) if lines[at : at + size] == hunk.source]
    return places[0] if len(places) == 1 else None


@dataclass(frozen=True)
class _Changed:
    codes: tuple[tuple[Key, CodeType], ...]
    """By the key that the function has in the file as it is."""
    names: tuple[tuple[str, object], ...]


@cache
def _changed(module: ModuleType, chunk: _Chunk) -> _Changed:
    """Compile a chunk as the patched file would have it, and return what of it is not as it was."""
    source = _source(str(module.__file__))
    text = _Text(source.lines, chunk)
    try:
        tree = ast.parse(text.source)
        whole = compile(text.source, str(module.__file__), "exec", source.flags, dont_inherit=True)
    except SyntaxError as error:
        raise FixError(f"{chunk.who}: {module.__name__} does not compile: {error}") from None
    codes = []
    covered = {line for node in tree.body if _is_new(node, text.added) for line in _lines(node)}
    for code, span in _functions(whole):
        touched = (text.added | text.beside) & span
        if touched and code.co_firstlineno in text.origin:
            codes.append(((code.co_qualname, text.origin[code.co_firstlineno]), code))
            covered |= touched
    outside = {line for line in text.added - covered if _is_code(text.lines[line])}
    if outside:
        raise FixError(
            f"{chunk.who}: {module.__name__}: this is in no function: {text.lines[min(outside)].strip()}"
        )
    return _Changed(tuple(codes), tuple(_new_names(module, tree, text.added, chunk.who).items()))


class _Text:
    """The patched text of a chunk. Lines count from 1, as in the whole file but for what is added before."""

    def __init__(self, old: tuple[str, ...], chunk: _Chunk) -> None:
        self.lines: dict[int, str] = {}
        self.added: set[int] = set()
        self.beside: set[int] = set()
        """Next to what is only removed: it changes whatever holds the place."""
        self.origin: dict[int, int] = {}
        """The line that an old one was before."""
        self._first = self._next = chunk.start + 1
        at = chunk.start
        for edit in chunk.edits:
            self._keep(old, at, edit.start)
            self.added |= set(range(self._next, self._next + len(edit.lines)))
            self.beside |= set() if edit.lines else {self._next - 1, self._next}
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


def _lines(node: ast.stmt) -> range:
    decorators = getattr(node, "decorator_list", [])
    return range(min([node.lineno, *(d.lineno for d in decorators)]), (node.end_lineno or node.lineno) + 1)


def _is_new(node: ast.stmt, added: set[int]) -> bool:
    movable = (ast.FunctionDef, ast.Import, ast.ImportFrom)
    return isinstance(node, movable) and set(_lines(node)) <= added


def _new_names(module: ModuleType, tree: ast.Module, added: set[int], who: str) -> dict[str, object]:
    """Run the functions and imports that a patch adds to a module, beside the module."""
    body = [node for node in tree.body if _is_new(node, added)]
    if not body:
        return {}
    space = dict(module.__dict__)
    try:
        exec(compile(ast.Module(body, []), str(module.__file__), "exec", dont_inherit=True), space)
    except Exception as error:
        raise FixError(f"{who}: what it adds to {module.__name__} raises {error!r}") from None
    new = {name: value for name, value in space.items() if module.__dict__.get(name, space) is not value}
    for name, value in list(new.items()):
        if isinstance(value, FunctionType) and value.__globals__ is space:
            # A new function must see the module as it is when it runs.
            function = FunctionType(value.__code__, module.__dict__, name, value.__defaults__)
            function.__kwdefaults__ = value.__kwdefaults__
            new[name] = function
    return new


def _functions(code: CodeType) -> Iterator[tuple[CodeType, set[int]]]:
    """Yield the functions in a code object, each with the lines that it spans."""
    for const in code.co_consts:
        if not isinstance(const, CodeType):
            continue
        yield from _functions(const)
        if const.co_flags & _OPTIMIZED:
            yield const, _span(const)


_OPTIMIZED = 0x1
"""Functions have it, bodies of classes have not."""


def _span(code: CodeType) -> set[int]:
    lines = {line for _, _, line in code.co_lines() if line}
    for const in code.co_consts:
        if isinstance(const, CodeType):
            lines |= _span(const)
    return set(range(code.co_firstlineno, max(lines, default=code.co_firstlineno) + 1))
