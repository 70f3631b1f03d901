"""Which weights eager has when a saved program is judged: its own, or those of the program.

A program has its weights in its file. If ``make`` reads its weights from a file too, both must be equal, and
a difference is a finding. But often ``make`` draws new weights each time. Nobody can want these: then eager
gets the weights of the program, all of them, because layers such as nn.LayerNorm draw none of theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from exportdiff.core.case import seed
from exportdiff.runtime.observing.tensors import named_constants, named_state

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from torch.export import ExportedProgram

    from exportdiff.core.case import Case


def state_of(program: ExportedProgram) -> dict[str, torch.Tensor]:
    """Return the parameters, buffers and constants of a program by name."""
    named = {**program.state_dict, **program.constants}
    return {name: value for name, value in named.items() if isinstance(value, torch.Tensor)}


def draws_weights(case: Case) -> bool:
    """Whether the model that a case makes has other weights with another seed."""
    return bool(drawn_names(case))


def drawn_names(case: Case) -> list[str]:
    """Return the names of the tensors that have other values with another seed."""
    ours, theirs = (dict(_tensors(_model(case, number))) for number in (0, 1))
    return [name for name, tensor in ours.items() if name in theirs and not _equal(tensor, theirs[name])]


def with_weights(make: Callable[[], Any], state: Mapping[str, torch.Tensor]) -> Callable[[], Any]:
    """Return a factory that gives its model these weights, where names and shapes agree."""

    def made() -> Any:
        built = make()
        taken(built[0], state)
        return built

    return made


def taken(model: nn.Module, state: Mapping[str, torch.Tensor]) -> list[str]:
    """Write these weights into a model, where names and shapes agree; return the names."""
    fitting = [
        (name, tensor)
        for name, tensor in _tensors(model)
        if name in state and state[name].shape == tensor.shape
    ]
    with torch.no_grad():
        for name, tensor in fitting:
            tensor.copy_(state[name])
    return [name for name, _ in fitting]


def _model(case: Case, number: int) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        seed(number)
        made: Any = case.make()
    model: nn.Module = made[0]
    return model


def _tensors(model: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    yield from named_state(model)
    yield from named_constants(model)


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return bool(((one == other) | ((one != one) & (other != other))).all())
