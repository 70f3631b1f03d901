"""Every path starts from the same state.

``ep.module()`` shares parameters, buffers and constants with the exported program (and so with the
model that was exported); ``unflatten`` clones them from it. So running the one moves where the other
starts. An Isolation notes the exported program's tensors right after export and puts them back before
every stage that reads them. Where that cannot be done, the model is built and exported once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

from harness.snapshot import storage_id

if TYPE_CHECKING:
    from collections.abc import Iterable


class _View(NamedTuple):
    """What one tensor made of its storage."""

    tensor: torch.Tensor
    grad_fn: object
    storage: torch.UntypedStorage
    offset: int
    shape: torch.Size
    stride: tuple[int, ...]
    requires_grad: bool


class Isolation:
    """Notes the tensors of an exported program, and restores them as often as needed."""

    def __init__(self, tensors: Iterable[torch.Tensor]) -> None:
        """Copy each storage once, and what each tensor makes of it."""
        self._values: dict[int, tuple[torch.UntypedStorage, torch.UntypedStorage]] = {}
        self._views: list[_View] = []
        for tensor in tensors:
            if tensor.layout is not torch.strided or tensor.is_meta:
                continue
            storage = tensor.untyped_storage()
            if storage_id(tensor) not in self._values:
                self._values[storage_id(tensor)] = (storage, _clone(storage))
            self._views.append(
                _View(
                    tensor,
                    tensor.grad_fn,
                    storage,
                    int(tensor.storage_offset()),
                    tensor.shape,
                    tensor.stride(),
                    tensor.requires_grad,
                )
            )

    def restore(self) -> bool:
        """Put values and metadata back, and drop the gradient history that in-place operations left.

        Return False, and promise nothing, if some tensor does not allow it.
        """
        moved = [tensor for tensor, grad_fn, *_ in self._views if tensor.grad_fn is not grad_fn]
        if any(tensor._is_view() for tensor in moved):  # "Can't detach views in-place"
            return False
        with torch.no_grad():
            for storage, values in self._values.values():
                if storage.nbytes() != values.nbytes():
                    storage.resize_(values.nbytes())
                storage.copy_(values)
            for tensor in moved:
                tensor.detach_()
            for tensor, _, storage, offset, shape, stride, requires_grad in self._views:
                if (
                    tensor.shape != shape
                    or tensor.stride() != stride
                    or tensor.storage_offset() != offset
                    or tensor.untyped_storage()._cdata != storage._cdata
                ):
                    tensor.set_(storage, offset, shape, stride)
                if tensor.requires_grad != requires_grad:
                    tensor.requires_grad_(requires_grad)
                tensor.grad = None
        return True


def _clone(storage: torch.UntypedStorage) -> torch.UntypedStorage:
    copy: torch.UntypedStorage = storage.clone()  # type: ignore[no-untyped-call]  # torch leaves it bare
    return copy
