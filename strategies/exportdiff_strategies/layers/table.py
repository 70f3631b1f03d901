"""The table of ready-made ``nn`` layers that a Program may use as children.

To add a layer, add one line to LAYERS.
"""

from __future__ import annotations

from collections.abc import Callable

from exportdiff_strategies.layers import choices, rules, tensors
from exportdiff_strategies.layers.spec import LayerSpec


def _elementwise(template: str, bound: Callable[[float], float], integers: bool = False) -> LayerSpec:
    return LayerSpec(template, choices.number if integers else choices.floating, rules.elementwise(bound))


def _inplace(template: str, integers: bool = False) -> LayerSpec:
    return LayerSpec(template, choices.number if integers else choices.floating, rules.inplace, mutates=True)


def _conv(rank: int) -> LayerSpec:
    template = f"nn.Conv{rank}d({{p[0]}}, {{p[1]}}, {{p[2]}}{{p[3]}})"
    rule, state = rules.conv(rank), tensors.conv(rank)
    return LayerSpec(template, choices.conv(rank), rule, random=True, lowers=True, tensors=state)


_LAST = choices.last_size()
_SEQUENCE = choices.last_size(2, 3)
_BATCH = choices.last_size(3)
_BELOW_1 = rules.same_shape(lambda x: 1.0)
_LAST_NORM = rules.same_shape(lambda x: rules.standardized(x.type.shape[-1]), row_major=True)

LAYERS: dict[str, LayerSpec] = {
    "identity": LayerSpec("nn.Identity()", choices.always, rules.identity),
    "relu": _elementwise("nn.ReLU()", lambda x: x, integers=True),
    "linear": LayerSpec(
        *("nn.Linear({p[0]}, {p[1]}{p[2]})", choices.linear, rules.linear),
        random=True,
        lowers=True,
        tensors=tensors.linear,
    ),
    "layer_norm": LayerSpec("nn.LayerNorm({p[0]}{p[1]})", _LAST, _LAST_NORM, tensors=tensors.affine),
    "relu_inplace": _inplace("nn.ReLU(inplace=True)", integers=True),
    "dropout": LayerSpec("nn.Dropout(0.5)", choices.droppable, rules.dropout, has_modes=True),
    "rrelu": LayerSpec("nn.RReLU()", choices.floating, rules.rrelu, has_modes=True),
    "tanh": _elementwise("nn.Tanh()", lambda x: 1.0),
    "gelu": _elementwise("nn.GELU()", lambda x: x),
    "silu": _elementwise("nn.SiLU()", lambda x: x),
    "hardtanh_inplace": _inplace("nn.Hardtanh(inplace=True)"),
    "softmax": LayerSpec("nn.Softmax(-1)", choices.floating, rules.softmax),
    "flatten": LayerSpec("nn.Flatten()", choices.flattenable, rules.flatten),
    "rms_norm": LayerSpec("nn.RMSNorm({p[0]}{p[1]})", _LAST, _LAST_NORM, tensors=tensors.weight),
    "batch_norm1d": LayerSpec(
        *("nn.BatchNorm1d({p[0]}{p[1]})", choices.batch_norm, rules.batch_norm),
        tensors=tensors.batch_norm,
        updates=rules.running_statistics,
        has_modes=True,
    ),
    "group_norm": LayerSpec(
        *("nn.GroupNorm(1, {p[0]}{p[1]})", choices.group_norm),
        rules.same_shape(lambda x: rules.standardized(x.type.numel)),
        tensors=tensors.affine,
    ),
    "conv1d": _conv(1),
    "conv2d": _conv(2),
    "max_pool1d": LayerSpec("nn.MaxPool1d(2)", choices.poolable, rules.pool),
    "avg_pool1d": LayerSpec("nn.AvgPool1d(2)", choices.poolable, rules.pool),
    "embedding": LayerSpec(
        *("nn.Embedding({p[0]}, {p[1]})", choices.embedding, rules.embedding),
        form="tokens",
        random=True,
        tensors=tensors.embedding,
    ),
    "attention": LayerSpec(
        *("nn.MultiheadAttention({p[0]}, 1, batch_first=True{p[1]})", _SEQUENCE, rules.attention),
        form="self_attention",
        random=True,
        lowers=True,
        tensors=tensors.attention,
    ),
    **{
        name: LayerSpec(
            *(f"nn.{layer}({{p[0]}}, {{p[0]}}, batch_first=True{{p[1]}})", fits, _BELOW_1),
            form=form,
            random=True,
            lowers=True,
            tensors=tensors.gates(gates),
        )
        for name, layer, fits, form, gates in (
            ("gru", "GRU", _SEQUENCE, "first", 3),
            ("lstm", "LSTM", _SEQUENCE, "first", 4),
            ("packed_gru", "GRU", _BATCH, "packed", 3),
        )
    },
    "gru_cell": LayerSpec(
        # In autocast, its first state has the dtype of the input, and so has its result.
        *("nn.GRUCell({p[0]}, {p[0]}{p[1]})", choices.last_size(1, 2), _BELOW_1),
        random=True,
        tensors=tensors.gates(3, ""),
    ),
    "encoder_layer": LayerSpec(
        *("nn.TransformerEncoderLayer({p[0]}, 1, 4, 0.0, batch_first=True{p[1]})", _BATCH),
        # It ends with a normalization.
        rules.same_shape(lambda x: rules.standardized(x.type.shape[-1])),
        random=True,
        tensors=tensors.encoder,
    ),
}
