"""Faults that show where what was exported is trained, differentiated, or called in threads."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import torch
from torch.export import ExportedProgram, UnflattenedModule
from torch.fx.graph_module import _WrappedCall

from exportdiff.lab.faults.exporting import LINEAR
from exportdiff.lab.faults.registry import fault, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

CUBED = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.full((3,), 0.5))

    def forward(self, x):
        return x * self.scale ** 3
"""

NESTED = """
class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        return self.linear(x) + 1


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        return self.inner(x)


def make():
    torch.manual_seed(0)
    return Model(), (torch.ones(2, 3),)
"""


def _after_decompositions(edit: Any) -> Iterator[None]:
    """Edit each node that uses a parameter, once operators are decomposed."""

    def wrapper(decompose: Any, program: Any, *given: Any, **rest: Any) -> Any:
        decomposed = decompose(program, *given, **rest)
        learned = decomposed.graph_signature.inputs_to_parameters
        for node in [node for node in decomposed.graph.nodes if node.name in learned]:
            with decomposed.graph.inserting_before(next(iter(node.users))):
                edited = edit(decomposed.graph, node)
                edited.meta = dict(node.meta)
            uses = [user for user in node.users if user is not edited and user not in edited.all_input_nodes]
            for user in uses:
                user.replace_input_with(node, edited)
        decomposed.graph_module.recompile()
        return decomposed

    with wrapped(ExportedProgram, "run_decompositions", wrapper):
        yield


@fault(check="gradients", paths="*+functionalize:module*", source=CUBED)
def decomposed_programs_detach_their_parameters() -> Iterator[None]:
    """In a decomposed program, no gradient reaches the parameters."""
    yield from _after_decompositions(
        lambda graph, node: graph.call_function(torch.ops.aten.detach.default, (node,))
    )


@fault(check="gradients", paths="*+functionalize:module*", source=CUBED)
def decomposed_programs_double_gradients() -> Iterator[None]:
    """In a decomposed program, the gradients of parameters are twice as large."""

    def twice(graph: Any, node: Any) -> Any:
        ops = torch.ops.aten
        constant = graph.call_function(ops.detach.default, (node,))
        constant.meta = dict(node.meta)
        double = graph.call_function(ops.mul.Tensor, (node, 2))
        double.meta = dict(node.meta)
        return graph.call_function(ops.sub.Tensor, (double, constant))

    yield from _after_decompositions(twice)


@fault(check="memory", paths="nonstrict+freed:module*", source=LINEAR)
def programs_are_kept_for_the_next_export() -> Iterator[None]:
    """A table keeps every exported program."""
    table: list[object] = []

    def wrapper(init: Any, self: Any, *given: Any, **rest: Any) -> None:
        init(self, *given, **rest)
        table.append(self)

    with wrapped(ExportedProgram, "__init__", wrapper):
        yield
    table.clear()


@fault(check="memory", paths="nonstrict+freed:unflatten*", source=LINEAR)
def an_unflattened_module_keeps_its_program() -> Iterator[None]:
    """A cache of unflattened modules, by their programs, is never emptied."""
    cache: dict[int, tuple[object, ...]] = {}

    def wrapper(init: Any, self: Any, program: Any, *given: Any, **rest: Any) -> None:
        init(self, program, *given, **rest)
        cache[id(program)] = program, self

    with wrapped(UnflattenedModule, "__init__", wrapper):
        yield
    cache.clear()


@fault(check="outputs", paths="*+trained:unflatten*", source=LINEAR)
def a_parameter_with_a_gradient_is_a_constant() -> Iterator[None]:
    """An unflattened module computes no gradient for a parameter that still has one."""

    def wrapper(read: Any, self: Any, *given: Any) -> Any:
        value = read(self, *given)
        has_gradient = isinstance(value, torch.nn.Parameter) and value.grad is not None
        return value.detach() if has_gradient else value

    with wrapped(torch.fx.Interpreter, "get_attr", wrapper):
        yield


@fault(check="outputs", paths="*+trained:module*", source=LINEAR)
def gradients_are_accumulated_twice() -> Iterator[None]:
    """A backward pass of ep.module() adds each gradient of a parameter twice."""

    def double(p: torch.Tensor) -> None:
        if p.grad is not None:
            p.grad.mul_(2)

    def wrapper(module: Any, program: Any, *given: Any, **rest: Any) -> Any:
        made = module(program, *given, **rest)
        for p in made.parameters():
            p.register_post_accumulate_grad_hook(double)
        return made

    with wrapped(ExportedProgram, "module", wrapper):
        yield


@fault(check="outputs", paths="*+differentiated:module*", source=CUBED)
def gradients_have_no_history() -> Iterator[None]:
    """The gradients of the parameters of ep.module() cannot be differentiated."""

    def wrapper(module: Any, program: Any, *given: Any, **rest: Any) -> Any:
        made = module(program, *given, **rest)
        for p in made.parameters():
            p.register_hook(lambda gradient: gradient.detach())
        return made

    with wrapped(ExportedProgram, "module", wrapper):
        yield


@fault(check="outputs", paths="*+differentiated:unflatten*", source=CUBED)
def gradients_of_gradients_are_doubled() -> Iterator[None]:
    """The gradients of the gradients of an unflattened module are twice as large."""

    def wrapper(init: Any, self: Any, *given: Any, **rest: Any) -> None:
        init(self, *given, **rest)
        for p in self.parameters():
            p.register_hook(lambda gradient: 2 * gradient - gradient.detach())

    with wrapped(UnflattenedModule, "__init__", wrapper):
        yield


@fault(check="outputs", paths="*+threaded:unflatten*", source=NESTED)
def a_call_is_negated_by_a_call_in_another_thread() -> Iterator[None]:
    """An unflattened module keeps a value of the running call where a second call overwrites it."""
    latest: dict[str, object] = {}

    def wrapper(forward: Any, *args: Any, **kwargs: Any) -> Any:
        latest["thread"] = threading.get_ident()
        out = forward(*args, **kwargs)
        return out if latest["thread"] == threading.get_ident() else -out

    with wrapped(UnflattenedModule, "forward", wrapper):
        yield


@fault(check="outputs", paths="*+threaded:module*", source=LINEAR)
def only_the_main_thread_computes_gradients() -> Iterator[None]:
    """ep.module() runs without gradients in all threads but the main one."""

    def wrapper(call: Any, *args: Any, **kwargs: Any) -> Any:
        with torch.set_grad_enabled(threading.current_thread() is threading.main_thread()):
            return call(*args, **kwargs)

    with wrapped(_WrappedCall, "__call__", wrapper):
        yield
