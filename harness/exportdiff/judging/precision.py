"""The float64 reference: if a path runs other operators, it decides whether a difference is rounding."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.utils import _pytree as pytree

from exportdiff.core.case import Case
from exportdiff.runtime.observing.parts import parts_of
from exportdiff.runtime.observing.tensors import TensorSnapshot

if TYPE_CHECKING:
    from exportdiff.runtime.observing.aliasing import MutationProbe
    from exportdiff.runtime.observing.gradients import Gradients
    from exportdiff.runtime.observing.observation import Call, DeviatingCall, EagerObservation
    from exportdiff.runtime.observing.tensors import Leaf, Tree

_WIDE = {
    torch.bfloat16: torch.float64,
    torch.float16: torch.float64,
    torch.float32: torch.float64,
    torch.complex64: torch.complex128,
}


def in_float64(case: Case) -> Case:
    """Return the case with all floating point state, inputs and probes in double precision.

    A model that names another dtype in its code computes in that dtype, or raises.
    """
    given = case.probes
    probes = None if given is None else lambda: _widened_inputs(given())
    return replace(case, make=lambda: _widened(case.make()), probes=probes)


def _widened(made: Any) -> Any:
    if not isinstance(made, tuple) or not made or not isinstance(made[0], nn.Module):
        return made
    model, *given = made
    for module in model.modules():
        for parameter in module._parameters.values():
            if parameter is not None:
                parameter.data = _wide(parameter.data)
        for store in (module._buffers, module.__dict__):
            for name, value in list(store.items()):
                if isinstance(value, torch.Tensor):
                    store[name] = _wide(value)
    return (model, *_widened_inputs(tuple(given)))


def _widened_inputs(given: Any) -> Any:
    return pytree.tree_map_only(torch.Tensor, _wide, given)


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    # A tensor that consists of others may not have another dtype: it is given as it is.
    dtype = None if parts_of(tensor) is not None else _WIDE.get(tensor.dtype)
    return tensor if dtype is None else tensor.detach().to(dtype).requires_grad_(tensor.requires_grad)


def with_exact_values(eager: EagerObservation, exact: EagerObservation) -> EagerObservation:
    """Attach the values that float64 gives to the outputs, inputs, state and gradients that eager gives.

    The same for the deviating calls, the ordinary calls after them, and the tensors that a write to an output
    changes.
    """
    pairs = zip(eager.calls, exact.calls, strict=False)
    exacted = tuple(_call(ours, theirs) for ours, theirs in pairs)
    edited = eager.edited
    if edited is not None and exact.edited is not None:
        edited = _call(edited, exact.edited)
    return replace(
        eager,
        calls=(*exacted, *eager.calls[len(exacted) :]),
        edited=edited,
        mutation_probes=_mutation_probes(eager.mutation_probes, exact.mutation_probes),
        deviations=_deviations(eager.deviations, exact.deviations),
        gradients=_gradients(eager.gradients, exact.gradients),
    )


def _gradients(ours: Gradients | None, theirs: Gradients | None) -> Gradients | None:
    if ours is None or theirs is None:
        return ours
    return replace(ours, of={name: _with(tensor, theirs.of.get(name)) for name, tensor in ours.of.items()})


def _mutation_probes(
    ours: tuple[MutationProbe, ...], theirs: tuple[MutationProbe, ...]
) -> tuple[MutationProbe, ...]:
    exact = {probe.output: probe.shows for probe in theirs}
    return tuple(
        replace(
            probe,
            shows={n: _with(tensor, exact.get(probe.output, {}).get(n)) for n, tensor in probe.shows.items()},
        )
        for probe in ours
    )


def _deviations(
    ours: tuple[DeviatingCall, ...], theirs: tuple[DeviatingCall, ...]
) -> tuple[DeviatingCall, ...]:
    exact = {_altered(made): made for made in theirs}
    return tuple(_deviating(made, exact.get(_altered(made))) for made in ours)


def _altered(made: DeviatingCall) -> tuple[str, str, str]:
    # The description names dtypes, which are others in float64.
    return made.deviation, made.where, made.value


def _deviating(ours: DeviatingCall, theirs: DeviatingCall | None) -> DeviatingCall:
    if theirs is None:
        return ours
    then = ours.then
    if then is not None and theirs.then is not None:
        then = _call(then, theirs.then)
    return replace(ours, call=_call(ours.call, theirs.call), then=then)


def _call(ours: Call, theirs: Call) -> Call:
    if ours.failure is not None or theirs.failure is not None:
        return ours
    tensors = {
        name: _with(tensor, theirs.state.tensors.get(name)) for name, tensor in ours.state.tensors.items()
    }
    return replace(
        ours,
        outputs=_tree(ours.outputs, theirs.outputs),
        inputs=_tree(ours.inputs, theirs.inputs),
        state=replace(ours.state, tensors=tensors),
    )


def _tree(ours: Tree | None, theirs: Tree | None) -> Any:
    if ours is None or theirs is None or len(ours.leaves) != len(theirs.leaves):
        return ours
    leaves = zip(ours.leaves, theirs.leaves, strict=True)
    return replace(ours, leaves=tuple(_leaf(one, other) for one, other in leaves))


def _leaf(ours: Leaf, theirs: Leaf) -> Leaf:
    return replace(ours, value=_with(ours.value, theirs.value))


def _with(ours: Any, theirs: object) -> Any:
    if isinstance(ours, TensorSnapshot) and isinstance(theirs, TensorSnapshot) and ours.shape == theirs.shape:
        return replace(ours, exact=theirs.values)
    return ours
