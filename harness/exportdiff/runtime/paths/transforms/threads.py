"""A transform that calls a module in two threads; eager is called in the same way."""

from __future__ import annotations

import contextlib
import copy
import io
import threading
from typing import TYPE_CHECKING, Any

from exportdiff.core.lazy import torch
from exportdiff.runtime.paths.transforms.table import transform

if TYPE_CHECKING:
    from torch import nn


@transform(
    "module",
    *("nonstrict:module", "nonstrict:unflatten", "nonstrict+preserve:unflatten"),
    in_eager=True,
    calls_often=True,
    not_promised=("hierarchy", "gradients", "edits", "deviations"),
    cost=15,
)
def threaded(module: nn.Module) -> nn.Module:
    """Two threads that call what runs at the same time get what they get from eager.

    If a call changes the state, the calls follow one another: the order of threads would decide. For the
    same reason, a model that draws random numbers is not called again.
    """

    class Threaded(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = module

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            first, *inputs = [copy.deepcopy((args, kwargs)) for _ in range(3)]
            # The first call may set a seed. The later ones set the same.
            self.module(*first[0], **first[1])
            before = _state(self.module), torch.get_rng_state()
            result = self.module(*args, **kwargs)
            after = _state(self.module), torch.get_rng_state()
            if not torch.equal(before[1], after[1]):
                return [result]
            if before[0] != after[0]:
                return [result, *(self.module(*other[0], **other[1]) for other in inputs)]
            return [result, *_in_threads(self.module, inputs)]

    return Threaded()


def _state(module: nn.Module) -> tuple[list[int], bytes]:
    """Return what a write to the state changes: the versions of all tensors, and their values.

    In eager, a write to ``.data`` changes no version; in an exported program, it does.
    """
    tensors = [t for store in (module.parameters, module.buffers) for t in store()]
    values = io.BytesIO()
    torch.save([t.detach() for t in tensors], values)
    return [t._version for t in tensors], values.getvalue()


def _in_threads(module: nn.Module, inputs: list[Any]) -> list[Any]:
    """Call a module with each of some inputs at the same time; return the results."""
    meeting = threading.Barrier(len(inputs))
    results: dict[int, Any] = {}
    errors: list[Exception] = []

    # Each thread waits for the others where it calls a part, so that their calls alternate.
    def wait(part: nn.Module, args: object) -> None:
        with contextlib.suppress(threading.BrokenBarrierError):
            meeting.wait(2)

    def run(number: int) -> None:
        args, kwargs = inputs[number]
        try:
            results[number] = module(*args, **kwargs)
        except Exception as error:
            errors.append(error)
            meeting.abort()

    hook = torch.nn.modules.module.register_module_forward_pre_hook(wait)
    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(inputs))]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    hook.remove()
    for error in errors:
        raise error
    return [results[number] for number in range(len(inputs))]
