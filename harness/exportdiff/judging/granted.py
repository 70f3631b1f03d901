"""Attaches the tolerance of the user to each tensor of eager, where comparing leaves finds it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from exportdiff.runtime.observing.tensors import TensorSnapshot

if TYPE_CHECKING:
    from exportdiff.core.tolerance import Tolerance
    from exportdiff.runtime.observing.observation import EagerObservation


def with_tolerance(eager: EagerObservation, tolerance: Tolerance) -> EagerObservation:
    """Return what eager shows; a path may differ from it by what the user tolerates."""
    granted: EagerObservation = _with(eager, tolerance)
    return granted


def _with(value: Any, tolerance: Tolerance) -> Any:
    if isinstance(value, TensorSnapshot):
        return dataclasses.replace(value, tolerance=tolerance, composed=_with(value.composed, tolerance))
    if type(value) is tuple:
        return tuple(_with(each, tolerance) for each in value)
    if isinstance(value, Mapping):
        return {key: _with(each, tolerance) for key, each in value.items()}
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    fields = {each.name: getattr(value, each.name) for each in dataclasses.fields(value) if each.init}
    changed = {name: made for name, each in fields.items() if (made := _with(each, tolerance)) is not each}
    return dataclasses.replace(value, **changed) if changed else value
