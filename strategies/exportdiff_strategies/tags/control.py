"""Detectors of branches and control-flow operators."""

from __future__ import annotations

from exportdiff_strategies import program as ir
from exportdiff_strategies.failures import FAILURES
from exportdiff_strategies.tags.analysis import Analysis


def returns_early(p: Analysis) -> bool:
    """Whether there is a return in a branch."""
    return any(ir.of_type((stmt.then, stmt.orelse), ir.Return) for stmt in p.nodes if isinstance(stmt, ir.If))


def has_elif(p: Analysis) -> bool:
    """Whether there is an elif."""
    return any(
        isinstance(s, ir.If) and len(s.orelse) == 1 and isinstance(s.orelse[0], ir.If) for s in p.nodes
    )


def branches_on_size(p: Analysis) -> bool:
    """Whether a dynamic Program branches on a size."""
    on_sizes = ("size", "even_size", "size_is", "numel")
    return p.program.dynamic is not None and p.has(ir.Cond, lambda c: c.name in on_sizes)


def fails_in_operator(stmt: ir.Try) -> bool:
    """Whether an operator raises in the body of a ``try``."""
    return any("{x}" in FAILURES[fail.name].template for fail in ir.of_type(stmt.body, ir.Fail))


def calls_module(stmt: ir.Try) -> bool:
    """Whether a call of a module is what raises in a ``try``."""
    return not ir.of_type(stmt.body, ir.Fail)


def operator_calls_module(p: Analysis, shared: bool) -> bool:
    """Whether a control-flow operator calls a module; with ``shared``, the same one in both functions."""
    for control in (n for n in p.nodes if isinstance(n, ir.Control)):
        callees = [
            {call.callee for call in ir.of_type(function, ir.CallModule)} for function in control.functions
        ]
        if shared and len(callees) > 1 and callees[0] & callees[1]:
            return True
        if not shared and any(callees):
            return True
    return False


def operator_reads_state(p: Analysis) -> bool:
    """Whether a control-flow operator reads an attribute of the module."""
    return any(
        ir.of_type(function, ir.Attr)
        for n in p.nodes
        if isinstance(n, ir.Control)
        for function in n.functions
    )
