"""What is switched for the whole process: read it, and put it back after a stage."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import torch
from torch._C import _len_torch_function_stack
from torch.nn.modules.module import _global_buffer_registration_hooks
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

if TYPE_CHECKING:
    from collections.abc import Iterator


def read_process_state() -> dict[str, object]:
    """Write down what is switched for the whole process."""
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
        "whether export is running": torch.compiler.is_exporting(),
        "hooks on all modules": len(_global_buffer_registration_hooks),
        "global random number generator": torch.get_rng_state().numpy().tobytes(),
    }


def _functorch_level() -> int:
    interpreter = torch._C._functorch.peek_interpreter_stack()
    return 0 if interpreter is None else int(interpreter.level())


@contextlib.contextmanager
def restore_modes() -> Iterator[None]:
    """Undo what a stage may leave switched: a model may do so, and a graph that fails halfway."""
    grad, dtype = torch.is_grad_enabled(), torch.get_default_dtype()
    casts = {device: _autocast(device) for device in ("cpu", "cuda")}
    depth = autocast_depth()
    try:
        yield
    finally:
        if autocast_depth() > depth:  # the cache lives until the outermost autocast is left
            torch.clear_autocast_cache()
        while autocast_depth() > depth:
            torch.autocast_decrement_nesting()
        torch.set_grad_enabled(grad)
        torch.set_default_dtype(dtype)
        for device, before in casts.items():
            if _autocast(device) != before:
                torch.set_autocast_enabled(device, before[0])
                torch.set_autocast_dtype(device, before[1])
                # It holds weights as they were cast at some time: of no use, and wrong, to anybody else.
                torch.clear_autocast_cache()


def autocast_depth() -> int:
    """Return how many autocast blocks are open, one inside of the other."""
    depth = torch.autocast_increment_nesting() - 1
    torch.autocast_decrement_nesting()
    return int(depth)


def _autocast(device: str) -> tuple[bool, torch.dtype]:
    return torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)
