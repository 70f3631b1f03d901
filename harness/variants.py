"""Call variants: the modules that ``torch.export.unflatten`` makes of one submodule.

A submodule whose calls have different graphs becomes several modules, ``foo``, ``foo@1``, ``foo@2``, ...,
which hold the same parameters and buffers. A module or a tensor that is put into ``foo`` alone leaves the
other calls as they were. These functions handle all variants at once.

For use by hand: nothing here knows of the rest of the project.
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
        fqn: the submodule's name in the model that was exported: ``"encoder.layer"``, without ``@``.

    Returns:
        ``{"encoder.layer": ..., "encoder.layer@1": ..., "encoder@1.layer": ...}``: a variant of a parent has
        variants of its own. Names that lead to one module are listed once each.

    Raises:
        ValueError: ``fqn`` is empty, or names a variant.
        KeyError: there is no such submodule.
    """
    if not fqn or _NUMBER.search(fqn):
        raise ValueError(f"{fqn!r} is no name of a submodule as the exported model has it: 'encoder.layer'")
    found = {name: module for name, module in _modules(unflattened, "") if _NUMBER.sub("", name) == fqn}
    if not found:
        raise KeyError(f"no submodule {fqn!r} in the unflattened module")
    return dict(sorted(found.items(), key=lambda pair: _numbers(pair[0])))


def swap_module(unflattened: nn.Module, fqn: str, module: nn.Module) -> None:
    """Put a module in the place of a submodule, for all its calls, whichever variant they went to.

    Calls with anything but tensors as arguments and result are ones that an eager module can take only if
    the model was exported with ``preserve_module_call_signature=(fqn,)``. The new module keeps its own
    parameters and buffers.

    Args:
        unflattened: what ``torch.export.unflatten`` returned.
        fqn: the submodule's name in the model that was exported.
        module: what is called from now on.

    Raises:
        ValueError, KeyError: as ``call_variants``.
    """
    for name in call_variants(unflattened, fqn):
        parent, _, last = name.rpartition(".")
        setattr(unflattened.get_submodule(parent), last, module)


def swap_attribute(
    unflattened: nn.Module, fqn: str, function: Callable[[torch.Tensor], torch.Tensor]
) -> torch.Tensor:
    """Replace a parameter or buffer by what ``function`` makes of it, wherever it is held.

    That is under all names that it has: in all variants of its module, and in other modules that it is tied
    to. ``function`` is called once, so what was one tensor is one tensor afterwards.

    Args:
        unflattened: what ``torch.export.unflatten`` returned.
        fqn: the name of the parameter or buffer in the model that was exported: ``"encoder.layer.weight"``.
        function: from the tensor, of any shape and dtype, to the new one: ``lambda t: t.bfloat16()``. It runs
            without gradients; a parameter becomes a parameter that requires grad as the old one did.

    Returns:
        The new parameter or buffer.

    Raises:
        ValueError: as ``call_variants``.
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
    """Yield every module under all names that it has, and itself."""
    yield prefix, module
    for name, child in module._modules.items():
        if child is not None:
            yield from _modules(child, f"{prefix}.{name}" if prefix else name)


def _stores(module: nn.Module) -> tuple[dict[str, torch.Tensor | None], ...]:
    return module._parameters, module._buffers  # type: ignore[return-value]  # one of them holds Parameters alone


def _numbers(name: str) -> tuple[int, ...]:
    """Sort ``a@2`` before ``a@10``."""
    numbers = (re.search(r"@(\d+)$", part) for part in name.split("."))
    return tuple(int(found[1]) if found else 0 for found in numbers)
