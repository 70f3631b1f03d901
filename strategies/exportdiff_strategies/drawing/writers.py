"""Drawing the bodies of modules that return nothing: they write to an argument or to their state."""

from __future__ import annotations

from exportdiff_strategies import program as ir
from exportdiff_strategies.drawing.operations import draw_op, enabled
from exportdiff_strategies.drawing.scope import Scope
from exportdiff_strategies.ops import OPS


def draw_writes(scope: Scope) -> list[ir.Stmt]:
    """One or two in-place ops on an argument or on state; none where nothing fits."""
    groups = [names for names in enabled(scope, mutating=True) if OPS[names[0]].mutates == "value"]
    targets: list[ir.Expr] = [*(ir.Var(arg.name) for arg in scope.args if arg.kind == "tensor")]
    if scope.choose.chance(40):
        targets = [*scope.attributes(), *targets]
    found: list[ir.Stmt] = []
    for _ in range(1 + scope.choose.upto(1)):
        op = draw_op(scope, groups or [["add_"]], targets, scope.tensors())
        if op is not None and scope.try_out(ir.Do(op)):
            found.append(ir.Do(op))
    return found
