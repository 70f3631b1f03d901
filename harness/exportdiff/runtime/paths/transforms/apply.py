"""Applying the transforms of a path, stage by stage."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from exportdiff.runtime.inputs.copies import move_model
from exportdiff.runtime.observing.tensors import live_state, named_constants, storage_id
from exportdiff.runtime.paths.modes import MODES, SAVED
from exportdiff.runtime.paths.transforms.table import TRANSFORMS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from torch import nn
    from torch.export import ExportedProgram

    from exportdiff.core.case import Case
    from exportdiff.core.path import Path
    from exportdiff.core.saved_program import SavedProgram
    from exportdiff.runtime.paths.transforms.table import At, Function, Transform


def varied_case(case: Case, path: Path) -> Case:
    """Return the case that a path exports or compiles."""
    return _with(case, list(_of(path, "case")))


def reference_case(case: Case, path: Path) -> Case:
    """Return the case that eager runs, for a path to be compared with."""
    return _with(case, [*_of(path, "case"), *(each for each in _of(path, "module") if each.in_eager)])


def _with(case: Case, transforms: list[Transform]) -> Case:
    for each in transforms:
        case = _with_sizes(case, each.function) if each.sizes else _with_model(case, each)
    return case


def _with_model(case: Case, each: Transform) -> Case:
    def make() -> object:
        made = case.make()
        if isinstance(made, tuple) and made and isinstance(made[0], torch.nn.Module):
            given = (made[0], case.build().model) if each.wants_model else (made[0],)
            return (each.function(*given), *made[1:])
        return made

    return replace(case, make=make)


def _with_sizes(case: Case, function: Function) -> Case:
    return replace(
        case,
        dynamic_shapes=lambda: function(*case.build()[:3])[0],
        probes=lambda: function(*case.build()[:3])[1],
    )


def export_settings(path: Path) -> contextlib.ExitStack:
    """Return the settings of the process in which the path exports and lowers the model."""
    return _entered(_of(path, "setting"))


def _entered(settings: Iterable[Transform]) -> contextlib.ExitStack:
    with contextlib.ExitStack() as stack:
        for each in settings:
            stack.enter_context(each.function())
        return stack.pop_all()


def called_in_settings(path: Path, *, by_eager: bool) -> Callable[[nn.Module], Callable[..., object]] | None:
    """Return what makes of a model a function that calls it in settings of the path; None: there are none.

    ``by_eager``: in those in which eager is called, as its reference; else in those that change no result.
    """
    settings = [each for each in _of(path, "setting") if each.in_eager == by_eager]

    def called(model: nn.Module) -> Callable[..., object]:
        def call(*args: object, **kwargs: object) -> object:
            with _entered(settings):
                return model(*args, **kwargs)

        return call

    return called if settings else None


def applies(case: Case, path: Path) -> bool:
    """Whether the transforms of a path change anything for this case."""
    return case.dynamic_shapes is None or not any(each.sizes for each in _of(path, "case"))


def without_sizes(path: Path) -> Path:
    """Return the path without the transforms that choose dynamic shapes: for a program that states its own.

    A repro file of such a path states those that the transform chose.
    """
    return replace(path, transforms=tuple(each for each in path.transforms if not TRANSFORMS[each].sizes))


def exports_sizes_of_case(path: Path) -> bool:
    """Whether a path exports the case with its own dynamic shapes, and fixes all other sizes."""
    mode = MODES.get(path.mode)  # None: a backend, which exports
    exports = mode is None or (mode.export is not None and not mode.loads)
    return exports and not any(each.sizes for each in _of(path, "case"))


def calls_often(path: Path) -> bool:
    """Whether a call along this path is many calls of the model."""
    return any(each.calls_often for each in _of(path, "module"))


def export_arguments(path: Path, model: nn.Module, case: Case) -> dict[str, Any]:
    """Return the further arguments of ``torch.export.export``; for a mode that loads, the file."""
    arguments: dict[str, Any] = {} if case.program is None else _of_program(path, case.program)
    for each in _of(path, "export"):
        arguments |= each.function(model)
    return arguments


def _of_program(path: Path, program: SavedProgram) -> dict[str, Any]:
    mode = MODES.get(path.mode)
    return {SAVED: program.file} if mode is not None and mode.loads else {}


class ExtraArguments(NamedTuple):
    """Extra arguments of transforms. They are made before lowering: the code of the case may print."""

    model: nn.Module | None
    """A fresh one, on the path's device."""
    shapes: object


