"""Program -> Python source: readable, deterministic, and the model itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from strategies.layers import LAYERS
from strategies.machine import CONDS
from strategies.ops import OPS
from strategies.program import (
    Arg,
    Assign,
    Attr,
    Bind,
    Call,
    Child,
    ClassDef,
    Cond,
    Container,
    Do,
    Expr,
    Fill,
    Group,
    If,
    Init,
    Input,
    Key,
    Lit,
    New,
    Not,
    Op,
    Path,
    Program,
    Return,
    Stmt,
    Tensor,
    TensorInput,
    Var,
    news,
)
from strategies.types import numel

INDENT = "    "


def render(program: Program) -> str:
    """The source of a module that defines ``Model``, the classes it uses, and ``make()``."""
    scaled = {new.name for cls in program.classes for new in news(cls) if new.scale != 1.0}
    blocks = [_class(cls, cls.name in scaled) for cls in program.classes]
    blocks.append(_make(program))
    body = "\n\n\n".join("\n".join(block) for block in blocks)
    imports = ["import torch"]
    if " F." in body or "(F." in body:
        imports.append("import torch.nn.functional as F")
    imports.append("from torch import nn")
    return "\n".join(imports) + "\n\n\n" + body + "\n"


def _class(cls: ClassDef, scaled: bool) -> list[str]:
    lines = [f"class {cls.name}(nn.Module):"]
    if cls.init or scaled:
        lines.append(f"{INDENT}def __init__(self{', scale=1.0' if scaled else ''}):")
        lines.append(f"{INDENT * 2}super().__init__()")
        lines += [INDENT * 2 + _init(init, scaled) for init in cls.init]
        lines.append("")
    arguments = ", ".join(["self", *(_arg(arg) for arg in cls.args)])
    lines.append(f"{INDENT}def forward({arguments}):")
    lines += _body(cls.body, 2)
    return lines


def _arg(arg: Arg) -> str:
    return arg.name if arg.default is None else f"{arg.name}={arg.default.value!r}"


def _init(init: Init, scaled: bool) -> str:
    if isinstance(init, Child):
        return f"self.{init.attr} = {_new(init.new)}"
    if isinstance(init, Bind):
        return f"{_path(init.target)} = {_path(init.source)}"
    if isinstance(init, Container):
        items = [_new(item) if isinstance(item, New) else _path(item) for item in init.items]
        if init.kind == "ModuleDict":
            pairs = ", ".join(f'"{k}": {v}' for k, v in zip(init.keys, items, strict=True))
            return f"self.{init.attr} = nn.ModuleDict({{{pairs}}})"
        listed = ", ".join(items)
        return f"self.{init.attr} = nn.{init.kind}({f'[{listed}]' if init.kind == 'ModuleList' else listed})"
    return _tensor(init, scaled)


def _tensor(init: Tensor, scaled: bool) -> str:
    value = _fill(init.fill) + (" * scale" if scaled else "")
    if init.kind == "parameter":
        return f"self.{init.attr} = nn.Parameter({value})"
    if init.kind == "constant":
        return f"self.{init.attr} = {value}"
    persistent = ", persistent=False" if init.kind == "scratch" else ""
    return f'self.register_buffer("{init.attr}", {value}{persistent})'


def _fill(fill: Fill) -> str:
    sizes = ", ".join(map(str, fill.shape))
    if fill.high is None:
        if not fill.shape:
            return f"torch.tensor({fill.low})"
        if fill.low in (0.0, 1.0):
            return f"torch.{'ones' if fill.low else 'zeros'}({sizes})"
        return f"torch.full(({sizes},), {fill.low})"
    row = f"torch.linspace({fill.low}, {fill.high}, {numel(fill.shape)})"
    return row if len(fill.shape) == 1 else f"{row}.view({sizes or '()'})"


def _new(new: New) -> str:
    if new.layer:
        return LAYERS[new.name].template.format(p=new.params)
    return f"{new.name}({'' if new.scale == 1.0 else new.scale})"


def _path(path: Path) -> str:
    text = "self"
    for step in path:
        if isinstance(step, Key):
            text += f'["{step.name}"]'
        else:
            text += f"[{step}]" if isinstance(step, int) else f".{step}"
    return text


def _body(body: Iterable[Stmt], depth: int) -> list[str]:
    return [INDENT * depth + line for stmt in body for line in _stmt(stmt)]


def _stmt(stmt: Stmt) -> Iterator[str]:
    if isinstance(stmt, Assign):
        yield f"{stmt.target} = {_expr(stmt.value)}"
    elif isinstance(stmt, Do):
        yield _expr(stmt.value)
    elif isinstance(stmt, Return):
        yield f"return {_expr(stmt.value)}"
    elif isinstance(stmt, If):
        yield f"if {_cond(stmt.test)}:"
        yield from _body(stmt.then, 1)
        if stmt.orelse:
            yield "else:"
            yield from _body(stmt.orelse, 1)
    else:
        yield f"for layer in {_path(stmt.container)}:"
        arguments = ", ".join([stmt.target, *(_expr(arg) for arg in stmt.args)])
        yield f"{INDENT}{stmt.target} = layer({arguments})"


def _cond(cond: Cond) -> str:
    if cond.subject is None:
        return "self.training"
    return CONDS[cond.name].template.format(_expr(cond.subject), p=cond.params)


def _expr(expr: Expr) -> str:
    if isinstance(expr, Lit):
        return repr(expr.value)
    if isinstance(expr, Var):
        return expr.name
    if isinstance(expr, Not):
        return f"not {expr.flag.name}"
    if isinstance(expr, Attr):
        return _path(expr.path)
    if isinstance(expr, Op):
        return OPS[expr.name].template.format(*map(_operand, expr.operands), p=expr.params)
    if isinstance(expr, Call):
        arguments = [_expr(arg) for arg in expr.args]
        arguments += [f"{name}={_expr(value)}" for name, value in expr.kwargs]
        return f"{_path(expr.callee)}({', '.join(arguments)})"
    return _group(expr)


def _group(expr: Group) -> str:
    items = [_expr(item) for item in expr.items]
    if expr.keys:
        return "{" + ", ".join(f'"{k}": {v}' for k, v in zip(expr.keys, items, strict=True)) + "}"
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def _operand(expr: Expr) -> str:
    text = _expr(expr)
    return f"({text})" if isinstance(expr, Op) and OPS[expr.name].infix else text


def _input(given: Input) -> str:
    if isinstance(given, TensorInput):
        return _fill(given.fill) + (".t()" if given.transposed else "")
    return repr(given.value)


def _make(program: Program) -> list[str]:
    lines = ["def make():"]
    if any(_random(cls) for cls in program.classes):
        lines.append(f"{INDENT}torch.manual_seed(0)")
    model = "Model()" if program.training else "Model().eval()"
    items = [_input(given) for given in program.args]
    args = f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    parts = [model, args]
    if program.kwargs:
        parts.append("{" + ", ".join(f'"{name}": {_input(given)}' for name, given in program.kwargs) + "}")
    lines.append(f"{INDENT}return {', '.join(parts)}")
    return lines


def _random(cls: ClassDef) -> bool:
    return any(new.layer and LAYERS[new.name].random for new in news(cls))
