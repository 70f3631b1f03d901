"""Saves and restores tensors, so that every path starts from the same state.

``ep.module()`` shares parameters, buffers and constants with the exported program (and with the exported
model); ``unflatten`` clones them from it. So running one of them changes where the other starts. SavedTensors
saves the tensors of the exported program right after export, and restores them before every stage that reads
them. If that fails, the model is built and exported once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import torch

from exportdiff.runtime.observing.autograd_history import has_history
from exportdiff.runtime.observing.parts import cannot_observe, parts_of, plain_parts, unreadable
from exportdiff.runtime.observing.tensors import live_state, named_constants, storage_id
from exportdiff.runtime.observing.values import LARGE, content, holds, identical

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import nn

    from exportdiff.runtime.observing.values import Array, Content


class _View(NamedTuple):
    """One tensor's view of its storage."""

    tensor: torch.Tensor
    storage: torch.UntypedStorage
    offset: int
    shape: torch.Size
    stride: tuple[int, ...]
    requires_grad: bool
    kind: tuple[torch.dtype, torch.layout, torch.device]


class _Composed(NamedTuple):
    """A tensor that consists of others. Their values can be restored as long as it keeps the same ones."""

    tensor: torch.Tensor
    inside: _Inside
    requires_grad: bool

    def can_be_restored(self) -> bool:
        """Whether it has no other parts and no autograd history since it was saved."""
        tensor = self.tensor
        kept = _inside(tensor) == self.inside and tensor.requires_grad == self.requires_grad
        return kept and (tensor.is_leaf or not has_history(tensor))


_Inside: TypeAlias = "tuple[tuple[int, int, torch.Size, tuple[int, ...]], ...]"
"""The layout of each plain part."""


def _inside(tensor: torch.Tensor) -> _Inside:
    return tuple(map(_layout, plain_parts(tensor)))


def _kind(tensor: torch.Tensor) -> tuple[torch.dtype, torch.layout, torch.device]:
    """Return what ``set_`` cannot restore; only an assignment to ``.data`` changes it."""
    return tensor.dtype, tensor.layout, tensor.device


def _layout(tensor: torch.Tensor) -> tuple[int, int, torch.Size, tuple[int, ...]]:
    """Return what ``set_`` restores."""
    return (
        tensor.untyped_storage()._cdata,
        int(tensor.storage_offset()),
        tensor.shape,
        tensor.stride(),
    )


def _has_no_memory(tensor: torch.Tensor) -> bool:
    """Whether there is nothing to save.

    A fake tensor, which export may leave in a model or in a constant, has no memory; nor has the wrapper of a
    functorch transform, which export may leave in a program.
    """
    return bool(unreadable(tensor)) or tensor.is_meta


class SavedTensors:
    """Saves tensors, and restores them as often as needed."""

    def __init__(self, tensors: Iterable[torch.Tensor]) -> None:
        """Copy each storage once, and each tensor's view of it."""
        self._values: dict[int, tuple[torch.UntypedStorage, torch.UntypedStorage | Content]] = {}
        self._views: list[_View] = []
        self._composed: list[_Composed] = []
        for tensor in tensors:
            if _has_no_memory(tensor):
                continue
            try:
                self._add(tensor)
            except Exception as error:
                raise cannot_observe(tensor, error) from error

    def _add(self, tensor: torch.Tensor) -> None:
        if parts_of(tensor) is not None:
            self._composed.append(_Composed(tensor, _inside(tensor), tensor.requires_grad))
            for part in plain_parts(tensor):
                if not _has_no_memory(part):
                    self._keep(part)
            return
        self._keep(tensor)
        self._views.append(
            _View(
                tensor,
                tensor.untyped_storage(),
                int(tensor.storage_offset()),
                tensor.shape,
                tensor.stride(),
                tensor.requires_grad and not has_history(tensor),
                _kind(tensor),
            )
        )

    def _keep(self, tensor: torch.Tensor) -> None:
        """Copy the storage of a plain tensor, unless it is copied already."""
        if storage_id(tensor) not in self._values:
            storage = tensor.untyped_storage()
            self._values[storage_id(tensor)] = (storage, _saved(storage))

    def is_unchanged(self) -> bool:
        """Whether all tensors have the values that they had, in the same memory and layout."""
        return (
            all(_is_as_saved(storage, values) for storage, values in self._values.values())
            and all(
                _layout(view.tensor) == (view.storage._cdata, view.offset, view.shape, view.stride)
                for view in self._views
            )
            and all(_inside(each.tensor) == each.inside for each in self._composed)
        )

    def restore(self) -> bool:
        """Restore values and metadata, and drop the autograd history that in-place operators left.

        Return False if some tensor does not allow it; the tensors are undefined then.
        """
        # Also tensors with the history that they had at first: whether they keep it depends on what ran.
        moved = [view.tensor for view in self._views if has_history(view.tensor)]
        if any(tensor._is_view() for tensor in moved):  # "Can't detach views in-place"
            return False
        if any(_kind(view.tensor) != view.kind for view in self._views):
            return False
        if not all(each.can_be_restored() for each in self._composed):
            return False
        # Outside of inference mode, its tensors can be given no other memory.
        if any(
            tensor.is_inference() and _layout(tensor) != (storage._cdata, offset, shape, stride)
            for tensor, storage, offset, shape, stride, *_ in self._views
        ):
            return False
        with torch.no_grad():
            for storage, values in self._values.values():
                _write(storage, values)
            for tensor in moved:
                tensor.detach_()
            for tensor, storage, offset, shape, stride, requires_grad, _ in self._views:
                if _layout(tensor) != (storage._cdata, offset, shape, stride):
                    tensor.set_(storage, offset, shape, stride)
                if tensor.requires_grad != requires_grad:
                    tensor.requires_grad_(requires_grad)
                tensor.grad = None
        return True


