"""Faults of fake tensors: what is predicted of a result without computing it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch._subclasses import fake_impls
from torch._subclasses.fake_tensor import FakeTensorMode

from harness.faults.editing import edited
from harness.faults.registry import fault

if TYPE_CHECKING:
    from collections.abc import Iterator

ONE_AND_ONE = """
class Model(nn.Module):
    def forward(self, x):
        whole, real = x * 1, x * 1.0
        return whole if real.dtype == torch.int64 else real


def make():
    return Model(), (torch.ones(2, dtype=torch.int64),)
"""

STRIDES = """
class Model(nn.Module):
    def forward(self, x):
        y = x.t() + x.t()
        return y + 1 if y.is_contiguous() else y


def make():
    return Model(), (torch.ones(4, 3),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("n")}}
"""


@fault(check="outputs", paths="*strict:*", source=ONE_AND_ONE, cites="PR 113873")
def one_is_taken_for_one_point_zero() -> Iterator[None]:
    """The cache of predictions does not tell 1 from 1.0, which give results of different dtypes."""
    FakeTensorMode.cache_clear()
    try:
        with edited(
            FakeTensorMode._prep_args_for_hash,
            "            result.append(type(arg))\n            result.append(arg)\n",
            "            result.append(arg)\n",
        ):
            yield
    finally:
        FakeTensorMode.cache_clear()


@fault(check="outputs", paths="*strict:*", source=STRIDES)
def sums_are_predicted_to_be_contiguous() -> Iterator[None]:
    """With dynamic shapes, the fake kernel of add forgets the order in which its arguments lie in memory."""
    with edited(
        fake_impls.get_fast_op_impls()[torch.ops.aten.add.Tensor],
        "if is_noncontiguous_supported(common_device):",
        "if False:",
    ):
        yield
