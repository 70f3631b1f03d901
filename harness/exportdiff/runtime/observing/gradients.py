"""The gradients that a call's outputs give to parameters and inputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch.autograd.function import BackwardCFunction
from torch.nn.modules.module import register_module_forward_pre_hook

from exportdiff.runtime.observing.aliasing import OUTPUT
from exportdiff.runtime.observing.autograd_history import has_history, node_of
from exportdiff.runtime.observing.failure import Failure, failure
from exportdiff.runtime.observing.parts import parts_of
from exportdiff.runtime.observing.tensors import TensorSnapshot, snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True)
class Gradients:
    """The gradient of a fixed weighting of all differentiable outputs of one call."""

    of: Mapping[str, TensorSnapshot | None] = field(default_factory=dict)
    """By the name of a leaf tensor that requires grad; None: no output depends on it."""
    failure: Failure | None = None
    """Why the backward pass ended."""
    customized: bool = False
    """Whether a ``torch.autograd.Function`` of the model computes some of them."""
    recomputes: bool = False
    """Whether the backward pass calls modules once more, as torch.utils.checkpoint does."""


def gradients(named: Mapping[str, torch.Tensor]) -> Gradients:
    """Run one backward pass over the tensors of a call; their ``grad`` stays as it is."""
    outputs, leaves = _ends(named)
    if not outputs or not leaves:
        return Gradients(dict.fromkeys(leaves))
    customized = any(map(_of_program, _history(outputs)))
    called: list[str] = []
    hook = register_module_forward_pre_hook(lambda module, args: called.append(type(module).__name__))
    try:
        flowing = gradient_tensors(named)
    except Exception as error:
        return Gradients(failure=failure(error, "run"), customized=customized)
    finally:
        hook.remove()
    flows = {name: None if flow is None else snapshot(flow) for name, flow in flowing.items()}
    return Gradients(flows, customized=customized, recomputes=bool(called))


def gradient_tensors(named: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor | None]:
    """Return the gradients themselves, by name. Raises what the backward pass raises."""
    outputs, leaves = _ends(named)
    if not outputs or not leaves:
        return {}
    flowing = torch.autograd.grad(
        outputs, tuple(leaves.values()), [_weighed(output) for output in outputs], allow_unused=True
    )
    return dict(zip(leaves, flowing, strict=True))


def _ends(named: Mapping[str, torch.Tensor]) -> tuple[list[torch.Tensor], dict[str, torch.Tensor]]:
    """Return the outputs with a gradient, and the tensors by name that gradients may flow to."""
    outputs = [t for name, t in named.items() if name.startswith(OUTPUT) and t.requires_grad]
    leaves = {
        name: tensor
        for name, tensor in named.items()
        if not name.startswith(OUTPUT) and tensor.requires_grad and not has_history(tensor)
    }
    return outputs, leaves


def _history(outputs: Iterable[torch.Tensor]) -> set[object]:
    """The nodes of autograd's graph that the outputs depend on."""
    found: set[object] = set()
    todo: list[Any] = [node_of(output) for output in outputs]
    while todo:
        node = todo.pop()
        if node is not None and node not in found:
            found.add(node)
            todo += [following for following, _ in node.next_functions]
    return found


def of_unregistered(named: Mapping[str, torch.Tensor]) -> frozenset[str]:
    """Return the names of the tensors that require grad for parameters alone that no module registers.

    ``named`` are the outputs, the inputs and the state after a call: such a parameter is none of these.
    """
    others = {id(tensor) for name, tensor in named.items() if not name.startswith(OUTPUT)}

    def is_unregistered(leaf: torch.Tensor) -> bool:
        # A view that is made under no_grad requires grad if the parameter does, and has no history.
        base = leaf if leaf._base is None else leaf._base
        return isinstance(base, torch.nn.Parameter) and id(base) not in others

    return frozenset(
        name
        for name, tensor in named.items()
        if tensor.requires_grad and all(map(is_unregistered, _leaves(tensor)))
    )


def _leaves(tensor: torch.Tensor) -> list[torch.Tensor]:
    """Return the leaf tensors that a tensor depends on: those that gradients are accumulated in."""
    if not has_history(tensor):
        return [tensor]
    return [node.variable for node in _history([tensor]) if hasattr(node, "variable")]


def _of_program(node: object) -> bool:
    """Return whether a node runs the backward of a custom ``torch.autograd.Function``."""
    of_python = isinstance(node, BackwardCFunction)
    return of_python and not getattr(type(node), "_forward_cls", type(node)).__module__.startswith("torch.")


def _weighed(output: torch.Tensor) -> torch.Tensor:
    """Return weights of the same kind as the output: if it consists of other tensors, so do they."""
    if (parts := parts_of(output)) is None:
        return weights(output)
    named = parts.tensors.items()
    weighed = {name: _weighed(part) if part.is_floating_point() else part for name, part in named}
    return parts.rebuild(weighed).detach()


def weights(output: torch.Tensor) -> torch.Tensor:
    """Return small weights, exact in binary and not all equal: in a plain sum, differences could cancel."""
    places = torch.arange(output.numel(), device=output.device)
    return places.remainder(5).sub(1).div(4).to(output.dtype).reshape(output.shape)
