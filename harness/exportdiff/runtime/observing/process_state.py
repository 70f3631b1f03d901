"""Settings of the whole process, such as grad mode: reading them, and restoring them after a stage."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
from torch.nn.modules.module import _global_buffer_registration_hooks

if TYPE_CHECKING:
    from collections.abc import Iterator


# Each of these functions returns one expression of plain torch, which repro files contain as well.


def grad_mode() -> bool:
    """Return whether gradients are recorded."""
    return torch.is_grad_enabled()


def default_dtype() -> str:
    """Return the dtype of new tensors."""
    return str(torch.get_default_dtype())


def autocast() -> bool:
    """Return whether autocast is on."""
    return torch.is_autocast_enabled("cpu")


def autocast_depth() -> int:
    """Return how many nested autocast blocks are open."""
    return min(torch.autocast_increment_nesting(), torch.autocast_decrement_nesting())


def inference_mode() -> bool:
    """Return whether inference mode is on."""
    return torch.is_inference_mode_enabled()


def default_device() -> str:
    """Return the device of new tensors."""
    return str(torch.get_default_device())


def anomaly_mode() -> bool:
    """Return whether autograd looks for anomalies."""
    return torch.is_anomaly_enabled()


def dispatch_modes() -> int:
    """Return how many dispatch modes are open."""
    return len(torch.utils._python_dispatch._get_current_dispatch_mode_stack())


def function_modes() -> int:
    """Return how many torch function modes are open."""
    return torch._C._len_torch_function_stack()


def functorch_level() -> int:
    """Return how many transforms of functorch are open."""
    return torch._C._functorch.maybe_current_level() or 0


def python_dispatcher() -> bool:
    """Return whether operators are dispatched in Python. Outside of an export, each one then raises."""
    return torch._C._dispatch_tls_is_dispatch_key_included("PythonDispatcher")


def exporting() -> bool:
    """Return whether torch believes that an export is running; False where torch has no such flag."""
    return hasattr(torch.compiler, "is_exporting") and torch.compiler.is_exporting()


def deterministic_algorithms() -> int:
    """Return whether torch avoids operators that are not deterministic: 0, or 1 to warn, or 2 to refuse."""
    return torch.get_deterministic_debug_mode()


def threads() -> int:
    """Return how many threads one operator may use."""
    return torch.get_num_threads()


def global_hooks() -> int:
    """Return how many hooks there are on all modules."""
    return len(torch.nn.modules.module._global_buffer_registration_hooks)


def random_state() -> bytes:
    """Return the state of the global random number generator."""
    return torch.get_rng_state().numpy().tobytes()


RANDOM_STATE = "global random number generator"
THREADS = "number of threads"
SETTINGS: dict[str, Callable[[], object]] = {
    "grad mode": grad_mode,
    "default dtype": default_dtype,
    "autocast": autocast,
    "depth of autocast": autocast_depth,
    "inference mode": inference_mode,
    "default device": default_device,
    "anomaly mode": anomaly_mode,
    "dispatch modes": dispatch_modes,
    "function modes": function_modes,
    "functorch level": functorch_level,
    "Python dispatcher": python_dispatcher,
    "whether export is running": exporting,
    "deterministic algorithms": deterministic_algorithms,
    THREADS: threads,
    "hooks on all modules": global_hooks,
    RANDOM_STATE: random_state,
}
"""The settings of the whole process that an export or a call can leave changed."""


def read_process_state() -> dict[str, object]:
    """Return the settings of the whole process, by name; then switch off the Python dispatcher."""
    state = {name: read() for name, read in SETTINGS.items() if name != RANDOM_STATE}
    _switch_off_python_dispatcher()
    return {**state, RANDOM_STATE: read_random_state()}


def read_random_state() -> bytes:
    """Return the state of the global random number generator, also inside of a transform of functorch."""
    with temporarily_clear_interpreter_stack():  # on a level that was left, new tensors are wrappers
        return random_state()


@contextlib.contextmanager
def use_threads(number: int) -> Iterator[None]:
    """Let one operator use this number of threads in the block; 0: as many as now."""
    before = threads()
    if number:
        torch.set_num_threads(number)
    try:
        yield
    finally:
        if threads() != before:
            torch.set_num_threads(before)


@contextlib.contextmanager
def restore_modes() -> Iterator[None]:
    """Restore the modes on exit: a model may change them, and so may a graph that fails halfway.

    Hooks on all modules as well: up to torch 2.12, export leaves its own if it fails.
    """
    grad, dtype = torch.is_grad_enabled(), torch.get_default_dtype()
    casts = {device: _autocast(device) for device in ("cpu", "cuda")}
    depth, level, is_dual = autocast_depth(), functorch_level(), _dual_level_is_open()
    hooks = dict(_global_buffer_registration_hooks)
    deterministic, number = deterministic_algorithms(), threads()
    refusal = _refusal_of_saved_tensors_hooks()
    try:
        yield
    finally:
        _switch_off_python_dispatcher()
        _global_buffer_registration_hooks.clear()
        _global_buffer_registration_hooks.update(hooks)
        if not is_dual and _dual_level_is_open():  # as one that fails inside of jvp
            torch._C._exit_dual_level(level=0)
        while functorch_level() > level:  # as a graph leaves it that fails inside of vmap
            torch._C._functorch.pop_dynamic_layer_stack()
        if refusal is None and _refusal_of_saved_tensors_hooks() is not None:  # as it fails inside of grad
            torch._C._autograd._saved_tensors_hooks_enable()
        if autocast_depth() > depth:  # torch clears the cache only when the outermost autocast exits
            torch.clear_autocast_cache()
        while autocast_depth() > depth:
            torch.autocast_decrement_nesting()
        torch.set_grad_enabled(grad)
        torch.set_deterministic_debug_mode(deterministic)
        if threads() != number:
            torch.set_num_threads(number)
        torch.set_default_dtype(dtype)
        for device, before in casts.items():
            if _autocast(device) != before:
                torch.set_autocast_enabled(device, before[0])
                torch.set_autocast_dtype(device, before[1])
                # It holds weights that were cast before; for another model they are wrong.
                torch.clear_autocast_cache()


def _switch_off_python_dispatcher() -> None:
    """Let operators run again: a strict export that fails in inference mode leaves it on."""
    if python_dispatcher():
        for key in ("PythonDispatcher", "PreDispatch", "PythonTLSSnapshot", "Python"):
            torch._C._dispatch_tls_set_dispatch_key_included(key, False)


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


def _autocast(device: str) -> tuple[bool, torch.dtype]:
    return torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)
