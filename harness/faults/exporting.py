"""Faults of torch.export.export itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.export._trace as trace

from harness.faults.registry import fault, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LINEAR = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        return self.linear(x)


def make():
    return Model(), (torch.ones(2, 3),)
"""

COUNTER = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x):
        self.count.add_(1)
        return x * 2


def make():
    return Model(), (torch.ones(2, 3),)
"""

TRANSPOSE = """
class Model(nn.Module):
    def forward(self, x):
        return x.t_() + 1


def make():
    return Model(), (torch.ones(2, 3),)
"""


DYNAMIC = """
class Model(nn.Module):
    def forward(self, x):
        return x * x.shape[0]


def make():
    return Model(), (torch.ones(4, 3),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("n")}}


def probes():
    return [((torch.ones(6, 3),), {})]
"""


def _after_export(then: Callable[[Any, Any], object]) -> Any:
    def wrapper(export: Any, model: Any, *args: Any, **kwargs: Any) -> Any:
        program = export(model, *args, **kwargs)
        then(model, program)
        return program

    return wrapped(trace, "_export", wrapper)


@fault(check="outputs", paths="nonstrict:*", source=LINEAR)
def export_dies_of_an_assertion() -> Iterator[None]:
    """Export trips over its own invariant."""

    def wrapper(export: Any, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("signature does not match placeholders")

    with wrapped(trace, "_export", wrapper):
        yield


@fault(check="guards", paths="nonstrict:*", source=TRANSPOSE)
def recorded_metadata_is_that_after_mutation() -> Iterator[None]:
    """An input's recorded shape is what the model made of it (issue 93610)."""

    def then(model: Any, program: Any) -> None:
        for node in program.graph.nodes:
            if node.target is torch.ops.aten.t_.default:
                node.args[0].meta["val"] = node.meta["val"]

    with _after_export(then):
        yield


@fault(check="purity", paths="nonstrict:*", source=LINEAR)
def export_leaves_the_model_in_eval_mode() -> Iterator[None]:
    """Export changes the model's training flags."""
    with _after_export(lambda model, program: model.eval()):
        yield


@fault(check="purity", paths="nonstrict:*", source=COUNTER)
def export_runs_the_real_buffers() -> Iterator[None]:
    """Export carries an in-place update out on the model's own buffers."""

    def then(model: Any, program: Any) -> None:
        for buffer in model.buffers():
            buffer.add_(1)

    with _after_export(then):
        yield


@fault(check="purity", paths="nonstrict:*", source=LINEAR)
def export_draws_random_numbers() -> Iterator[None]:
    """Export advances the global random number generator."""
    with _after_export(lambda model, program: torch.rand(1)):
        yield


@fault(check="purity", paths="nonstrict:*", source=LINEAR)
def export_leaves_a_hook() -> Iterator[None]:
    """Export forgets to remove a forward hook."""
    with _after_export(lambda model, program: model.register_forward_hook(lambda *_: None)):
        yield


@fault(check="purity", paths="nonstrict:*", source=LINEAR)
def export_leaves_grad_mode_off() -> Iterator[None]:
    """Export switches gradients off and not on again."""
    before = torch.is_grad_enabled()
    try:
        with _after_export(lambda model, program: torch.set_grad_enabled(False)):
            yield
    finally:
        torch.set_grad_enabled(before)


@fault(check="guards", paths="nonstrict:*", source=DYNAMIC)
def export_ignores_dynamic_shapes() -> Iterator[None]:
    """Every size is fixed, whatever was said of it, and nobody is told."""

    def wrapper(export: Any, model: Any, args: Any, kwargs: Any, shapes: Any, **rest: Any) -> Any:
        return export(model, args, kwargs, None, **rest)

    with wrapped(trace, "_export", wrapper):
        yield


@fault(check="outputs", paths="nonstrict:*", source=DYNAMIC)
def the_graph_computes_with_the_examples_size() -> Iterator[None]:
    """A size that is dynamic is the example's in the graph."""

    def then(model: Any, program: Any) -> None:
        for node in program.graph.nodes:
            if node.target is torch.ops.aten.sym_size.int:
                node.replace_all_uses_with(4)
        program.graph_module.recompile()

    with _after_export(then):
        yield
