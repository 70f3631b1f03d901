"""Models that read a text."""

from __future__ import annotations

import torch

from exportdiff.lab.zoo.families.family import BATCH, LAYERS, VOCABULARY, Family, text

_SIZES = LAYERS | {"vocab_size": VOCABULARY, "intermediate_size": 16, "max_position_embeddings": 16}
_DISENTANGLED = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}


def page() -> dict[str, torch.Tensor]:
    """Return texts, and the box on the page that each token stands in."""
    left_top = torch.randint(0, 8, (BATCH, 6, 2))
    return {**text(), "bbox": torch.cat([left_top, left_top + 4], -1)}


FAMILIES = (
    Family("bert", "BertModel", text, _SIZES),
    Family("roberta", "RobertaModel", text, _SIZES | {"pad_token_id": 1}),
    Family(
        "distilbert",
        "DistilBertModel",
        text,
        {
            "vocab_size": VOCABULARY,
            "dim": 16,
            "hidden_dim": 16,
            "n_layers": 2,
            "n_heads": 2,
            "max_position_embeddings": 16,
        },
    ),
    Family("albert", "AlbertModel", text, _SIZES | {"embedding_size": 8}),
    Family("electra", "ElectraModel", text, _SIZES | {"embedding_size": 8}),
    Family("mpnet", "MPNetModel", text, _SIZES),
    Family("modernbert", "ModernBertModel", text, _SIZES | {"pad_token_id": 0, "local_attention": 4}),
    Family("deberta", "DebertaModel", text, _SIZES | _DISENTANGLED | {"max_relative_positions": 8}),
    Family(
        "deberta_v2",
        "DebertaV2Model",
        text,
        _SIZES | _DISENTANGLED | {"position_buckets": 4, "max_relative_positions": 8},
    ),
    Family("roformer", "RoFormerModel", text, _SIZES | {"embedding_size": 16}),
    Family(
        "squeezebert",
        "SqueezeBertModel",
        text,
        _SIZES
        | {"embedding_size": 16}
        | dict.fromkeys(
            (
                "q_groups",
                "k_groups",
                "v_groups",
                "post_attention_groups",
                "intermediate_groups",
                "output_groups",
            ),
            2,
        ),
    ),
    Family(
        "fnet",
        "FNetModel",
        lambda: {"input_ids": text()["input_ids"]},
        {key: value for key, value in _SIZES.items() if key != "num_attention_heads"},
    ),
    Family("layoutlm", "LayoutLMModel", page, _SIZES | {"max_2d_position_embeddings": 16}),
)
