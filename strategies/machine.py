"""The abstract machine: runs a Program on types alone, so that only programs that eager accepts are drawn.

It follows object identity, storage sharing and Python control flow exactly, sizes and strides where they
are decided by the op alone, and values only by a bound on their magnitude.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from strategies.layers import LAYERS
from strategies.ops import LIMIT, OPS, Outcome, Rejected
from strategies.program import (
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
    If,
    Init,
    Input,
    Key,
    Lit,
    Loop,
    New,
    Not,
    Op,
    Path,
    Program,
    Return,
    Step,
    Stmt,
    Tensor,
    TensorInput,
    Var,
)
from strategies.types import TensorType, dense, swap

FUEL = 9
"""Tensor ops that one call of the model may execute: small programs are fast to test and to read."""

CALLS = 3
"""Consecutive calls that a Program must survive, because that is how often the harness calls it."""


@dataclass(slots=True, eq=False)
class Storage:
    """Memory that tensors share; ``kind`` is the Tensor.kind of the attribute that it was made for."""

    bound: float = 2.0
    kind: str = ""

    @property
    def leaf(self) -> bool:
        """Whether it is a parameter's, which autograd forbids to write to."""
        return self.kind == "parameter"


@dataclass(slots=True, eq=False)
class Ref:
    """A tensor object: in-place metadata ops change its type for everyone who holds it."""

    type: TensorType
    storage: Storage

    @property
    def bound(self) -> float:
        """No absolute value exceeds this."""
        return self.storage.bound


@dataclass(slots=True, eq=False)
class Instance:
    """A module object. Steps into containers are attributes too."""

    kind: ClassDef | New | str
    attrs: dict[Step, Instance | Ref] = field(default_factory=dict)


Value = Ref | bool | int | float | str | None | tuple["Value", ...] | dict[str, "Value"]


@dataclass(slots=True)
class Frame:
    """One activation of a method: the module it runs on, its variables, and the ops left to execute."""

    owner: Instance
    names: dict[str, Value]
    tank: list[int]

    def assign(self, name: str, value: Value) -> None:
        """Bind a variable; ``names`` stays ordered by the latest binding."""
        self.names.pop(name, None)
        self.names[name] = value

    def copy(self) -> Frame:
        """A copy that shares nothing mutable, for trying out a statement."""
        memo: dict[int, object] = {}
        return Frame(
            _copy_instance(self.owner, memo),
            {name: _copy_value(value, memo) for name, value in self.names.items()},
            list(self.tank),
        )


def _copy_ref(ref: Ref, memo: dict[int, object]) -> Ref:
    known = memo.get(id(ref))
    if isinstance(known, Ref):
        return known
    storage = memo.get(id(ref.storage))
    if not isinstance(storage, Storage):
        storage = Storage(ref.storage.bound, ref.storage.kind)
        memo[id(ref.storage)] = storage
    copied = Ref(ref.type, storage)
    memo[id(ref)] = copied
    return copied


def _copy_instance(instance: Instance, memo: dict[int, object]) -> Instance:
    known = memo.get(id(instance))
    if isinstance(known, Instance):
        return known
    copied = Instance(instance.kind)
    memo[id(instance)] = copied
    for step, value in instance.attrs.items():
        copied.attrs[step] = _copy_ref(value, memo) if isinstance(value, Ref) else _copy_instance(value, memo)
    return copied


def _copy_value(value: Value, memo: dict[int, object]) -> Value:
    if isinstance(value, Ref):
        return _copy_ref(value, memo)
    if isinstance(value, tuple):
        return tuple(_copy_value(item, memo) for item in value)
    if isinstance(value, dict):
        return {key: _copy_value(item, memo) for key, item in value.items()}
    return value


# --- conditions -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CondSpec:
    """One entry of the condition table: how it is written, and what it is for a value.

    ``kinds`` are the argument kinds it asks about; none means any tensor in scope.
    """

    template: str
    kinds: tuple[str, ...]
    test: Callable[[Value, Sequence[object]], bool]


def _tensor(value: Value) -> TensorType:
    if not isinstance(value, Ref):
        raise Rejected("not a tensor")
    return value.type


def _is_contiguous(value: Value, params: Sequence[object]) -> bool:
    known = _tensor(value).contiguous
    if known is None:
        raise Rejected("strides unknown")
    return known


def _size_above(value: Value, params: Sequence[object]) -> bool:
    shape = _tensor(value).shape
    if not shape:
        raise Rejected("no dimension")
    return shape[0] > int(str(params[0]))


