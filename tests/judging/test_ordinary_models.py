"""No fix may refuse what plain torch does right: ordinary models, and what people do with their programs."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils import _pytree as pytree

from exportdiff.fuzzing.campaign.worker import Job, prepared
from exportdiff.runtime.observing.caches import nothing_cached
from exportdiff.runtime.patching.fixes import fixes_that_raised
from exportdiff.runtime.patching.installed import install, installed, without_fixes
from support.folders import CORPORA
from support.of_this_torch import skip_unless_tried
from support.ordinary.all import MODELS
from support.ordinary.table import OrdinaryModel
from support.ordinary.uses import USES, Use


@pytest.fixture(autouse=True, scope="module")
def mended() -> Iterator[None]:
    """Install the fixes of the corpus."""
    skip_unless_tried()
    prepared(Job(0, (), corpora=CORPORA))
    yield
    install(())


def wrong_uses(model: OrdinaryModel, uses: Mapping[str, Use], strict: bool) -> dict[str, str]:
    """Return the uses that raise or differ from eager on this torch, and say how."""
    eager, args = model.build()
    try:
        program = torch.export.export(eager, args, dynamic_shapes=model.dynamic_shapes, strict=strict)
    except Exception as error:
        return dict.fromkeys(uses, _described(error))
    wrong = {}
    state = {**program.state_dict, **program.constants}
    before = {name: each.detach().clone() for name, each in state.items() if isinstance(each, torch.Tensor)}
    for name, use in uses.items():
        # The program shares its state with ep.module().
        for key, tensor in before.items():
            state[key].data.copy_(tensor)
        try:
            message = _difference(model, use.make(program), use.evaluates)
        except Exception as error:
            message = _described(error)
        if message:
            wrong[name] = message
    return wrong


def _described(error: Exception) -> str:
    fixes = ", ".join(fixes_that_raised(error, installed())) if installed() else ""
    return f"{type(error).__name__} of {fixes or 'torch'}: {error}"


def _difference(model: OrdinaryModel, candidate: Any, evaluates: bool) -> str:
    """Say how the candidate differs from eager in two calls; in the second, each argument is a copy."""
    eager, _ = model.build()
    eager = eager.eval() if evaluates else eager
    for number in range(2):
        (_, ours), (_, theirs) = model.build(), model.build()
        if number:
            ours, theirs = (pytree.tree_map(copy.deepcopy, each) for each in (ours, theirs))
        torch.manual_seed(number)
        expected = eager(*ours)
        torch.manual_seed(number)
        if not _same((expected, ours), (candidate(*theirs), theirs)):
            return f"call {number} returns something else, or leaves its arguments otherwise"
    return ""


def _same(expected: Any, seen: Any) -> bool:
    ours, spec = pytree.tree_flatten(expected)
    theirs, other_spec = pytree.tree_flatten(seen)
    if spec != other_spec:
        return False
    return all(
        torch.allclose(one, two, equal_nan=True) if isinstance(one, torch.Tensor) else one == two
        for one, two in zip(ours, theirs, strict=True)
    )


def test_there_are_many_ordinary_models() -> None:
    assert len({model.name for model in MODELS}) == len(MODELS) >= 40


def refused(model: OrdinaryModel, uses: Mapping[str, Use], strict: bool) -> list[str]:
    """Return what plain torch does right, and mended torch does not."""
    with nothing_cached():
        wrong = wrong_uses(model, uses, strict)
        if not wrong:
            return []
        with without_fixes():
            plain = wrong_uses(model, {name: uses[name] for name in wrong}, strict)
    return [f"{model.name}, {name}: {message}" for name, message in wrong.items() if name not in plain]


FILES = sorted({model.file for model in MODELS})


@pytest.mark.parametrize("file", FILES)
def test_no_fix_refuses_an_ordinary_model(file: str) -> None:
    names = tuple(USES)[1:]
    lines = []
    for number, model in enumerate(MODELS):
        if model.file == file:
            uses = {name: USES[name] for name in ("module", names[number % len(names)])}
            lines += refused(model, uses, strict=number % 4 == 0)
    assert not lines, "\n".join(lines)


@pytest.mark.nightly
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("file", FILES)
def test_no_fix_refuses_any_use_of_an_ordinary_model(file: str, strict: bool) -> None:
    models = [model for model in MODELS if model.file == file]
    lines = [line for model in models for line in refused(model, USES, strict)]
    assert not lines, "\n".join(lines)


def test_no_unflattened_program_leaves_the_mode_of_its_model() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    program = torch.export.export(model, (torch.ones(2),))
    module = torch.export.unflatten(program)
    module.train()
    with pytest.raises(NotImplementedError):
        module.eval()
