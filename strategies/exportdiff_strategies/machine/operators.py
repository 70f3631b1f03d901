"""Executing ops and layers of ``nn`` on tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from exportdiff_strategies import program as ir
from exportdiff_strategies.layers import LAYERS
from exportdiff_strategies.machine import autograd, memory
from exportdiff_strategies.machine.limits import ELEMENTS
from exportdiff_strategies.machine.memory import PARTIAL_WRITES, OperatorMemory
from exportdiff_strategies.ops import LIMIT, OpResult, OpSpec, Params, Rejected, forbid
from exportdiff_strategies.regions import PARAMETRIZATIONS
from exportdiff_strategies.trace import Trace
from exportdiff_strategies.types import TensorType
from exportdiff_strategies.values import Instance, TensorValue, Value


class OperatorRunner:
    """The state of a run, and what executes ops and layers in it."""

    def __init__(self, training: bool) -> None:
        """Start outside of all calls and ``with`` blocks; ``training``: the model is in train mode."""
        self.training = training
        self.trace: Trace | None = None
        """Where to record what runs, if anywhere."""
        self.checks_params = False
        """Whether to reject constants that an op does not offer for its operand; its rule need not notice."""
        self._grad = True
        self._autocast = ""
        """The dtype that autocast lowers to, if it is on."""
        self._inference = False
        """Whether all of the model runs in inference mode."""
        self._checkpointed = False
        """Whether torch.utils.checkpoint calls what runs."""
        self._operator: OperatorMemory | None = None
        """The memory of the control-flow operator that runs, if one does."""
        self._depth = 0
        """The number of calls that are running."""
        self._owner: Instance | None = None
        """The module that runs."""

    @property
    def grad_on(self) -> bool:
        """Whether grad mode is on."""
        return self._grad

    def execute(
        self,
        spec: OpSpec,
        operands: list[TensorValue],
        params: Params,
        fuel: list[int],
        trained: bool = False,
    ) -> TensorValue:
        """Execute an op, with its effects; ``trained``: it also reads parameters that are not operands.

        Raises Rejected if eager would raise, or the fuel is used up.
        """
        target = operands[0]
        forbid(self._inference and spec.group == "autograd", "inference mode records nothing for gradients")
        requires_grad = trained or any(operand.grad for operand in operands)
        if self._operator is not None:
            supported = self._operator.spec.transforms
            if spec.untraced or (supported and supported.isdisjoint((spec.group, spec.template))):
                raise Rejected("not in the functions of this operator")
        if spec.mutates:
            self._check_write(target, operands[1:], spec.mutates, spec.group in PARTIAL_WRITES)
            if spec.group == "inplace.out":
                autograd.check_out(requires_grad, self._grad)
        if self.checks_params and params not in _offered_params(spec, target):
            raise Rejected("the op would not be drawn with these constants")
        of_memory = spec.of_memory or spec.group == "inplace.storage"
        if of_memory and any(operand.lazy or operand.bits for operand in operands):
            raise Rejected("the memory holds other values")
        outcome = spec.rule(operands, params)
        if self._autocast and any(operand.type.dtype == "float16" for operand in operands):
            raise Rejected("autocast on the CPU does not expect float16")
        if self._autocast and spec.lowers:
            outcome = self._lowered(outcome)
        if spec.mutates == "value":
            target.storage.bound = max(target.storage.bound, outcome.bound)
            autograd.note_write(target, requires_grad, self._grad)
        elif spec.mutates == "metadata":
            _change_metadata(spec, target, operands, outcome)
        return self._result(outcome, target, requires_grad and not spec.stops_grad, fuel, spec)

    def execute_layer(
        self, layer: Instance, new: ir.New, args: Sequence[Value], fuel: list[int], form: str
    ) -> Value:
        """Call a layer of ``nn``, written in this form. Raises Rejected if eager would raise."""
        spec = LAYERS[new.name]
        if len(args) != 1 or not isinstance(args[0], TensorValue) or form not in (spec.form, "checkpoint"):
            raise Rejected("a layer takes one tensor, in its own form")
        forbid(spec.form and form != spec.form, "this layer returns several results")
        x = args[0]
        outcome = spec.outcome(x, new.params, self.training)
        updates = spec.updates(x, new.params) if self.training else {}
        self._check_layer(layer, new, form, bool(updates))
        if self._autocast and spec.lowers:
            outcome = self._lowered(outcome)
        if spec.mutates:
            self._check_write(x, (), "value")
        if layer.parametrized:
            # Its weights may be larger than those of the table.
            outcome = replace(outcome, bound=2 * outcome.bound)
            if self.trace is not None:
                self.trace.used.update(init for _, init in layer.parametrized.values())
        for name, bound in updates.items():
            state = layer.attrs[name]
            assert isinstance(state, TensorValue)
            state.storage.bound = max(state.storage.bound, bound)
        trained = any(isinstance(v, TensorValue) and v.grad for v in layer.attrs.values())
        if self._operator is not None:
            self._operator.trains |= trained
        result = self._result(outcome, x, x.grad or trained, fuel)
        if spec.mutates:
            x.storage.bound = max(x.storage.bound, outcome.bound)
        return result

    def _check_layer(self, layer: Instance, new: ir.New, form: str, updates: bool) -> None:
        """Raise Rejected if autocast or a control-flow operator does not support a layer.

        ``updates``: the call updates buffers.
        """
        if not self._autocast and self._operator is None:
            return
        spec = LAYERS[new.name]
        unlowered = bool(spec.tensors(new.params)) and not spec.lowers
        if self._autocast and (spec.form or unlowered):
            raise Rejected("the effect of autocast on this layer is not modelled")
        if self._operator is not None:
            for name, _ in layer.parametrized.values():
                updates |= PARAMETRIZATIONS[name].updates and self.training
            forbid(updates, "no updates in a control-flow operator")
            untransformed = spec.form or form or unlowered or (spec.random and not spec.lowers)
            if self._operator.spec.transforms and untransformed:
                raise Rejected("torch.func does not transform every layer")

    def _check_write(
        self, target: TensorValue, others: Sequence[TensorValue], mutates: str, partial: bool = False
    ) -> None:
        if self._operator is not None:
            self._operator.check_write(target, mutates)
            if self.trace is not None and self._operator.existed(target):
                self.trace.marks.add("region.written")
        if mutates == "metadata" and target.restriction == "multi" and target.grad:
            raise Rejected("one of several views, whose history no op may change")
        memory.check_write(target, others, mutates, partial)
        autograd.check_write(target, others, self._grad)

    def _lowered(self, outcome: OpResult) -> OpResult:
        """The outcome of an op that autocast runs in its lower precision."""
        kind = outcome.type
        if kind.dtype != "float32" or outcome.alias:
            return outcome
        lower = TensorType(kind.shape, kind.stride, self._autocast)
        return OpResult(lower, outcome.bound)

    def _result(
        self,
        outcome: OpResult,
        first: TensorValue,
        requires_grad: bool,
        fuel: list[int],
        spec: OpSpec | None = None,
    ) -> TensorValue:
        """The result of an op or, without a ``spec``, of a layer; ``first`` is the first operand."""
        fuel[0] -= 1
        forbid(fuel[0] < 0, "out of fuel")
        forbid(outcome.bound > LIMIT, "values too large")
        forbid(outcome.type.numel > ELEMENTS, "too many elements")
        if outcome.same:
            return first
        if outcome.alias:
            return autograd.view_of(first, outcome, spec, self._grad)
        result = autograd.fresh_result(outcome, requires_grad, self._grad)
        if self.trace is not None:
            self.trace.note_made(result, self._owner)
        return result


def _offered_params(spec: OpSpec, target: TensorValue) -> Sequence[Params]:
    choices = spec.choices([target])
    return choices if isinstance(choices, list) else ()  # a Hypothesis strategy cannot list its values


def _change_metadata(
    spec: OpSpec, target: TensorValue, operands: Sequence[TensorValue], outcome: OpResult
) -> None:
    adopted = operands[outcome.adopts] if outcome.adopts is not None else None
    autograd.check_storage_change(spec, target, adopted)
    if adopted is not None:
        target.storage = adopted.storage
    target.type = outcome.type
    autograd.switch_grad(spec, target)
