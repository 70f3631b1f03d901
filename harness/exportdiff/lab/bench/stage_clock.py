"""CPU time by stage, measured by wrapping the functions of the stages for the length of a ``with`` block.

The product measures nothing here and pays nothing. Every moment belongs to one stage: a stage inside another
one takes its time away from the outer one.
"""

from __future__ import annotations

import contextlib
import importlib
import time
from collections import defaultdict
from functools import reduce, wraps
from typing import TYPE_CHECKING, Any

from exportdiff.runtime.paths.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DRAW, LOAD, CHECK, OBSERVE, ATTRIBUTE = "draw", "load", "check", "observe", "attribute"
EAGER, EXPORT, LOWER, RUN, COMPILE = "eager", "export", "lower", "run", "compile"

TORCH = (EAGER, EXPORT, LOWER, RUN, COMPILE)
"""The stages that are torch's own time; the others are the harness's."""
STAGES = (DRAW, LOAD, *TORCH, OBSERVE, CHECK, ATTRIBUTE)

ENCLOSING: dict[str, str] = {
    "exportdiff.judging.verdict:observe_eager": EAGER,
    "exportdiff.runtime.paths.run.pipelined:observe_eager": EAGER,
    "exportdiff.runtime.paths.run.pipelined:_observe": RUN,
    "exportdiff.runtime.paths.run.exported:_export": EXPORT,
    "exportdiff.runtime.paths.run.exported:_lower_and_run": LOWER,
    "exportdiff.runtime.paths.run.exported:run_calls": RUN,
    "exportdiff.runtime.paths.run.exported:predictions": RUN,
}
"""By function: the stage of the time that torch takes inside it. The rest of the function observes."""

WHOLE: dict[str, str] = {
    "exportdiff.judging.verdict:_Judgement._judge_path": CHECK,
    "exportdiff.judging.verdict:_unstable": CHECK,
    "exportdiff.judging.verdict:over_paths": CHECK,
    "exportdiff.runtime.paths.run.eager:build": LOAD,
    "exportdiff.runtime.paths.run.exported:build": LOAD,
    "exportdiff.runtime.paths.run.compiled:build": LOAD,
    "exportdiff.runtime.paths.run.pipelined:build": LOAD,
}
"""By function: the stage of its time, apart from what torch takes inside."""

PARTS: dict[str, str] = {
    "exportdiff.runtime.paths.run.model_calls:_deviations": "deviating calls",
    "exportdiff.runtime.paths.run.model_calls:informative_first": "choosing deviations",
    "exportdiff.runtime.paths.run.model_calls:mutation_probes": "mutation probes",
    "exportdiff.runtime.paths.run.model_calls:gradients": "gradients",
    "exportdiff.runtime.paths.run.exported:predictions": "fake tensors",
}
"""By function: the name of a part. Its whole time counts, whatever the stages."""


class StageClock:
    """Adds up CPU seconds by stage."""

    def __init__(self) -> None:
        """Start at zero, observing."""
        self.cpu: defaultdict[str, float] = defaultdict(float)
        self.parts: defaultdict[str, float] = defaultdict(float)
        """CPU seconds by part; the stages contain them."""
        self._stack = [OBSERVE]
        self._torch = [RUN]
        self._closed = False
        self._since = time.process_time()

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the block as this stage."""
        self._enter(name)
        try:
            yield
        finally:
            self._leave()

    @contextlib.contextmanager
    def whole(self, name: str) -> Iterator[None]:
        """Count the block as this stage, whatever stages are inside it."""
        with self.stage(name):
            before, self._closed = self._closed, True
            try:
                yield
            finally:
                self._closed = before
                self._tick()

    @contextlib.contextmanager
    def enclosing(self, name: str) -> Iterator[None]:
        """Count the time that torch takes inside the block as this stage, the rest as observing."""
        self._torch.append(name)
        try:
            with self.stage(OBSERVE):
                yield
        finally:
            self._torch.pop()

    @contextlib.contextmanager
    def attached(self) -> Iterator[None]:
        """Wrap the functions of the stages, and take the harness's own stopwatch as torch's time."""
        with contextlib.ExitStack() as undo:
            for written, name in ENCLOSING.items():
                undo.enter_context(_wrapped(written, self.enclosing, name))
            for written, name in WHOLE.items():
                undo.enter_context(_wrapped(written, self.stage, name))
            undo.enter_context(_wrapped("exportdiff.runtime.paths.run.compiled:_run", self._compiling, ""))
            for written, name in PARTS.items():
                undo.enter_context(_wrapped(written, self._part, name))
            undo.enter_context(self._stopwatches())
            yield

    def stop(self) -> None:
        """Count up to now."""
        self._tick()

    @contextlib.contextmanager
    def _part(self, name: str) -> Iterator[None]:
        since = time.process_time()
        try:
            yield
        finally:
            self.parts[name] += time.process_time() - since

    def _enter(self, name: str) -> None:
        self._tick()
        self._stack.append(self._stack[-1] if self._closed else name)

    def _leave(self) -> None:
        self._tick()
        self._stack.pop()

    def _tick(self) -> None:
        now = time.process_time()
        self.cpu[self._stack[-1]] += now - self._since
        self._since = now

    @contextlib.contextmanager
    def _compiling(self, _: str, *arguments: object) -> Iterator[None]:
        # ``_run(case, path, compiler, ...)``: without a compiler it runs the eager model.
        with self.enclosing(EAGER if arguments[2] is None else COMPILE):
            yield

    @contextlib.contextmanager
    def _stopwatches(self) -> Iterator[None]:
        enter, leave = Stopwatch.__enter__, Stopwatch.__exit__

        def entered(watch: Stopwatch) -> None:
            enter(watch)
            self._enter(self._torch[-1])

        def left(watch: Stopwatch, *error: object) -> None:
            self._leave()
            leave(watch, *error)

        with _replaced(Stopwatch, "__enter__", entered), _replaced(Stopwatch, "__exit__", left):
            yield


@contextlib.contextmanager
def _wrapped(
    written: str, around: Callable[..., contextlib.AbstractContextManager[None]], name: str
) -> Iterator[None]:
    """Run the function ``module:name`` or ``module:Class.name`` inside ``around(name)``.

    ``around`` may also take the arguments of the function.
    """
    module_name, _, path = written.partition(":")
    *classes, attribute = path.split(".")
    owner = reduce(getattr, classes, importlib.import_module(module_name))
    function: Callable[..., Any] = getattr(owner, attribute)
    takes_arguments = not name

    @wraps(function)
    def measured(*args: Any, **kwargs: Any) -> Any:
        with around(name, *args) if takes_arguments else around(name):
            return function(*args, **kwargs)

    with _replaced(owner, attribute, measured):
        yield


@contextlib.contextmanager
def _replaced(owner: object, name: str, value: object) -> Iterator[None]:
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)
