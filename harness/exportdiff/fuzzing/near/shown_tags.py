"""The tags of an edited program: what its text and its model show.

A random program gets its tags from the Program that it is rendered from. An edited one has no Program. An
entry without a fix is recognized by its trigger, so an edit of one file that shows the bug of another needs
the tags of that trigger. The signature of the finding must agree as well (``resemblance.py``): these tags may
be wider than those of random programs.
"""

from __future__ import annotations

import re

import torch
from torch import nn

from exportdiff.core.case import case_from_source, sources_forgotten
from exportdiff.runtime.observing.checkpoint import holds_unregistered
from exportdiff.runtime.observing.process_state import restore_modes

SHOWN_BY = {
    "calls.repeated": r"(?s)\bself\.(\w+)\(.*\bself\.\1\(",
    "control.training": r"\bself\.training\b",
    # int() of a number computed from a size asks for the number, as a branch does.
    "dynamic.branch": r"\b(if\b|int\().*\.(shape|size\()",
    "idiom.flex_attention": r"\bflex_attention\(",
    "idiom.func_grad": r"\bautograd\.grad\(",
    "idiom.gradient_hook": r"\bregister_full_backward_(pre_)?hook\(",
    "idiom.packed": r"\bpack_(padded_)?sequence\(",
    "idiom.sparse": r"\bto_sparse|\bsparse_\w+_tensor\(|\bnested_tensor|_nested_tensor\(",
    "idiom.subclass": r"\b__torch_(dispatch|function)__\b",
    "inplace.detach_": r"\.detach_\(",
    "inplace.masked_fill_": r"\.masked_fill_\(",
    "inplace.parameter": r"\.(data|detach\(\))\.\w+_\(",
    "inplace.resize_": r"\.resize_\(",
    "layer.batch_norm1d": r"\bBatchNorm1d\(",
    "layer.lstm": r"\bLSTM\(",
    "layer.packed_gru": r"\bpack_(padded_)?sequence\(",
    "layer.rrelu": r"\bRReLU\(",
    "op.autograd": r"\bautograd\.grad\(",
    "op.binary_cross_entropy": r"\bF\.binary_cross_entropy\(",
    "op.gradient_hook": r"\.register_(full_backward_)?hook\(",
    "op.seeded": r"\bGenerator\(",
    "region.autocast": r"\bautocast\(",
    "region.checkpoint": r"\bcheckpoint\(",
    "region.cond": r"\bcond\(",
    "region.enable_grad": r"\benable_grad\(",
    "region.func_grad": r"\bfunc\.(grad|grad_and_value|vjp|jacrev|hessian)\(",
}
"""By tag, what the text of a program then contains."""
WRITES_IN_PLACE = r"\.[a-z]\w*_\("
"""What the text of a program with an in-place operator contains."""


def shown_tags(source: str) -> set[str]:
    """Return the tags that a program shows. Builds its model."""
    found = {tag for tag, words in SHOWN_BY.items() if re.search(words, source)}
    with sources_forgotten(), restore_modes():
        model = case_from_source(source).build().model
        if holds_unregistered(model):
            found.add("state.held_parameter")
        if re.search(WRITES_IN_PLACE, source) and _has_constant(model):
            found.add("inplace.constant")
        if len([*model.named_modules(remove_duplicate=False)]) > len([*model.modules()]):
            found.add("hierarchy.shared")
    return found


def _has_constant(model: nn.Module) -> bool:
    """Return whether an attribute of a module is a tensor that is neither a parameter nor a buffer."""
    return any(isinstance(value, torch.Tensor) for part in model.modules() for value in vars(part).values())
