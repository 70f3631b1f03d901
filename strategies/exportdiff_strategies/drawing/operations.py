"""Drawing applications of the op table: plain ops, in-place ops, and ops on the results of other ops."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from exportdiff_strategies import program as ir
from exportdiff_strategies.conditions import MEASURES
from exportdiff_strategies.drawing.scope import OPERANDS, Scope
from exportdiff_strategies.ops import MOST, OPS, REALS, RESULTS, OpSpec, Params, Rejected
from exportdiff_strategies.ops.views import TURNS
from exportdiff_strategies.values import TensorValue

VIEWS = [name for name, spec in OPS.items() if spec.group == "view"]
FACTORIES = [name for name, spec in OPS.items() if spec.group == "factory" and spec.arity == 1]
# Tensor literals get more weight: export makes them constants, but each call needs a new tensor.
FACTORIES += [name for name in FACTORIES if "torch.tensor(" in OPS[name].template] * 3

SIZES = [name for name, spec in OPS.items() if spec.group == "size"]

_GROUPS = {
    mutating: {
        group: [name for name, spec in OPS.items() if spec.group == group and bool(spec.mutates) is mutating]
        for group in dict.fromkeys(s.group for s in OPS.values() if bool(s.mutates) is mutating)
    }
    for mutating in (False, True)
}

COMMON: dict[str, int] = {
    **dict.fromkeys(("add_", "copy_", "clamp_", "relu_", "f_relu_", "masked_fill_", "zero_", "mul_"), 2),
    **dict.fromkeys(("index_put_", "scatter_", "t_", "transpose_", "swapaxes_", "unsqueeze_"), 2),
    "detach_": 4,
    "requires_grad_": 2,
    "as_strided_": 1,
    **dict.fromkeys(("set_row", "set_all_two"), 2),
    "squeeze_": 5,
    **dict.fromkeys(("set_", "set_data"), 3),
    **dict.fromkeys(("select_scatter", "slice_scatter"), 5),
    **dict.fromkeys(("add", "softmax"), 6),
    **dict.fromkeys(("gelu", "silu"), 2),
    **dict.fromkeys(("interpolate", "interpolate_one", "flatten"), 3),
    **dict.fromkeys(("floor_div_tensor", "one_hot"), 1),
}
"""Name of an op that is often used, or seldom fits -> how many more entries it has in its group."""

for _names in (*_GROUPS[False].values(), *_GROUPS[True].values()):
    _names += [name for name in _names for _ in range(COMMON.get(name, 0))]

FLOAT_OPS = ("mul_float", "add_float")
"""Ops that use a Python float of a module."""

COMPUTED = ("double", "add_one", "neg", "clone")
"""Ops for a value that is written into another tensor: ``y.copy_(x * 2)``, ``y.data = -x``."""

JOINS = ("mul", "add", "sub")
"""Ops that combine two tensors of nearly any type."""

LAYOUT_SENSITIVE = ("map", "zip", "activation", "reduce", "cast", "norm", "index", "nn")
"""Groups of ops that may keep the memory layout of their operands."""

SECOND_OPERANDS = 8
"""How many tensors are considered as the second and further operands."""


def enabled(scope: Scope, mutating: bool) -> list[list[str]]:
    """The names of the ops that this Program may use, by group."""
    return [names for group, names in _GROUPS[mutating].items() if scope.choose.on(f"op.{group}")]


def draw_op(
    scope: Scope, groups: Sequence[Sequence[str]], firsts: Sequence[ir.Expr], seconds: Sequence[ir.Expr]
) -> ir.Op | None:
    """Draw an op of one of the groups and its operands; the first operand is mostly the first of ``firsts``.

    None if the drawn op fits no operands.
    """
    if not groups or not firsts:
        return None
    choose = scope.choose
    name = choose.member(groups)
    spec = OPS[name]
    chosen = choose.mostly_first(firsts)
    for first in (chosen, *(other for other in firsts if other is not chosen)):
        known = scope.values(first)
        if known is None:
            continue
        choices = spec.choices(known[:1])
        if isinstance(choices, st.SearchStrategy):
            choices = [choose.draw(choices)]
        uses = _fitting(scope, spec, known, choices, seconds)
        if uses:
            params, others = choose.pick(uses)
            operands: tuple[ir.Expr, ...] = (first, *others)
            if spec.integer:
                operands = (*operands, choose.pick(_numbers(scope)))
            elif spec.real:
                operands = (*operands, choose.pick(_floats(scope, spec)))
            return ir.Op(name, operands, params)
    return None


def _fitting(
    scope: Scope, spec: OpSpec, firsts: list[TensorValue], choices: list[Params], seconds: Sequence[ir.Expr]
) -> list[tuple[Params, tuple[ir.Expr, ...]]]:
    """The constants and further operands that fit the first operand in every scenario."""
    others: list[tuple[tuple[ir.Expr, ...], list[list[TensorValue]]]] = []
    for expressions in itertools.product(seconds[:SECOND_OPERANDS], repeat=spec.arity - 1):
        values = [[scope.value(expr, frame) for expr in expressions] for frame in scope.frames]
        known = [[ref for ref in row if ref is not None] for row in values]
        if all(len(row) == len(expressions) for row in known):
            others.append((expressions, known))
    found = []
    for params in choices:
        for expressions, rows in others:
            if all(_fits(spec, [a, *row], params) for a, row in zip(firsts, rows, strict=True)):
                found.append((params, expressions))
                if len(found) == 40:
                    return found
    return found


def _fits(spec: OpSpec, operands: list[TensorValue], params: Params) -> bool:
    try:
        spec.rule(operands, params)
    except Rejected:
        return False
    return True


def _numbers(scope: Scope) -> list[ir.Expr]:
    """Python ints in scope, the method's own flags first."""
    numbers: list[ir.Expr] = [*scope.flags("int"), *scope.numbers()]
    first = scope.frames[0].names
    numbers += [ir.Var(n) for n, v in first.items() if type(v) is int and ir.Var(n) not in numbers]
    if scope.choose.on("control.shape"):
        measures = [ir.Measure(name, var) for var in scope.variables()[:1] for name in _measures(scope)]
        numbers += [measure for measure in measures if _is_small(scope, measure)]
    return [*numbers, ir.Lit(2)]


