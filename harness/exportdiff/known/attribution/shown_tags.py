"""The tags of a model that was not drawn: what its text, its modules and its inputs show.

A random program gets its tags from the Program that it is rendered from. A user's model and an edited program
have no Program. An entry without a fix is recognized by its trigger, so these need the tags of triggers.
The signature of the finding must agree as well (``resemblance.py``): these tags may be wider than those of
random programs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import torch
from torch.nn.modules.batchnorm import _BatchNorm

from exportdiff.runtime.observing.checkpoint import holds_unregistered
from exportdiff.runtime.observing.process_state import restore_modes
from exportdiff.runtime.observing.tensors import flatten, named_constants, named_state, storage_id

if TYPE_CHECKING:
    from collections.abc import Iterable

    from exportdiff.core.case import Built, Case

SHOWN_BY = {
    "calls.repeated": r"(?s)\bself\.(?!register_)(\w+)\(.*\bself\.\1\(",
    "control.training": r"\bself\.training\b",
    # int() of a number computed from a size asks for the number, as a branch does.
    "dynamic.branch": r"\b(if\b|int\().*\.(shape|size\()",
    "idiom.flex_attention": r"\bflex_attention\(",
    "idiom.func_grad": r"\bautograd\.grad\(",
    "idiom.gradient_hook": r"\bregister_full_backward_(pre_)?hook\(",
    "idiom.packed": r"\bpack_(padded_)?sequence\(",
    "hierarchy.copied": r"\bcopy\.copy\(",
    "hierarchy.spectral_norm": r"\bspectral_norm\(",
    "idiom.seed": r"\b(manual_seed|fork_rng)\(",
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
    "region.no_grad": r"\bno_grad\(",
}
"""By tag, what the text of a program then contains."""
WRITES_IN_PLACE = r"\.[a-z]\w*_\("
"""What the text of a program with an in-place operator contains."""


def shown_tags(case: Case) -> set[str]:
    """Return the tags that a model shows. Builds it."""
    found = {tag for tag, words in SHOWN_BY.items() if re.search(words, case.source)}
    with restore_modes():
        built = case.build()
        found |= _of_model(built)
        if re.search(WRITES_IN_PLACE, case.source) and _has_constant(built):
            found.add("inplace.constant")
    return found


def _of_model(built: Built) -> set[str]:
    model = built.model
    inputs, _, _ = flatten((built.args, built.kwargs))
    stored = [tensor for named in (named_state(model), named_constants(model)) for _, tensor in named]
    tags = {
        "model.training": model.training,
        "state.held_parameter": holds_unregistered(model),
        "state.one_storage": _share(stored),
        "state.running_statistics": any(
            isinstance(part, _BatchNorm) and part.training for part in model.modules()
        ),
        "hierarchy.shared": len([*model.named_modules(remove_duplicate=False)]) > len([*model.modules()]),
        "input.dict": any(isinstance(value, dict) for value in (*built.args, *built.kwargs.values())),
        "input.view_of_another": _share(leaf for leaf in inputs if isinstance(leaf, torch.Tensor)),
    }
    return {tag for tag, shown in tags.items() if shown}


def _share(tensors: Iterable[torch.Tensor]) -> bool:
    """Return whether different tensors share a storage."""
    each = {id(tensor): tensor for tensor in tensors}.values()
    return len({storage_id(tensor) for tensor in each}) < len(each)


def _has_constant(built: Built) -> bool:
    """Return whether an attribute of a module is a tensor that is neither a parameter nor a buffer."""
    parts = built.model.modules()
    return any(isinstance(value, torch.Tensor) for part in parts for value in vars(part).values())
