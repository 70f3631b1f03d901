"""Transforms of the module that a runner returns."""

from __future__ import annotations

import copy
import re
import tempfile
from typing import TYPE_CHECKING, Any

from exportdiff.core.lazy import torch
from exportdiff.runtime.paths.transforms.table import transform

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import nn


# By default not for unflatten: its result can never be copied, so that no user's model would pass
# (corpora/open/unflatten_cannot_be_copied.py).
@transform("module", "nonstrict:module", copies=True, cost=35)
def duplicate(module: nn.Module) -> nn.Module:
    """A deep copy of what runs behaves like it, and shares no state with it."""
    return copy.deepcopy(module)


@transform("module", "nonstrict:unflatten", copies=True, cost=35)
def pickle(module: nn.Module) -> nn.Module:
    """What runs can be pickled and unpickled, and shares no state with the copy."""
    with tempfile.TemporaryFile() as file:
        torch.save(module, file)
        file.seek(0)
        loaded: nn.Module = torch.load(file, weights_only=False)
    return loaded


@transform("module", "nonstrict:module", "nonstrict:unflatten", in_eager=True, cost=5)
def retie(module: nn.Module) -> nn.Module:
    """A state dict loaded after export acts through every name and in every call variant."""
    state = _without_call_variants(module.state_dict())
    # get_extra_state returns any object.
    floats = {n: t for n, t in state.items() if isinstance(t, torch.Tensor) and t.is_floating_point()}
    halved = {**state, **{n: t * 0.5 for n, t in floats.items()}}
    module.load_state_dict(halved, strict=False)
    return module


def _without_call_variants(state: dict[str, Any]) -> dict[str, Any]:
    """Leave out foo@1.weight: a further name of the tensor foo.weight (torch/export/unflatten.py)."""
    return {name: t for name, t in state.items() if not re.search(r"@\d+", name)}


@transform(
    "module",
    *("nonstrict:module", "nonstrict:unflatten", "nonstrict+preserve:unflatten"),
    in_eager=True,
    # The graph has recorded where in its memory the state was. What shared memory no longer does, in eager
    # either: an edit acts on other names than before.
    not_promised=("predictions", "edits"),
    cost=5,
)
def converted(module: nn.Module) -> nn.Module:
    """A function applied to the state, as by to() and double(), acts on every name and every call variant."""
    # A buffer with two names stays one tensor, although nn.Module makes two of it; and a module with two
    # parents is visited twice.
    done: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def convert(t: torch.Tensor) -> torch.Tensor:
        if id(t) not in done:
            new = (t.double() * 0.5).to(t.dtype) if t.is_floating_point() else t
            done[id(t)] = (t, new)
            done[id(new)] = (new, new)
        return done[id(t)][1]

    apply: Any = module._apply  # torch leaves it without types
    _change_untrained(module, lambda: apply(convert))
    _change_attributes(module, {old: new for old, (_, new) in done.items()})
    return module


@transform(
    "module",
    *("nonstrict:module", "nonstrict:unflatten", "nonstrict+preserve:unflatten", "nonstrict+reload:module"),
    in_eager=True,
    not_promised=("predictions", "edits"),
    cost=5,
)
def cast(module: nn.Module) -> nn.Module:
    """After double() and float(), what is one module in the model is still one in the program."""
    # get_extra_state returns any object.
    state = [t for t in module.state_dict().values() if isinstance(t, torch.Tensor)]
    if any(t.is_floating_point() and t.dtype is not torch.float32 for t in state):
        return module  # float() would not undo double()
    stores = [store for part in module.modules() for store in (part._parameters, part._buffers)]
    before = [(store, name, t) for store in stores for name, t in store.items() if t is not None]
    _change_untrained(module, lambda: module.double().float())
    _change_attributes(module, {id(t): store[name] for store, name, t in before})
    return module


def _change_attributes(module: nn.Module, new: dict[int, Any]) -> None:
    """Export treats a plain attribute that is a buffer or a parameter as that: give it the new tensor.

    ``new``: by the id of the old tensor, which must be alive.
    """
    for part in module.modules():
        vars(part).update({name: new[id(t)] for name, t in vars(part).items() if id(t) in new})


def _change_untrained(module: nn.Module, change: Callable[[], object]) -> None:
    """Change the state of a module that is in eval mode meanwhile.

    A recurrent layer reads its weights when they change, and in training spectral_norm then updates its
    state. The change itself does not do that, and the exported model has no such layer.
    """
    modes = [(part, part.training) for part in module.modules()]
    for part, _ in modes:
        part.training = False
    change()
    for part, training in modes:
        part.training = training


