"""Frees the memory that the path of a large model leaves behind."""

from __future__ import annotations

import ctypes
import gc
import sys
from typing import TYPE_CHECKING

from exportdiff.runtime.observing.caches import forget_compiled, forget_last_export
from exportdiff.runtime.observing.values import LargeValues

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from exportdiff.runtime.observing.tensors import State

MUCH = 16 * 2**20
"""Bytes of state from which on garbage is collected, which takes up to half a second."""


def free_path_memory(state: State | None, program: ExportedProgram | None = None) -> None:
    """Free the copies of a large model that a path has made. ``state``: that before the first call.

    Programs and modules contain reference cycles, so they stay until garbage is collected. ``program``: the
    program that further paths run; unflatten has left a reference to its result in it.
    """
    if state is None:
        return
    large = {id(t.values): t.values for t in (*state.tensors.values(), *state.constants.values())}
    if sum(values.content.nbytes for values in large.values() if isinstance(values, LargeValues)) >= MUCH:
        forget_compiled()
        forget_last_export()
        if program is not None:
            program.graph_module.meta.pop("unflattened_module", None)
        gc.collect()
        _return_memory()


def _return_memory() -> None:
    """Hand freed memory back to the system: glibc keeps what was freed in blocks of less than 32 MiB."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:  # only glibc has it
        trim(0)
