"""What a package states about a backend: how it runs exported programs, and what it promises.

Nothing here imports torch: commands read a backend to list its paths.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

from exportdiff.judging.exemptions.refusal import DocumentedRefusal
from exportdiff.runtime.paths import backends
from exportdiff.runtime.paths.modes import MODES, Export, Mode
from exportdiff.runtime.paths.runners import Runner

if TYPE_CHECKING:
    from exportdiff.core.finding import Stage
    from exportdiff.core.path import Path
    from exportdiff.judging.exemptions.limits.limit import Comparison, Limit
    from exportdiff.runtime.paths.transforms.table import Aspect

Promise: TypeAlias = Literal[
    "state between calls",
    "in-place writes",
    "aliasing",
    "gradients",
    "layout",
    "dynamic sizes",
    "fixed sizes",
    "Python values",
    "keyword order",
    "random numbers",
]
"""What a backend may promise to do as eager does. What it does not promise is not judged.

``state between calls``: later calls see what a call wrote to the state.
``in-place writes``: after a call, the inputs are what eager made of them.
``aliasing``: outputs share memory with the tensors that they share it with in eager.
``gradients``: results require grad, and a backward pass works.
``layout``: strides and offsets of outputs.
``dynamic sizes``: calls with the sizes that the dynamic shapes allow.
``fixed sizes``: a call with another size that export fixed is refused, or answered as eager does.
``Python values``: the same for another Python value among the arguments.
``keyword order``: keyword arguments may come in another order.
``random numbers``: they are those of eager, from the same seed.
"""

PROMISES: tuple[Promise, ...] = get_args(Promise)

_ASPECTS: Mapping[Promise, tuple[Aspect, ...]] = {
    "state between calls": ("updates",),
    "in-place writes": ("writes",),
    "aliasing": ("aliasing",),
    "gradients": ("gradients", "history"),
    "layout": ("layout",),
    "dynamic sizes": ("sizes",),
}
"""By promise: the parts of an observation that are not compared without it."""

_DEVIATIONS: Mapping[Promise, tuple[str, ...]] = {
    "fixed sizes": ("size", "length", "rank"),
    "Python values": ("flag", "number", "float", "int", "bool", "text", "member", "none"),
    "keyword order": ("order",),
}
"""By promise: the kinds of deviation that are tried with it."""

_NEVER: tuple[Aspect, ...] = ("hierarchy", "state", "edits", "predictions")
"""What no backend has: modules, tensors with the names of eager's, and values of single operators."""

Program: TypeAlias = Any
"""A ``torch.export.ExportedProgram``; its class is not imported here."""


