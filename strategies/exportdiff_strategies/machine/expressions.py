"""Evaluating expressions and conditions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from exportdiff_strategies import program as ir
from exportdiff_strategies.conditions import CONDS, MEASURES, MODES, RELATIONS
from exportdiff_strategies.machine.construction import resolve
from exportdiff_strategies.machine.operators import OperatorRunner
from exportdiff_strategies.ops import MOST, OPS, REALS, RESULTS, OpSpec, Rejected, require
from exportdiff_strategies.regions import PARAMETRIZATIONS
from exportdiff_strategies.trace import Trace, WriteEvent
from exportdiff_strategies.values import (
    STATE,
    BoundMethod,
    CallFrame,
    CollectionValue,
    Instance,
    TensorValue,
    TorchFunction,
    Value,
)


class ExpressionRunner(OperatorRunner, ABC):
    """Evaluates expressions. Every method raises Rejected where eager raises."""

    @abstractmethod
    def call(
        self,
        callee: Value,
        args: Sequence[Value],
        kwargs: Mapping[str, Value],
        fuel: list[int],
        method: str = "",
        form: str = "",
        caller: Instance | None = None,
    ) -> Value:
        """Call a module (or its ``method``, written in a ``form``), a bound method or a function."""

    def read(self, owner: Instance, path: ir.AttributePath) -> Value:
        """The value of the attribute at a path from ``owner``."""
        return resolve(owner, path, self.trace)

    def holds(self, test: ir.Cond, frame: CallFrame) -> bool:
        """The truth of a condition."""
        if test.name in RELATIONS:
            return self._relation_holds(test, frame)
        spec = MODES[test.name] if test.subject is None else CONDS[test.name]
        if self._operator is not None and spec.autograd:
            raise Rejected("a control-flow operator may trace its functions in another grad mode")
        if test.subject is None:
            return MODES[test.name].test(self)
        subject = self.evaluate(test.subject, frame)
        if self.trace is not None and isinstance(subject, TensorValue):
            self.trace.note_metadata_read(subject)
        return CONDS[test.name].test(subject, test.params)

    def _relation_holds(self, test: ir.Cond, frame: CallFrame) -> bool:
        assert test.subject is not None and test.other is not None
        first, second = self.evaluate(test.subject, frame), self.evaluate(test.other, frame)
        if (
            self._operator is not None
            or not isinstance(first, TensorValue)
            or not isinstance(second, TensorValue)
        ):
            raise Rejected("not two tensors outside of a control-flow operator")
        return RELATIONS[test.name].test(first, second)

    def evaluate(self, expr: ir.Expr, frame: CallFrame) -> Value:
        """The value of an expression; the effects of the expression happen."""
        if isinstance(expr, ir.Var):
            require(expr.name in frame.names, "unbound name")
            return self._named(frame.names[expr.name])
        if isinstance(expr, ir.Lit):
            return expr.value
        if isinstance(expr, ir.Op):
            return self._evaluate_op(expr, frame)
        if isinstance(expr, ir.Attr):
            value = self._attribute(frame, expr.path)
            if isinstance(value, Instance):
                raise Rejected("a module")
            return value
        if isinstance(expr, ir.CallModule):
            return self._evaluate_call(expr, frame)
        if isinstance(expr, ir.Collection):
            items = [self.evaluate(item, frame) for item in expr.items]
            keys = expr.keys or range(len(items))
            return CollectionValue(expr.kind, dict(zip(keys, items, strict=True)))
        if isinstance(expr, ir.Ternary):
            truth = self.holds(expr.test, frame)
            return self.evaluate(expr.then if truth else expr.orelse, frame)
        if isinstance(expr, ir.CallVariable):
            function = frame.names.get(expr.function.name)
            args = [self.evaluate(arg, frame) for arg in expr.args]
            return self.call(function, args, {}, frame.fuel, caller=frame.owner)
        if isinstance(expr, ir.Results):
            operand = self.evaluate(expr.operand, frame)
            if not isinstance(operand, TensorValue):
                raise Rejected("not a tensor")
            if self.trace is not None:
                self.trace.note_read(operand, self._owner)
            ops = RESULTS[expr.name].fields
            fields: dict[ir.Literal, Value] = {}
            for key, op in ops.items():
                fields[key] = self.execute(op, [operand], expr.params, frame.fuel)
            return CollectionValue("result", fields)
        return self._evaluate_simple(expr, frame)

    def _evaluate_simple(
        self, expr: ir.Item | ir.Not | ir.Measure | ir.ModuleOrMethod | ir.Function, frame: CallFrame
    ) -> Value:
        """The value of an expression that runs no op and calls nothing."""
        if isinstance(expr, ir.Item):
            box = frame.names.get(expr.base.name)
            if not isinstance(box, CollectionValue) or expr.key not in box.items:
                raise Rejected("no such item")
            return self._named(box.items[expr.key])
        if isinstance(expr, ir.Not):
            flag = self.evaluate(expr.flag, frame)
            if not isinstance(flag, bool):
                raise Rejected("not a flag")
            return not flag
        if isinstance(expr, ir.Measure):
            subject = self.evaluate(expr.subject, frame)
            if not isinstance(subject, TensorValue):
                raise Rejected("not a tensor")
            if self.trace is not None:
                self.trace.note_metadata_read(subject)
            spec = MEASURES[expr.name]
            if spec.of_data and self._operator is not None:
                raise Rejected("eager traces the functions of such an operator")
            return spec.read(subject.type)
        if isinstance(expr, ir.ModuleOrMethod):
            module = self.read(frame.owner, expr.path)
            if not isinstance(module, Instance):
                raise Rejected("not a module")
            return BoundMethod(module, expr.method) if expr.method else module
        return TorchFunction(expr.name)

    def _named(self, value: Value) -> Value:
        """The value of a variable, or of an item of one."""
        if self._operator is not None:
            self._operator.check_named(value)
        return value

    def _attribute(self, frame: CallFrame, path: ir.AttributePath) -> Value:
        """The value of an attribute; reading a parametrized one runs its parametrization."""
        holder = self.read(frame.owner, path[:-1]) if len(path) > 1 else frame.owner
        value = self.read(frame.owner, path)
        if isinstance(holder, Instance) and path[-1] in holder.parametrized:
            name, init = holder.parametrized[path[-1]]
            if self.trace is not None:
                self.trace.used.add(init)
            assert isinstance(value, TensorValue)
            spec = PARAMETRIZATIONS[name]
            require(spec.op, "only the layer reads its weight")
            return self.execute(OPS[spec.op], [value], (), frame.fuel, trained=spec.trains)
        if self._operator is not None and isinstance(value, TensorValue):
            self._operator.check_read(value)
        return value

    def _evaluate_call(self, expr: ir.CallModule, frame: CallFrame) -> Value:
        args: list[Value] = []
        kwargs = {name: self.evaluate(value, frame) for name, value in expr.kwargs}
        for arg in expr.args:
            if not isinstance(arg, ir.Star):
                args.append(self.evaluate(arg, frame))
                continue
            rest = self.evaluate(arg.value, frame)
            if not isinstance(rest, CollectionValue):
                raise Rejected("not a container")
            if arg.double:
                kwargs.update({str(key): value for key, value in rest.items.items()})
            else:
                args += rest.items.values()
        callee = self.read(frame.owner, expr.callee)
        if self.trace is not None and len(expr.callee) > 1:
            self.trace.marks.add("calls.deep")
        return self.call(callee, args, kwargs, frame.fuel, expr.method, expr.form, frame.owner)

    def _evaluate_op(self, expr: ir.Op, frame: CallFrame) -> Value:
        spec = OPS[expr.name]
        values = [self.evaluate(operand, frame) for operand in expr.operands]
        if spec.integer:
            number = values.pop()
            if not isinstance(number, int) or isinstance(number, bool) or abs(number) > MOST:
                raise Rejected("not a small int")
        if spec.real:
            number = values.pop()
            if not isinstance(number, float) or not REALS[spec.real](number):
                raise Rejected("not a float that this op takes")
        operands = [value for value in values if isinstance(value, TensorValue)]
        require(len(operands) == len(values), "not a tensor")
        if self.trace is not None:
            self._note_op(self.trace, expr, spec, operands)
        result = self.execute(spec, operands, expr.params, frame.fuel)
        if self.trace is not None and all(result.storage is not operand.storage for operand in operands):
            self.trace.flow.note_computed(result, operands)
        return result

    def _note_op(self, trace: Trace, expr: ir.Op, spec: OpSpec, operands: Sequence[TensorValue]) -> None:
        target = operands[0]
        for operand in operands[1:] if spec.mutates else operands:
            trace.note_read(operand, self._owner)
        if spec.mutates:
            written = WriteEvent(
                expr.name,
                spec.mutates,
                target.storage.kind,
                target.view,
                self._grad,
                self._depth,
                len(trace.events),
            )
            if expr.name == "copy_" and target.storage.kind in STATE:
                trace.marks.update(trace.flow.note_kept(operands[1], target, target.storage))
            if expr.name == "copy_" and target.type.shape != operands[1].type.shape:
                trace.marks.add("inplace.broadcast")
            trace.note_written(written, target, self._owner)