def _measures(scope: Scope) -> list[str]:
    """The names of the measures that this Program may use."""
    of_data = [name for name, spec in MEASURES.items() if spec.of_data]
    return [*(name for name in MEASURES if name not in of_data), *of_data * (5 * scope.choose.on("op.data"))]


def _floats(scope: Scope, spec: OpSpec) -> list[ir.Expr]:
    """Python floats: the method's own flags first, then others that the op accepts."""
    constants = (0.5, math.inf, math.nan)
    mine = [rate for rate in scope.rates() if _is_accepted(scope, rate, spec)]
    return [
        *scope.flags("float"),
        *mine * 3,
        *(ir.Lit(value) for value in constants if REALS[spec.real](value)),
    ]


def _is_accepted(scope: Scope, rate: ir.Attr, spec: OpSpec) -> bool:
    """Whether an attribute is, in every scenario, a float that the op accepts."""
    values = [scope.machine.read(frame.owner, rate.path) for frame in scope.frames]
    return all(isinstance(value, float) and REALS[spec.real](value) for value in values)


def _is_small(scope: Scope, measure: ir.Measure) -> bool:
    """Whether a measure of a tensor is a small number in every scenario."""
    values = scope.values(measure.subject)
    try:
        return values is not None and all(MEASURES[measure.name].read(v.type) <= MOST for v in values)
    except Rejected:
        return False


_COUNTED = [name for name, spec in OPS.items() if spec.integer and not spec.mutates]


