"""Detectors that search the whole code, or the record of the run, for one thing."""

from __future__ import annotations

from collections.abc import Callable

from exportdiff_strategies import program as ir
from exportdiff_strategies.tags.tag import Detector


def has_node(kind: type, test: Callable[..., bool] = lambda node: True) -> Detector:
    """There is a node of this type that passes the test."""
    return lambda p: p.has(kind, test)


def marked(name: str) -> Detector:
    """The machine recorded this mark while it ran."""
    return lambda p: name in p.trace.marks


def has_condition(name: str) -> Detector:
    """There is a condition with this name."""
    return lambda p: p.has(ir.Cond, lambda c: c.name == name)


def has_measure(name: str) -> Detector:
    """There is a measure with this name."""
    return lambda p: p.has(ir.Measure, lambda measure: measure.name == name)


def runs_op(*names: str) -> Detector:
    """There is one of these ops."""
    wanted = frozenset(names)
    return lambda p: not wanted.isdisjoint(p.op_names)


def runs_group(name: str) -> Detector:
    """There is an op of this group."""
    return lambda p: name in p.op_groups


def has_operator(name: str) -> Detector:
    """There is this control-flow operator."""
    return has_node(ir.Control, lambda c: c.name == name)


def has_region(name: str) -> Detector:
    """There is this ``with`` block."""
    return has_node(ir.With, lambda w: w.region == name)
