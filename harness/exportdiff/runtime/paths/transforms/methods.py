"""Transforms of the case that export a method other than forward; eager runs the same method."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from exportdiff.core.lazy import torch
from exportdiff.runtime.paths.transforms.table import transform

if TYPE_CHECKING:
    from torch import nn


@transform("case", "nonstrict:module", "nonstrict:unflatten", "strict:module", cost=10)
def method(model: nn.Module) -> nn.Module:
    """A program of another method (``model.forward = model.encode``) does what this method does."""
    of_class: Any = type(model)

    class Encoder(of_class):  # type: ignore[misc]  # its base is the class of any model
        encode = of_class.forward

        def forward(self) -> None:
            raise NotImplementedError("only encode is called")

    model.__class__ = Encoder
    model.forward = model.encode  # type: ignore[assignment]  # mypy forbids to assign a method
    return model


@transform("case", "nonstrict:module", "nonstrict:unflatten", cost=10)
def method_of_part(model: nn.Module) -> nn.Module:
    """A program of a model that calls a method of a child, not the child, does what the method does."""
    encode = type(model).forward

    class Wrapper(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return encode(self.model, *args, **kwargs)

    # The names of the arguments are those of the method.
    functools.update_wrapper(Wrapper.forward, encode)
    return Wrapper().train(model.training)
