"""The table of feature tags: what a Program contains and does, with a line of explanation each.

To add a tag, add one entry to TAGS. A tag's detector reads the finished Program and a run of it on types, so
that a tag says what is there and not what was meant to be drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from strategies import facts as f
from strategies.conditions import CONDS, MODES, RELATIONS
from strategies.control import CONTROLS
from strategies.drawing.values import ODD_TEXTS
from strategies.facts import Facts
from strategies.layers import LAYERS
from strategies.naming import ARGUMENTS, ATTRIBUTES, KEYS, METHODS, WORDS, operator_names
from strategies.ops import OPS
from strategies.ops.views import TURNS
from strategies.program import (
    FIELDS,
    FLAGS,
    Again,
    Apply,
    Arg,
    Attr,
    Bound,
    Bump,
    Call,
    Child,
    Cond,
    Container,
    Control,
    Derived,
    Fact,
    Function,
    Given,
    Group,
    GroupInput,
    Hook,
    If,
    Item,
    Kind,
    Lit,
    Loop,
    Method,
    New,
    Op,
    Parametrize,
    Program,
    Repeat,
    Return,
    Set,
    Size,
    Star,
    Swap,
    Tensor,
    Ternary,
    With,
    of_type,
)
from strategies.regions import HOOKS
from strategies.values import Ref

Detector = Callable[[Facts], bool]


@dataclass(frozen=True, slots=True)
class Tag:
    """What a tag means, and how a Program is recognized to have it."""

    meaning: str
    detect: Detector


def tags_of(program: Program) -> frozenset[str]:
    """The tags of a Program that eager accepts."""
    facts = Facts(program)
    return frozenset(name for name, tag in TAGS.items() if tag.detect(facts))


# --- detectors by what they look at ------------------------------------------------------------------


def _init(kind: type, test: Callable[..., bool] = lambda node: True) -> Detector:
    return lambda p: p.having(kind, test)


def _mark(name: str) -> Detector:
    return lambda p: name in p.trace.marks


def _arg(*kinds: str) -> Detector:
    return lambda p: any(
        a.kind in kinds for cls in p.classes[:-1] for a in of_type((cls.args, cls.methods), Arg)
    )


def _tests(name: str) -> Detector:
    return lambda p: p.having(Cond, lambda c: c.name == name)


def _tells(name: str) -> Detector:
    return lambda p: p.having(Fact, lambda fact: fact.name == name)


def _wrote(*kinds: str) -> Detector:
    return lambda p: any(w.kind in kinds for w in p.writes)


def _runs(*names: str) -> Detector:
    wanted = frozenset(names)
    return lambda p: not wanted.isdisjoint(p.op_names)


def _group(name: str) -> Detector:
    return lambda p: name in p.op_groups


def _role(*roles: str) -> Detector:
    return lambda p: any(role in roles for _, role in p.outputs)


def _returns(kind: str) -> Detector:
    return lambda p: any(
        group.kind == kind for r in of_type(p.root.body, Return) for group in of_type(r.value, Group)
    )


def _dtype_input(dtype: str) -> Detector:
    return lambda p: any(t.fill.dtype == dtype for t in f.tensor_inputs(p))


def _group_input(kind: str) -> Detector:
    return lambda p: any(isinstance(i, GroupInput) and i.kind == kind for i in p.inputs)


def _layout(name: str) -> Detector:
    return lambda p: any(t.layout == name for t in f.tensor_inputs(p))


def _shaped(test: Callable[[tuple[int, ...]], bool]) -> Detector:
    return lambda p: any(test(t.fill.shape) for t in f.tensor_inputs(p))


def _given(*kinds: type) -> Detector:
    return lambda p: any(isinstance(i, Lit) and type(i.value) in kinds for i in p.inputs)


def _control(name: str) -> Detector:
    return _init(Control, lambda c: c.name == name)


def _region(name: str) -> Detector:
    return _init(With, lambda w: w.region == name)


def _dynamic(test: Callable[..., bool]) -> Detector:
    return lambda p: p.program.dynamic is not None and test(p.program.dynamic)


# --- detectors of their own --------------------------------------------------------------------------


def _named_as_torch(p: Facts) -> bool:
    attributes = {getattr(node, "attr", "") for node in p.nodes}
    keys = {key for node in p.nodes if isinstance(node, Container) for key in node.keys}
    return not attributes.isdisjoint((*ATTRIBUTES, *METHODS, *WORDS)) or not keys.isdisjoint(KEYS)


def _named_as_operator(p: Facts) -> bool:
    return not {getattr(node, "attr", "") for node in p.nodes}.isdisjoint(operator_names(p.program))


def _passes_down(p: Facts) -> bool:
    for cls in p.classes:
        flags = {arg.name for arg in cls.args if arg.kind in FLAGS}
        for call in of_type(cls.body, Call):
            given = [*call.args, *(value for _, value in call.kwargs)]
            names = [getattr(v, "flag", v) for v in given]
            if any(getattr(v, "name", None) in flags for v in names):
                return True
    return False


def _calls_kin(p: Facts) -> bool:
    for cls in p.classes:
        callees = [call.callee for call in of_type(cls.body, Call) if call.callee]
        if any(a != b and b[: len(a)] == a for a in callees for b in callees):
            return True
    return False


def _early_return(p: Facts) -> bool:
    return any(of_type((stmt.then, stmt.orelse), Return) for stmt in p.nodes if isinstance(stmt, If))


def _one_branch(p: Facts) -> bool:
    def writes(body: object) -> bool:
        return any(OPS[op.name].mutates for op in of_type(body, Op))

    return any(writes(s.then) is not writes(s.orelse) for s in p.nodes if isinstance(s, If))


def _elif(p: Facts) -> bool:
    return any(isinstance(s, If) and len(s.orelse) == 1 and isinstance(s.orelse[0], If) for s in p.nodes)


def _never_called(p: Facts) -> bool:
    called = {call.callee for call in p.called}
    return any(
        id(place.module) not in called and not isinstance(place.module.kind, str) for place in p.places
    )


def _alias_levels(p: Facts) -> bool:
    return any(len({place.depth for place in group}) > 1 for group in f.parents(p))


def _two_parents(p: Facts) -> bool:
    return any(len({id(place.parent) for place in group}) > 1 for group in f.parents(p))


def _one_parent_twice(p: Facts) -> bool:
    ways = ({(id(place.parent), place.step) for place in group} for group in f.parents(p))
    return any(len({parent for parent, _ in names}) < len(names) for names in ways)


def _state_refs(p: Facts) -> list[Ref]:
    refs = {id(v): v for place in p.places for v in place.module.attrs.values() if isinstance(v, Ref)}
    return [*refs.values()]


def _one_storage(p: Facts) -> bool:
    if p.having(Derived, lambda derived: bool(derived.op)):
        return True  # at the start; an assignment to `.data` may part them
    kinds = ("buffer", "scratch", "constant")
    storages = [ref.storage for ref in _state_refs(p) if ref.view or ref.storage.kind in kinds]
    return len(set(storages)) < len(storages)


def _view_of_parameter(p: Facts) -> bool:
    return any(ref.view and ref.storage.kind == "parameter" for ref in _state_refs(p))


def _tied(p: Facts) -> bool:
    seen: dict[int, int] = {}
    modules = {id(place.module): place.module for place in p.places}
    for module in modules.values():
        for value in module.attrs.values():
            if isinstance(value, Ref):
                seen[id(value)] = seen.get(id(value), 0) + 1
    return any(count > 1 for count in seen.values())


def _unused_parameter(p: Facts) -> bool:
    return any(
        isinstance(init, Tensor) and init.kind == "parameter" and id(init) not in p.trace.used
        for cls in p.classes
        for init in cls.init
    )


def _running_statistics(p: Facts) -> bool:
    return p.program.training and p.having(New, lambda n: n.layer and n.name.startswith("batch_norm"))


def _control_calls(p: Facts, shared: bool) -> bool:
    for control in (n for n in p.nodes if isinstance(n, Control)):
        callees = [{call.callee for call in of_type(function, Call)} for function in control.functions]
        if shared and len(callees) > 1 and callees[0] & callees[1]:
            return True
        if not shared and any(callees):
            return True
    return False


def _control_reads(p: Facts) -> bool:
    return any(of_type(function, Attr) for n in p.nodes if isinstance(n, Control) for function in n.functions)


def _duplicate(p: Facts) -> bool:
    tensors = [id(leaf) for leaf, _ in p.outputs if isinstance(leaf, Ref)]
    return len(set(tensors)) < len(tensors)


def _nested_output(p: Facts) -> bool:
    return any(
        isinstance(item, Group)
        for r in of_type(p.root.body, Return)
        for g in of_type(r.value, Group)
        for item in g.items
    )


def _further(p: Facts, given: Given) -> bool:
    own = {arg.name for arg in p.root.args}
    return p.program.dynamic is not None and any(name not in own for name, _ in given)


def _turned(op: Op) -> bool:
    first = op.operands[0]
    return isinstance(first, Op) and first.name in TURNS and not OPS[op.name].mutates


def _literal(op: Op) -> bool:
    first = op.operands[0]
    return f.chained(op) and isinstance(first, Op) and "torch.tensor(" in OPS[first.name].template


def _paired(op: Op) -> bool:
    first, *rest = op.operands
    second = rest[0] if rest else None
    if not isinstance(first, Op) or not isinstance(second, Op) or first == second:
        return False
    return set(first.operands) == set(second.operands)


def _infinite(p: Facts) -> bool:
    literals = (n.value for n in (*p.nodes, *p.inputs) if isinstance(n, Lit))
    return any(isinstance(value, float) and not math.isfinite(value) for value in literals)


def _detached(op: Op) -> bool:
    first = op.operands[0]
    return f.chained(op) and isinstance(first, Op) and first.name in ("detach", "data")


def _branch_on_size(p: Facts) -> bool:
    asked = ("size", "even_size", "size_is", "numel")
    return p.program.dynamic is not None and p.having(Cond, lambda c: c.name in asked)


# --- the table ---------------------------------------------------------------------------------------

_CONDITIONS = {
    "truthy": "a branch on a flag, a number, or whether there are further arguments",
    "not": "a branch on a negated flag",
    "equals": "a branch on equality with a constant",
    "in": "a branch on membership in a tuple of constants",
    "is_member": "a branch on the member of an enumeration",
    "length": "a branch on the length of a torch.Size",
    "above": "a branch on a comparison of a Python int",
    "is_none": "a branch on `is None`",
    "is_given": "a branch on `is not None`",
    "is_tensor": "a branch on isinstance of torch.Tensor",
    "is_tuple": "a branch on isinstance of tuple",
    "has_key": "a branch on a key in **options",
    "training": "a branch on self.training",
    "size": "a branch on x.shape",
    "even_size": "a branch on whether a size is even",
    "size_is": "a branch on whether a size is a certain one",
    "numel": "a branch on x.numel()",
    "rank": "a branch on x.dim()",
    "dtype": "a branch on x.dtype",
    "contiguous": "a branch on x.is_contiguous()",
    "stride": "a branch on x.stride()",
    "requires_grad": "a branch on x.requires_grad",
    "same": "a branch on whether two tensors are one",
    "other": "a branch on whether two tensors are two",
    "grad_enabled": "a branch on torch.is_grad_enabled()",
}
assert _CONDITIONS.keys() == CONDS.keys() | MODES.keys() | RELATIONS.keys()

_METADATA = (
    *("t_", "transpose_", "swapaxes_", "squeeze_", "unsqueeze_"),
    *("resize_", "as_strided_", "set_", "set_data", "requires_grad_", "detach_"),
)
_VALUES = (
    *("add_", "copy_", "clamp_", "relu_", "f_relu_", "masked_fill_"),
    *("index_put_", "scatter_", "zero_"),
)

TAGS: dict[str, Tag] = {
    "hierarchy.flat": Tag("the root is the only module class", lambda p: f.depth(p) == 1),
    "hierarchy.depth2": Tag("two levels of module classes", lambda p: f.depth(p) == 2),
    "hierarchy.depth3": Tag("three levels of module classes", lambda p: f.depth(p) == 3),
    "hierarchy.depth4": Tag("four levels of module classes", lambda p: f.depth(p) == 4),
    "hierarchy.shared": Tag("one instance under two attributes of one module", _one_parent_twice),
    "hierarchy.two_parents": Tag("one instance under attributes of two modules", _two_parents),
    "hierarchy.alias_levels": Tag("one instance at two depths", _alias_levels),
    "hierarchy.recursive": Tag(
        "one instance called by two modules", lambda p: any(len(c) > 1 for c in f.callers(p).values())
    ),
    "hierarchy.guest": Tag("an existing module handed to a constructor", _init(New, lambda n: bool(n.guest))),
    "hierarchy.module_list": Tag("an nn.ModuleList", _init(Container, lambda c: c.kind == "ModuleList")),
    "hierarchy.module_dict": Tag("an nn.ModuleDict", _init(Container, lambda c: c.kind == "ModuleDict")),
    "hierarchy.sequential": Tag("an nn.Sequential", _init(Container, lambda c: c.kind == "Sequential")),
    "hierarchy.nested_container": Tag(
        "a container in a container",
        _init(Container, lambda c: any(isinstance(item, Container) for item in c.items)),
    ),
    "hierarchy.sliced": Tag("part of a container iterated or called", f.sliced),
    "hierarchy.never_called": Tag("a module that nothing calls", _never_called),
    "hierarchy.no_op_child": Tag("a call of a child that runs no tensor op", _mark("hierarchy.no_op_child")),
    "hierarchy.graph_module": Tag("an fx.GraphModule child", _init(Child, lambda c: c.traced)),
    "hierarchy.hook": Tag("a forward hook", _init(Hook, lambda h: not HOOKS[h.name].before)),
    "hierarchy.pre_hook": Tag("a forward pre-hook", _init(Hook, lambda h: HOOKS[h.name].before)),
    "hierarchy.parametrized": Tag("torch.nn.utils.parametrize on a module", _init(Parametrize)),
    **{
        f"layer.{name}": Tag(
            f"the layer {name} of nn", _init(New, lambda n, name=name: n.layer and n.name == name)
        )
        for name in LAYERS
    },
    "calls.repeated": Tag("a module called twice", lambda p: f.repeated(p, False)),
    "calls.other_flags": Tag(
        "a module called twice with other Python arguments", lambda p: f.repeated(p, True)
    ),
    "calls.flags_two_levels": Tag(
        "Python arguments that differ between calls, two levels down", lambda p: f.repeated(p, True, 2)
    ),
    "calls.flags_three_levels": Tag(
        "Python arguments that differ between calls, three levels down", lambda p: f.repeated(p, True, 3)
    ),
    "calls.bool": Tag("a child takes a bool", _arg("bool")),
    "calls.int": Tag("a child takes an int", _arg("int")),
    "calls.float": Tag("a child takes a float", _arg("float")),
    "calls.infinite": Tag("a float that is infinite or not a number", _infinite),
    "calls.str": Tag("a child takes a str", _arg("str")),
    "calls.enum": Tag("a child takes a member of an enumeration", _arg("enum")),
    "calls.enum_base": Tag(
        "an enumeration that is a flag, or whose members are numbers or texts",
        lambda p: p.program.enum != "Enum",
    ),
    "calls.size": Tag("a child takes a torch.Size", _arg("size")),
    "calls.unnamed": Tag("arguments that cannot be given by keyword", _init(Arg, lambda a: a.unnamed)),
    "calls.optional": Tag("a child takes an optional tensor", _arg("optional")),
    "calls.group": Tag(
        "a child takes a tuple, list, dict, namedtuple or dataclass",
        _arg("tuple", "list", "dict", "named", "data"),
    ),
    "calls.either": Tag("a child takes a tensor or a tuple", _arg("either")),
    "calls.rest": Tag("a child takes *args", _arg("rest")),
    "calls.options": Tag("a child takes **kwargs", _arg("options")),
    "calls.star": Tag("*args or **kwargs handed on", _init(Star)),
    "calls.keyword": Tag("an argument by keyword", _init(Call, lambda c: bool(c.kwargs))),
    "calls.keyword_order": Tag("arguments by keyword in another order", _mark("calls.keyword_order")),
    "calls.default": Tag("an argument of a child left to its default", _mark("calls.default")),
    "calls.none": Tag(
        "None passed where a tensor may be",
        _init(Call, lambda c: Lit(None) in (*c.args, *(value for _, value in c.kwargs))),
    ),
    "calls.passed_down": Tag("a flag of the caller passed on", _passes_down),
    "calls.deep": Tag("a call past a child, of its own child", _mark("calls.deep")),
    "calls.expression": Tag(
        "an argument of a call computed on the spot",
        _init(Call, lambda c: bool(c.args) and isinstance(c.args[0], Op)),
    ),
    "calls.family": Tag("a module called, and one that hangs on it, by the same caller", _calls_kin),
    "calls.own_state": Tag("a module called with a tensor of its own", _mark("calls.own_state")),
    "calls.dropped": Tag(
        "a call whose result is not used", lambda p: any(f.dropped_calls(cls) for cls in p.classes)
    ),
    "calls.loop": Tag("a loop over a container", _init(Loop)),
    "calls.method": Tag("a method that is not forward", _init(Method)),
    "calls.method_calls_forward": Tag(
        "a method that calls self.forward",
        _init(Method, lambda m: any(c.callee == () and c.method == "forward" for c in of_type(m.body, Call))),
    ),
    "calls.forward_directly": Tag("module.forward called without hooks", _mark("calls.forward_directly")),
    "calls.function": Tag("a function of torch passed down", _init(Function)),
    "calls.bound_method": Tag("a module or a bound method passed down", _init(Bound)),
    "calls.applied": Tag("something callable that was passed in is called", _init(Apply)),
    "calls.untouched": Tag("a child hands an argument back untouched", _mark("calls.untouched")),
    "calls.item": Tag("an item of a container used", _init(Item)),
    "calls.group_result": Tag(
        "a child returns a container",
        lambda p: any(
            isinstance(r.value, Group) for cls in p.classes[:-1] for r in of_type(cls.body, Return)
        ),
    ),
    **{f"control.{name}": Tag(meaning, _tests(name)) for name, meaning in _CONDITIONS.items()},
    "control.else": Tag("a branch with an else", _init(If, lambda s: bool(s.orelse))),
    "control.elif": Tag("a branch with an elif", _elif),
    "control.match": Tag("a match statement", _init(If, lambda s: s.match)),
    "control.ternary": Tag("a conditional expression", _init(Ternary)),
    "control.early_return": Tag("a return inside a branch", _early_return),
    "control.range": Tag("a for over a range", _init(Repeat, lambda r: r.style == "for")),
    "control.while": Tag("a while on a Python counter", _init(Repeat, lambda r: r.style == "while")),
    "control.size_as_number": Tag(
        "a size or rank of a tensor as a Python int",
        _init(Fact, lambda n: n.name in ("rank", "first_size", "last_size")),
    ),
    "control.stride_as_number": Tag("x.stride(0) as a Python int", _tells("first_stride")),
    "control.numel_as_number": Tag("x.numel() as a Python int", _tells("numel")),
    "control.attribute": Tag(
        "a Python attribute of the module read",
        lambda p: any(isinstance(n, Attr) and n.path[-1] in ("step", "mode", "rate") for n in p.nodes),
    ),
    "control.rate": Tag(
        "a Python float of the module as an operand",
        lambda p: any(isinstance(n, Attr) and n.path[-1] == "rate" for n in p.nodes),
    ),
    "control.counter": Tag("a Python attribute of the module updated", _init(Bump)),
    "state.parameter": Tag("an nn.Parameter", _init(Tensor, lambda t: t.kind == "parameter")),
    "state.frozen": Tag("a parameter that requires no gradient", _init(Tensor, lambda t: t.frozen)),
    "state.buffer": Tag("a persistent buffer", _init(Tensor, lambda t: t.kind == "buffer")),
    "state.scratch": Tag("a non-persistent buffer", _init(Tensor, lambda t: t.kind == "scratch")),
    "state.constant": Tag(
        "a tensor that is a plain attribute", _init(Tensor, lambda t: t.kind == "constant")
    ),
    "state.integer": Tag(
        "an integer tensor as state", _init(Tensor, lambda t: t.fill.dtype.startswith("int"))
    ),
    "state.bool": Tag("a bool tensor as state", _init(Tensor, lambda t: t.fill.dtype == "bool")),
    **{
        f"state.{layout}": Tag(f"{word} as state", _init(Tensor, lambda t, layout=layout: t.layout == layout))
        for layout, word in (
            ("transposed", "a transposed tensor"),
            ("sliced", "a tensor with holes"),
            ("offset", "a tensor that begins behind the start of its memory"),
        )
    },
    "state.scaled": Tag(
        "an instance whose tensors start with values of its own", _init(New, lambda n: n.scale != 1.0)
    ),
    "state.tied": Tag("one tensor under two names", _tied),
    "state.one_storage": Tag("buffers or constants in one storage, a parameter's too", _one_storage),
    "state.view_of_parameter": Tag("a buffer or constant that is a view of a parameter", _view_of_parameter),
    "state.registered_again": Tag("a tensor registered once more", _init(Derived, lambda d: not d.op)),
    "state.read_child": Tag("a tensor of a child read by its parent", _init(Attr, lambda a: len(a.path) > 1)),
    "state.unused_parameter": Tag("a parameter that nothing reads", _unused_parameter),
    "state.running_statistics": Tag("batch norm in train mode", _running_statistics),
    "state.updated_here_read_there": Tag(
        "a buffer written by one module and read by another", _mark("state.updated_here_read_there")
    ),
    "state.rebound": Tag("a buffer or tensor attribute rebound", _mark("state.rebound")),
    "state.rebound_shape": Tag("rebound to another shape", _mark("state.rebound_shape")),
    "state.rebound_dtype": Tag("rebound to another dtype", _mark("state.rebound_dtype")),
    "state.rebound_to_input": Tag("rebound to an input", _mark("state.rebound_to_input")),
    "state.rebound_to_state": Tag("rebound to other state", _mark("state.rebound_to_state")),
    "state.handed_over": Tag(
        "a tensor attribute of a child set by its parent", _init(Set, lambda s: len(s.path) > 1)
    ),
    "state.swapped": Tag("two tensor attributes swapped", _init(Swap)),
    "state.created_in_forward": Tag(
        "an attribute that only forward makes", _mark("state.created_in_forward")
    ),
    "state.written_without_grad": Tag(
        "state updated under no_grad",
        lambda p: any(not w.grad_mode and w.kind not in ("", "input") for w in p.writes),
    ),
    "inplace.value": Tag("an in-place op on values", lambda p: any(w.mutates == "value" for w in p.writes)),
    "inplace.metadata": Tag(
        "an in-place op on metadata", lambda p: any(w.mutates == "metadata" for w in p.writes)
    ),
    "inplace.item": Tag("item assignment", _group("inplace.item")),
    "inplace.scatter": Tag("an in-place op with indices", _group("inplace.scatter")),
    "inplace.out": Tag("an out= form", _group("inplace.out")),
    "inplace.storage": Tag("an in-place op on the storage", _group("inplace.storage")),
    **{
        f"inplace.{name}": Tag(f"the op {name}", _runs(name))
        for name in (*_VALUES, *_METADATA)
        if name in OPS
    },
    "inplace.input": Tag("an input of the model mutated", _wrote("input")),
    "inplace.buffer": Tag("a buffer mutated", _wrote("buffer", "scratch")),
    "inplace.constant": Tag("a constant mutated", _wrote("constant")),
    "inplace.parameter": Tag("a parameter mutated", _wrote("parameter")),
    "inplace.intermediate": Tag("an intermediate mutated", _wrote("")),
    "inplace.view": Tag("a view mutated", lambda p: any(w.view for w in p.writes)),
    "inplace.view_on_the_spot": Tag("a view mutated where it is made", _init(Op, f.chained)),
    "inplace.detached": Tag(
        "a detached tensor mutated",
        _init(Op, _detached),
    ),
    "inplace.read_back": Tag(
        "sizes or strides changed in place, and then asked for", _mark("inplace.read_back")
    ),
    "inplace.result": Tag("the result of an in-place op bound to a name", f.bound_results),
    "inplace.overlapping": Tag("two tensors of one memory both written", _mark("inplace.overlapping")),
    "inplace.read_through_alias": Tag(
        "written through one tensor, read through another of the same memory",
        _mark("inplace.read_through_alias"),
    ),
    "inplace.across_modules": Tag(
        "a module writes to what another module made", _mark("inplace.across_modules")
    ),
    "inplace.before_call": Tag("a write, then a call of a submodule", lambda p: f.around_call(p, True)),
    "inplace.after_call": Tag("a call of a submodule, then a write", lambda p: f.around_call(p, False)),
    "inplace.one_branch": Tag("a write on one side of a branch only", _one_branch),
    **{
        f"op.{group}": Tag(f"an op of the group {group}", _group(group))
        for group in dict.fromkeys(spec.group for spec in OPS.values())
        if not group.startswith("inplace")
    },
    "op.pair": Tag("two ops on one tensor that differ in a detail, put together", _init(Op, _paired)),
    "op.turned": Tag("an op on a tensor that is turned on the spot", _init(Op, _turned)),
    "inplace.literal": Tag("a tensor written out in forward and changed on the spot", _init(Op, _literal)),
    "dynamic.rest": Tag("dynamic shapes, and *args given", lambda p: _further(p, p.program.args)),
    "dynamic.options": Tag("dynamic shapes, and **kwargs given", lambda p: _further(p, p.program.kwargs)),
    "names.of_torch": Tag("an attribute or a child whose name torch uses itself", _named_as_torch),
    "names.operator": Tag("an attribute whose name is that of an operator", _named_as_operator),
    "names.argument": Tag(
        "an argument of the model whose name the code of a graph uses itself",
        lambda p: any(arg.name in ARGUMENTS for arg in p.root.args),
    ),
    "names.fields": Tag(
        "a namedtuple or dataclass with other fields",
        lambda p: any(g.keys != FIELDS for g in f.records(p)),
    ),
    "input.same_twice": Tag(
        "one tensor passed twice", lambda p: any(isinstance(i, Again) and not i.op for i in p.inputs)
    ),
    "input.view_of_another": Tag(
        "one input a view of another", lambda p: any(isinstance(i, Again) and bool(i.op) for i in p.inputs)
    ),
    "input.transposed": Tag("a transposed input", _layout("transposed")),
    "input.sliced": Tag("an input with holes", _layout("sliced")),
    "input.offset": Tag("an input that begins behind the start of its memory", _layout("offset")),
    "input.expanded": Tag("an expanded input", _layout("expanded")),
    "input.scalar": Tag("a 0-d input", _shaped(lambda s: not s)),
    "input.empty": Tag("an empty input", _shaped(lambda s: 0 in s)),
    "input.size1": Tag("an input with a dimension of size 1", _shaped(lambda s: 1 in s)),
    **{
        f"input.{dtype}": Tag(f"a {dtype} input", _dtype_input(dtype))
        for dtype in ("float16", "bfloat16", "float64", "int64", "bool", "complex64")
    },
    "input.requires_grad": Tag(
        "an input that requires grad", lambda p: any(t.requires_grad for t in f.tensor_inputs(p))
    ),
    **{
        f"input.{kind}": Tag(f"a {word} as input", _group_input(kind))
        for kind, word in (
            *(("tuple", "tuple"), ("list", "list"), ("dict", "dict")),
            *(("named", "namedtuple"), ("data", "registered dataclass")),
        )
    },
    "input.none": Tag("None as input", _given(type(None))),
    "input.bool_flag": Tag("a Python bool as input", _given(bool)),
    "input.number": Tag("a Python int as input", _given(int)),
    "input.float": Tag("a Python float as input", _given(float)),
    "input.string": Tag("a string as input", _given(str)),
    "input.odd_text": Tag(
        "a string as input that has to be quoted with care",
        lambda p: any(isinstance(i, Lit) and i.value in ODD_TEXTS for i in p.inputs),
    ),
    "input.enum": Tag("a member of an enumeration as input", _given(Kind)),
    "input.size": Tag("a torch.Size as input", _given(Size)),
    "input.keyword": Tag("an input by keyword", lambda p: bool(p.program.kwargs)),
    "model.training": Tag("exported in train mode", lambda p: p.program.training),
    **{
        f"output.{kind}": Tag(f"a {word} returned", _returns(kind))
        for kind, word in (
            *(("tuple", "tuple"), ("list", "list"), ("dict", "dict")),
            *(("named", "namedtuple"), ("data", "registered dataclass")),
        )
    },
    "output.nested": Tag("a container in a container returned", _nested_output),
    "output.duplicate": Tag("one tensor returned twice", _duplicate),
    "output.input": Tag("an input returned", _role("input")),
    "output.view_of_input": Tag("a view of an input returned", _role("view of input")),
    "output.buffer": Tag("a buffer returned", _role("buffer", "scratch")),
    "output.view_of_buffer": Tag("a view of a buffer returned", _role("view of buffer", "view of scratch")),
    "output.parameter": Tag("a parameter returned", _role("parameter")),
    "output.constant": Tag("a constant returned", _role("constant")),
    "output.none": Tag("None returned", lambda p: any(leaf is None for leaf, _ in p.outputs)),
    "output.python": Tag(
        "a Python value returned", lambda p: any(isinstance(leaf, bool | int) for leaf, _ in p.outputs)
    ),
    "region.no_grad": Tag("torch.no_grad", _region("no_grad")),
    "region.enable_grad": Tag("torch.enable_grad", _region("enable_grad")),
    "region.autocast": Tag("torch.autocast", _region("autocast")),
    "region.checkpoint": Tag("torch.utils.checkpoint", _init(Call, lambda c: c.form == "checkpoint")),
    **{f"region.{name}": Tag(f"the operator {name}", _control(name)) for name in CONTROLS},
    "region.submodule": Tag(
        "a submodule called in a control-flow operator", lambda p: _control_calls(p, False)
    ),
    "region.shared_submodule": Tag(
        "a submodule called in both branches of a cond", lambda p: _control_calls(p, True)
    ),
    "region.control": Tag(
        "a control-flow operator in a with block", _init(With, lambda w: bool(of_type(w.body, Control)))
    ),
    "region.checkpoint_within": Tag(
        "torch.utils.checkpoint in a control-flow operator",
        _init(Control, lambda c: any(call.form == "checkpoint" for call in of_type(c.functions, Call))),
    ),
    "region.state": Tag("state read in a control-flow operator", _control_reads),
    "dynamic.named": Tag("a Dim", _dynamic(lambda d: d.dims[0].kind == "named")),
    "dynamic.range": Tag("a Dim with a range", _dynamic(lambda d: d.dims[0].low is not None)),
    "dynamic.auto": Tag("Dim.AUTO", _dynamic(lambda d: d.dims[0].kind == "auto")),
    "dynamic.dynamic": Tag("Dim.DYNAMIC", _dynamic(lambda d: d.dims[0].kind == "dynamic")),
    "dynamic.equal": Tag("two dynamic sizes that are equal", _dynamic(lambda d: len(d.places) > 1)),
    "dynamic.branch": Tag("a branch on a size, with dynamic shapes", _branch_on_size),
    "dynamic.zero": Tag("a probe of size 0", _dynamic(lambda d: (0,) in d.probes)),
    "dynamic.one": Tag("a probe of size 1", _dynamic(lambda d: (1,) in d.probes)),
    "dynamic.edge": Tag(
        "a probe at an edge of the range",
        _dynamic(lambda d: any((n,) in d.probes for n in (d.dims[0].low, d.dims[0].high))),
    ),
}


# --- which tags can meet -----------------------------------------------------------------------------


def _family(*names: str) -> tuple[frozenset[str], frozenset[str]]:
    """Tags of which a Program has at most one."""
    return frozenset(names), frozenset(names)


def _starting(*starts: str) -> frozenset[str]:
    return frozenset(name for name in TAGS if name.startswith(starts))


_ARGUMENTS = _starting("calls.other_flags", "calls.flags", "calls.default", "calls.passed_down") | {
    f"calls.{kind}"
    for kind in (
        "bool",
        "int",
        "float",
        "str",
        "enum",
        "size",
        "optional",
        "group",
        "either",
        "rest",
        "options",
        "star",
        "keyword",
    )
}
"""What only calls of modules with arguments of their own have."""

_APART: Iterable[tuple[frozenset[str], frozenset[str]]] = (
    _family("hierarchy.flat", "hierarchy.depth2", "hierarchy.depth3", "hierarchy.depth4"),
    _family("dynamic.named", "dynamic.auto", "dynamic.dynamic"),
    _family("dynamic.zero", "dynamic.one"),
    (frozenset({"dynamic.range", "dynamic.edge"}), frozenset({"dynamic.auto", "dynamic.dynamic"})),
    # Without classes below the root there is nobody to call so.
    (frozenset({"hierarchy.flat"}), frozenset({"hierarchy.guest"} | _ARGUMENTS)),
    # Drawn in eval mode alone, as it would be random.
    (frozenset({"layer.dropout"}), frozenset({"model.training", "state.running_statistics"})),
    # What is dynamic is neither empty nor a scalar nor handed in twice.
    (_starting("dynamic."), frozenset({"input.same_twice", "input.view_of_another", "input.empty"})),
)


def can_meet(first: str, second: str) -> bool:
    """Whether a Program can have both tags."""
    return not any((first in a and second in b) or (first in b and second in a) for a, b in _APART)
