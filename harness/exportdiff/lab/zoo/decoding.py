"""Language models with a cache of fixed size, as transformers exports them for ExecuTorch.

The exported program takes one token and its position, and writes to its cache, which is in buffers. As
``generate`` of that module does, the calls give it first the tokens of a prompt, and then further tokens. The
first calls of exportdiff repeat the first token: they write to the same place of the cache.

transformers holds these buffers in a plain object as well, and reads them there. A non-strict export takes
them for constants then, and ``run_decompositions`` fails (``decompose_asserts_on_mutated_alias``). So
``Bound`` gives the object the buffers of the module for the time of each call.
"""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from exportdiff.lab.zoo.families.decoders import FAMILIES
from exportdiff.lab.zoo.families.family import LAYERS, VOCABULARY, Family, prompt
from exportdiff.lab.zoo.model import ZooModel

if TYPE_CHECKING:
    from collections.abc import Iterator

PROMPT, STEPS = 4, 10
"""How many tokens the prompt has, and how many follow it."""
CACHE = 16
"""How many tokens the cache holds."""

_OTHER_CACHE = ("mamba",)
"""Families whose state is no cache of keys and values."""
_SIZES: dict[str, Any] = LAYERS | {
    "vocab_size": VOCABULARY,
    "intermediate_size": 16,
    "num_key_value_heads": 1,
    "max_position_embeddings": 16,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
_MORE = (
    Family("cohere", "CohereForCausalLM", prompt, _SIZES),
    Family("glm", "GlmForCausalLM", prompt, _SIZES | {"head_dim": 8}),
    Family("granite", "GraniteForCausalLM", prompt, _SIZES),
    Family("helium", "HeliumForCausalLM", prompt, _SIZES | {"head_dim": 8}),
    Family("olmo", "OlmoForCausalLM", prompt, _SIZES),
    Family("smollm3", "SmolLM3ForCausalLM", prompt, _SIZES),
    Family("starcoder2", "Starcoder2ForCausalLM", prompt, _SIZES),
)
_BUFFERS = {"keys": "key_cache", "values": "value_cache", "cumulative_length": "cumulative_length"}
"""The attributes of a layer of the cache, and how the names of their buffers begin."""
_ONE_HEAD = {"falcon": {"multi_query": False}}
"""transformers makes a cache for as many heads as the queries have."""


class Bound(torch.nn.Module):
    """A decoder whose cache reads the buffers of the module during each call."""

    def __init__(self, decoder: Any) -> None:
        """``decoder``: TorchExportableModuleWithStaticCache."""
        super().__init__()
        self.decoder = decoder

    def forward(self, input_ids: torch.Tensor, cache_position: torch.Tensor) -> object:
        """Return the logits of the next token."""
        layers = self.decoder.static_cache.layers
        before = [{name: getattr(layer, name) for name in _BUFFERS} for layer in layers]
        try:
            for number, layer in enumerate(layers):
                for name, buffer in _BUFFERS.items():
                    setattr(layer, name, getattr(self.decoder, f"{buffer}_{number}"))
            return self.decoder(input_ids=input_ids, cache_position=cache_position)
        finally:
            for layer, tensors in zip(layers, before, strict=True):
                vars(layer).update(tensors)


def families() -> tuple[Family, ...]:
    """Return the families that keep keys and values."""
    own = (each for each in FAMILIES if each.name not in _OTHER_CACHE)
    return tuple(
        replace(each, config={**each.config, "use_cache": True, **_ONE_HEAD.get(each.name, {})})
        for each in (*own, *_MORE)
    )


def models() -> Iterator[ZooModel]:
    """Yield each family as it decodes."""
    for family in families():
        settings = f"batch_size=1, max_cache_len={CACHE}"
        yield ZooModel(
            f"decoding/{family.name}",
            f"TorchExportableModuleWithStaticCache({family.model}, {settings})",
            lambda family=family: (Bound(decoder(family)).requires_grad_(False), (), step(3, 0)),  # type: ignore[misc]  # mypy infers no type for a lambda with a default
            probes=lambda: [((), step(token, position)) for position, token in enumerate(tokens())],
        )


def decoder(family: Family) -> Any:
    """Return what transformers makes of a model, with a cache for one text."""
    model = family.made()
    model.generation_config.cache_implementation = "static"
    model.generation_config.use_cache = True
    wrapper: Any = importlib.import_module("transformers.integrations.executorch")
    return wrapper.TorchExportableModuleWithStaticCache(model, batch_size=1, max_cache_len=CACHE)


def tokens() -> list[int]:
    """Return the tokens of the prompt and of the steps after it; 0 to 2 are left out."""
    return torch.randint(3, VOCABULARY, (PROMPT + STEPS,)).tolist()


def step(token: int, position: int) -> dict[str, torch.Tensor]:
    """Return the arguments of one step."""
    return {"input_ids": torch.tensor([[token]]), "cache_position": torch.tensor([position])}
