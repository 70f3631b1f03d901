"""Program -> Python source: readable, deterministic, and the model itself."""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from strategies.conditions import CONDS, FACTS, MODES, RELATIONS
from strategies.control import CONTROLS
from strategies.inputs import probe
from strategies.layers import LAYERS
from strategies.ops import OPS
from strategies.program import (
    ENUMS,
    FORMS,
    FUNCTIONS,
    Again,
    Apply,
    Arg,
    Assign,
    Attr,
    Bind,
    Bound,
    Bump,
    Call,
    Child,
    ClassDef,
    Cond,
    Container,
    Control,
    Derived,
    Dim,
    Do,
    Expr,
    Fact,
    Fill,
    Function,
    Given,
    Group,
    GroupInput,
    Hook,
    If,
    Init,
    Input,
    Item,
    Key,
    Kind,
    Lambda,
    Lit,
    Literal,
    Loop,
    New,
    Not,
    Op,
    Parametrize,
    Path,
    Plain,
    Program,
    Repeat,
    Return,
    Set,
    Size,
    Slice,
    Star,
    Stmt,
    Swap,
    TensorInput,
    Ternary,
    Var,
    With,
    news,
    nodes,
)
from strategies.regions import FIELDS_HERE, HOOKS, PARAMETRIZATIONS, PREAMBLES, REGIONS
from strategies.types import numel

INDENT = "    "

_SCALED = frozenset({"float16", "bfloat16", "float32", "float64", "complex64"})


def render(program: Program) -> str:
    """The source of a module that defines ``Model``, the classes it uses, and ``make()``.

    A dynamic Program's source defines ``dynamic_shapes()`` and ``probes()`` as well.
    """
    scaled = {new.name for cls in program.classes for new in news(cls) if new.scale != 1.0}
    blocks = [_class(cls, cls.name in scaled) for cls in program.classes]
    blocks.append(_make(program))
    if program.dynamic is not None:
        blocks += [_dynamic_shapes(program), _probes(program)]
    needed = list(_preambles(program))
    definitions = [block for block in needed if not block[0].startswith(("from ", "import "))]
    body = "\n\n\n".join("\n".join(block) for block in (*definitions, *blocks))
    imported = [block[0] for block in needed if block[0].startswith(("from ", "import "))]
    return "\n".join((*_imports(body), *imported)) + "\n\n\n" + body + "\n"


def _enum(base: str) -> tuple[str, ...]:
    members = (f"{INDENT}{member.name} = {value!r}" for member, value in zip(Kind, ENUMS[base], strict=True))
    return (f"class Kind({base}):", *members)


def _record(kind: str, fields: Iterable[str]) -> tuple[str, ...]:
    """The definition of a namedtuple or dataclass."""
    listed = [f"{INDENT}{field}: torch.Tensor" for field in fields]
    return tuple(part for line in PREAMBLES[kind] for part in (listed if line == FIELDS_HERE else [line]))


def _imports(body: str) -> Iterator[str]:
    if "@dataclass" in body:
        yield "from dataclasses import dataclass"
    base = re.search(r"^class Kind\(.*?(\w+)\):", body, re.MULTILINE)
    if base:
        yield f"from enum import {base[1]}"
    if "NamedTuple" in body:
        yield "from typing import NamedTuple"
    if "@dataclass" in body or "NamedTuple" in body or base:
        yield ""
    yield "import torch"
    if re.search(r"\bF\.", body):
        yield "import torch.nn.functional as F"
    yield "from torch import nn"


def _preambles(program: Program) -> Iterator[tuple[str, ...]]:
    """What the source must define or import first, each once."""
    wanted: dict[str, tuple[str, ...]] = {}
    for node in nodes((program.classes, tuple(given for _, given in program.inputs))):
        if isinstance(node, Op) and OPS[node.name].preamble:
            wanted[OPS[node.name].preamble] = PREAMBLES[OPS[node.name].preamble]
        elif isinstance(node, Group | GroupInput) and node.kind in PREAMBLES:
            wanted[node.kind] = _record(node.kind, node.keys)
        elif isinstance(node, Call) and node.form in PREAMBLES:
            wanted[node.form] = PREAMBLES[node.form]
        elif isinstance(node, Lit) and isinstance(node.value, Kind):
            wanted["enum"] = _enum(program.enum)
        elif isinstance(node, Control) and CONTROLS[node.name].preamble:
            wanted[CONTROLS[node.name].preamble] = PREAMBLES[CONTROLS[node.name].preamble]
        elif isinstance(node, Hook):
            wanted[node.name] = HOOKS[node.name].lines
        elif isinstance(node, Parametrize):
            wanted["parametrize"] = PREAMBLES["parametrize"]
            wanted[node.name] = PARAMETRIZATIONS[node.name][1]
    yield from (wanted[name] for name in sorted(wanted))


