"""The example inputs of a Program as values of the abstract machine."""

from __future__ import annotations

from exportdiff_strategies import program as ir
from exportdiff_strategies.machine.tensors import LAZY, bound_of, laid_out, new_tensor
from exportdiff_strategies.ops import OPS
from exportdiff_strategies.values import (
    CollectionValue,
    OtherValue,
    PythonValue,
    TensorValue,
    Value,
    ViewFamily,
)


def arguments(program: ir.Program, sizes: tuple[int, ...] = ()) -> tuple[list[Value], dict[str, Value]]:
    """Fresh positional and keyword arguments of one call.

    They are those of the example or, with ``sizes`` for the dynamic dimensions, those of a probe.
    """
    made: dict[str, Value] = {}
    given = program.inputs if not sizes else ir.probe_inputs(program, sizes)
    for name, value in given:
        made[name] = _value(value, made)
    names = [name for name, _ in program.args]
    return [made[name] for name in names], {name: made[name] for name, _ in program.kwargs}


def _value(given: ir.Input, made: dict[str, Value]) -> Value:
    if isinstance(given, ir.TensorInput):
        return _tensor(given)
    if isinstance(given, ir.AliasInput):
        known = made[given.name]
        assert isinstance(known, TensorValue)
        if not given.op:
            return known
        outcome = OPS[given.op].rule([known], given.params)
        family = ViewFamily() if OPS[given.op].stops_grad else known.family
        return TensorValue(outcome.type, known.storage, family, view=True, lazy=known.lazy)
    if isinstance(given, ir.CollectionInput):
        keys = given.keys or range(len(given.items))
        items = [_value(item, made) for item in given.items]
        return CollectionValue(given.kind, dict(zip(keys, items, strict=True)))
    if isinstance(given, ir.IdiomInput):
        return OtherValue(given.kind)
    literal = given.value
    assert literal is None or isinstance(literal, PythonValue)
    return literal


def _tensor(given: ir.TensorInput) -> TensorValue:
    fill = given.fill
    return new_tensor(
        laid_out(fill.shape, fill.dtype, given.layout),
        "input",
        # The harness scales the inputs of later calls by less than 1, and shifts them by at most 1/4.
        bound_of(fill) + 0.25,
        grad=given.requires_grad,
        history=given.history,
        lazy=given.layout in LAZY,
    )
