"""``--around``: load the model that a campaign puts into situations."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from exportdiff.core.errors import UsageError

# Functions import the modules that import torch, so that ``exportdiff --help`` starts fast.
if TYPE_CHECKING:
    from collections.abc import Callable

    from exportdiff.fuzzing.around.model import Around, UnusableModel

T = TypeVar("T")

SECONDS = 300.0
"""Time limit for importing a model and running it once, or for listing the models of the zoo."""


def chosen_around(written: str) -> Around:
    """Return the named model, after running it once in a child process. Raises UsageError."""
    from exportdiff.fuzzing.around.loading import read_around

    around = _of_zoo(written) if _names_zoo(written) else read_around(written)
    drawn_around(around, 0, None)
    return around


def drawn_around(around: Around, seed: int, example: int | None) -> tuple[str, tuple[str, ...]]:
    """Return the source and the tags of a program; None: of the model alone. Raises UsageError."""
    from exportdiff.fuzzing.around.loading import drawn_or_refused

    return _model_in_child(around.written, drawn_or_refused, around, seed, example)


def _names_zoo(written: str) -> bool:
    return "/" in written and ":" not in written


def _of_zoo(written: str) -> Around:
    from exportdiff.lab.zoo.as_source import around_named
    from exportdiff.lab.zoo.sources import SOURCES

    source = next((each for each in SOURCES if each.name == written.partition("/")[0]), None)
    if source is None:
        names = ", ".join(f"{each.name}/…" for each in SOURCES)
        raise UsageError(f"--around {written}: write FILE.py:NAME, package.module:NAME or one of {names}")
    if source.missing:
        raise UsageError(
            f"--around {written}: {', '.join(source.missing)} not installed; pip install 'exportdiff[zoo]'"
        )
    return _model_in_child(written, around_named, written)


def _model_in_child(written: str, task: Callable[..., T | UnusableModel], *arguments: object) -> T:
    from exportdiff.fuzzing.around.model import UnusableModel

    answer = run_in_child(f"--around {written}: running the model", task, *arguments)
    if isinstance(answer, UnusableModel):
        raise UsageError(f"--around {written}: {answer.reason}")
    return answer


def run_in_child(what: str, task: Callable[..., T], *arguments: object) -> T:
    """Return ``task(*arguments)``, run in a fresh process. Raises UsageError if the process dies."""
    from exportdiff.runtime.processes.child import Death, TaskFailure
    from exportdiff.runtime.processes.in_child import call_fresh

    answer = call_fresh(SECONDS, task, *arguments)
    if isinstance(answer, TaskFailure):
        raise answer.error
    if isinstance(answer, Death):
        raise UsageError(f"{what} ended in {answer.reason}")
    return answer
