"""The table of the functions of torch whose calls are judged. To add one, add an entry to APIS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from exportdiff.interfaces.checking.default_paths import DEPLOYED

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
    read: Callable[[Mapping[str, Any]], Call]
    """Takes the arguments of a call by name, with the defaults of the function."""

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


APIS = (Api("torch.export", "export", _export),)
