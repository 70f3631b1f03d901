"""Faults of torch.compile: Dynamo's guards, graphs, side effects, and what it leaves behind."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any
from unittest import mock

import torch
import torch._dynamo.guards as guarding
from torch._dynamo import convert_frame
from torch._dynamo.codegen import PyCodegen
from torch._dynamo.output_graph import OutputGraph
from torch._dynamo.side_effects import SideEffects
from torch._dynamo.source import AttrSource
from torch._dynamo.variables import TensorVariable

from harness.faults.models import INPUT_IN_PLACE, SIZE
from harness.faults.registry import fault, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATHS = "compile:*"

# By way of contiguous: Dynamo breaks the graph at an in-place view of what it knows to be an input.
TRANSPOSED_BUFFER = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scratch", torch.ones(2, 3))

    def forward(self, x):
        return x + self.scratch.contiguous().t_().sum()


def make():
    return Model(), (torch.ones(2, 3),)
"""

FLAG = """
class Model(nn.Module):
    def forward(self, x, flag):
        return x * 2 if flag else x + 2


def make():
    return Model(), (torch.full((2, 3), 0.5), True)
"""

NUMBER = """
class Model(nn.Module):
    def forward(self, x, n):
        return x * n


def make():
    return Model(), (torch.ones(2, 3), 4)
"""

STEP = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 1

    def forward(self, x):
        y = x * self.step
        self.step = self.step + 1
        return y


def make():
    return Model(), (torch.ones(2, 3),)
"""

LAST = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = "nothing"

    def forward(self, x):
        self.last = "forward"
        return x * 2


def make():
    return Model(), (torch.ones(2, 3),)
"""

GRAD_MODE = """
class Model(nn.Module):
    def forward(self, x):
        y = x * 2 if torch.is_grad_enabled() else x + 2
        torch.set_grad_enabled(False)
        return y


def make():
    return Model(), (torch.full((2, 3), 0.5),)
"""

SAME = """
class Model(nn.Module):
    def forward(self, x, y):
        return x * 2 if x is y else x - y


def make():
    return Model(), (torch.ones(2, 3), torch.full((2, 3), 0.5))
"""

STRIDES = """
class Model(nn.Module):
    def forward(self, x):
        return x * x.stride(0)


def make():
    return Model(), (torch.ones(2, 3),)
"""

BREAK = """
class Model(nn.Module):
    def forward(self, x):
        a = x + 1
        b = x * 2
        torch._dynamo.graph_break()
        return a - b


def make():
    return Model(), (torch.full((2, 3), 0.5),)
"""

BREAK_UNDER_NO_GRAD = """
class Model(nn.Module):
    def forward(self, x):
        with torch.no_grad():
            y = x * 2
            torch._dynamo.graph_break()
            y = y + 1
        return y


def make():
    return Model(), (torch.ones(2, 3),)
"""

DOUBLE = """
class Model(nn.Module):
    def forward(self, x):
        return x * 2


def make():
    return Model(), (torch.ones(2, 3),)
"""

KEPT = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = None

    def forward(self, x):
        self.kept = x + 1
        return x * 2


def make():
    return Model(), (torch.ones(2, 3),)
"""


def _before_guards(change: Callable[[list[Any], Any], list[Any]]) -> Any:
    """Change the list of guards, or what they are about to be made from."""

    def wrapper(
        build: Any, self: Any, guards: Any, known: Any, code: Any, graph: Any, *rest: Any, **kw: Any
    ) -> Any:
        return build(self, change(guards, graph), known, code, graph, *rest, **kw)

    return wrapped(guarding.CheckFunctionManager, "build_guards", wrapper)


def _without_guards(drop: Callable[[Any], bool]) -> Any:
    return _before_guards(lambda guards, graph: [guard for guard in guards if not drop(guard)])


def _in_graphs(change: Callable[[Any], None]) -> Any:
    """Change each graph that Dynamo has traced, before it is compiled."""

    def wrapper(compile_graph: Any, self: Any, module: Any, *rest: Any) -> Any:
        change(module.graph)
        module.recompile()
        return compile_graph(self, module, *rest)

    return wrapped(OutputGraph, "call_user_compiler", wrapper)


def _always_true(*_: Any) -> bool:
    return True


@fault(check="guards", paths=PATHS, source=TRANSPOSED_BUFFER, cites="issue 93610, PR 100128")
def guards_describe_what_became_of_a_tensor() -> Iterator[None]:
    """Guards are written from fake tensors that the trace has changed in place: never valid."""

    def current(guards: list[Any], graph: Any) -> list[Any]:
        for tracked in graph.shape_env.tracked_fakes:
            if isinstance(tracked.fake, torch.Tensor):
                sizes = {"size": tracked.fake.size(), "stride": tracked.fake.stride()}
                graph.input_source_to_sizes_strides[tracked.source] = sizes
        return guards

    # Today Dynamo tries its guards right after it made them; when the bug was there, it did not.
    unchecked = mock.patch.object(guarding.GuardManagerWrapper, "check", _always_true)
    with _before_guards(current), unchecked:
        yield


@fault(check="guards", paths=PATHS, source=DOUBLE)
def guards_ask_for_the_very_tensor() -> Iterator[None]:
    """A guard compares the identity of an input, which is another object in every call."""

    def wrapper(match: Any, self: Any, guard: Any, value: Any = None) -> None:
        self.ID_MATCH(guard)

    with _renamed(guarding.GuardBuilder, "TENSOR_MATCH", wrapper):
        yield


@contextlib.contextmanager
def _renamed(owner: Any, name: str, wrapper: Callable[..., object]) -> Iterator[None]:
    """Replace ``owner.name`` as ``wrapped`` does; Dynamo knows its guards by the name of their function."""
    with wrapped(owner, name, wrapper):
        getattr(owner, name).__name__ = name
        yield


@fault(check="guards", paths=PATHS, source=FLAG)
def guards_always_pass() -> Iterator[None]:
    """No guard is installed: every call runs what the first one compiled."""
    with _without_guards(lambda guard: True):
        yield


_ON_VALUES = ("EQUALS_MATCH", "CONSTANT_MATCH")


@fault(check="guards", paths=PATHS, source=NUMBER)
def numbers_are_not_guarded() -> Iterator[None]:
    """The guard on the value of a Python number is dropped."""
    with _without_guards(lambda guard: guard.create_fn_name() in _ON_VALUES):
        yield


@fault(check="outputs", paths=PATHS, source=STEP)
def attributes_are_not_guarded() -> Iterator[None]:
    """The guards on the values of Python attributes are dropped."""

    def on_attribute(guard: Any) -> bool:
        return isinstance(guard.originating_source, AttrSource) and guard.create_fn_name() in _ON_VALUES

    with _without_guards(on_attribute):
        yield


@fault(check="outputs", paths=PATHS, source=GRAD_MODE)
def grad_mode_is_not_guarded() -> Iterator[None]:
    """What was compiled with gradients on serves calls with gradients off."""
    with _without_guards(lambda guard: guard.create_fn_name() in ("GRAD_MODE", "GLOBAL_STATE")):
        yield


@fault(check="outputs", paths=PATHS, source=SIZE)
def sizes_are_not_guarded() -> Iterator[None]:
    """A tensor guard takes tensors of any size, though the graph holds the first one's as a number."""
    with _any_metadata("size"):
        yield


