"""Language models whose cache is an input and an output: for programs that keep no state, such as ONNX.

Each step gets the cache that eager has after the steps before, so that an error of one step stays there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from exportdiff.lab.zoo.decoding import CACHE, decoder, families, step, tokens
from exportdiff.lab.zoo.model import ZooModel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.lab.zoo.families.family import Family

    Call = tuple[tuple[()], dict[str, Any]]


class Passing(torch.nn.Module):
    """A decoder that takes the cache, and returns it with the next token in it."""

    def __init__(self, decoder: Any) -> None:
        """``decoder``: TorchExportableModuleWithStaticCache."""
        super().__init__()
        self.model = decoder.model
        self.cache = decoder.static_cache

    def forward(
        self,
        input_ids: torch.Tensor,
        cache_position: torch.Tensor,
        keys: list[torch.Tensor],
        values: list[torch.Tensor],
    ) -> tuple[torch.Tensor, list[torch.Tensor], list[torch.Tensor]]:
        """Return the logits of the next token, and the new cache."""
        layers = self.cache.layers
        before = [dict(vars(layer)) for layer in layers]
        try:
            for layer, key, value in zip(layers, keys, values, strict=True):
                layer.keys, layer.values = key.clone(), value.clone()
                layer.cumulative_length = cache_position[0].clone()
            output = self.model(input_ids=input_ids, past_key_values=self.cache, use_cache=True)
            return output.logits, [each.keys for each in layers], [each.values for each in layers]
        finally:
            for layer, attributes in zip(layers, before, strict=True):
                vars(layer).update(attributes)


def models() -> Iterator[ZooModel]:
    """Yield each family as it decodes."""
    for family in families():
        yield ZooModel(
            f"passing/{family.name}",
            f"{family.model} with a StaticCache(max_cache_len={CACHE}) as input and output",
            lambda family=family: _made(family),  # type: ignore[misc]  # mypy infers no type for a lambda with a default
            probes=lambda family=family: _steps(family),  # type: ignore[misc]  # mypy infers no type for a lambda with a default
        )


def _made(family: Family) -> tuple[Passing, tuple[()], dict[str, Any]]:
    model = Passing(decoder(family).requires_grad_(False))
    return model, (), {**step(3, 0), **_cache(model)}


def _steps(family: Family) -> list[Call]:
    model, _, given = _made(family)
    calls: list[Call] = []
    cache = {name: given[name] for name in ("keys", "values")}
    for position, token in enumerate(tokens()):
        calls.append(((), {**step(token, position), **cache}))
        with torch.no_grad():
            _, keys, values = model(**calls[-1][1])
        cache = {"keys": keys, "values": values}
    return calls


def _cache(model: Passing) -> dict[str, Any]:
    """Return an empty cache."""
    layers = model.cache.layers
    return {
        "keys": [each.keys.clone() for each in layers],
        "values": [each.values.clone() for each in layers],
    }
