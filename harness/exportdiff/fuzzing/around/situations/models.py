"""Situations that change the model: its mode, its parameters, its hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.fuzzing.around.facts import module_at
from exportdiff.fuzzing.around.situations.table import Piece, situation, with_one_of

if TYPE_CHECKING:
    from exportdiff.fuzzing.around.facts import Facts, TensorFacts
    from exportdiff.fuzzing.around.situations.table import Pick


@situation
def train_mode(facts: Facts, pick: Pick) -> Piece:
    """In train mode."""
    return Piece("model.train()")


@situation
@with_one_of(lambda facts: facts.parameters)
def frozen(facts: Facts, pick: Pick, parameter: TensorFacts) -> Piece:
    """With frozen parameters: all of them, or one."""
    one = f'model.get_parameter("{parameter.text}").requires_grad_(False)'
    return Piece(pick((one, "model.requires_grad_(False)")))


def _alike(facts: Facts) -> list[tuple[TensorFacts, TensorFacts]]:
    return [
        (one, other)
        for number, one in enumerate(facts.parameters)
        for other in facts.parameters[number + 1 :]
        if one.like(other)
    ]


@situation
@with_one_of(_alike)
def tied(facts: Facts, pick: Pick, pair: tuple[TensorFacts, TensorFacts]) -> Piece:
    """With two parameters tied."""
    one, other = pair
    return Piece(f"{_attribute(other)} = {_attribute(one)}")


def _neighbours(facts: Facts) -> list[tuple[TensorFacts, TensorFacts]]:
    return [
        (one, other)
        for one, other in zip(facts.parameters, facts.parameters[1:], strict=False)
        if one.dtype == other.dtype
    ]


@situation
@with_one_of(_neighbours)
def flat_parameters(facts: Facts, pick: Pick, pair: tuple[TensorFacts, TensorFacts]) -> Piece:
    """With two parameters that are views of one flat tensor."""
    one, other = (f'model.get_parameter("{each.text}")' for each in pair)
    definition = (
        "def NAME(one, other):\n"
        "    flat = torch.cat([one.data.flatten(), other.data.flatten()])\n"
        "    one.data, other.data = flat[: one.numel()].view_as(one), flat[one.numel() :].view_as(other)"
    )
    return Piece(f"NAME({one}, {other})", definition)


@situation
@with_one_of(lambda facts: facts.parameters)
def parameter_is_a_view(facts: Facts, pick: Pick, parameter: TensorFacts) -> Piece:
    """With a parameter that is a part of a larger tensor, or transposed."""
    text = f'model.get_parameter("{parameter.text}")'
    forms = [f"{text}.data = torch.stack([{text}.data, {text}.data])[1]"]
    forms += [f"{text}.data = {text}.data.mT.contiguous().mT"] * (len(parameter.shape) > 1)
    return Piece(pick(forms))


def _owners_of_weights(facts: Facts) -> list[str]:
    owners = [each.text[: -len(".weight")] for each in facts.parameters if each.text.endswith(".weight")]
    return owners + [""] * any(each.text == "weight" for each in facts.parameters)


@situation
@with_one_of(_owners_of_weights)
def weight_norm(facts: Facts, pick: Pick, owner: str) -> Piece:
    """With a re-parametrized weight."""
    return Piece(f"nn.utils.parametrizations.weight_norm({module_at('model', owner)})")


@situation
@with_one_of(lambda facts: facts.modules)
def hooked(facts: Facts, pick: Pick, name: str) -> Piece:
    """With a forward hook on a submodule that changes its output."""
    definition = "def NAME(module, args, out):\n    return out * 2 if isinstance(out, torch.Tensor) else out"
    return Piece(f"{module_at('model', name)}.register_forward_hook(NAME)", definition)


def _attribute(parameter: TensorFacts) -> str:
    owner, _, name = parameter.text.rpartition(".")
    return f"{module_at('model', owner)}.{name}"
