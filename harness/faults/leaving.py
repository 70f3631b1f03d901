"""Faults of what torch.export.export leaves behind: on the model, and in the process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.export._trace as trace
from torch._functorch._aot_autograd import frontend_utils
from torch.nn.modules import module
from torch.nn.utils import stateless

from harness.faults.exporting import COUNTER, LINEAR
from harness.faults.registry import fault, wrapped
from harness.patching.editing import edited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

REFUSED = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        y = self.linear(x)
        return y if y.sum() > 0 else -y


def make():
    return Model(), (torch.ones(2, 3),)
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


def make():
    return Model(), (torch.ones(2, 3),)
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


def make():
    return Model(), (torch.ones(2, 3),)
"""


def _after_export(then: Callable[[Any, Any], object]) -> Any:
    def wrapper(export: Any, model: Any, *args: Any, **kwargs: Any) -> Any:
        program = export(model, *args, **kwargs)
        then(model, program)
        return program

    return wrapped(trace, "_export", wrapper)


@fault(check="purity", paths="nonstrict:*", source=REFUSED)
def a_failed_export_leaves_fake_tensors() -> Iterator[None]:
    """The model gets its own parameters back only where tracing succeeds."""
    with edited(
        stateless._reparametrize_module,
        "    finally:\n        if stack_weights:",
        "    except ZeroDivisionError:\n        raise\n    else:\n        if stack_weights:",
    ):
        yield


@fault(check="purity", paths="nonstrict:*", source=SHARED, cites="PR 124847")
def a_shared_submodule_is_left_with_fake_tensors() -> Iterator[None]:
    """Tensors that were swapped twice are not restored from the last to the first."""
    with edited(
        trace._export_to_aten_ir_make_fx,
        "                stack_weights=True,\n",
        "                stack_weights=False,\n",
    ):
        yield


@fault(check="purity", paths="nonstrict:*", source=CALLS, cites="PR 161589")
def attributes_of_submodules_stay_as_forward_left_them() -> Iterator[None]:
    """What forward did to plain attributes is undone on the model itself, and on no submodule."""
    with edited(
        frontend_utils._detect_attribute_assignment,
        "            result[name] = _get_attributes(submodule)\n",
        "            result[name] = _get_attributes(submodule)\n            break\n",
    ):
        yield


@fault(check="purity", paths="nonstrict:*", source=LINEAR)
def export_leaves_the_model_in_eval_mode() -> Iterator[None]:
    """The model is switched to eval mode to be traced, and not back."""
    with edited(trace._non_strict_export, "wrapped_mod = Wrapper(mod)", "wrapped_mod = Wrapper(mod).eval()"):
        yield


@fault(check="purity", paths="*strict:*", source=LINEAR)
def export_leaves_grad_mode_off() -> Iterator[None]:
    """The grad mode that is restored is not the one that was found."""
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


@fault(check="purity", paths="nonstrict:*", source=REFUSED, cites="PR 172567")
def a_failed_export_leaves_a_hook() -> Iterator[None]:
    """The hook that watches buffers being assigned is removed only where tracing succeeds."""
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
def export_prints_the_graph() -> Iterator[None]:
    """A print that somebody debugged with."""
    with edited(
        trace._non_strict_export, 'log.debug("Exported program from AOTAutograd:\\n%s", gm)', "print(gm)"
    ):
        yield


@fault(check="purity", paths="nonstrict:*", source=LINEAR)
def export_leaves_a_hook() -> Iterator[None]:
    """Export forgets to remove a forward hook."""
    with _after_export(lambda model, program: model.register_forward_hook(lambda *_: None)):
        yield
