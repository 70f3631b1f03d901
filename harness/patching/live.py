"""The function objects that a running process holds of a source file, wherever they are referenced."""

from __future__ import annotations

import gc
from collections import defaultdict
from types import FunctionType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from harness.patching.compiling import Key

_LIVE: dict[str, dict[Key, list[FunctionType]]] = {}
"""By file. Looking for them takes a quarter of a second, so it is done once for all files wanted."""


def live_functions(files: Collection[str]) -> Mapping[str, Mapping[Key, list[FunctionType]]]:
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
