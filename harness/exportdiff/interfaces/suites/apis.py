"""The table of the functions of torch whose calls are judged. To add one, add an entry to APIS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from exportdiff.interfaces.checking.default_paths import DEPLOYED
from exportdiff.interfaces.suites.judged_call import Unjudgeable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True)
class Call:
    """What one call asks torch to do. The values are those of the suite, not copies."""

    model: object
    args: object
    kwargs: object
    dynamic_shapes: object
    paths: tuple[str, ...]
    """The paths that do what the call does, and what people then do with its result."""


@dataclass(frozen=True)
class Api:
    """A function whose calls are judged."""

    module: str
    name: str
    read: Callable[[Mapping[str, Any]], Call | Unjudgeable]
    """Takes the arguments of a call by name, with the defaults of the function."""
    at_first_call: bool = False
    """Whether the function returns a compiled model, whose first call has the inputs. ``read`` then gets them
    as ``args`` and ``kwargs``."""

    def __str__(self) -> str:
        """Return how users write it."""
        return f"{self.module}.{self.name}"


def _export(given: Mapping[str, Any]) -> Call:
    mode = "strict" if given["strict"] else "nonstrict"
    paths = [path for path in DEPLOYED if path.partition(":")[0].partition("+")[0] == mode]
    if given["preserve_module_call_signature"]:
        paths.append(f"{mode}+preserve:unflatten")
    if given["prefer_deferred_runtime_asserts_over_guards"]:
        paths.append(f"{mode}+deferred:module")
    return Call(given["mod"], given["args"], given["kwargs"], given["dynamic_shapes"], tuple(paths))


FUNCTIONAL = ("aot_eager", "inductor")
"""The backends of ``torch.compile`` whose graphs come from AOTAutograd. Making machine code of them takes
most of the time limit of a call, so that is judged only where ``--paths`` names it."""


def _compile(given: Mapping[str, Any]) -> Call:
    dynamo = "compile:fullgraph" if given["fullgraph"] else "compile:compiled"
    functional = (given["backend"] or "inductor") in FUNCTIONAL
    further = ("compile:aot_eager",) if functional else ()
    return Call(given["model"], given["args"], given["kwargs"], None, (dynamo, *further))


ONNX = "onnx"


def _onnx(given: Mapping[str, Any]) -> Call | Unjudgeable:
    # Here, because it needs all of torch, and this file is imported while torch is.
    from exportdiff.runtime.paths import backends

    if not given["dynamo"]:
        return Unjudgeable("torch.onnx.export without dynamo uses TorchScript")
    backend = backends.backend(ONNX)
    if backend is None or backends.lacking(ONNX):
        return Unjudgeable("a package is missing", backend.install if backend is not None else ONNX)
    program = "onnx:program" if given["optimize"] else "onnx:plain"
    file = () if given["f"] is None else ("onnx:external",) if given["external_data"] else ("onnx:file",)
    paths = ("nonstrict:module", "nonstrict+decompose:module", program, *file)
    args = given["args"] if isinstance(given["args"], tuple) else (given["args"],)
    return Call(given["model"], args, given["kwargs"], given["dynamic_shapes"], paths)


APIS = (
    Api("torch.export", "export", _export),
    Api("torch", "compile", _compile, at_first_call=True),
    Api("torch.onnx", "export", _onnx),
)
