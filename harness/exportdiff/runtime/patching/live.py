"""Finds all function objects in this process that come from a source file."""

from __future__ import annotations

import gc
import sys
from collections import defaultdict
from types import FrameType, FunctionType, ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from exportdiff.runtime.patching.compiling import Key

_LIVE: dict[str, dict[Key, list[FunctionType]]] = {}
"""The functions by file. A search takes 0.25 s, so one search covers all missing files."""


def live_functions(files: Collection[str]) -> Mapping[str, Mapping[Key, list[FunctionType]]]:
    """Return all function objects that were created from these files, by file and by key."""
    missing = set(files) - set(_LIVE)
    if missing:
        _LIVE.update({file: defaultdict(list) for file in missing})
        frozen = gc.get_freeze_count()
        gc.unfreeze()  # get_objects does not list frozen objects
        for each in gc.get_objects():
            # With isinstance, some of torch's objects would print a warning.
            if type(each) is FunctionType and each.__code__.co_filename in missing:
                code = each.__code__
                _LIVE[code.co_filename][code.co_qualname, code.co_firstlineno].append(each)
        if frozen:
            gc.freeze()  # or each collection of garbage would take a third of a second
    return _LIVE


def belongs_to_package(functions: Iterable[FunctionType], package: str) -> bool:
    """Whether a package refers to one of these functions: as a decorated function, in a table, in a class.

    If not, only the caller of the package has them, such as a compiled model. A search takes seconds.
    """
    wanted = {id(each) for each in functions}
    modules = [each for each in list(sys.modules.values()) if type(each) is ModuleType]
    own = [each for each in modules if each.__name__.partition(".")[0] == package]
    # Dynamo gives names such as __compiled_fn_1 in torch's modules to the functions that it makes for a user.
    todo = [value for each in own for name, value in list(vars(each).items()) if name[:2] != "__"]
    # A function refers to the namespace of its module: that must not lead to the user's modules.
    seen = {*map(id, modules), *(id(vars(each)) for each in modules), id(todo)}
    while todo:
        each = todo.pop()
        if id(each) in seen or type(each) in (FrameType, ModuleType):
            continue
        if id(each) in wanted:
            return True
        seen.add(id(each))
        todo += gc.get_referents(each)
    return False