def draw_measure_op(scope: Scope, subject: ir.Expr) -> ir.Stmt | None:
    """An op on a tensor and a measure of ``subject``: ``x = x * x.shape[0]``."""
    names = [*_measures(scope), *["first_stride"] * 3]  # a stride is seldom small enough
    measures = [measure for name in names if _is_small(scope, measure := ir.Measure(name, subject))]
    tensors = [subject, *scope.tensors()]
    op = draw_op(scope, [_COUNTED], tensors, tensors) if measures else None
    if op is None:
        return None
    measured = replace(op, operands=(*op.operands[:-1], scope.choose.pick(measures)))
    return assign(scope, measured, op.operands[0], new_name=False)


def draw_assign(scope: Scope) -> ir.Stmt | None:
    """``x = <op>``, with an op that changes nothing."""
    way = scope.choose.percent()
    tensors = scope.tensors()
    groups: list[Sequence[str]] = [*enabled(scope, mutating=False)] if way >= 20 else []
    if way >= 20 and way % 4 == 0 and scope.choose.on("dynamic.shapes") and scope.choose.on("op.size"):
        groups = [SIZES]
    elif groups and scope.choose.maybe("op.turned", 40):
        # Most tensors with another memory layout are the results of a transposing op.
        turned = draw_op(scope, [TURNS], tensors, [])
        kept = [names for names in groups if OPS[names[0]].group in LAYOUT_SENSITIVE] or groups
        pair = [turned, *tensors[:1]] if turned is not None else []
        if scope.choose.chance(30):
            pair.reverse()
        op = draw_op(scope, kept, pair[:1], pair)
        if op is not None:
            return ir.Assign(scope.name(), op)
    firsts = tensors
    if groups and scope.choose.chance(15):
        # With two operands, an attribute of the module may be the first: ``self.k > x``.
        firsts = [*scope.attributes()] or tensors
        groups = [names for names in groups if OPS[names[0]].group in ("zip", "compare")] or groups
    if scope.choose.chance(30) and scope.rates():
        groups = [FLOAT_OPS]
    op = draw_op(scope, groups or [["add_one"]], firsts, tensors)
    if op is None:
        return None
    nested = None
    if way >= 86:
        nested = draw_op(scope, enabled(scope, mutating=False), [op], scope.tensors()[:3])
    return assign(scope, nested or op, op.operands[0], new_name=way % 10 >= 7)


def draw_results(scope: Scope) -> ir.Assign | None:
    """``best = x.max(0)``."""
    near = scope.recent()
    if near is None or not scope.choose.on("op.results"):
        return None
    name = scope.choose.pick([*RESULTS])
    known = scope.values(near)
    choices = RESULTS[name].choices(known[:1]) if known is not None else []
    if not isinstance(choices, list) or not choices:
        return None
    return ir.Assign(scope.name(), ir.Results(name, near, scope.choose.pick(choices)))


def assign(scope: Scope, value: ir.Expr, near: ir.Expr, new_name: bool | None = None) -> ir.Assign:
    """Bind a result to the operand's own name or to a new one (``new_name``; drawn if None)."""
    if not isinstance(near, ir.Var) or not scope.owns(near.name):
        return ir.Assign(scope.name(), value)
    if new_name is None:
        new_name = scope.choose.chance(5 if scope.depth else 30)
    return ir.Assign(scope.name() if new_name else near.name, value)


def draw_use(
    scope: Scope, values: Sequence[ir.Expr], names: Sequence[str] = JOINS, new_name: bool | None = False
) -> ir.Stmt | None:
    """``x = x + value``: computes with one of the values, so that it reaches an output."""
    op = draw_op(scope, [names], scope.near(), values)
    return None if op is None else assign(scope, op, op.operands[0], new_name)


