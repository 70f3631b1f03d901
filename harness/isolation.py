"""Every path starts from the same state.

``ep.module()`` shares parameters, buffers and constants with the exported program (and so with the
model that was exported); ``unflatten`` clones them from it. So running the one moves where the other
starts. An Isolation notes the exported program's tensors right after export and puts them back before
every stage that reads them. Where that cannot be done, the model is built and exported once more.
What is switched for the whole process is put back after every stage as well.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, NamedTuple

import torch

from harness.snapshot import storage_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


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


def forget_compiled() -> None:
    """Empty Dynamo's caches: eager fills them too, where it runs ``torch.cond`` and its like.

    They hold more than speed: a shape that Dynamo has seen differ becomes dynamic in the next model.
    """
    torch._dynamo.reset()


@contextlib.contextmanager
def own_modes() -> Iterator[None]:
    """Undo what a stage may leave switched: a model may do so, and a graph that fails halfway."""
    grad, dtype = torch.is_grad_enabled(), torch.get_default_dtype()
    casts = {device: _autocast(device) for device in ("cpu", "cuda")}
    try:
        yield
    finally:
        torch.set_grad_enabled(grad)
        torch.set_default_dtype(dtype)
        for device, before in casts.items():
            if _autocast(device) != before:
                torch.set_autocast_enabled(device, before[0])
                torch.set_autocast_dtype(device, before[1])
                # It holds weights as they were cast at some time: of no use, and wrong, to anybody else.
                torch.clear_autocast_cache()


def _autocast(device: str) -> tuple[bool, torch.dtype]:
    return torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)
