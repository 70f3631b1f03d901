"""Running a case along paths: a tree of stages, where one export serves all runners below it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch

from harness.inputs.copies import Examples, build
from harness.observe.arguments import Inputs
from harness.observe.caches import forget_compiled
from harness.observe.environment import held, plain_attributes, world
from harness.observe.failure import Failure, failure
from harness.observe.isolation import Isolation, Start
from harness.observe.observation import Observation, Touch
from harness.observe.printing import printing
from harness.observe.process_state import own_modes
from harness.observe.tensors import named_state, snapshot, state_snapshot
from harness.paths.catalog import drops, exports_again, same_operators
from harness.paths.dynamism import may_narrow
from harness.paths.modes import MODES
from harness.paths.read.graph_inputs import placeholders, written_back
from harness.paths.read.hierarchy import Watch
from harness.paths.read.predictions import predictions
from harness.paths.read.program import read_exported
from harness.paths.read.rebuilt import read_rebuilt
from harness.paths.run.aspects import without
from harness.paths.run.calls import Runner, make_agenda, run_calls
from harness.paths.runners import RUNNERS
from harness.paths.transforms.apply import (
    apart,
    edit_module,
    export_arguments,
    needs,
    transform_module,
    transform_program,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from torch import nn
    from torch.export import ExportedProgram

    from harness.case import Case
    from harness.observe.observation import Prediction
    from harness.observe.tensors import State, TensorSnapshot
    from harness.path import Path
    from harness.paths.run.calls import Agenda
    from harness.paths.stopwatch import Stopwatch


def observe_eager(
    case: Case,
    device: str,
    clock: Stopwatch,
    modes: Collection[str] = (),
    run: Callable[[nn.Module], Callable[..., object]] | None = None,
) -> Observation:
    """Run a fresh model eagerly; notes say what stands in the way of judging it.

    ``modes`` are those of the paths that it will be compared with; without any, it only makes the
    ordinary calls. ``run`` makes of the model what is called in its place.
    """
    forget_compiled()
    model, examples = build(case, device)
    notes: dict[str, str] = {}
    if examples.shares_memory(model):
        notes["invalid"] = "an example input shares memory with the model's state"
    before = state_snapshot(model)
    alive = held(model)
    attributes, structure, objects = plain_attributes(model), _structure(model), _objects(model)
    agenda = make_agenda(before, examples, modes, case) if modes else None
    watch = Watch(model) if modes else None
    assigned: set[str] = set()
    rebound: set[str] = set()

    def look() -> None:
        # After each call: two that swap attributes leave them as they were.
        assigned.update(_changed(attributes, plain_attributes(model)))
        rebound.update(_changed(objects, _objects(model)))

    with own_modes(), printing() as printed:
        runner = Runner(model, clock, roles=True, run=None if run is None else run(model))
        ran = run_calls(runner, examples, agenda, watch=watch, after=look)
    look()
    del alive
    if changed := assigned | _changed(structure, _structure(model)) | _reshaped(before, ran.calls[0].state):
        notes["first call only"] = f"the model changes what {min(changed)} is"
    if printed.texts():
        notes["prints"] = "the model itself prints"
    return Observation(
        f"eager@{device}",
        before=before,
        assigned=frozenset(assigned),
        rebound=frozenset(rebound),
        hierarchy=watch.hierarchy if watch else None,
        notes=notes,
        **ran._asdict(),
    )


def _changed(before: Mapping[str, object], after: Mapping[str, object]) -> frozenset[str]:
    return frozenset(name for name, value in after.items() if before.get(name) != value)


def _structure(model: nn.Module) -> dict[str, object]:
    """Return what Python code could ask a model besides its attributes: who is which child, and training."""
    modules = model.named_modules(remove_duplicate=False)
    return {name: (id(module), module.training) for name, module in modules}


def _objects(model: nn.Module) -> dict[str, object]:
    """Return which object each parameter and buffer is."""
    return {name: id(tensor) for name, tensor in named_state(model)}


def _reshaped(before: State, after: State) -> frozenset[str]:
    """Return the names whose tensors are no longer of the kind that export sees, or are new or gone."""
    ours = {name: _kind(tensor) for name, tensor in before.tensors.items()}
    theirs = {name: _kind(tensor) for name, tensor in after.tensors.items()}
    return _changed(ours, theirs) | (ours.keys() - theirs.keys())


def _kind(tensor: TensorSnapshot) -> tuple[object, ...]:
    return tensor.dtype, tensor.shape, tensor.stride


@dataclass(frozen=True)
class _Exported:
    """One export, and what there is to know about it before anything runs."""

    model: nn.Module
    examples: Examples
    inputs: Inputs
    agenda: Agenda
    may_narrow: bool
    program: ExportedProgram | None
    refused: Failure | None
    touch: Touch

    def failed(self) -> Observation:
        """Return what all paths show where export refused the model."""
        return Observation("", failure=self.refused, touches=(self.touch,))

    def described(self, program: ExportedProgram, *, again: bool = False) -> Observation:
        """Return what there is to say of a program before it is lowered: this one, or what became of it.

        What was exported ``again`` was exported with the state that it has, which may be a copy.
        """
        state = self.touch.before.state
        own = {name: snapshot(tensor) for name, tensor in program.state_dict.items()} if again else {}
        taken = {spec.target for spec in program.graph_signature.input_specs}
        return Observation(
            "",
            placeholders=placeholders(program, self.touch.before.inputs, {**state.tensors, **own}),
            dropped=frozenset(state.tensors) - taken,
            written=written_back(program, self.touch.before.inputs),
            touches=(self.touch,),
            may_narrow=self.may_narrow,
            exported=read_exported(program),
        )


def _export(case: Case, path: Path, clock: Stopwatch, modes: Collection[str]) -> _Exported:
    export = MODES[path.mode].export
    assert export is not None, "the modes without an export are observed elsewhere"
    model, examples = build(case, path.device)
    inputs = examples.fresh()
    shapes = case.shapes()
    forget_compiled()
    alive = held(model)
    before = world(model, inputs)
    program: ExportedProgram | None = None
    refused: Failure | None = None
    with own_modes():
        with clock, printing() as printed:
            try:
                program = export(model, inputs, shapes, export_arguments(path, model))
            except Exception as error:
                refused = failure(error, "export")
        touch = Touch("export", before, world(model, inputs), printed.texts(), refused is not None)
    del alive
    agenda = make_agenda(before.state, examples, modes, case)
    return _Exported(model, examples, inputs, agenda, may_narrow(shapes), program, refused, touch)


def observe_exported(
    case: Case, paths: Sequence[Path], clock: Stopwatch, modes: Collection[str]
) -> Iterator[Observation]:
    """Export once, and run along every path from there; ``modes`` are those of all paths of the case."""
    exported = _export(case, paths[0], clock, modes)
    isolation = Isolation(_tensors(exported.program))
    common = exported.described(exported.program) if exported.program is not None else exported.failed()
    nodes = _node_names(exported.program)
    for path in paths:
        intact = _node_names(exported.program) == nodes
        if not isolation.restore() or not intact:
            exported = _export(case, path, clock, modes)
            isolation = Isolation(_tensors(exported.program))
        seen = common
        if exported.program is not None:
            seen = _lower_and_run(exported, exported.program, common, case, path, clock)
        yield replace(without(seen, drops(path)), path=str(path))


def _lower_and_run(
    exported: _Exported,
    program: ExportedProgram,
    common: Observation,
    case: Case,
    path: Path,
    clock: Stopwatch,
) -> Observation:
    given = needs(path, case)
    untouched = world(exported.model, exported.inputs, program)
    final, lowered, unmade = program, None, None
    refused: Failure | None = None
    with own_modes():
        with clock, printing() as printed:
            try:
                final = transform_program(path, program, given)
                unmade = RUNNERS[path.runner].function(final)
                lowered = transform_module(path, unmade, given)
            except Exception as error:
                refused = failure(error, "lower")
        touched = world(exported.model, exported.inputs, program)
        touch = Touch("lower", untouched, touched, printed.texts(), refused is not None)
    if final is not program:
        common = exported.described(final, again=exports_again(path))
    common = replace(common, touches=(*common.touches, touch), same_operators=same_operators(path))
    if lowered is None:
        return replace(common, failure=refused)
    with own_modes():
        try:
            lowered = edit_module(path, lowered)
        except Exception as error:
            return replace(common, failure=failure(error, "lower"))
    common = replace(common, rebuilt=read_rebuilt(lowered))
    if common.rebuilt is not None and common.rebuilt.cycle:
        return common  # what else there is to observe has names without end
    before = state_snapshot(lowered)
    common = replace(common, still_shared=apart(path, program, final, unmade, lowered))
    start = Start(lowered)
    with own_modes():
        ran = run_calls(Runner(lowered, clock), exported.examples, exported.agenda, path.mode)
    found: tuple[Prediction, ...] = ()
    if path.runner == "module" and start.restore():
        found = predictions(lowered, final, exported.examples.fresh(), clock)
    return replace(common, before=before, predictions=found, **ran._asdict())


def _node_names(program: ExportedProgram | None) -> list[str]:
    """Return all names: what unflatten clears away as dead may be a region that writes to the state."""
    return [] if program is None else [node.name for node in program.graph.nodes]


def _tensors(program: ExportedProgram | None) -> Iterable[torch.Tensor]:
    if program is None:
        return
    for store in (program.state_dict, program.constants):
        for value in store.values():
            if isinstance(value, torch.Tensor):
                yield value
