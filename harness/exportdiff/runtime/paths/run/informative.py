"""Finds the informative deviating calls: those in which eager runs other operators than with the example.

In any other call, an exported program gives the right answer even if it does not check its inputs, so such a
call shows nothing. There is one exception: a call with other values, or with its keywords in another order,
shows that two arguments were exchanged.
"""

from __future__ import annotations

import functools
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from exportdiff.core.case import seed
from exportdiff.core.torch_versions.running import nothing_compiled
from exportdiff.runtime.inputs.copies import build
from exportdiff.runtime.inputs.deviations import DEVIATIONS
from exportdiff.runtime.observing.captured_output import capture_output
from exportdiff.runtime.observing.checkpoint import Checkpoint
from exportdiff.runtime.observing.process_state import restore_modes
from exportdiff.runtime.observing.python_state import PythonState
from exportdiff.runtime.observing.tensors import flatten, leaf_snapshot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import nn

    from exportdiff.core.case import Case
    from exportdiff.runtime.inputs.deviations import Deviation, Key
    from exportdiff.runtime.observing.arguments import Inputs


class _Operators(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves it bare
    """Records the ATen operators, which exported graphs consist of, and their constants."""

    supports_higher_order_operators = True

    def __init__(self) -> None:
        """Begin with an empty record."""
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it bare
        self.done: list[object] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Record one operator, and run it."""
        self.done.append((str(func), _constants(args), _constants(kwargs)))
        return func(*args, **(kwargs or {}))


class _Functions(TorchFunctionMode):
    """Records the calls of torch's Python interface, which Dynamo's graphs consist of."""

    def __init__(self) -> None:
        """Begin with an empty record."""
        super().__init__()
        self.done: list[object] = []

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Record one call, and make it."""
        self.done.append((getattr(func, "__name__", ""), _constants(args), _constants(kwargs)))
        return func(*args, **(kwargs or {}))


Level = Literal["operators", "functions"]
_RECORDERS: dict[Level, type[_Operators] | type[_Functions]] = {
    "operators": _Operators,
    "functions": _Functions,
}

_CONSTANTS = (bool, int, float, complex, str, torch.dtype, torch.device, torch.layout, torch.memory_format)


def _constants(value: object) -> object:
    """Return the constants in an argument that a graph would contain; tensors are left out."""
    if isinstance(value, tuple | list):
        return tuple(map(_constants, value))
    if isinstance(value, dict):
        return tuple((name, _constants(each)) for name, each in value.items())
    return repr(value) if value is None or isinstance(value, _CONSTANTS) else ""


def informative_first(
    calls: Sequence[Deviation], case: Case, device: str, level: Level, limit: int
) -> list[Deviation]:
    """Move the informative ones among the first ``limit`` calls to the front; keep the order otherwise."""
    if case.thorough:  # all calls are made anyway
        return list(calls)
    first = informative_calls(case, device, level, tuple(one.key for one in calls[:limit]))
    return sorted(calls, key=lambda one: one.key not in first)


# Cached, because several modes ask for the same calls, and because a case has to get the same calls with and
# without a planted fault (lab/faults/detection.py).
@functools.lru_cache(maxsize=4)
def informative_calls(case: Case, device: str, level: Level, keys: tuple[Key, ...]) -> frozenset[Key]:
    """Return the calls in which a fresh model runs other operators than with the example."""
    found: set[Key] = set()
    start: Checkpoint | None = None
    expected: object = None
    for key in (None, *keys):
        if start is None:
            model, examples = build(case, device)
            start, python = Checkpoint(model), PythonState(model)
            by_key = {one.key: one for one in examples.deviations(DEVIATIONS.keys(), "", model)}
        one = by_key[key] if key is not None else None
        done = _done(model, examples.with_deviation(one) if one else examples.fresh(), one, level)
        python.undo()
        if not start.restore():
            start = None
        if key is None:
            expected = done
            if expected is None:
                break
        elif done is not None and (done != expected or _finds_exchange(one)):
            found.add(key)
    return frozenset(found)


def _finds_exchange(one: Deviation | None) -> bool:
    return one is not None and DEVIATIONS[one.deviation].finds_exchange


def _done(model: nn.Module, inputs: Inputs, one: Deviation | None, level: Level) -> object:
    """Return the operators of a call, and its output without tensors; None if it raises.

    A model may refuse what ``one`` does to it first, as ``ep.module()`` refuses ``eval()``.
    """
    seed(0)
    # Otherwise torch.cond and similar operators compile, which takes long and hides their operators.
    with restore_modes(), capture_output(), nothing_compiled():
        try:
            if one is not None:
                one.prepare(model)
            with one.context() if one else nullcontext(), _RECORDERS[level]() as recording:
                outputs = model(*inputs.args, **inputs.kwargs)
        except Exception:
            return None
    leaves, _, spec = flatten(outputs)
    values = ["" if isinstance(leaf, torch.Tensor) else leaf_snapshot(leaf) for leaf in leaves]
    return recording.done, str(spec), values
