"""Observation: all that was seen when one path ran one case. Plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from traceback import walk_tb
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch._C import _len_torch_function_stack
from torch.nn.modules.module import _global_buffer_registration_hooks
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

from harness.isolation import autocast_depth
from harness.memory import NO_MEMORY, Memory
from harness.snapshot import State, TensorSnapshot, Tree, python_value, state_snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torch.export import ExportedProgram

    from harness.findings import Stage
    from harness.gradients import Gradients
    from harness.inputs import Inputs
    from harness.memory import Poke
    from harness.structure import Exported, Hierarchy, Rebuilt

_TORCH = str(Path(torch.__file__).parent)


@dataclass(frozen=True)
class Failure:
    """An exception, without its traceback: that would keep the model and its tensors alive."""

    stage: Stage
    types: tuple[str, ...]
    """Qualified names of the exception's class and its bases, most derived first."""
    message: str
    frames: tuple[str, ...]
    """``file:function`` of the innermost telling frames inside torch, innermost last."""

    @property
    def name(self) -> str:
        """The exception class, as one would write it in an ``except``."""
        return self.types[0].rpartition(".")[2]


# Frames that any error passes through: they name no cause.
_PLUMBING = {
    "__init__.py:export",
    "_trace.py:_export",
    "_trace.py:_export_for_training",
    "_trace.py:wrapper",
    "exported_program.py:wrapper",
    "unflatten.py:forward",
    "_ops.py",
    "_stats.py",
    "_contextlib.py",
    "_utils.py",
    "_utils_internal.py",
    "interpreter.py",
    "graph_module.py",
    "module.py",
    "functional.py",
    "eval_frame.py",
}


def is_plumbing(frame: str) -> bool:
    """Whether a frame is one that says nothing about where an error comes from."""
    return frame in _PLUMBING or frame.partition(":")[0] in _PLUMBING


def failure(error: BaseException, stage: Stage) -> Failure:
    """Write down an exception."""
    frames = [
        f"{Path(frame.f_code.co_filename).name}:{frame.f_code.co_name}"
        for frame, _ in walk_tb(error.__traceback__)
        if frame.f_code.co_filename.startswith(_TORCH)
    ]
    telling = [frame for frame in frames if not is_plumbing(frame)]
    return Failure(
        stage=stage,
        types=tuple(
            f"{base.__module__}.{base.__qualname__}".removeprefix("builtins.")
            for base in type(error).__mro__[:-2]  # BaseException and object say nothing
        ),
        message=str(error),
        frames=tuple((telling or frames)[-3:]),
    )


@dataclass(frozen=True)
class Compilation:
    """One frame of Python that Dynamo compiled, or tried to."""

    code: str
    """Name of the code object."""
    file: str
    """Its file: a path inside torch, or ``program``."""
    because: str = ""
    """The guard that turned the call away from what had been compiled of this code; empty the first time."""
    broke: tuple[str, ...] = ()
    """What Dynamo did not take: the first line of each reason for a graph break or for giving up."""


@dataclass(frozen=True)
class Aftermath:
    """What else a call may leave behind than inputs and state; text that compares from run to run."""

    ambient: Mapping[str, object]
    """As in World."""
    attributes: Mapping[str, str]
    """Attributes, training flags and the number of hooks of all modules."""


@dataclass(frozen=True)
class Call:
    """One call: either outputs or a failure, and the world after it."""

    inputs: Tree
    """The pytree ``(args, kwargs)`` after the call."""
    state: State
    """State after the call; who is who is not looked at again."""
    outputs: Tree | None = None
    failure: Failure | None = None
    probe: bool = False
    """Whether the inputs were a probe rather than like the example."""
    memory: Memory = NO_MEMORY
    """Which outputs are, or live in the memory of, other tensors."""
    compiled: tuple[Compilation, ...] = ()
    """Of a path that compiles as it runs: what it compiled in this call."""
    aftermath: Aftermath | None = None
    """Of a path that promises to do all that Python code does, and of its reference."""


