"""The table of feature tags: what a Program contains, with a line of explanation each.

To add a tag, add one entry to TAGS. A tag's detector reads the finished Program, so that a tag says what is
there and not what was meant to be drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from strategies.layers import LAYERS
from strategies.ops import OPS
from strategies.program import (
    Assign,
    Attr,
    Bind,
    Call,
    Child,
    ClassDef,
    Container,
    Do,
    Expr,
    Group,
    If,
    Lit,
    Loop,
    New,
    Not,
    Op,
    Path,
    Program,
    Return,
    Tensor,
    TensorInput,
    Var,
    expressions,
    news,
    statements,
)


class Facts:
    """A Program's parts, listed once for all detectors."""

    def __init__(self, program: Program) -> None:
        """List them."""
        self.program = program
        self.classes = program.classes
        self.root = program.root
        self.inputs = (*program.args, *(value for _, value in program.kwargs))
        self.inits = [init for cls in program.classes for init in cls.init]
        self.stmts = [stmt for cls in program.classes for stmt in statements(cls.body)]
        self.exprs_of = {cls.name: list(expressions(cls.body)) for cls in program.classes}
        self.exprs = [expr for exprs in self.exprs_of.values() for expr in exprs]
        self.calls = [expr for expr in self.exprs if isinstance(expr, Call)]
        self.ops = [expr for expr in self.exprs if isinstance(expr, Op)]


Detector = Callable[[Facts], bool]


@dataclass(frozen=True, slots=True)
class Tag:
    """What a tag means, and how a Program is recognized to have it."""

    meaning: str
    detect: Detector


def tags_of(program: Program) -> frozenset[str]:
    """The tags of a Program."""
    facts = Facts(program)
    return frozenset(name for name, tag in TAGS.items() if tag.detect(facts))


# --- reading a Program -----------------------------------------------------------------------------


def _depth(facts: Facts) -> int:
    levels: dict[str, int] = {}
    for cls in facts.classes:
        below = [levels[new.name] for new in news(cls) if not new.layer]
        levels[cls.name] = 1 + max(below, default=0)
    return levels[facts.root.name]


def _module_path(cls: ClassDef, path: Path) -> bool:
    """Whether a path that is bound names a module and not a tensor."""
    own = {init.attr for init in cls.init if isinstance(init, Tensor)}
    parameters = {"weight", "bias", "buf", "w", "tmp", "k"}
    return path[-1] not in own and path[-1] not in parameters


def _binds(facts: Facts, modules: bool) -> Iterator[Bind]:
    for cls in facts.classes:
        for init in cls.init:
            if isinstance(init, Bind) and _module_path(cls, init.source) is modules:
                yield init


def _inplace(facts: Facts, kind: str) -> Iterator[tuple[ClassDef, Op]]:
    for cls in facts.classes:
        for expr in facts.exprs_of[cls.name]:
            if isinstance(expr, Op) and OPS[expr.name].mutates == kind:
                yield cls, expr


def _mutated(facts: Facts, where: Callable[[ClassDef, Expr], bool]) -> bool:
    return any(
        where(cls, op.operands[0]) for kind in ("value", "metadata") for cls, op in _inplace(facts, kind)
    )


def _is_argument(cls: ClassDef, expr: Expr) -> bool:
    return isinstance(expr, Var) and any(arg.name == expr.name for arg in cls.args)


def _is_local(cls: ClassDef, expr: Expr) -> bool:
    return isinstance(expr, Var) and not _is_argument(cls, expr)


def _repeated(facts: Facts, differing: bool) -> bool:
    """Whether one method calls one child twice (with other Python arguments, if ``differing``)."""
    for cls in facts.classes:
        seen: dict[Path, set[tuple[object, ...]]] = {}
        counts: Counter[Path] = Counter()
        for expr in facts.exprs_of[cls.name]:
            if isinstance(expr, Call):
                flags = tuple(a for a in expr.args if isinstance(a, Lit | Not))
                named = tuple(pair for pair in expr.kwargs if isinstance(pair[1], Lit | Not))
                seen.setdefault(expr.callee, set()).add((flags, named))
                counts[expr.callee] += 1
        for path, count in counts.items():
            if count > 1 and (len(seen[path]) > 1 or not differing):
                return True
    return False


def _passes_down(facts: Facts) -> bool:
    for cls in facts.classes:
        flags = {arg.name for arg in cls.args if arg.kind in ("bool", "int", "str")}
        for expr in facts.exprs_of[cls.name]:
            if isinstance(expr, Call):
                given = [*expr.args, *(value for _, value in expr.kwargs)]
                names = [v.flag if isinstance(v, Not) else v for v in given]
                if any(isinstance(v, Var) and v.name in flags for v in names):
                    return True
    return False


