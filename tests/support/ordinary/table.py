"""The table of ordinary models. A decorated class is one entry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import nn

from exportdiff.core.case import Case

M = TypeVar("M", bound=type[nn.Module])


@dataclass(frozen=True)
class OrdinaryModel:
    """A model as people write it."""

    model: type[nn.Module]
    args: Callable[[], tuple[Any, ...]]
    train: bool
    dynamic_shapes: Any
    """None: all sizes are fixed."""

    @property
    def name(self) -> str:
        return self.model.__name__

    @property
    def file(self) -> str:
        return self.model.__module__.rpartition(".")[2]

    def case(self) -> Case:
        """Return what the harness judges."""
        shapes = None if self.dynamic_shapes is None else lambda: self.dynamic_shapes
        return Case(self.name, "", self.build, shapes, may_ask=True)

    def build(self) -> tuple[nn.Module, tuple[Any, ...]]:
        """Return a fresh model with its arguments; they are equal each time."""
        torch.manual_seed(0)
        return self.model().train(self.train), self.args()


MODELS: list[OrdinaryModel] = []


def ordinary(
    args: Callable[[], tuple[Any, ...]], *, train: bool = False, dynamic_shapes: Any = None
) -> Callable[[M], M]:
    """Add a class of models to the table, with the arguments of its forward."""

    def add(model: M) -> M:
        MODELS.append(OrdinaryModel(model, args, train, dynamic_shapes))
        return model

    return add
