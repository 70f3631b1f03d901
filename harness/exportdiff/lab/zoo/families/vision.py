"""Models that look at an image."""

from __future__ import annotations

from exportdiff.lab.zoo.families.family import LAYERS, Family, image

_VIT = LAYERS | {"image_size": 16, "patch_size": 8, "intermediate_size": 16}
_STAGES = {"depths": [1, 1], "hidden_sizes": [8, 16]}
_SWIN = {
    "image_size": 16,
    "patch_size": 2,
    "embed_dim": 8,
    "depths": [2, 1],
    "num_heads": [1, 2],
    "window_size": 4,
}

FAMILIES = (
    Family("vit", "ViTForImageClassification", image(16), _VIT),
    Family("deit", "DeiTForImageClassification", image(16), _VIT),
    Family("beit", "BeitForImageClassification", image(16), _VIT | {"use_relative_position_bias": True}),
    Family("dinov2", "Dinov2Model", image(16), _VIT),
    Family("swin", "SwinForImageClassification", image(16), _SWIN),
    Family("swinv2", "Swinv2ForImageClassification", image(16), _SWIN),
    Family("convnext", "ConvNextForImageClassification", image(), _STAGES | {"num_stages": 2}),
    Family("resnet", "ResNetForImageClassification", image(), _STAGES | {"embedding_size": 8}),
    Family(
        "segformer",
        "SegformerForSemanticSegmentation",
        image(),
        {
            "num_encoder_blocks": 2,
            "depths": [1, 1],
            "sr_ratios": [2, 1],
            "hidden_sizes": [8, 16],
            "patch_sizes": [7, 3],
            "strides": [4, 2],
            "num_attention_heads": [1, 2],
            "mlp_ratios": [2, 2],
            "decoder_hidden_size": 8,
        },
    ),
    Family(
        "mobilenet_v2",
        "MobileNetV2ForImageClassification",
        image(),
        {"depth_multiplier": 0.1, "min_depth": 4, "depth_divisible_by": 4},
    ),
)
