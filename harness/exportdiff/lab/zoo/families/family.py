"""A family of transformers: one model class, in the smallest form that still has all of its parts."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from exportdiff.lab.zoo.model import ZooModel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

VOCABULARY = 32
"""How many tokens every model of text knows."""
BATCH = 2
"""Of texts, images or sounds: a batch of one hides strides, and export treats the size 1 specially."""

LAYERS: dict[str, Any] = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
"""The sizes of most families."""
ENCODER_DECODER: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 16,
    "decoder_ffn_dim": 16,
    "use_cache": False,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
"""What BART and its descendants share."""


@dataclass(frozen=True)
class Family:
    """One row of the zoo that transformers gives."""

    name: str
    """As transformers names the folder of its code."""
    model: str
    """The class; its ``config_class`` makes the configuration."""
    inputs: Callable[[], dict[str, torch.Tensor]]
    """Returns the keyword arguments of the call."""
    config: Mapping[str, Any]
    """What differs from the family's own configuration: sizes, mostly."""

    def zoo_model(self) -> ZooModel:
        """Return the model; it imports transformers when it is built, and downloads nothing."""
        settings = ", ".join(f"{key}={value!r}" for key, value in self.config.items())
        return ZooModel(f"transformers/{self.name}", f"{self.model}({settings})", self._make)

    def made(self) -> Any:
        """Return a model with random weights, in eval mode."""
        made = getattr(importlib.import_module("transformers"), self.model)
        return made(made.config_class(**self.config)).eval()

    def _make(self) -> tuple[torch.nn.Module, tuple[()], dict[str, torch.Tensor]]:
        return self.made(), (), self.inputs()


def tokens(count: int = 6) -> torch.Tensor:
    """Return the numbers of some tokens; 0 to 2 are left out, where models keep their marks."""
    return torch.randint(3, VOCABULARY, (BATCH, count))


def text() -> dict[str, torch.Tensor]:
    """Return texts; the last token of the first is padding."""
    mask = torch.ones(BATCH, 6, dtype=torch.int64)
    mask[0, -1] = 0
    return {"input_ids": tokens(), "attention_mask": mask}


def prompt() -> dict[str, torch.Tensor]:
    """Return texts without padding."""
    return {"input_ids": tokens()}


def translation() -> dict[str, torch.Tensor]:
    """Return texts and the beginnings of what they become."""
    return {"input_ids": tokens(), "decoder_input_ids": tokens(4)}


def image(size: int = 32) -> Callable[[], dict[str, torch.Tensor]]:
    """Return a function that makes square images."""
    return lambda: {"pixel_values": torch.randn(BATCH, 3, size, size)}
