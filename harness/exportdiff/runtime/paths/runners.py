"""The table of runners: what turns an exported program, or a model, into the thing that is called.

One decorated function adds a runner. Its first docstring line is what users read as its promise.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from exportdiff.core.lazy import torch

if TYPE_CHECKING:
    from torch import nn
    from torch.distributed.pipelining import Pipe
    from torch.export import ExportedProgram

    from exportdiff.runtime.paths.transforms.table import Aspect

Function = Callable[..., Any]


@dataclass(frozen=True)
class Runner:
    """One runner, and how repro files write it.

    ============  ===========================================================
    mode          arguments of ``function``, and what it returns
    ============  ===========================================================
    exports       ExportedProgram -> nn.Module
    ``compile``   nn.Module -> a callable to call in its place
    ``pipeline``  nn.Module, args, kwargs -> torch.distributed.pipelining.Pipe
    ============  ===========================================================
    """

    name: str
    modes: tuple[str, ...]
    """The modes that it can follow (runtime/paths/modes.py)."""
    function: Function
    promise: str
    """What must hold for every model, in a line."""
    expression: str
    """In a repro file: the expression for what is compared with eager, from ``ep`` or from ``model``.

    It may call a function of repro/templates/runners.py.
    """
    backend: str = ""
    """Of a runner of the compile mode: the backend of torch.compile."""
    shown: bool = False
    """Whether the expression calls ``function`` itself, so that repro files contain its text."""
    cost: float | None = None
    """Milliseconds for a model of the usual size; None: the mode's cost."""
    same_operators: bool = True
    """Whether it runs the operators that eager runs."""
    not_promised: tuple[Aspect, ...] = ()
    """What is not compared, because torch does not promise it."""
    copies: bool = False
    """Whether it copies the state of the program."""
    interpreted: tuple[str, str] | None = None
    """The mode and the runner that run its graphs operator by operator, if it makes machine code of them."""
    needs: tuple[str, ...] = ()
    """Names of torch that it uses and not every supported version has; without one its paths are left out."""
    starts_from: Literal["export", "model", "file"] = "export"
    """Of a backend: what ``function`` takes. ``model``: the model, its arguments, its keyword arguments and
    the spec of dynamic shapes; it exports by itself. ``file``: a file that somebody else has made, the
    model, and what the model returns for the example."""
    in_eager: Function | None = None
    """Of a runner of the pipeline mode: what makes of a model the function that eager runs in its place."""


RUNNERS: dict[str, Runner] = {}
"""By name, in the canonical order."""


def runner(*modes: str, **options: Any) -> Callable[[Function], Function]:
    """Add the decorated function to the table, under its name. ``options``: further fields of Runner."""

    def add(function: Function) -> Function:
        promise = (function.__doc__ or "").partition("\n")[0]
        name = function.__name__
        RUNNERS[name] = Runner(name, modes, function, promise, **options)
        return function

    return add


@runner("nonstrict", "strict", "draft", "file", expression="ep.module()")
def module(program: ExportedProgram) -> nn.Module:
    """One flat graph; shares its state with the exported program."""
    return program.module()


@runner("nonstrict", "strict", "draft", "file", expression="torch.export.unflatten(ep)", copies=True)
def unflatten(program: ExportedProgram) -> nn.Module:
    """The module hierarchy, rebuilt; clones the exported program's state."""
    return torch.export.unflatten(program)


