"""Tensors that consist of others, as libraries write them; and containers that lose attributes."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import torch
from torch.testing._internal.two_tensor import TwoTensor
from torch.utils import _pytree as pytree


class Scaled(torch.Tensor):
    """Whole numbers and one factor, as quantized weights are kept."""

    @staticmethod
    def __new__(cls, whole: torch.Tensor, factor: torch.Tensor) -> Scaled:
        made: Scaled = torch.Tensor._make_wrapper_subclass(
            cls, whole.shape, dtype=factor.dtype, device=whole.device
        )
        return made

    def __init__(self, whole: torch.Tensor, factor: torch.Tensor) -> None:
        self.whole, self.factor = whole, factor

    def __tensor_flatten__(self) -> tuple[list[str], object]:
        return ["whole", "factor"], None

    @staticmethod
    def __tensor_unflatten__(inner: dict[str, torch.Tensor], *_: object) -> Scaled:
        return Scaled(inner["whole"], inner["factor"])

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]  # torch annotates it as a function
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if func in (torch.ops.aten.detach.default, torch.ops.aten.clone.default):
            return cls(func(args[0].whole), func(args[0].factor))
        plain = pytree.tree_map_only(Scaled, lambda t: t.whole.to(t.factor.dtype) * t.factor, (args, kwargs))
        return func(*plain[0], **(plain[1] or {}))


class Named(torch.Tensor):
    """A subclass that wraps nothing."""


def two(fill: float = 1.0) -> torch.Tensor:
    return pair_of(torch.full((2, 3), fill), torch.full((2, 3), fill * 2))


def pair_of(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    made: torch.Tensor = TwoTensor(one, other)  # type: ignore[no-untyped-call]  # torch leaves it bare
    return made


def jagged() -> torch.Tensor:
    return torch.nested.nested_tensor([torch.ones(2, 3), torch.zeros(4, 3)], layout=torch.jagged)


COMPOSED: dict[str, Callable[[], torch.Tensor]] = {
    "two tensors": two,
    "two tensors of two": lambda: pair_of(two(), two(3.0)),
    "of a user": lambda: Scaled(torch.ones(3, 2, dtype=torch.int8), torch.tensor(0.5)),
    "without a wrapper": lambda: torch.ones(2, 3).as_subclass(Named),
    "jagged": jagged,
    "coordinates": lambda: torch.eye(3).to_sparse(),
    "coordinates, some twice": lambda: torch.sparse_coo_tensor(
        torch.tensor([[1, 1, 0]]), torch.tensor([1.0, 2.0, 3.0]), (4,), is_coalesced=False
    ),
    "rows": lambda: torch.eye(3).to_sparse_csr(),
    "columns": lambda: torch.eye(3).to_sparse_csc(),
    "blocks": lambda: torch.eye(4).to_sparse_bsr((2, 2)),
}

UNREADABLE: dict[str, Callable[[], torch.Tensor]] = {
    "the layout _mkldnn": lambda: torch.ones(2, 3).to_mkldnn(),
    "a quantized tensor (qint8)": lambda: torch.quantize_per_tensor(torch.ones(2, 3), 0.1, 0, torch.qint8),
    "a fake tensor": lambda: torch._subclasses.FakeTensorMode().from_tensor(torch.ones(2, 3)),
    "the device meta": lambda: torch.ones(2, 3, device="meta"),
    "a nested tensor with the layout strided": lambda: torch.nested.nested_tensor([torch.ones(2)]),
}


class Batch:
    """A container that a library registered without its title."""

    def __init__(self, items: list[Any]) -> None:
        self.items, self.title = items, "none"


pytree.register_pytree_node(
    Batch,
    lambda batch: (batch.items, None),
    lambda items, _: Batch(list(items)),
    serialized_type_name="exportdiff_tests.Batch",
    flatten_with_keys_fn=lambda batch: (
        [(pytree.SequenceKey(at), item) for at, item in enumerate(batch.items)],
        None,
    ),
)


class Pair(namedtuple("Pair", ("first", "second"))):
    """A named tuple with attributes, which pytree does not see."""


def titled(*items: torch.Tensor, title: str = "given") -> Batch:
    batch = Batch(list(items))
    batch.title = title
    return batch