@transform(
    "module",
    *("nonstrict:module", "nonstrict:unflatten", "strict:module", "nonstrict+preserve:unflatten"),
    wants_model=True,
    cost=10,
)
def load_strictly(module: nn.Module, model: nn.Module) -> nn.Module:
    """What runs loads the state dict of eager: no name is missing, and none is unexpected."""
    # "a dictionary containing tensor values of all lifted parameters and buffers" (ExportedProgram)
    state = {name: t for name, t in model.state_dict().items() if isinstance(t, torch.Tensor)}
    # A call variant (foo@1.weight) is a further name of the same tensor (torch/export/unflatten.py).
    plain = {name: re.sub(r"@\d+", "", name) for name in module.state_dict()}
    variants = {name: state[base] for name, base in plain.items() if name != base and base in state}
    module.load_state_dict({**state, **variants})
    return module


@transform(
    "module",
    *("nonstrict:module", "nonstrict:unflatten", "nonstrict+preserve:unflatten", "nonstrict+reload:module"),
    wants_model=True,
    cost=10,
)
def load_back(module: nn.Module, model: nn.Module) -> nn.Module:
    """Eager loads the state dict of what runs: no name is missing, and none is unexpected."""
    extra = {name: value for name, value in model.state_dict().items() if not isinstance(value, torch.Tensor)}
    model.load_state_dict({**_without_call_variants(module.state_dict()), **extra})
    return module


_replacing = transform(
    "module",
    "nonstrict+preserve:unflatten",
    wants_model=True,
    runner="unflatten",
    after="preserve",
    not_promised=("hierarchy",),
    cost=15,
)


@_replacing
def swap(module: nn.Module, model: nn.Module) -> nn.Module:
    """All children of an unflattened model can be replaced by their eager originals."""
    return _replaced(module, model, [name for name, child in model._modules.items() if child is not None])


@_replacing
def swap_leaves(module: nn.Module, model: nn.Module) -> nn.Module:
    """All modules without children of an unflattened model can be replaced by their eager originals."""
    named = model.named_modules(remove_duplicate=False)
    return _replaced(module, model, [name for name, m in named if name and not m._modules])


@_replacing
def swap_one(module: nn.Module, model: nn.Module) -> nn.Module:
    """One submodule of an unflattened model can be replaced by its eager original."""
    names = [name for name, _ in model.named_modules() if name]
    return _replaced(module, model, names[len(names) // 2 :][:1])


def _replaced(module: nn.Module, model: nn.Module, names: list[str]) -> nn.Module:
    """Replace submodules by those of another model, for all calls; and all of the state by that of the model.

    If the rest kept its state, tensors that share memory in the model would no longer share it.
    """
    originals = dict(model.named_modules(remove_duplicate=False))
    plain = {path: re.sub(r"@\d+", "", path) for path, _ in module.named_modules(remove_duplicate=False)}
    replaced: dict[object, tuple[torch.Tensor, torch.Tensor]] = {}
    nameless: list[torch.Tensor] = []
    for path, base in plain.items():
        theirs = originals.get(base, torch.nn.Module())
        state = {**theirs._parameters, **theirs._buffers, **vars(theirs)}
        ours = module.get_submodule(path)
        # A dispatcher of calls has a module for each, which it does not register.
        calls = (ours, *getattr(ours, "_call_modules", ()))
        for store in (store for m in calls for store in (m._parameters, m._buffers, vars(m))):
            held = {name: value for name, value in store.items() if isinstance(value, torch.Tensor)}
            for name, value in held.items():
                other = state.get(name)
                if not isinstance(other, torch.Tensor):
                    nameless.append(value)
                    continue
                store[name] = other
                if value.layout is torch.strided:
                    replaced.setdefault((value.untyped_storage()._cdata, value.dtype), (value, other))
    for value in nameless:  # in a list, for example: only the exported model has a name for it
        memory = value.layout is torch.strided and (value.untyped_storage()._cdata, value.dtype)
        if memory in replaced:
            old, new = replaced[memory]
            offset = new.storage_offset() + value.storage_offset() - old.storage_offset()
            view = torch.empty(0, dtype=value.dtype, device=value.device)
            value.data = view.set_(new.untyped_storage(), offset, value.shape, value.stride())
    # Export keeps no signature for a call within a no_grad block, for example. Such a call is part of the
    # block, and what unflatten has under the name of the module takes the results of the block.
    calls = getattr(module, "module_call_graph", ())
    kept = {re.sub(r"@\d+", "", call.fqn) for call in calls if call.signature is not None}
    for name in names:
        for path in [path for path, base in plain.items() if base == name]:
            if calls and name not in kept and hasattr(module.get_submodule(path), "graph"):
                continue
            parent, _, last = path.rpartition(".")
            setattr(module.get_submodule(parent), last, model.get_submodule(name))
    return module
