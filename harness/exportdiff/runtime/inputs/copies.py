"""Fresh copies of inputs that keep size, stride, offset, aliasing and autograd's view of them."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from exportdiff.core.case import CallArguments, is_general
from exportdiff.runtime import second_device
from exportdiff.runtime.inputs.deviations import DEVIATIONS, Deviation, deviations_of, in_rotation
from exportdiff.runtime.inputs.objects import copied, survives_rebuilding
from exportdiff.runtime.inputs.provenance import non_leaf, view_like, with_bits
from exportdiff.runtime.observing.arguments import Inputs
from exportdiff.runtime.observing.parts import (
    CannotObserveError,
    cannot_observe,
    kind_without_values,
    parts_of,
)
from exportdiff.runtime.observing.tensors import (
    argument,
    flatten,
    named_constants,
    named_state,
    storage_id,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence, Set

    from torch import nn
    from torch.utils import _pytree as pytree

    from exportdiff.core.case import Built, Case

    Change = Callable[[torch.Tensor], None]

CALLS = 3
"""The number of calls that a path makes with inputs like the example. The probes come after them."""


class Copier:
    """Copies tensors storage by storage, so that the copies alias as the originals do.

    If the original is a view, a non-leaf, or a lazy conjugate or negative, so is the copy; the copy of a view
    is a view of the copied base. A Copier remembers its copies, because tensors of one storage may come in
    several calls.
    """

    def __init__(self, device: str = "cpu", change: Change | None = None) -> None:
        """Copy to ``device``; ``change`` may alter a fresh storage, seen as a flat tensor, in place."""
        self._device = torch.device(device)
        self._change = change
        self._storages: dict[int, torch.UntypedStorage] = {}
        self._copies: dict[int, torch.Tensor] = {}
        self._keep: list[torch.Tensor] = []  # an id is valid only while its object lives

    def __call__(self, tensor: torch.Tensor) -> torch.Tensor:
        """Copy one tensor. For the same object it returns the same copy."""
        if id(tensor) in self._copies:
            return self._copies[id(tensor)]
        try:
            copy = self._copies[id(tensor)] = self._copy(tensor)
            self._keep.append(tensor)
            self._copy_attributes(tensor, copy)
        except Exception as error:
            raise cannot_observe(tensor, error) from error
        return copy

    def keep(self, tensor: torch.Tensor) -> None:
        """Keep a tensor alive as long as this copier, because its id is a key."""
        self._keep.append(tensor)

    def _copy(self, tensor: torch.Tensor) -> torch.Tensor:
        if kind := kind_without_values(tensor):
            raise CannotObserveError(kind)
        base = tensor._base if tensor._is_view() else None
        if (parts := parts_of(tensor)) is not None:
            copy = parts.rebuild({name: self._part(part) for name, part in parts.tensors.items()}).detach()
        else:
            copy = self._whole(tensor) if base is None else view_like(self(base), base, tensor)
        if type(tensor) is torch.nn.Parameter:
            copy = torch.nn.Parameter(copy, requires_grad=tensor.requires_grad)
        if tensor.requires_grad and tensor.is_leaf and not copy.requires_grad:
            return copy.requires_grad_()
        return non_leaf(copy) if tensor.requires_grad and not copy.requires_grad else copy

    def _part(self, tensor: torch.Tensor) -> torch.Tensor:
        """Copy a part without its history, which belongs to the whole."""
        return self(tensor) if tensor.is_leaf and not tensor._is_view() else self(tensor.detach())

    def _copy_attributes(self, tensor: torch.Tensor, copy: torch.Tensor) -> None:
        """Copy what a user has attached to a tensor, such as the marks of its dynamic sizes."""
        kept = vars(copy)
        for name, value in vars(tensor).items():
            if name not in kept:
                kept[name] = copied(value, self)

    def _whole(self, tensor: torch.Tensor) -> torch.Tensor:
        """Copy a tensor that is not a view, without its history."""
        key = storage_id(tensor)
        if key not in self._storages:
            self._storages[key] = self._copy_storage(tensor)
        with torch.no_grad():
            copy = torch.empty(0, dtype=tensor.dtype, device=self._device)
            copy.set_(self._storages[key], tensor.storage_offset(), tensor.shape, tensor.stride())
            if not tensor.is_conj() and not tensor.is_neg():
                return copy
            # A detached tensor is no longer a view.
            return with_bits(copy, conj=tensor.is_conj(), neg=tensor.is_neg()).detach()

    def _copy_storage(self, tensor: torch.Tensor) -> torch.UntypedStorage:
        with torch.no_grad():
            whole = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(tensor.untyped_storage())
            storage = whole.to(self._device, copy=True).untyped_storage()
            size = storage.nbytes() // tensor.element_size()
            if self._change is not None and size:
                flat = torch.empty(0, dtype=tensor.dtype, device=self._device)
                self._change(flat.set_(storage, 0, (size,), (1,)))
        return storage


class Examples:
    """Makes fresh copies of the example inputs and the probes of a case."""

    def __init__(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        device: str = "cpu",
        probes: Sequence[CallArguments] = (),
        *,
        other_values: bool = True,
        draws: bool = False,
    ) -> None:
        """Keep the originals, which no model receives; ``other_values`` as in Case, ``draws`` as in Built."""
        self.draws = draws
        self._changes = CHANGES if other_values else (None,) * CALLS
        self._example = _Given.of(args, kwargs)
        self._probes = [_Given.of(probe.args, probe.kwargs) for probe in probes]
        example = CallArguments(args, kwargs)
        general = [is_general(example, probe) for probe in probes]
        self.calls = CALLS + len(list(takewhile(bool, general)))
        """The number of calls: CALLS, and one for each probe before the first that is not general."""
        self.small_calls = tuple(CALLS + number for number, each in enumerate(general) if not each)
        """The numbers of the calls with the probes that are not general."""
        self.device = device
        """The device of the copies."""

    def fresh(self, call: int = 0) -> Inputs:
        """Return inputs for a call: 0 is the example, the next ones have other small values, if they may.

        They all agree in metadata, aliasing, integers and Python values. The probes come after them,
        unchanged.
        """
        given = self._example if call < CALLS else self._probes[call - CALLS]
        copier = Copier(self.device, self._changes[call] if call < CALLS else None)
        return Inputs(*copied(given.whole, copier))

    def deviations(self, names: Set[str], salt: str, model: nn.Module | None = None) -> list[Deviation]:
        """Return the example's deviations of the named kinds, in an order that ``salt`` determines.

        With a ``model``, also those of its attributes; that is for paths that run the model itself.
        """
        flat = self._example
        if not survives_rebuilding(flat.whole):  # no other leaf can be put into it
            return in_rotation(deviations_of([], [], names, model), salt)
        dicts = zip(*self._with_dicts()[:2], strict=True)
        found = deviations_of(
            flat.leaves, flat.places, names, model, [(place, leaf) for leaf, place in dicts]
        )
        return in_rotation(found, salt)

    def _with_dicts(self) -> tuple[list[Any], tuple[str, ...], pytree.TreeSpec]:
        """Flatten the example, except its dicts."""
        return flatten(self._example.whole, is_leaf=lambda node: type(node) is dict)

    def with_deviation(self, one: Deviation) -> Inputs:
        """Return fresh inputs like the example, except for the leaf that the deviation changes, if any."""
        copier = Copier(self.device)
        if not isinstance(one.target, int):
            return Inputs(*copied(self._example.whole, copier))
        if DEVIATIONS[one.deviation].of_dicts:
            leaves, _, spec = self._with_dicts()
        else:
            leaves, spec = self._example.leaves, self._example.spec
        leaves = [one.leaf if at == one.target else leaf for at, leaf in enumerate(leaves)]
        return Inputs.rebuilt(copied(leaves, copier), spec)

    def shares_memory(self, model: nn.Module) -> bool:
        """Whether an input shares memory with the model's state."""
        state = {storage_id(tensor) for _, tensor in named_state(model)}
        leaves = (leaf for given in (self._example, *self._probes) for leaf in given.leaves)
        return any(isinstance(leaf, torch.Tensor) and storage_id(leaf) in state for leaf in leaves)


