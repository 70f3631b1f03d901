"""The table of runners: the ways to turn an ExportedProgram back into something that runs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from harness.observe.isolation import nothing_cached

if TYPE_CHECKING:
    from torch import nn
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
