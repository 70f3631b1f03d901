"""The example inputs of a Program on types: what the model is called with."""

from __future__ import annotations

from dataclasses import replace

from strategies.building import fresh, laid_out
from strategies.ops import OPS
from strategies.program import Again, Dynamic, Fill, Given, GroupInput, Input, Program, TensorInput
from strategies.types import inexact
from strategies.values import Box, Family, PythonValue, Ref, Value


def arguments(program: Program, sizes: tuple[int, ...] = ()) -> tuple[list[Value], dict[str, Value]]:
    """Fresh arguments of one call: the example, or (``sizes`` of the dynamic dimensions) a probe."""
    made: dict[str, Value] = {}
    given = program.inputs if not sizes else probe(program, sizes)
    for name, value in given:
        made[name] = _value(value, made)
    names = [name for name, _ in program.args]
    return [made[name] for name in names], {name: made[name] for name, _ in program.kwargs}


def probe(program: Program, sizes: tuple[int, ...]) -> Given:
    """The inputs with other sizes in the dynamic dimensions."""
    assert program.dynamic is not None
    return tuple((name, _sized(value, name, program.dynamic, sizes)) for name, value in program.inputs)


def _sized(value: Input, name: str, dynamic: Dynamic, sizes: tuple[int, ...]) -> Input:
    if not isinstance(value, TensorInput):
        return value
    shape = list(value.fill.shape)
    for where, dim, symbol in dynamic.places:
        if where == name:
            shape[dim] = next(s for d, s in zip(dynamic.dims, sizes, strict=True) if d.name == symbol)
    return replace(value, fill=replace(value.fill, shape=tuple(shape)))


def _value(given: Input, made: dict[str, Value]) -> Value:
    if isinstance(given, TensorInput):
        return _tensor(given)
    if isinstance(given, Again):
        known = made[given.name]
        assert isinstance(known, Ref)
        if not given.op:
            return known
        outcome = OPS[given.op].rule([known], given.params)
        family = Family() if OPS[given.op].stops_grad else known.family
        return Ref(outcome.type, known.storage, family, view=True)
    if isinstance(given, GroupInput):
        keys = given.keys or range(len(given.items))
        items = [_value(item, made) for item in given.items]
        return Box(given.kind, dict(zip(keys, items, strict=True)))
    literal = given.value
    assert literal is None or isinstance(literal, PythonValue)
    return literal


def _tensor(given: TensorInput) -> Ref:
    fill = given.fill
    return fresh(
        laid_out(fill.shape, fill.dtype, given.layout), "input", _bound(fill), grad=given.requires_grad
    )


def _bound(fill: Fill) -> float:
    """The harness changes the values of later calls, by factors below 1 and shifts of at most 1/4."""
    if fill.high is not None and not inexact(fill.dtype):
        return 2.25  # see render: such a tensor counts from 0 to 2
    return max(abs(fill.low), abs(fill.high if fill.high is not None else 0.0), 1.0) + 0.25
