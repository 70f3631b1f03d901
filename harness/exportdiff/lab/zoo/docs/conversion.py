"""Makes a model from an example: what the example computes from its tensors becomes ``forward``.

The statements of the example run in eager, one after the other. A statement that reads a tensor, or a result
of such a statement, belongs to ``forward``. What it reads becomes an argument, or a child if it is a module.
All other statements make the inputs and the modules.
"""

from __future__ import annotations

import ast
import contextlib
import io
import textwrap
import warnings
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.utils import _pytree as pytree

from exportdiff.lab.zoo.model import NoModel

IMPORTS = """\
import functools
import math
from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch import nn
from torch.export import Dim
"""
"""What the examples take for granted."""


@dataclass
class _Conversion:
    """The parts of the program, and the values of the names so far."""

    values: dict[str, Any]
    making: list[str] = field(default_factory=list)
    forward: list[str] = field(default_factory=list)
    inputs: dict[str, None] = field(default_factory=dict)
    children: dict[str, None] = field(default_factory=dict)
    results: dict[str, None] = field(default_factory=dict)
    """The names that forward assigns."""
    exported: str = ""
    """The body of ``make`` after a call of torch.export, which names a model and its inputs."""
    shapes: str = ""
    """The dynamic shapes of that call."""
    renamed: dict[str, str] = field(default_factory=dict)
    versions: int = 0

    def add(self, statement: ast.stmt) -> None:
        """Add a statement, and run it."""
        stored = _stored(statement)
        statement = _Renamed(self.renamed, ast.Load).visit(statement)
        reads = [name for name in _read(statement) if name in self.values]
        tensors = [name for name in reads if name in self.results or _has_tensor(self.values[name])]
        if not self._computes(statement, tensors):
            statement = self._run(self._with_new_names(statement, stored))
            self.making.append(ast.unparse(statement))
        elif not _is_left_out(statement):
            self._add_to_forward(statement, stored, reads, tensors)

    def _computes(self, statement: ast.stmt, tensors: list[str]) -> bool:
        """Whether a statement belongs to forward."""
        if isinstance(statement, ast.Import | ast.ImportFrom | ast.ClassDef):
            return False
        if tensors or _makes_empty_container(statement):
            return True
        if not isinstance(statement, ast.Expr) or _is_left_out(statement):
            return False
        return _has_tensor(eval(ast.unparse(statement.value), self.values))

    def _add_to_forward(
        self, statement: ast.stmt, stored: list[str], reads: list[str], tensors: list[str]
    ) -> None:
        if isinstance(statement, ast.Expr):
            stored = [f"value_{len(self.forward)}"]
            statement = ast.Assign([ast.Name(stored[0], ast.Store())], statement.value)
        for name in reads:
            if name in self.results:
                continue
            if isinstance(self.values[name], nn.Module):
                self.children[name] = None
            elif name in tensors:
                self.inputs[name] = None
        if isinstance(statement, ast.Assign):
            statement = self._with_new_names(statement, stored)
        statement = self._run(statement)
        self.forward.append(ast.unparse(statement))
        self.results.update(dict.fromkeys(_stored(statement)))

    def _with_new_names(self, statement: ast.stmt, stored: list[str]) -> ast.stmt:
        """Give a name that forward uses, and that is assigned again, another name from here on."""
        used = {*self.inputs, *self.children, *self.results}
        for name in stored:
            if self.renamed.get(name, name) in used:
                self.versions += 1
                # Torch itself uses names such as input_1.
                self.renamed[name] = f"{name}_new{self.versions}"
        renamed: ast.stmt = _Renamed(self.renamed, ast.Store).visit(statement)
        return renamed

    def _run(self, statement: ast.stmt) -> ast.stmt:
        module = ast.fix_missing_locations(ast.Module([statement], []))
        exec(compile(module, "<example>", "exec"), self.values)
        return statement


def program_of(code: str, needs: str = "") -> str:
    """Return the source text of a program with ``make``. Raises NoModel.

    ``needs``: a line that imports what the code takes for granted.
    """
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        imports = IMPORTS + needs
        done = _Conversion(_namespace(imports))
        try:
            for statement in ast.parse(code).body:
                call = _export_call(statement)
                if call is not None:
                    return imports + _exported(done, call)
                done.add(statement)
        except Exception as error:
            raise NoModel("raises in eager", _line(error)) from None
        kept = [name for name in done.results if _has_tensor(done.values.get(name))]
        if not kept:
            raise NoModel("computes nothing", "")
        text = imports + _program(done, kept)
        _try(text)
    return text


def _try(text: str) -> None:
    values: dict[str, Any] = {}
    try:
        exec(compile(text, "<example>", "exec"), values)
        made = values["make"]()
        made[0](*made[1])
    except Exception as error:
        raise NoModel("is no forward", _line(error)) from None


