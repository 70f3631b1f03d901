"""Faults of torch.compile: Dynamo's guards, graphs, side effects, and changes that remain."""

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

from exportdiff.lab.faults.models import FLAG, INPUT_IN_PLACE, SIZE
from exportdiff.lab.faults.registry import fault, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

PATHS = "compile:*"

# With contiguous(), because Dynamo breaks the graph at an in-place view of a graph input.
TRANSPOSED_BUFFER = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scratch", torch.ones(2, 3))

    def forward(self, x):
        return x + self.scratch.contiguous().t_().sum()
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
"""

LAST = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = "nothing"

    def forward(self, x):
        self.last = "forward"
        return x * 2
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
"""

DOUBLE = """
class Model(nn.Module):
    def forward(self, x):
        return x * 2
"""

KEPT = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = None

    def forward(self, x):
        self.kept = x + 1
        return x * 2
"""


def _with_changed_guards(change: Callable[[list[Any], Any], list[Any]]) -> Any:
    """Call ``change(guards, graph)`` before Dynamo builds its guards; the result replaces ``guards``."""

    def wrapper(
        build: Any, self: Any, guards: Any, known: Any, code: Any, graph: Any, *rest: Any, **kw: Any
    ) -> Any:
        return build(self, change(guards, graph), known, code, graph, *rest, **kw)

    return wrapped(guarding.CheckFunctionManager, "build_guards", wrapper)


def _without_guards(drop: Callable[[Any], bool]) -> Any:
    return _with_changed_guards(lambda guards, graph: [guard for guard in guards if not drop(guard)])


def _with_changed_graphs(change: Callable[[Any], None]) -> Any:
    """Call ``change`` on each graph that Dynamo has traced, before the graph is compiled."""

    def wrapper(compile_graph: Any, self: Any, module: Any, *rest: Any) -> Any:
        change(module.graph)
        module.recompile()
        return compile_graph(self, module, *rest)

    return wrapped(OutputGraph, "call_user_compiler", wrapper)


def _always_true(*_: Any) -> bool:
    return True


@fault(check="guards", paths=PATHS, source=TRANSPOSED_BUFFER, cites="issue 93610, PR 100128")
def guards_describe_mutated_tensors() -> Iterator[None]:
    """Guards are built from fake tensors that the trace has mutated, so they never pass."""

    def use_current_metadata(guards: list[Any], graph: Any) -> list[Any]:
        for tracked in graph.shape_env.tracked_fakes:
            if isinstance(tracked.fake, torch.Tensor):
                sizes = {"size": tracked.fake.size(), "stride": tracked.fake.stride()}
                graph.input_source_to_sizes_strides[tracked.source] = sizes
        return guards

    # Dynamo now checks new guards immediately; versions of torch with this bug did not.
    unchecked = mock.patch.object(guarding.GuardManagerWrapper, "check", _always_true)
    with _with_changed_guards(use_current_metadata), unchecked:
        yield


@fault(check="guards", paths=PATHS, source=DOUBLE)
def guards_compare_tensor_identity() -> Iterator[None]:
    """The guard on an input tensor compares its identity, but every call passes a new tensor object."""

    def wrapper(match: Any, self: Any, guard: Any, value: Any = None) -> None:
        self.ID_MATCH(guard)

    with _wrapped_guard(guarding.GuardBuilder, "TENSOR_MATCH", wrapper):
        yield


@contextlib.contextmanager
def _wrapped_guard(owner: Any, name: str, wrapper: Callable[..., object]) -> Iterator[None]:
    """Replace ``owner.name`` as ``wrapped`` does, and keep the function's name, which Dynamo reads."""
    with wrapped(owner, name, wrapper):
        getattr(owner, name).__name__ = name
        yield


@fault(check="guards", paths=PATHS, source=FLAG)
def guards_always_pass() -> Iterator[None]:
    """No guard is installed, so every call runs the code that was compiled for the first call."""
    with _without_guards(lambda guard: True):
        yield


_VALUE_GUARDS = ("EQUALS_MATCH", "CONSTANT_MATCH")


@fault(check="guards", paths=PATHS, source=NUMBER)
def numbers_are_not_guarded() -> Iterator[None]:
    """The guard on the value of a Python number is dropped."""
    with _without_guards(lambda guard: guard.create_fn_name() in _VALUE_GUARDS):
        yield


@fault(check="outputs", paths=PATHS, source=STEP)
def attributes_are_not_guarded() -> Iterator[None]:
    """The guards on the values of Python attributes are dropped."""

    def on_attribute(guard: Any) -> bool:
        return isinstance(guard.originating_source, AttrSource) and guard.create_fn_name() in _VALUE_GUARDS

    with _without_guards(on_attribute):
        yield


