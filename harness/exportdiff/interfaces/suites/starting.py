"""Starts recording in a process of any command, when it imports torch. Imports no torch."""

from __future__ import annotations

import atexit
import os
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING

from exportdiff.interfaces.suites.session import JudgeSettings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

VARIABLE = "EXPORTDIFF_JUDGE"
"""The environment variable with the settings for the processes of a command."""
LAST = "torch.export"
"""The module of torch after whose import the functions can be replaced. ``import torch`` imports it."""


def record_when_torch_is_imported() -> None:
    """Begin as soon as torch is there; do nothing if the environment has no settings."""
    if VARIABLE in os.environ:
        sys.meta_path.insert(0, _Finder(JudgeSettings.from_text(os.environ[VARIABLE])))


class _Finder(MetaPathFinder):
    """Finds one module, once, as Python does, and begins after its import."""

    def __init__(self, settings: JudgeSettings) -> None:
        self._settings = settings

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != LAST:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Beginning(spec.loader, self._settings)
        return spec


class _Beginning(Loader):
    """Loads a module with its own loader, then begins."""

    def __init__(self, loader: Loader, settings: JudgeSettings) -> None:
        self._loader = loader
        self._settings = settings

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        recorder = self._settings.recorder()
        recorder.install()
        atexit.register(recorder.finish)
