"""The table of ready-made ``nn`` layers that a Program may use as children.

To add a layer, add one line to LAYERS.
"""

from __future__ import annotations

from exportdiff_strategies.layers.channels import (
    batch_norm,
    batch_sizes,
    batch_tensors,
    batch_updates,
    conv,
    group_norm,
    group_sizes,
)
from exportdiff_strategies.layers.last_dimension import (
    affine,
    last_norm,
    last_size,
    linear,
    linear_sizes,
    linear_tensors,
    weight_only,
)
from exportdiff_strategies.layers.plain import (
    always,
    dropout,
    elementwise,
    elementwise_inplace,
    flatten,
    identity,
    if_droppable,
    if_flattenable,
    if_floating,
    if_poolable,
    pool,
    softmax,
)
from exportdiff_strategies.layers.sequences import (
    attention,
    attention_tensors,
    batches,
    cell,
    cell_sizes,
    embedding,
    embedding_sizes,
    embedding_tensors,
    encoder_layer,
    encoder_tensors,
    gate_tensors,
    packed,
    recurrent,
    sequence_sizes,
)
from exportdiff_strategies.layers.spec import LayerSpec

LAYERS: dict[str, LayerSpec] = {
    "identity": LayerSpec("nn.Identity()", always, identity),
    "relu": elementwise("nn.ReLU()", lambda x: x, integers=True),
    "linear": LayerSpec(
        *("nn.Linear({p[0]}, {p[1]}{p[2]})", linear_sizes, linear),
        random=True,
        lowers=True,
        tensors=linear_tensors,
    ),
    "layer_norm": LayerSpec("nn.LayerNorm({p[0]}{p[1]})", last_size, last_norm, tensors=affine),
    "relu_inplace": elementwise_inplace("nn.ReLU(inplace=True)", integers=True),
    "dropout": LayerSpec("nn.Dropout(0.5)", if_droppable, dropout, has_modes=True),
    "tanh": elementwise("nn.Tanh()", lambda x: 1.0),
    "gelu": elementwise("nn.GELU()", lambda x: x),
    "silu": elementwise("nn.SiLU()", lambda x: x),
    "hardtanh_inplace": elementwise_inplace("nn.Hardtanh(inplace=True)"),
    "softmax": LayerSpec("nn.Softmax(-1)", if_floating, softmax),
    "flatten": LayerSpec("nn.Flatten()", if_flattenable, flatten),
    "rms_norm": LayerSpec("nn.RMSNorm({p[0]}{p[1]})", last_size, last_norm, tensors=weight_only),
    "batch_norm1d": LayerSpec(
        *("nn.BatchNorm1d({p[0]}{p[1]})", batch_sizes, batch_norm),
        tensors=batch_tensors,
        updates=batch_updates,
        has_modes=True,
    ),
    "group_norm": LayerSpec("nn.GroupNorm(1, {p[0]}{p[1]})", group_sizes, group_norm, tensors=affine),
    "conv1d": conv(1),
    "conv2d": conv(2),
    "max_pool1d": LayerSpec("nn.MaxPool1d(2)", if_poolable, pool),
    "avg_pool1d": LayerSpec("nn.AvgPool1d(2)", if_poolable, pool),
    "embedding": LayerSpec(
        *("nn.Embedding({p[0]}, {p[1]})", embedding_sizes, embedding),
        form="tokens",
        random=True,
        tensors=embedding_tensors,
    ),
    "attention": LayerSpec(
        *("nn.MultiheadAttention({p[0]}, 1, batch_first=True{p[1]})", sequence_sizes, attention),
        form="self_attention",
        random=True,
        lowers=True,
        tensors=attention_tensors,
    ),
    "gru": LayerSpec(
        *("nn.GRU({p[0]}, {p[0]}, batch_first=True{p[1]})", sequence_sizes, recurrent),
        form="first",
        random=True,
        lowers=True,
        tensors=gate_tensors(3),
    ),
    "lstm": LayerSpec(
        *("nn.LSTM({p[0]}, {p[0]}, batch_first=True{p[1]})", sequence_sizes, recurrent),
        form="first",
        random=True,
        lowers=True,
        tensors=gate_tensors(4),
    ),
    "packed_gru": LayerSpec(
        *("nn.GRU({p[0]}, {p[0]}, batch_first=True{p[1]})", batches, packed),
        form="packed",
        random=True,
        lowers=True,
        tensors=gate_tensors(3),
    ),
    "gru_cell": LayerSpec(
        # In autocast, its first state has the dtype of the input, and so has its result.
        *("nn.GRUCell({p[0]}, {p[0]}{p[1]})", cell_sizes, cell),
        random=True,
        tensors=gate_tensors(3, ""),
    ),
    "encoder_layer": LayerSpec(
        *("nn.TransformerEncoderLayer({p[0]}, 1, 4, 0.0, batch_first=True{p[1]})", batches, encoder_layer),
        random=True,
        tensors=encoder_tensors,
    ),
}