class SavedModule:
    """Saves how a model begins: its tensors, and the attributes of its modules.

    It is for modules that export made: their attributes lead into graphs and fake tensors, so that it saves
    one level only. For the user's own model, see runtime/observing/checkpoint.py.
    """

    def __init__(self, model: nn.Module) -> None:
        """Copy the tensors, and the attributes of all modules one level deep."""
        self._modules = [(module, _attributes(module)) for module in model.modules()]
        state, _ = live_state(model)
        self._tensors = SavedTensors((*state.values(), *(tensor for _, tensor in named_constants(model))))

    def is_unchanged(self) -> bool:
        """Whether all tensors of the model are as they were."""
        return self._tensors.is_unchanged()

    def restore(self) -> bool:
        """Restore the model. Return False if that is impossible; the model is undefined then."""
        for module, stores in self._modules:
            for store, noted in zip(_stores(module), stores, strict=True):
                store.clear()
                store.update(noted)
        return self._tensors.restore()


def _stores(module: nn.Module) -> tuple[dict[str, Any], ...]:
    return module._parameters, module._buffers, module._modules, vars(module)


def _attributes(module: nn.Module) -> tuple[dict[str, Any], ...]:
    return tuple(dict(store) for store in _stores(module))


def _saved(storage: torch.UntypedStorage) -> torch.UntypedStorage | Content:
    """Return a copy; for many bytes, what keeps them outside of memory, together with the snapshots."""
    if storage.nbytes() >= LARGE and (readable := _bytes(storage)) is not None:
        return content(readable)
    copy: torch.UntypedStorage = storage.clone()  # type: ignore[no-untyped-call]  # torch leaves it bare
    return copy


def _is_as_saved(storage: torch.UntypedStorage, saved: torch.UntypedStorage | Content) -> bool:
    """Whether the bytes are those that were saved. Bytes that cannot be read count as changed."""
    if isinstance(saved, torch.UntypedStorage):
        if storage.device.type != "cpu":
            return torch.equal(_on_device(storage), _on_device(saved))
        before, now = _bytes(saved), _bytes(storage)
        return before is not None and now is not None and identical(before, now)
    now = _bytes(storage)
    return now is not None and now.nbytes == saved.nbytes and holds(saved, now)


def _on_device(storage: torch.UntypedStorage) -> torch.Tensor:
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)


def _write(storage: torch.UntypedStorage, saved: torch.UntypedStorage | Content) -> None:
    size = saved.nbytes() if isinstance(saved, torch.UntypedStorage) else saved.nbytes
    if storage.nbytes() != size:
        storage.resize_(size)
    if isinstance(saved, torch.UntypedStorage):
        storage.copy_(saved)
        return
    target = _bytes(storage)
    assert target is not None, "it could be read before"
    if not holds(saved, target):  # most of the time nothing has changed: no need to read the file
        saved.read(target)


def _bytes(storage: torch.UntypedStorage) -> Array | None:
    """Return the memory of a storage, not a copy; None if Python cannot have it."""
    if storage.device.type != "cpu":
        return None
    try:
        # After Tensor.numpy(), the model could no longer resize its tensor.
        return np.from_dlpack(torch.empty(0, dtype=torch.uint8).set_(storage))
    except RuntimeError:  # of a fake tensor, or one that export has barred
        return None