@dataclass(frozen=True)
class OffSpecCall:
    """One call with inputs that leave the spec in one respect."""

    alteration: str
    """A name of harness/off_spec.py."""
    words: str
    """What is altered, for people."""
    call: Call
    inputs_before: Tree
    state_before: State


@dataclass(frozen=True)
class Placeholder:
    """One graph input: the metadata that export recorded, next to that of the real thing."""

    kind: str
    """``input``, ``parameter`` or ``buffer``."""
    where: str
    recorded: TensorSnapshot | str
    actual: TensorSnapshot | str


@dataclass(frozen=True)
class Prediction:
    """One tensor that a graph computes: as the fake tensor foretold it, and as it is."""

    node: str
    operator: str
    predicted: TensorSnapshot
    actual: TensorSnapshot


@dataclass(frozen=True)
class World:
    """What export and lowering have no business changing."""

    state: State
    training: Mapping[str, bool]
    hooks: Mapping[str, int]
    attributes: Mapping[str, str]
    inputs: Tree
    ambient: Mapping[str, object]
    """Grad mode, default dtype, autocast, the state of the global random number generator."""


@dataclass(frozen=True)
class Touch:
    """The world before and after one stage that must leave it alone."""

    stage: Stage
    before: World
    after: World
    printed: Mapping[str, str] = field(default_factory=dict)
    """What the stage wrote, by the name of the stream."""
    failed: bool = False


@dataclass(frozen=True)
class Observation:
    """Everything seen on one path. What was not reached is empty."""

    path: str
    failure: Failure | None = None
    """Why export or lowering ended the path."""
    before: State | None = None
    """State before the first call."""
    calls: tuple[Call, ...] = ()
    placeholders: tuple[Placeholder, ...] = ()
    gradients: Gradients | None = None
    """Of the first call."""
    edited: Call | None = None
    """A call after the others, made with the example once the state was edited (harness/edits.py)."""
    pokes: tuple[Poke, ...] = ()
    """Writes to the outputs of the last call that was made."""
    off_spec: tuple[OffSpecCall, ...] = ()
    """Calls that may be refused; each starts from the state that the ordinary calls left."""
    predictions: tuple[Prediction, ...] = ()
    """Of a path that runs the exported program's own graph: what its nodes were expected to be."""
    touches: tuple[Touch, ...] = ()
    dropped: frozenset[str] = frozenset()
    """Names of the model's state that are not among the graph's inputs."""
    same_operators: bool = True
    """Whether the path runs the operators that eager runs, so that results agree to the bit."""
    may_narrow: bool = False
    """Whether the program may refuse probes: the spec of dynamic shapes leaves their sizes to export."""
    assigned: frozenset[str] = frozenset()
    """Of eager only: the attributes that the model assigns and that are neither parameter nor buffer."""
    rebound: frozenset[str] = frozenset()
    """Of eager only: the parameters and buffers that the model assigns, so that they are other objects."""
    hierarchy: Hierarchy | None = None
    """Of eager only: its modules, and the calls of them in call 0."""
    exported: Exported | None = None
    rebuilt: Rebuilt | None = None
    """Of ``unflatten`` only."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Of eager only: why a model cannot be judged, or not beyond its first call."""
    restarted: bool = False
    """Of a path that compiles as it runs: whether call 1 is call 0 once more, from the same start."""
    reference: Observation | None = None
    """Of a path that runs the model itself, and promises all that Python does: what eager did that way."""


