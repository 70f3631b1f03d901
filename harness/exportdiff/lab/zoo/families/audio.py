"""Models that listen."""

from __future__ import annotations

import torch

from exportdiff.lab.zoo.families.family import BATCH, ENCODER_DECODER, LAYERS, VOCABULARY, Family, tokens

_WAVES = {
    **LAYERS,
    "vocab_size": VOCABULARY,
    "intermediate_size": 16,
    "conv_dim": [8, 8],
    "conv_stride": [4, 2],
    "conv_kernel": [8, 2],
    "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 4,
    "num_conv_pos_embedding_groups": 2,
}


def wave() -> dict[str, torch.Tensor]:
    """Return short sounds."""
    return {"input_values": torch.randn(BATCH, 160)}


def heard_and_written() -> dict[str, torch.Tensor]:
    """Return the spectra of sounds, and the beginnings of what was said."""
    return {"input_features": torch.randn(BATCH, 8, 16), "decoder_input_ids": tokens(4)}


FAMILIES = (
    Family("wav2vec2", "Wav2Vec2Model", wave, _WAVES),
    Family("hubert", "HubertModel", wave, _WAVES),
    Family("wavlm", "WavLMModel", wave, _WAVES),
    Family(
        "whisper",
        "WhisperForConditionalGeneration",
        heard_and_written,
        {
            **ENCODER_DECODER,
            "num_mel_bins": 8,
            "max_source_positions": 8,
            "max_target_positions": 8,
            "decoder_start_token_id": 1,
        },
    ),
)
