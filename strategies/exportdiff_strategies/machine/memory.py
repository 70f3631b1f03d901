"""Memory's rules: which tensors may be written to, and what a control-flow operator may do with memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from exportdiff_strategies.control import COUNTER, ControlSpec
from exportdiff_strategies.ops import Rejected, forbid
from exportdiff_strategies.values import (
    CallFrame,
    CollectionValue,
    Instance,
    Storage,
    TensorValue,
    Value,
    tensors_in,
)

PARTIAL_WRITES = frozenset({"inplace.item", "inplace.scatter", "inplace.out"})
"""Groups of ops that write to a part of their target, or write while they still read."""


def check_write(
    target: TensorValue, others: Sequence[TensorValue], mutates: str, partial: bool = False
) -> None:
    """Raise Rejected if changing ``target`` in place would be an error, or depend on the order of memory.

    ``others`` are the operands that the op reads, ``mutates`` as in OpSpec; ``partial``: the op is of
    PARTIAL_WRITES.
    """
    if target.storage.kind == "parameter" and not target.view and mutates == "metadata":
        raise Rejected("an optimizer would no longer recognize the parameter")
    layer_state = target.storage.layer and not target.view
    if layer_state and (mutates == "metadata" or target.storage.kind == "buffer"):
        raise Rejected("the code of a layer relies on it")
    # Partial overlap of source and target is an error or, worse, order-dependent.
    if any(other.storage is target.storage and (partial or other is not target) for other in others):
        raise Rejected("source and target overlap")


def reachable_storages(frame: CallFrame) -> set[Storage]:
    """The storages of all tensors that code in this frame can reach."""
    found: set[Storage] = set()
    todo: list[Value] = [frame.owner, *frame.names.values()]
    seen: set[int] = set()
    while todo:
        value = todo.pop()
        if isinstance(value, TensorValue):
            found.add(value.storage)
        elif isinstance(value, Instance) and id(value) not in seen:
            seen.add(id(value))
            todo += value.attrs.values()
        elif isinstance(value, CollectionValue):
            todo += value.items.values()
    return found


LAZY_OPERAND = "a control-flow operator takes no tensor that is conjugated or negated when it is read"
"""No kernel of such an operator for the dispatch keys Conjugate and Negative: eager raises."""


class OperatorMemory:
    """What the local functions of a control-flow operator must respect while they run.

    They may neither return memory that existed before, nor read two different tensors that share memory.
    They may only write to it if the operator allows that, and never to what it carries from round to round.
    """

    def __init__(
        self, spec: ControlSpec, frame: CallFrame, operands: Sequence[TensorValue], grad: bool
    ) -> None:
        """Start with the frame that calls the operator, and the tensors that the operator takes."""
        self.spec = spec
        self._rows = {operand.storage for operand in operands if spec.rows}
        self._existing = reachable_storages(frame)
        self._outer = set(tensors_in(frame.names.values()))
        self._writes = spec.writes and not grad
        self._inputs = {operand.storage: operand for operand in operands}
        self._carried = set(self._inputs) if spec.carries is not None else set()
        forbid(any(operand.lazy for operand in operands) and not spec.transforms, LAZY_OPERAND)
        self.trains = False
        """Whether a tensor that the functions have read requires grad: then the result does."""

    def add_arguments(self, arguments: Iterable[TensorValue]) -> None:
        """Treat the arguments of a local function as existing memory."""
        storages = {argument.storage for argument in arguments}
        self._existing |= storages
        if self.spec.carries is not None:
            self._carried |= storages

    def check_write(self, target: TensorValue, mutates: str) -> None:
        """Raise Rejected for a write to existing memory; ``mutates`` as in OpSpec."""
        forbid(target.storage.kind == COUNTER, "a loop that sets its counter may never end")
        if target.storage in self._carried:
            # torch.while_loop: 'body_fn and cond_fn must not in-place mutate the carried_inputs'.
            raise Rejected("no updates of what a loop carries")
        if self.existed(target) and not (self._writes and mutates == "value"):
            raise Rejected("no updates in a control-flow operator")

    def existed(self, tensor: TensorValue) -> bool:
        """Whether the memory of a tensor existed before the local function was called."""
        return tensor.storage in self._existing

    def check_named(self, value: Value) -> None:
        """Check the value of a name in a local function: a tensor of the calling frame becomes an operand."""
        if isinstance(value, TensorValue) and value in self._outer:
            self.check_read(value)

    def check_read(self, tensor: TensorValue) -> None:
        """Raise Rejected if the operator would take two different tensors that share memory."""
        if self.spec.transforms:
            self.trains |= tensor.grad
            return
        forbid(tensor.lazy, LAZY_OPERAND)
        if self._inputs.setdefault(tensor.storage, tensor) is not tensor:
            raise Rejected("a control-flow operator does not take two tensors that share memory")
        forbid(tensor.storage in self._rows, "the rows of a tensor share memory with it")
        self.trains |= tensor.grad

    def check_result(self, result: Value) -> None:
        """Raise Rejected if the result of a local function shares memory that existed before."""
        parts = result.items.values() if isinstance(result, CollectionValue) else (result,)
        if any(isinstance(part, TensorValue) and part.storage in self._existing for part in parts):
            raise Rejected("the result shares memory with an input")
