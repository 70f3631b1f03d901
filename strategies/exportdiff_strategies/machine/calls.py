"""Calling modules, methods and functions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence

from exportdiff_strategies import program as ir
from exportdiff_strategies.machine.binding import bind, method_of, out_of_order
from exportdiff_strategies.machine.expressions import ExpressionRunner
from exportdiff_strategies.machine.limits import NESTING
from exportdiff_strategies.ops import OPS, Rejected, forbid
from exportdiff_strategies.regions import HOOKS
from exportdiff_strategies.trace import CallEvent, Trace
from exportdiff_strategies.values import (
    BoundMethod,
    CallFrame,
    Instance,
    PythonValue,
    TensorValue,
    TorchFunction,
    Value,
)


class CallRunner(ExpressionRunner):
    """Calls modules, with their hooks, and whatever else can be called."""

    def __init__(self, training: bool) -> None:
        """Start outside of all calls; ``training``: the model is in train mode."""
        super().__init__(training)
        self._level = 0
        """The number of running calls of modules that are instances of the Program's classes."""

    @abstractmethod
    def run(self, body: Iterable[ir.Stmt], frame: CallFrame) -> tuple[bool, Value]:
        """Execute statements; return whether a ``return`` was reached, and the value it returned."""

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
        if isinstance(callee, BoundMethod):
            return self.call(callee.owner, args, kwargs, fuel, callee.name, caller=caller)
        if isinstance(callee, TorchFunction):
            if kwargs or not all(isinstance(arg, TensorValue) for arg in args):
                raise Rejected("a function of tensors")
            return self.execute(OPS[callee.name], [a for a in args if isinstance(a, TensorValue)], (), fuel)
        if not isinstance(callee, Instance):
            raise Rejected("not callable")
        forbid(self._depth >= NESTING, "recursion")
        owner = self._owner
        level = isinstance(callee.kind, ir.ClassDef) and callee is not owner
        self._depth += 1
        self._level += level
        self._owner = callee
        try:
            if self.trace is not None and method in ("", "forward"):
                self._note_call(self.trace, callee, caller, [*args, *kwargs.values()], method)
            if method:
                return self._forward(callee, args, kwargs, fuel, method, form)
            args = self._run_hooks(callee, True, args, fuel)
            before = fuel[0]
            result = self._forward(callee, args, kwargs, fuel, "forward", form)
            if self.trace is not None and isinstance(result, TensorValue):
                self.trace.flow.note_returned(result, callee)
            if self.trace is not None and self._depth > 1:
                if before == fuel[0]:
                    self.trace.marks.add("hierarchy.no_op_child")
                if any(result is arg for arg in args if isinstance(arg, TensorValue)):
                    self.trace.marks.add("calls.untouched")
            return self._run_hooks(callee, False, (result,), fuel)[0]
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
        if any(
            value is mine
            for value in given
            if isinstance(value, TensorValue)
            for mine in callee.attrs.values()
        ):
            trace.marks.add("calls.own_state")
        if not method:
            trace.events.append(CallEvent(id(callee), name, id(caller), self._level, flags))
        else:
            trace.marks.add("calls.forward_directly")

    def _run_hooks(
        self, callee: Instance, before: bool, values: Sequence[Value], fuel: list[int]
    ) -> Sequence[Value]:
        """Run the pre-hooks (``before``) on the arguments, or the hooks on the result."""
        for name, init in callee.hooks:
            hook = HOOKS[name]
            if hook.before is before:
                if self.trace is not None:
                    self.trace.used.add(init)
                if not values or not isinstance(values[0], TensorValue):
                    raise Rejected("the hook takes a tensor")
                values = (self.execute(OPS[hook.op], [values[0]], (), fuel), *values[1:])
        return values

    def _forward(
        self,
        callee: Instance,
        args: Sequence[Value],
        kwargs: Mapping[str, Value],
        fuel: list[int],
        method: str,
        form: str,
    ) -> Value:
        """Run ``forward`` or another method of a module, without hooks."""
        kind = callee.kind
        if isinstance(kind, ir.New):
            forbid(kwargs or method != "forward", "a layer only has forward, and takes no keywords here")
            return self.execute_layer(callee, kind, args, fuel, form)
        if kind == "Sequential":
            forbid(len(args) != 1 or kwargs or method != "forward", "Sequential takes one argument")
            value = args[0]
            for child in list(callee.attrs.values()):
                value = self.call(child, (value,), {}, fuel, caller=callee)
            return value
        if not isinstance(kind, ir.ClassDef) or form not in ("", "checkpoint"):
            raise Rejected("not callable in this form")
        forbid(callee.traced and (kwargs or method != "forward"), "a traced module only has forward")
        parameters, body = method_of(kind, method)
        names = bind(parameters, args, kwargs)
        if self.trace is not None:
            self.trace.methods.add((kind.name, method))
            if self._level > 1 and any(a.default and a.name not in kwargs for a in parameters[len(args) :]):
                self.trace.marks.add("calls.default")
            if out_of_order(parameters, kwargs):
                self.trace.marks.add("calls.keyword_order")
        if form == "checkpoint" and self._operator is not None and self._operator.spec.differentiates:
            raise Rejected("torch.func.grad does not go through the hooks of a checkpoint")
        outside, self._checkpointed = self._checkpointed, self._checkpointed or form == "checkpoint"
        try:
            returned, value = self.run(body, CallFrame(callee, names, fuel))
        finally:
            self._checkpointed = outside
        return value if returned else None
