"""Runs the model itself: the reference that all paths are compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.core.finding import DRAWS
from exportdiff.core.path import Path
from exportdiff.runtime.inputs.copies import build
from exportdiff.runtime.observing.asking import asks
from exportdiff.runtime.observing.caches import forget_compiled
from exportdiff.runtime.observing.captured_output import capture_output
from exportdiff.runtime.observing.checkpoint import (
    held_elsewhere,
    holds_computed,
    holds_unregistered,
    tensor_places,
)
from exportdiff.runtime.observing.environment import (
    count_hooks,
    held_objects,
    mode_of,
    object_attributes,
    plain_attributes,
    unregistered_attributes,
)
from exportdiff.runtime.observing.observation import EagerObservation
from exportdiff.runtime.observing.process_state import restore_modes
from exportdiff.runtime.observing.python_state import PythonState
from exportdiff.runtime.observing.tensors import named_state, partition, state_snapshot, storage_id
from exportdiff.runtime.paths.read.hierarchy import CallRecorder
from exportdiff.runtime.paths.run.freeing import free_path_memory
from exportdiff.runtime.paths.run.model_calls import ModelCaller, plan_calls, run_calls

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from torch import nn

    from exportdiff.core.case import Case
    from exportdiff.core.finding import Draws
    from exportdiff.runtime.observing.tensors import State, TensorSnapshot
    from exportdiff.runtime.paths.stopwatch import Stopwatch


def observe_eager(
    case: Case,
    device: str,
    clock: Stopwatch,
    modes: Collection[str] = (),
    run: Callable[[nn.Module], Callable[..., object]] | None = None,
    *,
    fixed: bool = False,
    backwards: bool = False,
) -> EagerObservation:
    """Run a fresh model eagerly.

    ``modes`` are those of the paths to compare with; without modes, only the ordinary calls are made.
    ``run`` turns the model into what is called instead of it. ``fixed``: each call starts from the Python
    values of the first, as export fixes them. ``backwards``, without modes: the last call is made first.
    """
    seen = _observe(case, device, clock, modes, run, fixed=fixed, backwards=backwards)
    free_path_memory(seen.before)
    return seen


def _observe(
    case: Case,
    device: str,
    clock: Stopwatch,
    modes: Collection[str],
    run: Callable[[nn.Module], Callable[..., object]] | None,
    *,
    fixed: bool,
    backwards: bool,
) -> EagerObservation:
    forget_compiled()
    model, examples = build(case, device)
    python = PythonState(model)
    shares_memory = examples.shares_memory(model)
    before = state_snapshot(model)
    alive = held_objects(model)
    attributes, structure, objects = _attributes(model), _structure(model), _objects(model)
    elsewhere = held_elsewhere(model)
    held_twice = frozenset(name for name, tensor in named_state(model) if id(tensor) in elsewhere)
    computed = holds_computed(model)
    together, hooks, helpers = _sharing_memory(model), count_hooks(model), object_attributes(model)
    plan = plan_calls(before, examples, modes, case) if modes else None
    recorder = CallRecorder(model) if modes else None
    assigned: set[str] = set()
    rebound: set[str] = set()
    joined: set[str] = set()
    helped: set[str] = set()
    values: set[str] = set()

    def note_changes() -> None:
        # After each call, because a second call may undo the change.
        assigned.update(_changed(attributes, _attributes(model)))
        rebound.update(_changed(objects, _objects(model)))
        helped.update(_changed(helpers, object_attributes(model)))
        values.update(python.changed())
        for names in _sharing_memory(model):
            if not any(names <= group for group in together):
                joined.update(names)
        if fixed:
            python.restore()

    with restore_modes(), capture_output() as printed:
        caller = ModelCaller(model, clock, roles=True, run=None if run is None else run(model))
        ran = run_calls(caller, examples, plan, recorder=recorder, after=note_changes, backwards=backwards)
    note_changes()
    lasting = python.changed(lasting=True)
    python.undo()
    del alive
    changed = assigned | joined | helped | _changed(structure, _structure(model))
    changed |= _reshaped(before, ran.calls[0].state)
    return EagerObservation(
        eager_path(device),
        before=before,
        assigned=frozenset(assigned),
        rebound=frozenset(rebound),
        held_twice=held_twice,
        hooked=_changed(hooks, count_hooks(model)),
        hierarchy=recorder.hierarchy if recorder else None,
        invalid="an example input shares memory with the model's state" if shares_memory else "",
        first_call_only=bool(changed),
        python_values=frozenset(values),
        lasting=lasting,
        asks=(functions := python.functions()) is None or asks(model, functions),
        finite_only=case.finite_only,
        prints=bool(printed.texts()),
        computed_attributes=computed,
        unregistered=holds_unregistered(model),
        draws=_draws(build=examples.draws, calls=caller.draws),
        **ran._asdict(),
    )


def _draws(**places: bool) -> frozenset[Draws]:
    return frozenset(place for place in DRAWS if places[place])


def eager_path(device: str) -> Path:
    """Return the path of observations of eager; ``parse`` does not accept it."""
    return Path("eager", "model", device=device)


def _changed(before: Mapping[str, object], after: Mapping[str, object]) -> frozenset[str]:
    return frozenset(name for name, value in after.items() if before.get(name) != value)


def _attributes(model: nn.Module) -> dict[str, str]:
    """Return all that Python code of a model can assign, also in modules in a list or dict."""
    return plain_attributes(model) | unregistered_attributes(model)


def _structure(model: nn.Module) -> dict[str, object]:
    """Return what Python code can read besides attributes: the identity of children, and training flags."""
    modules = model.named_modules(remove_duplicate=False)
    return {name: (id(module), mode_of(module)) for name, module in modules}


def _objects(model: nn.Module) -> dict[str, object]:
    """Return the identity of each parameter and buffer."""
    return {name: id(tensor) for name, tensor in named_state(model)}


def _sharing_memory(model: nn.Module) -> tuple[frozenset[str], ...]:
    """Return the groups of tensors in one storage, also of those in the model's lists and dicts."""
    return partition(tensor_places(model), storage_id)


def _reshaped(before: State, after: State) -> frozenset[str]:
    """Return the names of tensors with another dtype, shape or stride than before, or new or missing."""
    ours = {name: _kind(tensor) for name, tensor in before.tensors.items()}
    theirs = {name: _kind(tensor) for name, tensor in after.tensors.items()}
    return _changed(ours, theirs) | (ours.keys() - theirs.keys())


def _kind(tensor: TensorSnapshot) -> tuple[object, ...]:
    return tensor.dtype, tensor.shape, tensor.stride
