"""Faults of export in other settings of the process: each shows only where the model is exported in one."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch
import torch.export._trace as trace
from torch import fx

from exportdiff.lab.faults.exporting import LINEAR
from exportdiff.lab.faults.registry import fault, wrapped
from exportdiff.lab.faults.transforming import HALF, RELU

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextlib.contextmanager
def _recording(another: Any, instead_of: Any, when: Callable[[], bool]) -> Iterator[None]:
    """Make export record another operator in a setting of the process."""

    def wrapper(export: Any, *given: Any, **rest: Any) -> Any:
        program = export(*given, **rest)
        # Export moves what runs under autocast or without gradients into a graph of its own.
        graphs = [each.graph for each in program.graph_module.modules() if isinstance(each, fx.GraphModule)]
        for graph in graphs if when() else ():
            for node in graph.find_nodes(op="call_function", target=instead_of):
                node.target = another
        return program

    with wrapped(trace, "_export", wrapper):
        yield


@fault(check="outputs", paths="*+under_no_grad:*", source=RELU)
def export_without_gradients_drops_relu() -> Iterator[None]:
    """Export under no_grad records a negation in the place of relu."""
    ops = torch.ops.aten
    with _recording(ops.neg.default, ops.relu.default, lambda: not torch.is_grad_enabled()):
        yield


@fault(check="outputs", paths="*+under_inference_mode:*", source=HALF)
def export_in_inference_mode_adds_instead() -> Iterator[None]:
    """Export in inference mode records a sum in the place of a product."""
    ops = torch.ops.aten
    with _recording(ops.add.Tensor, ops.mul.Tensor, torch.is_inference_mode_enabled):
        yield


@fault(check="outputs", paths="*+under_float64:*", source=RELU)
def export_with_another_default_dtype_drops_signs() -> Iterator[None]:
    """While the default dtype is float64, export records the absolute value in the place of relu."""
    ops = torch.ops.aten
    with _recording(ops.abs.default, ops.relu.default, lambda: torch.get_default_dtype() == torch.float64):
        yield


@fault(check="outputs", paths="*+under_autocast:*", source=HALF)
def export_under_autocast_subtracts_instead() -> Iterator[None]:
    """Export under autocast records a difference in the place of a product."""
    ops = torch.ops.aten
    with _recording(ops.sub.Tensor, ops.mul.Tensor, lambda: torch.is_autocast_enabled("cpu")):
        yield


@fault(check="outputs", paths="*+under_other_modes:*", source=LINEAR)
def deterministic_algorithms_drop_the_bias() -> Iterator[None]:
    """While algorithms must be deterministic, export records linear without its bias."""

    def wrapper(export: Any, *given: Any, **rest: Any) -> Any:
        program = export(*given, **rest)
        nodes = program.graph.find_nodes(op="call_function", target=torch.ops.aten.linear.default)
        for node in nodes if torch.get_deterministic_debug_mode() else ():
            node.args = node.args[:2]
        return program

    with wrapped(trace, "_export", wrapper):
        yield
