"""Puts values into the arguments of a call: by the name of an argument of ``forward``, or by position."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, TypeGuard

import torch
from torch import nn

from exportdiff.core.errors import UsageError
from exportdiff.core.listing import listed

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Callable, Iterator, Mapping
    from inspect import Parameter

    from exportdiff.core.case import Built


def with_inputs(
    make: Callable[[], object], values: Mapping[str, Any], written: pathlib.Path
) -> Callable[[], object]:
    """Return a factory whose inputs are these values; other arguments stay as ``make`` gives them.

    ``make`` may then return a model alone. ``written``: the name of the file, for messages. The factory
    raises UsageError if a value fits no argument.
    """

    def made() -> object:
        built = make()
        if isinstance(built, nn.Module):
            built = (built, ())
        if not _is_call(built):
            return built  # who checks it says what is wrong
        model, args, *rest = built
        try:
            return (model, *_replaced(model, args, dict(rest[0]) if rest else {}, values))
        except UsageError as error:
            raise UsageError(f"--inputs {written}: {error}") from None

    return made


def other_dtypes(make: Callable[[], object], built: Built, written: pathlib.Path) -> Iterator[str]:
    """Yield a sentence for each argument whose dtype is not that which ``make`` gives. ``built``: with it."""
    before = make()
    if not _is_call(before):
        return
    ours, theirs = _by_name(*before), _by_name(built.model, built.args, built.kwargs)
    for name, value in theirs.items():
        own = ours.get(name)
        if isinstance(value, torch.Tensor) and isinstance(own, torch.Tensor) and own.dtype != value.dtype:
            yield f"{name} of {written} is {_dtype(value)}, and {_dtype(own)} where the model is made"


def _is_call(built: object) -> TypeGuard[tuple[Any, ...]]:
    """Whether a factory returned a model and its arguments."""
    return (
        isinstance(built, tuple)
        and len(built) in (2, 3)
        and isinstance(built[0], nn.Module)
        and isinstance(built[1], tuple)
    )


def _replaced(
    model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], values: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    parameters = _parameters(model)
    positional = [each.name for each in parameters if each.kind in _POSITIONAL]
    further = any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in parameters)
    named = {*positional, *kwargs, *(each.name for each in parameters if each.kind is _KEYWORD_ONLY)}
    takes_any = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters)
    given = list(args)
    by_position: dict[int, Any] = {}
    for key, value in values.items():
        if key.isdecimal() and (further or int(key) < len(positional)):
            place: int | str = int(key)
        elif key in named or (takes_any and not key.isdecimal()):
            place = key if key in kwargs or key not in positional else positional.index(key)
        else:
            raise UsageError(f"forward has no argument {key!r}; {_known(parameters)}")
        if isinstance(place, str):
            kwargs[place] = value
        elif place in by_position:
            raise UsageError(f"{key!r} is given twice, by name and by position")
        else:
            by_position[place] = value
    for place, value in sorted(by_position.items()):
        if place < len(given):
            given[place] = value
        elif place == len(given):
            given.append(value)
        elif place < len(positional):  # an argument before it has its default
            kwargs[positional[place]] = value
        else:
            raise UsageError(f"there is no argument at position {len(given)}, and one at {place}")
    _require_all(model, given, kwargs, parameters)
    return tuple(given), kwargs


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY


def _parameters(model: nn.Module) -> list[Parameter]:
    return list(inspect.signature(model.forward).parameters.values())


def _require_all(model: nn.Module, args: list[Any], kwargs: dict[str, Any], known: list[Parameter]) -> None:
    """Raise UsageError if the model cannot be called with these arguments."""
    try:
        inspect.signature(model.forward).bind(*args, **kwargs)
    except TypeError as error:
        raise UsageError(f"{error}; {_known(known)}") from None


def _known(parameters: list[Parameter]) -> str:
    names = [str(each).partition(":")[0].partition("=")[0] for each in parameters]
    return f"its arguments are {listed(names)}" if names else "it takes none"


def _by_name(
    model: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    return dict(inspect.signature(model.forward).bind_partial(*args, **(kwargs or {})).arguments)


def _dtype(value: torch.Tensor) -> str:
    return str(value.dtype).removeprefix("torch.")
