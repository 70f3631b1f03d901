"""Language models as transformers.exporters splits them for ``generate``: a prefill, and a step of decoding.

The prefill takes a prompt, and returns its logits and a cache. A step takes one token and the cache of the
tokens before it. Each of the ten steps gets the cache that eager has after the steps before, so that an error
of one step stays there.
"""

from __future__ import annotations

import importlib
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import torch
from torch.utils import _pytree as pytree

from exportdiff.lab.zoo.decoding import PROMPT, STEPS, families
from exportdiff.lab.zoo.families.family import LAYERS, VOCABULARY
from exportdiff.lab.zoo.model import ZooModel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.lab.zoo.families.family import Family

Part: TypeAlias = Literal["prefill", "decode"]
Call: TypeAlias = tuple[tuple[()], dict[str, Any]]

_CACHE = "past_key_values"
_FLAGS = ("use_cache", "return_dict")
"""Arguments that the exporters take from the configuration of the model."""
_NO_WINDOW: dict[str, dict[str, Any]] = {
    "gemma2": {"layer_types": ["full_attention"] * LAYERS["num_hidden_layers"]},
    "mistral": {"sliding_window": None},
}
"""Without a sliding window: in a cache with one, the exporters put another kind of layer, which they call
temporary (transformers/exporters/exporter_dynamo.py, _patch_sliding_window_layer)."""
_PROMPTS = (7, 2, 9)
"""How many tokens the other prompts have."""


def models() -> Iterator[ZooModel]:
    """Yield both parts of each family."""
    parts: tuple[Part, ...] = ("prefill", "decode")
    for each in families():
        family = replace(each, config={**each.config, **_NO_WINDOW.get(each.name, {})})
        for part in parts:
            yield ZooModel(
                f"exporters/{family.name}.{part}",
                f"decompose_for_generation({family.model}, {{'input_ids': ...}})[{part!r}]",
                partial(_made, family, part),
                dynamic_shapes=partial(_sizes, family, part),
                probes=partial(_prompts if part == "prefill" else _steps, family),
            )


def _made(family: Family, part: Part) -> tuple[torch.nn.Module, tuple[()], dict[str, Any]]:
    """Return a part, and what ``generate`` gives it for a prompt, or for the token after the prompt."""
    split: Any = importlib.import_module("transformers.exporters.utils").decompose_for_generation
    exporting: Any = importlib.import_module("transformers.exporters.exporter_dynamo")
    prompt = _tokens(PROMPT)
    model, kwargs = split(family.made(), {"input_ids": prompt, "attention_mask": torch.ones_like(prompt)})[
        part
    ]
    exporting.register_cache_pytrees_for_model(model)
    return model, (), {name: value for name, value in kwargs.items() if name not in _FLAGS}


def _sizes(family: Family, part: Part) -> dict[str, Any]:
    exporting: Any = importlib.import_module("transformers.exporters.exporter_dynamo")
    sizes: dict[str, Any] = exporting.get_auto_dynamic_shapes(_made(family, part)[2])
    return sizes


def _prompts(family: Family) -> list[Call]:
    """Return prefills of other prompts."""
    _, _, example = _made(family, "prefill")
    return [((), _call(example, _tokens(length), 0)) for length in _PROMPTS]


def _steps(family: Family) -> list[Call]:
    """Return ten steps, the first after the prompt."""
    model, _, example = _made(family, "decode")
    calls: list[Call] = []
    cache = example[_CACHE]
    for step in range(STEPS):
        calls.append(((), {**_call(example, _tokens(1), PROMPT + step), _CACHE: cache}))
        own = {**calls[-1][1], _CACHE: pytree.tree_map(torch.clone, cache)}  # the model writes into its cache
        with torch.no_grad():
            cache = model(**own)[_CACHE]
    return calls


def _call(example: dict[str, Any], tokens: torch.Tensor, position: int) -> dict[str, Any]:
    """Return the arguments for tokens of which the first has this position."""
    after = position + tokens.shape[1]
    found = {
        "input_ids": tokens,
        "position_ids": torch.arange(position, after)[None],
        "cache_position": torch.arange(position, after),
        "attention_mask": torch.ones(1, after, dtype=torch.long),
    }
    return {name: found.get(name, value) for name, value in example.items()}


def _tokens(number: int) -> torch.Tensor:
    """Return random tokens; 0 to 2 have a meaning, and are left out."""
    return torch.randint(3, VOCABULARY, (1, number))
