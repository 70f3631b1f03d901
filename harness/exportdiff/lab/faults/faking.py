"""Faults of fake tensors: wrong strides, offsets and dtypes of results that are not computed."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch
from torch import _meta_registrations, _prims
from torch._subclasses import fake_impls
from torch._subclasses.fake_tensor import FakeTensorMode

from exportdiff.lab.faults.registry import fault
from exportdiff.runtime.patching.editing import edited

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

ONE_AND_ONE = """
class Model(nn.Module):
    def forward(self, x):
        return x * 1, x * 1.0


def make():
    return Model(), (torch.ones(2, dtype=torch.int64),)
"""

SECOND_ROW = """
class Model(nn.Module):
    def forward(self, x):
        return x[1] + x[1]
"""

CAST = """
class Model(nn.Module):
    def forward(self, x):
        return x.t().to(torch.float64)
"""

SOFTMAX = """
class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x.t(), 0)
"""

SUM = """
class Model(nn.Module):
    def forward(self, x):
        return x.t() + x.t()


def make():
    return Model(), (torch.ones(4, 3),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("n")}}
"""


@contextlib.contextmanager
def _edited_prediction(function: Any, old: str, new: str) -> Iterator[None]:
    """Edit a function that predicts fake results; start and end with an empty cache of predictions."""
    FakeTensorMode.cache_clear()
    try:
        with edited(function, old, new):
            yield
    finally:
        FakeTensorMode.cache_clear()


@fault(check="fake", paths="*strict:module*", source=ONE_AND_ONE, cites="PR 113873")
def fake_cache_confuses_int_and_float() -> AbstractContextManager[object]:
    """The fake tensor cache does not distinguish 1 from 1.0, although their results have different dtypes."""
    return _edited_prediction(
        FakeTensorMode._prep_args_for_hash,
        "            result.append(type(arg))\n            result.append(arg)\n",
        "            result.append(arg)\n",
    )


@fault(check="fake", paths="*strict:module*", source=SECOND_ROW)
def cached_fake_views_have_offset_zero() -> AbstractContextManager[object]:
    """A fake view that comes from the cache has storage offset 0."""
    return _edited_prediction(
        FakeTensorMode._get_output_tensor_from_cache_entry,
        "storage_offset = check_value(metadata.storage_offset, state)",
        "storage_offset = 0",
    )


@fault(check="fake", paths="*strict:module*", source=CAST)
def fake_casts_are_contiguous() -> AbstractContextManager[object]:
    """The fake kernel of a cast returns contiguous strides instead of the strides of its argument."""
    return _edited_prediction(
        _prims._convert_element_type_meta,
        "strides = a.stride()",
        "strides = utils.make_contiguous_strides_for(a.shape)",
    )


@fault(check="fake", paths="*strict:module*", source=SOFTMAX, cites="PR 147862")
def fake_softmax_keeps_strides() -> AbstractContextManager[object]:
    """The fake kernel of softmax keeps the strides of its argument, but the real kernel does not."""
    return _edited_prediction(
        _meta_registrations.softmax,
        "dtype=result_dtype, memory_format=torch.contiguous_format)\n    return res",
        "dtype=result_dtype)\n    return res",
    )


@fault(check="fake", paths="*strict:module*", source=SUM)
def fake_additions_are_contiguous() -> AbstractContextManager[object]:
    """With dynamic shapes, the fake kernel of add ignores the strides of its arguments."""
    return _edited_prediction(
        fake_impls.get_fast_op_impls()[torch.ops.aten.add.Tensor],
        "if is_noncontiguous_supported(common_device):",
        "if False:",
    )
