"""Where in a program something happens: the module, which call of it, the user's file and line.

In a graph that export made, this is known from the node that runs; in Python code, from the frames.
"""

from __future__ import annotations

import contextlib
import pathlib
import re
import sys
import sysconfig
from collections import Counter
from dataclasses import dataclass, replace
from traceback import walk_tb
from typing import TYPE_CHECKING, Any
from unittest import mock

import torch
from torch import fx, nn

from exportdiff.core.own_code import PACKAGE
from exportdiff.core.torch_versions.running import line_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import FrameType, TracebackType

_OURS = (str(pathlib.Path(torch.__file__).parent), str(PACKAGE))
_STDLIB = sysconfig.get_path("stdlib")
_INSTALLED = tuple({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
_GENERATED = "<eval_with_key>"
"""How torch.fx calls the files of its generated code."""
_CASE = "<exportdiff "
"""How exportdiff calls the files of programs that it has only as text."""


@dataclass(frozen=True)
class CodePlace:
    """Where something happens. Empty fields are not known."""

    module: str | None = None
    module_call: int | None = None
    file: str = ""
    line: int | None = None


def is_of_user(file: str) -> bool:
    """Whether a file belongs to the user or to a library other than torch."""
    if file.startswith("<"):
        return file.startswith(_CASE)
    if file.startswith(_OURS):
        return False
    return file.startswith(_INSTALLED) or not file.startswith(_STDLIB)


class ModuleCalls:
    """Knows which module of a model is being called; use it as a context manager."""

    def __init__(self, model: nn.Module) -> None:
        """Remember the first name of each module."""
        self.first: dict[str, str] = {}
        """The first name of each name."""
        self._names: dict[nn.Module, str] = {}
        for name, module in model.named_modules(remove_duplicate=False):
            self.first[name] = self._names.setdefault(module, name)
        self._open: list[tuple[str, int]] = []
        self._calls: Counter[str] = Counter()

    def restart(self) -> None:
        """Count the calls of modules from the start: the next call of the model begins."""
        self._calls.clear()
        self._open.clear()

    @property
    def current(self) -> tuple[str, int] | None:
        """The module that is being called, and which call of it that is."""
        return self._open[-1] if self._open else None

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        """Follow the calls, by a patch of ``nn.Module.__call__``: global hooks run too early."""
        original = nn.Module.__call__

        def noted(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            if torch.compiler.is_compiling():  # first, so that Dynamo does not trace the rest
                return original(module, *args, **kwargs)
            name = self._names.get(module)
            if name is None:
                return original(module, *args, **kwargs)
            self._calls[name] += 1
            self._open.append((name, self._calls[name]))
            try:
                return original(module, *args, **kwargs)
            finally:
                self._open.pop()

        with mock.patch.object(nn.Module, "__call__", noted):
            yield


def current_place(calls: ModuleCalls, caller: str) -> CodePlace:
    """Return where the running operator was called. ``caller``: the file that called the model."""
    return _place(_frames(sys._getframe(1), caller), calls)


def place_of_error(error: BaseException) -> CodePlace:
    """Return the place of the user's program at which an exception came up."""
    seen: BaseException | None = error
    while seen is not None:
        frames = list(_frames_of(seen.__traceback__))
        for found in (_place(frames, None), _node_in_hand(frames)):
            if found.file or found.module is not None:
                return found
        # Dynamo keeps the stack of the program that it traces.
        for frame in reversed(list(getattr(seen, "real_stack", None) or ())):
            if is_of_user(frame.filename):
                return CodePlace(file=frame.filename, line=frame.lineno)
        seen = seen.__cause__ or seen.__context__
    return CodePlace()


def _node_in_hand(frames: Iterable[tuple[FrameType, int]]) -> CodePlace:
    """Return the place of the node that torch was working on: the local variable ``node`` of a frame."""
    for frame, _ in frames:
        node = frame.f_locals.get("node")
        if isinstance(node, fx.Node) and (found := node_place(node)).module is not None:
            return found
    return CodePlace()


def _frames(frame: FrameType | None, caller: str) -> Iterator[tuple[FrameType, int]]:
    while frame is not None and frame.f_code.co_filename != caller:
        yield frame, frame.f_lineno
        frame = frame.f_back


def _frames_of(traceback: TracebackType | None) -> Iterable[tuple[FrameType, int]]:
    return reversed(list(walk_tb(traceback)))


def _place(frames: Iterable[tuple[FrameType, int]], calls: ModuleCalls | None) -> CodePlace:
    """Return the place of the innermost frame that knows one.

    A node in the graph of a branch or a region may know its line alone; then the module is that of the
    operator that runs the graph. Without a node that knows it, the module is the one that is being called.
    """
    inner = CodePlace()
    for frame, line in frames:
        node = _node(frame, line)
        if node is not None:
            found = node_place(node)
            if found.module:
                return replace(found, file=inner.file or found.file, line=inner.line or found.line)
            inner = inner if inner.file else found
        elif is_of_user(frame.f_code.co_filename) and not inner.file:
            inner = CodePlace(file=frame.f_code.co_filename, line=line)
            break
    if calls is None or calls.current is None or inner.module is not None:
        return inner
    module, number = calls.current
    return replace(inner, module=module, module_call=number)


def _node(frame: FrameType, line: int) -> fx.Node | None:
    """Return the node that a frame runs, if it runs a graph."""
    if frame.f_code is _RUN_NODE:
        node: fx.Node = frame.f_locals["n"]
        return node
    return _generated_node(frame, line) if frame.f_code.co_filename.startswith(_GENERATED) else None


_RUN_NODE = fx.Interpreter.run_node.__code__


def _generated_node(frame: FrameType, line: int) -> fx.Node | None:
    owner = frame.f_locals.get("self")
    # Generated code of an unflattened module runs with that module as ``self``.
    graph_module = owner if isinstance(owner, fx.GraphModule) else getattr(owner, "graph_module", None)
    if not isinstance(graph_module, fx.GraphModule):
        return None
    number = line_numbers(graph_module).get(line)
    nodes = list(graph_module.graph.nodes)
    return nodes[number] if number is not None and number < len(nodes) else None


def module_stack(node: fx.Node) -> Mapping[str, tuple[str, object]]:
    """Return the modules that export has recorded in a node, the innermost last; empty if it names none.

    Each has a key, its path and its class. A pass of torch (torch/_export/passes/_node_metadata_hook.py)
    gives operators on sizes a module that does not exist: it counts as none.
    """
    stack = node.meta.get("nn_module_stack") or {}
    return {} if next(iter(stack), "").startswith("_empty_nn_module_stack") else stack


def node_place(node: fx.Node) -> CodePlace:
    """Return the place that export has recorded in a node."""
    stack = list(module_stack(node).values())
    module, number = None, None
    if stack:
        # ``sub.linear@1``: the second call of it.
        path = str(stack[-1][0]).removeprefix("L['self']").removeprefix("_export_root").lstrip(".")
        module = _CALL.sub("", path)
        numbers = _CALL.findall(path)
        number = int(numbers[-1]) + 1 if numbers and path.endswith(f"@{numbers[-1]}") else 1
    for file, line in reversed(_LINE.findall(node.stack_trace or "")):
        if is_of_user(file):
            return CodePlace(module, number, file, int(line))
    return CodePlace(module, number)


_CALL = re.compile(r"@(\d+)")
_LINE = re.compile(r'File "([^"]+)", line (\d+)')
"""How ``traceback`` writes a frame, which is what a node keeps."""
