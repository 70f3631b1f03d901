"""Transforms that call a module, or parts of it, in another way; eager is called in the same way."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from exportdiff.core.lazy import torch
from exportdiff.runtime.paths.transforms.table import transform

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import nn
    from torch.export import ExportedProgram


@transform(
    "module",
    *("nonstrict:module", "nonstrict:unflatten", "nonstrict+preserve:unflatten"),
    in_eager=True,
    not_promised=("hierarchy", "edits"),
    cost=10,
)
def functional(module: nn.Module) -> nn.Module:
    """torch.func.functional_call, with other parameters and buffers, gives what it gives for eager."""

    class Functional(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = module

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            named = {
                **dict(self.module.named_parameters(remove_duplicate=False)),
                **dict(self.module.named_buffers(remove_duplicate=False)),
            }
            other: dict[int, torch.Tensor] = {}
            for name in self.module.state_dict():
                t = named.get(name)  # None: the name of what get_extra_state returns
                if t is not None and "@" not in name and id(t) not in other:
                    value = t.detach() * 0.5 if t.is_floating_point() else t.detach().clone()
                    other[id(t)] = value.requires_grad_(t.requires_grad)
            # Each place once: functional_call ruins a module of two names (pytorch/pytorch issue 164759).
            # A shallow copy of a module has the dictionaries of the original.
            given: dict[str, torch.Tensor] = {}
            places = set()
            for prefix, part in self.module.named_modules():
                for store in (part._parameters, part._buffers):
                    for key, held in store.items():
                        if id(held) in other and (id(store), key) not in places:
                            places.add((id(store), key))
                            given[f"{prefix}.{key}" if prefix else key] = other[id(held)]
            return torch.func.functional_call(self.module, given, args, kwargs, tie_weights=False)

    return Functional()


@transform(
    "module",
    "nonstrict+preserve:unflatten",
    wants_model=True,
    in_eager=True,
    runner="unflatten",
    after="preserve",
    not_promised=("hierarchy", "gradients", "edits", "deviations"),
    cost=15,
)
def children(module: nn.Module, model: nn.Module) -> nn.Module:
    """Each child that a call runs once returns what eager's child returns, if it runs alone.

    Not a child with a part that others call: unflatten numbers the calls of a part in the whole model.
    """
    # unflatten makes plain modules, for their state alone, of children that compute nothing, or compute in a
    # region of their caller. For these, the child of a copy of eager runs on this state: a call below changes
    # the state of the model.
    plain = any(type(child) is torch.nn.Module for child in module.children())
    spare = copy.deepcopy(model) if plain else model

    class Children(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module, self.model = module, model

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            calls, places = _single_calls(self.model, args, kwargs)
            returned = {}
            for name, arguments in calls.items():
                child = getattr(self.module, name)
                run = getattr(spare, name) if type(child) is torch.nn.Module else child
                if run is not child:
                    _lend_state(child, run)
                args, kwargs = _with_own_state(arguments, places, run)
                returned[name] = run(*args, **kwargs)
                if run is not child:
                    _lend_state(run, child)
            return returned

    return Children()


def _single_calls(model: nn.Module, args: Any, kwargs: Any) -> tuple[dict[str, Any], dict[int, Any]]:
    """Call a model; return the arguments of each child that runs once, and those that are its own state.

    Arguments by the name of the child; the places in the child's state by the id of the argument.
    """
    calls: dict[str, list[Any]] = {name: [] for name, _ in model.named_children()}
    places: dict[int, Any] = {}
    running: list[nn.Module] = []
    called_by_others: set[str] = set()

    def enter(part: nn.Module, args: Any) -> None:
        below = [name for name, child in model.named_children() if part in child.modules()]
        called_by_others.update(name for name in below if getattr(model, name) not in (part, *running))
        running.append(part)

    def leave(part: nn.Module, args: Any, out: object) -> None:
        running.pop()

    def hook(made: list[Any]) -> Any:
        return lambda child, args, kwargs: _record_call(child, (args, kwargs), made, places)

    hooks = [
        child.register_forward_pre_hook(hook(calls[name]), with_kwargs=True)
        for name, child in model.named_children()
    ]
    for part in model.modules():
        hooks.append(part.register_forward_pre_hook(enter, prepend=True))
        hooks.append(part.register_forward_hook(leave))
    model(*args, **kwargs)
    for each in hooks:
        each.remove()
    once = [name for name, made in calls.items() if len(made) == 1 and name not in called_by_others]
    return {name: calls[name][0] for name in once}, places


def _record_call(child: nn.Module, arguments: Any, calls: list[Any], places: dict[int, Any]) -> None:
    """Add the arguments of a call to ``calls``, and to ``places`` where the child has them in its state."""
    own = {id(t): place for place, t in _named_tensors(child)}
    aliases: dict[int, torch.Tensor] = {}

    # A separate tensor, because the caller may change the metadata of the argument later. What is given
    # twice stays one object.
    def alias(t: torch.Tensor) -> torch.Tensor:
        if id(t) not in aliases:
            aliases[id(t)] = torch.ops.aten.alias(t)
            if id(t) in own:
                places[id(aliases[id(t)])] = own[id(t)]
        return aliases[id(t)]

    calls.append(torch.utils._pytree.tree_map_only(torch.Tensor, alias, arguments))


def _with_own_state(arguments: Any, places: dict[int, Any], run: nn.Module) -> Any:
    """Return arguments in which the state of a child is that of ``run``: export takes both for one."""
    held: dict[Any, torch.Tensor] = dict(_named_tensors(run))
    return torch.utils._pytree.tree_map_only(
        torch.Tensor, lambda t: held.get(places.get(id(t)), t), arguments
    )


def _named_tensors(module: nn.Module) -> Iterator[tuple[tuple[str, str], torch.Tensor]]:
    """Yield the tensors of a module and of its parts, each with the names of the part and of the tensor."""
    for name, part in module.named_modules(remove_duplicate=False):
        for store in (part._parameters, part._buffers, vars(part)):
            tensors = ((key, t) for key, t in store.items() if isinstance(t, torch.Tensor))
            yield from (((name, key), t) for key, t in tensors)


def _lend_state(owner: nn.Module, to: nn.Module) -> None:
    """Give a module the tensors of another one under the names that both have."""
    parts = dict(to.named_modules(remove_duplicate=False))
    for name, part in owner.named_modules(remove_duplicate=False):
        for store in ("_parameters", "_buffers", "__dict__") if name in parts else ():
            theirs, ours = getattr(parts[name], store), getattr(part, store)
            lent = {key: t for key, t in ours.items() if key in theirs}
            theirs.update({key: t for key, t in lent.items() if t is None or hasattr(t, "dtype")})


@transform(
    "module",
    "nonstrict+preserve:unflatten",
    in_eager=True,
    calls_often=True,
    not_promised=("hierarchy", "edits", "deviations"),
    cost=80,
)
def repeated(module: nn.Module) -> nn.Module:
    """The hundredth call works as the first one did."""

    class Repeated(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = module

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            for _ in range(33):
                other_args, other_kwargs = copy.deepcopy((args, kwargs))
                self.module(*other_args, **other_kwargs)
            return self.module(*args, **kwargs)

    return Repeated()


# Without named state, and without the guards of ep.module().
@transform(
    "module",
    *("nonstrict:module", "strict:module"),
    alone=True,
    runner="module",
    not_promised=("hierarchy", "state", "gradients", "edits", "deviations", "predictions"),
    cost=10,
)
def lifted(program: ExportedProgram) -> nn.Module:
    """The program's own graph, called with its state as the signature says, computes what eager does."""

    class Lifted(torch.nn.Module):
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            # Repro files contain this text.
            from torch.export._tree_utils import reorder_kwargs

            kwargs = reorder_kwargs(kwargs, program.call_spec.in_spec)
            given = iter(torch.utils._pytree.tree_leaves((args, kwargs)))
            state = {**program.constants, **program.state_dict}
            inputs = {}
            for spec in program.graph_signature.input_specs:
                user_input = spec.kind.name == "USER_INPUT"
                inputs[spec.arg.name] = next(given) if user_input else state[spec.target]
            outputs = program.graph_module(*inputs.values())
            returned = []
            for spec, value in zip(program.graph_signature.output_specs, outputs, strict=True):
                if spec.kind.name == "USER_OUTPUT":
                    returned.append(value)
                else:  # what a functional graph writes back
                    written = inputs if spec.kind.name == "USER_INPUT_MUTATION" else state
                    written[spec.target].detach().copy_(value.detach())
            return torch.utils._pytree.tree_unflatten(returned, program.call_spec.out_spec)

    return Lifted()
