"""Faults of what torch offers around an exported program: archives, methods, fewer checks, torch.compile.

Each shows only on the paths that use it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import torch
import torch.export._trace as trace
from torch import fx, nn
from torch.distributed.pipelining.stage import _PipelineStageBase
from torch.export import ExportedProgram, UnflattenedModule
from torch.export.pt2_archive import _package as archives

from exportdiff.lab.faults.registry import fault, wrapped
from exportdiff.lab.faults.transforming import HALF, RELU, TWO_STAGES
from exportdiff.runtime.patching.editing import edited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

ops = torch.ops.aten


def _replaced(module: Any, target: Any, by: Any) -> Any:
    """Replace an operator in the graph of a module, and return the module."""
    for node in module.graph.find_nodes(op="call_function", target=target):
        node.target = by
    module.recompile()
    return module


@fault(check="outputs", paths="*+extra_files:*", source=HALF)
def extra_files_lose_their_last_line_break() -> AbstractContextManager[object]:
    """Loading an extra file cuts off white space at its end."""
    return edited(archives._load_extra_files, "read_string(file)", "read_string(file).rstrip()")


@fault(check="outputs", paths="*+archived:*", source=HALF)
def the_second_program_of_an_archive_adds() -> Iterator[None]:
    """A program that is loaded from an archive after another one has sums in the place of products."""

    def wrapper(load: Any, *given: Any) -> Any:
        programs = load(*given)
        for program in list(programs.values())[1:]:
            _replaced(program.graph_module, ops.mul.Tensor, ops.add.Tensor)
        return programs

    with wrapped(archives, "_load_exported_programs", wrapper):
        yield


@fault(check="outputs", paths="*+unguarded:*", source=RELU)
def a_module_without_guards_negates() -> Iterator[None]:
    """``module(check_guards=False)`` has a negation in the place of relu."""

    def wrapper(module: Any, self: Any, check_guards: bool = True) -> Any:
        made = module(self, check_guards=check_guards)
        return made if check_guards else _replaced(made, ops.relu.default, ops.neg.default)

    with wrapped(ExportedProgram, "module", wrapper):
        yield


def _subtracts(graph: fx.GraphModule, inputs: object) -> Callable[..., Any]:
    """Compile a graph to one that subtracts in the place of adding."""
    for node in graph.graph.nodes:
        if node.target in (ops.add.Tensor, torch.add) or getattr(node.target, "__name__", "") == "add":
            node.target = torch.sub
    graph.recompile()
    return graph


@fault(check="outputs", paths="*+optimized:*", source=TWO_STAGES.replace("- y", "+ y"))
def a_compiled_program_subtracts() -> Iterator[None]:
    """What Dynamo compiles of an exported module subtracts in the place of adding."""

    def wrapper(compile: Any, self: nn.Module, **options: Any) -> Any:
        exported = isinstance(self, fx.GraphModule | UnflattenedModule)
        return compile(self, **({"backend": _subtracts} if exported else options))

    with wrapped(nn.Module, "compile", wrapper):
        yield


@fault(check="outputs", paths="compile:fullgraph*", source=TWO_STAGES.replace("- y", "+ y"))
def a_full_graph_subtracts() -> Iterator[None]:
    """Dynamo compiles a model that must be one graph to one that subtracts in the place of adding."""

    def wrapper(compile: Any, model: Any, *, fullgraph: bool = False, **options: Any) -> Any:
        options |= {"backend": _subtracts} if fullgraph else {}
        return compile(model, fullgraph=fullgraph, **options)

    with wrapped(torch, "compile", wrapper):
        yield


@fault(check="outputs", paths="*+method:*", source=HALF)
def export_runs_the_forward_of_the_class() -> Iterator[None]:
    """Export runs the forward of the class, although the model has another one."""

    def wrapper(export: Any, model: Any, *given: Any, **rest: Any) -> Any:
        forward = vars(model).pop("forward", None)
        try:
            return export(model, *given, **rest)
        finally:
            if forward is not None:
                model.forward = forward

    with wrapped(trace, "_export", wrapper):
        yield


@fault(check="outputs", paths="*+method_of_part:*", source=TWO_STAGES)
def a_part_below_an_uncalled_one_is_not_found() -> Iterator[None]:
    """unflatten does not find a module whose parent is not called itself."""

    def wrapper(accessor: Any, parent: str, child: str) -> Any:
        return accessor(parent, child).rpartition(".")[2]

    with wrapped(importlib.import_module("torch.export.unflatten"), "_compute_accessor", wrapper):
        yield


@fault(check="outputs", paths="pipeline:scheduled*", source=TWO_STAGES.replace(" - y", ""))
def a_stage_gets_half_of_its_gradient() -> AbstractContextManager[object]:
    """The gradient that the next stage passes to a stage is halved."""
    return edited(
        _PipelineStageBase.set_local_bwd_input,
        "info.buffer = to_local_if_dtensor(tensor)",
        "info.buffer = to_local_if_dtensor(tensor) * 0.5",
    )
