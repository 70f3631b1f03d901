"""Records a model, its inputs and the state of the process, which export must not change."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
from torch.utils import _pytree as pytree

from exportdiff.runtime.observing.checkpoint import plain_objects
from exportdiff.runtime.observing.observation import Aftermath, Environment
from exportdiff.runtime.observing.parts import observing
from exportdiff.runtime.observing.process_state import read_process_state
from exportdiff.runtime.observing.python_values import python_value
from exportdiff.runtime.observing.tensors import (
    named_constants,
    named_state,
    snapshot,
    state_snapshot,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch.export import ExportedProgram

    from exportdiff.runtime.observing.arguments import Inputs


@observing("the model")
def read_environment(model: nn.Module, inputs: Inputs, program: ExportedProgram | None = None) -> Environment:
    """Record what an export, or lowering its ``program``, must not change."""
    modules = list(model.named_modules(remove_duplicate=False))
    process_state = read_process_state()
    # On a level that a failed export has left, every new tensor is a wrapper, whose data cannot be read.
    with temporarily_clear_interpreter_stack():
        state, given = state_snapshot(model), inputs.snapshot()
        held = {name: snapshot(tensor) for name, tensor in held_tensors(model)}
    return Environment(
        state=state,
        training={name: mode_of(module) for name, module in modules},
        hooks=count_hooks(model),
        attributes=plain_attributes(model),
        unregistered=unregistered_attributes(model),
        held=held,
        fakes=fakes_in_objects(model),
        inputs=given,
        process_state={
            **process_state,
            "sizes marked on the example inputs": [
                _marks(leaf) for leaf in inputs.leaves if isinstance(leaf, torch.Tensor)
            ],
            "graph of the exported program": () if program is None else graph_outline(program),
        },
    )


def _marks(tensor: torch.Tensor) -> dict[str, list[int]]:
    """Return which dimensions are marked as dynamic, or static (``torch/_dynamo/decorators.py``)."""
    sets = {name: vars(tensor).get(name) for name in _MARKED}
    return {name: sorted(dims) for name, dims in sets.items() if dims}


_MARKED = (
    "_dynamo_dynamic_indices",
    "_dynamo_weak_dynamic_indices",
    "_dynamo_unbacked_indices",
    "_dynamo_static_indices",
)


def graph_outline(program: ExportedProgram) -> tuple[tuple[str, str], ...]:
    """Return operation and name of each node: enough to notice that a graph has changed.

    Nodes that nothing depends on do not count: torch.export may remove them at any time, in the program's own
    graph (``torch/export/_remove_auto_functionalized_pass.py``).
    """
    needed: set[object] = set()
    outline: list[tuple[str, str]] = []
    for node in reversed(program.graph.nodes):
        if node in needed or node.is_impure():
            needed.update(node.all_input_nodes)
            outline.append((node.op, node.name))
    return tuple(reversed(outline))


def aftermath(model: nn.Module) -> Aftermath:
    """Record what a call has changed besides inputs and state."""
    attributes: dict[str, str] = {}
    for prefix, module in model.named_modules(remove_duplicate=False):
        dot = f"{prefix}." if prefix else ""
        attributes[f"{dot}training"] = str(mode_of(module))
        attributes[f"{dot}hooks"] = str(_count_hooks(module))
        for name, value in module.__dict__.items():
            if not _is_own(name, value) and name not in _OWN_MARKS:
                attributes[dot + name] = _attribute(value, _describe)
    return Aftermath(read_process_state(), attributes)


# torch/_dynamo/eval_frame.py: OptimizedModule sets its attributes, such as the first one, on its module too.
# The second is the id of a wrapper, which differs between copies.
_OWN_MARKS = {"_is_torch_compile", "_torchdynamo_wrapper_id"}


def _describe(tensor: torch.Tensor) -> str:
    return f"{type(tensor).__name__} {str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"


def _identify(tensor: torch.Tensor) -> str:
    return f"Tensor@{id(tensor)}"


_HOOKS = (
    "_forward_hooks",
    "_forward_pre_hooks",
    "_backward_hooks",
    "_backward_pre_hooks",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


def count_hooks(model: nn.Module) -> dict[str, int]:
    """Return how many hooks each module has, by its names."""
    return {name: _count_hooks(module) for name, module in model.named_modules(remove_duplicate=False)}


def _count_hooks(module: nn.Module) -> int:
    return sum(len(getattr(module, name, ())) for name in _HOOKS)


# The last two are those of a lazy module, which removes them at its first call (torch/nn/modules/lazy.py).
_STANDARD = frozenset((*nn.Module().__dict__, "_load_hook", "_initialize_hook"))


def _is_own(name: str, value: object) -> bool:
    """Whether torch adds the attribute to modules; a scripted one keeps each method that was looked up."""
    return name in _STANDARD or isinstance(value, torch.ScriptMethod)


def mode_of(module: nn.Module) -> bool:
    """Whether a module trains; a frozen one (``torch.jit.freeze``) has no mode, and does not."""
    return bool(getattr(module, "training", False))


@observing("an attribute of the model")
def plain_attributes(model: nn.Module) -> dict[str, str]:
    """Return the attributes of all modules as text, without state and without nn.Module's own attributes."""
    return {
        f"{prefix}.{name}" if prefix else name: _attribute(value)
        for prefix, module in model.named_modules(remove_duplicate=False)
        for name, value in module.__dict__.items()
        if not _is_own(name, value)
    }


