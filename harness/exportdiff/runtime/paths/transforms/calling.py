"""Transforms that call a module, or parts of it, in another way; eager is called in the same way."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from exportdiff.core.lazy import torch
from exportdiff.runtime.paths.transforms.table import transform

if TYPE_CHECKING:
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
                t = named[name]
                if "@" not in name and id(t) not in other:
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
    """Each child that a call runs once, run on its own, returns what eager's child returns.

    Not one with a part that others call: unflattened, calls of a part go by their number in the whole model.
    """

    # unflatten makes plain modules, for their state alone, of children that compute nothing, or compute in a
    # region of their caller. Then the child of a copy of eager runs, on this state, because a call below
    # changes the state of the model.
    plain = any(type(child) is torch.nn.Module for child in module.children())
    spare = copy.deepcopy(model) if plain else model

    class Children(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module, self.model = module, model

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            calls: dict[str, list[Any]] = {name: [] for name, _ in self.model.named_children()}
            places: dict[int, tuple[str, str]] = {}
            running: list[torch.nn.Module] = []
            parted: set[str] = set()

            def enter(part: torch.nn.Module, args: Any) -> None:
                below = [n for n, child in self.model.named_children() if part in child.modules()]
                parted.update(n for n in below if getattr(self.model, n) not in (part, *running))
                running.append(part)

            def leave(part: torch.nn.Module, args: Any, out: object) -> None:
                running.pop()

            def note(name: str) -> Any:
                def hook(child: torch.nn.Module, args: Any, kwargs: Any) -> None:
                    own = {id(t): place for place, t in state(child)}

                    aliases: dict[int, torch.Tensor] = {}

                    # A tensor of its own: what the caller does to the metadata later is another matter.
                    # One for each: what is given twice is one object.
                    def alias(t: torch.Tensor) -> Any:
                        if id(t) not in aliases:
                            aliases[id(t)] = torch.ops.aten.alias(t)
                            places.update({id(aliases[id(t)]): own[id(t)]} if id(t) in own else {})
                        return aliases[id(t)]

                    calls[name].append(torch.utils._pytree.tree_map_only(torch.Tensor, alias, (args, kwargs)))

                return hook

            def state(child: torch.nn.Module) -> Any:
                for name, part in child.named_modules(remove_duplicate=False):
                    for store in (part._parameters, part._buffers, vars(part)):
                        tensors = ((key, t) for key, t in store.items() if isinstance(t, torch.Tensor))
                        yield from (((name, key), t) for key, t in tensors)

            def given(noted: Any, run: torch.nn.Module) -> Any:
                # What is the child's own in the model is its own here: export takes both for one.
                held = dict(state(run))

                def own(t: torch.Tensor) -> torch.Tensor:
                    mine: torch.Tensor = held.get(places.get(id(t)), t)
                    return mine

                return torch.utils._pytree.tree_map_only(torch.Tensor, own, noted)

            def lend(owner: torch.nn.Module, to: torch.nn.Module) -> None:
                parts = dict(to.named_modules(remove_duplicate=False))
                for name, part in owner.named_modules(remove_duplicate=False):
                    for store in ("_parameters", "_buffers", "__dict__") if name in parts else ():
                        other, own = getattr(parts[name], store), getattr(part, store)
                        lent = {k: t for k, t in own.items() if k in other}
                        other.update({k: t for k, t in lent.items() if t is None or hasattr(t, "dtype")})

            hooks = [
                child.register_forward_pre_hook(note(name), with_kwargs=True)
                for name, child in self.model.named_children()
            ]
            for part in self.model.modules():
                hooks.append(part.register_forward_pre_hook(enter, prepend=True))
                hooks.append(part.register_forward_hook(leave))
            self.model(*args, **kwargs)
            for hook in hooks:
                hook.remove()
            once = {name: made[0] for name, made in calls.items() if len(made) == 1 and name not in parted}
            returned = {}
            for name, noted in once.items():
                child = getattr(self.module, name)
                run = getattr(spare, name) if type(child) is torch.nn.Module else child
                if run is not child:
                    lend(child, run)
                args, kwargs = given(noted, run)
                returned[name] = run(*args, **kwargs)
                if run is not child:
                    lend(run, child)
            return returned

    return Children()


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
    wants_program=True,
    runner="module",
    not_promised=("hierarchy", "state", "gradients", "edits", "deviations", "predictions"),
    cost=10,
)
def lifted(module: nn.Module, program: ExportedProgram) -> nn.Module:
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
