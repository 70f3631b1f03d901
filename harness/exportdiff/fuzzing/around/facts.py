"""Facts about a model that situations use: its arguments, parameters and outputs in one call."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook

from exportdiff.core.case import is_of_program

if TYPE_CHECKING:
    from exportdiff.core.case import Case


@dataclass(frozen=True)
class TensorFacts:
    """A tensor, and the expression for it."""

    text: str
    shape: tuple[int, ...]
    dtype: torch.dtype

    @property
    def floating(self) -> bool:
        """Whether its dtype is a floating-point type."""
        return self.dtype.is_floating_point

    def like(self, other: TensorFacts) -> bool:
        """Whether the other has the same shape and dtype."""
        return (self.shape, self.dtype) == (other.shape, other.dtype)


@dataclass(frozen=True)
class Argument:
    """One argument of the call."""

    name: str
    """The name of the parameter of ``forward``."""
    expression: str
    """``args[0]`` or ``kwargs["mask"]``."""
    keyword: bool


@dataclass(frozen=True)
class TensorArgument(Argument):
    """An argument that is a tensor."""

    tensor: TensorFacts
    """Its text is the name."""


@dataclass(frozen=True)
class Facts:
    """Facts about a model, from one call."""

    arguments: tuple[Argument, ...]
    parameters: tuple[TensorFacts, ...]
    """Each once; the text is its first name."""
    outputs: tuple[TensorFacts, ...]
    """The text is what follows the result in the expression for it: ``[0]``, ``["logits"]``, or nothing."""
    flags: tuple[tuple[str, bool], ...]
    """Parameters of ``forward`` that default to True or False and were not given, with the default."""
    modules: tuple[str, ...]
    """The names of all submodules."""
    foreign: bool = False
    """Whether a module comes from a package other than torch. Such modules may ask whether they are being
    exported and then compute differently, as those of transformers do."""
    containers: bool = False
    """Whether a submodule returns several values: a tuple, a list, a mapping or a dataclass."""

    @property
    def signature(self) -> str:
        """The parameters of ``forward`` of a parent that passes on all arguments."""
        return "".join(f", {each.name}" for each in self.arguments)

    @property
    def call(self) -> str:
        """The arguments in the call of the model by that parent."""
        return self.call_with({})

    def call_with(self, changed: Mapping[str, str]) -> str:
        """Return these arguments with other expressions for some of them."""
        texts = [(each, changed.get(each.name, each.name)) for each in self.arguments]
        return ", ".join(f"{each.name}={text}" if each.keyword else text for each, text in texts)

    @property
    def tensors(self) -> tuple[TensorArgument, ...]:
        """The arguments that are tensors."""
        return tuple(each for each in self.arguments if isinstance(each, TensorArgument))

    @property
    def floating(self) -> tuple[TensorArgument, ...]:
        """The arguments that are floating-point tensors."""
        return tuple(each for each in self.tensors if each.tensor.floating)

    @property
    def floating_outputs(self) -> tuple[TensorFacts, ...]:
        """The outputs with floating-point dtypes."""
        return tuple(each for each in self.outputs if each.floating)


def facts_of(case: Case) -> Facts:
    """Build the model and call it twice, each time with fresh inputs. Raises what the model raises."""
    built = case.build()
    signature = inspect.signature(built.model.forward)
    arguments = tuple(_arguments(signature, built.args, built.kwargs))
    parameters = tuple(
        TensorFacts(name, tuple(each.shape), each.dtype) for name, each in built.model.named_parameters()
    )
    modules = tuple(name for name, _ in built.model.named_modules() if name)
    flags = tuple(_flags(signature, {each.name for each in arguments}))
    with _outputs_of_submodules(built.model) as outputs:
        result = built.model(*built.args, **built.kwargs)
    again = case.build()
    built.model(*again.args, **again.kwargs)
    packages = {type(each).__module__.partition(".")[0] for each in built.model.modules()}
    foreign = any(name != "torch" and not is_of_program(name) for name in packages)
    return Facts(arguments, parameters, tuple(_leaves(result, "")), flags, modules, foreign, any(outputs))


@contextmanager
def _outputs_of_submodules(model: nn.Module) -> Iterator[list[bool]]:
    """Record for each call of a submodule in the block whether it returns a container."""
    seen: list[bool] = []

    def note(module: nn.Module, args: object, result: object) -> None:
        if module is not model:
            seen.append(isinstance(result, tuple | list | Mapping) or is_dataclass(result))

    handle = register_module_forward_hook(note)
    try:
        yield seen
    finally:
        handle.remove()


def _arguments(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Iterator[Argument]:
    names = [
        name
        for name, each in signature.parameters.items()
        if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    for number, value in enumerate(args):
        name = names[number] if number < len(names) else f"x{number}"
        yield _argument(name, f"args[{number}]", value, keyword=False)
    for name, value in kwargs.items():
        yield _argument(name, f'kwargs["{name}"]', value, keyword=True)


def _flags(signature: inspect.Signature, given: set[str]) -> Iterator[tuple[str, bool]]:
    for name, each in signature.parameters.items():
        if isinstance(each.default, bool) and name not in given:
            yield name, each.default


def _leaves(value: object, text: str) -> Iterator[TensorFacts]:
    """Yield the tensors of a result that indices can reach."""
    if isinstance(value, torch.Tensor):
        yield TensorFacts(text, tuple(value.shape), value.dtype)
    elif isinstance(value, Mapping):
        for key, each in value.items():
            if isinstance(key, str):
                yield from _leaves(each, f'{text}["{key}"]')
    elif isinstance(value, tuple | list):
        for number, each in enumerate(value):
            yield from _leaves(each, f"{text}[{number}]")


def _argument(name: str, expression: str, value: object, *, keyword: bool) -> Argument:
    if (
        isinstance(value, torch.Tensor)
        and value.layout == torch.strided
        and not isinstance(value, nn.Parameter)
    ):
        return TensorArgument(name, expression, keyword, TensorFacts(name, tuple(value.shape), value.dtype))
    return Argument(name, expression, keyword)


def module_at(root: str, name: str) -> str:
    """Return the expression for a submodule by its name; the empty name is the root."""
    return f'{root}.get_submodule("{name}")' if name else root