@fault(check="outputs", paths=PATHS, source=GRAD_MODE)
def grad_mode_is_not_guarded() -> Iterator[None]:
    """Code that was compiled with gradients on also serves calls with gradients off."""
    with _without_guards(lambda guard: guard.create_fn_name() in ("GRAD_MODE", "GLOBAL_STATE")):
        yield


@fault(check="outputs", paths=PATHS, source=SIZE)
def sizes_are_not_guarded() -> Iterator[None]:
    """A tensor guard accepts any size, although the graph has the first call's size as a constant."""
    with _without_metadata_guards("size"):
        yield


@fault(check="guards", paths=PATHS, source=STRIDES)
def strides_are_not_guarded() -> Iterator[None]:
    """A tensor guard accepts any strides, although the graph has the first call's stride as a constant."""
    with _without_metadata_guards("stride"):
        yield


def _without_metadata_guards(attribute: str) -> Any:
    def forget(guards: list[Any], graph: Any) -> list[Any]:
        noted = graph.input_source_to_sizes_strides
        for source, metadata in noted.items():
            noted[source] = {**metadata, attribute: (None,) * len(metadata[attribute])}
        return guards

    return _with_changed_guards(forget)


@fault(check="guards", paths=PATHS, source=SAME)
def aliasing_is_not_guarded() -> AbstractContextManager[object]:
    """Code that was compiled for two different tensors also serves a call that passes one tensor twice."""
    return mock.patch.object(guarding, "install_no_tensor_aliasing_guard", lambda *_: None)


@fault(check="state", paths=PATHS, source=TRANSPOSED_BUFFER)
def in_place_views_are_lost() -> Iterator[None]:
    """The graph makes a new view (t) where the model changes the shape of the tensor itself (t_)."""

    def change(graph: Any) -> None:
        for name in ("t", "transpose", "swapaxes", "swapdims", "squeeze", "unsqueeze"):
            _replace_method(graph, f"{name}_", name)

    with _with_changed_graphs(change):
        yield


@fault(check="inputs", paths=PATHS, source=INPUT_IN_PLACE)
def input_updates_are_lost() -> Iterator[None]:
    """The graph computes the new value of a mutated input but does not write it to the input."""
    with _with_changed_graphs(lambda graph: _replace_method(graph, "mul_", "mul")):
        yield


def _replace_method(graph: Any, method: str, other: str) -> None:
    for node in graph.nodes:
        if node.op == "call_method" and node.target == method:
            node.target = other


@fault(check="state", paths=PATHS, source=LAST)
def side_effects_are_not_replayed() -> AbstractContextManager[object]:
    """After tracing, Dynamo does not replay what the model assigned to its attributes."""
    return wrapped(SideEffects, "codegen_update_mutated", lambda original, *args: None)


@fault(check="outputs", paths=PATHS, source=BREAK)
def a_graph_break_swaps_locals() -> Iterator[None]:
    """After a graph break, the values of two live local variables are swapped."""

    def wrapper(restore: Any, self: Any, values: list[Any], **kwargs: Any) -> None:
        places = [place for place, value in enumerate(values) if isinstance(value, TensorVariable)]
        swapped = dict(zip(places, reversed(places), strict=True))
        restore(self, [values[swapped.get(place, place)] for place in range(len(values))], **kwargs)

    with wrapped(PyCodegen, "restore_stack", wrapper):
        yield


@fault(check="purity", paths=PATHS, source=BREAK_UNDER_NO_GRAD)
def a_graph_break_leaves_grad_mode_off() -> Iterator[None]:
    """A graph that ends inside torch.no_grad does not turn gradients on again."""

    def change(graph: Any) -> None:
        switches = [node for node in graph.nodes if node.target is torch._C._set_grad_enabled]
        if switches:
            graph.erase_node(switches[-1])

    with _with_changed_graphs(change):
        yield


@fault(check="purity", paths=PATHS, source=DOUBLE)
def compiling_draws_random_numbers() -> Iterator[None]:
    """Compiling advances the global random number generator."""

    def wrapper(compile_frame: Any, *args: Any, **kwargs: Any) -> Any:
        output = compile_frame(*args, **kwargs)
        torch.rand(1)
        return output

    with wrapped(convert_frame, "compile_frame", wrapper):
        yield


@fault(check="state", paths=PATHS, source=KEPT)
def a_trace_leaves_a_fake_tensor() -> Iterator[None]:
    """An attribute of the module holds the fake tensor of the trace instead of the real tensor."""

    def wrapper(update: Any, self: Any, *args: Any, **kwargs: Any) -> None:
        for item, attributes in self.store_attr_mutations.items():
            for name, value in attributes.items():
                setattr(item.value, name, value.as_proxy().node.meta["example_value"])

    with wrapped(SideEffects, "codegen_update_mutated", wrapper):
        yield
