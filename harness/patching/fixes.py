"""Candidate fixes, held in place in the running torch for the length of a ``with`` block.

Each function that a patch changes gets the code that the patched file would give it; see patching/code.py.
"""

from __future__ import annotations

import importlib
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from harness.patching.code import exchanged
from harness.patching.compiling import changed_by
from harness.patching.fix import Fix, FixError, read_fix, read_fixes
from harness.patching.live import live_functions
from harness.patching.placing import chunks_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from types import CodeType, FunctionType, ModuleType

__all__ = ["Fix", "FixError", "applied", "read_fix", "read_fixes"]


@contextmanager
def applied(fixes: Collection[Fix]) -> Iterator[None]:
    """Hold fixes in place. Raises FixError if one does not fit this torch, or two do not fit together."""
    # Imported here because it imports torch, and reading fixes (``corpus list``) does not need torch.
    from harness.observe.isolation import forget_predictions

    patched = _patched(tuple(sorted(set(fixes), key=lambda fix: fix.name)))
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
    of_file: dict[str, list[Fix]] = defaultdict(list)
    for fix in fixes:
        for path, _ in fix.files:
            of_file[path].append(fix)
    modules = {path: _module(path, of_path[0]) for path, of_path in of_file.items()}
    live = live_functions([str(module.__file__) for module in modules.values()])
    codes: list[tuple[FunctionType, CodeType]] = []
    names: list[tuple[dict[str, object], str, object]] = []
    for path, of_path in of_file.items():
        module = modules[path]
        for chunk in chunks_of(path, module, of_path):
            changed = changed_by(module, chunk)
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
    import torch  # for the same reason as above

    name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    with torch.random.fork_rng(devices=()):  # some modules draw random numbers when they are imported
        try:
            module = importlib.import_module(name)
        except ImportError as error:
            raise FixError(f"{fix.name}: this torch has no {path} ({error})") from None
    return module
