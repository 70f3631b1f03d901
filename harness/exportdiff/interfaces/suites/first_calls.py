"""Tells of the first call of each model that ``torch.compile`` returned: only a call has the inputs."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import nn

    Tell = Callable[[tuple[Any, ...], dict[str, Any]], object]


class FirstCalls:
    """Replaces the method that calls compiled models, once there is one; the models stay as they are."""

    def __init__(self) -> None:
        """Wait for no model."""
        self._waiting: WeakKeyDictionary[nn.Module, Tell] = WeakKeyDictionary()
        self._original: Callable[..., object] | None = None

    def tell(self, compiled: object, tell: Tell) -> None:
        """Call ``tell`` with the arguments of the first call, before it; never, if this is no model."""
        if "torch._dynamo.eval_frame" not in sys.modules:
            return  # nothing is compiled, so nothing is imported
        from torch._dynamo.eval_frame import OptimizedModule

        if not isinstance(compiled, OptimizedModule):
            return
        self._waiting[compiled] = tell
        if self._original is None:
            self._original = OptimizedModule.__call__
            OptimizedModule.__call__ = self._told(self._original)  # type: ignore[method-assign]  # until remove

    def remove(self) -> None:
        """Restore the method."""
        if self._original is not None:
            torch._dynamo.eval_frame.OptimizedModule.__call__ = self._original  # type: ignore[method-assign]  # as above
            self._original = None
        self._waiting.clear()

    def _told(self, original: Callable[..., object]) -> Callable[..., object]:
        @functools.wraps(original)
        def call(model: nn.Module, *args: Any, **kwargs: Any) -> object:
            # Dynamo also traces this, in a model that contains a compiled one.
            if not torch.compiler.is_compiling():
                tell = self._waiting.pop(model, None)
                if tell is not None:
                    tell(args, kwargs)
            return original(model, *args, **kwargs)

        return call
