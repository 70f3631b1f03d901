"""Detectors of calls of modules and of their arguments."""

from __future__ import annotations

import math
from collections import defaultdict

from exportdiff_strategies import program as ir
from exportdiff_strategies.ops import OPS
from exportdiff_strategies.tags.analysis import Analysis
from exportdiff_strategies.tags.tag import Detector


def child_takes(*kinds: str) -> Detector:
    """A class besides the root has an argument of one of these kinds."""
    return lambda p: any(
        a.kind in kinds for cls in p.classes[:-1] for a in ir.of_type((cls.args, cls.methods), ir.Arg)
    )


def calls_twice(p: Analysis, differing: bool, deepest: int = 0) -> bool:
    """Whether a module deeper than level ``deepest`` is called twice; with ``differing``,
    with different Python arguments.
    """
    seen: dict[int, list[tuple[object, ...]]] = defaultdict(list)
    for call in p.called[: _calls_of_first_run(p)]:
        if call.depth > deepest:
            seen[call.callee].append(call.flags)
    return any(len(set(flags)) > 1 if differing else len(flags) > 1 for flags in seen.values())


def _calls_of_first_run(p: Analysis) -> int:
    """The number of calls of modules during the first call of the model."""
    roots = [n for n, call in enumerate(p.called) if call.depth == 1]
    return roots[1] if len(roots) > 1 else len(p.called)


def passes_flag_down(p: Analysis) -> bool:
    """Whether a call passes on a flag that the caller got."""
    for cls in p.classes:
        flags = {arg.name for arg in cls.args if arg.kind in ir.FLAGS}
        for call in ir.of_type(cls.body, ir.CallModule):
            given = [*call.args, *(value for _, value in call.kwargs)]
            names = [getattr(v, "flag", v) for v in given]
            if any(getattr(v, "name", None) in flags for v in names):
                return True
    return False


def calls_related_modules(p: Analysis) -> bool:
    """Whether a class calls a module and a submodule of that module."""
    for cls in p.classes:
        callees = [call.callee for call in ir.of_type(cls.body, ir.CallModule) if call.callee]
        if any(a != b and b[: len(a)] == a for a in callees for b in callees):
            return True
    return False


def drops_call(cls: ir.ClassDef) -> bool:
    """Whether a class ignores the result of a call."""
    return any(isinstance(n, ir.Do) and isinstance(n.value, ir.CallModule) for n in ir.nodes(cls.bodies))


def has_infinite_float(p: Analysis) -> bool:
    """Whether there is a float that is infinite or NaN."""
    literals = (n.value for n in (*p.nodes, *p.inputs) if isinstance(n, ir.Lit))
    return any(isinstance(value, float) and not math.isfinite(value) for value in literals)


def returns_nothing(p: Analysis) -> bool:
    """Whether a class besides the root returns nothing."""
    return any(not ir.of_type(cls.body, ir.Return) for cls in p.classes[:-1])


def only_writes_argument(p: Analysis) -> bool:
    """Whether all that a class besides the root does is to write to its arguments."""
    return any(all(_writes_argument(stmt) for stmt in cls.body) for cls in p.classes[:-1])


def _writes_argument(stmt: ir.Stmt) -> bool:
    op = stmt.value if isinstance(stmt, ir.Do) else None
    return isinstance(op, ir.Op) and bool(OPS[op.name].mutates) and isinstance(op.operands[0], ir.Var)
