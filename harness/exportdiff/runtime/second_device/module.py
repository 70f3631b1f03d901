"""What torch asks of a device's module, such as torch.cuda."""

from __future__ import annotations

import contextlib
import types

import torch


class SecondDevice(types.ModuleType):
    """``torch.second``: one device, which draws random numbers as the CPU does."""

    def is_available(self) -> bool:
        """Return True."""
        return True

    def is_initialized(self) -> bool:
        """Return True."""
        return True

    def device_count(self) -> int:
        """Return 1."""
        return 1

    def current_device(self) -> int:
        """Return the index of the only device."""
        return 0

    def set_device(self, device: object) -> None:
        """Accept the only device."""

    def device(self, device: object) -> contextlib.AbstractContextManager[None]:
        """Return a context manager that does nothing: there is one device."""
        return contextlib.nullcontext()

    def synchronize(self, device: object = None) -> None:
        """Return: nothing is asynchronous."""

    def _is_in_bad_fork(self) -> bool:
        return False

    def _lazy_init(self) -> None:
        pass

    def manual_seed_all(self, seed: int) -> None:
        """Return: the CPU's generator is seeded already."""

    def get_rng_state(self, device: object = None) -> torch.Tensor:
        """Return the state of the CPU's generator."""
        return torch.get_rng_state()

    def set_rng_state(self, state: torch.Tensor, device: object = None) -> None:
        """Set the state of the CPU's generator."""
        torch.set_rng_state(state)

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        """Return the dtypes that autocast may use."""
        return [torch.bfloat16, torch.float16]
