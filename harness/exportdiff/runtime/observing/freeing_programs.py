"""Frees what torch keeps of judged programs, so that a worker does not become slower or larger.

Objects that are still referred to after the collection are frozen, and never freed: most of them are caches,
and traversing them every time would cost as much as the collection.
"""

from __future__ import annotations

import contextlib
import gc
import linecache
import sys
import weakref
from typing import TYPE_CHECKING

from torch._dynamo import symbolic_convert
from torch._dynamo.utils import CleanupManager
from torch.fx import graph_module
from torch.utils import _pytree as pytree

from exportdiff.core.case import is_of_program, sources_forgotten
from exportdiff.runtime.observing.caches import forget_compiled, forget_last_export, forget_predictions

if TYPE_CHECKING:
    from collections.abc import Iterator

_INSTALLS_GLOBALS = (
    "torch._dynamo.external_utils",
    "torch._dynamo.functional_export",
    "torch._higher_order_ops.",
)
"""Modules of torch whose functions Dynamo compiles with a model: it writes into their globals."""

_INSTALLED = ("__compiled_fn_", "__import_", "___unnamed_scope_")
"""How the names of these globals begin."""

_GENERATED = "<eval_with_key>"
"""How the names of the files begin that hold the code of graphs."""

_COLLECTIONS = 3
"""How often garbage is collected: guards refer from C++ to objects that only a second collection frees."""


@contextlib.contextmanager
def clean_state(*, free: bool = False) -> Iterator[None]:
    """Judge programs in the block as in a fresh process: what ran before does not change their results.

    At the end of the block, the modules of its programs are forgotten. With ``free``, so is all else that
    programs leave, unless an exception left the block. That takes a third of a second, so do it once for
    several programs; and let no local variable refer to a program then, because what is left is frozen.
    """
    forget_predictions()
    with sources_forgotten():
        yield
    if free:
        free_programs()


def free_programs() -> None:
    """Free everything that the programs before have left, and freeze what remains.

    To be called where no program is being judged: compiled functions no longer run after it.
    """
    forget_predictions()
    forget_compiled()
    forget_last_export()
    _clean_up_after_compiled_code()
    _forget_installed_globals()
    _forget_imported_modules()
    _forget_registered_containers()
    _forget_finalizers_of_guards()
    _forget_generated_sources()
    for _ in range(_COLLECTIONS):
        if not gc.collect():
            break
    gc.freeze()


def _clean_up_after_compiled_code() -> None:
    """Remove the globals that Dynamo removes when compiled code dies: they keep that code alive."""
    for hooks in list(CleanupManager.instance.values.values()):
        for hook in hooks:
            hook.scope.pop(hook.name, None)
    CleanupManager.instance.clear()


def _forget_installed_globals() -> None:
    """Remove the globals that Dynamo has written into modules of torch and does not remove itself.

    Among them are graphs of strict export with the weights of the model, and modules of programs.
    """
    for name, module in list(sys.modules.items()):
        if name.startswith(_INSTALLS_GLOBALS):
            names = vars(module)
            for each in [each for each in names if each.startswith(_INSTALLED)]:
                del names[each]


def _forget_imported_modules() -> None:
    """Empty the cache of the modules that Dynamo has imported by name: modules of programs are among them."""
    empty = getattr(getattr(symbolic_convert, "_import_module", None), "cache_clear", None)
    if empty is not None:
        empty()


def _forget_registered_containers() -> None:
    """Remove the dataclasses of programs from the table of containers that torch flattens."""
    python_types = pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE
    for kind in [kind for kind in pytree.SUPPORTED_NODES if is_of_program(kind.__module__)]:
        del pytree.SUPPORTED_NODES[kind]
        pytree.SUPPORTED_SERIALIZED_TYPES.pop(kind, None)
        getattr(pytree, "CONSTANT_NODES", set()).discard(kind)
        for name in [name for name, each in python_types.items() if each is kind]:
            del python_types[name]


def _forget_finalizers_of_guards() -> None:
    """Drop the callbacks for the end of guarded objects: classes of torch live as long as the process."""
    # A copy in one step: making a list can start the garbage collector, which removes finalizers meanwhile.
    registry = weakref.finalize._registry.copy()  # type: ignore[attr-defined]  # private
    for finalizer, info in registry.items():
        invalidate = getattr(info.func, "func", None)
        if getattr(invalidate, "__qualname__", "") == "CheckFunctionManager.invalidate":
            finalizer.detach()


def _forget_generated_sources() -> None:
    """Remove the sources of graphs, which are kept for tracebacks: fifty for each program."""
    getattr(getattr(graph_module, "_loader", None), "eval_cache", {}).clear()
    for name in [name for name in linecache.cache if name.startswith(_GENERATED)]:
        del linecache.cache[name]
