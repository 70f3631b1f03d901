"""The abstract machine: runs a Program on types alone, so that only programs that eager accepts are drawn.

It follows object identity, storage sharing, gradient history and Python control flow exactly, sizes and
strides where they are decided by the op alone, and values only by a bound on their magnitude.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from strategies.building import Builder, resolve
from strategies.conditions import CONDS, FACTS, MODES, RELATIONS
from strategies.control import CONTROLS
from strategies.inputs import arguments
from strategies.layers import LAYERS
from strategies.ops import LIMIT, MOST, OPS, REALS, OpSpec, Outcome, Params, Rejected
from strategies.program import (
    Apply,
    Arg,
    Assign,
    Attr,
    Bound,
    Bump,
    Call,
    ClassDef,
    Cond,
    Control,
    Do,
    Expr,
    Fact,
    Function,
    If,
    Item,
    Lambda,
    Lit,
    Loop,
    New,
    Not,
    Op,
    Path,
    Program,
    Repeat,
    Return,
    Set,
    Star,
    Stmt,
    Swap,
    Ternary,
    Var,
    With,
)
from strategies.regions import HOOKS, PARAMETRIZATIONS, REGIONS
from strategies.trace import Called, Trace, Written
from strategies.types import TensorType, inexact
from strategies.values import (
    Box,
    Family,
    Frame,
    Instance,
    Method,
    Primitive,
    PythonValue,
    Ref,
    Storage,
    Value,
)

FUEL = 14
"""Tensor ops that one call of the model may execute: small programs are fast to test and to read."""

CALLS = 3
"""Consecutive calls that a Program must survive, because that is how often the harness calls it."""

ELEMENTS = 64
"""No tensor is larger."""

NESTING = 12
"""No call nests deeper: a method that calls itself without an end stops here."""


_PARTIAL = frozenset({"inplace.item", "inplace.scatter", "inplace.out"})
"""Groups of ops that write to part of their target, or while they still read."""


def _offered(spec: OpSpec, target: Ref) -> Sequence[Params]:
    choices = spec.choices([target])
    return choices if isinstance(choices, list) else ()  # what a strategy may give cannot be asked


class Machine:
    """Builds and runs instances of a Program's classes. Every method raises Rejected where eager raises."""

    def __init__(self, classes: Iterable[ClassDef], training: bool = False) -> None:
        """Know these classes, and whether the model is in train mode."""
        self.classes: dict[str, ClassDef] = {cls.name: cls for cls in classes}
        self.training = training
        self.builder = Builder(self.classes)
        self.trace: Trace | None = None
        self.doubts_params = False
        """Whether to reject constants that an op does not offer for its operand: its rule need not notice."""
        self._grad = True
        self._autocast = ""
        self._pure = False
        self._depth = 0
        self._level = 0
        """Modules of classes of the Program that are being called."""
        self._owner: Instance | None = None
        """The module whose code runs."""
        self._memory: set[Storage] = set()
        """While pure: the storages that existed before."""
        self._lifted: dict[Storage, Ref] = {}
        """While pure: the tensors that the operator takes besides its operands."""

    @property
    def grad_on(self) -> bool:
        """Whether autograd records what runs now."""
        return self._grad

    # reading attributes

    def read(self, owner: Instance, path: Path) -> Value:
        """What hangs at a path; raises Rejected where nothing does."""
        return resolve(owner, path, self.trace)

    def _attribute(self, frame: Frame, path: Path) -> Value:
        holder = self.read(frame.owner, path[:-1]) if len(path) > 1 else frame.owner
        value = self.read(frame.owner, path)
        if isinstance(holder, Instance) and path[-1] in holder.parametrized:
            name, init = holder.parametrized[path[-1]]
            if self.trace is not None:
                self.trace.used.add(init)
            assert isinstance(value, Ref)
            return self._execute(OPS[PARAMETRIZATIONS[name][0]], [value], (), frame.tank)
        if self._pure and isinstance(value, Ref):
            self._lift(value)
        return value

    def _lift(self, value: Ref) -> None:
        if self._lifted.setdefault(value.storage, value) is not value:
            raise Rejected("a control-flow operator takes no two tensors of one memory")

    # calling

    def call(
        self,
        callee: Value,
        args: Sequence[Value],
        kwargs: Mapping[str, Value],
        tank: list[int],
        method: str = "",
        form: str = "",
        caller: Instance | None = None,
    ) -> Value:
        """Call a module, a method or a function."""
        if isinstance(callee, Method):
            return self.call(callee.owner, args, kwargs, tank, callee.name, caller=caller)
        if isinstance(callee, Primitive):
            if kwargs or not all(isinstance(arg, Ref) for arg in args):
                raise Rejected("a function of tensors")
            return self._execute(OPS[callee.name], [a for a in args if isinstance(a, Ref)], (), tank)
        if not isinstance(callee, Instance):
            raise Rejected("not callable")
        if self._depth >= NESTING:
            raise Rejected("recursion")
        owner = self._owner
        level = isinstance(callee.kind, ClassDef) and callee is not owner
        self._depth += 1
        self._level += level
        self._owner = callee
        try:
            if self.trace is not None and method in ("", "forward"):
                self._note_call(self.trace, callee, caller, [*args, *kwargs.values()], method)
            if method:
                return self._forward(callee, args, kwargs, tank, method, form)
            args = self._hooked(callee, True, args, tank)
            before = tank[0]
            result = self._forward(callee, args, kwargs, tank, "forward", form)
            if self.trace is not None and self._depth > 1:
                if before == tank[0]:
                    self.trace.marks.add("hierarchy.no_op_child")
                if any(result is arg for arg in args if isinstance(arg, Ref)):
                    self.trace.marks.add("calls.untouched")
            return self._hooked(callee, False, (result,), tank)[0]
        finally:
            self._depth -= 1
            self._level -= level
            self._owner = owner

    def _note_call(
        self, trace: Trace, callee: Instance, caller: Instance | None, given: list[Value], method: str
    ) -> None:
        kind = callee.kind
        name = kind if isinstance(kind, str) else kind.name
        flags = tuple(v for v in given if v is None or isinstance(v, PythonValue))
        if any(value is mine for value in given if isinstance(value, Ref) for mine in callee.attrs.values()):
            trace.marks.add("calls.own_state")
        if not method:
            trace.events.append(Called(id(callee), name, id(caller), self._level, flags))
        else:
            trace.marks.add("calls.forward_directly")

    def _hooked(
        self, callee: Instance, before: bool, values: Sequence[Value], tank: list[int]
    ) -> Sequence[Value]:
        for name, init in callee.hooks:
            hook = HOOKS[name]
            if hook.before is before:
                if self.trace is not None:
                    self.trace.used.add(init)
                if not values or not isinstance(values[0], Ref):
                    raise Rejected("the hook takes a tensor")
                values = (self._execute(OPS[hook.op], [values[0]], (), tank), *values[1:])
        return values

    def _forward(
        self,
        callee: Instance,
        args: Sequence[Value],
        kwargs: Mapping[str, Value],
        tank: list[int],
        method: str,
        form: str,
    ) -> Value:
        kind = callee.kind
        if isinstance(kind, New):
            if kwargs or method != "forward":
                raise Rejected("a layer has forward alone, and takes no keywords here")
            return self._layer(callee, kind, args, tank, form)
        if kind == "Sequential":
            if len(args) != 1 or kwargs or method != "forward":
                raise Rejected("Sequential takes one argument")
            value = args[0]
            for child in list(callee.attrs.values()):
                value = self.call(child, (value,), {}, tank, caller=callee)
            return value
        if not isinstance(kind, ClassDef) or form not in ("", "checkpoint"):
            raise Rejected("this cannot be called so")
        if callee.traced and (kwargs or method != "forward"):
            raise Rejected("a traced module has forward alone")
        parameters, body = _method(kind, method)
        names = bind(parameters, args, kwargs)
        if self.trace is not None:
            self.trace.methods.add((kind.name, method))
            if self._level > 1 and any(a.default and a.name not in kwargs for a in parameters[len(args) :]):
                self.trace.marks.add("calls.default")
            if out_of_order(parameters, kwargs):
                self.trace.marks.add("calls.keyword_order")
        returned, value = self.run(body, Frame(callee, names, tank))
        return value if returned else None

    def _layer(self, callee: Instance, new: New, args: Sequence[Value], tank: list[int], form: str) -> Value:
        spec = LAYERS[new.name]
        if len(args) != 1 or not isinstance(args[0], Ref) or form not in (spec.form, "checkpoint"):
            raise Rejected("a layer takes one tensor, in its own form")
        if spec.form and form != spec.form:
            raise Rejected("this layer gives several results")
        x = args[0]
        outcome = spec.rule(x, new.params, self.training)
        if self._autocast:
            if spec.form or (spec.tensors(new.params) and not spec.lowers):
                raise Rejected("what autocast makes of this layer is not modelled")
            outcome = self._lowered(outcome) if spec.lowers else outcome
        moves = spec.moves(x, new.params) if self.training else {}
        if spec.mutates:
            self._check_write(x, (), "value")
        if self._pure and moves:
            raise Rejected("no updates here")
        for name, bound in moves.items():
            state = callee.attrs[name]
            assert isinstance(state, Ref)
            state.storage.bound = max(state.storage.bound, bound)
        weighed = any(isinstance(v, Ref) and v.grad for v in callee.attrs.values())
        result = self._result(outcome, x, x.grad or weighed, tank)
        if spec.mutates:
            x.storage.bound = max(x.storage.bound, outcome.bound)
        return result

    # statements

    def run(self, body: Iterable[Stmt], frame: Frame) -> tuple[bool, Value]:
        """Execute statements; the first item says whether a ``return`` was reached."""
        for stmt in body:
            if self.trace is not None:
                self.trace.executed.add(id(stmt))
            if isinstance(stmt, Assign):
                frame.assign(stmt.target, self.evaluate(stmt.value, frame))
            elif isinstance(stmt, Do):
                self.evaluate(stmt.value, frame)
            elif isinstance(stmt, Return):
                return True, self.evaluate(stmt.value, frame)
            elif isinstance(stmt, If):
                truth = self.holds(stmt.test, frame)
                if self.trace is not None:
                    self.trace.sides.add((id(stmt), truth))
                done, value = self.run(stmt.then if truth else stmt.orelse, frame)
                if done:
                    return True, value
            elif isinstance(stmt, With):
                with self.region(stmt.region):
                    done, value = self.run(stmt.body, frame)
                if done:
                    return True, value
            elif isinstance(stmt, Repeat):
                done, value = self._repeat(stmt, frame)
                if done:
                    return True, value
            elif isinstance(stmt, Loop):
                self._loop(stmt, frame)
            elif isinstance(stmt, Control):
                self._control(stmt, frame)
            else:
                self._store(stmt, frame)
        return False, None

    @contextlib.contextmanager
    def region(self, name: str) -> Iterator[None]:
        """Run what follows inside a region of the table."""
        grad, autocast = self._grad, self._autocast
        region = REGIONS[name]
        self._grad = grad if region.grad is None else region.grad
        self._autocast = region.autocast or autocast
        try:
            yield
        finally:
            self._grad, self._autocast = grad, autocast

    def _repeat(self, stmt: Repeat, frame: Frame) -> tuple[bool, Value]:
        count = self._rounds(stmt, frame)
        number = 0
        while number < count:
            frame.assign(stmt.var, number)
            done, value = self.run(stmt.body, frame)
            if done:
                return True, value
            number += 1
            # A while asks again, of what its body may have changed.
            count = self._rounds(stmt, frame) if stmt.style == "while" else count
        frame.names.pop(stmt.var, None)
        return False, None

    def _rounds(self, stmt: Repeat, frame: Frame) -> int:
        count = self.evaluate(stmt.count, frame)
        if not isinstance(count, int) or not 0 <= count <= 4:
            raise Rejected("not a small number of rounds")
        return count

    def _loop(self, stmt: Loop, frame: Frame) -> None:
        box = self.read(frame.owner, stmt.container)
        if not isinstance(box, Instance) or not isinstance(box.kind, str):
            raise Rejected("not iterable")
        if (box.kind == "ModuleDict") is not (stmt.style in ("values", "items")):
            raise Rejected("iterated in another way")
        if stmt.target not in frame.names:
            raise Rejected("unbound name")
        for child in list(box.attrs.values()):
            args = [frame.names[stmt.target], *(self.evaluate(arg, frame) for arg in stmt.args)]
            frame.assign(stmt.target, self.call(child, args, {}, frame.tank, caller=frame.owner))

    def _control(self, stmt: Control, frame: Frame) -> None:
        operands = [self.evaluate(operand, frame) for operand in stmt.operands]
        tensors = [value for value in operands if isinstance(value, Ref)]
        if len(tensors) != len(operands) or self._pure or self._autocast:
            raise Rejected("a control-flow operator takes tensors, and is not nested")

        def run(function: Lambda, given: Sequence[Ref]) -> Value:
            if self.trace is not None:
                self.trace.executed.add(id(function))
            self._memory.update(ref.storage for ref in given)
            names = {**frame.names, **dict(zip(function.args, given, strict=True))}
            result = self.run(function.body, Frame(frame.owner, names, frame.tank))[1]
            parts = result.items.values() if isinstance(result, Box) else (result,)
            if any(isinstance(part, Ref) and part.storage in self._memory for part in parts):
                raise Rejected("the result shares memory with what went in")
            return result

        self._pure, self._memory = True, self._known(frame)
        self._lifted = {tensor.storage: tensor for tensor in tensors}
        try:
            outcome = CONTROLS[stmt.name].rule(tensors, stmt.functions, run)
        finally:
            self._pure, self._memory = False, set()
        frame.assign(stmt.target, outcome)

    def _known(self, frame: Frame) -> set[Storage]:
        found: set[Storage] = set()
        todo: list[Value] = [frame.owner, *frame.names.values()]
        seen: set[int] = set()
        while todo:
            value = todo.pop()
            if isinstance(value, Ref):
                found.add(value.storage)
            elif isinstance(value, Instance) and id(value) not in seen:
                seen.add(id(value))
                todo += value.attrs.values()
            elif isinstance(value, Box):
                todo += value.items.values()
        return found

    def _store(self, stmt: Set | Swap | Bump, frame: Frame) -> None:
        if self._pure:
            raise Rejected("no updates here")
        if isinstance(stmt, Bump):
            holder = self._holder(frame, stmt.path)
            value = self.read(frame.owner, stmt.path)
            if not isinstance(value, int) or isinstance(value, bool):
                raise Rejected("not a counter")
            holder.attrs[stmt.path[-1]] = value + 1
        elif isinstance(stmt, Swap):
            first, second = self.read(frame.owner, stmt.first), self.read(frame.owner, stmt.second)
            self._set(frame, stmt.first, second)
            self._set(frame, stmt.second, first)
        else:
            self._set(frame, stmt.path, self.evaluate(stmt.value, frame))

    def _set(self, frame: Frame, path: Path, value: Value) -> None:
        holder = self._holder(frame, path)
        step = path[-1]
        slot = holder.slots.get(step, "")
        if isinstance(holder.kind, New) or holder.traced or step in holder.parametrized:
            raise Rejected("a layer, a graph or a property")
        if slot == "parameter" or isinstance(value, Instance):
            raise Rejected("not rebound")
        if isinstance(value, Ref):
            # ``self.b = <Parameter>`` would register a parameter.
            if value.storage.kind == "parameter" and not value.view:
                raise Rejected("a parameter stays one")
            if slot == "" and step in holder.attrs and not isinstance(holder.attrs[step], Ref):
                raise Rejected("not a tensor's name")
            if slot == "":
                holder.slots[step] = "constant"
        elif isinstance(value, Box | Method | Primitive) or slot in ("buffer", "scratch"):
            raise Rejected("a buffer holds tensors")
        if self.trace is not None:
            if step in holder.origins:
                self.trace.used.add(holder.origins[step])
            self.trace.marks.update(_rebinding(holder.attrs.get(step), value))
        holder.attrs[step] = value

    def _holder(self, frame: Frame, path: Path) -> Instance:
        holder = self.read(frame.owner, path[:-1]) if len(path) > 1 else frame.owner
        if not isinstance(holder, Instance):
            raise Rejected("not a module")
        return holder

    # expressions

    def holds(self, test: Cond, frame: Frame) -> bool:
        """The truth of a condition."""
        if test.name in RELATIONS:
            return self._related(test, frame)
        spec = MODES[test.name] if test.subject is None else CONDS[test.name]
        if self._pure and spec.autograd:
            raise Rejected("a control-flow operator may trace its functions in another mode")
        if test.subject is None:
            return MODES[test.name].test(self)
        subject = self.evaluate(test.subject, frame)
        if self.trace is not None and isinstance(subject, Ref):
            self.trace.note_told(subject)
        return CONDS[test.name].test(subject, test.params)

    def _related(self, test: Cond, frame: Frame) -> bool:
        assert test.subject is not None and test.other is not None
        first, second = self.evaluate(test.subject, frame), self.evaluate(test.other, frame)
        if self._pure or not isinstance(first, Ref) or not isinstance(second, Ref):
            raise Rejected("not two tensors outside a control-flow operator")
        return RELATIONS[test.name].test(first, second)

    def evaluate(self, expr: Expr, frame: Frame) -> Value:
        """The value of an expression, with its effects done."""
        if isinstance(expr, Var):
            if expr.name not in frame.names:
                raise Rejected("unbound name")
            return frame.names[expr.name]
        if isinstance(expr, Lit):
            return expr.value
        if isinstance(expr, Op):
            return self._op(expr, frame)
        if isinstance(expr, Attr):
            value = self._attribute(frame, expr.path)
            if isinstance(value, Instance):
                raise Rejected("a module")
            return value
        if isinstance(expr, Call):
            return self._call(expr, frame)
        if isinstance(expr, Item):
            box = frame.names.get(expr.base.name)
            if not isinstance(box, Box) or expr.key not in box.items:
                raise Rejected("no such item")
            return box.items[expr.key]
        if isinstance(expr, Not):
            flag = self.evaluate(expr.flag, frame)
            if not isinstance(flag, bool):
                raise Rejected("not a flag")
            return not flag
        if isinstance(expr, Fact):
            subject = self.evaluate(expr.subject, frame)
            if not isinstance(subject, Ref):
                raise Rejected("not a tensor")
            if self.trace is not None:
                self.trace.note_told(subject)
            return FACTS[expr.name].read(subject.type)
        if isinstance(expr, Ternary):
            truth = self.holds(expr.test, frame)
            return self.evaluate(expr.then if truth else expr.orelse, frame)
        if isinstance(expr, Apply):
            function = frame.names.get(expr.function.name)
            args = [self.evaluate(arg, frame) for arg in expr.args]
            return self.call(function, args, {}, frame.tank, caller=frame.owner)
        if isinstance(expr, Bound):
            module = self.read(frame.owner, expr.path)
            if not isinstance(module, Instance):
                raise Rejected("not a module")
            return Method(module, expr.method) if expr.method else module
        if isinstance(expr, Function):
            return Primitive(expr.name)
        items = [self.evaluate(item, frame) for item in expr.items]
        keys = expr.keys or range(len(items))
        return Box(expr.kind, dict(zip(keys, items, strict=True)))

    def _call(self, expr: Call, frame: Frame) -> Value:
        args: list[Value] = []
        kwargs = {name: self.evaluate(value, frame) for name, value in expr.kwargs}
        for arg in expr.args:
            if not isinstance(arg, Star):
                args.append(self.evaluate(arg, frame))
                continue
            rest = self.evaluate(arg.value, frame)
            if not isinstance(rest, Box):
                raise Rejected("nothing to hand on")
            if arg.double:
                kwargs.update({str(key): value for key, value in rest.items.items()})
            else:
                args += rest.items.values()
        callee = self.read(frame.owner, expr.callee)
        if self.trace is not None and len(expr.callee) > 1:
            self.trace.marks.add("calls.deep")
        return self.call(callee, args, kwargs, frame.tank, expr.method, expr.form, frame.owner)

    def _op(self, expr: Op, frame: Frame) -> Value:
        spec = OPS[expr.name]
        values = [self.evaluate(operand, frame) for operand in expr.operands]
        if spec.integer:
            number = values.pop()
            if not isinstance(number, int) or isinstance(number, bool) or abs(number) > MOST:
                raise Rejected("not a small int")
        if spec.real:
            number = values.pop()
            if not isinstance(number, float) or not REALS[spec.real](number):
                raise Rejected("not a float for this op")
        operands = [value for value in values if isinstance(value, Ref)]
        if len(operands) != len(values):
            raise Rejected("not a tensor")
        if self.trace is not None:
            self._note_op(self.trace, expr, spec, operands)
        return self._execute(spec, operands, expr.params, frame.tank)

    def _note_op(self, trace: Trace, expr: Op, spec: OpSpec, operands: Sequence[Ref]) -> None:
        target = operands[0]
        for operand in operands[1:] if spec.mutates else operands:
            trace.note_read(operand, self._owner)
        if spec.mutates:
            written = Written(
                expr.name,
                spec.mutates,
                target.storage.kind,
                target.view,
                self._grad,
                self._depth,
                len(trace.events),
            )
            trace.note_written(written, target, self._owner)

    # ops

    def _execute(self, spec: OpSpec, operands: list[Ref], params: Params, tank: list[int]) -> Ref:
        target = operands[0]
        graded = any(operand.grad for operand in operands)
        if spec.mutates:
            self._check_write(target, operands[1:], spec.mutates, spec.group in _PARTIAL)
            if spec.group == "inplace.out" and graded and self._grad:
                raise Rejected("out= does not support gradients")
        if self.doubts_params and params not in _offered(spec, target):
            raise Rejected("the op would not be given these constants here")
        outcome = spec.rule(operands, params)
        if self._autocast and any(operand.type.dtype == "float16" for operand in operands):
            raise Rejected("autocast on the CPU does not expect it")
        if self._autocast and spec.lowers:
            outcome = self._lowered(outcome)
        if spec.mutates == "value":
            self._written(target, outcome, graded)
        elif spec.mutates == "metadata":
            self._remade(spec, target, operands, outcome)
        return self._result(outcome, target, graded and not spec.stops_grad, tank, spec)

    def _check_write(self, target: Ref, others: Sequence[Ref], mutates: str, partial: bool = False) -> None:
        """Whether autograd and memory allow to change the target in place, or (``partial``) part of it."""
        if self._pure and target.storage in self._memory:
            raise Rejected("no updates here")
        if target.storage.kind == "parameter" and not target.view and mutates == "metadata":
            raise Rejected("the optimizer would not know the parameter again")
        layered = target.storage.layer and not target.view
        if layered and (mutates == "metadata" or target.storage.kind == "buffer"):
            raise Rejected("a layer relies on it")
        if self._grad and target.family.leaf:
            raise Rejected("a leaf that requires grad")
        graded = target.grad or any(other.grad for other in others)
        if self._grad and graded and (target.born or (target.view and target.family.gained)):
            raise Rejected("a view that autograd does not let change")
        if self._grad and graded and target.storage.seen_without_grad:
            raise Rejected("a view from no_grad would lose its history")
        # Partial overlap of source and target is an error or, worse, order-dependent.
        if any(o.storage is target.storage and (partial or o is not target) for o in others):
            raise Rejected("source and target overlap")

    def _written(self, target: Ref, outcome: Outcome, graded: bool) -> None:
        target.storage.bound = max(target.storage.bound, outcome.bound)
        if graded and self._grad and inexact(target.type.dtype):
            target.family.gained |= not target.family.grad
            target.family.grad = True

    def _remade(self, spec: OpSpec, target: Ref, operands: Sequence[Ref], outcome: Outcome) -> None:
        if outcome.adopts is not None:
            if target.grad or operands[outcome.adopts].grad:
                raise Rejected("gradients and exchanged storages do not go together")
            target.storage = operands[outcome.adopts].storage
        elif spec.group == "inplace.storage" and target.grad:
            raise Rejected("gradients and resizing do not go together")
        target.type = outcome.type
        if spec.stops_grad or spec.starts_grad:
            # How state and inputs are made is not known here: they may be views.
            if target.view or (spec.stops_grad and target.storage.kind):
                raise Rejected("views keep their history")
            target.family = Family(spec.starts_grad, spec.starts_grad)

    def _lowered(self, outcome: Outcome) -> Outcome:
        kind = outcome.type
        if kind.dtype != "float32" or outcome.alias:
            return outcome
        lower = TensorType(kind.shape, kind.stride, self._autocast)
        return Outcome(lower, outcome.bound)

    def _result(
        self, outcome: Outcome, first: Ref, graded: bool, tank: list[int], spec: OpSpec | None = None
    ) -> Ref:
        """The result of an op as a tensor object."""
        tank[0] -= 1
        if tank[0] < 0:
            raise Rejected("out of fuel")
        if outcome.bound > LIMIT:
            raise Rejected("values too large")
        if outcome.type.numel > ELEMENTS:
            raise Rejected("too many elements")
        if outcome.same:
            return first
        if outcome.alias:
            stops = spec is not None and spec.stops_grad
            # Of a base that requires grad, a view does so too, also one made under no_grad.
            family = Family() if stops else first.family
            born = "" if self._grad else "no_grad"
            if spec is not None and spec.multi:
                born = "multi"
            if not self._grad:
                first.storage.seen_without_grad = True
            return Ref(outcome.type, first.storage, family, born or first.born, view=True)
        grad = graded and self._grad and inexact(outcome.type.dtype)
        result = Ref(outcome.type, Storage(outcome.bound), Family(grad))
        if self.trace is not None:
            self.trace.note_made(result, self._owner)
        return result

    # whole programs

    def accepts(self, program: Program) -> bool:
        """Whether eager runs the Program for CALLS consecutive calls, and then for every probe."""
        try:
            self.run_program(program)
        except Rejected:
            return False
        return True

    def run_program(self, program: Program) -> list[Value]:
        """The results of CALLS consecutive calls and of every probe; raises Rejected where eager raises."""
        model = self.builder.build(New(program.root.name), None, self.trace)
        if self.trace is not None:
            self.trace.model = model
        results = []
        probes = program.dynamic.probes if program.dynamic is not None else ()
        for sizes in (*((),) * CALLS, *probes):
            args, kwargs = arguments(program, sizes)
            results.append(self.call(model, args, kwargs, [FUEL]))
            if self.trace is not None:
                self.trace.results.append(([*args, *kwargs.values()], results[-1]))
        return results


