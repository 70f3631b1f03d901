"""Notes at which line the ``forward`` of a model returned."""

from __future__ import annotations

import contextlib
import linecache
import sys
from typing import TYPE_CHECKING

from exportdiff.runtime.observing.code_places import CodePlace, is_of_user

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from torch import nn


def _is_return(file: str, line: int) -> bool:
    return linecache.getline(file, line).lstrip().startswith("return")


@contextlib.contextmanager
def noted_returns(model: nn.Module, note: Callable[[CodePlace], None]) -> Iterator[None]:
    """Call ``note`` when ``forward`` of the class of ``model`` returns. The last return is the model itself.

    Nothing is noted for a ``forward`` that belongs to torch.
    """
    code = getattr(type(model).forward, "__code__", None)
    if code is None or not is_of_user(code.co_filename):
        yield
        return

    def profile(frame: FrameType, event: str, argument: object) -> None:
        # A with statement around the return statement ends after it, and has a line of its own.
        if event == "return" and frame.f_code is code and _is_return(code.co_filename, frame.f_lineno):
            note(CodePlace("", 1, code.co_filename, frame.f_lineno))

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(before)
