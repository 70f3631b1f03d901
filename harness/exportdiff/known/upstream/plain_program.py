"""The program of an entry without ``make()``, ``show()`` and the main part, and the result of running it.

Reports and tests of PyTorch consist of such a program. It is the body of ``show()``, as it is written in the
entry, in which what ``make()`` does replaces the call of ``make()``.
"""

from __future__ import annotations

import ast
import json
import pathlib
import re
import textwrap
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError
from exportdiff.core.program_text.parsing import parse
from exportdiff.known.corpus.entry import missing_functions
from exportdiff.known.corpus.workaround import without_workaround
from exportdiff.runtime.processes import scratch
from exportdiff.runtime.processes.script import run_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.known.corpus.entry import Entry
    from exportdiff.runtime.processes.script import Within

FRAMES = 12
"""The number of frames that a traceback shows, counted from its end."""

_PAIR = "expected, got"

_RUNNER = """\
import json, pathlib, runpy, traceback

import torch

def equal(expected, got):
    try:
        torch.testing.assert_close(got, expected, equal_nan=True)
    except TypeError:  # neither tensors nor numbers
        return bool(expected == got)
    except Exception:
        return False
    return True

try:
    after = runpy.run_path({file!r})
except BaseException as error:
    tb = error.__traceback__
    while tb is not None and tb.tb_frame.f_code.co_filename != {file!r}:
        tb = tb.tb_next
    trace = "".join(traceback.format_exception(type(error), error, tb, limit=-{frames}, chain=False))
    kind = type(error)
    name = kind.__name__ if kind.__module__ == "builtins" else kind.__module__ + "." + kind.__qualname__
    answer = dict(error=name, message=str(error), traceback=trace, line=tb.tb_lineno if tb else 0)
else:
    values = [after[name] for name in ("expected", "got") if name in after]
    answer = dict(values=[str(each) for each in values], right=not values or equal(*values))
pathlib.Path({answer!r}).write_text(json.dumps(answer))
"""


_SAVE = re.compile(r"^torch\.export\.save\((\w+), io\.BytesIO\(\)\)$", re.MULTILINE)
_SAVE_AND_LOAD = """\
buffer = io.BytesIO()
torch.export.save(\\1, buffer)
buffer.seek(0)
expected, got = model(*args), torch.export.load(buffer).module()(*args)"""


@dataclass(frozen=True)
class PlainProgram:
    """The program of an entry, as people write it."""

    imports: tuple[str, ...]
    """Without ``import torch``."""
    definitions: tuple[str, ...]
    """Classes, functions and global values."""
    statements: str
    """For a wrong value, they end in an assignment to ``expected`` and ``got``; for a crash, they raise."""

    compares: bool
    """Whether the statements assign ``expected`` and ``got``."""

    @property
    def head(self) -> str:
        """The text above the statements."""
        parts = ["\n".join(["import torch", *self.imports]), *self.definitions]
        return "\n\n\n".join(parts) + ("\n\n\n" if self.definitions else "\n\n")

    def text(self, *, prints: bool) -> str:
        """Return the whole program; ``prints``: it ends in prints of the two values."""
        shown = "\nprint(expected)  # expected\nprint(got)  # got" if prints else ""
        return self.head + self.statements + shown


@dataclass(frozen=True)
class ProgramResult:
    """The result of a program in a fresh process."""

    right: bool = False
    """It raises nothing, and the two values are equal as PyTorch's tests compare them."""
    values: tuple[str, ...] = ()
    """What is expected, and what came; empty: the program compares nothing, or raises."""
    error: str = ""
    """The class of the exception that it raises, with its module: ``torch._dynamo.exc.UserError``."""
    message: str = ""
    traceback: str = ""
    line: int = 0
    """The line of the statements that raises, counted from 1."""