# --- classes ---------------------------------------------------------------------------------------


def _class(cls: ClassDef, scaled: bool) -> list[str]:
    lines = [f"class {cls.name}(nn.Module):"]
    parameters = ["self", *(["guest"] if cls.guest else []), *(["scale=1.0"] if scaled else [])]
    if len(parameters) > 1 or cls.init:
        lines.append(f"{INDENT}def __init__({', '.join(parameters)}):")
        lines.append(f"{INDENT * 2}super().__init__()")
        if cls.guest:
            lines.append(f"{INDENT * 2}self.guest = guest")
        lines += [INDENT * 2 + _init(init, scaled) for init in cls.init]
        lines.append("")
    lines += _function("forward", cls.args, cls.body)
    for method in cls.methods:
        lines.append("")
        lines += _function(method.name, method.args, method.body)
    return lines


def _function(name: str, args: Sequence[Arg], body: Iterable[Stmt]) -> list[str]:
    """A method of a class."""
    arguments = ["self", *map(_arg, args)]
    unnamed = sum(arg.unnamed for arg in args)
    if unnamed:
        arguments.insert(1 + unnamed, "/")
    return [f"{INDENT}def {name}({', '.join(arguments)}):", *_body(body, 2)]


def _arg(arg: Arg) -> str:
    stars = {"rest": "*", "options": "**"}.get(arg.kind, "")
    return stars + (arg.name if arg.default is None else f"{arg.name}={_literal(arg.default.value)}")


def _init(init: Init, scaled: bool) -> str:
    if isinstance(init, Child):
        made = _new(init.new)
        return _set((init.attr,), f"torch.fx.symbolic_trace({made})" if init.traced else made)
    if isinstance(init, Bind):
        return _set(init.target, _path(init.source))
    if isinstance(init, Container):
        return _set((init.attr,), _container(init))
    if isinstance(init, Plain):
        return _set((init.attr,), repr(init.value))
    if isinstance(init, Derived):
        source = _path(init.source)
        if init.op:
            source = OPS[init.op].template.format(source + ".data", p=init.params)
        return _registered(init.attr, init.kind, source)
    if isinstance(init, Hook):
        return f"{_path(init.path)}.{HOOKS[init.name].registration}({init.name})"
    if isinstance(init, Parametrize):
        return f'parametrize.register_parametrization({_path(init.path)}, "{init.attr}", {init.name}())'
    scale = " * scale" if scaled and init.fill.dtype in _SCALED else ""
    value = _laid_out(init.fill, init.layout, scale)
    return _registered(init.attr, init.kind, value, frozen=init.frozen)


def _container(box: Container) -> str:
    items = [_module(item) for item in box.items]
    if box.kind == "ModuleDict":
        pairs = ", ".join(f'"{k}": {v}' for k, v in zip(box.keys, items, strict=True))
        return f"nn.ModuleDict({{{pairs}}})"
    listed = ", ".join(items)
    return f"nn.{box.kind}({f'[{listed}]' if box.kind == 'ModuleList' else listed})"


def _module(item: New | Path | Container) -> str:
    if isinstance(item, New):
        return _new(item)
    return _container(item) if isinstance(item, Container) else _path(item)


def _registered(attr: str, kind: str, value: str, *, frozen: bool = False) -> str:
    if kind == "parameter":
        return _set((attr,), f"nn.Parameter({value}{', requires_grad=False' if frozen else ''})")
    if kind == "constant":
        return _set((attr,), value)
    persistent = ", persistent=False" if kind == "scratch" else ""
    return f'self.register_buffer("{attr}", {value}{persistent})'


def _fill(fill: Fill) -> str:
    sizes = ", ".join(map(str, fill.shape))
    dtype = "" if fill.dtype == "float32" else f", dtype=torch.{fill.dtype}"
    low: object = fill.low
    if fill.dtype in ("int64", "int32"):
        low = int(fill.low)
    elif fill.dtype == "bool":
        low = bool(fill.low)
    if fill.high is None:
        if not fill.shape:
            return f"torch.tensor({low}{dtype})"
        if fill.low in (0.0, 1.0):
            return f"torch.{'ones' if fill.low else 'zeros'}({sizes}{dtype})"
        return f"torch.full(({sizes},), {low}{dtype})"
    if fill.dtype in ("int64", "int32", "bool"):
        row = f"torch.arange({numel(fill.shape)}) % 3"
        row = f"({row}).to(torch.{fill.dtype})" if fill.dtype != "int64" else f"({row})"
    else:
        row = f"torch.linspace({fill.low}, {fill.high}, {numel(fill.shape)}{dtype})"
    return row if len(fill.shape) == 1 else f"{row}.view({sizes or '()'})"


