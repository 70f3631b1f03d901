"""Executing statements."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence

from exportdiff_strategies import program as ir
from exportdiff_strategies.control import CONTROLS
from exportdiff_strategies.failures import FAILURES
from exportdiff_strategies.idioms import EXTRA, KINDS, OTHER
from exportdiff_strategies.machine.calls import CallRunner
from exportdiff_strategies.machine.construction import IDIOM
from exportdiff_strategies.machine.limits import ROUNDS
from exportdiff_strategies.machine.memory import OperatorMemory
from exportdiff_strategies.ops import Rejected, forbid, require
from exportdiff_strategies.regions import REGIONS
from exportdiff_strategies.values import (
    BoundMethod,
    CallFrame,
    CollectionValue,
    Instance,
    OtherValue,
    TensorValue,
    TorchFunction,
    Value,
)


class Raised(Rejected):
    """The Program itself raises here; a ``try`` around it may catch that."""

    def __init__(self, error: str) -> None:
        """Raise the exception of this name."""
        super().__init__(f"raises {error}")
        self.error = error


class StatementRunner(CallRunner):
    """Executes statements. Every method raises Rejected where eager raises."""

    def run(self, body: Iterable[ir.Stmt], frame: CallFrame) -> tuple[bool, Value]:
        """Execute statements; return whether a ``return`` was reached, and the value it returned."""
        for stmt in body:
            if self.trace is not None:
                self.trace.executed.add(id(stmt))
            if isinstance(stmt, ir.Assign):
                frame.assign(stmt.target, self.evaluate(stmt.value, frame))
            elif isinstance(stmt, ir.Do):
                self.evaluate(stmt.value, frame)
            elif isinstance(stmt, ir.Return):
                return True, self.evaluate(stmt.value, frame)
            elif isinstance(stmt, ir.If | ir.With | ir.Repeat | ir.Try):
                returned, value = self._run_suites(stmt, frame)
                if returned:
                    return True, value
            elif isinstance(stmt, ir.Fail):
                self._fail(stmt, frame)
            elif isinstance(stmt, ir.Loop):
                self._loop(stmt, frame)
            elif isinstance(stmt, ir.Control):
                self._control(stmt, frame)
            elif isinstance(stmt, ir.UseIdiom):
                frame.assign(stmt.target, self._idiom(stmt, frame))
            else:
                self._store(stmt, frame)
        return False, None

    def _run_suites(self, stmt: ir.If | ir.With | ir.Repeat | ir.Try, frame: CallFrame) -> tuple[bool, Value]:
        """Execute a statement that contains others; return the same as ``run``."""
        if isinstance(stmt, ir.If):
            truth = self.holds(stmt.test, frame)
            if self.trace is not None:
                self.trace.sides.add((id(stmt), truth))
            return self.run(stmt.then if truth else stmt.orelse, frame)
        if isinstance(stmt, ir.With):
            with self.region(stmt.region):
                return self.run(stmt.body, frame)
        return self._repeat(stmt, frame) if isinstance(stmt, ir.Repeat) else self._try(stmt, frame)

    @contextlib.contextmanager
    def region(self, name: str) -> Iterator[None]:
        """Run the ``with`` block in a region; ``name`` is a key of REGIONS."""
        before = self._grad, self._autocast, self._inference
        region = REGIONS[name]
        self._grad = self._grad if region.grad is None else region.grad
        self._autocast = region.autocast or self._autocast
        self._inference |= region.whole
        try:
            yield
        finally:
            self._grad, self._autocast, self._inference = before

    # exceptions

    def _fail(self, stmt: ir.Fail, frame: CallFrame) -> None:
        subject = self.evaluate(stmt.subject, frame)
        if not isinstance(subject, TensorValue) or 0 in subject.type.shape:
            raise Rejected("no tensor with elements")
        raise Raised(FAILURES[stmt.name].error)

    def _try(self, stmt: ir.Try, frame: CallFrame) -> tuple[bool, Value]:
        require(self._operator is None, "no exceptions in a control-flow operator")
        try:
            return self.run(stmt.body, frame)
        except Raised as raised:
            if raised.error != stmt.error:
                raise
        if self.trace is not None:
            self.trace.sides.add((id(stmt), True))
        return self.run(stmt.handler, frame)

    # loops

    def _repeat(self, stmt: ir.Repeat, frame: CallFrame) -> tuple[bool, Value]:
        count = self._rounds(stmt, frame)
        number = 0
        while number < count:
            frame.assign(stmt.var, number)
            done, value = self.run(stmt.body, frame)
            if done:
                return True, value
            number += 1
            # A while evaluates its test again, and its body may have changed the result.
            count = self._rounds(stmt, frame) if stmt.style == "while" else count
        frame.names.pop(stmt.var, None)
        return False, None

    def _rounds(self, stmt: ir.Repeat, frame: CallFrame) -> int:
        count = self.evaluate(stmt.count, frame)
        if not isinstance(count, int) or not 0 <= count <= ROUNDS:
            raise Rejected("not a small number of rounds")
        return count

    def _loop(self, stmt: ir.Loop, frame: CallFrame) -> None:
        box = self.read(frame.owner, stmt.container)
        if not isinstance(box, Instance) or not isinstance(box.kind, str):
            raise Rejected("not iterable")
        if (box.kind in ("ModuleDict", "dict")) is not (stmt.style in ("values", "items")):
            raise Rejected("iterated in another way")
        require(stmt.target in frame.names, "unbound name")
        for child in list(box.attrs.values()):
            args = [frame.names[stmt.target], *(self.evaluate(arg, frame) for arg in stmt.args)]
            frame.assign(stmt.target, self.call(child, args, {}, frame.fuel, caller=frame.owner))

    # control-flow operators

    def _control(self, stmt: ir.Control, frame: CallFrame) -> None:
        operands = [self.evaluate(operand, frame) for operand in stmt.operands]
        tensors = [value for value in operands if isinstance(value, TensorValue)]
        if len(tensors) != len(operands) or self._operator is not None or self._autocast:
            raise Rejected("a control-flow operator takes tensors, and is not nested")
        spec = CONTROLS[stmt.name]
        forbid(self._inference, "eager compiles such an operator, and not in inference mode")
        if spec.differentiates and self._checkpointed:
            raise Rejected("eager does not differentiate under hooks on saved tensors")
        memory = OperatorMemory(spec, frame, tensors, self._grad)

        def run(function: ir.LocalFunction, given: Sequence[TensorValue]) -> Value:
            if self.trace is not None:
                self.trace.executed.add(id(function))
            memory.add_arguments(given)
            names = {**frame.names, **dict(zip(function.args, given, strict=True))}
            result = self.run(function.body, CallFrame(frame.owner, names, frame.fuel))[1]
            memory.check_result(result)
            return result

        self._operator = memory
        try:
            outcome = spec.rule(tensors, stmt.functions, run)
        finally:
            self._operator = None
        if memory.trains and self._grad:
            require(spec.trains, "gradients through this operator are not modelled")
            outcome.family.grad |= not spec.transforms
        frame.assign(stmt.target, outcome)

    def _idiom(self, stmt: ir.UseIdiom, frame: CallFrame) -> Value:
        """Execute an idiom; return its result."""
        idiom = KINDS[stmt.kind].idioms[stmt.number]
        x = self.evaluate(stmt.operand, frame)
        if not isinstance(x, TensorValue) or x.bits or self._operator is not None or self._autocast:
            raise Rejected("no tensor that an idiom takes")
        forbid(self._inference and idiom.autograd, "inference mode records nothing for gradients")
        forbid(self._checkpointed and idiom.stateful, "a checkpoint may run it again")
        require(not idiom.given or EXTRA in frame.names, "no such input")
        if self.trace is not None:
            self.trace.note_read(x, self._owner)
            if idiom.init:
                self.trace.used.add(frame.owner.origins[IDIOM])
        outcome = idiom.outcome(x)
        if idiom.gives == OTHER:
            return OtherValue(stmt.kind)
        grad = (x.grad or idiom.trains) and not idiom.detached
        return self._result(outcome, x, grad, frame.fuel)

    # attributes

    def _store(self, stmt: ir.SetAttr | ir.Swap | ir.Increment, frame: CallFrame) -> None:
        require(self._operator is None, "no updates in a control-flow operator")
        if isinstance(stmt, ir.Increment):
            holder = self._holder(frame, stmt.path)
            value = self.read(frame.owner, stmt.path)
            if not isinstance(value, int) or isinstance(value, bool):
                raise Rejected("not a counter")
            holder.attrs[stmt.path[-1]] = value + 1
        elif isinstance(stmt, ir.Swap):
            first, second = self.read(frame.owner, stmt.first), self.read(frame.owner, stmt.second)
            self._set(frame, stmt.first, second)
            self._set(frame, stmt.second, first)
        else:
            self._set(frame, stmt.path, self.evaluate(stmt.value, frame))

    def _set(self, frame: CallFrame, path: ir.AttributePath, value: Value) -> None:
        holder = self._holder(frame, path)
        step = path[-1]
        slot = holder.slots.get(step, "")
        if isinstance(holder.kind, ir.New) or holder.traced or step in holder.parametrized:
            raise Rejected("an attribute of a layer, of a graph module or of a parametrization")
        if slot == "parameter" or isinstance(value, Instance):
            raise Rejected("parameters and modules are not rebound")
        if isinstance(value, TensorValue):
            # ``self.b = <Parameter>`` would register a parameter.
            forbid(value.storage.kind == "parameter" and not value.view, "would register a parameter")
            if slot == "" and step in holder.attrs and not isinstance(holder.attrs[step], TensorValue):
                raise Rejected("not an attribute for tensors")
            if slot == "":
                holder.slots[step] = "constant"
        elif isinstance(value, CollectionValue | BoundMethod | TorchFunction) or slot in (
            "buffer",
            "scratch",
        ):
            raise Rejected("a buffer holds tensors")
        if self.trace is not None:
            if step in holder.origins:
                self.trace.used.add(holder.origins[step])
            old = holder.attrs.get(step)
            self.trace.marks.update(_rebinding_tags(old, value))
            if isinstance(value, TensorValue):
                place = (id(holder), step)
                kept = old if isinstance(old, TensorValue) else None
                self.trace.marks.update(self.trace.flow.note_kept(value, kept, place))
        holder.store(step, value)

    def _holder(self, frame: CallFrame, path: ir.AttributePath) -> Instance:
        holder = self.read(frame.owner, path[:-1]) if len(path) > 1 else frame.owner
        if not isinstance(holder, Instance):
            raise Rejected("not a module")
        return holder


def _rebinding_tags(old: Value, new: Value) -> Iterator[str]:
    """The tags of giving an attribute another value."""
    if old is None:
        yield "state.created_in_forward"
    elif isinstance(old, TensorValue) and isinstance(new, TensorValue):
        yield "state.rebound"
        if old.type.shape != new.type.shape:
            yield "state.rebound_shape"
            if len(old.type.shape) == len(new.type.shape) and old.type.numel < new.type.numel:
                yield "state.grown"
        if old.type.dtype != new.type.dtype:
            yield "state.rebound_dtype"
        if new.storage.kind == "input":
            yield "state.rebound_to_input"
        elif new.storage.kind and new.storage is not old.storage:
            yield "state.rebound_to_state"
