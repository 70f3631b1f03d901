"""PyTorch's own databases of operators: a model for each operator, and for each higher-order operator.

Importing them changes how torch behaves in the process (it freezes backend flags), so only children do that.
"""

from __future__ import annotations

import copy
import importlib
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.utils import _pytree as pytree

from exportdiff.lab.zoo.model import ZooModel

if TYPE_CHECKING:
    from collections.abc import Iterator

OPERATORS = "torch.testing._internal.common_methods_invocations"
HIGHER_ORDER = "torch.testing._internal.hop_db"

DTYPES = (torch.float32, torch.float64, torch.int64, torch.complex64, torch.bool)
"""The dtype of the sample is the first of these that the operator takes."""

SAMPLES = 10
"""How many samples of an operator are looked at for one with tensors that are no scalars."""


def models() -> Iterator[ZooModel]:
    """Yield a model for each operator that has samples on the CPU, then for each higher-order operator."""
    yield from _models("", importlib.import_module(OPERATORS).op_db, OPERATORS)
    yield from higher_order_models()


def higher_order_models() -> Iterator[ZooModel]:
    """Yield a model for each higher-order operator."""
    yield from _models("hop.", importlib.import_module(HIGHER_ORDER).hop_db, HIGHER_ORDER)


def _models(prefix: str, infos: list[Any], module: str) -> Iterator[ZooModel]:
    for info in infos:
        if _dtype(info) is not None:
            variant = f".{info.variant_test_name}" if info.variant_test_name else ""
            title = f"{info.name}{variant}, as {module} calls it"
            yield ZooModel(f"operators/{prefix}{info.name}{variant}", title, partial(_make, info))


class Operator(nn.Module):
    """Calls an operator on the tensors that it gets; the other arguments are constants."""

    def __init__(self, operator: Any, leaves: list[Any], spec: pytree.TreeSpec) -> None:
        """``leaves``: None for a tensor, else a tuple with the constant."""
        super().__init__()
        self.operator = operator
        self.leaves = leaves
        self.spec = spec

    def forward(self, *tensors: torch.Tensor) -> Any:
        """Put tensors and constants together again, and call the operator."""
        left = list(tensors)
        leaves = [left.pop(0) if each is None else each[0] for each in self.leaves]
        args, kwargs = pytree.tree_unflatten(leaves, self.spec)
        return self.operator(*args, **kwargs)


def _make(info: Any) -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    sample = _sample(info)
    leaves, spec = pytree.tree_flatten(((sample.input, *sample.args), sample.kwargs))
    tensors = tuple(each for each in leaves if isinstance(each, torch.Tensor))
    kept = [None if isinstance(each, torch.Tensor) else (copy.deepcopy(each),) for each in leaves]
    return Operator(info.op, kept, spec), tensors


def _dtype(info: Any) -> torch.dtype | None:
    supported = info.supported_dtypes("cpu")
    return next((dtype for dtype in DTYPES if dtype in supported), None)


def _sample(info: Any) -> Any:
    """Return the first sample with a tensor that is no scalar; the same each time."""
    torch.manual_seed(0)
    dtype = _dtype(info)
    grad = info.supports_autograd and dtype in info.supported_backward_dtypes("cpu")
    found = list(islice(info.sample_inputs_func(info, "cpu", dtype, requires_grad=grad), SAMPLES))
    return next((sample for sample in found if _has_sizes(sample)), found[0])


def _has_sizes(sample: Any) -> bool:
    leaves = pytree.tree_leaves((sample.input, sample.args, sample.kwargs))
    tensors = [each for each in leaves if isinstance(each, torch.Tensor)]
    return any(each.dim() for each in tensors) and all(each.numel() for each in tensors)
