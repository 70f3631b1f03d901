"""A second device without a GPU, so that what is written for CUDA runs: ``--device second``.

It is PyTorch's private-use device, as a small C++ extension (device.cpp): its memory is the host's, and its
kernels are the CPU's, on the very memory of the tensors. torch builds it where a C++ compiler is there.
"""

from __future__ import annotations

import pathlib
import shutil
from functools import cache
from typing import Any

from exportdiff.core.errors import UsageError

NAME = "second"
"""What torch and ``--device`` call it."""


def why_not() -> str:
    """Return why the device cannot be built here; empty if it can."""
    missing = [name for name in ("g++", "ninja") if shutil.which(name) is None]
    return f"device {NAME} is built by torch, which needs {' and '.join(missing)}" if missing else ""


@cache
def load() -> None:
    """Build the device unless that is done, and register it with torch.

    A process must do so before its first backward pass: autograd counts the devices then. Raises
    UsageError if it cannot be built.
    """
    if reason := why_not():
        raise UsageError(reason)
    # Commands that need no torch import this module too.
    import torch
    from torch.utils import backend_registration, cpp_extension

    from exportdiff.runtime.second_device.module import SecondDevice

    try:
        cpp_extension.load(
            name="exportdiff_second_device",
            sources=[str(pathlib.Path(__file__).parent / "device.cpp")],
            extra_cflags=["-O1"],
            is_python_module=False,
        )
    except (OSError, RuntimeError) as error:
        first_line = str(error).strip().partition("\n")[0]
        raise UsageError(f"device {NAME} could not be built: {first_line}") from None
    register: Any = torch._register_device_module  # torch leaves it without types
    backend_registration.rename_privateuse1_backend(NAME)
    register(NAME, SecondDevice(f"torch.{NAME}"))
    backend_registration.generate_methods_for_privateuse1_backend(for_storage=True)
