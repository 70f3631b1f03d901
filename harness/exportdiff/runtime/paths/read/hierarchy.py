"""Recording the calls of the submodules of an eager model, without changing what the model does."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any
from unittest import mock

import torch
from torch import nn
from torch._C._autograd import _get_sequence_nr as sequence_number
from torch._dynamo.eval_frame import OptimizedModule
from torch.nn.utils import parametrize

from exportdiff.core.torch_versions.running import INLINED_MODULES
from exportdiff.runtime.observing.autograd_history import node_of
from exportdiff.runtime.observing.environment import mode_of, names_of_unregistered
from exportdiff.runtime.observing.graphs import Hierarchy, Visit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def _has_no_hooks(module: nn.Module) -> bool:
    """Whether the original module can be called instead: this module has no hooks, which would be skipped."""
    return not module._forward_hooks and not module._forward_pre_hooks


class CallRecorder:
    """Records the calls of submodules inside a ``with`` block."""

    def __init__(self, model: nn.Module) -> None:
        """Record the names of all modules, as they are now."""
        self._model = model
        self._first: dict[str, str] = {}
        self._names: dict[nn.Module, str] = {}
        self._persistent: set[str] = set()
        self._compiled: set[str] = set()
        self._passed_on: dict[str, str] = {}
        self._unregistered = names_of_unregistered(model)
        for name, module in model.named_modules(remove_duplicate=False):
            # What torch.compile returns for a module is one with it, under two names.
            itself = module._orig_mod if isinstance(module, OptimizedModule) else module
            first = self._first[name] = self._names.setdefault(itself, name)
            if itself is not module:
                self._compiled.add(first)
            if "._orig_mod" in name:
                self._passed_on[name.replace("._orig_mod", "")] = first
            dot = f"{name}." if name else ""
            stored = [key for key, value in module._parameters.items() if value is not None]
            stored += [
                key
                for key, value in module._buffers.items()
                if value is not None and key not in module._non_persistent_buffers_set
            ]
            self._persistent.update(dot + key for key in stored)
        self._modes = {module: mode_of(module) for module in model.modules()}
        self._called_in_other_mode: set[str] = set()
        # Module, enclosing visit, and the range of autograd sequence numbers of each visit.
        self._calls: list[list[Any]] = []
        self._open: list[int] = []
        self.hierarchy: Hierarchy | None = None
        """The result, after ``finish``."""

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        """Record calls, by a patch of ``nn.Module.__call__`` (tracers of torch.fx patch it as well).

        Global hooks would not do: they run before the module's own hooks, which may call modules too.
        """
        original = nn.Module.__call__

        def noted(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            # Eager compiles torch.cond and similar operators: Dynamo must not be recorded.
            if torch.compiler.is_compiling() or module is self._model:
                return original(module, *args, **kwargs)
            if isinstance(module, OptimizedModule) and _has_no_hooks(module):
                # Export does the same; compiled code rounds in its own way, and hides which modules it runs.
                return module._orig_mod(*args, **kwargs)
            if module not in self._names:
                return original(module, *args, **kwargs)
            if parametrize._cache_enabled or any(
                mode_of(part) is not self._modes.get(part, mode_of(part)) for part in module.modules()
            ):
                self._called_in_other_mode.add(self._names[module])
            number = len(self._calls)
            start = sequence_number()
            self._calls.append([module, self._open[-1] if self._open else None, start, start])
            self._open.append(number)
            try:
                return original(module, *args, **kwargs)
            finally:
                self._open.pop()
                self._calls[number][3] = sequence_number()

        with mock.patch.object(nn.Module, "__call__", noted):
            yield

    def finish(self, outputs: Iterable[torch.Tensor]) -> None:
        """Set ``hierarchy``; ``outputs`` are the tensors that the model returned, still unchanged."""
        computes = self._computing(outputs)
        self.hierarchy = Hierarchy(
            first=self._first,
            inlined=frozenset(
                name
                for module, name in self._names.items()
                if isinstance(module, INLINED_MODULES) or name in self._compiled
            ),
            passed_on=self._passed_on,
            persistent=frozenset(self._persistent),
            visits=tuple(
                Visit(self._names[module], within, number in computes)
                for number, (module, within, *_) in enumerate(self._calls)
            ),
            unregistered=self._unregistered,
            called_in_other_mode=frozenset(self._called_in_other_mode),
        )

    def _computing(self, outputs: Iterable[torch.Tensor]) -> set[int]:
        """Return the visits that computed something that an output's gradient passes through."""
        found: set[int] = set()
        if not self._calls:
            return found
        todo = [node_of(output) for output in outputs]
        seen: set[Any] = set()
        while todo:
            node = todo.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            todo += [before for before, _ in node.next_functions]
            if _COMPUTING.fullmatch(node.name()):
                number = node._sequence_nr()
                # Of the unfinished visits, the innermost one began last.
                spans = enumerate(self._calls)
                within = [n for n, (_, _, start, end) in spans if start <= number < end]
                found.update(within[-1:])
        return found


# No views: autograd makes a new node for a view that is modified in place, at each access.
_COMPUTING = re.compile(
    r"(Abs|Add|Addmm|Bmm|Cat|Clamp|ClampMin|Convolution|Cos|Div|Elu|Exp|Gelu|Hardtanh|LeakyRelu|Log|LogSoftmax"
    r"|Mean|Mm|Mul|Mv|NativeGroupNorm|NativeLayerNorm|NativeBatchNorm|Neg|Pow|Prod|Relu|Rsub|Sigmoid|Silu|Sin"
    r"|Softmax|Softplus|Sqrt|Stack|Sub|Sum|Tanh|Where)Backward\d+"
)
"""Autograd nodes of operators that the graph must contain if their result matters."""
