"""Applies candidate fixes to the running torch while a ``with`` block runs.

Each function that a patch changes gets the code that it has in the patched file; see patching/code.py.
"""

from __future__ import annotations

import builtins
import importlib
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING, Any

from exportdiff.core.torch_versions import torch_version
from exportdiff.runtime.patching.binding import check_bound
from exportdiff.runtime.patching.code import Defaults, exchanged
from exportdiff.runtime.patching.compiling import added_names
from exportdiff.runtime.patching.fix import Fix, FixError, read_candidates, read_fix
from exportdiff.runtime.patching.live import live_functions
from exportdiff.runtime.patching.plan import plan_of, remember_plan
from exportdiff.runtime.patching.replaceable import calls_with_old_code, is_nested, outermost
from exportdiff.runtime.patching.setting import Entries, classes_with, tables_with

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from types import CodeType, ModuleType

__all__ = ["Fix", "FixError", "applied", "read_candidates", "read_fix"]


def read_fixes(folder: pathlib.Path) -> dict[str, Fix]:
    """Return all fixes of a folder by name, each as the patch that ``choose_patch`` returns.

    An empty dict if there are none. Raises FixError.
    """
    return choose_patches(read_candidates(folder))


def choose_patches(fixes: Mapping[str, tuple[Fix, ...]]) -> dict[str, Fix]:
    """Return the patch that ``choose_patch`` returns for each fix, with one search for their functions."""
    find_functions(fix for candidates in fixes.values() if len(candidates) > 1 for fix in candidates)
    return {name: choose_patch(candidates) for name, candidates in fixes.items()}


def choose_patch(candidates: tuple[Fix, ...]) -> Fix:
    """Return the first patch of a fix that fits this torch; if none does, NAME.patch, or else the first.

    In this order: those for this torch or an older one, the newest first; NAME.patch; those for a newer one.
    """
    if len(candidates) == 1:
        return candidates[0]
    here = _numbers(torch_version())

    def order(fix: Fix) -> tuple[int, tuple[int, ...]]:
        numbers = _numbers(fix.version)
        if not numbers:
            return 1, ()
        # 2.5.1 before 2.5
        return (0, (*(-number for number in numbers), 1)) if numbers <= here else (2, numbers)

    ordered = sorted(candidates, key=order)
    plain = next((fix for fix in ordered if not fix.version), ordered[0])
    return next((fix for fix in ordered if not why_not_applicable(fix)), plain)


def _numbers(release: str) -> tuple[int, ...]:
    parts = release.partition("+")[0].split(".")
    return tuple(int(part) for part in parts if part.isdigit())


def find_functions(fixes: Iterable[Fix]) -> None:
    """Find the functions that the fixes change. A search of all files takes as long as a search of one."""
    files = []
    for fix in fixes:
        with suppress(FixError):
            files += list(_files(_modules((fix,))).values())
    live_functions(files)


def why_not_applicable(fix: Fix) -> str:
    """Say why a fix does not fit this torch; empty if it does. Changes nothing."""
    try:
        _patched((fix,))
    except FixError as error:
        return str(error)
    return ""


@contextmanager
def applied(fixes: Collection[Fix]) -> Iterator[None]:
    """Apply fixes to torch. Raises FixError if a fix does not fit this torch, or two fixes conflict.

    The names that fixes add to a module stay after the block: hooks, compiled functions and finalizers that
    their code made may run later and need them. Nothing else in torch reads these names.
    """
    # Imported here because it imports torch, and reading fixes (``corpus list``) does not need torch.
    from exportdiff.runtime.observing.caches import forget_loaded_structures, forget_predictions

    patched = _patched(_ordered(fixes))
    missing = object()
    before = [(space, name, space.get(name, missing)) for space, name, _ in patched.names]
    try:
        for space, name, value in patched.names:
            space[name] = value
        with (
            tables_with(patched.tables),
            classes_with(patched.classes),
            exchanged(patched.codes, patched.defaults),
        ):
            forget_predictions()
            forget_loaded_structures()
            yield
    finally:
        for space, name, value in before:
            if value is not missing:
                space[name] = value
        forget_predictions()
        forget_loaded_structures()


