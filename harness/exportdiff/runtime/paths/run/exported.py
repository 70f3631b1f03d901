"""Running a case along paths that export it: one export serves all runners."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch

from exportdiff.runtime.inputs.copies import CALLS, Examples, build
from exportdiff.runtime.observing.arguments import Inputs
from exportdiff.runtime.observing.caches import forget_compiled
from exportdiff.runtime.observing.captured_output import capture_output
from exportdiff.runtime.observing.environment import graph_outline, held_objects, read_environment
from exportdiff.runtime.observing.failure import Failure, failure
from exportdiff.runtime.observing.observation import Environment, ExportedObservation, StageEffect
from exportdiff.runtime.observing.process_state import restore_modes, use_threads
from exportdiff.runtime.observing.python_state import PythonState
from exportdiff.runtime.observing.saved_tensors import SavedModule, SavedTensors
from exportdiff.runtime.observing.tensors import snapshot, state_snapshot
from exportdiff.runtime.paths.backends import mode_of, runner_of
from exportdiff.runtime.paths.catalog import (
    exports_again,
    for_inference,
    frees,
    loads,
    narrows,
    not_promised,
    same_operators,
)
from exportdiff.runtime.paths.dynamic_sizes import may_narrow
from exportdiff.runtime.paths.packaged import as_module
from exportdiff.runtime.paths.read.graph_inputs import placeholders, written_back
from exportdiff.runtime.paths.read.listing import base_name
from exportdiff.runtime.paths.read.predictions import predictions
from exportdiff.runtime.paths.read.program import read_exported
from exportdiff.runtime.paths.read.ranges import breaks_a_guard, declares
from exportdiff.runtime.paths.read.rebuilt import read_rebuilt
from exportdiff.runtime.paths.run.aspects import without
from exportdiff.runtime.paths.run.freeing import free_path_memory
from exportdiff.runtime.paths.run.leftovers import kept_weights
from exportdiff.runtime.paths.run.model_calls import ModelCaller, plan_calls, run_calls
from exportdiff.runtime.paths.run.sizes import dynamic_dimensions
from exportdiff.runtime.paths.transforms.apply import (
    edit_module,
    export_arguments,
    export_settings,
    extra_arguments,
    shared_with_copies,
    takes_program,
    transform_module,
    transform_program,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from torch import nn
    from torch.export import ExportedProgram

    from exportdiff.core.case import Case
    from exportdiff.core.path import Path
    from exportdiff.runtime.observing.observation import Prediction
    from exportdiff.runtime.paths.run.model_calls import CallPlan
    from exportdiff.runtime.paths.stopwatch import Stopwatch


LISTS_SIZES = ("nonstrict:module", "file:module")
"""The paths on which the sizes of dynamic dimensions are tried, in cases that are judged thoroughly."""

COMPILES = "aoti"
"""The mode that exports and then compiles, with the number of threads that the case says."""


@dataclass(frozen=True)
class _Exported:
    """One export, and what is known about it before anything runs."""

    model: nn.Module
    examples: Examples
    inputs: Inputs
    plan: CallPlan
    may_narrow: bool
    program: ExportedProgram | None
    refused: Failure | None
    effect: StageEffect
    python: PythonState

    def failed(self, path: Path) -> ExportedObservation:
        """Return the observation of a path if export refused the model."""
        return ExportedObservation(path, failure=self.refused, stage_effects=(self.effect,))

    def described(self, path: Path, program: ExportedProgram, *, again: bool = False) -> ExportedObservation:
        """Return what can be read from a program before it is lowered, even if transforms made it.

        ``again``: it was exported again, so its recorded state may be a copy of the state of the model.
        """
        state = self.effect.before.state
        own = {name: snapshot(tensor) for name, tensor in program.state_dict.items()} if again else {}
        taken = {spec.target for spec in program.graph_signature.input_specs}
        back = written_back(program, self.effect.before.inputs)
        return ExportedObservation(
            path,
            placeholders=placeholders(program, self.effect.before.inputs, {**state.tensors, **own}),
            dropped=frozenset(state.tensors) - taken,
            written=back.written,
            returned=back.returned,
            stage_effects=(self.effect,),
            may_narrow=self.may_narrow,
            exported=read_exported(program),
        )


def _export(case: Case, path: Path, clock: Stopwatch, modes: Collection[str]) -> _Exported:
    export = mode_of(path.mode).export
    assert export is not None, "the modes without an export are observed elsewhere"
    model, examples = build(case, path.device)
    inputs = examples.fresh()
    shapes = case.shapes()
    forget_compiled()
    alive, python = held_objects(model), PythonState(model)
    before = read_environment(model, inputs)
    program: ExportedProgram | None = None
    refused: Failure | None = None
    with restore_modes():
        with clock, capture_output() as printed, export_settings(path):
            try:
                program = export(model, inputs, shapes, export_arguments(path, model, case))
            except Exception as error:
                refused = failure(error, "export")
        effect = StageEffect(
            "export", before, read_environment(model, inputs), printed.texts(), refused is not None
        )
    python.undo()
    del alive
    plan = plan_calls(before.state, examples, modes, case)
    narrow = narrows(path) or (may_narrow(shapes) and not _declares_itself(case, path))
    return _Exported(model, examples, inputs, plan, narrow, program, refused, effect, python)


def observe_exported(
    case: Case, paths: Sequence[Path], clock: Stopwatch, modes: Collection[str]
) -> Iterator[ExportedObservation]:
    """Export once, and run along every path; ``modes`` are those of all paths of the case."""
    exported = _export(case, paths[0], clock, modes)
    isolation = SavedTensors(_tensors(exported.program))
    if exported.program is not None:
        common = exported.described(paths[0], exported.program)
    else:
        common = exported.failed(paths[0])
    untouched = _fixed_by_export(exported.program)
    state = exported.effect.before.state
    for path in paths:
        intact = _fixed_by_export(exported.program) == untouched
        if not isolation.restore() or not intact:
            del exported, isolation
            free_path_memory(state)
            exported = _export(case, path, clock, modes)
            isolation = SavedTensors(_tensors(exported.program))
            untouched = _fixed_by_export(exported.program)
        seen = common
        if exported.program is not None:
            with use_threads(case.threads if path.mode == COMPILES else 0):
                seen = _lower_and_run(exported, exported.program, common, case, path, clock)
            exported.python.undo()
            if frees(path) and seen.failure is None:
                seen = replace(seen, kept=kept_weights(case, path, clock))
        free_path_memory(state, exported.program)
        yield replace(without(seen, not_promised(path)), path=path)
    del exported, isolation
    free_path_memory(state)


def _lower_and_run(
    exported: _Exported,
    program: ExportedProgram,
    common: ExportedObservation,
    case: Case,
    path: Path,
    clock: Stopwatch,
) -> ExportedObservation:
    extra = extra_arguments(path, case)
    environment = read_environment(exported.model, exported.inputs, program)
    final, lowered, made = program, None, None
    refused: Failure | None = None
    with restore_modes():
        with clock, capture_output() as printed, export_settings(path):
            try:
                final = transform_program(path, program, extra)
                made = final if takes_program(path) else as_module(runner_of(path).function(final))
                lowered = transform_module(path, made, final, extra)
            except Exception as error:
                refused = failure(error, "lower")
        after = read_environment(exported.model, exported.inputs, program)
        effect = StageEffect("lower", environment, after, printed.texts(), refused is not None)
    if final is not program:
        common = exported.described(path, final, again=exports_again(path))
    common = replace(
        common,
        stage_effects=(*common.stage_effects, effect),
        for_inference=for_inference(path, case.program),
        same_operators=same_operators(path, case.program),
    )
    if lowered is None:
        return replace(common, failure=refused)
    with restore_modes():
        try:
            lowered = edit_module(path, lowered, extra)
        except Exception as error:
            return replace(common, failure=failure(error, "lower"))
    common = replace(common, rebuilt=read_rebuilt(lowered))
    if common.rebuilt is not None and common.rebuilt.cycle:
        return common  # it has no end of names: nothing more can be observed
    before, saved = state_snapshot(lowered), frozenset(map(base_name, lowered.state_dict()))
    copies = runner_of(path).copies
    common = replace(
        common, still_shared=shared_with_copies(path, program, final, made, lowered, runner_copies=copies)
    )
    start = SavedModule(lowered)
    environment = _graph_alone(after, final)
    with restore_modes():
        plan = exported.plan
        if "deviations" in not_promised(
            path
        ):  # without guards, a kernel may write to memory that is not its own
            plan = plan._replace(deviations=(), small_calls=())
        ran = run_calls(ModelCaller(lowered, clock), exported.examples, plan, path.mode)
    probes = range(CALLS, exported.examples.calls)
    given = {n: exported.examples.fresh(n).snapshot() for n in probes}
    declared = frozenset(n for n in probes if declares(final, given[n]))
    excluded = frozenset(n for n in probes if breaks_a_guard(final, given[n]))
    small = tuple(each for each in ran.small_calls if declares(final, each.inputs_before))
    ran = ran._replace(small_calls=small)
    effect = StageEffect("run", environment, _graph_alone(after, final))
    common = replace(common, stage_effects=(*common.stage_effects, effect))
    found: tuple[Prediction, ...] = ()
    if path.runner == "module" and start.restore():
        grad = not common.for_inference
        found = predictions(lowered, final, exported.examples.fresh(), clock, grad=grad)
    common = replace(common, before=before, saved=saved, predictions=found)
    common = replace(common, declared=declared, excluded=excluded)
    lists = case.thorough and path.without_device in LISTS_SIZES and not _declares_itself(case, path)
    if lists and start.restore():
        common = replace(common, sizes=dynamic_dimensions(case, path.device, lowered, final))
    return replace(common, **ran._asdict())


def _declares_itself(case: Case, path: Path) -> bool:
    """Whether the path runs a saved program, and it alone says which sizes are dynamic."""
    return case.program is not None and case.program.sizes_are_its_own and loads(path)


def _graph_alone(environment: Environment, program: ExportedProgram) -> Environment:
    """Return an environment in which only the graph of the program can change."""
    return replace(environment, process_state={"graph of the exported program": graph_outline(program)})


def _fixed_by_export(program: ExportedProgram | None) -> tuple[object, ...]:
    """Return what a lowering must leave as it is, so that the next one may begin with the same program.

    That is: the names of all nodes, since unflatten may remove one as dead, even a region that writes to
    state; which tensors are stored, since a pass may put another one in their place; and the symbols that are
    pending, since a pass that runs ``item()`` adds some, and the next tracing fails on them.
    """
    if program is None:
        return ()
    names = [node.name for node in program.graph.nodes]
    return names, [id(tensor) for tensor in _tensors(program)], _pending_symbols(program)


def _pending_symbols(program: ExportedProgram) -> list[str]:
    for node in program.graph.nodes:
        mode = getattr(node.meta.get("val"), "fake_mode", None)
        if mode is not None:
            pending = getattr(mode.shape_env, "pending_fresh_unbacked_symbols", ())
            return [str(symbol) for symbol in pending]
    return []


def _tensors(program: ExportedProgram | None) -> Iterable[torch.Tensor]:
    if program is None:
        return
    for store in (program.state_dict, program.constants):
        for value in store.values():
            if isinstance(value, torch.Tensor):
                yield value
