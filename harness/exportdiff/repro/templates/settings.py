"""What is set for the whole process, and an export or a call can leave changed: one expression for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable


def grad_mode() -> Any:
    """Return whether gradients are recorded."""
    return torch.is_grad_enabled()


def default_dtype() -> Any:
    """Return the dtype of new tensors."""
    return torch.get_default_dtype()


def autocast() -> Any:
    """Return whether autocast is on."""
    return torch.is_autocast_enabled("cpu")


def autocast_depth() -> Any:
    """Return how many autocast blocks are open."""
    return min(torch.autocast_increment_nesting(), torch.autocast_decrement_nesting())


def random_state() -> Any:
    """Return the state of the global random number generator."""
    return torch.get_rng_state().tolist()


def inference_mode() -> Any:
    """Return whether inference mode is on."""
    return torch.is_inference_mode_enabled()


def default_device() -> Any:
    """Return the device of new tensors."""
    return torch.get_default_device()


def anomaly_mode() -> Any:
    """Return whether autograd looks for anomalies."""
    return torch.is_anomaly_enabled()


def dispatch_modes() -> Any:
    """Return how many dispatch modes are open."""
    return len(torch.utils._python_dispatch._get_current_dispatch_mode_stack())


def function_modes() -> Any:
    """Return how many torch function modes are open."""
    return torch._C._len_torch_function_stack()


def functorch_level() -> Any:
    """Return whether a transform of functorch is open."""
    return torch._C._functorch.peek_interpreter_stack() is not None


def exporting() -> Any:
    """Return whether torch believes that an export is running."""
    return torch.compiler.is_exporting()


def global_hooks() -> Any:
    """Return how many hooks there are on all modules."""
    return len(torch.nn.modules.module._global_buffer_registration_hooks)


SETTINGS: dict[str, Callable[[], Any]] = {
    "grad mode": grad_mode,
    "default dtype": default_dtype,
    "autocast": autocast,
    "depth of autocast": autocast_depth,
    "global random number generator": random_state,
    "inference mode": inference_mode,
    "default device": default_device,
    "anomaly mode": anomaly_mode,
    "dispatch modes": dispatch_modes,
    "function modes": function_modes,
    "functorch level": functorch_level,
    "whether export is running": exporting,
    "hooks on all modules": global_hooks,
}
"""By the names in ``Environment.process_state`` (runtime/observing/process_state.py)."""