def _targets(scope: Scope, state: bool) -> list[ir.Expr]:
    """The tensors that an in-place op may change; with ``state``, only those of the module."""
    if state:
        # Parameters first: they can only be updated here.
        own = [(attr, scope.value(attr, scope.frames[0])) for attr in scope.attributes()[:OPERANDS]]
        return [attr for attr, ref in sorted(own, key=lambda each: not (each[1] and each[1].family.leaf))]
    held = scope.attributes()[:OPERANDS]
    at_hand = [scope.choose.pick(held)] if held and scope.choose.maybe("inplace.on_state", 30) else []
    mine = {arg.name for arg in scope.args}
    targets: list[ir.Expr] = []
    candidates: list[ir.Var | ir.Item] = [*scope.variables()[:OPERANDS], *scope.items()[:2]]
    for expr in candidates:
        name = expr.base.name if isinstance(expr, ir.Item) else expr.name
        if scope.choose.on("inplace.on_argument" if name in mine else "inplace.on_local"):
            targets.append(expr)
    if scope.choose.on("inplace.on_state"):
        targets += scope.attributes()[:OPERANDS]
    free = []
    for target in [*at_hand, *(expr for expr in targets if expr not in at_hand)]:
        values = scope.values(target)
        if values is not None and not (scope.machine.grad_on and any(v.family.leaf for v in values)):
            free.append(target)
    return free


def _draw_fresh_target(scope: Scope, groups: Sequence[Sequence[str]]) -> ir.Stmt | None:
    """A new tensor that is changed in place at once, like ``torch.zeros(2).scatter_(...)``."""
    made = draw_op(scope, [FACTORIES], scope.tensors(), [])
    if made is None:
        return None
    # Tensor literals are small, and few ops accept them.
    op = draw_op(scope, groups, [made], scope.tensors()) or draw_op(scope, groups, [made], scope.tensors())
    if op is None or OPS[op.name].statement:
        return None
    # Mostly used at once, so that its value reaches an output.
    used = draw_use(scope, [op]) if scope.choose.chance(70) else None
    return used or ir.Assign(scope.name(), op)


def draw_inplace(scope: Scope, state: bool = False) -> ir.Stmt | None:
    """Draw an in-place op on a variable, on state (with ``state``, only that), or on a view of these."""
    groups = enabled(scope, mutating=True)
    on_values = [names for names in groups if OPS[names[0]].mutates == "value"]
    on_metadata = [names for names in groups if OPS[names[0]].mutates == "metadata"]
    if on_values and not state and scope.choose.maybe("inplace.on_fresh", 30):
        filled = _draw_fresh_target(scope, on_values)
        if filled is not None:
            return filled
    targets = _targets(scope, state)
    if not groups or not targets:
        return None
    if on_values and scope.choose.maybe("inplace.on_view", 40):
        view = draw_op(scope, [["detach", "contiguous"]] if scope.choose.chance(20) else [VIEWS], targets, [])
        if view is not None:
            # Metadata ops on a view only matter if the view is the tensor itself: x.contiguous().t_()
            groups, targets = groups if scope.choose.chance(30) else on_values, [view]
    # Real code often copies parameters and buffers into items and other tensors.
    held = [*scope.attributes()] if scope.choose.chance(20) else []
    seconds: list[ir.Expr] = [*held] or scope.tensors()
    if scope.choose.chance(25):
        made = draw_op(scope, [COMPUTED], seconds, [])
        seconds = [made] if made is not None else seconds
    if on_metadata and scope.choose.chance(35):
        # Most of these need a certain shape, and the first one often does not fit.
        tries = (draw_op(scope, on_metadata, targets, seconds) for _ in range(4))
        op = next((found for found in tries if found is not None), None)
    else:
        op = draw_op(scope, groups, targets, seconds)
    if op is None:
        return None
    if OPS[op.name].statement or not scope.choose.chance(20):
        return ir.Do(op)
    return ir.Assign(scope.name(), op)
