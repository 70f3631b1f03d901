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
    They come in pairs, which move each element in opposite directions: one of them crosses a nearby jump.

    An operator that makes a large difference of a small one, such as the normalization of equal numbers,
    moves its results further: by as much as operands that are a few units in the last place off move them.

    It leaves alone what an operator only moves: elements of the first operand, or of an operand of the same
    shape, that are in the result unchanged. Random results and new constants stay as well.
    """

    def __init__(self, seed: int) -> None:
        """``seed``: each is another way; 0 rounds to multiples."""
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it bare
        pair = (seed + 1) // 2
        self._sign = 1 if seed % 2 else -1
        self._drawn = torch.Generator().manual_seed(pair) if seed else None
        self._nudges = torch.Generator().manual_seed(pair)

    def __torch_dispatch__(
        self, func: Any, types: object, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run the operator, and change its results."""
        operands = _floats((args, kwargs))
        if not operands or func.is_view or torch.Tag.nondeterministic_seeded in func.tags:
            return func(*args, **(kwargs or {}))
        before = [each.detach().clone() for each in operands]
        first = before[: len(_floats(args[:1]))]
        exact, nudged = _exact(func, args, kwargs or {}), _exact(func, args, kwargs or {}, self._nudged)
        results = func(*args, **(kwargs or {}))
        for number, result in enumerate(_floats(results)):
            alike = [each for each in before if each.shape == result.shape]
            true = exact[number] if number < len(exact) else None
            other = nudged[number] if number < len(nudged) else None
            self._move(result.detach(), before, [*first, *alike], true, other)
        return results

    def _nudged(self, operand: torch.Tensor, eps: float) -> torch.Tensor:
        """Move each element by a few units in the last place, up or down."""
        signs = torch.randint(0, 2, operand.shape, generator=self._nudges) * 2 - 1
        return operand * (1 + self._sign * UNITS * eps * signs)

    def _move(
        self,
        result: torch.Tensor,
        operands: list[torch.Tensor],
        moved: list[torch.Tensor],
        true: torch.Tensor | None,
        nudged: torch.Tensor | None,
    ) -> None:
        least = UNITS * torch.finfo(result.dtype).eps * max(map(_largest, (*operands, result)))
        off = torch.full(result.shape, least, dtype=torch.float64)
        if true is not None and true.shape == result.shape:
            off = off.clamp(min=2 * _largest(result - true))
            jumps = torch.equal(true, true.round())  # as floor does: not by a large factor
            if nudged is not None and nudged.shape == result.shape and not jumps:
                apart = (nudged - true).abs()
                off = torch.maximum(off, torch.where(apart.isfinite(), apart, 0.0))
        known = torch.cat([each.reshape(-1).to(result.dtype) for each in moved])
        computed = ~torch.isin(result, known)
        result.copy_(torch.where(computed, self._rounded(result.double(), off), result))

    def _rounded(self, values: torch.Tensor, off: torch.Tensor) -> torch.Tensor:
        if self._drawn is None:
            return torch.where(off == 0, values, torch.round(values / (2 * off)) * (2 * off))
        moves = torch.rand(values.shape, generator=self._drawn, dtype=values.dtype) * 2 - 1
        return values + self._sign * moves * off


def called_with_noise(seed: int) -> Callable[[nn.Module], Callable[..., object]]:
    """Return what makes of a model a function that calls it with operators that round differently."""

    def called(model: nn.Module) -> Callable[..., object]:
        def call(*args: object, **kwargs: object) -> object:
            with RoundingNoise(seed):
                return model(*args, **kwargs)

        return call

    return called


def _exact(
    func: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    changed: Callable[[torch.Tensor, float], torch.Tensor] | None = None,
) -> list[torch.Tensor]:
    """Return the results that copies of the operands in float64 give; none if the operator takes no such.

    ``changed`` changes each of them; it gets the unit in the last place of the operand as well.
    """

    def wide(tensor: torch.Tensor) -> torch.Tensor:
        copied = tensor.detach().clone()
        if not copied.is_floating_point():
            return copied
        double = copied.double()
        return double if changed is None else changed(double, torch.finfo(copied.dtype).eps)

    with contextlib.suppress(Exception):
        operands, named = pytree.tree_map_only(torch.Tensor, wide, (args, kwargs))
        return _floats(func(*operands, **named))
    return []


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