def _default_used(facts: Facts) -> bool:
    by_name = {cls.name: cls for cls in facts.classes}
    children = {
        (cls.name, init.attr): init.new.name
        for cls in facts.classes
        for init in cls.init
        if isinstance(init, Child) and not init.new.layer
    }
    for cls in facts.classes:
        for expr in facts.exprs_of[cls.name]:
            if isinstance(expr, Call) and len(expr.callee) == 1:
                child = by_name.get(children.get((cls.name, str(expr.callee[0])), ""))
                if child and len(expr.args) + len(expr.kwargs) < len(child.args):
                    return True
    return False


def _never_called(facts: Facts) -> bool:
    for cls in facts.classes:
        called = {expr.callee[0] for expr in facts.exprs_of[cls.name] if isinstance(expr, Call)}
        called |= {stmt.container[0] for stmt in statements(cls.body) if isinstance(stmt, Loop)}
        if any(isinstance(i, Child | Container) and i.attr not in called for i in cls.init):
            return True
    return False


def _results(facts: Facts) -> list[Expr]:
    returned = [s.value for s in statements(facts.root.body) if isinstance(s, Return)]
    return [item for value in returned for item in (value.items if isinstance(value, Group) else (value,))]


def _early_return(facts: Facts) -> bool:
    return any(
        isinstance(inner, Return)
        for stmt in facts.stmts
        if isinstance(stmt, If)
        for inner in (*stmt.then, *stmt.orelse)
    )


def _tests(name: str) -> Detector:
    return lambda p: any(isinstance(s, If) and s.test.name == name for s in p.stmts)


def _tensor_kind(kind: str) -> Detector:
    return lambda p: any(isinstance(i, Tensor) and i.kind == kind for i in p.inits)


def _container(kind: str) -> Detector:
    return lambda p: any(isinstance(i, Container) and i.kind == kind for i in p.inits)


def _arg_kind(kind: str) -> Detector:
    return lambda p: any(arg.kind == kind for cls in p.classes[:-1] for arg in cls.args)


def _op_group(group: str) -> Detector:
    return lambda p: any(OPS[op.name].group == group for op in p.ops)


def _layer(name: str) -> Detector:
    return lambda p: any(new.layer and new.name == name for cls in p.classes for new in news(cls))


# --- the table --------------------------------------------------------------------------

