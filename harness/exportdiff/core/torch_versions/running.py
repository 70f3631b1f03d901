"""Functions that use names that not every supported torch has. Importing this module imports torch.

Each docstring says what happens on a torch that lacks the name.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any
from unittest import mock

import torch
from torch._dynamo import guards
from torch._export import utils as export_utils
from torch.export import _unlift
from torch.export.graph_signature import OutputKind
from torch.utils import _pytree

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType


def _all_of(module: ModuleType, *names: str) -> tuple[Any, ...]:
    """Return the values of those names that a module has."""
    return tuple(getattr(module, name) for name in names if hasattr(module, name))


WRITTEN_BACK = frozenset(
    kind
    for name in ("BUFFER_MUTATION", "PARAMETER_MUTATION", "USER_INPUT_MUTATION")
    if (kind := getattr(OutputKind, name, None)) is not None
)
"""The kinds of outputs that are written back. A torch that lacks one does not write back such outputs."""


DYNAMIC_SHAPES_CLASSES: tuple[type, ...] = _all_of(torch.export, "ShapesCollection", "AdditionalInputs")
"""The classes of torch that export accepts as dynamic shapes, in addition to containers."""


SHAPES_COLLECTION: type | tuple[()] = getattr(torch.export, "ShapesCollection", ())
"""The class of dynamic shapes that names tensors instead of arguments. Empty on a torch that lacks it."""


INLINED_MODULES: tuple[type, ...] = (torch.fx.GraphModule, *_all_of(_unlift, "GuardsFn"))
"""The classes of modules that export traces like functions: graphs, and the checks of ``ep.module()``. Older
versions have no class for these checks."""


def nothing_compiled() -> AbstractContextManager[object]:
    """Do not compile ``torch.cond`` and similar operators in the block. Without stances, disables Dynamo."""
    if not hasattr(torch.compiler, "set_stance"):
        return _configured(disable=True)
    stance: AbstractContextManager[object] = torch.compiler.set_stance("force_eager")
    return stance


def no_garbage_collected() -> AbstractContextManager[object]:
    """Prevent Dynamo from collecting garbage after each compilation. Older versions never do."""
    known = hasattr(torch._dynamo.config, "run_gc_after_compile")
    return _configured(run_gc_after_compile=False) if known else nullcontext()


def no_guards_timed() -> AbstractContextManager[object]:
    """Prevent Dynamo from timing its guards, which it does only for a log. Older versions never do."""
    return _replaced(guards, "profile_guard_manager", lambda *_: 0.0)


def operators_loaded_once() -> AbstractContextManager[object]:
    """Make export load all operators again only if new ones are registered. Older versions do not load
    them."""
    return _replaced(export_utils, "_materialize_cpp_cia_ops", _load_new_operators)


def _configured(**options: Any) -> AbstractContextManager[object]:
    """Change options of Dynamo in a block."""
    changed: AbstractContextManager[object] = torch._dynamo.config.patch(**options)
    return changed


def _replaced(
    module: ModuleType, name: str, function: Callable[..., object]
) -> AbstractContextManager[object]:
    """Replace a function of a module in a block, if there is one."""
    return mock.patch.object(module, name, function) if hasattr(module, name) else nullcontext()


def forget_structures() -> None:
    """Empty the cache of pytree structures that were loaded from JSON. Older versions have none."""
    empty = getattr(_pytree.treespec_loads, "cache_clear", None)
    if empty is not None:
        empty()


_load_operators: Any = getattr(export_utils, "_materialize_cpp_cia_ops", None)
_loaded: list[str] = []
"""The operators that were registered when torch last loaded them."""


def _load_new_operators() -> None:
    """Load the operators again only if new ones are registered. The check costs a fifth of the loading."""
    global _loaded
    registered = torch._C._dispatch_get_registrations_for_dispatch_key("CompositeImplicitAutograd")
    if registered != _loaded:
        _load_operators()
        _loaded = registered


def line_numbers(graph_module: Any) -> dict[int, int]:
    """Return, for the lines of a graph's generated code, the number of the node that each runs.

    Older versions do not record it: it is empty.
    """
    start = getattr(graph_module, "_prologue_start", 0)
    known: dict[int, int | None] = getattr(graph_module, "_lineno_map", None) or {}
    return {line + start: number for line, number in known.items() if number is not None}


def nodes_with_stack_traces() -> AbstractContextManager[object]:
    """Record the user's lines in the nodes of graphs in the block. Older versions always do."""
    return _no_stack_traces(False)


def nodes_without_stack_traces() -> AbstractContextManager[object]:
    """Do not record them in the block, where torch allows that: it takes 5 % of a non-strict export."""
    return _no_stack_traces(True)


def _no_stack_traces(none: bool) -> AbstractContextManager[object]:
    if not hasattr(torch.fx.config, "do_not_emit_stack_traces"):
        return nullcontext()
    return mock.patch.object(torch.fx.config, "do_not_emit_stack_traces", none)
