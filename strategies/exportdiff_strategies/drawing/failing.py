"""Drawing code that raises: modules that refuse some arguments, and ``try`` statements around them."""

from __future__ import annotations

from exportdiff_strategies import program as ir
from exportdiff_strategies.drawing.calls import draw_call
from exportdiff_strategies.drawing.control import NESTING, Suite, conditions, pick_condition, split
from exportdiff_strategies.drawing.modules import classes
from exportdiff_strategies.drawing.scope import Scope
from exportdiff_strategies.failures import FAILURES
from exportdiff_strategies.machine import Raised
from exportdiff_strategies.ops import Rejected
from exportdiff_strategies.values import CallFrame


def draw_refusal(scope: Scope) -> ir.Stmt | None:
    """``if flag: raise ValueError(...)``: the module refuses some arguments. These scenarios end here."""
    subjects = scope.variables()
    deciding = [cond for cond in conditions(scope) if all(split(scope, cond))]
    if not subjects or not deciding or scope.depth or scope.operator_args:
        return None
    cond = pick_condition(scope, deciding)
    scope.frames[:] = split(scope, cond)[1]
    return ir.If(cond, (_failure(scope, subjects[0]),))


def draw_try(scope: Scope, suite: Suite) -> ir.Stmt | None:
    """A ``try`` whose body raises in some scenario: by itself, or by calling a module that does."""
    if scope.depth >= NESTING or scope.operator_args or not scope.choose.on("control.try"):
        return None
    inner = scope.inner(scope.copies())
    # Code before the failure has its effects; code in the handler may repair them.
    body = suite(inner, 0, 1)
    failing = _failing(inner)
    found = _raised(inner, failing) if failing is not None else None
    if failing is None or found is None:
        return None
    error, frames = found
    handler = suite(scope.inner(frames), 1, 1)
    return scope.accepted(ir.Try((*body, failing), error, tuple(handler))) if handler else None


def _failing(scope: Scope) -> ir.Stmt | None:
    """A statement that raises, always or under a condition, or a call of a module that may raise."""
    subjects = scope.variables() if scope.frames else []
    if not subjects:
        return None
    if scope.choose.chance(90 if _has_refusing_child(scope) else 20):
        return _raising_call(scope)
    failure = _failure(scope, subjects[0])
    deciding = [cond for cond in conditions(scope) if all(split(scope, cond))]
    if deciding and scope.choose.chance(60):
        return ir.If(pick_condition(scope, deciding), (failure,))
    return failure


def _has_refusing_child(scope: Scope) -> bool:
    """Whether a module in reach has code that raises."""
    return any(ir.of_type(cls.bodies, ir.Fail) for cls in classes(scope.frames[0].owner, 2))


def _raising_call(scope: Scope) -> ir.Stmt | None:
    """A call of a module that raises in some scenario; if no such call turns up, any call."""
    call: ir.Stmt | None = None
    for _ in range(CALLS):
        call = draw_call(scope)
        if call is not None and _raised(scope, call) is not None:
            break
    return call


CALLS = 6
"""How many calls are drawn for the body of a ``try``: few callees raise for the drawn arguments."""


def _failure(scope: Scope, subject: ir.Expr) -> ir.Fail:
    return ir.Fail(scope.choose.pick([*FAILURES]), subject)


def _raised(scope: Scope, stmt: ir.Stmt) -> tuple[str, list[CallFrame]] | None:
    """The exception that a statement raises, and the scenarios in which it does, as it leaves them.

    None if it raises in none, raises different exceptions, or is rejected.
    """
    frames = scope.copies()
    errors = [_error(scope, stmt, frame) for frame in frames]
    raising = {error for error in errors if error}
    if len(raising) != 1 or None in errors:
        return None
    return raising.pop(), [frame for frame, error in zip(frames, errors, strict=True) if error]


def _error(scope: Scope, stmt: ir.Stmt, frame: CallFrame) -> str | None:
    """The exception that a statement raises in one scenario, "" if it raises none, None if it is rejected."""
    try:
        scope.machine.run((stmt,), frame)
    except Raised as raised:
        return raised.error
    except Rejected:
        return None
    return ""