@runner("pipeline", expression="stages(model, args, kwargs)", shown=True)
def stages(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Pipe:
    """Split a model before each of its children, into the stages of a pipeline."""
    # Repro files contain this text, and it takes long to import.
    from torch.distributed.pipelining import SplitPoint, pipeline

    points = {name: SplitPoint.BEGINNING for name, _ in model.named_children()}
    return pipeline(model, args, kwargs, split_spec=points)


@runner("compile", expression="compiled(model)", backend="eager")
def compiled(model: nn.Module) -> Callable[..., object]:
    """Dynamo alone: its graphs run the operators that eager runs."""
    run: Callable[..., object] = torch.compile(model, backend="eager")
    return run


@runner(
    "compile",
    expression="compiled(model)",
    backend="aot_eager",
    cost=350,
    same_operators=False,
)
def aot_eager(model: nn.Module) -> Callable[..., object]:
    """Dynamo and AOTAutograd: functional graphs, forward and backward, run operator by operator."""
    run: Callable[..., object] = torch.compile(model, backend="aot_eager")
    return run


@runner(
    "compile",
    expression="compiled(model)",
    backend="inductor",
    cost=5000,
    same_operators=False,
    interpreted=("compile", "aot_eager"),
)
def inductor(model: nn.Module) -> Callable[..., object]:
    """All of torch.compile: graphs become machine code."""
    run: Callable[..., object] = torch.compile(model, backend="inductor")
    return run


# Machine code has no modules, no names and no autograd history. It checks its inputs only where
# AOTI_RUNTIME_CHECK_INPUTS is set (torch/_inductor/codegen/cpp_wrapper_cpu.py).
@runner(
    "aoti",
    expression="packaged(ep)",
    same_operators=False,
    interpreted=("nonstrict", "module"),
    not_promised=("hierarchy", "state", "gradients", "edits", "deviations"),
    needs=("torch._inductor.aoti_compile_and_package", "torch._inductor.aoti_load_package"),
)
def package(program: ExportedProgram) -> nn.Module:
    """Machine code: compiled by AOTInductor into a package, and loaded from it."""
    # Both import torch.
    from exportdiff.runtime.observing.caches import nothing_cached
    from exportdiff.runtime.paths.packaged import Packaged, numbers_of_eager

    with tempfile.TemporaryDirectory() as folder, nothing_cached(), numbers_of_eager():
        package = torch._inductor.aoti_compile_and_package(program, package_path=f"{folder}/model.pt2")
        return Packaged(torch._inductor.aoti_load_package(package))


@runner("compile", expression="compiled_whole(model)", backend="eager", cost=220)
def fullgraph(model: nn.Module) -> Callable[..., object]:
    """torch.compile(fullgraph=True): one graph for each call, or a refusal that says what breaks it."""
    run: Callable[..., object] = torch.compile(model, backend="eager", fullgraph=True)
    return run


def stepped(model: nn.Module) -> Callable[..., object]:
    """Return a function that trains on two microbatches, and returns the results and the gradients."""

    def run(*args: Any, **kwargs: Any) -> Any:
        model.zero_grad()
        results = []
        for one_args, one_kwargs in _microbatches(args, kwargs)[1:]:
            results.append(model(*one_args, **one_kwargs))
            loss: Any = _loss(results[-1])
            if loss.requires_grad:
                loss.backward()
        gradients = _gradients([model], _names(model))
        model.zero_grad()
        return _detached(results), gradients

    return run


@runner(
    "pipeline",
    expression="scheduled(model, args, kwargs)",
    shown=True,
    cost=250,
    in_eager=stepped,
    needs=("torch.distributed.pipelining._utils.PipeliningMetadataError",),
)
def scheduled(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[..., object]:
    """A schedule trains the stages on two microbatches: the results and gradients are those of eager."""
    # Repro files contain this text.
    import torch.distributed as dist
    from torch.distributed.pipelining import (
        ScheduleGPipe,
        ScheduleInterleaved1F1B,
        SplitPoint,
        pipeline,
    )
    from torch.testing._internal.distributed.fake_pg import FakeStore

    names = _names(model)
    points = dict.fromkeys(_parts(model)[1:], SplitPoint.BEGINNING)
    pipe = pipeline(model, args, kwargs, split_spec=points)

    def run(*args: Any, **kwargs: Any) -> Any:
        results: list[Any] = []

        def loss(result: Any, target: torch.Tensor) -> torch.Tensor:
            results.append(result)
            return _loss(result)

        (args, kwargs), *_ = _microbatches(args, kwargs)
        tensors = (t for t in torch.utils._pytree.tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor))
        device = next((t.device for t in tensors), torch.device("cpu"))
        # All stages are in this process, so nothing is sent.
        dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=1)
        try:
            stages: Any = [pipe.build_stage(number, device) for number in range(pipe.num_stages)]
            first, *others = stages
            schedule: Any = ScheduleInterleaved1F1B(stages, 2, loss, scale_grads=False) if others else None
            schedule = schedule or ScheduleGPipe(first, 2, loss, scale_grads=False)
            schedule.step(*args, target=torch.zeros(2), return_outputs=False, **kwargs)
        finally:
            dist.destroy_process_group()
        submodules = [stage.submod for stage in stages]
        gradients = _gradients(submodules, names)
        for submodule in submodules:
            submodule.zero_grad()
        return _detached(results), gradients

    return run


def _parts(model: nn.Module) -> list[str]:
    """Return the names of the children of the first module with several. A list counts as its items."""
    for name, module in model.named_modules():
        parts = []
        for child, below in module.named_children():
            items = dict(below.named_children()) if isinstance(below, torch.nn.ModuleList) else {}
            parts += [f"{child}.{item}" for item in items] or [child]
        if len(parts) > 1:
            return [f"{name}.{part}".lstrip(".") for part in parts]
    return [name for name, _ in model.named_children()]


