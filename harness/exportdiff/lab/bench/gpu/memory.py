"""The task that asks whether memory of the device is freed when model, program and module are gone."""

from __future__ import annotations

import gc
import tempfile
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from exportdiff.lab.bench.gpu.found import Difference, Ran
from exportdiff.runtime.observing.caches import forget_compiled, forget_last_export

if TYPE_CHECKING:
    from collections.abc import Sequence

    Way = Callable[[nn.Module, torch.Tensor], object]

WIDTH = 1024
"""One layer has WIDTH * WIDTH weights: 4 MiB."""


def _packaged(model: nn.Module, x: torch.Tensor) -> object:
    with tempfile.NamedTemporaryFile(suffix=".pt2") as file:
        program = torch.export.export(model, (x,))
        return torch._inductor.aoti_load_package(
            torch._inductor.aoti_compile_and_package(program, package_path=file.name)
        )


WAYS: dict[str, Way] = {
    "nonstrict:module": lambda model, x: torch.export.export(model, (x,), strict=False).module(),
    "strict:module": lambda model, x: torch.export.export(model, (x,), strict=True).module(),
    "nonstrict:unflatten": lambda model, x: torch.export.unflatten(torch.export.export(model, (x,))),
    "nonstrict+decompose:module": lambda model, x: (
        torch.export.export(model, (x,)).run_decompositions().module()
    ),
    "compile:aot_eager": lambda model, x: torch.compile(model, backend="aot_eager"),
    "compile:inductor": lambda model, x: torch.compile(model),
    "aoti:package": _packaged,
}
"""From a model and its input to what is called, by path."""
COMPILES = ("compile:inductor", "aoti:package")


def is_freed(device: str, seed: int, index: int) -> Ran:
    """Make and call something, drop it, and ask what is left: first on the device, then on the CPU."""
    path = list(WAYS)[index]
    if path in COMPILES and device not in ("cuda", "cpu"):
        return Ran()
    left = _left(path, device)
    if not left:
        return Ran(1, 1)
    if _left(path, "cpu"):
        return Ran(1, 1, shared=1)
    return Ran(1, 1, differences=(Difference("memory", f"{path}@{device}", "memory", left, f"# {path}\n"),))


def _left(path: str, device: str) -> str:
    """Return what is left of the model; empty if all of it is freed."""
    _used(path, device)  # the first use fills caches and workspaces
    before = _allocated(device)
    alive = _used(path, device)
    names = [name for name, parameter in alive if parameter() is not None]
    more = _allocated(device) - before
    if names:
        return f"parameters {', '.join(names)} are alive, {more / 2**20:.1f} MiB more are allocated"
    return f"{more / 2**20:.1f} MiB more are allocated" if more >= WIDTH * WIDTH * 4 else ""


def _used(path: str, device: str) -> Sequence[tuple[str, weakref.ref[Any]]]:
    """Make and call; return weak references to the parameters, after everything was dropped."""
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH)).to(device)
    x = torch.ones(2, WIDTH, device=device)
    with torch.no_grad():
        made: Any = WAYS[path](model, x)
        made(x)
    references = [(name, weakref.ref(parameter)) for name, parameter in model.named_parameters()]
    del model, made, x
    forget_compiled()
    forget_last_export()
    for _ in range(3):
        gc.collect()
    return references


def _allocated(device: str) -> int:
    """Return the bytes of the device that tensors use; 0 where torch does not count them."""
    return torch.cuda.memory_allocated() if device == "cuda" else 0
