"""Situations that change the inputs: aliased, expanded, not contiguous, with a gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.fuzzing.around.situations.table import Piece, situation, with_one_of

if TYPE_CHECKING:
    from exportdiff.fuzzing.around.facts import Argument, Facts, TensorArgument
    from exportdiff.fuzzing.around.situations.table import Pick


def _batches(facts: Facts) -> list[TensorArgument]:
    return [each for each in facts.tensors if each.tensor.shape[:1] > (1,)]


@situation
@with_one_of(_batches)
def expanded_input(facts: Facts, pick: Pick, given: TensorArgument) -> Piece:
    """With an input whose batch is expanded from one row."""
    return _given(given, "X[:1].expand_as(X)")


@situation
@with_one_of(lambda facts: [each for each in facts.tensors if each.tensor.shape])
def non_contiguous_input(facts: Facts, pick: Pick, given: TensorArgument) -> Piece:
    """With an input that is not contiguous."""
    forms = ["torch.stack([X, X], -1)[..., 0]", "torch.cat([X, X])[X.shape[0] :]"]
    if len(given.tensor.shape) > 1:
        forms.append("X.transpose(0, -1).contiguous().transpose(0, -1)")
    if len(given.tensor.shape) == 4:
        forms.append("X.contiguous(memory_format=torch.channels_last)")
    return _given(given, pick(forms))


@situation
@with_one_of(lambda facts: facts.floating)
def input_with_gradient(facts: Facts, pick: Pick, given: TensorArgument) -> Piece:
    """With an input that requires grad, as a leaf or not."""
    return _given(given, pick(("X.clone().requires_grad_()", "X.clone().requires_grad_() * 1")))


def _alike(facts: Facts) -> list[tuple[Argument, Argument]]:
    return [
        (one, other)
        for number, one in enumerate(facts.tensors)
        for other in facts.tensors[number + 1 :]
        if one.tensor.like(other.tensor)
    ]


@situation
@with_one_of(_alike)
def aliased_inputs(facts: Facts, pick: Pick, pair: tuple[Argument, Argument]) -> Piece:
    """With two inputs that are one tensor, or views of one."""
    one, other = pair
    return _given(other, pick((one.expression, f"{one.expression}.view_as({one.expression})")))


def _given(argument: Argument, text: str) -> Piece:
    """Return the statement that replaces an argument by another value; X in it stands for the old value."""
    value = text.replace("X", argument.expression)
    if argument.keyword:
        return Piece(f'kwargs = {{**kwargs, "{argument.name}": {value}}}')
    number = int(argument.expression[len("args[") : -1])
    before = "".join(f"args[{index}], " for index in range(number))
    return Piece(f"args = ({before}{value}, *args[{number + 1} :])")
