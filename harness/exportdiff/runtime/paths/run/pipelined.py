"""The pipeline mode: torch.distributed.pipelining splits the model, and its stages run one after the other.

Splitting changes the modules of the model (annotate_split_points); the documentation does not promise
otherwise. A pipeline returns the leaves of the output without their container, so the eager reference does
the same here. Each stage has other names for its state, so changes of the state show only in later outputs.
``pipeline`` takes no spec of dynamic shapes, so there are no probes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from torch import Tensor, nn
from torch.utils import _pytree as pytree

from exportdiff.runtime.inputs.copies import build
from exportdiff.runtime.observing.caches import forget_compiled
from exportdiff.runtime.observing.failure import failure
from exportdiff.runtime.observing.observation import NotObserved, PipelinedObservation
from exportdiff.runtime.observing.process_state import restore_modes
from exportdiff.runtime.observing.python_state import PythonState
from exportdiff.runtime.paths.run.eager import observe_eager
from exportdiff.runtime.paths.run.model_calls import ModelCaller, run_calls
from exportdiff.runtime.paths.runners import RUNNERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from torch.distributed.pipelining import Pipe

    from exportdiff.core.case import Case
    from exportdiff.core.path import Path
    from exportdiff.runtime.observing.arguments import Inputs
    from exportdiff.runtime.observing.failure import Failure
    from exportdiff.runtime.observing.observation import EagerObservation
    from exportdiff.runtime.paths.runners import Function
    from exportdiff.runtime.paths.stopwatch import Stopwatch


def observe_pipelined(
    case: Case, paths: Sequence[Path], clock: Stopwatch
) -> Iterator[PipelinedObservation | NotObserved]:
    """Split a model along each path, and run its stages; make the same calls of an eager model."""
    case = replace(case, dynamic_shapes=None, probes=None)
    for path in paths:
        in_eager = RUNNERS[path.runner].in_eager
        if in_eager is not None and (reason := not_for_schedules(case, path.device)):
            yield NotObserved(path, reason=reason)
            continue
        run = flat if in_eager is None else partial(_flat_of, in_eager)
        reference = observe_eager(case, path.device, clock, run=run)
        if in_eager is not None and "calls" in reference.draws:
            reason = "a schedule draws random numbers in another order than eager"
            yield NotObserved(path, reason=reason)
            continue
        yield _observe(case, path, clock, reference)


def _observe(case: Case, path: Path, clock: Stopwatch, reference: EagerObservation) -> PipelinedObservation:
    forget_compiled()
    model, examples = build(case, path.device)
    inputs: Inputs = examples.fresh()
    python = PythonState(model)
    pipe: Pipe | None = None
    refused: Failure | None = None
    with restore_modes(), clock:
        try:
            pipe = RUNNERS[path.runner].function(model, inputs.args, inputs.kwargs)
        except Exception as error:
            refused = _failure(error)
    python.undo()
    if pipe is None:
        return PipelinedObservation(path, failure=refused, reference=reference)
    with restore_modes():
        ran = run_calls(ModelCaller(nn.Module(), clock, run=flat(pipe)), examples, None)
    return PipelinedObservation(path, reference=reference, **ran._asdict())


def not_for_schedules(case: Case, device: str) -> str:
    """Return why a schedule cannot do what the model does in eager; empty: it can.

    A schedule splits each tensor that it is given along the first dimension, and joins the results in the
    same way. It returns what its last stage computes.
    """
    model, examples = build(case, device)
    inputs: Inputs = examples.fresh()
    given = (*inputs.args, *inputs.kwargs.values())
    if not all(map(pytree.tree_is_leaf, given)):
        return "a schedule does not split tensors in containers"
    with restore_modes():
        result = model(*inputs.args, **inputs.kwargs)
    results = result if isinstance(result, list | tuple) else (result,)
    rows = next((len(each) for each in given if isinstance(each, Tensor) and each.dim()), 0)
    if not all(isinstance(each, Tensor) and each.dim() and len(each) == rows for each in results):
        return "a schedule returns only tensors with a row for each row of the input"
    theirs = {id(each) for each in (*given, *model.parameters(), *model.buffers())}
    if len({id(each) for each in results} - theirs) < len(results):
        return "a schedule returns each tensor once, and neither inputs nor state"
    return ""


def _failure(error: Exception) -> Failure:
    """Return a failure of stage ``export`` if export refused the model, otherwise of stage ``lower``."""
    cause = error.__cause__
    if "cannot capture your model" in str(error) and cause is not None and cause.__traceback__ is not None:
        # Without the frame that called export: the failure does not depend on it.
        return failure(cause.with_traceback(cause.__traceback__.tb_next), "export")
    return failure(error, "lower")


def _flat_of(make: Function, model: nn.Module) -> Callable[..., object]:
    return flat(make(model))


def flat(model: Callable[..., object]) -> Callable[..., object]:
    """Return a function that returns the leaves of what the model returns."""

    def run(*args: object, **kwargs: object) -> object:
        return pytree.tree_leaves(model(*args, **kwargs))

    return run
