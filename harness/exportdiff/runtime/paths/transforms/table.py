"""What a transform is, and the table of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

At: TypeAlias = Literal["case", "setting", "export", "program", "module"]

ORDER: tuple[At, ...] = ("case", "setting", "export", "program", "module")
"""The order in which transforms apply, and in which a path names them."""

Aspect: TypeAlias = Literal[
    "hierarchy",
    "state",
    "gradients",
    "edits",
    "deviations",
    "predictions",
    "updates",
    "writes",
    "aliasing",
    "history",
    "layout",
    "sizes",
]
"""A part of an observation that a transform or a runner need not keep. The last six are of backends alone:
the updates of the state that later calls see, in-place writes to inputs, shared memory, requires_grad,
strides, and calls with other sizes."""

Function: TypeAlias = Callable[..., Any]


@dataclass(frozen=True)
class Transform:
    """One step between the model and what runs.

    ``function`` uses torch only and nothing of this project, because repro files contain its text.

    ===========  ==================================================================================
    ``at``       what ``function`` takes and returns
    ===========  ==================================================================================
    ``case``     a fresh model -> the model that eager runs and that is exported
    ``setting``  nothing -> a context manager in which the model is exported and lowered
    ``export``   the model -> further keyword arguments of ``torch.export.export``
    ``program``  an ExportedProgram, and ``options`` where it exports -> another ExportedProgram
    ``module``   the runner's result, further the program and the model if wanted -> what is called.
                 ``alone``: the program -> what is called
    ===========  ==================================================================================
    """

    name: str
    at: At
    function: Function
    promise: str
    """What must hold for every model, in a line: the first line of the function's docstring."""
    on: tuple[str, ...]
    """The paths to add it to: ``mode:runner``, with other transforms if it needs them, as ``preserve``."""
    sizes: bool = False
    """For a case: whether it takes ``(model, args, kwargs)`` and returns dynamic shapes, and probes."""
    exports: bool = False
    """For a program: whether it exports again, and so gets the spec of dynamic shapes and the mode."""
    wants_model: bool = False
    """For a module: whether it also gets a fresh eager model."""
    wants_program: bool = False
    """For a module: whether it also gets the program that was lowered, before the model."""
    alone: bool = False
    """For a module: whether it takes the program instead of the runner's result. Then the runner does not
    run, because what the runner refuses does not concern the result."""
    runner: str = ""
    """For a module: the only runner whose result it takes; empty: any that returns modules."""
    after: str = ""
    """The transform without which nothing is promised; no transform between the two may export again."""
    in_eager: bool = False
    """For a module or a setting: whether it is also applied to the eager reference, or to its calls. Without
    it, a setting must change no result of eager."""
    calls_often: bool = False
    """Whether a call of the result is many calls; then eager may change nothing that export fixes."""
    copies: bool = False
    """Whether it copies, so that the result must not share memory with the original. Then it has a separate
    export, because other paths make a program impossible to copy
    (corpora/open/unflatten_leaves_program_uncopyable.py)."""
    in_place: bool = False
    """For a program: whether it changes the program in place; then it also has a separate export."""
    includes: tuple[str, ...] = ()
    """Transforms whose steps it takes as well, so that their bugs show on its paths too."""
    same_operators: bool = True
    """Whether it keeps the operators that eager runs."""
    for_inference: bool = False
    """For a program: whether the result is traced under no_grad, and is for inference alone."""
    frees: bool = False
    """For a program: whether the path also looks for weights that stay in memory when all else is gone."""
    narrows: bool = False
    """For an export: whether the program may refuse sizes that the spec of dynamic shapes allows."""
    not_promised: tuple[Aspect, ...] = ()
    """What is not compared, because torch does not promise it."""
    cost: float = 30.0
    """Milliseconds that it adds to a path, for a model of the usual size."""
    needs: tuple[str, ...] = ()
    """Names of torch that it uses and not every supported version has; without one its paths are left out."""


TRANSFORMS: dict[str, Transform] = {}
"""By name, in the canonical order."""


def transform(at: At, *on: str, **options: Any) -> Callable[[Function], Function]:
    """Add the decorated function to the table, under its name. ``options``: further fields of Transform."""

    def enter(function: Function) -> Function:
        promise = (function.__doc__ or "").partition("\n")[0]
        name = function.__name__
        TRANSFORMS[name] = Transform(name, at, function, promise, on, **options)
        return function

    return enter
