"""The table of ready-made ``nn`` layers that a Program may use as children.

To add a layer, add one line to LAYERS.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from strategies.ops import Operand, Outcome, Rejected
from strategies.types import Shape, TensorType, category, dense, fresh, numel, pointwise

LayerParams = tuple[int | str, ...]
Tensors = Mapping[str, tuple[str, TensorType, float]]
"""Name -> kind of attribute (parameter or buffer), type, and bound on the absolute values."""

DOUBLE = ", dtype=torch.float64"
"""What a template says of layers that are not float32; the last param of those that take a dtype."""

_SUFFIXES = {"float32": "", "float64": DOUBLE}


def _no_tensors(params: LayerParams) -> Tensors:
    return {}


def _no_moves(x: Operand, params: LayerParams) -> Mapping[str, float]:
    return {}


@dataclass(frozen=True, slots=True)
class LayerSpec:
    """One entry: how it is built, and what it makes of its one input.

    ``template`` is a format string over the params ``p``. ``choices`` lists the params that fit an input (and
    train mode), simplest first. ``form`` says how the layer is called: an entry of ``program.FORMS``.
    ``random`` says that its parameters are initialized from the RNG, ``mutates`` that it changes its input in
    place, ``lowers`` that autocast runs it in its lower precision. ``tensors`` are its parameters and
    buffers; ``moves`` gives the bounds of the buffers that a call in train mode updates.
    """

    template: str
    choices: Callable[[Operand, bool], list[LayerParams]]
    rule: Callable[[Operand, LayerParams, bool], Outcome]
    form: str = ""
    mutates: bool = False
    random: bool = False
    lowers: bool = False
    tensors: Callable[[LayerParams], Tensors] = _no_tensors
    moves: Callable[[Operand, LayerParams], Mapping[str, float]] = _no_moves


# --- helpers of rules -----------------------------------------------------------------------------------


def _size(value: int | str) -> int:
    assert isinstance(value, int)
    return value


def _dtype(params: LayerParams) -> str:
    """The dtype of a layer that takes one: its last param says so."""
    return "float64" if params[-1] == DOUBLE else "float32"


def _typed(x: Operand, *sizes: int) -> list[LayerParams]:
    """These sizes with the input's dtype, or nothing where layers know no such dtype."""
    suffix = _SUFFIXES.get(x.type.dtype)
    return [] if suffix is None else [(*sizes, suffix)]


def _require(fits: bool) -> None:
    if not fits:
        raise Rejected("does not fit the layer")


def _floating(x: Operand) -> bool:
    return category(x.type.dtype) == "float"


def _double_or_single(x: Operand, params: LayerParams) -> None:
    _require(x.type.dtype == _dtype(params))


# --- without parameters ---------------------------------------------------------------------------------


def _always(x: Operand, training: bool) -> list[LayerParams]:
    return [()]


def _if_floating(x: Operand, training: bool) -> list[LayerParams]:
    return [()] if _floating(x) else []


def _if_number(x: Operand, training: bool) -> list[LayerParams]:
    return [()] if category(x.type.dtype) in ("float", "int") else []


def _in_eval(x: Operand, training: bool) -> list[LayerParams]:
    return [] if training else [()]


def _identity(x: Operand, params: LayerParams, training: bool) -> Outcome:
    return Outcome(x.type, x.bound, alias=True, same=True)


def _dropout(x: Operand, params: LayerParams, training: bool) -> Outcome:
    _require(not training)
    return _identity(x, params, training)


def _map(template: str, bound: Callable[[float], float], integers: bool = False) -> LayerSpec:
    """Elementwise."""

    def rule(x: Operand, params: LayerParams, training: bool) -> Outcome:
        _require(bool(choices(x, training)))
        found = pointwise((x.type,))
        assert found is not None
        return Outcome(TensorType(*found, x.type.dtype), bound(x.bound))

    choices = _if_number if integers else _if_floating
    return LayerSpec(template, choices, rule)


def _inplace(template: str, integers: bool = False) -> LayerSpec:
    """Elementwise on the input itself, making nothing larger."""

    def rule(x: Operand, params: LayerParams, training: bool) -> Outcome:
        _require(bool(choices(x, training)) and not x.type.overlaps)
        return Outcome(x.type, x.bound, alias=True, same=True)

    choices = _if_number if integers else _if_floating
    return LayerSpec(template, choices, rule, mutates=True)


