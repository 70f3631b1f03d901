"""Module classes as lines of source."""

from __future__ import annotations

from collections.abc import Sequence

from exportdiff_strategies import program as ir
from exportdiff_strategies.idioms import KINDS
from exportdiff_strategies.layers import LAYERS
from exportdiff_strategies.ops import OPS
from exportdiff_strategies.regions import HOOKS, PARAMETRIZATIONS, REGIONS
from exportdiff_strategies.render.expressions import assignment, group, literal, path_text
from exportdiff_strategies.render.statements import INDENT, body_lines
from exportdiff_strategies.render.tensors import tensor

_SCALED = frozenset({"float16", "bfloat16", "float32", "float64", "complex64"})
"""The dtypes of tensors that a scale multiplies."""


def class_lines(cls: ir.ClassDef, scaled: bool) -> list[str]:
    """The definition of a class; ``scaled``: its constructor takes a scale."""
    lines = [f"class {cls.name}(nn.Module):"]
    parameters = ["self", *(["guest"] if cls.guest else []), *(["scale=1.0"] if scaled else [])]
    if len(parameters) > 1 or cls.init:
        lines.append(f"{INDENT}def __init__({', '.join(parameters)}):")
        lines.append(f"{INDENT * 2}super().__init__()")
        if cls.guest:
            lines.append(f"{INDENT * 2}self.guest = guest")
        for init in cls.init:
            lines += [INDENT * 2 + line for line in _statement(init, scaled).splitlines()]
        lines.append("")
    lines += _method("forward", cls.args, cls.body)
    for method in cls.methods:
        lines.append("")
        lines += _method(method.name, method.args, method.body)
    return lines


def _method(name: str, args: Sequence[ir.Arg], body: Sequence[ir.Stmt]) -> list[str]:
    """A method of a class."""
    arguments = ["self", *map(_parameter, args)]
    unnamed = sum(arg.unnamed for arg in args)
    if unnamed:
        arguments.insert(1 + unnamed, "/")
    keywords = sum(arg.keyword for arg in args)
    if keywords:
        first = next(number for number, arg in enumerate(args) if arg.keyword)
        arguments.insert(1 + first + bool(unnamed), "*")
    lines = []
    if len(body) == 1 and isinstance(body[0], ir.With) and body[0].decorator:
        lines.append(f"{INDENT}@{REGIONS[body[0].region].template}")
        body = body[0].body
    return [*lines, f"{INDENT}def {name}({', '.join(arguments)}):", *body_lines(body, 2)]


def _parameter(arg: ir.Arg) -> str:
    stars = {"rest": "*", "options": "**"}.get(arg.kind, "")
    return stars + (arg.name if arg.default is None else f"{arg.name}={literal(arg.default.value)}")


def _statement(init: ir.Init, scaled: bool) -> str:
    if isinstance(init, ir.NewChild):
        made = _module(init.new)
        return assignment((init.attr,), f"torch.fx.symbolic_trace({made})" if init.traced else made)
    if isinstance(init, ir.CopiedModule):
        function = "copy.deepcopy" if init.deep else "copy.copy"
        return assignment((init.attr,), f"{function}({path_text(init.source)})")
    if isinstance(init, ir.TensorContainer):
        return assignment((init.attr,), _held(init))
    if isinstance(init, ir.UnsetTensor):
        return _registered(init.attr, init.kind, "None")
    if isinstance(init, ir.Bind):
        *holder, name = init.target
        source = path_text(init.source)
        if init.aside:
            return f'object.__setattr__({path_text(tuple(holder))}, "{name}", {source})'
        return assignment(init.target, source)
    if isinstance(init, ir.Container):
        return assignment((init.attr,), _container(init))
    if isinstance(init, ir.PythonAttr):
        return assignment((init.attr,), repr(init.value))
    if isinstance(init, ir.DerivedTensor):
        source = path_text(init.source)
        if init.op:
            source = OPS[init.op].template.format(source + ".data", p=init.params)
        return _registered(init.attr, init.kind, source)
    if isinstance(init, ir.InitIdiom):
        return KINDS[init.kind].idioms[init.number].init
    if isinstance(init, ir.Hook):
        return f"{path_text(init.path)}.{HOOKS[init.name].registration}({init.name})"
    if isinstance(init, ir.Parametrize):
        return PARAMETRIZATIONS[init.name].template.format(
            m=path_text(init.path), name=init.attr, w=path_text((*init.path, init.attr)), cls=init.name
        )
    scale = " * scale" if scaled and init.fill.dtype in _SCALED else ""
    value = tensor(init.fill, init.layout, scale)
    return _registered(init.attr, init.kind, value, frozen=init.frozen)


def _container(box: ir.Container) -> str:
    items = [_item(item) for item in box.items]
    if box.kind in ("list", "dict"):
        return group(box.kind, items, box.keys)
    if box.kind == "ModuleDict":
        return f"nn.ModuleDict({group('dict', items, box.keys)})"
    listed = ", ".join(items)
    return f"nn.{box.kind}({f'[{listed}]' if box.kind == 'ModuleList' else listed})"


def _held(box: ir.TensorContainer) -> str:
    items = [
        f"nn.Parameter({tensor(item.fill, '')})" if item.kind == "parameter" else tensor(item.fill, "")
        for item in box.items
    ]
    if box.kind in ("list", "dict"):
        return group(box.kind, items, box.keys)
    return f"nn.{box.kind}({group('dict' if box.keys else 'list', items, box.keys)})"


def _item(item: ir.New | ir.AttributePath | ir.Container) -> str:
    if isinstance(item, ir.New):
        return _module(item)
    return _container(item) if isinstance(item, ir.Container) else path_text(item)


def _registered(attr: str, kind: str, value: str, *, frozen: bool = False) -> str:
    if kind == "parameter":
        return assignment((attr,), f"nn.Parameter({value}{', requires_grad=False' if frozen else ''})")
    if kind == "constant":
        return assignment((attr,), value)
    persistent = ", persistent=False" if kind == "scratch" else ""
    return f'self.register_buffer("{attr}", {value}{persistent})'


def _module(new: ir.New) -> str:
    if new.layer:
        return LAYERS[new.name].template.format(p=new.params)
    arguments = [path_text(new.guest)] if new.guest else []
    if new.scale != 1.0:
        arguments.append(f"scale={new.scale}" if new.guest else str(new.scale))
    return f"{new.name}({', '.join(arguments)})"
