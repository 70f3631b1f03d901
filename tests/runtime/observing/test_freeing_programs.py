"""What judged programs leave in torch is freed before the next batch."""

from __future__ import annotations

import gc
import linecache
import sys

from torch._dynamo import functional_export
from torch.utils import _pytree as pytree

from exportdiff.core.case import MODULE_PREFIX, case_from_source, sources_forgotten
from exportdiff.judging.judge_case import judge_case
from exportdiff.runtime.observing.freeing_programs import clean_state, free_programs
from exportdiff.runtime.paths import select_paths

SOURCE = """
import weakref
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Parts:
    whole: torch.Tensor


torch.export.register_dataclass(Parts)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)

    def forward(self, parts):
        return self.lin(parts.whole)


def make():
    torch.manual_seed(0)
    model = Model()
    made.append(weakref.ref(model.lin.weight))
    return model, (Parts(torch.ones(2, 3)),)


made = []
"""


def _installed() -> list[str]:
    return [name for name in vars(functional_export) if name.startswith("__compiled_fn_")]


def test_strict_export_leaves_no_graph_and_no_weights() -> None:
    with clean_state(free=True):
        verdict = judge_case(case_from_source(SOURCE), select_paths(["strict:*"]))
        assert verdict.valid
        assert _installed()
        modules = [each for name, each in sys.modules.items() if name.startswith(MODULE_PREFIX)]
        (weights,) = [vars(module)["made"] for module in modules if "made" in vars(module)]
        del modules
    assert not _installed()
    assert weights
    assert not any(weight() is not None for weight in weights)


def test_the_containers_and_the_sources_of_programs_are_forgotten() -> None:
    free_programs()
    kinds, before = set(pytree.SUPPORTED_NODES), set(pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE)
    with sources_forgotten():
        judge_case(case_from_source(SOURCE), select_paths(["nonstrict:module"]))
        assert {kind.__name__ for kind in set(pytree.SUPPORTED_NODES) - kinds} == {"Parts"}
    assert [name for name in linecache.cache if name.startswith("<eval_with_key>")]
    free_programs()
    assert set(pytree.SUPPORTED_NODES) == kinds
    assert set(pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE) == before
    assert not [name for name in linecache.cache if name.startswith("<eval_with_key>")]
    assert gc.get_freeze_count()