def _line(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"


def _namespace(imports: str) -> dict[str, Any]:
    values: dict[str, Any] = {"__name__": "example"}
    exec(imports, values)
    return values


def _program(done: _Conversion, kept: list[str]) -> str:
    inputs, children = list(done.inputs), list(done.children)
    returned = kept[0] if len(kept) == 1 else f"({', '.join(kept)})"
    init = "".join(f"            self.{name}_ = {name}\n" for name in children)
    body = [*(f"{name} = self.{name}_" for name in children), *done.forward, f"return {returned}"]
    given = "".join(f"{name}, " for name in inputs)
    return (
        f"\n\ndef make():\n{_indented(done.making, 4)}\n"
        "    class Example(nn.Module):\n"
        f"        def __init__(self):\n            super().__init__()\n{init}\n"
        f"        def forward(self, {', '.join(inputs)}):\n{_indented(body, 12)}\n"
        f"    return Example(), ({given})\n"
    )


def _exported(done: _Conversion, call: ast.Call) -> str:
    given = dict(enumerate(call.args)) | {each.arg: each.value for each in call.keywords}
    model, args = (ast.unparse(given[key]) for key in (0, 1 if 1 in given else "args"))
    kwargs = given.get(2, given.get("kwargs"))
    making = _indented(done.making, 4)
    text = f"\n\ndef make():\n{making}\n    return {model}, tuple({args}), "
    text += f"{ast.unparse(kwargs) if kwargs is not None else '{}'} or {{}}\n"
    shapes = given.get("dynamic_shapes")
    if shapes is not None:
        text += f"\n\ndef dynamic_shapes():\n{making}\n    return {ast.unparse(shapes)}\n"
    return text


def _export_call(statement: ast.stmt) -> ast.Call | None:
    """Return the call of torch.export.export in a statement."""
    for node in ast.walk(statement) if isinstance(statement, ast.Assign | ast.Expr | ast.With) else ():
        if isinstance(node, ast.Call) and ast.unparse(node.func) in EXPORTS and node.args:
            return node
    return None


EXPORTS = ("torch.export.export", "export", "torch.export.draft_export", "draft_export")


def _indented(statements: list[str], spaces: int) -> str:
    return textwrap.indent("\n".join(statements), " " * spaces) + "\n"


def _has_tensor(value: object) -> bool:
    """Whether a value is a tensor, or a container with one. A module has none."""
    return any(isinstance(leaf, torch.Tensor) for leaf in pytree.tree_leaves(value))


def _read(statement: ast.stmt) -> list[str]:
    names = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
    return list(dict.fromkeys(node.id for node in names if isinstance(node.ctx, ast.Load)))


_SCOPES = (ast.FunctionDef, ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.DictComp)


def _stored(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return [statement.name]
    scopes = (part for part in ast.walk(statement) if isinstance(part, _SCOPES))
    inner = {node for part in scopes for node in ast.walk(part)}
    names = (node for node in ast.walk(statement) if isinstance(node, ast.Name) and node not in inner)
    return list(dict.fromkeys(node.id for node in names if isinstance(node.ctx, ast.Store)))


def _bound(scope: ast.AST) -> set[str]:
    """Return the names that a function or a comprehension binds."""
    names = {node.arg for node in ast.walk(scope) if isinstance(node, ast.arg)}
    stored = (node for node in ast.walk(scope) if isinstance(node, ast.Name))
    return names | {node.id for node in stored if isinstance(node.ctx, ast.Store)}


def _is_left_out(statement: ast.stmt) -> bool:
    """Whether a statement only shows or compares a result, or runs a backward pass."""
    if isinstance(statement, ast.Assert):
        return True
    if not isinstance(statement, ast.Expr):
        return False
    value = statement.value
    if isinstance(value, ast.Call):
        return ast.unparse(value.func) == "print" or (
            isinstance(value.func, ast.Attribute) and value.func.attr in ("backward", "step", "zero_grad")
        )
    return isinstance(value, ast.Name | ast.Constant)


def _makes_empty_container(statement: ast.stmt) -> bool:
    """Whether a statement makes a list or dict that later statements fill."""
    value = statement.value if isinstance(statement, ast.Assign) else None
    return (isinstance(value, ast.List) and not value.elts) or (
        isinstance(value, ast.Dict) and not value.keys
    )


class _Renamed(ast.NodeTransformer):
    """Gives names their new names."""

    def __init__(self, names: dict[str, str], context: type[ast.expr_context]) -> None:
        """``context``: whether to rename what is read or what is assigned."""
        self.names = names
        self.context = context

    def visit(self, node: ast.AST) -> Any:
        """Rename in a node. What a function binds itself, such as its arguments, keeps its name."""
        if not isinstance(node, _SCOPES):
            return super().visit(node)
        own = _bound(node)
        outer = {name: new for name, new in self.names.items() if name not in own}
        return _Renamed(outer, self.context).generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """Rename one."""
        name = self.names.get(node.id, node.id) if isinstance(node.ctx, self.context) else node.id
        return ast.copy_location(ast.Name(name, node.ctx), node)