def unregistered_attributes(model: nn.Module) -> dict[str, str]:
    """Return the attributes of unregistered modules as text, with their parameters and buffers."""
    return {
        f"{prefix}.{name}": _attribute(value)
        for prefix, module in unregistered_modules(model)
        for name, value in {**module.__dict__, **module._parameters, **module._buffers}.items()
        if not _is_own(name, value)
    }


@observing("an object that the model holds")
def object_attributes(model: nn.Module) -> dict[str, str]:
    """Return the attributes of the plain objects that a model can reach, as text.

    The keys have no meaning, but each stays the same as long as the object lives.
    """
    return {
        f"{id(each)}.{name}": _attribute(value)
        for each in plain_objects(model)
        for name, value in vars(each).items()
    }


def unregistered_modules(model: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """Yield the modules that a model holds without registering them, each once, with those below it.

    They are in lists, tuples and dicts, or attributes of the class, or were set by ``object.__setattr__``.
    A name is the expression for the module, such as ``encoder.blocks[0].linear``.
    """
    registered = dict(model.named_modules())
    seen = {id(module) for module in registered.values()}
    waiting = list(registered.items())
    while waiting:
        prefix, module = waiting.pop(0)
        for attribute, value in (*vars(module).items(), *_of_classes(module)):
            if attribute in _STANDARD or not isinstance(value, list | tuple | dict | nn.Module):
                continue
            for place, held in pytree.tree_flatten_with_path(value)[0]:
                name = f"{prefix}.{attribute}" if prefix else attribute
                if not isinstance(held, nn.Module):
                    continue
                below = held.named_modules(prefix=name + pytree.keystr(place))
                new = [(path, each) for path, each in below if id(each) not in seen]
                seen.update(id(each) for _, each in new)
                waiting += new
                yield from new


def names_of_unregistered(model: nn.Module) -> frozenset[str]:
    """Return all names of all unregistered modules.

    ``block.blocks[0]`` may also be ``block.first``, and ``twin.first`` if ``twin`` is the same module.
    """
    unregistered = dict(unregistered_modules(model))
    found = set(unregistered)
    mine = {id(module) for module in unregistered.values()}
    for prefix, module in (*model.named_modules(remove_duplicate=False), *unregistered.items()):
        for attribute, value in (*vars(module).items(), *_of_classes(module)):
            if isinstance(value, nn.Module) and id(value) in mine:
                name = f"{prefix}.{attribute}" if prefix else attribute
                found.update(path for path, _ in value.named_modules(prefix=name, remove_duplicate=False))
    return frozenset(found)


def _of_classes(module: nn.Module) -> Iterator[tuple[str, object]]:
    """Yield the attributes of a module's classes, except those of torch and those that Python adds."""
    for each in type(module).__mro__:
        if each is not object and not each.__module__.startswith("torch."):
            yield from ((name, value) for name, value in vars(each).items() if not name.startswith("__"))


def held_tensors(model: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the tensors that a model holds only in lists, tuples and dicts, such as ``caches['k']``."""
    registered = {id(tensor) for named in (named_state, named_constants) for _, tensor in named(model)}
    for prefix, module in (*model.named_modules(), *unregistered_modules(model)):
        for attribute, value in vars(module).items():
            if attribute in _STANDARD or not isinstance(value, list | tuple | dict):
                continue
            name = f"{prefix}.{attribute}" if prefix else attribute
            for place, held in pytree.tree_flatten_with_path(value)[0]:
                if isinstance(held, torch.Tensor) and id(held) not in registered:
                    yield name + pytree.keystr(place), held


def fakes_in_objects(model: Any) -> dict[str, str]:
    """Return the fake tensors that a model can reach through functions and objects that are not modules.

    A name is the expression for the tensor, such as ``model.cache.items[0]``. Functions lead to the global
    tables that they name, and to what functools.lru_cache keeps for them.
    """
    others = ("torch", "builtins", "collections", "enum", "typing", "abc", "numpy")
    tables = ("function", "_lru_cache_wrapper", "dict", "list", "set")
    found: dict[str, str] = {}
    seen: set[int] = set()
    waiting: list[tuple[str, Any, bool]] = [("model", model, False)]
    for name, value, beyond in waiting:
        if id(value) in seen:
            continue
        seen.add(id(value))
        parts: list[tuple[str, Any]] = []
        if isinstance(value, torch.Tensor):
            if beyond and isinstance(value, torch._subclasses.FakeTensor):
                found[name] = f"a fake tensor {list(value.shape)}"
        elif isinstance(value, dict):
            parts = [(f"[{key!r}]", part) for key, part in value.items()]
        elif isinstance(value, list | tuple | set):
            parts = [(f"[{place}]", part) for place, part in enumerate(value)]
        else:
            beyond = beyond or not isinstance(value, torch.nn.Module)
            kind = type(value).__name__
            if kind == "function":
                cells = [cell for cell in value.__closure__ or () if cell != type(cell)()]
                parts = [(f".__closure__[{place}]", cell.cell_contents) for place, cell in enumerate(cells)]
                if str(value.__module__).partition(".")[0] not in others:
                    named = [(key, value.__globals__.get(key)) for key in value.__code__.co_names]
                    parts += [(f".{key}", held) for key, held in named if type(held).__name__ in tables]
            elif kind == "_lru_cache_wrapper":
                parts = [(f".cached[{place}]", part) for place, part in enumerate(gc.get_referents(value))]
            elif kind in ("method", "builtin_function_or_method", "partial"):
                keys = ("__self__", "__func__", "func", "args", "keywords")
                parts = [(f".{key}", getattr(value, key, None)) for key in keys]
            owner = value if isinstance(value, type) else type(value)
            if isinstance(value, torch.nn.Module) or owner.__module__.partition(".")[0] not in others:
                parts += [(f".{key}", part) for key, part in getattr(value, "__dict__", {}).items()]
                parts += [] if isinstance(value, type) else [(".__class__", owner)]
        waiting += [(name + part, held, beyond) for part, held in parts if held is not None]
    return found


@observing("an object that the model holds")
def held_objects(model: nn.Module) -> list[object]:
    """Return all objects that a model holds. While the list lives, no new object gets one of their ids."""
    modules = [*model.modules(), *(module for _, module in unregistered_modules(model))]
    objects = plain_objects(model)
    return [*objects, *pytree.tree_leaves([vars(each) for each in (*modules, *objects)])]


def _attribute(value: object, tensor: Callable[[torch.Tensor], str] = _identify) -> str:
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}[{', '.join(_attribute(item, tensor) for item in value)}]"
    if isinstance(value, dict):
        items = (f"{key!r}: {_attribute(item, tensor)}" for key, item in value.items())
        return f"dict{{{', '.join(items)}}}"
    if isinstance(value, torch.Tensor):
        return tensor(value)
    return python_value(value)