def plain_program(entry: Entry) -> PlainProgram:
    """Return the program of an entry. Raises UsageError if it lacks a function that entries must have."""
    source = without_workaround(entry.file.read_text(encoding="utf-8"))
    if missing := missing_functions(source):
        raise UsageError(f"{entry.file} defines no {missing[0]}")
    tree = parse(source)
    lines = source.splitlines()
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    statements = _body(functions["show"], lines, _PAIR)
    parts = {
        node: _lines_of(node, lines)
        for node in tree.body[1:]
        if not isinstance(node, ast.Import | ast.ImportFrom | ast.If) and node is not functions["show"]
    }
    call = re.search(r"^(.+) = make\(\)$", statements, re.MULTILINE)
    others = "\n".join([statements, *(text for node, text in parts.items() if node is not functions["make"])])
    if call is not None and others.count("make()") == 1:
        made = _body(functions["make"], lines, call[1])
        statements = statements[: call.start()] + made + statements[call.end() :]
    definitions = _needed(parts, statements)
    text = "\n".join([*definitions, statements])
    compares = any(isinstance(node, ast.Return) for node in ast.walk(functions["show"]))
    return PlainProgram(tuple(_imports(tree, text)), definitions, statements, compares)


def with_load(program: PlainProgram) -> PlainProgram:
    """Return a program that loads what it saves, if it does not yet: PyTorch's tests of saving also load."""
    if program.compares or not _SAVE.search(program.statements) or "export.load(" in program.statements:
        return program
    statements = _SAVE.sub(_SAVE_AND_LOAD, program.statements)
    return replace(program, statements=statements, compares=True)


def run_program(program: PlainProgram, within: Within = nullcontext) -> ProgramResult:
    """Run a program in a fresh process; an exception that it raises is a result. See ``run_file``."""
    with scratch.make() as folder:
        root = pathlib.Path(folder)
        file, runner, answer = root / "repro.py", root / "run.py", root / "answer.json"
        file.write_text(program.text(prints=False) + "\n", encoding="utf-8")
        runner.write_text(_RUNNER.format(answer=str(answer), file=str(file), frames=FRAMES), encoding="utf-8")
        run = run_file(runner, within=within)
        if not answer.exists():
            return ProgramResult(message=run.problem or run.last_line)
        fields = json.loads(answer.read_text(encoding="utf-8"))
    if "error" not in fields:
        return ProgramResult(fields["right"], tuple(fields["values"]))
    trace = _without_folders(fields["traceback"], folder)
    line = fields["line"] - program.head.count("\n")
    return ProgramResult(False, (), fields["error"], fields["message"], trace, line)


def _lines_of(node: ast.stmt, lines: list[str]) -> str:
    decorators = getattr(node, "decorator_list", ())
    start = min([node.lineno, *(each.lineno for each in decorators)])
    return "\n".join(lines[start - 1 : node.end_lineno])


def _body(function: ast.FunctionDef, lines: list[str], returned: str) -> str:
    """Return the body of a function; its last line assigns to ``returned`` instead of returning."""
    text = textwrap.dedent("\n".join(lines[function.body[0].lineno - 1 : function.end_lineno]))
    before, found, value = text.rpartition("return ")
    if not found:
        return text
    # "model, args = model, (x,)" becomes "args = (x,)".
    while value.partition(", ")[0] == returned.partition(", ")[0]:
        value, returned = value.partition(", ")[2], returned.partition(", ")[2]
        if not returned:
            return before.rstrip()
    return f"{before}{returned} = {value}"


def _needed(parts: dict[ast.stmt, str], statements: str) -> tuple[str, ...]:
    """Return the definitions that the statements need, and all global statements."""
    kept = {node: text for node, text in parts.items() if not hasattr(node, "name")}
    while True:
        text = "\n".join([*kept.values(), statements])
        more = {
            node: part
            for node, part in parts.items()
            if node not in kept and _mentions(text, getattr(node, "name", ""))
        }
        if not more:
            return tuple(part for node, part in parts.items() if node in kept)
        kept |= more


def _imports(tree: ast.Module, text: str) -> Iterator[str]:
    """Yield the imports that a text needs, but ``import torch``."""
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            node.names = [
                each for each in node.names if _mentions(text, (each.asname or each.name).partition(".")[0])
            ]
            if node.names and ast.unparse(node) != "import torch":
                yield ast.unparse(node)


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


def _without_folders(trace: str, folder: str) -> str:
    """Leave the folders of this machine out of a traceback."""
    trace = trace.replace(f"{folder}/", "")
    return re.sub(r'"[^"\n]*/(?:site-packages|dist-packages)/', '"', trace).strip()