def _laid_out(fill: Fill, layout: str, scale: str = "") -> str:
    """A tensor that lies in memory as the layout says; ``scale`` multiplies what it is made of."""
    shape = fill.shape
    whole, part = {
        "": (shape, ""),
        "transposed": (shape[::-1], ".t()"),
        "sliced": ((*shape[:-1], 2 * shape[-1]) if shape else (), "[..., ::2]"),
        "offset": ((shape[0] + 1, *shape[1:]) if shape else (), "[1:]"),
        "expanded": ((1, *shape[1:]), f".expand({', '.join(map(str, shape))})"),
    }[layout]
    text = _fill(replace(fill, shape=whole)) + scale
    return (f"({text})" if scale and part else text) + part


def _new(new: New) -> str:
    if new.layer:
        return LAYERS[new.name].template.format(p=new.params)
    arguments = [_path(new.guest)] if new.guest else []
    if new.scale != 1.0:
        arguments.append(f"scale={new.scale}" if new.guest else str(new.scale))
    return f"{new.name}({', '.join(arguments)})"


def _path(path: Path) -> str:
    text = "self"
    for step in path:
        if isinstance(step, Key):
            text += f'["{step.name}"]'
        elif isinstance(step, Slice):
            text += f"[{step.start or ''}:{step.stop}]"
        elif isinstance(step, int):
            text += f"[{step}]"
        else:
            text = f'getattr({text}, "{step}")' if keyword.iskeyword(step) else f"{text}.{step}"
    return text


def _set(path: Path, value: str) -> str:
    """An assignment to what is at a path."""
    *above, last = path
    if isinstance(last, str) and keyword.iskeyword(last):
        return f'setattr({_path(tuple(above))}, "{last}", {value})'
    return f"{_path(path)} = {value}"


# --- statements ------------------------------------------------------------------------------------


def _body(body: Iterable[Stmt], depth: int) -> list[str]:
    return [(INDENT * depth + line).rstrip() for stmt in body for line in _stmt(stmt)]


def _stmt(stmt: Stmt) -> Iterator[str]:
    if isinstance(stmt, Assign):
        yield f"{stmt.target} = {_expr(stmt.value)}"
    elif isinstance(stmt, Do):
        yield "pass" if stmt.value == Lit(None) else _expr(stmt.value)
    elif isinstance(stmt, Return):
        yield f"return {_expr(stmt.value)}"
    elif isinstance(stmt, Set):
        yield _set(stmt.path, _expr(stmt.value))
    elif isinstance(stmt, Swap):
        first, second = _path(stmt.first), _path(stmt.second)
        yield f"{first}, {second} = {second}, {first}"
    elif isinstance(stmt, Bump):
        yield f"{_path(stmt.path)} += 1"
    elif isinstance(stmt, If):
        yield from _match(stmt) if stmt.match else _if(stmt, "if")
    elif isinstance(stmt, Loop):
        yield from _loop(stmt)
    elif isinstance(stmt, Repeat):
        yield from _repeat(stmt)
    elif isinstance(stmt, With):
        yield f"with {REGIONS[stmt.region].template}:"
        yield from _body(stmt.body, 1)
    else:
        yield from _control(stmt)


def _if(stmt: If, word: str) -> Iterator[str]:
    yield f"{word} {_cond(stmt.test)}:"
    yield from _body(stmt.then, 1)
    if len(stmt.orelse) == 1 and isinstance(stmt.orelse[0], If) and not stmt.orelse[0].match:
        yield from _if(stmt.orelse[0], "elif")
    elif stmt.orelse:
        yield "else:"
        yield from _body(stmt.orelse, 1)


def _match(stmt: If) -> Iterator[str]:
    assert stmt.test.subject is not None
    yield f"match {_expr(stmt.test.subject)}:"
    yield f"{INDENT}case {stmt.test.params[0]!r}:"
    yield from _body(stmt.then, 2)
    if stmt.orelse:
        yield f"{INDENT}case _:"
        yield from _body(stmt.orelse, 2)


