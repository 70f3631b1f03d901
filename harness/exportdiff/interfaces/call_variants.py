"""Call variants: the modules that ``torch.export.unflatten`` creates from one submodule.

If the calls of a submodule have different graphs, unflatten creates several modules, ``foo``, ``foo@1``,
``foo@2``, ..., which hold the same parameters and buffers. Replacing only ``foo``, or a tensor in ``foo``,
does not change the other calls. These functions change all variants at once.

For use by hand: this file imports nothing from the rest of the project.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import torch
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["call_variants", "swap_attribute", "swap_module"]

_NUMBER = re.compile(r"@\d+(?=\.|$)")


def call_variants(unflattened: nn.Module, fqn: str) -> dict[str, nn.Module]:
    """Return the variants of a submodule by name, in the order of their first calls.

    Args:
        unflattened: what ``torch.export.unflatten`` returned.
        fqn: the submodule's FQN in the model that was exported: ``"encoder.layer"``, without ``@``.

    Returns:
        ``{"encoder.layer": ..., "encoder.layer@1": ..., "encoder@1.layer": ...}``: each variant of a parent
        has its own variants. A module that has several names is listed under each of them.

    Raises:
        ValueError: ``fqn`` is empty, or names a variant.
        KeyError: there is no such submodule.
    """
    if not fqn or _NUMBER.search(fqn):
        raise ValueError(
            f"{fqn!r} is not the name of a submodule in the exported model, such as 'encoder.layer'"
        )
    found = {name: module for name, module in _modules(unflattened, "") if _NUMBER.sub("", name) == fqn}
    if not found:
        raise KeyError(f"no submodule {fqn!r} in the unflattened module")
    return dict(sorted(found.items(), key=lambda pair: _numbers(pair[0])))


def swap_module(unflattened: nn.Module, fqn: str, module: nn.Module) -> None:
    """Replace a submodule by ``module`` in all calls of the submodule, that is, in all its variants.

    If a call has an argument or result other than tensors, an eager module can replace the submodule only if
    the model was exported with ``preserve_module_call_signature=(fqn,)``. The new module keeps its own
    parameters and buffers.

    Args:
        unflattened: what ``torch.export.unflatten`` returned.
        fqn: the submodule's FQN in the model that was exported.
        module: the module that is called from now on.

    Raises:
        ValueError, KeyError: as in ``call_variants``.
    """
    for name in call_variants(unflattened, fqn):
        parent, _, last = name.rpartition(".")
        setattr(unflattened.get_submodule(parent), last, module)


def swap_attribute(
    unflattened: nn.Module, fqn: str, function: Callable[[torch.Tensor], torch.Tensor]
) -> torch.Tensor:
    """Replace a parameter or buffer by the result of ``function``, under all names of the tensor.

    It is replaced in all variants of its module, and in all modules that are tied to it. ``function`` runs
    once, so all these names share one new tensor.

    Args:
        unflattened: what ``torch.export.unflatten`` returned.
        fqn: the FQN of the parameter or buffer in the model that was exported: ``"encoder.layer.weight"``.
        function: takes the old tensor and returns the new one, of any shape and dtype:
            ``lambda t: t.bfloat16()``. It runs under no_grad. A parameter stays a parameter and keeps its
            requires_grad.

    Returns:
        The new parameter or buffer.

    Raises:
        ValueError: as in ``call_variants``.
        KeyError: there is no such parameter or buffer.
        TypeError: ``function`` did not return a tensor.
    """
    path, _, name = fqn.rpartition(".")
    owners = call_variants(unflattened, path).values() if path else [unflattened]
    named = (store.get(name) for owner in owners for store in _stores(owner))
    held = [tensor for tensor in named if tensor is not None]
    if not held:
        raise KeyError(f"no parameter or buffer {fqn!r} in the unflattened module")
    old = held[0]
    with torch.no_grad():
        new = function(old)
    if not isinstance(new, torch.Tensor):
        raise TypeError(f"the function for {fqn!r} returned a {type(new).__name__}, not a tensor")
    if isinstance(old, nn.Parameter):
        new = nn.Parameter(new.detach(), requires_grad=old.requires_grad)
    for _, owner in _modules(unflattened, ""):
        for store in _stores(owner):
            store.update({key: new for key, tensor in store.items() if any(tensor is each for each in held)})
    return new


def _modules(module: nn.Module, prefix: str) -> Iterator[tuple[str, nn.Module]]:
    """Yield ``module`` and all modules below it, each under all its names."""
    yield prefix, module
    for name, child in module._modules.items():
        if child is not None:
            yield from _modules(child, f"{prefix}.{name}" if prefix else name)


def _stores(module: nn.Module) -> tuple[dict[str, torch.Tensor | None], ...]:
    return module._parameters, module._buffers  # type: ignore[return-value]  # _parameters holds only Parameters


def _numbers(name: str) -> tuple[int, ...]:
    """Return a sort key that puts ``a@2`` before ``a@10``."""
    numbers = (re.search(r"@(\d+)$", part) for part in name.split("."))
    return tuple(int(found[1]) if found else 0 for found in numbers)