def fixes_that_raised(error: BaseException, fixes: Collection[Fix]) -> tuple[str, ...]:
    """Return the names of the fixes in whose functions an exception was raised; usually none.

    The innermost of their functions counts: it raised the exception, or called a function that did.
    """
    patched = _patched(_ordered(fixes))
    guilty: tuple[str, ...] = ()
    at = error.__traceback__
    while at is not None:
        guilty = patched.fixes_of.get(id(at.tb_frame.f_code), guilty)
        at = at.tb_next
    return guilty


def changed_lines(fixes: Collection[Fix]) -> Mapping[int, Mapping[int, str]]:
    """Return which lines of which code objects fixes change: ``id`` of the code, line, name of the fix.

    Raises FixError.
    """
    return _patched(_ordered(fixes)).lines_of


def fixes_of_values(fixes: Collection[Fix]) -> frozenset[str]:
    """Return the fixes that also change what any code may read: tables, members of classes, defaults.

    Raises FixError.
    """
    return _patched(_ordered(fixes)).of_values


@dataclass(frozen=True)
class _Patched:
    codes: tuple[tuple[FunctionType, CodeType], ...]
    """The changed functions, each with its new code."""
    names: tuple[tuple[dict[str, object], str, object], ...]
    """The new functions and imports: the namespace of a module, a name, and its value."""
    defaults: tuple[tuple[FunctionType, Defaults], ...]
    """The functions with other arguments, each with its new defaults."""
    tables: tuple[Entries, ...]
    """The sets and dicts of torch that get entries, each with these."""
    classes: tuple[tuple[ModuleType, type, CodeType], ...]
    """The classes that get members: their modules, the classes, and code that defines a class of these."""
    fixes_of: Mapping[int, tuple[str, ...]]
    """The fixes that changed a code object, by its ``id``, because several fixes may have equal code."""
    lines_of: Mapping[int, Mapping[int, str]]
    """The lines of a code object that fixes have changed, each with the name of the fix; by its ``id``."""
    of_values: frozenset[str]
    """The fixes with tables, classes or defaults."""


_ADDED: dict[str, set[str]] = {}
"""By module, the names that fixes have added: without the fixes, the module does not have them."""


@cache
def _patched(fixes: tuple[Fix, ...]) -> _Patched:
    modules = _modules(fixes)
    plan = plan_of(fixes, _files(modules))
    live = live_functions([str(module.__file__) for module in modules.values()])
    codes: list[tuple[FunctionType, CodeType]] = []
    names: list[tuple[dict[str, object], str, object]] = []
    fixes_of: dict[int, tuple[str, ...]] = {}
    lines_of: dict[int, Mapping[int, str]] = {}
    defaults: list[tuple[FunctionType, Defaults]] = []
    tables: list[Entries] = []
    classes: list[tuple[ModuleType, type, CodeType]] = []
    for path, chunks in plan.items():
        module = modules[path]
        ours = _ADDED.setdefault(module.__name__, set())
        own = {name: value for name, value in module.__dict__.items() if name not in ours}
        added = {id(changed): added_names(module, own, changed) for changed in chunks}
        _check_names(path, [(changed.fix_names, added[id(changed)]) for changed in chunks])
        bound = {**own, **{name: value for new in added.values() for name, value in new.items()}}
        ours |= bound.keys() - own.keys()
        readable = {**vars(builtins), **bound}
        functions_of = live[str(module.__file__)]
        earlier = calls_with_old_code(
            path,
            [each for changed in chunks for each in changed.codes],
            functions_of,
            {key for changed in chunks for key, _ in changed.defaults},
        )
        for changed in chunks:
            here, lines = tuple(changed.fix_names.split(", ")), dict(changed.lines)
            reads = dict(changed.reads)
            for key, code in changed.codes:
                functions = functions_of.get(key, [])
                if not is_nested(code):  # else it is part of the code of the function around it
                    place = f"{changed.fix_names}: {path}, {code.co_qualname}"
                    check_bound(place, reads[code], [each.__code__ for each in functions], readable)
                elif outermost(code) in earlier:
                    functions = []
                codes.extend((function, code) for function in functions)
                fixes_of |= dict.fromkeys(map(id, _inside(code)), here)
                lines_of |= {id(each): lines for each in _inside(code)}
            for key, expression in changed.defaults:
                pair = _evaluated(expression, bound, f"{changed.fix_names}: {path}, {key[0]}")
                defaults.extend((function, pair) for function in functions_of.get(key, ()))
            for name, expression in changed.tables:
                entries = _evaluated(expression, bound, f"{changed.fix_names}: {path}, {name}")
                tables.append((module.__dict__[name], entries))
            for name, definition in changed.classes:
                place = f"{changed.fix_names}: {path}, {name}"
                classes.append((module, _class_named(name, own, place), definition))
                for code in _inside(definition):
                    check_bound(place, reads.get(code, ()), [], readable)
                    fixes_of[id(code)], lines_of[id(code)] = here, lines
            for name, value in added[id(changed)].items():
                if isinstance(value, FunctionType) and value.__globals__ is module.__dict__:
                    place = f"{changed.fix_names}: {path}, {name}"
                    # What a new decorator returns is checked as a part of the decorator.
                    check_bound(place, reads.get(value.__code__, ()), [], readable)
                    fixes_of |= dict.fromkeys(map(id, _inside(value.__code__)), here)
                    lines_of |= {id(each): lines for each in _inside(value.__code__)}
                names.append((module.__dict__, name, value))
    of_values = [
        each.fix_names.split(", ")
        for chunks in plan.values()
        for each in chunks
        if each.tables or each.classes or each.defaults
    ]
    return _Patched(
        tuple(codes),
        tuple(names),
        tuple(defaults),
        tuple(tables),
        tuple(classes),
        fixes_of,
        lines_of,
        frozenset(name for names in of_values for name in names),
    )


