"""What a tag is, and detectors that search the code, or the record of a run, for one thing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from exportdiff_strategies import program as ir
from exportdiff_strategies.tags.analysis import Analysis

Detector = Callable[[Analysis], bool]
"""Whether a Program has a tag."""


@dataclass(frozen=True, slots=True)
class Tag:
    """One entry of a table: what the tag means, and its detector."""

    meaning: str
    detect: Detector


def has_node(kind: type, test: Callable[..., object] = lambda node: True, /, **fields: object) -> Detector:
    """Detect a node of this type that passes the test and has these values in its fields."""
    wanted = fields.items()
    return lambda p: p.has(kind, lambda node: test(node) and all(getattr(node, f) == v for f, v in wanted))


def has_input(kind: type, test: Callable[..., object] = lambda node: True, /, **fields: object) -> Detector:
    """Detect an input, also one in a container, as ``has_node`` detects a node."""
    wanted = fields.items()
    return lambda p: any(
        isinstance(given, kind) and test(given) and all(getattr(given, f) == v for f, v in wanted)
        for given in p.inputs
    )


def marked(name: str) -> Detector:
    """Detect a mark that the machine recorded while it ran."""
    return lambda p: name in p.trace.marks


def has_condition(name: str) -> Detector:
    """Detect a condition with this name."""
    return has_node(ir.Cond, name=name)


def has_measure(name: str) -> Detector:
    """Detect a measure with this name."""
    return has_node(ir.Measure, name=name)


def runs_op(*names: str) -> Detector:
    """Detect one of these ops."""
    return lambda p: not p.op_names.isdisjoint(names)


def runs_group(name: str) -> Detector:
    """Detect an op of this group."""
    return lambda p: name in p.op_groups


def has_operator(name: str) -> Detector:
    """Detect this control-flow operator."""
    return has_node(ir.Control, name=name)


def has_region(name: str) -> Detector:
    """Detect this ``with`` block."""
    return has_node(ir.With, region=name)
