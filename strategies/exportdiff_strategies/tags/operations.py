"""Detectors of in-place ops, and of how ops are combined."""

from __future__ import annotations

from exportdiff_strategies import program as ir
from exportdiff_strategies.ops import OPS
from exportdiff_strategies.ops.views import TURNS
from exportdiff_strategies.tags.analysis import Analysis
from exportdiff_strategies.tags.tag import Detector
from exportdiff_strategies.trace import CallEvent, WriteEvent


def wrote_to(*kinds: str) -> Detector:
    """An in-place op wrote to memory of one of these kinds."""
    return lambda p: any(w.kind in kinds for w in p.writes)


def writes_in_one_branch(p: Analysis) -> bool:
    """Whether only one side of a branch has an in-place op."""

    def writes(body: object) -> bool:
        return any(OPS[op.name].mutates for op in ir.of_type(body, ir.Op))

    return any(writes(s.then) is not writes(s.orelse) for s in p.nodes if isinstance(s, ir.If))


def writes_around_call(p: Analysis, before: bool) -> bool:
    """Whether a write directly precedes (``before``) or follows a call of a module."""
    wanted: tuple[type, type] = (WriteEvent, CallEvent) if before else (CallEvent, WriteEvent)
    for first, second in zip(p.events, p.events[1:], strict=False):
        if isinstance(first, wanted[0]) and isinstance(second, wanted[1]):
            return True
    return False


def binds_written(p: Analysis) -> bool:
    """Whether the result of an in-place op is assigned to a name."""
    return any(
        isinstance(n, ir.Assign) and isinstance(n.value, ir.Op) and bool(OPS[n.value.name].mutates)
        for n in p.nodes
    )


def writes_to_result(op: ir.Expr) -> bool:
    """Whether an op is in-place and its target is the result of another op."""
    return isinstance(op, ir.Op) and bool(OPS[op.name].mutates) and isinstance(op.operands[0], ir.Op)


def writes_to_detached(op: ir.Op) -> bool:
    """Whether an in-place op writes to ``x.detach()`` or ``x.data``."""
    first = op.operands[0]
    return writes_to_result(op) and isinstance(first, ir.Op) and first.name in ("detach", "data")


def writes_to_literal(op: ir.Op) -> bool:
    """Whether an in-place op writes to a tensor literal."""
    first = op.operands[0]
    return writes_to_result(op) and isinstance(first, ir.Op) and "torch.tensor(" in OPS[first.name].template


def reads_transposed(op: ir.Op) -> bool:
    """Whether an op reads the result of a transposing op."""
    first = op.operands[0]
    return isinstance(first, ir.Op) and first.name in TURNS and not OPS[op.name].mutates


def is_pair(op: ir.Op) -> bool:
    """Whether an op combines two different ops on the same operands."""
    first, *rest = op.operands
    second = rest[0] if rest else None
    if not isinstance(first, ir.Op) or not isinstance(second, ir.Op) or first == second:
        return False
    return set(first.operands) == set(second.operands)
