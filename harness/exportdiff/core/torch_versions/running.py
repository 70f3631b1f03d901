"""What the harness does with names that not every supported torch has; importing this imports torch.

Each function says what happens on a torch that lacks the name.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any
from unittest import mock

import torch
from torch._dynamo import guards
from torch._export import utils as export_utils
from torch.export.graph_signature import OutputKind
from torch.utils import _pytree

if TYPE_CHECKING:
    from collections.abc import Iterator

OPTIONAL = (
    "torch._dynamo.config.run_gc_after_compile",
    "torch._dynamo.guards.profile_guard_manager",
    "torch._export.utils._materialize_cpp_cia_ops",
    "torch.compiler.set_stance",
    "torch.export.graph_signature.OutputKind.PARAMETER_MUTATION",
)
"""The names that the functions below do without where torch lacks them."""

WRITTEN = frozenset(
    kind
    for name in ("BUFFER_MUTATION", "PARAMETER_MUTATION", "USER_INPUT_MUTATION")
    if (kind := getattr(OutputKind, name, None)) is not None
)
"""The kinds of outputs that are written back. A torch that lacks one never writes that back."""


SHAPES: tuple[type, ...] = tuple(
    kind
    for name in ("ShapesCollection", "AdditionalInputs")
    if (kind := getattr(torch.export, name, None)) is not None
)
"""The classes of torch that export takes as dynamic shapes, besides containers."""


@contextlib.contextmanager
def nothing_compiled() -> Iterator[None]:
    """Run in the block what ``torch.cond`` and its like would compile; without stances, switch Dynamo off."""
    stance = getattr(torch.compiler, "set_stance", None)
    off: Any = torch._dynamo.config.patch(disable=True) if stance is None else stance("force_eager")
    with off:
        yield


@contextlib.contextmanager
def no_garbage_collected() -> Iterator[None]:
    """Let Dynamo not collect garbage after each compilation; older ones never do."""
    if not hasattr(torch._dynamo.config, "run_gc_after_compile"):
        yield
        return
    with torch._dynamo.config.patch(run_gc_after_compile=False):
        yield


@contextlib.contextmanager
def no_guards_timed() -> Iterator[None]:
    """Let Dynamo not time its guards, which it does to log a figure; older ones never do."""
    if not hasattr(guards, "profile_guard_manager"):
        yield
        return
    with mock.patch.object(guards, "profile_guard_manager", lambda *_: 0.0):
        yield


@contextlib.contextmanager
def operators_loaded_once() -> Iterator[None]:
    """Let export load all operators only if others are registered; older ones do not load them all."""
    if not hasattr(export_utils, "_materialize_cpp_cia_ops"):
        yield
        return
    with mock.patch.object(export_utils, "_materialize_cpp_cia_ops", _load_new_operators):
        yield


def forget_structures() -> None:
    """Empty the cache of the structures that were loaded by their JSON; older ones have none."""
    empty = getattr(_pytree.treespec_loads, "cache_clear", None)
    if empty is not None:
        empty()


_load_operators: Any = getattr(export_utils, "_materialize_cpp_cia_ops", None)
_loaded: list[str] = []
"""The operators that were registered when torch last loaded all of them."""


def _load_new_operators() -> None:
    """Load the operators again only if others are registered: the list alone costs a fifth of the work."""
    global _loaded
    registered = torch._C._dispatch_get_registrations_for_dispatch_key("CompositeImplicitAutograd")
    if registered != _loaded:
        _load_operators()
        _loaded = registered
