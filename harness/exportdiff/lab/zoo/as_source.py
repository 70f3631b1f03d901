"""Models of the zoo as source text, for ``fuzz --around`` and for repro files."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from exportdiff.core.errors import UsageError
from exportdiff.fuzzing.around.model import IMPORTS, Around, UnusableModel
from exportdiff.lab.zoo.families import FAMILIES
from exportdiff.lab.zoo.module_database import sample_named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exportdiff.lab.zoo.families.family import Family

EXACT = 64
"""Tensors up to this number of elements are written out; larger ones become random tensors."""


def around_named(name: str) -> Around | UnusableModel:
    """Return one model, the same each time. It may change torch: call it in a child process only."""
    torch.manual_seed(0)
    random.seed(0)
    try:
        return Around(name, _text_of(name))
    except UsageError as error:
        return UnusableModel(str(error))


def _text_of(name: str) -> str:
    source, _, model = name.partition("/")
    if source == "module_db":
        return _of_database(model)
    if source == "transformers":
        family = next((each for each in FAMILIES if each.name == model), None)
        if family is None:
            raise UsageError(f"there is no such family; there are {', '.join(e.name for e in FAMILIES)}")
        return _of_family(family)
    raise UsageError("its models are no text: name the models of module_db/ or transformers/")


def _of_family(family: Family) -> str:
    config = ", ".join(f"{key}={_literal(value)}" for key, value in family.config.items())
    inputs = family.inputs()
    return _factory(
        f"from transformers import {family.model}\n",
        f"{family.model}({family.model}.config_class({config})).eval()",
        (),
        inputs,
    )


def _of_database(name: str) -> str:
    sample = sample_named(name)
    build, call = sample.constructor_input, sample.forward_input
    parts = [_literal(each) for each in build.args]
    parts += [f"{key}={_literal(value)}" for key, value in build.kwargs.items()]
    return _factory("", f"{name}({', '.join(parts)}).eval()", call.args, call.kwargs)


def _factory(imports: str, model: str, args: Sequence[object], kwargs: Mapping[str, object]) -> str:
    given = "".join(f"{_literal(each)}, " for each in args)
    named = ", ".join(f'"{key}": {_literal(value)}' for key, value in kwargs.items())
    return f"{IMPORTS}{imports}\n\n\ndef original():\n    return {model}, ({given}), {{{named}}}\n"


def _literal(value: Any) -> str:
    """Return an expression for the value. Raises UsageError where there is none."""
    if isinstance(value, torch.Tensor):
        return _tensor(value)
    if isinstance(value, tuple):
        return f"({''.join(f'{_literal(each)}, ' for each in value)})"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {_literal(each)}' for key, each in value.items())}}}"
    if value is None or isinstance(value, bool | int | float | str | torch.dtype):
        return repr(value)
    if isinstance(value, torch.device):
        return f"torch.{value!r}"
    module = getattr(value, "__module__", None)
    if module == "torch.nn.functional" and callable(value):
        return f"nn.functional.{value.__name__}"
    if isinstance(value, nn.Module):
        raise UsageError(f"it is built from another module, a {type(value).__name__}: write a file for it")
    raise UsageError(f"it is built from a {type(value).__name__}, which is no text: write a file for it")


def _tensor(value: torch.Tensor) -> str:
    grad = ", requires_grad=True" if value.requires_grad else ""
    shape, dtype = tuple(value.shape), value.dtype
    if value.numel() <= EXACT or not dtype.is_floating_point:
        return f"torch.tensor({_rounded(value.detach().tolist())!r}, dtype={dtype}{grad}).reshape({shape})"
    # Within the range of the values, which may be probabilities, or no larger than 1.
    low, high = float(value.detach().min()), float(value.detach().max())
    drawn = "rand" if low >= 0 and high <= 1 else "randn"
    return f"torch.{drawn}({shape}, dtype={dtype}{grad})"


def _rounded(value: Any) -> Any:
    """Return nested lists with numbers of few digits: values of samples are arbitrary."""
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return round(value, 3) if isinstance(value, float) else value
