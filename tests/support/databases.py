"""The models of PyTorch's own databases, as cases, and how they are judged with the fixes in place.

Importing the databases changes torch, so only children do that.
"""

from __future__ import annotations

import importlib
import pathlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn

from exportdiff.core.cache_files import cache_folder
from exportdiff.core.case import Case
from exportdiff.core.path import Path
from exportdiff.judging.exemptions.refusal import fix_refusals
from exportdiff.judging.judge_case import judge_case
from exportdiff.judging.results import Verdict
from exportdiff.known.attribution.knowledge import knowledge
from exportdiff.lab.zoo.operator_databases import higher_order_models
from exportdiff.lab.zoo.sources import SOURCES, model_named
from exportdiff.runtime.patching.installed import install, without_fixes
from support.ordinary.all import MODELS

MODULES = "torch.testing._internal.common_modules"


@dataclass(frozen=True)
class Broken:
    """A path that is right on plain torch and not on mended torch."""

    case: str
    path: str
    message: str


@dataclass(frozen=True)
class Compared:
    """How the cases of one part of a database did."""

    valid: int
    right: int
    """Paths that are right on plain torch."""
    broken: tuple[Broken, ...]
    errors: tuple[str, ...]
    """Cases that could not be judged, with the reason."""


def compare(database: str, part: slice, paths: Sequence[Path], corpora: pathlib.Path) -> Compared:
    """Judge the cases of a part on plain torch and with all fixes of a corpus held."""
    known = knowledge(corpora)
    install(known.usable_fixes, cache_folder())
    refusals = fix_refusals(known.usable_fixes)
    valid = right = 0
    broken: list[Broken] = []
    errors: list[str] = []
    for case in list(cases(database))[part]:
        with without_fixes():
            try:
                before = judge_case(case, paths)
            except Exception as error:
                errors.append(f"{case.name}: {type(error).__name__}: {error}")
                continue
        after = judge_case(case, paths, refusals)
        fine = {result.path for result in before.paths if result.status == "ok"}
        valid += before.valid
        right += len(fine)
        broken += _broken(case, fine, after)
    return Compared(valid, right, tuple(broken), tuple(errors))


def _broken(case: Case, fine: set[Path], after: Verdict) -> Iterator[Broken]:
    results = {result.path: result for result in after.paths}
    for path in sorted(fine, key=str):
        if path not in results:
            yield Broken(case.name, str(path), after.invalid_reason or "not judged")
        elif results[path].status != "ok":
            messages = [each.message for each in after.findings if path in each.shown_on]
            yield Broken(case.name, str(path), "; ".join(messages) or results[path].reason)


def cases(database: str) -> Iterator[Case]:
    """Yield the cases of a database, in a fixed order."""
    if database == "modules":
        yield from _modules()
    elif database == "operators":
        yield from (model.case() for model in higher_order_models())
    elif database == "ordinary":
        yield from (model.case() for model in MODELS)
    else:
        (source,) = (each for each in SOURCES if each.name == database)
        yield from (model_named(model.name).case() for model in source.models())


SAMPLES = {False: 2, True: 1}
"""How many samples of a module to take, by whether it trains: the further ones differ in little."""


def _modules() -> Iterator[Case]:
    """Yield a case for the first samples of each module, in both modes."""
    for info in importlib.import_module(MODULES).module_db:
        if info.is_lazy or torch.float32 not in info.supported_dtypes("cpu"):
            continue
        for training, most in SAMPLES.items():
            for number, _ in enumerate(_samples(info, training)[:most]):
                mode = "training" if training else "eval"
                make = partial(_module, info, training, number)
                yield Case(f"{info.name} {mode} {number}", "", make, may_ask=True)


def _samples(info: Any, training: bool) -> list[Any]:
    torch.manual_seed(0)
    found = info.module_inputs_func(
        info, device="cpu", dtype=torch.float32, requires_grad=False, training=training
    )
    return [sample for sample in found if sample.forward_input is not None]


def _module(info: Any, training: bool, number: int) -> tuple[nn.Module, tuple[Any, ...], dict[str, Any]]:
    sample = _samples(info, training)[number]
    build, call = sample.constructor_input, sample.forward_input
    model = info.module_cls(*build.args, **build.kwargs).train(training)
    return model, tuple(call.args), dict(call.kwargs)
