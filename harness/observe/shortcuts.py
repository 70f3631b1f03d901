"""Makes torch leave out work that only measures itself, or finds again what it has found before."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING
from unittest import mock

import torch
from torch._dynamo import guards
from torch._export import utils as export_utils

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def shortcuts() -> Iterator[None]:
    """Leave out, in the block, work of torch that changes no result.

    - Dynamo collects garbage after each compilation; whoever judges programs collects it between programs.
    - To log a figure, Dynamo times its guards with an empty processor cache.
    - Export looks at each of about 800 operators several times, to see whether it has loaded all.
    """
    with (
        torch._dynamo.config.patch(run_gc_after_compile=False),
        mock.patch.object(guards, "profile_guard_manager", lambda *_: 0.0),
        mock.patch.object(export_utils, "_materialize_cpp_cia_ops", _load_new_operators),
    ):
        yield


_load_operators = export_utils._materialize_cpp_cia_ops
_loaded: list[str] = []
"""The operators that were registered when torch last loaded all of them."""


def _load_new_operators() -> None:
    """Load the operators again only if others are registered: the list alone costs a fifth of the work."""
    global _loaded
    registered = torch._C._dispatch_get_registrations_for_dispatch_key("CompositeImplicitAutograd")
    if registered != _loaded:
        _load_operators()
        _loaded = registered
