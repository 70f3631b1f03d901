"""Which deviating calls are telling: in them, eager does other than with the example.

An artefact that replays what was done with the example is right about all others, whether it has looked at
the call or not.
"""

from __future__ import annotations

import functools
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from harness.case import seed
from harness.inputs.copies import build
from harness.inputs.deviations import DEVIATIONS
from harness.observe.checkpoint import Checkpoint
from harness.observe.printing import capture_output
from harness.observe.process_state import restore_modes
from harness.observe.tensors import flatten, leaf_snapshot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import nn

    from harness.case import Case
    from harness.inputs.deviations import Deviation, Key
    from harness.observe.arguments import Inputs


class _Operators(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves it bare
    """Writes down the ATen operators, which are what an exported graph holds, and their constants."""

    supports_higher_order_operators = True

    def __init__(self) -> None:
        """Begin with nothing."""
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it bare
        self.done: list[object] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Note one operator, and do it."""
        self.done.append((str(func), _constants(args), _constants(kwargs)))
        return func(*args, **(kwargs or {}))


class _Functions(TorchFunctionMode):
    """Writes down the calls of torch's Python interface, which are what Dynamo's graphs hold."""

    def __init__(self) -> None:
        """Begin with nothing."""
        super().__init__()
        self.done: list[object] = []

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Note one call, and do it."""
        self.done.append((getattr(func, "__name__", ""), _constants(args), _constants(kwargs)))
        return func(*args, **(kwargs or {}))


Level = Literal["operators", "functions"]
_RECORDERS: dict[Level, type[_Operators] | type[_Functions]] = {
    "operators": _Operators,
    "functions": _Functions,
}

_CONSTANTS = (bool, int, float, complex, str, torch.dtype, torch.device, torch.layout, torch.memory_format)


def _constants(value: object) -> object:
    """Return what a graph would hold of an argument as it is: no tensor."""
    if isinstance(value, tuple | list):
        return tuple(map(_constants, value))
    if isinstance(value, dict):
        return tuple((name, _constants(each)) for name, each in value.items())
    return repr(value) if value is None or isinstance(value, _CONSTANTS) else ""


def informative_first(
    calls: Sequence[Deviation], case: Case, device: str, level: Level, limit: int
) -> list[Deviation]:
    """Put those of the first ``limit`` calls first that are telling; otherwise the order stays."""
    if case.thorough:  # all of them are made
        return list(calls)
    first = informative_calls(case, device, level, tuple(one.key for one in calls[:limit]))
    return sorted(calls, key=lambda one: one.key not in first)


# All modes that are promised the same ask the same. And a case that is judged with a fault planted and
# without it (harness/engine/detection.py) has to get the same calls.
@functools.lru_cache(maxsize=4)
def informative_calls(case: Case, device: str, level: Level, keys: tuple[Key, ...]) -> frozenset[Key]:
    """Return the calls in which a fresh model does other than in the example's."""
    found: set[Key] = set()
    start: Checkpoint | None = None
    expected: object = None
    for key in (None, *keys):
        if start is None:
            model, examples = build(case, device)
            start = Checkpoint(model)
            by_key = {one.key: one for one in examples.deviations(DEVIATIONS.keys(), "", model)}
        one = by_key[key] if key is not None else None
        if one is not None:
            one.prepare(model)
        done = _done(model, examples.with_deviation(one) if one else examples.fresh(), one, level)
        if not start.restore():
            start = None
        if key is None:
            expected = done
            if expected is None:
                break
        elif done is not None and done != expected:
            found.add(key)
    return frozenset(found)


def _done(model: nn.Module, inputs: Inputs, one: Deviation | None, level: Level) -> object:
    """Return what a model does in a call and what its output is made of; None where it raises."""
    seed(0)
    # Left to themselves, torch.cond and its like would compile: it takes long, and hides what they do.
    with restore_modes(), capture_output(), torch.compiler.set_stance("force_eager"):
        try:
            with one.surroundings() if one else nullcontext(), _RECORDERS[level]() as recording:
                outputs = model(*inputs.args, **inputs.kwargs)
        except Exception:
            return None
    leaves, _, spec = flatten(outputs)
    values = ["" if isinstance(leaf, torch.Tensor) else leaf_snapshot(leaf) for leaf in leaves]
    return recording.done, str(spec), values