def world(model: nn.Module, inputs: Inputs, program: ExportedProgram | None = None) -> World:
    """Write down the world around an export, or around what is done with the program that came of it."""
    modules = list(model.named_modules(remove_duplicate=False))
    return World(
        state=state_snapshot(model),
        training={name: module.training for name, module in modules},
        hooks={name: _count_hooks(module) for name, module in modules},
        attributes=plain_attributes(model),
        inputs=inputs.snapshot(),
        ambient={
            **ambient(),
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
    """Return what each node is: enough to see that a graph is no longer the one it was.

    Nodes that nothing depends on do not count: torch.export clears them away whenever it comes by
    (``torch/export/_remove_auto_functionalized_pass.py`` does so in the program's own graph).
    """
    needed: set[object] = set()
    outline: list[tuple[str, str]] = []
    for node in reversed(program.graph.nodes):
        if node in needed or node.is_impure():
            needed.update(node.all_input_nodes)
            outline.append((node.op, node.name))
    return tuple(reversed(outline))


def ambient() -> dict[str, object]:
    """Write down what is switched for the whole process."""
    return {
        "grad mode": torch.is_grad_enabled(),
        "default dtype": str(torch.get_default_dtype()),
        "autocast": torch.is_autocast_enabled("cpu"),
        "depth of autocast": autocast_depth(),
        "inference mode": torch.is_inference_mode_enabled(),
        "default device": str(torch.get_default_device()),
        "anomaly mode": torch.is_anomaly_enabled(),
        "dispatch modes": len(_get_current_dispatch_mode_stack()),
        "function modes": _len_torch_function_stack(),
        "functorch level": _functorch_level(),
        "whether export is running": torch.compiler.is_exporting(),
        "hooks on all modules": len(_global_buffer_registration_hooks),
        "global random number generator": torch.get_rng_state().numpy().tobytes(),
    }


def aftermath(model: nn.Module) -> Aftermath:
    """Write down what a call has left behind besides inputs and state."""
    attributes: dict[str, str] = {}
    for prefix, module in model.named_modules(remove_duplicate=False):
        dot = f"{prefix}." if prefix else ""
        attributes[f"{dot}training"] = str(module.training)
        attributes[f"{dot}hooks"] = str(_count_hooks(module))
        for name, value in module.__dict__.items():
            if name not in _STANDARD and name not in _MARKS:
                attributes[dot + name] = _attribute(value, _describe)
    return Aftermath(ambient(), attributes)


# torch/_dynamo/eval_frame.py: OptimizedModule hands on to its module what is set on it, this mark too.
_MARKS = {"_is_torch_compile"}


def _describe(tensor: torch.Tensor) -> str:
    return f"{type(tensor).__name__} {str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"


def _identify(tensor: torch.Tensor) -> str:
    return f"Tensor@{id(tensor)}"


def _functorch_level() -> int:
    interpreter = torch._C._functorch.peek_interpreter_stack()
    return 0 if interpreter is None else int(interpreter.level())


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


def _count_hooks(module: nn.Module) -> int:
    return sum(len(getattr(module, name, ())) for name in _HOOKS)


_STANDARD = frozenset(nn.Module().__dict__)


def plain_attributes(model: nn.Module) -> dict[str, str]:
    """Attributes of all modules that are neither state nor nn.Module's own, as comparable text."""
    return {
        f"{prefix}.{name}" if prefix else name: _attribute(value)
        for prefix, module in model.named_modules(remove_duplicate=False)
        for name, value in module.__dict__.items()
        if name not in _STANDARD
    }


def held(model: nn.Module) -> list[object]:
    """Return all that a model holds: while the list lives, no other object gets the id of one of them."""
    return pytree.tree_leaves([vars(module) for module in model.modules()])


def _attribute(value: object, tensor: Callable[[torch.Tensor], str] = _identify) -> str:
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}[{', '.join(_attribute(item, tensor) for item in value)}]"
    if isinstance(value, dict):
        items = (f"{key!r}: {_attribute(item, tensor)}" for key, item in value.items())
        return f"dict{{{', '.join(items)}}}"
    if isinstance(value, torch.Tensor):
        return tensor(value)
    return python_value(value)
