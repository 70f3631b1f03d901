"""Autograd's rules: which in-place ops it forbids, and which results require grad."""

from __future__ import annotations

from collections.abc import Sequence

from exportdiff_strategies.ops import OpResult, OpSpec, Rejected, forbid
from exportdiff_strategies.types import inexact
from exportdiff_strategies.values import Storage, TensorValue, ViewFamily


def check_write(target: TensorValue, others: Sequence[TensorValue], grad_on: bool) -> None:
    """Raise Rejected if autograd forbids an in-place op on ``target`` that reads ``others``."""
    if not grad_on:
        return
    forbid(not inexact(target.type.dtype) and any(other.grad for other in others), "integers have no history")
    forbid(target.family.leaf, "a leaf that requires grad")
    if not (target.grad or any(other.grad for other in others)):
        return
    if target.restriction or (target.view and target.family.gained):
        raise Rejected("a view that autograd does not allow to change")
    forbid(target.storage.seen_without_grad, "a view from no_grad would lose its history")


def check_out(requires_grad: bool, grad_on: bool) -> None:
    """Raise Rejected if an ``out=`` form would need gradients."""
    forbid(requires_grad and grad_on, "out= does not support gradients")


def note_write(target: TensorValue, requires_grad: bool, grad_on: bool) -> None:
    """Record that values were written to ``target``; ``requires_grad`` says whether an operand did."""
    if requires_grad and grad_on and inexact(target.type.dtype):
        target.family.gained |= not target.family.grad
        target.family.grad = True


def check_storage_change(spec: OpSpec, target: TensorValue, adopted: TensorValue | None) -> None:
    """Raise Rejected if a tensor that requires grad would get another storage, or other sizes by resizing."""
    if adopted is not None:
        forbid(target.grad or adopted.grad, "gradients and exchanged storages do not go together")
    elif spec.group == "inplace.storage" and target.grad:
        raise Rejected("gradients and resizing do not go together")


def switch_grad(spec: OpSpec, target: TensorValue) -> None:
    """Execute ``detach_`` or ``requires_grad_`` if ``spec`` is one of them."""
    if not (spec.stops_grad or spec.starts_grad):
        return
    # The machine does not know how state and inputs were made: they may be views.
    forbid(target.view or (spec.stops_grad and target.storage.kind), "views keep their history")
    if spec.starts_grad and target.grad:
        return
    target.family = ViewFamily(spec.starts_grad, spec.starts_grad)


def view_of(base: TensorValue, outcome: OpResult, spec: OpSpec | None, grad_on: bool) -> TensorValue:
    """A view of ``base``, made by an op or (``spec`` is None) by a layer."""
    # A custom function that records no history detaches what it returns.
    detached = spec is not None and (spec.stops_grad or (spec.group == "autograd" and not grad_on))
    # A view of a tensor that requires grad requires grad as well, even under no_grad.
    family = ViewFamily() if detached else base.family
    restriction = "" if grad_on else "no_grad"
    if spec is not None and spec.multi:
        restriction = "multi"
    if not grad_on:
        base.storage.seen_without_grad = True
    reinterpreted = spec is not None and spec.reinterprets
    return TensorValue(
        outcome.type,
        base.storage,
        family,
        restriction or base.restriction,
        view=True,
        lazy=base.lazy,
        bits=base.bits or reinterpreted,
    )


def fresh_result(outcome: OpResult, requires_grad: bool, grad_on: bool) -> TensorValue:
    """A result in new memory; ``requires_grad`` says whether an operand requires grad."""
    grad = requires_grad and grad_on and inexact(outcome.type.dtype)
    return TensorValue(outcome.type, Storage(outcome.bound), ViewFamily(grad))
