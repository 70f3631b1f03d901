"""Runs a model as if its operators rounded differently: other kernels give results that are a little off."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import nn

UNITS = 4
"""How far results are off: units in the last place of the largest element of operands and result. If the
result of eager is further off, twice as far as that."""


class RoundingNoise(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves it bare
    """Moves the elements that an operator computes by a few units in the last place.

    One way rounds all of them to multiples of these units, so that nearly equal elements become equal, and
    what is nearly zero becomes zero. The other ways move each element at random, so that equal ones differ.

    It leaves alone what an operator only moves: elements of the first operand, or of an operand of the same
    shape, that are in the result unchanged. Random results and new constants stay as well.
    """

    def __init__(self, seed: int) -> None:
        """``seed``: each is another way; 0 rounds to multiples."""
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it bare
        self._drawn = torch.Generator().manual_seed(seed) if seed else None

    def __torch_dispatch__(
        self, func: Any, types: object, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run the operator, and change its results."""
        operands = _floats((args, kwargs))
        if not operands or func.is_view or torch.Tag.nondeterministic_seeded in func.tags:
            return func(*args, **(kwargs or {}))
        before = [each.detach().clone() for each in operands]
        first = before[: len(_floats(args[:1]))]
        exact = _exact(func, args, kwargs or {})
        results = func(*args, **(kwargs or {}))
        for number, result in enumerate(_floats(results)):
            alike = [each for each in before if each.shape == result.shape]
            true = exact[number] if number < len(exact) else None
            self._move(result.detach(), before, [*first, *alike], true)
        return results

    def _move(
        self,
        result: torch.Tensor,
        operands: list[torch.Tensor],
        moved: list[torch.Tensor],
        true: torch.Tensor | None,
    ) -> None:
        off = UNITS * torch.finfo(result.dtype).eps * max(map(_largest, (*operands, result)))
        if true is not None and true.shape == result.shape:
            off = max(off, 2 * _largest(result - true))
        known = torch.cat([each.reshape(-1).to(result.dtype) for each in moved])
        computed = ~torch.isin(result, known)
        result.copy_(torch.where(computed, self._rounded(result.double(), off), result))

    def _rounded(self, values: torch.Tensor, off: float) -> torch.Tensor:
        if self._drawn is None:
            return values if off == 0 else torch.round(values / (2 * off)) * (2 * off)
        return values + (torch.rand(values.shape, generator=self._drawn, dtype=values.dtype) * 2 - 1) * off


def called_with_noise(seed: int) -> Callable[[nn.Module], Callable[..., object]]:
    """Return what makes of a model a function that calls it with operators that round differently."""

    def called(model: nn.Module) -> Callable[..., object]:
        def call(*args: object, **kwargs: object) -> object:
            with RoundingNoise(seed):
                return model(*args, **kwargs)

        return call

    return called


def _exact(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
    """Return the results that copies of the operands in float64 give; none if the operator takes no such."""
    with contextlib.suppress(Exception):
        wide, named = pytree.tree_map_only(torch.Tensor, _wide, (args, kwargs))
        return _floats(func(*wide, **named))
    return []


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    copied = tensor.detach().clone()
    return copied.double() if copied.is_floating_point() else copied


def _floats(tree: object) -> list[torch.Tensor]:
    """Return the plain tensors of floating point numbers."""
    return [
        each
        for each in pytree.tree_leaves(tree)
        if type(each) in (torch.Tensor, torch.nn.Parameter)
        and each.is_floating_point()
        and each.layout == torch.strided
    ]


def _largest(tensor: torch.Tensor) -> float:
    """Return the largest absolute value of the finite elements; 0 if there is none."""
    return float(torch.nan_to_num(tensor.double(), 0.0, 0.0, 0.0).abs().max()) if tensor.numel() else 0.0
