"""The table of control-flow operators, such as torch.cond: how each is written, and its result on types.

To add one, add one entry to CONTROLS. The local functions of an operator may not return memory that they were
given, and change it only where the operator allows it; the machine rejects the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from exportdiff_strategies import program as ir
from exportdiff_strategies.ops import OPS, Rejected, forbid, require
from exportdiff_strategies.types import TensorType, dense, drop, fresh
from exportdiff_strategies.values import CollectionValue, Storage, TensorValue, Value, ViewFamily

Run = Callable[[ir.LocalFunction, Sequence[TensorValue]], Value]
"""Calls a local function with these arguments."""


@dataclass(frozen=True, slots=True)
class ControlSpec:
    """One operator.

    ``template`` is over ``t`` (the target), ``x`` (the operand) and ``f`` (the names of the functions).
    ``arguments`` are those of each function; the last one is the tensor to compute with. ``carries`` is what
    a function passes to its next round, in a pair with its result. ``rows``: the arguments are rows of the
    operand.
    """

    template: str
    arguments: tuple[tuple[str, ...], ...]
    rule: Callable[[Sequence[TensorValue], Sequence[ir.LocalFunction], Run], TensorValue]
    carries: ir.Expr | None = None
    rows: bool = False
    closed: bool = False
    """Dynamo does not find variables from outside of the functions, not even in eager."""
    preamble: str = ""
    writes: bool = False
    """Without gradients, its functions may write to memory that existed before."""
    trains: bool = False
    """Its functions may read what requires grad."""
    transforms: frozenset[str] = frozenset()
    """For a transform of ``torch.func``: the groups, and the templates, of ops that its functions may run."""
    differentiates: bool = False
    """It computes gradients, which does not work with the hooks of a checkpoint on saved tensors."""


def _real(x: TensorValue) -> TensorType:
    forbid(not x.type.dtype.startswith(("float", "bfloat")) or 0 in x.type.shape, "only floating point")
    return x.type


def _tensor(value: Value) -> TensorValue:
    if not isinstance(value, TensorValue) or not value.type.contiguous:
        raise Rejected("only a new contiguous tensor")
    return value


def _pair(value: Value) -> tuple[TensorValue, TensorValue]:
    if not isinstance(value, CollectionValue) or len(value.items) != 2:
        raise Rejected("only a pair")
    first, second = value.items.values()
    return _tensor(first), _tensor(second)


def _made(kind: TensorType, bound: float, grad: bool) -> TensorValue:
    # A compiled operator may return a view of memory that it keeps.
    return TensorValue(kind, Storage(bound), ViewFamily(grad), view=True)


def _cond(operands: Sequence[TensorValue], functions: Sequence[ir.LocalFunction], run: Run) -> TensorValue:
    _real(operands[0])
    then, orelse = (_tensor(run(function, operands)) for function in functions)
    require(then.type == orelse.type, "the branches differ")
    return _made(then.type, max(then.bound, orelse.bound), then.grad or orelse.grad)


COUNTER = "i"
"""The argument in which a while_loop counts its rounds, and the Storage.kind of its memory.

