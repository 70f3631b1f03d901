"""Whether a model asks if it is being exported, and may then run other operators."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING

from torch import nn

from exportdiff.runtime.observing.holders import named_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def asks(model: nn.Module, functions: Iterable[types.FunctionType]) -> bool:
    """Whether the code of a model names something that says whether torch traces it.

    ``functions``: those that the model reaches besides the methods of its modules, which may be torch's.
    """
    code = {function.__code__ for function in (*functions, *_methods(model))}
    return any(not _ASKS.isdisjoint(named_in(each)) for each in code)


_ASKS = frozenset(
    (
        *("is_compiling", "is_dynamo_compiling", "is_exporting", "is_torchdynamo_compiling"),
        *("is_tracing", "is_jit_tracing", "is_fx_tracing", "_is_make_fx_tracing", "is_fx_symbolic_tracing"),
        *("is_in_onnx_export", "FakeTensor", "FunctionalTensor", "Proxy", "has_torch_function"),
    )
)
"""What tells code that torch traces it, in torch and in libraries of models."""


def _methods(model: nn.Module) -> Iterator[types.FunctionType]:
    owners = {owner for module in model.modules() for owner in type(module).__mro__}
    for owner in owners - {object, nn.Module}:
        yield from (held for held in vars(owner).values() if isinstance(held, types.FunctionType))
