"""A torch where everything that exports or compiles raises: an error that is no file's bug."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from unittest import mock

import torch
from torch.distributed import pipelining


class AnotherError(Exception):
    """What no file takes for its bug."""


@contextlib.contextmanager
def torch_that_fails() -> Iterator[None]:
    """Let everything that exports or compiles raise."""

    def fails(*args: object, **kwargs: object) -> None:
        raise AnotherError("the torch of this test fails")

    with contextlib.ExitStack() as stack:
        for owner, name in (
            (torch.export, "export"),
            (torch.export, "draft_export"),
            (torch, "compile"),
            (torch.nn.Module, "compile"),
            (pipelining, "pipeline"),
        ):
            stack.enter_context(mock.patch.object(owner, name, fails))
        yield