CONDS: dict[str, CondSpec] = {
    "truthy": CondSpec("{0}", ("bool", "int"), lambda value, params: bool(value)),
    "not": CondSpec("not {0}", ("bool",), lambda value, params: not value),
    "equals": CondSpec("{0} == {p[0]!r}", ("int", "str"), lambda value, params: value == params[0]),
    "is_none": CondSpec("{0} is None", ("optional",), lambda value, params: value is None),
    "is_given": CondSpec("{0} is not None", ("optional",), lambda value, params: value is not None),
    "size": CondSpec("{0}.shape[0] > {p[0]}", (), _size_above),
    "rank": CondSpec("{0}.dim() == {p[0]}", (), lambda v, params: len(_tensor(v).shape) == params[0]),
    "contiguous": CondSpec("{0}.is_contiguous()", (), _is_contiguous),
}
"""``self.training`` is the one condition without a subject; it is not in the table."""


# --- the machine ------------------------------------------------------------------------


class Machine:
    """Builds and runs instances of a Program's classes. Every method raises Rejected where eager raises."""

    def __init__(self, classes: Iterable[ClassDef], training: bool = False) -> None:
        """Know these classes, and whether the model is in train mode."""
        self.classes: dict[str, ClassDef] = {cls.name: cls for cls in classes}
        self.training = training

    # building

    def build(self, new: New) -> Instance:
        """A fresh instance, as its ``__init__`` leaves it."""
        if new.layer:
            instance = Instance(new)
            for name, shape in LAYERS[new.name].parameters.items():
                instance.attrs[name] = Ref(dense(shape(new.params[0])), Storage(kind="parameter"))
            return instance
        kind = self.classes[new.name]
        instance = Instance(kind)
        for init in kind.init:
            self.initialize(instance, init)
        return instance

    def initialize(self, owner: Instance, init: Init) -> None:
        """Execute one statement of ``__init__``."""
        if isinstance(init, Child):
            owner.attrs[init.attr] = self.build(init.new)
        elif isinstance(init, Bind):
            target = resolve(owner, init.target[:-1])
            assert isinstance(target, Instance)
            target.attrs[init.target[-1]] = resolve(owner, init.source)
        elif isinstance(init, Container):
            box = Instance(init.kind)
            for index, item in enumerate(init.items):
                step: Step = Key(init.keys[index]) if init.keys else index
                child = self.build(item) if isinstance(item, New) else resolve(owner, item)
                box.attrs[step] = child
            owner.attrs[init.attr] = box
        elif isinstance(init, Tensor):
            owner.attrs[init.attr] = tensor(init.fill, init.kind)

    # running

    def call(
        self,
        callee: Instance | Ref,
        args: Sequence[Value],
        kwargs: Mapping[str, Value],
        tank: list[int],
    ) -> Value:
        """Call a module."""
        if not isinstance(callee, Instance):
            raise Rejected("not a module")
        if isinstance(callee.kind, New):
            return self._call_layer(callee.kind, args, tank)
        if callee.kind == "Sequential":
            if len(args) != 1 or kwargs:
                raise Rejected("Sequential takes one argument")
            value = args[0]
            for child in list(callee.attrs.values()):
                value = self.call(child, (value,), {}, tank)
            return value
        if not isinstance(callee.kind, ClassDef):
            raise Rejected("this container is not callable")
        names = _bind_arguments(callee.kind, args, kwargs)
        result, value = self.run(callee.kind.body, Frame(callee, names, tank))
        return value if result else None

    def _call_layer(self, new: New, args: Sequence[Value], tank: list[int]) -> Value:
        spec = LAYERS[new.name]
        if spec.eval_only and self.training:
            raise Rejected("random in train mode")
        if len(args) != 1 or not isinstance(args[0], Ref):
            raise Rejected("a layer takes one tensor")
        x = args[0]
        if spec.mutates and x.storage.leaf:
            raise Rejected("a leaf that requires grad")
        return _apply(spec.rule(x, new.params), x, tank)

    def run(self, body: Iterable[Stmt], frame: Frame) -> tuple[bool, Value]:
        """Execute statements; the first item says whether a ``return`` was reached."""
        for stmt in body:
            if isinstance(stmt, Return):
                return True, self.evaluate(stmt.value, frame)
            if isinstance(stmt, Assign):
                frame.assign(stmt.target, self.evaluate(stmt.value, frame))
            elif isinstance(stmt, Do):
                self.evaluate(stmt.value, frame)
            elif isinstance(stmt, Loop):
                self._loop(stmt, frame)
            elif isinstance(stmt, If):
                branch = stmt.then if self.holds(stmt.test, frame) else stmt.orelse
                done, value = self.run(branch, frame)
                if done:
                    return True, value
        return False, None

    def _loop(self, stmt: Loop, frame: Frame) -> None:
        box = resolve(frame.owner, stmt.container)
        if not isinstance(box, Instance) or box.kind not in ("ModuleList", "Sequential"):
            raise Rejected("not iterable")
        for child in list(box.attrs.values()):
            args = [frame.names[stmt.target], *(self.evaluate(arg, frame) for arg in stmt.args)]
            frame.assign(stmt.target, self.call(child, args, {}, frame.tank))

    def holds(self, test: Cond, frame: Frame) -> bool:
        """The truth of a condition."""
        if test.subject is None:
            return self.training
        return CONDS[test.name].test(self.evaluate(test.subject, frame), test.params)

    def evaluate(self, expr: Expr, frame: Frame) -> Value:
        """The value of an expression, with its effects done."""
        if isinstance(expr, Lit):
            return expr.value
        if isinstance(expr, Var):
            if expr.name not in frame.names:
                raise Rejected("unbound name")
            return frame.names[expr.name]
        if isinstance(expr, Not):
            return not self.evaluate(expr.flag, frame)
        if isinstance(expr, Attr):
            value = resolve(frame.owner, expr.path)
            if not isinstance(value, Ref):
                raise Rejected("not a tensor")
            return value
        if isinstance(expr, Op):
            return self._op(expr, frame)
        if isinstance(expr, Call):
            return self.call(
                resolve(frame.owner, expr.callee),
                [self.evaluate(arg, frame) for arg in expr.args],
                {name: self.evaluate(value, frame) for name, value in expr.kwargs},
                frame.tank,
            )
        items = [self.evaluate(item, frame) for item in expr.items]
        return dict(zip(expr.keys, items, strict=True)) if expr.keys else tuple(items)

    def _op(self, expr: Op, frame: Frame) -> Value:
        spec = OPS[expr.name]
        values = [self.evaluate(operand, frame) for operand in expr.operands]
        if spec.integer:
            number = values.pop()
            if not isinstance(number, int) or isinstance(number, bool) or abs(number) > 4:
                raise Rejected("not a small int")
        operands = [value for value in values if isinstance(value, Ref)]
        if len(operands) != len(values):
            raise Rejected("not a tensor")
        target = operands[0]
        if spec.mutates:
            if target.storage.leaf:
                raise Rejected("a leaf that requires grad")
            # Partial overlap of source and target is an error or, worse, order-dependent.
            if any(o.storage is target.storage and o is not target for o in operands[1:]):
                raise Rejected("source and target overlap")
        outcome = spec.rule(operands, expr.params)
        result = _apply(outcome, target, frame.tank)
        if spec.mutates == "value":
            target.storage.bound = max(target.storage.bound, outcome.bound)
        elif spec.mutates == "metadata":
            target.type = outcome.type
        return result

    # whole programs

    def accepts(self, program: Program) -> bool:
        """Whether eager runs the Program for CALLS consecutive calls."""
        try:
            model = self.build(New(program.root.name))
            for _ in range(CALLS):
                args = [argument(given) for given in program.args]
                kwargs = {name: argument(given) for name, given in program.kwargs}
                self.call(model, args, kwargs, [FUEL])
        except Rejected:
            return False
        return True