def _evaluated(expression: CodeType, bound: Mapping[str, object], place: str) -> Any:
    """Return the value of an expression of a fix. Raises FixError if this torch cannot compute it."""
    try:
        return eval(expression, dict(bound))
    except Exception as error:
        raise FixError(f"{place}: {error!r}") from None


def _class_named(name: str, own: Mapping[str, object], place: str) -> type:
    first, *rest = name.split(".")
    found = own.get(first)
    for each in rest:
        found = getattr(found, each, None)
    if not isinstance(found, type):
        raise FixError(f"{place}: this torch has no such class")
    return found


def _check_names(path: str, added: Iterable[tuple[str, Mapping[str, object]]]) -> None:
    """Raise FixError if fixes add different functions of one name to a file: one would replace the other."""
    first: dict[str, tuple[str, object]] = {}
    for fix_names, values in added:
        for name, value in values.items():
            other, earlier = first.setdefault(name, (fix_names, value))
            if getattr(earlier, "__code__", earlier) != getattr(value, "__code__", value):
                raise FixError(f"{other}, {fix_names} add different functions called {name}")


def _inside(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object, and those of the functions inside of it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, type(code)):
            yield from _inside(const)


def remember(fixes: Collection[Fix], folder: pathlib.Path) -> None:
    """Cache the compiled fixes in ``folder``, because compiling them takes seconds.

    Raises FixError if a fix does not fit this torch, or two fixes conflict.
    """
    ordered = _ordered(fixes)
    remember_plan(ordered, _files(_modules(ordered)), folder)


def _ordered(fixes: Collection[Fix]) -> tuple[Fix, ...]:
    return tuple(sorted(set(fixes), key=lambda fix: fix.name))


def _modules(fixes: Iterable[Fix]) -> dict[str, ModuleType]:
    """Import the modules that the fixes change; return them by path."""
    return {path: _module(path, fix.name) for fix in fixes for path, _ in fix.files}


def _files(modules: Mapping[str, ModuleType]) -> dict[str, str]:
    return {path: str(module.__file__) for path, module in modules.items()}


def _module(path: str, fix_name: str) -> ModuleType:
    import torch  # as in ``applied``: reading fixes does not need torch

    name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    with torch.random.fork_rng(devices=()):  # some modules draw random numbers when they are imported
        with suppress(ImportError):
            return importlib.import_module(name)
        try:
            # Some modules and Dynamo import each other: with them first, torch 2.14 finds them half done.
            importlib.import_module("torch._dynamo")
            return importlib.import_module(name)
        except ImportError as error:
            raise FixError(f"{fix_name}: this torch has no {path} ({error})") from None
