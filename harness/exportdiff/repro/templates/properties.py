"""The properties of a tensor ``t``, or of another leaf, that can differ: one expression for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def values(t: Any) -> Any:
    """Return the numbers in it."""
    return t.tolist()


def dtype(t: Any) -> Any:
    """Return the dtype."""
    return t.dtype


def device(t: Any) -> Any:
    """Return the sort of device."""
    return t.device.type


def shape(t: Any) -> Any:
    """Return the sizes."""
    return list(t.shape)


def strides(t: Any) -> Any:
    """Return the strides that matter: those of dimensions with more than one place."""
    return [s for n, s in zip(t.shape, t.stride(), strict=True) if n > 1 and t.numel()]


def offset(t: Any) -> Any:
    """Return where in its storage it begins."""
    return t.storage_offset()


def conj_bit(t: Any) -> Any:
    """Return whether it is a lazy conjugate."""
    return t.is_conj()


def neg_bit(t: Any) -> Any:
    """Return whether it is lazily negated."""
    return t.is_neg()


def requires_grad(t: Any) -> Any:
    """Return whether it requires a gradient."""
    return t.requires_grad


def is_leaf(t: Any) -> Any:
    """Return whether no operator with a gradient has computed it."""
    return t.is_leaf


def kind(t: Any) -> Any:
    """Return the name of its class."""
    return type(t).__name__.replace("Parameter", "Tensor")


def itself(t: Any) -> Any:
    """Return a Python value as it is."""
    return t


PROPERTIES: dict[str, Callable[[Any], Any]] = {
    "value": values,
    "rounding": values,
    "sign-of-zero": values,
    "dtype": dtype,
    "device": device,
    "shape": shape,
    "stride": strides,
    "offset": offset,
    "conj-bit": conj_bit,
    "neg-bit": neg_bit,
    "requires-grad": requires_grad,
    "leaf": is_leaf,
    "missing": shape,
    "kind": kind,
    "python-value": itself,
}
"""By the word with which the checks say what differs."""