def _microbatches(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[Any, Any]]:
    """Return a batch, and its two halves: the arguments, and the arguments with their rows in reverse."""

    def changed(given: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
        return torch.utils._pytree.tree_map(
            lambda leaf: change(leaf) if isinstance(leaf, torch.Tensor) and leaf.dim() else leaf, given
        )

    batch = changed((args, kwargs), lambda t: torch.cat([t.detach(), t.detach().flip(0)]))
    halves = (changed(batch, lambda t: t[: len(t) // 2]), changed(batch, lambda t: t[len(t) // 2 :]))
    return [batch, *halves]


def _loss(result: Any) -> torch.Tensor:
    leaves = torch.utils._pytree.tree_leaves(result)
    parts = [t.abs().sum() for t in leaves if isinstance(t, torch.Tensor) and t.requires_grad]
    return torch.stack(parts).sum() if parts else torch.zeros(())


def _names(model: nn.Module) -> dict[str, str]:
    """Return the first name of each parameter by each of its names."""
    first: dict[int, str] = {}
    named = model.named_parameters(remove_duplicate=False)
    return {name: first.setdefault(id(p), name) for name, p in named}


def _gradients(modules: list[nn.Module], names: dict[str, str]) -> dict[str, torch.Tensor]:
    """Return the gradients that flow, by the first name of the parameter; stages have copies of tied ones."""
    named = {id(p): (name, p) for module in modules for name, p in module.named_parameters()}
    found: dict[str, torch.Tensor] = {}
    for name, p in named.values():
        if p.grad is not None and p.grad.any():  # where nothing flows, a stage sends zeros
            first = names[re.sub(r"@\d+", "", name)]  # body@2.weight: of a further call of body
            found[first] = found[first] + p.grad if first in found else p.grad.clone()
    return dict(sorted(found.items()))


def _detached(results: Any) -> Any:
    return torch.utils._pytree.tree_map(
        lambda leaf: leaf.detach() if isinstance(leaf, torch.Tensor) else leaf, results
    )


_WITH_OTHER_WEIGHTS: dict[str, Any] = {
    "same_operators": False,
    "interpreted": ("nonstrict", "module"),
    "not_promised": ("hierarchy", "state", "gradients", "edits", "deviations"),
    "shown": True,
    "needs": (
        "torch._inductor.aoti_compile_and_package",
        "torch.export.pt2_archive._package.AOTICompiledModel.load_constants",
    ),
}


@runner("aoti", expression="updated(ep)", **_WITH_OTHER_WEIGHTS)
def updated(ep: ExportedProgram) -> Any:
    """Machine code that was compiled with other weights: those of the model are loaded into it."""
    made, _ = _with_other_weights(ep)
    names = made.get_constant_fqns()
    state = {name: t.detach() for name, t in ep.state_dict.items() if name in names}
    made.load_constants(state, check_full_update=True)
    return made


@runner("aoti", expression="managed(ep)", **_WITH_OTHER_WEIGHTS)
def managed(ep: ExportedProgram) -> Any:
    """Machine code that uses tensors of the caller as its weights: it sees what the caller writes to them."""
    made, others = _with_other_weights(ep)
    names = made.get_constant_fqns()
    state = {name: t for name, t in others.items() if name in names}
    made.load_constants(state, check_full_update=True, user_managed=True)
    for name, t in state.items():
        _memory(t).copy_(_memory(ep.state_dict[name]))
    made.weights = state  # the caller must keep them alive
    return made


def _with_other_weights(ep: ExportedProgram) -> tuple[Any, dict[str, torch.Tensor]]:
    """Compile a program while its state has other values, and return these as well."""
    dense = {name: t for name, t in ep.state_dict.items() if t.layout is torch.strided}
    model = {name: t.data for name, t in dense.items()}
    others = {}
    for name, t in model.items():
        memory = _memory(t)
        memory = memory * 0.5 if t.is_floating_point() or t.is_complex() else memory.clone()
        others[name] = memory.as_strided(t.shape, t.stride(), t.storage_offset())
    try:
        for name, t in dense.items():
            t.data = others[name]
        with (
            tempfile.TemporaryDirectory() as folder,
            # Random numbers are drawn as eager does.
            torch._inductor.config.patch(fallback_random=True, force_disable_caches=True),
        ):
            # By default small weights become part of the code
            # (corpora/open/package_keeps_small_weights_of_its_compilation.py).
            package = torch._inductor.aoti_compile_and_package(
                ep,
                package_path=f"{folder}/model.pt2",
                inductor_configs={"always_keep_tensor_constants": True},
            )
            made = torch._inductor.aoti_load_package(package)
    finally:
        for name, t in dense.items():
            t.data = model[name]
    return made, others


def _memory(t: torch.Tensor) -> torch.Tensor:
    """Return all of the memory in which a tensor is, without dimensions."""
    return torch.empty(0, dtype=t.dtype, device=t.device).set_(t.untyped_storage())
