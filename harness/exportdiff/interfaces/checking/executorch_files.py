"""Reads .pte files: whether the runtime of ExecuTorch takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError

if TYPE_CHECKING:
    import pathlib

METHOD = "forward"
"""The method that is called."""


def check_pte(file: pathlib.Path, written: pathlib.Path) -> None:
    """Raise UsageError if the runtime does not load the method of the file."""
    from executorch.runtime import Runtime

    try:
        names = Runtime.get().load_program(file).method_names
    except Exception as error:
        first = next(iter(str(error).splitlines()), "")
        raise UsageError(f"--program {written}: executorch.runtime does not load it: {first}") from None
    if METHOD not in names:
        listed = ", ".join(sorted(names))
        raise UsageError(f"--program {written}: it has no method {METHOD!r}; it has {listed}")
