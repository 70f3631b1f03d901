"""What judged programs leave in torch is freed."""

from __future__ import annotations

import gc
import linecache
import sys
import types

import pytest
from torch._dynamo import functional_export
from torch.utils import _pytree as pytree

from exportdiff.core.case import case_from_source, is_of_program, sources_forgotten
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
        modules = [each for name, each in sys.modules.items() if is_of_program(name)]
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


def test_only_the_modules_of_programs_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(sys.modules)
    with sources_forgotten():
        monkeypatch.setitem(sys.modules, "exportdiff_strategies.later", types.ModuleType("later"))
        case_from_source(SOURCE)
        (program,) = filter(is_of_program, sys.modules.keys() - before)
    assert program not in sys.modules
    assert "exportdiff_strategies.later" in sys.modules