@fault(check="guards", paths=PATHS, source=STRIDES)
def strides_are_not_guarded() -> Iterator[None]:
    """A tensor guard takes tensors of any strides, though the graph holds the first one's as a number."""
    with _any_metadata("stride"):
        yield


def _any_metadata(word: str) -> Any:
    def forget(guards: list[Any], graph: Any) -> list[Any]:
        noted = graph.input_source_to_sizes_strides
        for source, metadata in noted.items():
            noted[source] = {**metadata, word: (None,) * len(metadata[word])}
        return guards

    return _before_guards(forget)


@fault(check="guards", paths=PATHS, source=SAME)
def aliasing_is_not_guarded() -> Iterator[None]:
    """What was compiled for two tensors serves a call with one tensor twice."""
    with mock.patch.object(guarding, "install_no_tensor_aliasing_guard", lambda *_: None):
        yield


@fault(check="state", paths=PATHS, source=TRANSPOSED_BUFFER)
def a_view_in_place_is_lost() -> Iterator[None]:
    """The graph makes a view of other dimensions instead of giving them to the tensor itself."""

    def change(graph: Any) -> None:
        for name in ("t", "transpose", "swapaxes", "swapdims", "squeeze", "unsqueeze"):
            _rename(graph, f"{name}_", name)

    with _in_graphs(change):
        yield


@fault(check="inputs", paths=PATHS, source=INPUT_IN_PLACE)
def an_update_of_an_input_is_lost() -> Iterator[None]:
    """The graph computes the new value of an input and does not write it."""
    with _in_graphs(lambda graph: _rename(graph, "mul_", "mul")):
        yield


def _rename(graph: Any, method: str, other: str) -> None:
    for node in graph.nodes:
        if node.op == "call_method" and node.target == method:
            node.target = other


@fault(check="state", paths=PATHS, source=LAST)
def side_effects_are_not_replayed() -> Iterator[None]:
    """What the model assigns to its attributes stays inside the trace."""
    with wrapped(SideEffects, "codegen_update_mutated", lambda original, *args: None):
        yield


@fault(check="outputs", paths=PATHS, source=BREAK)
def a_graph_break_swaps_locals() -> Iterator[None]:
    """After a graph break two live variables have each other's values."""

    def wrapper(restore: Any, self: Any, values: list[Any], **kwargs: Any) -> None:
        places = [place for place, value in enumerate(values) if isinstance(value, TensorVariable)]
        swapped = dict(zip(places, reversed(places), strict=True))
        restore(self, [values[swapped.get(place, place)] for place in range(len(values))], **kwargs)

    with wrapped(PyCodegen, "restore_stack", wrapper):
        yield


@fault(check="purity", paths=PATHS, source=BREAK_UNDER_NO_GRAD)
def a_graph_break_leaves_grad_mode_off() -> Iterator[None]:
    """A graph that ends inside of torch.no_grad does not switch gradients on again."""

    def change(graph: Any) -> None:
        switches = [node for node in graph.nodes if node.target is torch._C._set_grad_enabled]
        if switches:
            graph.erase_node(switches[-1])

    with _in_graphs(change):
        yield


@fault(check="purity", paths=PATHS, source=DOUBLE)
def compiling_draws_random_numbers() -> Iterator[None]:
    """A compilation advances the global random number generator."""

    def wrapper(compile_frame: Any, *args: Any, **kwargs: Any) -> Any:
        output = compile_frame(*args, **kwargs)
        torch.rand(1)
        return output

    with wrapped(convert_frame, "compile_frame", wrapper):
        yield


@fault(check="state", paths=PATHS, source=KEPT)
def a_trace_leaves_a_fake_tensor() -> Iterator[None]:
    """The module keeps the fake tensor of its trace where the real one belongs."""

    def wrapper(update: Any, self: Any, *args: Any, **kwargs: Any) -> None:
        for item, attributes in self.store_attr_mutations.items():
            for name, value in attributes.items():
                setattr(item.value, name, value.as_proxy().node.meta["example_value"])

    with wrapped(SideEffects, "codegen_update_mutated", wrapper):
        yield