def _loop(stmt: Loop) -> Iterator[str]:
    over, names = _path(stmt.container), "layer"
    if stmt.style == "enumerate":
        over, names = f"enumerate({over})", "_, layer"
    elif stmt.style:
        over, names = f"{over}.{stmt.style}()", "_, layer" if stmt.style == "items" else "layer"
    yield f"for {names} in {over}:"
    arguments = ", ".join([stmt.target, *(_expr(arg) for arg in stmt.args)])
    yield f"{INDENT}{stmt.target} = layer({arguments})"


def _repeat(stmt: Repeat) -> Iterator[str]:
    if stmt.style == "for":
        yield f"for {stmt.var} in range({_expr(stmt.count)}):"
        yield from _body(stmt.body, 1)
        return
    yield f"{stmt.var} = 0"
    yield f"while {stmt.var} < {_expr(stmt.count)}:"
    yield from _body(stmt.body, 1)
    yield f"{INDENT}{stmt.var} += 1"


def _control(stmt: Control) -> Iterator[str]:
    for function in stmt.functions:
        yield from _lambda(function)
    names = [function.name for function in stmt.functions]
    yield CONTROLS[stmt.name].template.format(t=stmt.target, x=_operand(stmt.operands[0]), f=names)


def _lambda(function: Lambda) -> Iterator[str]:
    yield f"def {function.name}({', '.join(function.args)}):"
    yield from _body(function.body, 1)
    yield ""


def _cond(cond: Cond) -> str:
    if cond.subject is None:
        return MODES[cond.name].template
    if cond.other is not None:
        return RELATIONS[cond.name].template.format(_expr(cond.subject), _expr(cond.other))
    return CONDS[cond.name].template.format(_expr(cond.subject), p=cond.params)


# --- expressions -----------------------------------------------------------------------------------


def _expr(expr: Expr | Star) -> str:
    if isinstance(expr, Lit):
        return _literal(expr.value)
    if isinstance(expr, Var):
        return expr.name
    if isinstance(expr, Op):
        return OPS[expr.name].template.format(*map(_operand, expr.operands), p=expr.params)
    if isinstance(expr, Attr):
        return _path(expr.path)
    if isinstance(expr, Call):
        callee = _path(expr.callee) + (f".{expr.method}" if expr.method else "")
        return FORMS[expr.form].format(callee, args=_arguments(expr.args, expr.kwargs))
    if isinstance(expr, Group):
        return _group(expr.kind, [_expr(item) for item in expr.items], expr.keys)
    if isinstance(expr, Item):
        if expr.dotted:
            return f"{expr.base.name}.{expr.key}"
        return f"{expr.base.name}[{expr.key!r}]".replace("'", '"')
    if isinstance(expr, Not):
        return f"not {expr.flag.name}"
    if isinstance(expr, Fact):
        return FACTS[expr.name].template.format(_operand(expr.subject))
    if isinstance(expr, Apply):
        return f"{expr.function.name}({_arguments(expr.args)})"
    if isinstance(expr, Bound):
        return _path(expr.path) + (f".{expr.method}" if expr.method else "")
    if isinstance(expr, Function):
        return FUNCTIONS[expr.name]
    if isinstance(expr, Star):
        return ("**" if expr.double else "*") + expr.value.name
    return f"{_operand(expr.then)} if {_cond(expr.test)} else {_operand(expr.orelse)}"


def _literal(value: Literal) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, Kind):
        return str(value)
    if isinstance(value, Size):
        return f"torch.Size({list(value)})"
    return repr(value)


def _arguments(args: Iterable[Expr | Star], kwargs: Iterable[tuple[str, Expr]] = ()) -> str:
    positional = [_expr(arg) for arg in args if not (isinstance(arg, Star) and arg.double)]
    named = [f"{name}={_expr(value)}" for name, value in kwargs]
    return ", ".join((*positional, *named, *(_expr(a) for a in args if isinstance(a, Star) and a.double)))


def _group(kind: str, items: list[str], keys: tuple[str, ...]) -> str:
    if kind == "dict":
        return "{" + ", ".join(f'"{k}": {v}' for k, v in zip(keys, items, strict=True)) + "}"
    listed = ", ".join(items)
    if kind == "list":
        return f"[{listed}]"
    if kind in ("named", "data"):
        return f"{'Pair' if kind == 'named' else 'Parts'}({listed})"
    return f"({listed}{',' if len(items) == 1 else ''})"