TAGS: dict[str, Tag] = {
    "hierarchy.flat": Tag("the root is the only module class", lambda p: _depth(p) == 1),
    "hierarchy.depth2": Tag("two levels of module classes", lambda p: _depth(p) == 2),
    "hierarchy.depth3": Tag("three levels of module classes", lambda p: _depth(p) == 3),
    "hierarchy.depth4": Tag("four levels of module classes", lambda p: _depth(p) == 4),
    "hierarchy.shared": Tag(
        "one instance under two attributes of one module",
        lambda p: (
            any(len(b.target) == 1 == len(b.source) for b in _binds(p, modules=True))
            or any(
                not isinstance(item, New) and len(item) == 1
                for i in p.inits
                if isinstance(i, Container)
                for item in i.items
            )
        ),
    ),
    "hierarchy.alias_grandchild": Tag(
        "an attribute is a module that hangs deeper down",
        lambda p: any(len(b.source) > 1 for b in _binds(p, modules=True)),
    ),
    "hierarchy.attached": Tag(
        "a module is hung on a child from outside",
        lambda p: any(len(b.target) > 1 for b in _binds(p, modules=True)),
    ),
    "hierarchy.module_list": Tag("an nn.ModuleList", _container("ModuleList")),
    "hierarchy.module_dict": Tag("an nn.ModuleDict", _container("ModuleDict")),
    "hierarchy.sequential": Tag("an nn.Sequential", _container("Sequential")),
    "hierarchy.never_called": Tag("a child that its parent never calls", _never_called),
    **{f"layer.{name}": Tag(f"the layer {name} of nn", _layer(name)) for name in LAYERS},
    "calls.repeated": Tag("a child called twice by one method", lambda p: _repeated(p, False)),
    "calls.other_flags": Tag(
        "a child called twice with different Python arguments", lambda p: _repeated(p, True)
    ),
    "calls.bool": Tag("a child takes a bool", _arg_kind("bool")),
    "calls.int": Tag("a child takes an int", _arg_kind("int")),
    "calls.str": Tag("a child takes a str", _arg_kind("str")),
    "calls.optional": Tag("a child takes an optional tensor", _arg_kind("optional")),
    "calls.keyword": Tag("an argument by keyword", lambda p: any(c.kwargs for c in p.calls)),
    "calls.default": Tag("an argument left to its default", _default_used),
    "calls.none": Tag(
        "None passed where a tensor may be",
        lambda p: any(Lit(None) in (*c.args, *(value for _, value in c.kwargs)) for c in p.calls),
    ),
    "calls.passed_down": Tag("a flag of the caller passed on", _passes_down),
    "calls.deep": Tag(
        "a call past a child, of its own child", lambda p: any(len(c.callee) > 1 for c in p.calls)
    ),
    "calls.dropped": Tag(
        "a call whose result is not used",
        lambda p: any(isinstance(s, Do) and isinstance(s.value, Call) for s in p.stmts),
    ),
    "calls.loop": Tag("a loop over a container", lambda p: any(isinstance(s, Loop) for s in p.stmts)),
    "control.truthy": Tag("a branch on a flag", _tests("truthy")),
    "control.not": Tag("a branch on a negated flag", _tests("not")),
    "control.equals": Tag("a branch on equality with a constant", _tests("equals")),
    "control.is_none": Tag("a branch on `is None`", _tests("is_none")),
    "control.is_given": Tag("a branch on `is not None`", _tests("is_given")),
    "control.training": Tag("a branch on self.training", _tests("training")),
    "control.size": Tag("a branch on x.shape", _tests("size")),
    "control.rank": Tag("a branch on x.dim()", _tests("rank")),
    "control.contiguous": Tag("a branch on x.is_contiguous()", _tests("contiguous")),
    "control.else": Tag(
        "a branch with an else", lambda p: any(isinstance(s, If) and s.orelse for s in p.stmts)
    ),
    "control.early_return": Tag("a return inside a branch", _early_return),
    "state.parameter": Tag("an nn.Parameter", _tensor_kind("parameter")),
    "state.buffer": Tag("a persistent buffer", _tensor_kind("buffer")),
    "state.scratch": Tag("a non-persistent buffer", _tensor_kind("scratch")),
    "state.constant": Tag("a tensor that is a plain attribute", _tensor_kind("constant")),
    "state.scaled": Tag(
        "an instance whose tensors start with values of its own",
        lambda p: any(new.scale != 1.0 for cls in p.classes for new in news(cls)),
    ),
    "state.tied": Tag(
        "one tensor under the names of two modules", lambda p: any(True for _ in _binds(p, False))
    ),
    "state.read_child": Tag(
        "a tensor of a child read by its parent",
        lambda p: any(isinstance(e, Attr) and len(e.path) > 1 for e in p.exprs),
    ),
    "inplace.value": Tag("an in-place op on values", lambda p: any(True for _ in _inplace(p, "value"))),
    "inplace.metadata": Tag(
        "an in-place op on metadata", lambda p: any(True for _ in _inplace(p, "metadata"))
    ),
    "inplace.item": Tag("item assignment", _op_group("inplace.item")),
    "inplace.argument": Tag("an argument mutated", lambda p: _mutated(p, _is_argument)),
    "inplace.local": Tag("an intermediate mutated", lambda p: _mutated(p, _is_local)),
    "inplace.state": Tag(
        "a buffer or constant mutated", lambda p: _mutated(p, lambda c, e: isinstance(e, Attr))
    ),
    "inplace.view": Tag(
        "a view mutated where it is made", lambda p: _mutated(p, lambda c, e: isinstance(e, Op))
    ),
    "inplace.result": Tag(
        "the result of an in-place op bound to a name",
        lambda p: any(
            isinstance(s, Assign) and isinstance(s.value, Op) and bool(OPS[s.value.name].mutates)
            for s in p.stmts
        ),
    ),
    **{
        f"op.{group}": Tag(f"an op of the group {group}", _op_group(group))
        for group in dict.fromkeys(spec.group for spec in OPS.values())
        if not group.startswith("inplace")
    },
    "input.transposed": Tag(
        "a non-contiguous input",
        lambda p: any(isinstance(i, TensorInput) and i.transposed for i in p.inputs),
    ),
    "input.python": Tag(
        "a Python value as input of the model",
        lambda p: any(isinstance(i, Lit) for i in p.inputs),
    ),
    "input.keyword": Tag("an input by keyword", lambda p: bool(p.program.kwargs)),
    "model.training": Tag("exported in train mode", lambda p: p.program.training),
    "output.tuple": Tag(
        "a tuple returned",
        lambda p: any(
            isinstance(s, Return) and isinstance(s.value, Group) and not s.value.keys for s in p.stmts
        ),
    ),
    "output.dict": Tag(
        "a dict returned",
        lambda p: any(
            isinstance(s, Return) and isinstance(s.value, Group) and bool(s.value.keys) for s in p.stmts
        ),
    ),
    "output.argument": Tag(
        "a variable that was an argument returned",
        lambda p: any(_is_argument(p.root, item) for item in _results(p)),
    ),
    "output.state": Tag(
        "a parameter, buffer or constant returned",
        lambda p: any(isinstance(item, Attr) for item in _results(p)),
    ),
    "output.duplicate": Tag(
        "the same expression returned twice",
        lambda p: len(set(_results(p))) < len(_results(p)),
    ),
}