def tensor(fill: Fill, kind: str = "") -> Ref:
    """The tensor that a Fill describes."""
    return Ref(dense(fill.shape), Storage(kind=kind))


def argument(given: Input) -> Value:
    """A fresh example argument."""
    if not isinstance(given, TensorInput):
        return given.value
    ref = tensor(given.fill)
    return Ref(swap(ref.type, 0, 1), ref.storage) if given.transposed else ref


def resolve(owner: Instance, path: Path) -> Instance | Ref:
    """What hangs at a path; raises Rejected where nothing does."""
    value: Instance | Ref = owner
    for step in path:
        if not isinstance(value, Instance) or step not in value.attrs:
            raise Rejected("no such attribute")
        value = value.attrs[step]
    return value


def _apply(outcome: Outcome, first: Ref, tank: list[int]) -> Ref:
    """The result of an op as a tensor object."""
    tank[0] -= 1
    if tank[0] < 0:
        raise Rejected("out of fuel")
    if outcome.bound > LIMIT:
        raise Rejected("values too large")
    if outcome.type.numel > 64:
        raise Rejected("too many elements")
    if outcome.same:
        return first
    return Ref(outcome.type, first.storage if outcome.alias else Storage(outcome.bound))


def _bind_arguments(kind: ClassDef, args: Sequence[Value], kwargs: Mapping[str, Value]) -> dict[str, Value]:
    if len(args) > len(kind.args):
        raise Rejected("too many arguments")
    names: dict[str, Value] = {}
    for arg, value in zip(kind.args, args, strict=False):
        names[arg.name] = value
    known = {arg.name for arg in kind.args}
    for name, value in kwargs.items():
        if name in names or name not in known:
            raise Rejected("unexpected keyword")
        names[name] = value
    for arg in kind.args:
        if arg.name not in names:
            if arg.default is None:
                raise Rejected("missing argument")
            names[arg.name] = arg.default.value
    return names
