"""The program of an entry as people write it, and what it shows when it runs.

For reports and for tests of PyTorch's: see ``demonstration`` for where the program comes from.
"""

from __future__ import annotations

import ast
import io
import json
import pathlib
import re
import tempfile
import tokenize
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.core.program_text.parsing import parse
from exportdiff.known.upstream.demonstration import Demonstration, Equal, Holds, Raises
from exportdiff.runtime.processes.script import run_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exportdiff.runtime.processes.script import Within

FRAMES = 12
"""Of a traceback, the last of which are shown."""

_RUNNER = """\
import json, pathlib, runpy, sys, traceback

import torch

def right(shown):
    if len(shown) < 2:
        return [bool(each) for each in shown] == {wanted!r}
    expected, seen = shown
    if torch.is_tensor(expected) and torch.is_tensor(seen):
        try:
            torch.testing.assert_close(seen, expected, equal_nan=True)
        except AssertionError:
            return False
        return True
    return bool(expected == seen)

def tell(**what):
    pathlib.Path({answer!r}).write_text(json.dumps(what))

try:
    after = runpy.run_path({file!r})
except BaseException as error:
    tb = error.__traceback__
    while tb is not None and tb.tb_frame.f_code.co_filename != {file!r}:
        tb = tb.tb_next
    trace = "".join(traceback.format_exception(type(error), error, tb, limit=-{frames}, chain=False))
    kind = type(error)
    at = tb.tb_lineno if tb is not None else 0
    name = kind.__name__ if kind.__module__ == "builtins" else kind.__module__ + "." + kind.__qualname__
    tell(error=name, message=str(error), traceback=trace, line=at)
else:
    shown = after["_shown"]
    tell(shown=[str(each) for each in shown], right=right(shown))
"""


@dataclass(frozen=True)
class Shown:
    """What a program showed in a fresh process."""

    right: bool = False
    """Whether what is seen is what is expected, as PyTorch's tests compare."""
    values: tuple[str, ...] = ()
    """What is expected and what is seen, or the value of a condition; empty: it raised."""
    error: str = ""
    """The exception that it raised, with its module: ``torch._dynamo.exc.UserError``."""
    message: str = ""
    traceback: str = ""
    step: int = 0
    """Which of the program's steps raised it, from 0 on."""


def program_text(demo: Demonstration, *, eager: bool = False) -> str:
    """Return the program: imports, classes, the calls, and prints of what shows the bug.

    ``eager``: of a program that raises, call the model itself as well, where it is at hand.
    """
    return "\n".join([*_head(demo), *_calls(demo, eager), *_prints(demo)])


def run_program(demo: Demonstration, within: Within = nullcontext, *, eager: bool = False) -> Shown:
    """Run the program in a fresh process; what it raises is an answer. See ``run_file`` for ``within``."""
    with tempfile.TemporaryDirectory(prefix="exportdiff-") as folder:
        root = pathlib.Path(folder)
        file, runner, answer = root / "repro.py", root / "run.py", root / "answer.json"
        head = "\n".join(_head(demo)).splitlines()
        steps = _eager_first(demo) if eager else demo.steps
        lines = [*head, *steps, f"_shown = [{', '.join(_compared(demo))}]", ""]
        file.write_text("\n".join(lines), encoding="utf-8")
        runner.write_text(
            _RUNNER.format(answer=str(answer), file=str(file), frames=FRAMES, wanted=_wanted(demo)),
            encoding="utf-8",
        )
        run = run_file(runner, within=within)
        if not answer.exists():
            return Shown(message=run.problem or run.last_line)
        told = json.loads(answer.read_text(encoding="utf-8"))
        trace = _shortened(told.get("traceback", ""), folder)
        step = _step_at(told.get("line", 0) - len(head), steps)
        return Shown(
            told.get("right", False),
            tuple(told.get("shown", ())),
            told.get("error", ""),
            told.get("message", ""),
            trace,
            step,
        )


def _wanted(demo: Demonstration) -> list[bool]:
    return [demo.outcome.wanted] if isinstance(demo.outcome, Holds) else []


def styled(code: str) -> str:
    """Return code with the quotes that PyTorch's own code has."""
    out = []
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        text = token.string
        if token.type == tokenize.STRING and re.fullmatch(r"'[^'\"\\]*'", text):
            text = f'"{text[1:-1]}"'
        out.append((token.type, text, token.start, token.end, token.line))
    return str(tokenize.untokenize(tokenize.TokenInfo(*each) for each in out))


def _head(demo: Demonstration) -> Iterator[str]:
    yield "import torch"
    yield from demo.imports
    for definition in demo.definitions:
        yield ""
        yield ""
        yield definition
    if demo.definitions:
        yield ""
    yield ""


def _step_at(line: int, steps: Sequence[str]) -> int:
    """Return the number of the step that has a line, counted from 1."""
    for number, step in enumerate(steps):
        line -= len(step.splitlines())
        if line <= 0:
            return number
    return max(0, len(steps) - 1)


def _calls(demo: Demonstration, eager: bool) -> Iterator[str]:
    yield from map(styled, _eager_first(demo) if eager else _without_final_names(demo))


def _eager_first(demo: Demonstration) -> tuple[str, ...]:
    """Return the steps of a program that raises, with a call of the model itself where it is at hand."""
    if not isinstance(demo.outcome, Raises) or any("model(*args)" in step for step in demo.steps):
        return demo.steps
    steps: list[str] = []
    for step in demo.steps:
        steps.append(step)
        if step.startswith("args = "):
            steps.append("model(*args)  # eager works")
    return tuple(steps)


def _prints(demo: Demonstration) -> Iterator[str]:
    for value, note in zip(_values(demo), _notes(demo), strict=True):
        yield f"print({styled(value)})  # {note}"


def _notes(demo: Demonstration) -> tuple[str, ...]:
    if isinstance(demo.outcome, Equal):
        return "expected", "got"
    return (f"expected: {demo.outcome.wanted}",) if isinstance(demo.outcome, Holds) else ()


def _values(demo: Demonstration) -> tuple[str, ...]:
    """Return the expressions that show the bug; those of the last two statements take their place."""
    return _final_values(demo) or _compared(demo)


def _compared(demo: Demonstration) -> tuple[str, ...]:
    if isinstance(demo.outcome, Holds):
        return (demo.outcome.condition,)
    return (demo.outcome.expected, demo.outcome.seen) if isinstance(demo.outcome, Equal) else ()


def _without_final_names(demo: Demonstration) -> tuple[str, ...]:
    return demo.steps[:-2] if _final_values(demo) else demo.steps


def _final_values(demo: Demonstration) -> tuple[str, ...]:
    """Return what the last two statements assign, if these are the two names that are compared, in order."""
    if not isinstance(demo.outcome, Equal) or len(demo.steps) < 2:
        return ()
    values = []
    for name, step in zip((demo.outcome.expected, demo.outcome.seen), demo.steps[-2:], strict=True):
        node = parse(step).body[0]
        if not isinstance(node, ast.Assign) or ast.unparse(node.targets[0]) != name:
            return ()
        values.append(ast.unparse(node.value))
    return tuple(values)


def _shortened(trace: str, folder: str) -> str:
    """Leave the folders of this machine out of a traceback."""
    trace = trace.replace(f"{folder}/", "")
    return re.sub(r'"[^"\n]*/(?:site-packages|dist-packages)/', '"', trace).strip()
