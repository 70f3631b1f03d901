"""A call of an API as the suite made it, and its line."""

from __future__ import annotations

import contextlib
import functools
import os
import pathlib
import sysconfig
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from exportdiff.core.own_code import PACKAGE
from exportdiff.core.torch_versions.names import torch_folder
from exportdiff.interfaces.suites.judged_call import Place, Unjudgeable

if TYPE_CHECKING:
    import inspect
    from collections.abc import Mapping
    from types import FrameType

    from exportdiff.interfaces.suites.apis import Api, Call

RUNNING_TEST = "PYTEST_CURRENT_TEST"
"""The environment variable in which pytest names the running test."""


@dataclass(frozen=True)
class Seen:
    """A call of an API, with the values of the suite."""

    api: Api
    place: Place
    signature: inspect.Signature
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    inputs: Mapping[str, Any] = field(default_factory=dict)
    """Those of the first call of a compiled model."""

    def read(self) -> Call | Unjudgeable:
        """Return what the call asks torch to do, or why it cannot be judged."""
        try:
            bound = self.signature.bind(*self.args, **self.kwargs)
        except TypeError as error:
            return Unjudgeable("the arguments are not those of an export", str(error))
        bound.apply_defaults()
        return self.api.read({**bound.arguments, **self.inputs})


def place_of(api: Api, frame: FrameType) -> Place:
    """Return the innermost line outside of torch, of Python's library, and of exportdiff."""
    found: FrameType | None = frame
    while found is not None and _is_of_a_library(found.f_code.co_filename):
        found = found.f_back
    if found is None:
        found = frame
    file = found.f_code.co_filename
    with contextlib.suppress(OSError, ValueError):  # the current folder is gone, or the file is elsewhere
        file = str(pathlib.Path(file).relative_to(pathlib.Path.cwd()))
    test = os.environ.get(RUNNING_TEST, "").rpartition(" ")[0]
    return Place(str(api), file, found.f_lineno, test)


@functools.cache
def _is_of_a_library(file: str) -> bool:
    folders = (str(torch_folder()), sysconfig.get_path("stdlib"), str(PACKAGE))
    installed = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
    if file.startswith(("<", folders[0], folders[2])):
        return True
    return file.startswith(folders[1]) and not file.startswith(installed)
