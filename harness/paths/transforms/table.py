"""What a transform is, and the table of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

At: TypeAlias = Literal["case", "export", "program", "module"]

ORDER: tuple[At, ...] = ("case", "export", "program", "module")
"""The order in which transforms apply, and in which a path names them."""

Aspect: TypeAlias = Literal["hierarchy", "state", "gradients", "edits", "deviations"]
"""What an observation holds that a transform may not promise to keep."""

Function: TypeAlias = Callable[..., Any]


@dataclass(frozen=True)
class Transform:
    """One piece that can be put between a model and what runs.

    ``function`` is plain torch and speaks of nothing of this project: repro files show its text.

    ===========  ==================================================================================
    ``at``       what ``function`` takes and returns
    ===========  ==================================================================================
    ``case``     a fresh model -> the model that eager runs and that is exported
    ``export``   the model -> further keyword arguments of ``torch.export.export``
    ``program``  an ExportedProgram, and ``options`` where it exports -> another ExportedProgram
    ``module``   what the runner made, and the model where ``wants_model`` -> what is called
    ===========  ==================================================================================
    """

    name: str
    at: At
    function: Function
    promise: str
    """In a line: the first one of the function's docstring."""
    on: tuple[str, ...]
    """The paths that it is listed with: ``mode:runner``, with what else it needs: ``preserve``."""
    sizes: bool = False
    """Of a case: whether it takes ``(model, args, kwargs)`` and returns dynamic shapes, and probes."""
    exports: bool = False
    """Of a program: whether it exports once more, and so gets the spec of dynamic shapes and the mode."""
    wants_model: bool = False
    """Of a module: whether it gets a fresh eager model as well."""
    in_eager: bool = False
    """Of a module: whether the same is done to the eager model that it is compared with."""
    apart: bool = False
    """Whether the result must share no memory with what went in. It has an export of its own: copying reaches
    what running another path leaves behind (corpora/open/unflatten_leaves_program_uncopyable.py)."""
    in_place: bool = False
    """Of a program: whether it changes the program itself; then it has an export of its own as well."""
    same_operators: bool = True
    """Whether what runs are the operators that eager runs."""
    drops: frozenset[Aspect] = frozenset()
    """What is not compared, because nobody promises it."""
    cost: float = 30.0
    """Milliseconds that it adds to a path, for a model of the usual size."""


TRANSFORMS: dict[str, Transform] = {}
"""By name, in the canonical order."""


def transform(
    at: At,
    *on: str,
    sizes: bool = False,
    exports: bool = False,
    wants_model: bool = False,
    in_eager: bool = False,
    apart: bool = False,
    in_place: bool = False,
    same_operators: bool = True,
    drops: tuple[Aspect, ...] = (),
    cost: float = 30.0,
) -> Callable[[Function], Function]:
    """Enter a transform; the function's name and docstring become its."""

    def enter(function: Function) -> Function:
        name = function.__name__
        promise = (function.__doc__ or "").partition("\n")[0]
        TRANSFORMS[name] = Transform(
            name,
            at,
            function,
            promise,
            on,
            sizes,
            exports,
            wants_model,
            in_eager,
            apart,
            in_place,
            same_operators,
            frozenset(drops),
            cost,
        )
        return function

    return enter
