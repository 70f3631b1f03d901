"""Emptying the caches of torch, so that what ran before does not change what runs next."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental import proxy_tensor

from exportdiff.core.torch_versions.running import forget_structures

if TYPE_CHECKING:
    from collections.abc import Iterator


def forget_compiled() -> None:
    """Empty Dynamo's caches. Eager fills them too, because it compiles ``torch.cond`` and similar operators.

    They change results: a size that Dynamo has seen vary becomes dynamic in the next model.
    """
    torch._dynamo.reset()


def forget_predictions() -> None:
    """Empty the cache of the results of fake kernels.

    It outlives a program, and is not always right: a cached result begins at offset 0
    (corpora/open/export_forgets_offset_of_cached_result.py). With a full cache, the verdict would depend on
    the programs that ran before.
    """
    FakeTensorMode.cache_clear()


def forget_loaded_structures() -> None:
    """Empty the cache of the structures of inputs and outputs that were loaded, by their JSON.

    The function behind it may be one that a fix changes: what plain torch has loaded would hide the fix.
    """
    forget_structures()


def forget_last_export() -> None:
    """Empty a table of torch that keeps the last graph alive, and with it the module made of that graph.

    make_fx writes it for a warning of ``export``, and empties it only when it next traces.
    """
    getattr(proxy_tensor, "_FAKE_TENSOR_ID_TO_PROXY_MAP_FOR_EXPORT", {}).clear()


@contextlib.contextmanager
def nothing_cached() -> Iterator[None]:
    """Make Inductor ignore its cache on disk, which other processes have filled."""
    from torch._inductor import config

    with config.patch(force_disable_caches=True):
        yield
