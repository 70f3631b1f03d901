"""Sees the calls of a test suite. Each call is judged in a copy of the process; the call itself goes on."""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import os
import sys
import threading
import traceback
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from exportdiff.interfaces.suites.after_import import after_import
from exportdiff.interfaces.suites.apis import APIS
from exportdiff.interfaces.suites.first_calls import FirstCalls
from exportdiff.interfaces.suites.judged_call import JudgedCall, Subject, Unjudgeable
from exportdiff.interfaces.suites.seen import Seen, place_of
from exportdiff.runtime.processes.child import Death
from exportdiff.runtime.processes.copied import Copy
from exportdiff.runtime.processes.limits import Limits, most_of_the_machine
from exportdiff.runtime.processes.processors import processors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from exportdiff.interfaces.checking.path_choice import Paths
    from exportdiff.interfaces.checking.report import Report
    from exportdiff.interfaces.suites.apis import Api
    from exportdiff.interfaces.suites.journal import Journal
    from exportdiff.interfaces.suites.judged_call import Place
    from exportdiff.runtime.processes.copied import Answer, CopyResult

PAUSE = 0.05
"""Seconds between two looks for a call that was judged."""


class Recorder:
    """Replaces the functions of ``APIS`` by functions that also have their calls judged."""

    def __init__(self, journal: Journal, seconds: float, paths: Paths = ()) -> None:
        """``seconds``: the limit for one call. ``paths``: instead of those of the call."""
        self.journal = journal
        self.paths = paths
        self._seconds = seconds
        self._held = -1
        self._pid = os.getpid()  # a fork of this process records nothing
        self._running: list[Copy] = []
        self._replaced: list[tuple[dict[str, Any], str, object]] = []
        self._first_calls = FirstCalls()
        self._inside = _Inside()

    def install(self) -> None:
        """Replace the functions, also in modules that have imported them already."""
        self._held = self.journal.hold()
        for api in APIS:
            after_import(api.module, functools.partial(self._replace, api))

    def _replace(self, api: Api) -> None:
        if os.getpid() != self._pid:
            return
        original = getattr(sys.modules[api.module], api.name)
        recorded = self._recorded(api, original)
        for module in list(sys.modules.values()):
            names = getattr(module, "__dict__", {})
            for name in [name for name, value in list(names.items()) if value is original]:
                self._replaced.append((names, name, original))
                names[name] = recorded

    def remove(self) -> None:
        """Restore the functions. What modules have imported in the meantime records nothing any more."""
        self._pid = 0
        self._first_calls.remove()
        while self._replaced:
            names, name, original = self._replaced.pop()
            names[name] = original

    def finish(self) -> None:
        """Wait until all calls are judged."""
        for each in self._running:
            each.wait()
        self._let_go()

    def stop(self) -> None:
        """End what still runs."""
        for each in self._running:
            each.end()
        self._let_go()

    def _let_go(self) -> None:
        self._running.clear()
        os.close(self._held)

    def _recorded(self, api: Api, original: Callable[..., object]) -> Callable[..., object]:
        signature = inspect.signature(original)

        @functools.wraps(original)
        def function(*args: Any, **kwargs: Any) -> object:
            if os.getpid() != self._pid or self._inside.another:
                return original(*args, **kwargs)
            seen = Seen(api, place_of(api, sys._getframe(1)), signature, args, kwargs)
            if not api.at_first_call:
                self._see(seen)
            with self._inside.one():
                result = original(*args, **kwargs)
            if api.at_first_call:
                self._first_calls.tell(result, functools.partial(self._see_call, seen))
            return result

        return function

    def _see_call(self, seen: Seen, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if os.getpid() == self._pid:
            self._see(replace(seen, inputs={"args": args, "kwargs": kwargs}))

    def _see(self, seen: Seen) -> None:
        try:
            # Imported once, and not in each copy. The call itself imports what this needs of torch.
            importlib.import_module("exportdiff.interfaces.suites.judging")
            self._wait_for_a_processor()

            def task(answer: Answer) -> None:
                _judge(self, seen, answer)

            finish = functools.partial(_write, self.journal, seen.place)
            limits = Limits(memory=most_of_the_machine())
            self._running.append(Copy(task, finish, self._seconds, limits))
        except Exception:  # the suite goes on as if nobody looked
            why = Unjudgeable("an error of exportdiff", traceback.format_exc())
            with contextlib.suppress(OSError):
                self.journal.write(JudgedCall(seen.place, None, unjudgeable=why))

    def _wait_for_a_processor(self) -> None:
        while len(self._running) >= processors():
            self._running[:] = [each for each in self._running if not each.wait(0)]
            if len(self._running) >= processors():
                self._running[0].wait(PAUSE)


class _Inside(threading.local):
    """Whether this thread runs a recorded function: torch.onnx.export calls torch.export.export itself."""

    another = False

    @contextlib.contextmanager
    def one(self) -> Iterator[None]:
        self.another = True
        try:
            yield
        finally:
            self.another = False


def _judge(recorder: Recorder, seen: Seen, answer: Answer) -> None:
    """Judge a call, in the copy of the process."""
    from exportdiff.interfaces.suites.judging import judge_call
    from exportdiff.interfaces.suites.subjects import subject_of

    call = seen.read()
    if isinstance(call, Unjudgeable):
        answer(call)
        return
    subject = subject_of(call, seen.place)
    answer(subject)
    if not recorder.journal.claim(subject.key):
        answer(None)
        return
    for each in judge_call(call, recorder.paths):
        answer(each)


def _write(journal: Journal, place: Place, result: CopyResult) -> None:
    """Write the result of a call, in the process that watched its copy."""
    call = JudgedCall(place, None, seconds=result.seconds)
    for answer in result.answers:
        call = _with(call, answer)
    if call.report is None and not call.again and call.unjudgeable is None:
        call = replace(call, unjudgeable=_why(result))
    journal.write(call)


def _with(call: JudgedCall, answer: object) -> JudgedCall:
    if isinstance(answer, Subject):
        return replace(call, subject=answer)
    if isinstance(answer, Unjudgeable):
        return replace(call, unjudgeable=answer)
    if answer is None:
        return replace(call, again=True)
    report: Report = answer  # type: ignore[assignment]  # the only other kind of answer
    return replace(call, report=report)


def _why(result: CopyResult) -> Unjudgeable:
    if isinstance(result.end, Death):
        hang = result.end.kind == "hang"
        return Unjudgeable("the time limit was reached" if hang else "its process ended", result.end.reason)
    error = str(result.end.error) if result.end is not None else "its process answered nothing"
    return Unjudgeable("an error of exportdiff", error)