def _softmax(x: Operand, params: LayerParams, training: bool) -> Outcome:
    _require(_floating(x) and len(x.type.shape) > 0 and x.type.numel > 0)
    return Outcome(dense(x.type.shape, x.type.dtype), 1.0)


def _flatten(x: Operand, params: LayerParams, training: bool) -> Outcome:
    """A view where memory allows it; of two dimensions, the input itself."""
    kind = x.type
    _require(len(kind.shape) >= 2 and kind.contiguous is not None)
    if len(kind.shape) == 2:
        return _identity(x, params, training)
    _require(bool(kind.contiguous) and kind.numel > 0)
    shape = (kind.shape[0], numel(kind.shape[1:]))
    return Outcome(dense(shape, kind.dtype), x.bound, alias=True)


def _flattening(x: Operand, training: bool) -> list[LayerParams]:
    return [()] if len(x.type.shape) >= 2 else []


def _pool(x: Operand, params: LayerParams, training: bool) -> Outcome:
    shape = x.type.shape
    _require(bool(_pooling(x, training)))
    return Outcome(fresh((*shape[:-1], shape[-1] // 2), x.type.dtype), x.bound)


def _pooling(x: Operand, training: bool) -> list[LayerParams]:
    shape = x.type.shape
    fits = x.type.dtype in _SUFFIXES and len(shape) in (2, 3) and 0 not in shape and shape[-1] > 1
    return [()] if fits else []


# --- of the last dimension ------------------------------------------------------------------------------


def _last(x: Operand, training: bool) -> list[LayerParams]:
    """Layers built for the size of the last dimension."""
    shape = x.type.shape
    return _typed(x, shape[-1]) if shape and 0 not in shape else []


def _fits_last(x: Operand, params: LayerParams) -> int:
    shape = x.type.shape
    _double_or_single(x, params)
    _require(len(shape) > 0 and 0 not in shape and shape[-1] == params[0])
    return shape[-1]


def _linears(x: Operand, training: bool) -> list[LayerParams]:
    """Square ones first: they can be called again on their own result."""
    sizes = [(size, out) for size in x.type.shape[-1:] for out in (size, 2, 3)]
    if 0 in x.type.shape:
        return []
    return [params for pair in dict.fromkeys(sizes) for params in _typed(x, *pair)]


def _linear(x: Operand, params: LayerParams, training: bool) -> Outcome:
    size, out = _fits_last(x, params), _size(params[1])
    shape = (*x.type.shape[:-1], out)
    maker = dense if x.type.contiguous or len(shape) < 3 else fresh
    return Outcome(maker(shape, x.type.dtype), x.bound * size + 1)


def _linear_tensors(params: LayerParams) -> Tensors:
    size, out, dtype = _size(params[0]), _size(params[1]), _dtype(params)
    return {
        "weight": ("parameter", dense((out, size), dtype), 1.0),
        "bias": ("parameter", dense((out,), dtype), 1.0),
    }


def _last_norm(x: Operand, params: LayerParams, training: bool) -> Outcome:
    size = _fits_last(x, params)
    return Outcome(dense(x.type.shape, x.type.dtype), math.sqrt(size) + 1)


def _affine(params: LayerParams) -> Tensors:
    one = dense((_size(params[0]),), _dtype(params))
    return {"weight": ("parameter", one, 1.0), "bias": ("parameter", one, 1.0)}


def _weight(params: LayerParams) -> Tensors:
    return {"weight": ("parameter", dense((_size(params[0]),), _dtype(params)), 1.0)}


# --- of the channels ------------------------------------------------------------------------------------


def _channels(x: Operand, *ranks: int) -> int:
    """The size of dimension 1 of an input that has a batch dimension, or 0 where it does not fit."""
    shape = x.type.shape
    return shape[1] if len(shape) in ranks and 0 not in shape and x.type.dtype in _SUFFIXES else 0


def _batches(x: Operand, training: bool) -> list[LayerParams]:
    size = _channels(x, 2, 3)
    # Train mode knows no variance of a single value.
    if not size or (training and x.type.numel == size):
        return []
    return _typed(x, size)


def _groups(x: Operand, training: bool) -> list[LayerParams]:
    size = _channels(x, 2, 3, 4)
    return _typed(x, size) if size and x.type.numel > 1 else []


def _batch_norm(x: Operand, params: LayerParams, training: bool) -> Outcome:
    _require(params in _batches(x, training))
    # In eval mode the running statistics are the initial ones, 0 and 1.
    bound = math.sqrt(x.type.numel) if training else x.bound
    return Outcome(fresh(x.type.shape, x.type.dtype), bound + 1)


def _batch_tensors(params: LayerParams) -> Tensors:
    one = dense((_size(params[0]),), _dtype(params))
    return {
        **_affine(params),
        "running_mean": ("buffer", one, 0.0),
        "running_var": ("buffer", one, 1.0),
        "num_batches_tracked": ("buffer", dense((), "int64"), 0.0),
    }


def _batch_moves(x: Operand, params: LayerParams) -> Mapping[str, float]:
    return {
        "running_mean": x.bound,
        "running_var": 2 * x.bound * x.bound + 1,
        "num_batches_tracked": 100.0,
    }


def _group_norm(x: Operand, params: LayerParams, training: bool) -> Outcome:
    _require(params in _groups(x, training))
    return Outcome(fresh(x.type.shape, x.type.dtype), math.sqrt(x.type.numel) + 1)


def _conv(rank: int) -> LayerSpec:
    """A kernel of size 1 or 2 with as many channels out as in, or 2."""

    def choices(x: Operand, training: bool) -> list[LayerParams]:
        shape = x.type.shape
        if len(shape) not in (rank + 1, rank + 2) or 0 in shape:
            return []
        channels = shape[-rank - 1]
        kernels = (1, 2) if min(shape[-rank:]) > 1 else (1,)
        return [p for out in sorted({channels, 2}) for k in kernels for p in _typed(x, channels, out, k)]

    def rule(x: Operand, params: LayerParams, training: bool) -> Outcome:
        _require(params in choices(x, training))
        channels, out, kernel = (_size(value) for value in params[:3])
        sizes = tuple(size - kernel + 1 for size in x.type.shape[-rank:])
        shape = (*x.type.shape[: -rank - 1], out, *sizes)
        return Outcome(fresh(shape, x.type.dtype), x.bound * channels * kernel**rank + 1)

    def tensors(params: LayerParams) -> Tensors:
        channels, out, kernel = (_size(value) for value in params[:3])
        shape: Shape = (out, channels, *(kernel,) * rank)
        return {
            "weight": ("parameter", dense(shape, _dtype(params)), 1.0),
            "bias": ("parameter", dense((out,), _dtype(params)), 1.0),
        }

    template = f"nn.Conv{rank}d({{p[0]}}, {{p[1]}}, {{p[2]}}{{p[3]}})"
    return LayerSpec(template, choices, rule, random=True, lowers=True, tensors=tensors)


# --- of sequences ---------------------------------------------------------------------------------------


def _sequences(x: Operand, training: bool) -> list[LayerParams]:
    shape = x.type.shape
    return _typed(x, shape[-1]) if len(shape) in (2, 3) and 0 not in shape else []


def _attention(x: Operand, params: LayerParams, training: bool) -> Outcome:
    _require(params in _sequences(x, training))
    size = _size(params[0])
    # Two projections with weights below sqrt(6 / (size + size)) and 1 / sqrt(size).
    return Outcome(fresh(x.type.shape, x.type.dtype), 2 * x.bound * size + 1)


def _attention_tensors(params: LayerParams) -> Tensors:
    size, dtype = _size(params[0]), _dtype(params)
    return {
        "in_proj_weight": ("parameter", dense((3 * size, size), dtype), 2.0),
        "in_proj_bias": ("parameter", dense((3 * size,), dtype), 1.0),
        "out_proj.weight": ("parameter", dense((size, size), dtype), 1.0),
        "out_proj.bias": ("parameter", dense((size,), dtype), 1.0),
    }


def _recurrent(x: Operand, params: LayerParams, training: bool) -> Outcome:
    _require(params in _sequences(x, training))
    return Outcome(fresh((*x.type.shape[:-1], _size(params[0])), x.type.dtype), 1.0)


def _gates(count: int) -> Callable[[LayerParams], Tensors]:
    def tensors(params: LayerParams) -> Tensors:
        size, dtype = _size(params[0]), _dtype(params)
        matrix, vector = dense((count * size, size), dtype), dense((count * size,), dtype)
        return {
            "weight_ih_l0": ("parameter", matrix, 1.0),
            "weight_hh_l0": ("parameter", matrix, 1.0),
            "bias_ih_l0": ("parameter", vector, 1.0),
            "bias_hh_l0": ("parameter", vector, 1.0),
        }

    return tensors


# --- of tokens ------------------------------------------------------------------------------------------

_TOKENS = 3
"""How many rows an embedding has; the form ``tokens`` takes the input modulo this."""


def _tokens(x: Operand, training: bool) -> list[LayerParams]:
    return [(_TOKENS, 2)] if category(x.type.dtype) == "int" and len(x.type.shape) < 4 else []


def _embedding(x: Operand, params: LayerParams, training: bool) -> Outcome:
    _require(bool(_tokens(x, training)))
    return Outcome(fresh((*x.type.shape, _size(params[1])), "float32"), _NORMAL)


_NORMAL = 6.0
"""No value drawn from the normal distribution exceeds this."""


def _embedding_tensors(params: LayerParams) -> Tensors:
    return {"weight": ("parameter", dense((_size(params[0]), _size(params[1]))), _NORMAL)}


LAYERS: dict[str, LayerSpec] = {
    "identity": LayerSpec("nn.Identity()", _always, _identity),
    "relu": _map("nn.ReLU()", lambda x: x, integers=True),
    "linear": LayerSpec(
        *("nn.Linear({p[0]}, {p[1]}{p[2]})", _linears, _linear),
        random=True,
        lowers=True,
        tensors=_linear_tensors,
    ),
    "layer_norm": LayerSpec("nn.LayerNorm({p[0]}{p[1]})", _last, _last_norm, tensors=_affine),
    "relu_inplace": _inplace("nn.ReLU(inplace=True)", integers=True),
    "dropout": LayerSpec("nn.Dropout(0.5)", _in_eval, _dropout),
    "tanh": _map("nn.Tanh()", lambda x: 1.0),
    "gelu": _map("nn.GELU()", lambda x: x),
    "silu": _map("nn.SiLU()", lambda x: x),
    "hardtanh_inplace": _inplace("nn.Hardtanh(inplace=True)"),
    "softmax": LayerSpec("nn.Softmax(-1)", _if_floating, _softmax),
    "flatten": LayerSpec("nn.Flatten()", _flattening, _flatten),
    "rms_norm": LayerSpec("nn.RMSNorm({p[0]}{p[1]})", _last, _last_norm, tensors=_weight),
    "batch_norm1d": LayerSpec(
        *("nn.BatchNorm1d({p[0]}{p[1]})", _batches, _batch_norm),
        tensors=_batch_tensors,
        moves=_batch_moves,
    ),
    "group_norm": LayerSpec("nn.GroupNorm(1, {p[0]}{p[1]})", _groups, _group_norm, tensors=_affine),
    "conv1d": _conv(1),
    "conv2d": _conv(2),
    "max_pool1d": LayerSpec("nn.MaxPool1d(2)", _pooling, _pool),
    "avg_pool1d": LayerSpec("nn.AvgPool1d(2)", _pooling, _pool),
    "embedding": LayerSpec(
        *("nn.Embedding({p[0]}, {p[1]})", _tokens, _embedding),
        form="tokens",
        random=True,
        tensors=_embedding_tensors,
    ),
    "attention": LayerSpec(
        *("nn.MultiheadAttention({p[0]}, 1, batch_first=True{p[1]})", _sequences, _attention),
        form="self_attention",
        random=True,
        lowers=True,
        tensors=_attention_tensors,
    ),
    "gru": LayerSpec(
        *("nn.GRU({p[0]}, {p[0]}, batch_first=True{p[1]})", _sequences, _recurrent),
        form="first",
        random=True,
        lowers=True,
        tensors=_gates(3),
    ),
    "lstm": LayerSpec(
        *("nn.LSTM({p[0]}, {p[0]}, batch_first=True{p[1]})", _sequences, _recurrent),
        form="first",
        random=True,
        lowers=True,
        tensors=_gates(4),
    ),
}
