"""Candidate fixes, held in place in the running torch for the length of a ``with`` block.

Each function that a patch changes gets the code that the patched file would give it; see patching/code.py.
"""

from __future__ import annotations

import importlib
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from harness.patching.code import exchanged
from harness.patching.compiling import added_names
from harness.patching.fix import Fix, FixError, read_fix, read_fixes
from harness.patching.live import live_functions
from harness.patching.plan import plan_of, remember_plan

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from types import CodeType, FunctionType, ModuleType

__all__ = ["Fix", "FixError", "applied", "read_fix", "read_fixes", "remember"]


@contextmanager
def applied(fixes: Collection[Fix]) -> Iterator[None]:
    """Hold fixes in place. Raises FixError if one does not fit this torch, or two do not fit together."""
    # Imported here because it imports torch, and reading fixes (``corpus list``) does not need torch.
    from harness.observe.caches import forget_predictions

    patched = _patched(_ordered(fixes))
    missing = object()
    before = [(space, name, space.get(name, missing)) for space, name, _ in patched.names]
    try:
        for space, name, value in patched.names:
            space[name] = value
        with exchanged(patched.codes):
            forget_predictions()
            yield
    finally:
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
    modules = _modules(fixes)
    plan = plan_of(fixes, _files(modules))
    live = live_functions([str(module.__file__) for module in modules.values()])
    codes: list[tuple[FunctionType, CodeType]] = []
    names: list[tuple[dict[str, object], str, object]] = []
    for path, chunks in plan.items():
        module = modules[path]
        for changed in chunks:
            for key, code in changed.codes:
                functions = live[str(module.__file__)].get(key, [])
                _check_replaceable(path, functions, code)
                codes.extend((function, code) for function in functions)
            names.extend((module.__dict__, *new) for new in added_names(module, changed).items())
    return _Patched(tuple(codes), tuple(names))


def remember(fixes: Collection[Fix], folder: pathlib.Path) -> None:
    """Read from ``folder`` what holding these fixes takes, or write it there: compiling takes seconds.

    Raises FixError if they do not fit this torch, or not together.
    """
    ordered = _ordered(fixes)
    remember_plan(ordered, _files(_modules(ordered)), folder)


def _ordered(fixes: Collection[Fix]) -> tuple[Fix, ...]:
    return tuple(sorted(set(fixes), key=lambda fix: fix.name))


def _modules(fixes: Iterable[Fix]) -> dict[str, ModuleType]:
    """Import what fixes change, by path."""
    return {path: _module(path, fix.name) for fix in fixes for path, _ in fix.files}


def _files(modules: Mapping[str, ModuleType]) -> dict[str, str]:
    return {path: str(module.__file__) for path, module in modules.items()}


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


def _module(path: str, who: str) -> ModuleType:
    import torch  # for the same reason as above

    name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    with torch.random.fork_rng(devices=()):  # some modules draw random numbers when they are imported
        try:
            module = importlib.import_module(name)
        except ImportError as error:
            raise FixError(f"{who}: this torch has no {path} ({error})") from None
    return module