The function of the loop may neither assign nor write to it.
"""


def _while(operands: Sequence[TensorValue], functions: Sequence[ir.LocalFunction], run: Run) -> TensorValue:
    _real(operands[0])
    x = operands[0]
    forbid(not x.type.contiguous or x.grad, "while_loop keeps the layout of what it carries")
    if any(getattr(node, "target", "") == COUNTER for node in ir.nodes(functions[0].body)):
        raise Rejected("a loop that sets its counter may never end")
    counter = _made(dense((), "int64"), 4.0, False)
    counter.storage.kind = COUNTER
    for _ in range(2):
        carried = _made(x.type, x.bound, x.grad)
        counter, result = _pair(run(functions[0], (counter, carried)))
        forbid(result.type != operands[0].type or result.grad, "while_loop keeps the type of what it carries")
        x = result
    return _made(x.type, x.bound, x.grad)


def _row(x: TensorValue) -> TensorType:
    kind = _real(x)
    forbid(not kind.shape or not kind.contiguous, "only rows of a contiguous tensor")
    return drop(kind, 0)


def _stacked(rows: int, result: TensorValue) -> TensorValue:
    return _made(dense((rows, *result.type.shape), result.type.dtype), result.bound, result.grad)


def _map(operands: Sequence[TensorValue], functions: Sequence[ir.LocalFunction], run: Run) -> TensorValue:
    x = operands[0]
    result = _tensor(run(functions[0], (_made(_row(x), x.bound, x.grad),)))
    return _stacked(x.type.shape[0], result)


def _scan(operands: Sequence[TensorValue], functions: Sequence[ir.LocalFunction], run: Run) -> TensorValue:
    x = operands[0]
    row = _row(x)
    forbid(x.grad, "scan with gradients compiles a backward pass")
    carry = _made(row, x.bound, False)
    for _ in range(x.type.shape[0]):
        after, result = _pair(run(functions[0], (carry, _made(row, x.bound, False))))
        forbid(after.type != row or after.grad, "scan keeps the type of what it carries")
        carry = _made(row, after.bound, False)
    return _stacked(x.type.shape[0], result)


def _vmap(operands: Sequence[TensorValue], functions: Sequence[ir.LocalFunction], run: Run) -> TensorValue:
    x = operands[0]
    result = _tensor(run(functions[0], (TensorValue(_row(x), Storage(x.bound), ViewFamily(x.grad)),)))
    # What does not depend on the row is expanded to all rows.
    kind = TensorType((x.type.shape[0], *result.type.shape), None, result.type.dtype)
    return TensorValue(kind, Storage(result.bound), ViewFamily(result.grad))


_STEEPEST = 1000.0
"""No gradient in a Program is larger."""


def _gradient(
    operands: Sequence[TensorValue], functions: Sequence[ir.LocalFunction], run: Run
) -> TensorValue:
    x = operands[0]
    _real(x)
    forbid(x.grad, "whether the gradient requires grad depends on the function")
    _real(_tensor(run(functions[0], (TensorValue(x.type, Storage(x.bound), ViewFamily()),))))
    return TensorValue(fresh(x.type.shape, x.type.dtype), Storage(_STEEPEST), ViewFamily())


_BATCHED = frozenset(
    {"map", "zip", "int", "float", "activation", "reduce", "shape", "matmul", "view", "compare", "cast"}
)
"""The groups of ops that vmap supports."""

_SMOOTH = frozenset({"zip", "int", "float", "activation", "matmul", "view"}) | {
    OPS[name].template for name in ("add_one", "double", "neg", "tanh", "add_constant")
}
"""The groups of ops with gradients that are finite everywhere, and the templates of some more."""

CONTROLS: dict[str, ControlSpec] = {
    "cond": ControlSpec(
        "{t} = torch.cond({x}.sum() > 0, {f[0]}, {f[1]}, ({x},))", (("x",), ("x",)), _cond, writes=True
    ),
    "map": ControlSpec(
        "{t} = map_rows({f[0]}, {x})", (("row",),), _map, rows=True, closed=True, preamble="map", trains=True
    ),
    "while_loop": ControlSpec(
        "{t} = while_loop(lambda i, x: i < 2, {f[0]}, (torch.tensor(0), {x}))[1]",
        ((COUNTER, "x"),),
        _while,
        carries=ir.Op("add_one", (ir.Var(COUNTER),)),
        preamble="while_loop",
        writes=True,
    ),
    "scan": ControlSpec(
        "{t} = scan({f[0]}, torch.zeros_like({x}[0]), {x})[1]",
        (("carry", "row"),),
        _scan,
        carries=ir.Op("add", (ir.Var("carry"), ir.Var("row"))),
        rows=True,
        preamble="scan",
    ),
    "vmap": ControlSpec(
        "{t} = torch.vmap({f[0]})({x})", (("row",),), _vmap, rows=True, trains=True, transforms=_BATCHED
    ),
    "func_grad": ControlSpec(
        "{t} = torch.func.grad(lambda x: {f[0]}(x).sum())({x})",
        (("x",),),
        _gradient,
        transforms=_SMOOTH,
        differentiates=True,
    ),
}
"""Every operator by its name."""
