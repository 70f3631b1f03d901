"""Tensors that consist of other tensors: subclasses, jagged and sparse tensors.

Most of them have no memory that can be read. So whatever copies, reads or restores a tensor does so with its
parts. The parts of a part are found in the same way, until only plain tensors are left.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor
from torch.nn.parameter import is_lazy
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

PLAIN = (torch.Tensor, nn.Parameter)
"""The classes of tensors that torch itself makes."""


class CannotObserveError(Exception):
    """Something belongs to a kind that exportdiff cannot copy or read. The message names it."""

    @property
    def reason(self) -> str:
        """Why a path is not judged, for people."""
        return f"exportdiff cannot read {self}"


def cannot_observe(what: object, error: Exception) -> CannotObserveError:
    """Return the error that names what cannot be observed, in words or as a tensor, and says why."""
    if isinstance(error, CannotObserveError):
        return error
    if isinstance(what, torch.Tensor):
        what = unreadable(what) or f"a tensor of the class {type(what).__name__}"
    first_line = str(error).strip().partition("\n")[0]
    return CannotObserveError(f"{what}: {type(error).__name__}: {first_line}")


@contextlib.contextmanager
def observing(what: str) -> Iterator[None]:
    """Turn what the objects of other libraries raise while they are observed into CannotObserveError."""
    try:
        yield
    except Exception as error:
        raise cannot_observe(what, error) from error


@dataclass(frozen=True)
class Parts:
    """The tensors that a tensor consists of, by name, and what else it consists of."""

    of: str
    """The class, or the layout of a sparse tensor."""
    tensors: Mapping[str, torch.Tensor]
    rebuild: Callable[[Mapping[str, torch.Tensor]], torch.Tensor]
    """Makes another tensor of this kind from other parts."""
    context: object = None
    """What the class keeps besides tensors."""

    @property
    def visible(self) -> dict[str, torch.Tensor]:
        """The parts without those that a jagged tensor computes when it needs them."""
        return {name: part for name, part in self.tensors.items() if name not in _COMPUTED_LATER}


_COMPUTED_LATER = ("_min_seqlen_tensor", "_max_seqlen_tensor")


def parts_of(tensor: torch.Tensor) -> Parts | None:
    """Return the parts of a tensor; None if it has memory of its own, or cannot be read at all."""
    if type(tensor) in PLAIN and tensor.layout is torch.strided:  # nearly all tensors
        return None
    if isinstance(tensor, FakeTensor):
        return None
    if _is_wrapper(tensor):
        return _of_wrapper(tensor)
    if tensor.layout is torch.sparse_coo:
        return _of_coordinates(tensor)
    if (names := _COMPRESSED.get(tensor.layout)) is not None:
        return _of_compressed(tensor, names)
    return None if unreadable(tensor) or type(tensor) in PLAIN else _of_subclass(tensor)


def plain_parts(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """Yield the plain tensors that a tensor consists of in the end; a plain one consists of itself."""
    parts = parts_of(tensor)
    if parts is None:
        yield tensor
        return
    for part in parts.visible.values():
        yield from plain_parts(part)


def _is_wrapper(tensor: Any) -> bool:
    return is_traceable_wrapper_subclass(tensor)


def _of_wrapper(tensor: Any) -> Parts:
    names, context = tensor.__tensor_flatten__()
    inner = {name: getattr(tensor, name) for name in names}
    others = {name: part for name, part in inner.items() if not isinstance(part, torch.Tensor)}
    made: Callable[..., torch.Tensor] = type(tensor).__tensor_unflatten__
    size, stride = tensor.size(), tensor.stride()
    return Parts(
        type(tensor).__name__,
        {name: part for name, part in inner.items() if name not in others},
        lambda parts: made({**others, **parts}, context, size, stride),
        context,
    )


def _of_subclass(tensor: torch.Tensor) -> Parts:
    """Return the plain tensor in the memory of a subclass that wraps nothing."""
    kind = type(tensor)
    with torch._C.DisableTorchFunctionSubclass():
        plain = tensor.detach().as_subclass(torch.Tensor)
    return Parts(kind.__name__, {"data": plain}, lambda parts: parts["data"].detach().as_subclass(kind))


def _of_coordinates(tensor: torch.Tensor) -> Parts:
    size, coalesced = tensor.shape, tensor.is_coalesced()

    def rebuild(parts: Mapping[str, torch.Tensor]) -> torch.Tensor:
        return torch.sparse_coo_tensor(
            parts["indices"], parts["values"], size, is_coalesced=coalesced, check_invariants=False
        )

    # The methods without an underscore accept only coalesced tensors, and autograd records them.
    return Parts(
        _layout(tensor), {"values": tensor._values(), "indices": tensor._indices()}, rebuild, tuple(size)
    )


_COMPRESSED = {
    torch.sparse_csr: ("crow_indices", "col_indices"),
    torch.sparse_csc: ("ccol_indices", "row_indices"),
    torch.sparse_bsr: ("crow_indices", "col_indices"),
    torch.sparse_bsc: ("ccol_indices", "row_indices"),
}


def _of_compressed(tensor: torch.Tensor, names: tuple[str, str]) -> Parts:
    size, layout, plain = tensor.shape, tensor.layout, tensor.detach()

    def rebuild(parts: Mapping[str, torch.Tensor]) -> torch.Tensor:
        places, others = (parts[name] for name in names)
        return torch.sparse_compressed_tensor(
            places, others, parts["values"], size, layout=layout, check_invariants=False
        )

    tensors = {name: getattr(plain, name)() for name in ("values", *names)}
    return Parts(_layout(tensor), tensors, rebuild, tuple(size))


def _layout(tensor: torch.Tensor) -> str:
    return str(tensor.layout).removeprefix("torch.")


def unreadable(tensor: torch.Tensor) -> str:
    """Say what kind of tensor this is, if exportdiff can read neither its memory nor its parts; else nothing.

    A tensor on the device "meta" has no values, which is not the same: there is nothing to read.
    """
    if type(tensor) in PLAIN and tensor.layout is torch.strided and not tensor.is_quantized:
        if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
            return "a wrapper that a functorch transform left"
        return "a nested tensor with the layout strided" if tensor.is_nested else ""
    if isinstance(tensor, FakeTensor):
        return "a fake tensor"
    if is_lazy(tensor):
        return "a parameter without a shape, of a lazy module that has not run yet"
    if tensor.is_quantized:
        return f"a quantized tensor ({str(tensor.dtype).removeprefix('torch.')})"
    if _is_wrapper(tensor) or tensor.layout in (torch.sparse_coo, *_COMPRESSED):
        return ""
    if tensor.layout is not torch.strided:
        return f"a tensor with the layout {_layout(tensor)}"
    return "" if tensor.is_meta or _has_memory(tensor) else f"a tensor of the class {type(tensor).__name__}"


def kind_without_values(tensor: torch.Tensor) -> str:
    """Say what kind of tensor this is, if it has no values that exportdiff can read; else nothing."""
    return unreadable(tensor) or ("a tensor on the device meta, without values" if tensor.is_meta else "")


def has_pointer(tensor: torch.Tensor) -> bool:
    """Whether the data can be read.

    Export forbids it for its fake tensors, and for a real tensor after ``x.data = self.k``.
    """
    try:
        tensor.data_ptr()
    except RuntimeError:
        return False
    return True


def _has_memory(tensor: torch.Tensor) -> bool:
    """Whether a subclass has memory of its own. A wrapper has none, although its storage has a size."""
    try:
        return tensor.numel() == 0 or tensor.untyped_storage().data_ptr() != 0
    except RuntimeError:
        return False
