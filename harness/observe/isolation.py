"""Every path starts from the same state.

``ep.module()`` shares parameters, buffers and constants with the exported program (and so with the
model that was exported); ``unflatten`` clones them from it. So running the one moves where the other
starts. An Isolation notes the exported program's tensors right after export and puts them back before
every stage that reads them. Where that cannot be done, the model is built and exported once more.
What is switched for the whole process is put back after every stage as well.
"""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

from harness.observe.tensors import live_state, named_constants, storage_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torch import nn


class _View(NamedTuple):
    """What one tensor made of its storage."""

    tensor: torch.Tensor
    storage: torch.UntypedStorage
    offset: int
    shape: torch.Size
    stride: tuple[int, ...]
    requires_grad: bool
    kind: tuple[torch.dtype, torch.layout, torch.device]


def _kind(tensor: torch.Tensor) -> tuple[torch.dtype, torch.layout, torch.device]:
    """Return what no ``set_`` gives back: only an assignment to ``.data`` changes it."""
    return tensor.dtype, tensor.layout, tensor.device


class Isolation:
    """Notes the tensors of an exported program, and restores them as often as needed."""

    def __init__(self, tensors: Iterable[torch.Tensor]) -> None:
        """Copy each storage once, and what each tensor makes of it."""
        self._values: dict[int, tuple[torch.UntypedStorage, torch.UntypedStorage]] = {}
        self._views: list[_View] = []
        for tensor in tensors:
            # A fake tensor that export left behind holds no memory.
            if tensor.layout is not torch.strided or tensor.is_meta or isinstance(tensor, FakeTensor):
                continue
            storage = tensor.untyped_storage()
            if storage_id(tensor) not in self._values:
                self._values[storage_id(tensor)] = (storage, _clone(storage))
            self._views.append(
                _View(
                    tensor,
                    storage,
                    int(tensor.storage_offset()),
                    tensor.shape,
                    tensor.stride(),
                    tensor.requires_grad and tensor.is_leaf,
                    _kind(tensor),
                )
            )

    def restore(self) -> bool:
        """Put values and metadata back, and drop the gradient history that in-place operations left.

        Return False, and promise nothing, if some tensor does not allow it.
        """
        # Also what has kept the history that it had: whether it did depends on who ran.
        moved = [view.tensor for view in self._views if view.tensor.grad_fn is not None]
        if any(tensor._is_view() for tensor in moved):  # "Can't detach views in-place"
            return False
        if any(_kind(view.tensor) != view.kind for view in self._views):
            return False
        with torch.no_grad():
            for storage, values in self._values.values():
                if storage.nbytes() != values.nbytes():
                    storage.resize_(values.nbytes())
                storage.copy_(values)
            for tensor in moved:
                tensor.detach_()
            for tensor, storage, offset, shape, stride, requires_grad, _ in self._views:
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


class Start:
    """Notes how a model begins: its tensors, and what each of its attributes is bound to.

    For what export made, whose Python attributes lead into graphs and fake tensors. What the user's own
    code can reach and change is noted by harness/observe/checkpoint.py.
    """

    def __init__(self, model: nn.Module) -> None:
        """Copy the tensors, and the attributes of all modules one level deep."""
        self._modules = [(module, _attributes(module)) for module in model.modules()]
        state, _ = live_state(model)
        self._tensors = Isolation((*state.values(), *(tensor for _, tensor in named_constants(model))))

    def restore(self) -> bool:
        """Make the model begin again. Return False, and promise nothing, if that cannot be done."""
        for module, stores in self._modules:
            for store, noted in zip(_stores(module), stores, strict=True):
                store.clear()
                store.update(noted)
        return self._tensors.restore()


def _stores(module: nn.Module) -> tuple[dict[str, Any], ...]:
    return module._parameters, module._buffers, module._modules, vars(module)


def _attributes(module: nn.Module) -> tuple[dict[str, Any], ...]:
    return tuple(dict(store) for store in _stores(module))


def _clone(storage: torch.UntypedStorage) -> torch.UntypedStorage:
    copy: torch.UntypedStorage = storage.clone()  # type: ignore[no-untyped-call]  # torch leaves it bare
    return copy


def forget_compiled() -> None:
    """Empty Dynamo's caches: eager fills them too, where it runs ``torch.cond`` and its like.

    They hold more than speed: a shape that Dynamo has seen differ becomes dynamic in the next model.
    """
    torch._dynamo.reset()


def forget_predictions() -> None:
    """Empty the cache of what fake kernels gave.

    It outlives a program, and is not always right: a result that comes from it begins at offset 0
    (corpora/open/export_forgets_offset_of_cached_result.py). So what was judged before matters, and has to
    be the same whoever judges.
    """
    FakeTensorMode.cache_clear()


@contextlib.contextmanager
def nothing_cached() -> Iterator[None]:
    """Let Inductor compile what it is given, whatever it has on disk: another process made that."""
    from torch._inductor import config

    with config.patch(force_disable_caches=True):
        yield


class Printed(NamedTuple):
    """What was written to standard output and standard error."""

    output: io.StringIO
    error: io.StringIO

    def texts(self) -> dict[str, str]:
        """Return what is not empty, by the name of the stream."""
        both = {"standard output": self.output.getvalue(), "standard error": self.error.getvalue()}
        return {stream: text for stream, text in both.items() if text}


@contextlib.contextmanager
def printing() -> Iterator[Printed]:
    """Catch what is printed."""
    printed = Printed(io.StringIO(), io.StringIO())
    with contextlib.redirect_stdout(printed.output), contextlib.redirect_stderr(printed.error):
        yield printed


@contextlib.contextmanager
def own_modes() -> Iterator[None]:
    """Undo what a stage may leave switched: a model may do so, and a graph that fails halfway."""
    grad, dtype = torch.is_grad_enabled(), torch.get_default_dtype()
    casts = {device: _autocast(device) for device in ("cpu", "cuda")}
    depth = autocast_depth()
    try:
        yield
    finally:
        if autocast_depth() > depth:  # the cache lives until the outermost autocast is left
            torch.clear_autocast_cache()
        while autocast_depth() > depth:
            torch.autocast_decrement_nesting()
        torch.set_grad_enabled(grad)
        torch.set_default_dtype(dtype)
        for device, before in casts.items():
            if _autocast(device) != before:
                torch.set_autocast_enabled(device, before[0])
                torch.set_autocast_dtype(device, before[1])
                # It holds weights as they were cast at some time: of no use, and wrong, to anybody else.
                torch.clear_autocast_cache()


def autocast_depth() -> int:
    """Return how many autocast blocks are open, one inside of the other."""
    depth = torch.autocast_increment_nesting() - 1
    torch.autocast_decrement_nesting()
    return int(depth)


def _autocast(device: str) -> tuple[bool, torch.dtype]:
    return torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)