def _rebinding(old: Value, new: Value) -> Iterator[str]:
    """The tags of giving an attribute another value."""
    if old is None:
        yield "state.created_in_forward"
    elif isinstance(old, Ref) and isinstance(new, Ref):
        yield "state.rebound"
        if old.type.shape != new.type.shape:
            yield "state.rebound_shape"
        if old.type.dtype != new.type.dtype:
            yield "state.rebound_dtype"
        if new.storage.kind == "input":
            yield "state.rebound_to_input"
        elif new.storage.kind and new.storage is not old.storage:
            yield "state.rebound_to_state"


def _method(kind: ClassDef, name: str) -> tuple[tuple[Arg, ...], tuple[Stmt, ...]]:
    if name == "forward":
        return kind.args, kind.body
    for method in kind.methods:
        if method.name == name:
            return method.args, method.body
    raise Rejected("no such method")


def out_of_order(parameters: Sequence[Arg], kwargs: Iterable[str]) -> bool:
    """Whether keywords come in another order than the parameters, those of ``**options`` last."""
    order = {arg.name: number for number, arg in enumerate(parameters)}
    places = [order.get(name, len(order)) for name in kwargs]
    return places != sorted(places)


def bind(parameters: Sequence[Arg], args: Sequence[Value], kwargs: Mapping[str, Value]) -> dict[str, Value]:
    """The local names that a call starts with."""
    names: dict[str, Value] = {}
    plain = [arg for arg in parameters if arg.kind not in ("rest", "options")]
    rest = [arg.name for arg in parameters if arg.kind == "rest"]
    options = [arg.name for arg in parameters if arg.kind == "options"]
    if len(args) > len(plain) and not rest:
        raise Rejected("too many arguments")
    for arg, value in zip(plain, args, strict=False):
        names[arg.name] = value
    known = {arg.name for arg in plain if not arg.unnamed}
    more: dict[int | str, Value] = {}
    for name, value in kwargs.items():
        if name in names or (name not in known and not options):
            raise Rejected("unexpected keyword")
        if name in known:
            names[name] = value
        else:
            more[name] = value
    for arg in plain:
        if arg.name not in names:
            if arg.default is None:
                raise Rejected("missing argument")
            names[arg.name] = arg.default.value
    for name in rest:
        names[name] = Box("tuple", dict(enumerate(args[len(plain) :])))
    for name in options:
        names[name] = Box("dict", more)
    return names
