"""The tags that the text of a model shows."""

from __future__ import annotations

import re
from functools import cache

from exportdiff.core.programs import templates_by_tag

SHOWN_BY = {
    "calls.repeated": r"(?s)\bself\.(?!register_)(\w+)\(.*\bself\.\1\(",
    "control.size_arithmetic": r"\.(shape|size)\b.* [%/]|[%/] *\w+\.(shape|size)|\bmath\.\w+\(",
    "control.training": r"\bself\.training\b",
    # int() of a number computed from a size asks for the number, as a branch does.
    "dynamic.branch": r"\b(if\b|int\().*\.(shape|size\()",
    "dynamic.auto": r"\bDim\.AUTO\b",
    "dynamic.dynamic": r"\bDim\.DYNAMIC\b",
    "dynamic.named": r"\bDim\(",
    "dynamic.derived": r"(?s)\bDim\(.*(\w [-+*] \d|\d \* \w)",
    "hierarchy.copied": r"\bcopy\.copy\(",
    "hierarchy.spectral_norm": r"\bspectral_norm\(",
    "idiom.check": r"\b_check(_\w+)?\(",
    "idiom.flex_attention": r"\bflex_attention\(",
    "idiom.functional_call": r"\bfunctional_call\(",
    "idiom.func_grad": r"\bautograd\.grad\(",
    "idiom.gradient_hook": r"\bregister_full_backward_(pre_)?hook\(",
    "idiom.local_class": r"(?m)^ {8,}(@.*\n +)?class \b",
    "idiom.max_norm": r"\bmax_norm=|\bEmbeddingBag\(",
    "idiom.packed": r"\b(pack_|pack_padded_|pad_)sequence\(",
    "idiom.pruned": r"\bprune\.\w+\(|\bparametriz",
    "idiom.python_state": r"\b\w+\.\w+ (\+=|= \w+ \+)|\b\w+\.(append|add|update)\(|\w\.\w+\[.*\] = |cache\b",
    "idiom.registered": r"\bregister_(pytree_node|dataclass)\b",
    "idiom.seed": r"\b(manual_seed|fork_rng)\(",
    "idiom.shape_result": r"\breturn\b.*\.(shape|size\()",
    "idiom.sparse": r"\bto_sparse|\bsparse_\w+_tensor\(|\bnested_tensor|_nested_tensor\(",
    "idiom.subclass": r"\b__torch_(dispatch|function)__\b|\((torch\.)?Tensor\):",
    "idiom.text_of_sizes": r"\bf[\"'].*\{.*(shape|size|len)",
    "inplace.broadcast": r"\.copy_\(",
    "inplace.item": r"\] ([-+*/]|//|)= ",
    "inplace.parameter": r"\.(data|detach\(\))\.\w+_\(",
    "inplace.view_on_the_spot": r"[)\]]\.[a-z]\w*_\(|\] ([-+*/]|//|)= ",
    "input.transposed": r"\bchannels_last\b",
    "input.windows": r"\bunfold\(",
    "layer.avg_pool1d": r"(?i)\b(avg|max)_?pool\dd\(",
    "layer.packed_gru": r"\bpack_(padded_)?sequence\(",
    "op.autograd": r"\bautograd\.grad\(",
    "op.binary_cross_entropy": r"\bbinary_cross_entropy\(|\bsigmoid\(.*\blog\(",
    "op.clamp_max": r"\b(clamp|clip)(_max)?_?\(|(?i:\bhardtanh)",
    "op.data": r"\b(item|tolist|nonzero|argwhere|where|unique\w*|masked_select)\(|\[[^\]\n]* [<>]=? ",
    "op.embedding_bag": r"(?i)\bembedding_?bag\(",
    "op.gradient_hook": r"\.register_(full_backward_)?hook\(",
    "op.nn": r"(?i)\b(conv\dd|(adaptive_)?(avg|max)_?pool\dd|scaled_dot_product_attention|interpolate|"
    r"dropout|\w+_loss|(\w+_)?cross_?entropy(loss)?|cosine_similarity)\(",
    "op.nonzero": r"\b(nonzero|argwhere)\(",
    "op.pool": r"(?i)\b(avg|max)_?pool\dd\(",
    "op.seeded": r"\bGenerator\(",
    "op.split": r"\b(split|chunk|unbind|tensor_split|split_with_sizes)\(",
    "region.autocast": r"\bautocast\(",
    "region.checkpoint": r"\bcheckpoint\(",
    "region.cond": r"\bcond\(",
    "region.enable_grad": r"\benable_grad\(",
    "region.func_grad": r"\bfunc\.(grad|grad_and_value|vjp|jacrev|hessian)\(",
    "region.no_grad": r"\bno_grad\(",
    "region.submodule": r"\b(cond|map|while_loop|scan)\(",
    "state.rebound": r"(?m)^ {8}self\.\w+ = .*\bself\.",
}
"""By tag, what the text of a program then contains. Tags of operators and of layers have their names."""

_CALLED = r"([A-Za-z_]\w*)\("
_OPERATOR = r" ([-+*/@%&|^<>=!]+) "


def tags_of_text(text: str) -> set[str]:
    """Return the tags that a text shows."""
    patterns = {**_of_names(), **SHOWN_BY}
    return {tag for tag, pattern in patterns.items() if re.search(pattern, text)}


@cache
def _of_names() -> dict[str, str]:
    """Return a pattern for each tag of operators or layers: one of their names, or their signs."""
    return {tag: _any_of(templates) for tag, templates in templates_by_tag().items()}


def _any_of(templates: tuple[str, ...]) -> str:
    """Return a pattern for the first function that a template calls; without one, for its sign.

    ``index_put_`` also stands for ``index_put``, and ``nn.RReLU`` for ``F.rrelu``.
    """
    names = dict.fromkeys(found[1] for each in templates if (found := re.search(_CALLED, each)))
    signs = dict.fromkeys(
        found[1]
        for each in templates
        if not re.search(_CALLED, each) and (found := re.search(_OPERATOR, each))
    )
    words = [f"{re.escape(name)}{'?' * name.endswith('_')}" for name in names]
    parts = [rf"(?i:\b({'|'.join(words)})\()"] * bool(words)
    return "|".join([*parts, *(rf" {re.escape(sign)} " for sign in signs)]) or "(?!)"
