"""Models of timm, by their names there, in sizes that are small enough to judge."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from harness.zoo.model import ZooModel

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True)
class TimmModel:
    """One row of the zoo that timm gives."""

    name: str
    """The class or function in the module ``timm.models``."""
    size: int = 32
    """Of the square image."""
    settings: Mapping[str, Any] = field(default_factory=dict)

    def zoo_model(self) -> ZooModel:
        """Return the model; it imports timm when it is built, and downloads nothing."""
        settings = ", ".join(f"{key}={value!r}" for key, value in self.settings.items())
        return ZooModel(f"timm/{self.name}", f"timm.models.{self.name}({settings})", self._make)

    def _make(self) -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
        made = getattr(importlib.import_module("timm.models"), self.name)(num_classes=4, **self.settings)
        return made.eval(), (torch.randn(1, 3, self.size, self.size),)


MODELS = (
    TimmModel(
        "VisionTransformer",
        16,
        {"img_size": 16, "patch_size": 8, "embed_dim": 16, "depth": 2, "num_heads": 2},
    ),
    TimmModel("ConvNeXt", 32, {"depths": (1, 1), "dims": (8, 16)}),
    TimmModel(
        "SwinTransformer",
        16,
        {
            "img_size": 16,
            "patch_size": 2,
            "embed_dim": 8,
            "depths": (2, 1),
            "num_heads": (1, 2),
            "window_size": 4,
        },
    ),
    TimmModel("MlpMixer", 16, {"img_size": 16, "patch_size": 8, "num_blocks": 2, "embed_dim": 16}),
    TimmModel("resnet10t"),
    TimmModel("mobilenetv3_small_050"),
    TimmModel("regnetx_002"),
)


def models() -> Iterator[ZooModel]:
    """Yield all of them."""
    for each in MODELS:
        yield each.zoo_model()
