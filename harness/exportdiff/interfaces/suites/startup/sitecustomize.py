"""Python runs this file at its start, because ``exportdiff judge`` puts its folder first on ``PYTHONPATH``.

It lets calls of torch be recorded as soon as torch is imported, and then runs the file of this name that the
environment has, if there is one.
"""

import importlib.machinery
import importlib.util
import pathlib
import sys

_here = str(pathlib.Path(__file__).resolve().parent)
sys.path[:] = [folder for folder in sys.path if str(pathlib.Path(folder or ".").resolve()) != _here]

try:
    from exportdiff.interfaces.suites.starting import record_when_torch_is_imported

    record_when_torch_is_imported()
except ImportError as error:
    print(f"exportdiff judge: no export judged; install it for {sys.executable}: {error}", file=sys.stderr)

_own = importlib.machinery.PathFinder.find_spec("sitecustomize")
if _own is not None and _own.loader is not None:
    _own.loader.exec_module(importlib.util.module_from_spec(_own))