def _operand(expr: Expr) -> str:
    text = _expr(expr)
    bare = not isinstance(expr, Ternary) and not (isinstance(expr, Op) and OPS[expr.name].infix)
    return text if bare else f"({text})"


# --- inputs ----------------------------------------------------------------------------------------


def _make(program: Program) -> list[str]:
    model = "Model()" if program.training else "Model().eval()"
    lines = ["def make():"]
    if any(new.layer and LAYERS[new.name].random for cls in program.classes for new in news(cls)):
        lines.append(f"{INDENT}torch.manual_seed(0)")
    named, args, kwargs = _handed_in(program, program.inputs)
    lines += [INDENT + line for line in named]
    lines.append(f"{INDENT}return {', '.join([model, args, *([kwargs] if program.kwargs else [])])}")
    return lines


def _handed_in(program: Program, inputs: Given) -> tuple[list[str], str, str]:
    """Lines that name what is handed in twice, the tuple of arguments, and the dict of keyword arguments."""
    given = dict(inputs)
    twice = {node.name for node in nodes(tuple(given.values())) if isinstance(node, Again)}
    lines = [f"{name} = {_input(given[name])}" for name in given if name in twice]
    items = [name if name in twice else _input(given[name]) for name, _ in program.args]
    named = [(name, name if name in twice else _input(given[name])) for name, _ in program.kwargs]
    args = f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    return lines, args, "{" + ", ".join(f'"{name}": {text}' for name, text in named) + "}"


def _input(given: Input) -> str:
    if isinstance(given, TensorInput):
        return _tensor_input(given)
    if isinstance(given, Again):
        return OPS[given.op].template.format(given.name, p=given.params) if given.op else given.name
    if isinstance(given, GroupInput):
        return _group(given.kind, [_input(item) for item in given.items], given.keys)
    return _literal(given.value)


def _tensor_input(given: TensorInput) -> str:
    text = _laid_out(given.fill, given.layout)
    return f"{text}.requires_grad_()" if given.requires_grad else text


# --- dynamic shapes --------------------------------------------------------------------------------


def _dynamic_shapes(program: Program) -> list[str]:
    assert program.dynamic is not None
    lines = ["def dynamic_shapes():"]
    named = {dim.name: dim for dim in program.dynamic.dims}
    lines += [f"{INDENT}{dim.name} = {_dim(dim)}" for dim in named.values() if dim.kind == "named"]
    texts = {
        d.name: d.name if d.kind == "named" else f"torch.export.Dim.{d.kind.upper()}" for d in named.values()
    }
    entries = []
    own = {arg.name for arg in program.root.args}
    for arg in program.root.args:
        if arg.kind in ("rest", "options"):
            given = program.args if arg.kind == "rest" else program.kwargs
            more = {name: _spec(value, name, program, texts) for name, value in given if name not in own}
            kind, keys = ("tuple", ()) if arg.kind == "rest" else ("dict", (*more,))
            text = _group(kind, [*more.values()], keys) if more else ""
        else:
            mine = dict(program.inputs).get(arg.name)
            text = _spec(mine, arg.name, program, texts) if mine is not None else ""
        if text:
            entries.append(f'"{arg.name}": {text}')
    lines.append(f"{INDENT}return {{{', '.join(entries)}}}")
    return lines


def _dim(dim: Dim) -> str:
    limits = [f"{word}={n}" for word, n in (("min", dim.low), ("max", dim.high)) if n is not None]
    return f"torch.export.Dim({', '.join([repr(dim.name), *limits])})"


def _spec(given: Input, name: str, program: Program, texts: dict[str, str]) -> str:
    assert program.dynamic is not None
    if isinstance(given, GroupInput):
        # A registered dataclass is described by the list of its fields.
        return _group(
            "list" if given.kind == "data" else given.kind,
            [_spec(item, "", program, texts) for item in given.items],
            given.keys,
        )
    if isinstance(given, Lit) and isinstance(given.value, Size):
        return _group("tuple", ["None"] * len(given.value), ())
    places = [f"{dim}: {texts[symbol]}" for where, dim, symbol in program.dynamic.places if where == name]
    return "{" + ", ".join(places) + "}" if places else "None"


def _probes(program: Program) -> list[str]:
    assert program.dynamic is not None
    lines = ["def probes():", f"{INDENT}return ["]
    for sizes in program.dynamic.probes:
        named, args, kwargs = _handed_in(program, probe(program, sizes))
        assert not named, "a dynamic Program hands nothing in twice"
        lines.append(f"{INDENT * 2}({args}, {kwargs}),")
    return [*lines, f"{INDENT}]"]
