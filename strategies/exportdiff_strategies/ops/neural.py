"""Functional forms of convolution, pooling, attention, resizing and losses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from exportdiff_strategies.ops.rules import (
    LARGEST,
    SINGLES,
    Bound,
    agree,
    check,
    turning,
)
from exportdiff_strategies.ops.spec import Operand, OpResult, OpSpec, Params, require
from exportdiff_strategies.ops.views import whole
from exportdiff_strategies.types import dense, fresh

# --- convolution and attention ----------------------------------------------------------------------------


def _conv(rank: int) -> OpSpec:
    """A convolution in ``rank`` dimensions without padding, of one example or a batch."""

    def rule(operands: Sequence[Operand], params: Params) -> OpResult:
        check(operands, SINGLES)
        dtype = agree(operands)
        first, second = operands
        shape, kernel = first.type.shape, second.type.shape
        require(len(kernel) == rank + 2 and len(shape) in (rank + 1, rank + 2))
        require(0 not in shape and 0 not in kernel and kernel[1] == shape[-rank - 1])
        sizes = tuple(a - b + 1 for a, b in zip(shape[-rank:], kernel[2:], strict=True))
        require(min(sizes) > 0, "kernel too large")
        count = second.type.numel // kernel[0]
        bound = first.bound * second.bound * count
        return OpResult(fresh((*shape[: -rank - 1], kernel[0], *sizes), dtype), bound)

    return OpSpec(f"F.conv{rank}d({{0}}, {{1}})", "nn", 2, rule, lowers=True)


def _attention(operands: Sequence[Operand], params: Params) -> OpResult:
    check(operands, SINGLES)
    dtype = agree(operands)
    first, second = operands
    require(first.type.shape == second.type.shape and len(first.type.shape) >= 3)
    require(0 not in first.type.shape)
    return OpResult(fresh(first.type.shape, dtype), second.bound)


def _heads(operands: Sequence[Operand], params: Params) -> OpResult:
    """Attention with two heads, each with half of the features."""
    check(operands, SINGLES)
    dtype = agree(operands)
    first, second = operands
    shape = first.type.shape
    require(second.type.shape == shape and 2 <= len(shape) <= 3 and 0 not in shape and shape[-1] % 2 == 0)
    return OpResult(fresh(shape, dtype), second.bound)


_HEADS = "{0}.unflatten(-1, (2, -1)).transpose(-3, -2)"
_KEYS = "{1}.unflatten(-1, (2, -1)).transpose(-3, -2)"


def _attend(query: str, key: str, value: str, options: str = "") -> str:
    return f"F.scaled_dot_product_attention({query}, {key}, {value}{options}).transpose(-3, -2).flatten(-2)"


# --- pooling and resizing ---------------------------------------------------------------------------------

Resize = Callable[[int], int]


def _pool(template: str, rank: int, size: Resize, batch_only: bool = False) -> OpSpec:
    """An op that changes the last ``rank`` sizes of inputs with a channel dimension, and maybe a batch."""

    def rule(operands: Sequence[Operand], params: Params) -> OpResult:
        first = operands[0]
        check(operands, SINGLES)
        shape = first.type.shape
        require(len(shape) in ((rank + 2,) if batch_only else (rank + 1, rank + 2)) and 0 not in shape)
        sizes = tuple(size(n) for n in shape[-rank:])
        require(min(sizes) > 0 and max(sizes) <= LARGEST)
        return OpResult(fresh((*shape[:-rank], *sizes), first.type.dtype), first.bound)

    return OpSpec(template, "nn", 1, rule)


def _doubled(operands: Sequence[Operand], params: Params) -> OpResult:
    """Resizing of one example, which gets a batch dimension for this."""
    first = operands[0]
    check(operands, SINGLES)
    shape = first.type.shape
    require(len(shape) == 2 and 0 not in shape and 2 * shape[1] <= LARGEST)
    return OpResult(fresh((shape[0], 2 * shape[1]), first.type.dtype), first.bound)


# --- losses -----------------------------------------------------------------------------------------------


def _loss(template: str, bound: Bound) -> OpSpec:
    def rule(operands: Sequence[Operand], params: Params) -> OpResult:
        check(operands, SINGLES)
        dtype = agree(operands)
        require(operands[0].type.shape == operands[1].type.shape and operands[0].type.numel > 0)
        return OpResult(dense((), dtype), bound(*(operand.bound for operand in operands)))

    return OpSpec(template, "nn", 2, rule)


def _similarity(operands: Sequence[Operand], params: Params) -> OpResult:
    check(operands, SINGLES)
    dtype = agree(operands)
    shape = operands[0].type.shape
    require(shape == operands[1].type.shape and len(shape) > 0 and 0 not in shape)
    return OpResult(dense(shape[:-1], dtype), 1.0)


TABLE: dict[str, OpSpec] = {
    "conv1d": _conv(1),
    "conv2d": _conv(2),
    "attention": OpSpec("F.scaled_dot_product_attention({0}, {0}, {1})", "nn", 2, _attention, lowers=True),
    "heads": OpSpec(_attend(_HEADS, _HEADS, _KEYS), "heads", 2, _heads, lowers=True),
    "cross_heads": OpSpec(_attend(_HEADS, _KEYS, _KEYS), "heads", 2, _heads, lowers=True),
    "causal_heads": OpSpec(
        _attend(_HEADS, _HEADS, _KEYS, ", is_causal=True"), "heads", 2, _heads, lowers=True
    ),
    # A row of zeros may attend to nothing.
    "masked_heads": OpSpec(
        _attend(_HEADS, _HEADS, _KEYS, ", attn_mask=({0} @ {0}.mT > 0).unsqueeze(-3)"),
        "heads",
        2,
        _heads,
        lowers=True,
    ),
    "max_pool1d": _pool("F.max_pool1d({0}, 2)", 1, lambda n: n // 2),
    "avg_pool1d": _pool("F.avg_pool1d({0}, 2)", 1, lambda n: n // 2),
    "max_pool2d": _pool("F.max_pool2d({0}, 2, 1)", 2, lambda n: n - 1),
    "avg_pool2d": _pool("F.avg_pool2d({0}, 2, 1)", 2, lambda n: n - 1),
    "adaptive_pool1d": _pool("F.adaptive_avg_pool1d({0}, 1)", 1, lambda n: 1),
    "adaptive_pool2d": _pool("F.adaptive_avg_pool2d({0}, 1)", 2, lambda n: 1),
    "interpolate": _pool("F.interpolate({0}, scale_factor=2)", 1, lambda n: 2 * n, batch_only=True),
    "interpolate_one": OpSpec("F.interpolate({0}[None], scale_factor=2)[0]", "nn", 1, _doubled),
    "dropout_off": OpSpec("F.dropout({0}, 0.5, training=False)", "nn", 1, turning(whole)),
    "mse_loss": _loss("F.mse_loss({0}, {1})", lambda x, y: (x + y) ** 2),
    "l1_loss": _loss("F.l1_loss({0}, {1})", lambda x, y: x + y),
    # Most of these probabilities are 0 or 1.
    "binary_cross_entropy": _loss(
        "F.binary_cross_entropy(torch.sigmoid({0} * 100), torch.sigmoid({1}))", lambda x, y: 100.0
    ),
    "similarity": OpSpec("F.cosine_similarity({0}, {1}, dim=-1)", "nn", 2, _similarity),
}
