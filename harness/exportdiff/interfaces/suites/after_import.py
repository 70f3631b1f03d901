"""Calls a function as soon as a module is imported. Imports no torch."""

from __future__ import annotations

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


def after_import(module: str, function: Callable[[], object]) -> None:
    """Call a function after the import of a module; now, if it is imported already."""
    if module in sys.modules:
        function()
    else:
        sys.meta_path.insert(0, _Finder(module, function))


class _Finder(MetaPathFinder):
    """Finds one module, once, as Python does."""

    def __init__(self, module: str, function: Callable[[], object]) -> None:
        self._module = module
        self._function = function

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self._module:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _CallingLoader(spec.loader, self._function)
        return spec


class _CallingLoader(Loader):
    """Loads a module with its own loader, then calls a function."""

    def __init__(self, loader: Loader, function: Callable[[], object]) -> None:
        self._loader = loader
        self._function = function

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._function()
