"""Failure: an exception as plain data."""

from __future__ import annotations

import pathlib
from dataclasses import dataclass, field
from traceback import walk_tb
from typing import TYPE_CHECKING

import torch

from exportdiff.runtime.observing.portable_messages import without_process_details

if TYPE_CHECKING:
    from exportdiff.core.finding import Stage

_TORCH = str(pathlib.Path(torch.__file__).parent)
_EXPORTDIFF = str(pathlib.Path(__file__).parents[2])


@dataclass(frozen=True)
class Failure:
    """An exception, without its traceback, which would keep the model and its tensors alive."""

    stage: Stage
    types: tuple[str, ...]
    """Qualified names of the exception's class and its bases, most derived first."""
    message: str
    """The same in every process: without addresses, folders of the build, and counts of generated code."""
    frames: tuple[str, ...]
    """``file:function`` of the innermost informative frames inside torch, innermost last."""
    by_torch: bool = False
    """Whether torch's own Python code made the call that failed, rather than the model or another library."""

    line: str = field(default="", compare=False)
    """The innermost line outside torch and exportdiff: ``model.py, line 12``; empty if there is none."""

    @property
    def name(self) -> str:
        """The exception class, as one would write it in an ``except``."""
        return self.types[0].rpartition(".")[2]


# Frames that any error passes through say nothing about the cause.
_PLUMBING = {
    "__init__.py:export",
    "_trace.py:_export",
    "_trace.py:_export_for_training",
    "_trace.py:wrapper",
    "exported_program.py:wrapper",
    "unflatten.py:forward",
    "_ops.py",
    "_stats.py",
    "_contextlib.py",
    "_utils.py",
    "_utils_internal.py",
    "interpreter.py",
    "graph_module.py",
    "module.py",
    "functional.py",
    "eval_frame.py",
}


def is_plumbing(frame: str) -> bool:
    """Whether any error may pass through a frame, so that it says nothing about the cause."""
    return frame in _PLUMBING or frame.partition(":")[0] in _PLUMBING


_DISPATCH = {"__torch_function__", "__torch_dispatch__", "handle_torch_function", "__array__"}
"""Functions of torch that stand between a caller and the operator or method that it calls."""


_COMPREHENSIONS = {"<listcomp>", "<dictcomp>", "<setcomp>"}
"""Frames that exist before Python 3.12 only: signatures leave them out, so that they are equal everywhere."""


def failure(error: BaseException, stage: Stage) -> Failure:
    """Return an exception as plain data."""
    codes = [frame.f_code for frame, _ in walk_tb(error.__traceback__)]
    callers = [code.co_filename for code in codes if code.co_name not in _DISPATCH]
    frames = [
        f"{pathlib.Path(code.co_filename).name}:{code.co_name}"
        for code in codes
        if code.co_filename.startswith(_TORCH) and code.co_name not in _COMPREHENSIONS
    ]
    informative = [frame for frame in frames if not is_plumbing(frame)]
    return Failure(
        stage=stage,
        types=tuple(
            f"{base.__module__}.{base.__qualname__}".removeprefix("builtins.")
            for base in type(error).__mro__[:-2]  # without BaseException and object
        ),
        message=without_process_details(str(error)),
        frames=tuple((informative or frames)[-3:]),
        by_torch=bool(callers) and callers[-1].startswith(_TORCH),
        line=_own_line(error),
    )


def _own_line(error: BaseException) -> str:
    """Return the innermost line of the error that is not in torch or exportdiff."""
    lines = [
        f"{pathlib.Path(frame.f_code.co_filename).name}, line {number}"
        for frame, number in walk_tb(error.__traceback__)
        if not frame.f_code.co_filename.startswith((_TORCH, _EXPORTDIFF, "<"))
    ]
    return lines[-1] if lines else ""
