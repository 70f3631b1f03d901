"""Emptying the caches of torch, so that what ran before does not change what runs next."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

if TYPE_CHECKING:
    from collections.abc import Iterator


def forget_compiled() -> None:
    """Empty Dynamo's caches: eager fills them too, where it runs ``torch.cond`` and its like.

    They hold more than speed: a shape that Dynamo has seen differ becomes dynamic in the next model.
    """
    torch._dynamo.reset()


def forget_predictions() -> None:
    """Empty the cache of what fake kernels gave.

    It outlives a program, and is not always right: a result that comes from it begins at offset 0
    (corpora/open/export_forgets_offset_of_cached_result.py). So what was judged before matters, and has to
    be the same whoever judges.
    """
    FakeTensorMode.cache_clear()


@contextlib.contextmanager
def nothing_cached() -> Iterator[None]:
    """Let Inductor compile what it is given, whatever it has on disk: another process made that."""
    from torch._inductor import config

    with config.patch(force_disable_caches=True):
        yield
