"""The table of runners: the ways to turn an ExportedProgram back into something that runs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from harness.observe.isolation import nothing_cached

if TYPE_CHECKING:
    from torch import nn
    from torch.distributed.pipelining import Pipe
    from torch.export import ExportedProgram

    from harness.paths.transforms.table import Aspect

Runner = Callable[["ExportedProgram"], "nn.Module"]

RUNNERS: dict[str, Runner] = {}
"""By name, in the canonical order."""


def _runner(lower: Runner) -> Runner:
    RUNNERS[lower.__name__] = lower
    return lower


@_runner
def module(program: ExportedProgram) -> nn.Module:
    """One flat graph; shares its state with the exported program."""
    return program.module()


@_runner
def unflatten(program: ExportedProgram) -> nn.Module:
    """The module hierarchy, rebuilt; clones the exported program's state."""
    return torch.export.unflatten(program)


@_runner
def package(program: ExportedProgram) -> nn.Module:
    """Machine code: compiled by AOTInductor into a package, and loaded from it."""
    with tempfile.TemporaryDirectory() as folder, nothing_cached():
        package = torch._inductor.aoti_compile_and_package(program, package_path=f"{folder}/model.pt2")
        return Packaged(torch._inductor.aoti_load_package(package))


class Packaged(torch.nn.Module):
    """What AOTInductor made, as a module. Its state is inside of it, under no name."""

    def __init__(self, run: Callable[..., object]) -> None:
        """Keep what to call."""
        super().__init__()
        self.run = run

    def forward(self, *args: object, **kwargs: object) -> object:
        """Call it."""
        return self.run(*args, **kwargs)


SAME_OPERATORS = ("module", "unflatten")
"""The runners that run the operators of the program."""

DROPS: dict[str, frozenset[Aspect]] = {
    "package": frozenset(("hierarchy", "state", "gradients", "edits", "deviations"))
}
"""What a runner does not promise to keep: machine code has no modules, no names and no history, and looks at
its inputs only where AOTI_RUNTIME_CHECK_INPUTS is set (torch/_inductor/codegen/cpp_wrapper_cpu.py)."""

Compiler = Callable[["nn.Module"], Callable[..., object]]
"""From a model to something to call in its place."""

COMPILERS: dict[str, Compiler] = {}
"""The runners of the compile mode, by name, in the canonical order."""


def _compiler(compiler: Compiler) -> Compiler:
    COMPILERS[compiler.__name__] = compiler
    return compiler


@_compiler
def compiled(model: nn.Module) -> Callable[..., object]:
    """Dynamo alone: its graphs run the operators that eager runs."""
    run: Callable[..., object] = torch.compile(model, backend="eager")
    return run


@_compiler
def aot_eager(model: nn.Module) -> Callable[..., object]:
    """Dynamo and AOTAutograd: functional graphs, forward and backward, run operator by operator."""
    run: Callable[..., object] = torch.compile(model, backend="aot_eager")
    return run


@_compiler
def inductor(model: nn.Module) -> Callable[..., object]:
    """All of torch.compile: graphs become machine code."""
    run: Callable[..., object] = torch.compile(model, backend="inductor")
    return run


PIPELINES: dict[str, Callable[[nn.Module, tuple[Any, ...], dict[str, Any]], Pipe]] = {}
"""The runners of the pipeline mode, by name."""


def stages(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Pipe:
    """Split a model before each of its children, into the stages of a pipeline."""
    from torch.distributed.pipelining import SplitPoint, pipeline

    points = {name: SplitPoint.BEGINNING for name, _ in model.named_children()}
    return pipeline(model, args, kwargs, split_spec=points)


PIPELINES[stages.__name__] = stages