def extra_arguments(path: Path, case: Case) -> ExtraArguments:
    """Make the extra arguments that the transforms of a path take."""
    wants_model = any(each.wants_model for each in _of(path, "module"))
    exports = any(each.exports for each in _of(path, "program"))
    model = move_model(case.build().model, path.device) if wants_model else None
    return ExtraArguments(model, case.shapes() if exports else None)


def transform_program(path: Path, program: ExportedProgram, extra: ExtraArguments) -> ExportedProgram:
    """Turn a program into the one that is lowered."""
    for each in _of(path, "program"):
        options = {"dynamic_shapes": extra.shapes, "strict": path.mode == "strict"} if each.exports else {}
        program = each.function(program, **options)
    return program


def takes_program(path: Path) -> bool:
    """Whether the first module transform takes the program, so that the runner need not run."""
    first = next(_of(path, "module"), None)
    return first is not None and first.alone


def transform_module(path: Path, module: Any, program: ExportedProgram, extra: ExtraArguments) -> nn.Module:
    """Apply the module transforms to the runner's result, except those that are also applied to eager."""
    for each in _of(path, "module"):
        if not each.in_eager:
            given = (program,) if each.wants_program else ()
            taken = program if each.alone else module
            module = each.function(taken, *given, *_wanted_model(each, extra))
    made: nn.Module = module
    return made


def edit_module(path: Path, module: nn.Module, extra: ExtraArguments) -> nn.Module:
    """Apply the module transforms that eager gets too. They may write to the state of the program."""
    for each in _of(path, "module"):
        if each.in_eager:
            module = each.function(module, *_wanted_model(each, extra))
    return module


def _wanted_model(each: Transform, extra: ExtraArguments) -> tuple[nn.Module | None, ...]:
    return (extra.model,) if each.wants_model else ()


def shared_with_copies(
    path: Path,
    before: ExportedProgram,
    after: ExportedProgram,
    made: Any,
    final: Any,
    *,
    runner_copies: bool,
) -> tuple[str, ...]:
    """Return the names of state that still shares memory with what the transforms or the runner copied."""
    names: list[str] = []
    if runner_copies:
        names += _sharing(_program_state(after), _module_state(made))
    if any(each.copies for each in _of(path, "program")):
        names += _sharing(_program_state(before), _program_state(after))
    if any(each.copies for each in _of(path, "module")):
        names += _sharing(_module_state(made), _module_state(final))
    return tuple(sorted(set(names)))


def _sharing(ours: dict[str, torch.Tensor], theirs: dict[str, torch.Tensor]) -> Iterator[str]:
    storages = {storage_id(tensor) for tensor in ours.values() if tensor.numel()}
    return (name for name, tensor in theirs.items() if tensor.numel() and storage_id(tensor) in storages)


def _program_state(program: ExportedProgram) -> dict[str, torch.Tensor]:
    named = {**program.state_dict, **program.constants}
    return {name: value for name, value in named.items() if isinstance(value, torch.Tensor)}


def _module_state(module: nn.Module) -> dict[str, torch.Tensor]:
    state, _ = live_state(module)
    return {**dict(named_constants(module)), **state}


def _of(path: Path, at: At) -> Iterator[Transform]:
    return (TRANSFORMS[name] for name in path.transforms if TRANSFORMS[name].at == at)
