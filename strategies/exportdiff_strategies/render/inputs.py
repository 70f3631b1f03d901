"""The functions ``make``, ``dynamic_shapes`` and ``probes`` of a source."""

from __future__ import annotations

from exportdiff_strategies import program as ir
from exportdiff_strategies.idioms import KINDS
from exportdiff_strategies.layers import LAYERS
from exportdiff_strategies.ops import OPS
from exportdiff_strategies.render.expressions import group, literal
from exportdiff_strategies.render.statements import INDENT
from exportdiff_strategies.render.tensors import tensor


def make_lines(program: ir.Program) -> list[str]:
    """The function ``make``: it returns the model and its arguments."""
    model = "Model()" if program.training else "Model().eval()"
    model = f"graph_of({model})" if program.graph else model
    lines = ["def make():"]
    if _draws_numbers(program):
        lines.append(f"{INDENT}torch.manual_seed(0)")
    named, args, kwargs = _arguments(program, program.inputs)
    lines += [INDENT + line for line in named]
    lines.append(f"{INDENT}return {', '.join([model, args, *([kwargs] if program.kwargs else [])])}")
    return lines


def _draws_numbers(program: ir.Program) -> bool:
    """Whether the constructors of a Program draw random numbers."""
    inits = ir.of_type(program.classes, ir.InitIdiom)
    if any(KINDS[init.kind].idioms[init.number].random for init in inits):
        return True
    return any(
        new.layer and LAYERS[new.name].random for cls in program.classes for new in ir.new_modules(cls)
    )


def _arguments(program: ir.Program, inputs: ir.NamedInputs) -> tuple[list[str], str, str]:
    """Lines that name inputs that are used twice, the tuple of arguments, the dict of keyword arguments."""
    given = dict(inputs)
    twice = {node.name for node in ir.nodes(tuple(given.values())) if isinstance(node, ir.AliasInput)}
    lines = [f"{name} = {_input(given[name])}" for name in given if name in twice]
    items = [name if name in twice else _input(given[name]) for name, _ in program.args]
    named = [(name, name if name in twice else _input(given[name])) for name, _ in program.kwargs]
    args = f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    return lines, args, "{" + ", ".join(f'"{name}": {text}' for name, text in named) + "}"


def _input(given: ir.Input) -> str:
    if isinstance(given, ir.TensorInput):
        return _tensor_input(given)
    if isinstance(given, ir.AliasInput):
        return OPS[given.op].template.format(given.name, p=given.params) if given.op else given.name
    if isinstance(given, ir.CollectionInput):
        return group(given.kind, [_input(item) for item in given.items], given.keys)
    if isinstance(given, ir.IdiomInput):
        return KINDS[given.kind].idioms[given.number].given
    return literal(given.value)


def _tensor_input(given: ir.TensorInput) -> str:
    if given.history:
        return tensor(given.fill, given.layout, ir.HISTORIES[given.history])
    text = tensor(given.fill, given.layout)
    return f"{text}.requires_grad_()" if given.requires_grad else text


def dynamic_shapes_lines(program: ir.Program) -> list[str]:
    """The function ``dynamic_shapes``, in the form that ``torch.export.export`` takes."""
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
            more = {name: _sizes_of(value, name, program, texts) for name, value in given if name not in own}
            kind, keys = ("tuple", ()) if arg.kind == "rest" else ("dict", (*more,))
            text = group(kind, [*more.values()], keys) if more else ""
        else:
            mine = dict(program.inputs).get(arg.name)
            text = _sizes_of(mine, arg.name, program, texts) if mine is not None else ""
        if text:
            entries.append(f'"{arg.name}": {text}')
    lines.append(f"{INDENT}return {{{', '.join(entries)}}}")
    return lines


def _dim(dim: ir.Dim) -> str:
    if dim.base:
        product = dim.base if dim.times == 1 else f"{dim.times} * {dim.base}"
        return f"{product} + {dim.more}" if dim.more else product
    limits = [f"{word}={n}" for word, n in (("min", dim.low), ("max", dim.high)) if n is not None]
    return f"torch.export.Dim({', '.join([repr(dim.name), *limits])})"


def _sizes_of(given: ir.Input, name: str, program: ir.Program, texts: dict[str, str]) -> str:
    """The dynamic sizes of one input."""
    assert program.dynamic is not None
    if isinstance(given, ir.CollectionInput):
        # A registered dataclass is described by the list of its fields, without those that are None.
        data = given.kind == "data"
        items = [item for item in given.items if not (data and item == ir.Lit(None))]
        texts_of = [_sizes_of(item, "", program, texts) for item in items]
        return group("list" if data else given.kind, texts_of, given.keys)
    if isinstance(given, ir.Lit) and isinstance(given.value, ir.Size):
        return group("tuple", ["None"] * len(given.value), ())
    places = [f"{dim}: {texts[symbol]}" for where, dim, symbol in program.dynamic.places if where == name]
    return "{" + ", ".join(places) + "}" if places else "None"


def probes_lines(program: ir.Program) -> list[str]:
    """The function ``probes``: further arguments, with other sizes."""
    assert program.dynamic is not None
    lines = ["def probes():", f"{INDENT}return ["]
    for sizes in program.dynamic.probes:
        named, args, kwargs = _arguments(program, ir.probe_inputs(program, sizes))
        assert not named, "a dynamic Program passes no tensor twice"
        lines.append(f"{INDENT * 2}({args}, {kwargs}),")
    return [*lines, f"{INDENT}]"]
