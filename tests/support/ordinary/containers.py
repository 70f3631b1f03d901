"""Models whose inputs and outputs are dicts, lists, objects and Python values, or have dynamic sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.nn import functional
from torch.utils import _pytree as pytree

from support.ordinary.table import ordinary


def batch() -> dict[str, Tensor]:
    return {"ids": torch.tensor([[1, 2, 0]]), "mask": torch.tensor([[1.0, 1.0, 0.0]])}


@ordinary(lambda: (batch(),))
class TakesBatch(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(4, 3)

    def forward(self, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        hidden = self.embed(batch["ids"]) * batch["mask"].unsqueeze(-1)
        return {"hidden": hidden, "pooled": hidden.mean(1)}


@ordinary(lambda: (batch(),))
class CopiesBatch(TakesBatch):
    def forward(self, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        batch = dict(batch)
        batch["hidden"] = self.embed(batch.pop("ids"))
        return batch


class Prediction(NamedTuple):
    logits: Tensor
    hidden: list[Tensor]
    loss: Tensor | None = None


@ordinary(lambda: (torch.randn(2, 3),))
class ReturnsTuple(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(2))

    def forward(self, x: Tensor, labels: Tensor | None = None) -> Prediction:
        hidden = []
        for layer in self.layers:
            x = layer(x).relu()
            hidden.append(x)
        loss = None if labels is None else functional.cross_entropy(x, labels)
        return Prediction(x, hidden, loss=loss)


@dataclass
class Memory:
    keys: Tensor
    values: Tensor


pytree.register_dataclass(Memory)


@ordinary(lambda: (torch.randn(1, 3), Memory(torch.zeros(2, 3), torch.ones(2, 3))))
class ReturnsNewMemory(nn.Module):
    def forward(self, x: Tensor, memory: Memory) -> tuple[Tensor, Memory]:
        memory = Memory(torch.cat([memory.keys, x]), torch.cat([memory.values, x * 2]))
        return (x @ memory.keys.T).softmax(-1) @ memory.values, memory


@ordinary(lambda: (torch.randn(1, 3), [(torch.zeros(2, 3), torch.ones(2, 3))] * 2))
class ReadsPastKeys(nn.Module):
    def forward(self, x: Tensor, past: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, list[Any]]:
        present = []
        for keys, values in past:
            present.append((torch.cat([keys, x]), torch.cat([values, x])))
            x = (x @ present[-1][0].T).softmax(-1) @ present[-1][1]
        return x, present


@ordinary(lambda: (torch.randn(2, 3), 2, "relu", True, None, 0.5))
class TakesOptions(nn.Module):
    def forward(
        self, x: Tensor, times: int, kind: str, scale: bool, bias: Tensor | None, rate: float
    ) -> Tensor:
        for _ in range(times):
            x = getattr(functional, kind)(x) + rate
        return x * 2 if scale and bias is None else x


@ordinary(
    lambda: (torch.randn(2, 4), torch.randn(2, 4)),
    dynamic_shapes={"x": {0: Dim("batch", min=1, max=32)}, "y": {0: Dim("batch", min=1, max=32)}},
)
class DynamicBatch(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return torch.cat([x, y]).view(2, x.shape[0], -1).sum(0) + x.size(0)


@ordinary(lambda: (torch.randn(2, 4, 3),), dynamic_shapes=({0: Dim.AUTO, 1: Dim.AUTO},))
class DynamicByItself(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.flatten(0, 1)[:: x.shape[1] // 2] if x.shape[1] % 2 == 0 else x.flatten(0, 1)


@ordinary(lambda: (torch.tensor([1.0, -2.0, 3.0]),))
class PicksByMask(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.where(x > 0, x, -x).cumsum(0).masked_fill(x < 0, 0)


@ordinary(lambda: (torch.randn(3, 4, 3),))
class SplitsAndStacks(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        first, second = x.chunk(2, 1)
        return torch.einsum("bij,bkj->bik", first, second), *x.unbind(0)[:2], x.new_zeros(2)


class Cache:
    """A cache object that forward changes, as transformers have them."""

    def __init__(self, keys: list[Tensor]) -> None:
        self.keys = keys

    def update(self, new: Tensor) -> Tensor:
        self.keys = [*self.keys, new]
        return torch.cat(self.keys)


pytree.register_pytree_node(
    Cache,
    lambda cache: ([cache.keys], None),
    lambda children, _: Cache(*children),
    serialized_type_name="ordinary.Cache",
    to_dumpable_context=lambda context: "",
    from_dumpable_context=lambda context: None,
    flatten_with_keys_fn=lambda cache: ([(pytree.GetAttrKey("keys"), cache.keys)], None),
)
torch.serialization.add_safe_globals([Cache])


@ordinary(lambda: (torch.randn(1, 3), Cache([torch.ones(1, 3)])))
class ChangesCacheAndReturnsIt(nn.Module):
    def forward(self, x: Tensor, cache: Cache) -> tuple[Tensor, Cache]:
        keys = cache.update(x)
        return (x @ keys.T).softmax(-1) @ keys, cache


@ordinary(lambda: (batch(),))
class ChangesBatchAndReturnsIt(TakesBatch):
    def forward(self, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        batch["hidden"] = self.embed(batch.pop("ids"))
        return batch


@ordinary(lambda: (torch.randn(2, 3), [torch.zeros(2, 3)]))
class ChangesListAndReturnsIt(nn.Module):
    def forward(self, x: Tensor, seen: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        seen.append(x * 2)
        return torch.stack(seen).sum(0), seen
