"""Tags of calls of modules and of their arguments."""

from __future__ import annotations

import math
from collections import defaultdict

from exportdiff_strategies import program as ir
from exportdiff_strategies.ops import OPS
from exportdiff_strategies.tags.analysis import Analysis
from exportdiff_strategies.tags.tag import Detector, Tag, has_node, marked


def _child_takes(*kinds: str) -> Detector:
    """A class other than the root has an argument of one of these kinds."""
    return lambda p: any(
        a.kind in kinds for cls in p.classes[:-1] for a in ir.of_type((cls.args, cls.methods), ir.Arg)
    )


def _calls_twice(p: Analysis, differing: bool, deepest: int = 0) -> bool:
    """Whether a module below level ``deepest`` is called twice, maybe with ``differing`` Python arguments."""
    seen: dict[int, list[tuple[object, ...]]] = defaultdict(list)
    for call in p.called[: _calls_of_first_run(p)]:
        if call.depth > deepest:
            seen[call.callee].append(call.flags)
    return any(len(set(flags)) > 1 if differing else len(flags) > 1 for flags in seen.values())


def _calls_of_first_run(p: Analysis) -> int:
    """The number of calls of modules during the first call of the model."""
    roots = [n for n, call in enumerate(p.called) if call.depth == 1]
    return roots[1] if len(roots) > 1 else len(p.called)


def _passes_flag_down(p: Analysis) -> bool:
    for cls in p.classes:
        flags = {arg.name for arg in cls.args if arg.kind in ir.FLAGS}
        for call in ir.of_type(cls.body, ir.CallModule):
            given = [*call.args, *(value for _, value in call.kwargs)]
            names = [getattr(v, "flag", v) for v in given]
            if any(getattr(v, "name", None) in flags for v in names):
                return True
    return False


def _calls_related_modules(p: Analysis) -> bool:
    for cls in p.classes:
        callees = [call.callee for call in ir.of_type(cls.body, ir.CallModule) if call.callee]
        if any(a != b and b[: len(a)] == a for a in callees for b in callees):
            return True
    return False


def _drops_call(cls: ir.ClassDef) -> bool:
    return any(isinstance(n, ir.Do) and isinstance(n.value, ir.CallModule) for n in ir.nodes(cls.bodies))


def _has_infinite_float(p: Analysis) -> bool:
    literals = (n.value for n in (*p.nodes, *p.inputs) if isinstance(n, ir.Lit))
    return any(isinstance(value, float) and not math.isfinite(value) for value in literals)


def _writes_argument(stmt: ir.Stmt) -> bool:
    op = stmt.value if isinstance(stmt, ir.Do) else None
    return isinstance(op, ir.Op) and bool(OPS[op.name].mutates) and isinstance(op.operands[0], ir.Var)


TABLE: dict[str, Tag] = {
    "calls.repeated": Tag("a module called twice", lambda p: _calls_twice(p, False)),
    "calls.other_flags": Tag(
        "a module called twice with different Python arguments", lambda p: _calls_twice(p, True)
    ),
    "calls.flags_two_levels": Tag(
        "Python arguments that differ between calls, two levels down", lambda p: _calls_twice(p, True, 2)
    ),
    "calls.flags_three_levels": Tag(
        "Python arguments that differ between calls, three levels down", lambda p: _calls_twice(p, True, 3)
    ),
    "calls.bool": Tag("a child takes a bool", _child_takes("bool")),
    "calls.int": Tag("a child takes an int", _child_takes("int")),
    "calls.float": Tag("a child takes a float", _child_takes("float")),
    "calls.infinite": Tag("a float that is infinite or NaN", _has_infinite_float),
    "calls.str": Tag("a child takes a str", _child_takes("str")),
    "calls.enum": Tag("a child takes a member of an enumeration", _child_takes("enum")),
    "calls.enum_base": Tag(
        "an enumeration derived from Flag, int or str",
        lambda p: p.program.enum != "Enum",
    ),
    "calls.size": Tag("a child takes a torch.Size", _child_takes("size")),
    "calls.keyword_only": Tag("keyword-only arguments", has_node(ir.Arg, keyword=True)),
    "calls.unnamed": Tag("positional-only arguments", has_node(ir.Arg, unnamed=True)),
    "calls.optional": Tag("a child takes an optional tensor", _child_takes("optional")),
    "calls.group": Tag(
        "a child takes a tuple, list, dict, namedtuple or dataclass",
        _child_takes("tuple", "list", "dict", "named", "data"),
    ),
    "calls.either": Tag("a child takes a tensor or a tuple", _child_takes("either")),
    "calls.rest": Tag("a child takes *args", _child_takes("rest")),
    "calls.options": Tag("a child takes **kwargs", _child_takes("options")),
    "calls.star": Tag("*args or **kwargs passed on", has_node(ir.Star)),
    "calls.keyword": Tag("an argument by keyword", has_node(ir.CallModule, lambda c: c.kwargs)),
    "calls.keyword_order": Tag("arguments by keyword in another order", marked("calls.keyword_order")),
    "calls.default": Tag("an argument of a child that takes its default", marked("calls.default")),
    "calls.none": Tag(
        "None passed for an optional tensor",
        has_node(ir.CallModule, lambda c: ir.Lit(None) in (*c.args, *(value for _, value in c.kwargs))),
    ),
    "calls.passed_down": Tag("a flag of the caller passed on", _passes_flag_down),
    "calls.deep": Tag("a call of a submodule of a child", marked("calls.deep")),
    "calls.expression": Tag(
        "an argument of a call that is an expression",
        has_node(ir.CallModule, lambda c: c.args and isinstance(c.args[0], ir.Op)),
    ),
    "calls.family": Tag(
        "a module and one of its submodules called by the same caller", _calls_related_modules
    ),
    "calls.own_state": Tag("a module called with a tensor of its own", marked("calls.own_state")),
    "calls.dropped": Tag(
        "a call that ignores the result", lambda p: any(_drops_call(cls) for cls in p.classes)
    ),
    "calls.loop": Tag("a loop over a container", has_node(ir.Loop)),
    "calls.method": Tag("a method that is not forward", has_node(ir.MethodDef)),
    "calls.method_calls_forward": Tag(
        "a method that calls self.forward",
        has_node(
            ir.MethodDef,
            lambda m: any(
                c.callee == () and c.method == "forward" for c in ir.of_type(m.body, ir.CallModule)
            ),
        ),
    ),
    "calls.forward_directly": Tag("module.forward called without hooks", marked("calls.forward_directly")),
    "calls.function": Tag("a function of torch passed down", has_node(ir.Function)),
    "calls.bound_method": Tag("a module or a bound method passed down", has_node(ir.ModuleOrMethod)),
    "calls.applied": Tag("a function or module that was passed in is called", has_node(ir.CallVariable)),
    "calls.no_result": Tag(
        "a child that returns None",
        lambda p: any(not ir.of_type(cls.body, ir.Return) for cls in p.classes[:-1]),
    ),
    "calls.writes_argument": Tag(
        "a child that only writes to an argument",
        lambda p: any(all(_writes_argument(stmt) for stmt in cls.body) for cls in p.classes[:-1]),
    ),
    "calls.untouched": Tag("a child returns an argument unchanged", marked("calls.untouched")),
    "calls.item": Tag("an item of a container used", has_node(ir.Item)),
    "calls.group_result": Tag(
        "a child returns a container",
        lambda p: any(
            isinstance(r.value, ir.Collection)
            for cls in p.classes[:-1]
            for r in ir.of_type(cls.body, ir.Return)
        ),
    ),
}
