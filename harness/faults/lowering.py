"""Faults of ep.module() and torch.export.unflatten."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch
import torch._export.utils as export_utils
from torch.export import ExportedProgram, UnflattenedModule

from harness.faults.exporting import COUNTER, LINEAR
from harness.faults.registry import fault, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# The attribute torch.export.unflatten is the function; this is the module that it lives in.
unflattening = sys.modules[UnflattenedModule.__module__]

CALLED_TWICE = """
class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.full((3,), 0.5))

    def forward(self, x, flag):
        return x * self.weight if flag else x + self.weight


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(self.child(x, True), False)


def make():
    return Model(), (torch.ones(2, 3),)
"""

TIED = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(3, 3)
        self.two = nn.Linear(3, 3)
        self.two.weight = self.one.weight

    def forward(self, x):
        return self.two(self.one(x))


def make():
    return Model(), (torch.ones(2, 3),)
"""

TWO_OUTPUTS = """
class Model(nn.Module):
    def forward(self, x):
        return x + 1, x * 3


def make():
    return Model(), (torch.ones(2, 3),)
"""

DICT_OUTPUT = """
class Model(nn.Module):
    def forward(self, x):
        return {"a": x + 1}


def make():
    return Model(), (torch.ones(2, 3),)
"""

INPUT_IN_PLACE = """
class Model(nn.Module):
    def forward(self, x):
        total = x.sum()
        x.mul_(0.5)
        return total


def make():
    return Model(), (torch.ones(2, 3),)
"""


def _after_module(then: Callable[[Any], None]) -> Any:
    def wrapper(module: Any, *args: Any, **kwargs: Any) -> Any:
        lowered = module(*args, **kwargs)
        then(lowered)
        return lowered

    return wrapped(ExportedProgram, "module", wrapper)


def _after_unflatten(then: Callable[[Any], None]) -> Any:
    def wrapper(init: Any, self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        then(self)

    return wrapped(UnflattenedModule, "__init__", wrapper)


def _make_functional(lowered: Any, readers: str, operators: dict[Any, Any]) -> None:
    for node in lowered.graph.nodes:
        if node.target in operators and node.args[0].op == readers:
            node.target = operators[node.target]
    lowered.recompile()


@fault(check="outputs", paths="nonstrict:unflatten*", source=CALLED_TWICE)
def every_call_runs_the_first_calls_graph() -> Iterator[None]:
    """A submodule called twice runs its first graph both times (PR 137013)."""
    with wrapped(unflattening, "_check_graph_equivalence", lambda original, *modules: True):
        yield


@fault(check="outputs", paths="nonstrict:unflatten*", source=LINEAR)
def unflatten_dies_of_a_missing_key() -> Iterator[None]:
    """Rebuilding the hierarchy looks up a module that is not there."""

    def wrapper(outline: Any, *args: Any, **kwargs: Any) -> Any:
        raise KeyError("linear")

    with wrapped(unflattening, "_outline_submodules", wrapper):
        yield


@fault(check="outputs", paths="nonstrict:unflatten*", source=TWO_OUTPUTS)
def unflatten_swaps_outputs() -> Iterator[None]:
    """The rebuilt module returns its outputs in reverse."""

    def then(lowered: Any) -> None:
        output = next(node for node in lowered.graph.nodes if node.op == "output")
        output.args = (tuple(reversed(output.args[0])),)

    with _after_unflatten(then):
        yield


@fault(check="outputs", paths="nonstrict:module*", source=DICT_OUTPUT)
def module_returns_a_tuple_for_a_dict() -> Iterator[None]:
    """The flat module forgets the output's container."""

    def values(module: Any, args: Any, output: Any) -> Any:
        return tuple(output.values()) if isinstance(output, dict) else output

    with _after_module(lambda lowered: lowered.register_forward_hook(values)):
        yield


@fault(check="state", paths="nonstrict:module*", source=COUNTER)
def module_loses_buffer_updates() -> Iterator[None]:
    """An in-place update of a buffer is computed and not written back."""
    aten = torch.ops.aten
    with _after_module(
        lambda lowered: _make_functional(
            lowered, "get_attr", {aten.add_.Tensor: aten.add.Tensor, aten.copy_.default: aten.copy.default}
        )
    ):
        yield


@fault(check="inputs", paths="nonstrict:module*", source=INPUT_IN_PLACE)
def module_loses_input_updates() -> Iterator[None]:
    """An in-place update of an input is computed and not written back."""
    aten = torch.ops.aten
    with _after_module(
        lambda lowered: _make_functional(lowered, "placeholder", {aten.mul_.Tensor: aten.mul.Tensor})
    ):
        yield


@fault(check="state", paths="nonstrict:unflatten*", source=COUNTER)
def unflatten_starts_from_moved_buffers() -> Iterator[None]:
    """The rebuilt module's buffers do not start where the program's do."""

    def then(lowered: Any) -> None:
        for buffer in lowered.buffers():
            buffer.add_(1)

    with _after_unflatten(then):
        yield


@fault(check="state", paths="nonstrict:unflatten*", source=COUNTER)
def unflatten_forgets_buffers() -> Iterator[None]:
    """A buffer that the graph uses is a plain attribute of the rebuilt module, and no buffer."""

    def then(lowered: Any) -> None:
        for name, buffer in list(lowered._buffers.items()):
            del lowered._buffers[name]
            lowered.__dict__[name] = buffer

    with _after_unflatten(then):
        yield


@fault(check="sharing", paths="nonstrict:unflatten*", source=TIED)
def unflatten_unties_parameters() -> Iterator[None]:
    """Two names of one parameter get a clone each."""

    def then(lowered: Any) -> None:
        seen = set()
        for module in lowered.modules():
            for name, parameter in list(module._parameters.items()):
                if id(parameter) in seen:
                    module._parameters[name] = torch.nn.Parameter(parameter.detach().clone())
                seen.add(id(parameter))

    with _after_unflatten(then):
        yield


@fault(check="sharing", paths="nonstrict:unflatten*", source=CALLED_TWICE)
def a_second_call_has_its_own_parameters() -> Iterator[None]:
    """The variant of a submodule for its second call gets clones of the parameters."""

    def then(lowered: Any) -> None:
        for prefix, module in lowered.named_modules():
            for name, parameter in list(module._parameters.items()):
                if "@" in prefix:
                    module._parameters[name] = torch.nn.Parameter(parameter.detach().clone())

    with _after_unflatten(then):
        yield


@fault(check="guards", paths="nonstrict:unflatten*", source=LINEAR)
def guards_expect_another_size() -> Iterator[None]:
    """The check of input sizes is off by one."""

    def wrapper(check: Any, symint: Any, arg: Any, *rest: Any) -> Any:
        return check(symint, arg + 1, *rest)

    with wrapped(export_utils, "_check_symint", wrapper):
        yield


@fault(check="purity", paths="nonstrict:unflatten*", source=COUNTER)
def unflatten_moves_the_programs_buffers() -> Iterator[None]:
    """Rebuilding the hierarchy writes to the buffers of the program that it rebuilds from."""

    def wrapper(init: Any, self: Any, program: Any, *args: Any, **kwargs: Any) -> None:
        init(self, program, *args, **kwargs)
        for buffer in program.buffers():
            buffer.add_(1)

    with wrapped(UnflattenedModule, "__init__", wrapper):
        yield
