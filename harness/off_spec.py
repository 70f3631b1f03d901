"""Off-spec calls: inputs that differ from the example in one respect that its spec holds fixed.

What was exported has to refuse such a call or to be right about it.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, TypeVar

import torch

from harness.snapshot import argument

T = TypeVar("T")


@dataclass(frozen=True)
class Altered:
    """One leaf, altered."""

    alteration: str
    place: int
    """Which of the leaves of ``(args, kwargs)``."""
    where: str
    leaf: Any
    words: str
    """For people: ``args[1] is False, not True``."""


@dataclass(frozen=True)
class Alteration:
    """One way to leave the spec, as Python text: repro files show it, and the harness runs it.

    Both texts speak of ``leaf``, of all the ``leaves`` of ``(args, kwargs)``, and of ``torch``.
    """

    applies: str
    """Whether there is anything to alter in the leaf."""
    expression: str
    """The other leaf."""


_TENSOR = "type(leaf) is torch.Tensor and leaf.layout is torch.strided"
_TWIN = "t is not leaf and type(t) is torch.Tensor and (t.shape, t.dtype) == (leaf.shape, leaf.dtype)"

ALTERATIONS: dict[str, Alteration] = {
    "flag": Alteration("type(leaf) is bool", "not leaf"),
    "number": Alteration("type(leaf) in (int, float)", "leaf + 1"),
    "text": Alteration("type(leaf) is str", 'leaf + "x"'),
    "none": Alteration(
        "leaf is None and any(type(t) is torch.Tensor for t in leaves)",
        "next(t for t in leaves if type(t) is torch.Tensor).clone()",
    ),
    # The last place of the last dimension twice.
    "size": Alteration(f"{_TENSOR} and leaf.dim() and leaf.numel()", "torch.cat([leaf, leaf[..., -1:]], -1)"),
    # One dimension more, at the end: those of the example keep their sizes.
    "rank": Alteration(f"{_TENSOR} and leaf.dtype is not torch.bool", "torch.stack([leaf, leaf + leaf], -1)"),
    "dtype": Alteration(_TENSOR, "leaf.float() if leaf.dtype == torch.float64 else leaf.double()"),
    # Every other place of a memory twice as large.
    "stride": Alteration(
        f"{_TENSOR} and leaf.dim() and leaf.numel() > 1", "torch.stack([leaf, leaf], -1)[..., 0]"
    ),
    "requires-grad": Alteration(
        f"{_TENSOR} and leaf.is_floating_point()",
        "leaf.detach().clone().requires_grad_(not leaf.requires_grad)",
    ),
    # Another argument a second time.
    "alias": Alteration(f"{_TENSOR} and any({_TWIN} for t in leaves)", f"next(t for t in leaves if {_TWIN})"),
}
"""By name."""

PROMISED = {
    "compile": frozenset(
        ("flag", "number", "text", "none", "size", "rank", "dtype", "stride", "requires-grad", "alias")
    ),
    "nonstrict": frozenset(("flag", "number", "text", "none", "size", "rank")),
    "strict": frozenset(("flag", "number", "text", "none", "size", "rank")),
}
"""By mode, the ways that are promised to be noticed.

Of an exported program's inputs, "passing a different value at run time will result in an error" for
Python values, and sizes are static by default; "other forms of Tensor metadata (e.g. device, dtype)"
are static as well, with no word of an error (PyTorch docs, torch.export Programming Model). torch.compile
guards on all that TENSOR_MATCH looks at (PyTorch docs, TorchDynamo Deeper Dive, 'What is a guard?').
"""


def altered(
    leaves: list[Any], places: Sequence[str], names: frozenset[str], limit: int | None, salt: str
) -> list[Altered]:
    """Alter one leaf at a time in the named ways; at most ``limit`` of them, chosen by ``salt`` alone."""
    everything = [
        Altered(
            name, place, argument(where), new, _words(argument(where), leaf, new, _again(new, leaves, places))
        )
        for name in ALTERATIONS
        if name in names
        for place, (leaf, where) in enumerate(zip(leaves, places, strict=True))
        if (new := _altered(name, leaf, leaves)) is not None
    ]
    if limit is None or len(everything) <= limit:
        return everything
    # Different ways come before different places: a flag counts as much as the six ways of a tensor.
    number = zlib.crc32(salt.encode())
    ways = [[one for one in everything if one.alteration == name] for name in ALTERATIONS]
    ways = [_rotated(way, number // 7) for way in ways if way]
    rounds = zip_longest(*_rotated(ways, number))
    return [one for each in rounds for one in each if one is not None][:limit]


def _rotated(items: list[T], by: int) -> list[T]:
    return [*items[by % len(items) :], *items[: by % len(items)]]


def _altered(name: str, leaf: Any, leaves: list[Any]) -> Any:
    alteration = ALTERATIONS[name]
    if not _evaluated(alteration.applies, leaf, leaves):
        return None
    with torch.no_grad():
        new = _evaluated(alteration.expression, leaf, leaves)
    grad = isinstance(leaf, torch.Tensor) and leaf.requires_grad
    if name in ("requires-grad", "alias") or not grad:
        return new
    return new.detach().requires_grad_(new.is_floating_point())


def _evaluated(text: str, leaf: Any, leaves: list[Any]) -> Any:
    # One namespace: a generator expression sees no locals of eval.
    return eval(text, {"leaf": leaf, "leaves": leaves, "torch": torch})


def _again(new: object, leaves: list[Any], places: Sequence[str]) -> str:
    """Return the argument that a tensor is already, or nothing."""
    if not isinstance(new, torch.Tensor):
        return ""
    return next((argument(place) for leaf, place in zip(leaves, places, strict=True) if leaf is new), "")


def _words(where: str, leaf: object, new: object, again: str) -> str:
    if again:
        return f"{where} is {again} once more"
    return f"{where} is {_described(new)}, not {_described(leaf)}"


def _described(leaf: object) -> str:
    if not isinstance(leaf, torch.Tensor):
        return repr(leaf)
    dtype = str(leaf.dtype).removeprefix("torch.")
    grad = ", requires grad" if leaf.requires_grad else ""
    return f"{dtype}{list(leaf.shape)} with stride {list(leaf.stride())}{grad}"