class _Given(NamedTuple):
    """``(args, kwargs)`` as the user gives them, and flattened."""

    whole: tuple[tuple[Any, ...], dict[str, Any]]
    leaves: list[Any]
    places: tuple[str, ...]
    spec: pytree.TreeSpec

    @classmethod
    def of(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Given:
        return cls((args, kwargs), *flatten((args, kwargs)))


def _affine(scale: float, shift: float) -> Change:
    def change(flat: torch.Tensor) -> None:
        if flat.dtype.is_floating_point or flat.dtype.is_complex:
            # Keep -inf: a mask of +inf would turn every output of a softmax into NaN.
            special = None if (finite := flat.isfinite()).all() else flat[~finite]
            flat.mul_(scale).add_(shift)
            if special is not None:
                flat[~finite] = special
        elif flat.dtype is torch.bool:
            flat.logical_not_()

    return change


# Integers do not change: they may be indices. The factors are exact in binary and keep values small.
CHANGES: tuple[Change | None, ...] = (None, _affine(-0.5, 0.25), _affine(0.75, -0.125))


def build(case: Case, device: str) -> tuple[nn.Module, Examples]:
    """Return a fresh model and its example inputs, on a device."""
    if device == second_device.NAME:
        second_device.load()
    built = case.build()
    examples = Examples(
        built.args, built.kwargs, device, built.probes, other_values=case.other_values, draws=built.draws
    )
    _require_readable(built)
    return move_model(built.model, device), examples


def _require_readable(built: Built) -> None:
    """Raise CannotObserveError if a tensor of the model or of its inputs cannot be copied and compared."""
    given = [(built.args, built.kwargs), *((probe.args, probe.kwargs) for probe in built.probes)]
    named = [*named_state(built.model), *named_constants(built.model)]
    for each in given:
        leaves, places, _ = flatten(each)
        named += [(argument(place), leaf) for leaf, place in zip(leaves, places, strict=True)]
    for name, tensor in named:
        if isinstance(tensor, torch.Tensor) and (kind := kind_without_values(tensor)):
            raise CannotObserveError(f"{name}, {kind}")


def move_model(model: nn.Module, device: str) -> nn.Module:
    """Move a model in place. Unlike ``Module.to``, buffers and attributes that share memory still do."""
    if device == "cpu":
        return model
    copier = Copier(device)
    moved: dict[int, torch.nn.Parameter] = {}
    for module in model.modules():
        for name, parameter in module._parameters.items():
            if parameter is not None:
                module._parameters[name] = _moved(parameter, copier, moved)
        for store in (module._buffers, module.__dict__):
            for name, value in list(store.items()):
                if isinstance(value, torch.Tensor):
                    store[name] = copier(value)
    return model


def _moved(
    parameter: torch.nn.Parameter, copier: Copier, moved: dict[int, torch.nn.Parameter]
) -> torch.nn.Parameter:
    """Move a parameter in place where torch can; otherwise return a new one, one for all its names."""
    if id(parameter) in moved:
        return moved[id(parameter)]
    copy = copier(parameter.data)
    made = parameter
    if torch._has_compatible_shallow_copy_type(parameter, copy):
        parameter.data = copy
    else:
        made = torch.nn.Parameter(copy, requires_grad=parameter.requires_grad)
    moved[id(parameter)] = moved[id(made)] = made
    copier.keep(parameter)
    return made
