"""Settings of the whole process, such as grad mode: reading them, and restoring them after a stage."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import torch
from torch._C import _len_torch_function_stack
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
from torch.nn.modules.module import _global_buffer_registration_hooks
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

from exportdiff.core.torch_versions.running import is_exporting

if TYPE_CHECKING:
    from collections.abc import Iterator


def read_process_state() -> dict[str, object]:
    """Return the settings of the whole process, by name."""
    with temporarily_clear_interpreter_stack():  # on a level that was left, new tensors are wrappers
        random_numbers = torch.get_rng_state().numpy().tobytes()
    return {
        "grad mode": torch.is_grad_enabled(),
        "default dtype": str(torch.get_default_dtype()),
        "autocast": torch.is_autocast_enabled("cpu"),
        "depth of autocast": autocast_depth(),
        "inference mode": torch.is_inference_mode_enabled(),
        "default device": str(torch.get_default_device()),
        "anomaly mode": torch.is_anomaly_enabled(),
        "dispatch modes": len(_get_current_dispatch_mode_stack()),
        "function modes": _len_torch_function_stack(),
        "functorch level": _functorch_level(),
        "whether export is running": is_exporting(),
        "hooks on all modules": len(_global_buffer_registration_hooks),
        "global random number generator": random_numbers,
    }


def _functorch_level() -> int:
    interpreter = torch._C._functorch.peek_interpreter_stack()
    return 0 if interpreter is None else int(interpreter.level())


@contextlib.contextmanager
def restore_modes() -> Iterator[None]:
    """Restore the modes on exit: a model may change them, and so may a graph that fails halfway.

    Hooks on all modules as well: up to torch 2.12, export leaves its own if it fails.
    """
    grad, dtype = torch.is_grad_enabled(), torch.get_default_dtype()
    casts = {device: _autocast(device) for device in ("cpu", "cuda")}
    depth, level, is_dual = autocast_depth(), _functorch_level(), _dual_level_is_open()
    hooks = dict(_global_buffer_registration_hooks)
    refusal = _refusal_of_saved_tensors_hooks()
    try:
        yield
    finally:
        _global_buffer_registration_hooks.clear()
        _global_buffer_registration_hooks.update(hooks)
        if not is_dual and _dual_level_is_open():  # as one that fails inside of jvp
            torch._C._exit_dual_level(level=0)
        while _functorch_level() > level:  # as a graph leaves it that fails inside of vmap
            torch._C._functorch.pop_dynamic_layer_stack()
        if refusal is None and _refusal_of_saved_tensors_hooks() is not None:  # as it fails inside of grad
            torch._C._autograd._saved_tensors_hooks_enable()
        if autocast_depth() > depth:  # torch clears the cache only when the outermost autocast exits
            torch.clear_autocast_cache()
        while autocast_depth() > depth:
            torch.autocast_decrement_nesting()
        torch.set_grad_enabled(grad)
        torch.set_default_dtype(dtype)
        for device, before in casts.items():
            if _autocast(device) != before:
                torch.set_autocast_enabled(device, before[0])
                torch.set_autocast_dtype(device, before[1])
                # It holds weights that were cast before; for another model they are wrong.
                torch.clear_autocast_cache()


def _dual_level_is_open() -> bool:
    """Whether forward-mode AD is at its level, of which there may be one only."""
    try:
        level = torch._C._enter_dual_level()
    except RuntimeError:
        return True
    torch._C._exit_dual_level(level=level)
    return False


def _refusal_of_saved_tensors_hooks() -> str | None:
    """Return the error that hooks on saved tensors raise (a checkpoint sets some); None: they are allowed."""
    message: str | None = torch._C._autograd._saved_tensors_hooks_get_disabled_error_message()
    return message


def autocast_depth() -> int:
    """Return how many nested autocast blocks are open."""
    depth = torch.autocast_increment_nesting() - 1
    torch.autocast_decrement_nesting()
    return int(depth)


def _autocast(device: str) -> tuple[bool, torch.dtype]:
    return torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)