@dataclass
class Backend:
    """A backend: the paths that it adds, and what its documentation says about them.

    The entry point of the group ``exportdiff.backends`` that names it has its name.
    """

    name: str
    """The mode of its paths."""
    install: str
    """The command that installs it: ``pip install 'exportdiff[onnx]'``."""
    requires: tuple[str, ...] = ()
    """The modules that it imports; if one is not installed, its paths cannot be chosen."""
    packages: tuple[str, ...] = ()
    """The distributions that a repro file needs besides torch; their installed versions are recorded."""
    promises: tuple[Promise, ...] = ()
    """What is judged besides the values of the outputs."""
    export: Export | None = None
    """The function that exports: it takes the model, its inputs, the dynamic shapes and further arguments of
    torch.export.export, and returns an ExportedProgram. None: a non-strict export."""
    decomposes: bool = False
    """Whether it begins with ``ep.run_decompositions``, so that what fails there fails on its paths too."""
    cost: float = 1000.0
    """Milliseconds of a path, for a model of the usual size."""
    tolerance: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """By dtype: the relative and absolute difference from the float64 reference that counts as rounding."""
    runners: dict[str, Runner] = field(default_factory=dict, init=False)
    refusals: tuple[DocumentedRefusal, ...] = field(default=(), init=False)
    _limits: list[tuple[Callable[[Comparison], bool], str, str]] = field(default_factory=list, init=False)
    _preparations: list[Callable[[], None]] = field(default_factory=list, init=False)
    """What is still to do before a path of the backend runs in this process."""

    def __post_init__(self) -> None:
        """Raise ValueError for a promise that does not exist."""
        unknown = [each for each in self.promises if each not in PROMISES]
        if unknown:
            raise ValueError(
                f"backend {self.name!r}: no promise {unknown[0]!r}; there are {', '.join(PROMISES)}"
            )

    @property
    def mode(self) -> Mode:
        """The mode that it adds."""
        kinds = frozenset(kind for each in self.promises for kind in _DEVIATIONS.get(each, ()))
        export = self.export or MODES["nonstrict"].export
        return Mode(self.name, self.cost, export, deviations=kinds)

    @property
    def not_promised(self) -> tuple[Promise, ...]:
        """What is not judged."""
        return tuple(each for each in PROMISES if each not in self.promises)

    def runner(self, function: Callable[[Program], Callable[..., object]]) -> Callable[[Program], Any]:
        """Add a function from an exported program to a callable; its name becomes the end of a path.

        Repro files contain its text, and that of the functions of its module that it calls and whose names
        begin with ``_``. So it imports inside its body what it needs, and uses nothing else of its module.
        The callable takes what the model takes, and returns what it returns, in the same containers.
        """
        self._add(function, f"{function.__name__}(ep)", "export")
        return function

    def from_model(self, function: Callable[..., Callable[..., object]]) -> Callable[..., Any]:
        """Add a function that exports by itself, and returns a callable; its name becomes the end of a path.

        It takes the model, the positional and the keyword arguments of the example, and the spec of dynamic
        shapes (None: there is none). For the rest, see ``runner``.
        """
        self._add(function, f"{function.__name__}(model, args, kwargs, shapes)", "model")
        return function

    def saved(self, function: Callable[..., Callable[..., object]]) -> Callable[..., Any]:
        """Add a function that runs a file that somebody else has made; its name becomes the end of a path.

        It takes the path of the file, the model, and what the model returns for the example. The callable
        takes what the model takes, and returns what it returns, in the same containers.
        """
        self._add(function, "", "file")
        return function

    def prepare(self, function: Callable[[], None]) -> Callable[[], None]:
        """Call a function once in each process, before a path of the backend runs.

        It may only save time: repro files do not contain it.
        """
        self._preparations.append(function)
        return function

    def _prepared(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def run(*given: Any) -> Any:
            while self._preparations:
                self._preparations.pop()()
            return function(*given)

        return run

    def _add(
        self, function: Callable[..., Any], expression: str, starts_from: Literal["export", "model", "file"]
    ) -> None:
        aspects = [aspect for each in self.not_promised for aspect in _ASPECTS.get(each, ())]
        deviating = () if self.mode.deviations else ("deviations",)
        name, promise = function.__name__, (function.__doc__ or "").partition("\n")[0]
        self.runners[name] = Runner(
            name,
            (self.name,),
            self._prepared(function),
            promise,
            expression,
            starts_from=starts_from,
            shown=True,
            same_operators=False,
            not_promised=(*_NEVER, *aspects, *cast("tuple[Aspect, ...]", deviating)),
            interpreted=("nonstrict", "module"),
        )

    def refuses(
        self, name: str, type: str, documented: str, *, pattern: str = "", stage: Stage = "lower"
    ) -> None:
        """Add an exception with which the backend refuses a model on purpose.

        ``type``: the qualified name of its class. ``pattern``: a regular expression of its message.
        ``documented``: where the backend says so.
        """
        self.refusals = (*self.refusals, DocumentedRefusal(name, type, documented, pattern, stage))

    def limit(
        self, *, says: str, documented: str
    ) -> Callable[[Callable[[Comparison], bool]], Callable[[Comparison], bool]]:
        """Add the decorated function: whether a difference is a documented limit of the backend.

        ``says``: what the backend does not do, in one sentence. ``documented``: where it says so.
        """

        def add(covers: Callable[[Comparison], bool]) -> Callable[[Comparison], bool]:
            self._limits.append((covers, says, documented))
            return covers

        return add

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The documented limits."""
        from exportdiff.judging.exemptions.limits.limit import Limit  # it imports torch

        return tuple(
            Limit(covers.__name__.replace("_", "-"), says, documented, covers)
            for covers, says, documented in self._limits
        )


def backend_of(path: Path) -> Backend | None:
    """Return the backend that a path runs on; None for a path of torch."""
    found = backends.backend(path.mode)
    if found is not None and not isinstance(found, Backend):
        raise ValueError(f"the backend {path.mode!r} is a {type(found).__name__}, not an exportdiff.Backend")
    return found
