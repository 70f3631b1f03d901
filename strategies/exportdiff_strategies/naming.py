"""Unusual names: those that torch uses itself, for attributes, arguments and fields of a finished Program.

An attribute may have the name of an attribute of modules that torch makes (``graph``), of what torch adds to
a module (``lifted_tensor_0``), or of an operator of the program (``add``); an argument, a name that generated
code refers to. Eager accepts such names. Code that disassembles and rebuilds a model must not confuse them
with its own names.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from itertools import pairwise
from typing import Any, TypeVar

from exportdiff_strategies import program as ir
from exportdiff_strategies.ops import OPS
from exportdiff_strategies.swarm import Chooser

N = TypeVar("N")

ATTRIBUTES = (
    # Usual names of tensors or layers that are also attributes or methods of fx.GraphModule.
    *("graph", "code", "meta", "recompile", "print_readable"),
    # Attributes of the modules that unflatten makes.
    *("graph_module", "ivals", "adapted"),
    *("module_call_graph", "range_constraints", "check_input_constraints"),
    # Names that export adds: constants, the graphs of regions and branches.
    *("lifted_tensor_0", "submod_1", "true_graph_0"),
    # The module itself, in the code of a graph: BERT has a child of this name.
    "self",
)
"""Names for attributes."""

WORDS = ("class", "global", "from")
"""Names for attributes that only getattr and setattr accept."""

METHODS = ("type", "half", "float", "bfloat16")
"""Names for plain tensors: methods of nn.Module that an attribute may hide, but a buffer may not."""

KEYS = ("class", "graph", "a b", "1")
"""Names for children in an ``nn.ModuleDict``; some are not Python names."""

ARGUMENTS = (
    # Globals of the code of a graph.
    *("inf", "nan", "device", "pytree"),
    # Arguments of the functions around a graph, and nodes of a graph.
    *("args_0", "flat_args", "self_", "output", "x_1"),
    # Names that export derives from the names of state.
    *("p_w", "b_mean", "c_lifted_tensor_0"),
)
"""Names for arguments of the model."""

RECORDS = (("value", "value_max"), ("keys", "values"), ("index", "count"), ("x", "x_0"))
"""Names for the fields of namedtuples and dataclasses: prefixes of each other, or methods of containers."""


def with_unusual_names(program: ir.Program, choose: Chooser) -> ir.Program:
    """A Program with other names for some of its parts, consistently."""
    if program.graph or any(child.traced for child in ir.of_type(program.classes, ir.NewChild)):
        # Eager runs the result of torch.fx.symbolic_trace, which may change names itself.
        return program
    if choose.maybe("names.of_torch", 75):
        program = _with_attributes(program, choose)
    if choose.maybe("names.prefix", 75):
        program = _with_prefixes(program, choose)
    if choose.maybe("names.operator", 75):
        program = _as_operators(program, choose)
    if choose.maybe("names.argument", 75):
        program = _with_arguments(program, choose)
    if choose.maybe("calls.unnamed", 60):
        program = _with_positional_only(program, choose)
    if choose.maybe("calls.keyword_only", 75):
        program = _with_keyword_only(program)
    inputs = tuple(given for _, given in program.inputs)
    found = [*ir.nodes((program.classes, inputs))]
    records = any(
        isinstance(node, ir.Collection | ir.CollectionInput) and node.keys == ir.FIELDS for node in found
    )
    if records and choose.maybe("names.fields", 60):
        program = with_fields(program, choose.pick(RECORDS))
    members = any(isinstance(node, ir.Lit) and isinstance(node.value, ir.Kind) for node in found)
    if members and choose.on("calls.enum_base"):
        program = replace(program, enum=choose.pick([*ir.ENUMS]))
    nodes = node_names(program)
    plain = [arg.name for arg in program.root.args if arg.kind not in ("rest", "options")]
    if nodes and set(plain).isdisjoint(ARGUMENTS) and choose.maybe("names.operator", 60):
        program = with_arguments(program, {choose.pick(plain): choose.pick(nodes)})
    return program


# --- attributes ------------------------------------------------------------------------------------


def _with_attributes(program: ir.Program, choose: Chooser) -> ir.Program:
    """Rename one to three attributes, or a child of a ``ModuleDict``."""
    attributes = attribute_names(program)
    boxes = (
        node for node in ir.nodes(program.classes) if isinstance(node, ir.Container | ir.TensorContainer)
    )
    keys = {key: None for box in boxes for key in box.keys}
    if keys and choose.chance(30):
        return renamed(program, {}, {choose.pick([*keys]): choose.pick(KEYS)})
    if not attributes:
        return program
    taken = taken_names(program)
    chosen: dict[str, str] = {}
    for _ in range(1 + choose.upto(2)):
        old = choose.pick(attributes)
        new = choose.member(names_for(program, old))
        if old not in chosen and new not in taken:
            chosen[old] = new
            taken.add(new)
    return renamed(program, chosen, {})


SUFFIXES = ("1", "_1", "s", "_0", "_")
"""What follows the name of one attribute in that of another."""


def _with_prefixes(program: ir.Program, choose: Chooser) -> ir.Program:
    """Rename a child so that its name begins with that of its sibling."""
    siblings = [
        (one.attr, other.attr)
        for cls in program.classes
        for one, other in pairwise(init for init in cls.init if isinstance(init, ir.NewChild | ir.Container))
    ]
    if not siblings:
        return program
    first, second = choose.pick(siblings)
    name = first + choose.pick(SUFFIXES)
    return program if name in taken_names(program) else renamed(program, {second: name}, {})


def taken_names(program: ir.Program) -> set[str]:
    """The names of all attributes."""
    others = {node.attr for node in ir.nodes(program.classes) if isinstance(node, ir.PythonAttr)}
    others |= {str(bind.target[-1]) for bind in ir.of_type(program.classes, ir.Bind)}
    return others.union(attribute_names(program))


def names_for(program: ir.Program, attr: str) -> list[Sequence[str]]:
    """Names that an attribute can have, in groups."""
    swapped = any(attr in (*swap.first, *swap.second) for swap in ir.of_type(program.classes, ir.Swap))
    words = () if swapped else WORDS
    made = [node for node in ir.nodes(program.classes) if getattr(node, "attr", "") == attr]
    # If the attribute is bound again elsewhere, it may be a module, and methods of modules must stay.
    bound = any(attr in bind.target for bind in ir.of_type(program.classes, ir.Bind))
    if not bound and all(
        isinstance(node, ir.TensorAttr | ir.DerivedTensor) and node.kind == "constant" for node in made
    ):
        return [ATTRIBUTES, (*METHODS, *words)]
    return [(*ATTRIBUTES, *words)]


def _as_operators(program: ir.Program, choose: Chooser) -> ir.Program:
    """Rename tensors to operators of their class: a buffer ``mean`` next to a call of ``mean``."""
    taken = taken_names(program)
    literals = [LITERAL] if LITERAL in operator_names(program) else []
    chosen: dict[str, str] = {}
    for cls in reversed(program.classes):
        operators = [*literals, *(name for name in operator_names(cls) if name != LITERAL)]
        for tensor in ir.of_type(cls.init, ir.TensorAttr):
            free = [name for name in operators if name not in taken]
            if free and tensor.attr and tensor.attr not in chosen and choose.chance(80):
                chosen[tensor.attr] = choose.mostly_first(free)
                taken.add(chosen[tensor.attr])
    return renamed(program, chosen, {})


_INFIX = {"+": "add", "-": "sub", "*": "mul", "/": "div", "@": "matmul"}
_RESERVED = frozenset(
    {"tensor", "to", "cpu", "type", "float", "half", "double", "bfloat16", "requires_grad_", "apply"}
)
"""Operators that cannot name a buffer: methods of nn.Module, and those that a graph names LITERAL."""


LITERAL = "lifted_tensor_0"
"""The name that export gives to the first tensor literal in forward."""


def operator_names(node: ir.Program | ir.ClassDef) -> tuple[str, ...]:
    """The names in a graph of the operators of a Program or class, with LITERAL if there is one."""
    found: dict[str, None] = {}
    for op in ir.of_type(node.classes if isinstance(node, ir.Program) else (node,), ir.Op):
        template = OPS[op.name].template
        found |= dict.fromkeys(re.findall(r"\.(\w+)\(", template))
        found |= {name: None for sign, name in _INFIX.items() if f" {sign} " in template}
    if "tensor" in found:
        found[LITERAL] = None
    return tuple(name for name in found if name not in _RESERVED)


def attribute_names(program: ir.Program) -> tuple[str, ...]:
    """The attributes that hold a child, a container or a tensor, each once, in source order."""
    kinds = (
        ir.NewChild | ir.CopiedModule | ir.TensorAttr | ir.TensorContainer | ir.Container | ir.DerivedTensor
    )
    made = [node for node in ir.nodes(program.classes) if isinstance(node, kinds)]
    return tuple(dict.fromkeys(node.attr for node in made if node.attr))


def renamed(node: N, attributes: Mapping[str, str], keys: Mapping[str, str]) -> N:
    """A Program or a part of one with other names, where attributes are made and in all paths.

    ``attributes`` and ``keys`` (of a ``ModuleDict``) map each old name to the new one.
    """

    def path(steps: ir.AttributePath) -> ir.AttributePath:
        return tuple(attributes.get(step, step) if isinstance(step, str) else step for step in steps)

    def change(node: Any) -> Any:
        if isinstance(node, ir.Key):
            return ir.Key(keys.get(node.name, node.name))
        changed: dict[str, Any] = {}
        for field in fields(node):
            if field.type == "AttributePath":
                changed[field.name] = path(getattr(node, field.name))
            elif field.name == "attr":
                changed["attr"] = attributes.get(node.attr, node.attr)
        if isinstance(node, ir.Container | ir.TensorContainer):
            changed["keys"] = tuple(keys.get(key, key) for key in node.keys)
        if isinstance(node, ir.Container):
            changed["items"] = tuple(path(item) if isinstance(item, tuple) else item for item in node.items)
        return replace(node, **changed)

    result: N = ir.rewritten(node, change)
    return result


# --- arguments -------------------------------------------------------------------------------------


def _with_arguments(program: ir.Program, choose: Chooser) -> ir.Program:
    """Rename arguments of the model."""
    old = [arg.name for arg in program.root.args if arg.kind not in ("rest", "options")]
    chosen: dict[str, str] = {}
    for name in old:
        if choose.chance(70):
            chosen[name] = choose.pick([new for new in ARGUMENTS if new not in chosen.values()])
    return with_arguments(program, chosen)


def node_names(program: ir.Program) -> list[str]:
    """The names that nodes of the graph may have: that of an operator, numbered from its second call on."""
    names = [name for name in operator_names(program) if not hasattr(builtins, name)]
    return [name + suffix for name in names for suffix in ("_1", "", "_2")]


_NAMING: dict[type, tuple[str, ...]] = {
    **dict.fromkeys((ir.Assign, ir.Loop, ir.Control), ("target",)),
    **dict.fromkeys((ir.Arg, ir.Var, ir.AliasInput), ("name",)),
    ir.Repeat: ("var",),
    ir.LocalFunction: ("name", "args"),
}
"""Kind of node -> the fields that name a variable."""


def with_arguments(program: ir.Program, names: Mapping[str, str]) -> ir.Program:
    """A Program with other names for the arguments of the model; ``names`` maps old to new ones."""

    def given(pairs: tuple[tuple[str, Any], ...]) -> tuple[tuple[str, Any], ...]:
        return tuple((names.get(name, name), _variables(value, names)) for name, value in pairs)

    root = replace(
        program.root, args=_variables(program.root.args, names), body=_variables(program.root.body, names)
    )
    dynamic = program.dynamic
    if dynamic is not None:
        places = tuple((names.get(name, name), dim, symbol) for name, dim, symbol in dynamic.places)
        dynamic = replace(dynamic, places=places)
    return replace(
        program,
        classes=(*program.classes[:-1], root),
        args=given(program.args),
        kwargs=given(program.kwargs),
        dynamic=dynamic,
    )


def _variables(node: Any, names: Mapping[str, str]) -> Any:
    def change(node: Any) -> Any:
        changed: dict[str, Any] = {}
        for field in _NAMING.get(type(node), ()):
            value = getattr(node, field)
            several = isinstance(value, tuple)
            changed[field] = tuple(names.get(v, v) for v in value) if several else names.get(value, value)
        return replace(node, **changed)

    return ir.rewritten(node, change)


def _with_positional_only(program: ir.Program, choose: Chooser) -> ir.Program:
    """Make the first arguments of methods positional-only, if no call passes them by keyword."""
    keywords = {name for call in ir.of_type(program.classes, ir.CallModule) for name, _ in call.kwargs}
    classes = tuple(
        _positional_only(cls, {*keywords, *dict(program.kwargs)} if cls is program.root else keywords, choose)
        for cls in program.classes
    )
    return replace(program, classes=classes)


def _positional_only(cls: ir.ClassDef, keywords: set[str], choose: Chooser) -> ir.ClassDef:
    free = [arg.kind not in ("rest", "options") and arg.name not in keywords for arg in cls.args]
    most = free.index(False) if False in free else len(free)
    count = 1 + choose.upto(most - 1) if most and choose.chance(60) else 0
    return replace(cls, args=tuple(replace(arg, unnamed=n < count) for n, arg in enumerate(cls.args)))


def _with_keyword_only(program: ir.Program) -> ir.Program:
    """Make those last arguments of ``forward`` keyword-only that no call passes by position."""
    calls = ir.of_type(program.classes, ir.CallModule)
    if any(isinstance(arg, ir.Star) and not arg.double for call in calls for arg in call.args):
        return program
    most = max((len(call.args) for call in calls), default=0)
    root = _keyword_only(program.root, len(program.args))
    others = (_keyword_only(cls, max(most, 1)) for cls in program.classes[:-1])
    return replace(program, classes=(*others, root))


def _keyword_only(cls: ir.ClassDef, positional: int) -> ir.ClassDef:
    if any(arg.kind == "rest" for arg in cls.args):
        return cls
    first = max(positional, sum(arg.unnamed for arg in cls.args))
    args = tuple(
        replace(arg, keyword=number >= first and arg.kind != "options") for number, arg in enumerate(cls.args)
    )
    return replace(cls, args=args)


# --- fields ----------------------------------------------------------------------------------------


def with_fields(node: N, names: tuple[str, str]) -> N:
    """A Program or a part of one with other fields of namedtuples and dataclasses."""

    def change(node: Any) -> Any:
        if isinstance(node, ir.Collection | ir.CollectionInput) and node.keys == ir.FIELDS:
            return replace(node, keys=names)
        if isinstance(node, ir.Item) and node.dotted and node.key in ir.FIELDS:
            return replace(node, key=names[ir.FIELDS.index(str(node.key))])
        return node

    result: N = ir.rewritten(node, change)
    return result
