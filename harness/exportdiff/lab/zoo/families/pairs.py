"""Models that read one thing and write another, and models of texts with images."""

from __future__ import annotations

import torch

from exportdiff.lab.zoo.families.family import (
    ENCODER_DECODER,
    LAYERS,
    VOCABULARY,
    Family,
    image,
    text,
    tokens,
    translation,
)

_BART = ENCODER_DECODER | {"max_position_embeddings": 16, "decoder_start_token_id": 2}
_TOWER = LAYERS | {"intermediate_size": 16, "num_hidden_layers": 1, "projection_dim": 8}
_TWO_TOWERS = {
    "projection_dim": 8,
    "text_config": _TOWER
    | {"vocab_size": VOCABULARY, "max_position_embeddings": 16, "bos_token_id": 1, "eos_token_id": 2},
    "vision_config": _TOWER | {"image_size": 16, "patch_size": 8},
}


def captioned() -> dict[str, torch.Tensor]:
    """Return images and texts about them."""
    return {"input_ids": tokens(), **image(16)()}


def captioned_and_masked() -> dict[str, torch.Tensor]:
    """Return images and texts about them, with padding."""
    return {**text(), **image(16)()}


FAMILIES = (
    Family(
        "t5",
        "T5ForConditionalGeneration",
        translation,
        {
            "vocab_size": VOCABULARY,
            "d_model": 16,
            "d_kv": 8,
            "d_ff": 16,
            "num_layers": 2,
            "num_heads": 2,
            "relative_attention_num_buckets": 8,
            "use_cache": False,
            "decoder_start_token_id": 0,
        },
    ),
    Family("bart", "BartForConditionalGeneration", translation, _BART),
    Family("pegasus", "PegasusForConditionalGeneration", translation, _BART),
    Family("marian", "MarianMTModel", translation, _BART),
    Family("m2m_100", "M2M100ForConditionalGeneration", translation, _BART),
    Family("clip", "CLIPModel", captioned, _TWO_TOWERS),
    Family("siglip", "SiglipModel", captioned, _TWO_TOWERS),
    Family(
        "vilt",
        "ViltModel",
        captioned_and_masked,
        _TOWER | {"vocab_size": VOCABULARY, "max_position_embeddings": 16, "image_size": 16, "patch_size": 8},
    ),
)
