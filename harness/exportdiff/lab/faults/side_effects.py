"""Faults of the side effects of torch.export.export: changes that remain on the model or in the process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.export._trace as trace
from torch._functorch._aot_autograd import frontend_utils
from torch.export import ExportedProgram
from torch.nn.modules import module
from torch.nn.utils import stateless

from exportdiff.lab.faults.exporting import COUNTER, LINEAR
from exportdiff.lab.faults.registry import fault, wrapped
from exportdiff.runtime.patching.editing import edited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

REFUSED = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        y = self.linear(x)
        return y if y.sum() > 0 else -y
"""

SHARED = """
class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(3))

    def forward(self, x):
        return x * self.scale


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = Child()
        self.two = self.one

    def forward(self, x):
        return self.one(self.two(x))
"""

CALLS = """
class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x * 2


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(x)
"""


NONE = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("late", None)

    def forward(self, x):
        return x * 2
"""


def _after_export(then: Callable[[Any, Any], object]) -> Any:
    """Call ``then(model, program)`` after each export."""

    def wrapper(export: Any, model: Any, *args: Any, **kwargs: Any) -> Any:
        program = export(model, *args, **kwargs)
        then(model, program)
        return program

    return wrapped(trace, "_export", wrapper)


@fault(check="purity", paths="nonstrict:*", source=REFUSED)
def a_failed_export_leaves_fake_tensors() -> AbstractContextManager[object]:
    """The model gets its own parameters back only if tracing succeeds."""
    return edited(
        stateless._reparametrize_module,
        "    finally:\n        if stack_weights:",
        "    except ZeroDivisionError:\n        raise\n    else:\n        if stack_weights:",
    )


@fault(check="purity", paths="nonstrict:*", source=SHARED, cites="PR 124847")
def a_shared_submodule_keeps_fake_tensors() -> AbstractContextManager[object]:
    """A tensor that was swapped twice stays fake, because export undoes the swaps in the wrong order."""
    return edited(
        trace._export_to_aten_ir_make_fx,
        "                stack_weights=True,\n",
        "                stack_weights=False,\n",
    )


@fault(check="purity", paths="nonstrict:*", source=CALLS, cites="PR 161589")
def attributes_of_submodules_are_not_restored() -> AbstractContextManager[object]:
    """Export restores plain attributes that forward changed on the root model, but not on its submodules."""
    return edited(
        frontend_utils._detect_attribute_assignment,
        "            result[name] = _get_attributes(submodule)\n",
        "            result[name] = _get_attributes(submodule)\n            break\n",
    )


@fault(check="purity", paths="nonstrict:*", source=LINEAR)
def export_leaves_the_model_in_eval_mode() -> AbstractContextManager[object]:
    """Export switches the model to eval mode for tracing, and does not switch it back."""
    return edited(trace._non_strict_export, "wrapped_mod = Wrapper(mod)", "wrapped_mod = Wrapper(mod).eval()")


@fault(check="purity", paths="*strict:*", source=LINEAR)
def export_leaves_grad_mode_off() -> Iterator[None]:
    """Export restores the opposite of the grad mode that it found."""
    before = torch.is_grad_enabled()
    try:
        with edited(
            trace._export_to_aten_ir_make_fx,
            "torch._C._set_grad_enabled(old_state)",
            "torch._C._set_grad_enabled(not old_state)",
        ):
            yield
    finally:
        torch.set_grad_enabled(before)


@fault(check="purity", paths="nonstrict:*", source=COUNTER)
def export_mutates_the_real_buffers() -> Iterator[None]:
    """Export applies an in-place update to the model's own buffers."""

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


@fault(check="purity", paths="nonstrict:*", source=REFUSED, cites="PR 172567")
def a_failed_export_leaves_a_hook() -> Iterator[None]:
    """The hook that watches assignments to buffers is removed only if tracing succeeds."""
    hooks = dict(module._global_buffer_registration_hooks)
    try:
        with edited(
            trace._export_to_aten_ir_make_fx,
            "            finally:\n                if hook is not None:",
            "            except ZeroDivisionError:\n                raise\n"
            "            else:\n                if hook is not None:",
        ):
            yield
    finally:
        module._global_buffer_registration_hooks.clear()
        module._global_buffer_registration_hooks.update(hooks)


@fault(check="purity", paths="nonstrict:*", source=LINEAR)
def export_prints_the_graph() -> AbstractContextManager[object]:
    """Export prints the graph, as a forgotten debug print would."""
    return edited(
        trace._non_strict_export, 'log.debug("Exported program from AOTAutograd:\\n%s", gm)', "print(gm)"
    )


@fault(check="purity", paths="nonstrict:*", source=LINEAR)
def export_leaves_a_hook() -> Iterator[None]:
    """Export leaves a forward hook on the model."""
    with _after_export(lambda model, program: model.register_forward_hook(lambda *_: None)):
        yield


@fault(check="purity", paths="nonstrict:*", source=NONE)
def export_registers_a_buffer_that_was_none() -> Iterator[None]:
    """A buffer that was None is a tensor after the export."""
    with _after_export(lambda model, program: model.register_buffer("late", torch.ones(1))):
        yield


@fault(check="purity", paths="nonstrict:module*", source=LINEAR)
def a_call_renames_the_nodes_of_the_program() -> Iterator[None]:
    """Calling what ep.module() returns renames the nodes of the program that it came from."""

    def wrapper(make: Any, self: ExportedProgram, *given: Any, **rest: Any) -> Any:
        def rename(*_: object) -> None:
            for node in self.graph.find_nodes(op="call_function", target=torch.ops.aten.linear.default):
                node.name += "_"

        module = make(self, *given, **rest)
        module.register_forward_hook(rename)
        return module

    with wrapped(ExportedProgram, "module", wrapper):
        yield
