"""How an example of the documentation becomes a model."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from exportdiff.lab.zoo.docs.conversion import program_of
from exportdiff.lab.zoo.docs.examples import blocks, examples
from exportdiff.lab.zoo.model import NoModel

LAYER = """\
m = nn.Linear(2, 1)
input = torch.ones(3, 2)
output = m(input)
print(output.size())
m = nn.Linear(2, 4)
output = m(input)
loss = output.sum()
loss.backward()
"""
LOOP = """\
cell = nn.RNNCell(2, 3)
hx = torch.zeros(1, 3)
output = []
for i in range(2):
    hx = cell(torch.ones(1, 2), hx)
    output.append(hx)
"""
LOCAL = """\
x = torch.zeros(1)
y = x + 1
x = torch.full((1,), 2.0)
def f(x):
    return x * 3
z = f(y)
"""
SESSION = """Text::

    >>> x = torch.ones(2)
    >>> y = F.relu(x)
    tensor([1., 1.])

Other text.

    >>> F.relu(y)
"""


def made(code: str, needs: str = "") -> tuple[Any, ...]:
    values: dict[str, Any] = {}
    exec(program_of(code, needs), values)
    return tuple(values["make"]())


def test_a_layer_that_is_called_becomes_a_child_and_what_it_gets_an_input() -> None:
    model, args = made(LAYER)
    assert [name for name, _ in model.named_children()] == ["m_", "m_new1_"]
    assert [tuple(each.shape) for each in args] == [(3, 2)]
    output, later, loss = model(*args)
    assert (output.shape, later.shape, loss.shape) == ((3, 1), (3, 4), ())


def test_a_list_that_the_example_fills_is_made_in_each_call() -> None:
    model, args = made(LOOP)
    for _ in range(2):
        outputs, last = model(*args)
        assert len(outputs) == 2
        assert outputs[1] is last


def test_arguments_of_a_function_keep_their_names() -> None:
    model, args = made(LOCAL)
    first, second = model(*args)
    assert (first.tolist(), second.tolist()) == ([1.0], [3.0])


def test_a_function_that_is_called_without_names_for_its_inputs_is_a_model() -> None:
    model, args = made("F.one_hot(torch.arange(3), 4)\n")
    assert model(*args).shape == (3, 4)
    assert args == ()


def test_an_example_may_use_its_object_without_importing_it() -> None:
    model, args = made("x = torch.ones(2)\ny = clip(x, max=0.5)\n", "from torch import clip\n")
    assert model(*args).equal(torch.full((2,), 0.5))


def test_the_model_and_the_shapes_of_an_export_are_taken_over() -> None:
    code = "m = nn.ReLU()\nep = torch.export.export(m, (torch.ones(2),), dynamic_shapes=({0: Dim.AUTO},))\n"
    values: dict[str, Any] = {}
    exec(program_of(code), values)
    model, args, kwargs = values["make"]()
    assert isinstance(model, torch.nn.ReLU)
    assert (args[0].shape, kwargs) == ((2,), {})
    assert values["dynamic_shapes"]() == ({0: torch.export.Dim.AUTO},)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("y = undefined(1)\n", "raises in eager"),
        ("m = nn.Linear(1, 1)\n", "computes nothing"),
        ("x = torch.ones(1)\ny = globals()['x'] + x\n", "is no forward"),
    ],
)
def test_the_reason_is_a_word_of_a_table(code: str, reason: str) -> None:
    with pytest.raises(NoModel) as caught:
        program_of(code)
    assert caught.value.reason == reason


def test_prose_ends_an_example() -> None:
    assert [*blocks(SESSION)] == ["x = torch.ones(2)\ny = F.relu(x)\n", "F.relu(y)\n"]
    assert [*blocks("For example::\n\n    f(1)\n    g(2)\n\nThe end.\n")] == ["f(1)\ng(2)\n"]


def test_the_docstrings_of_torch_have_hundreds_of_examples() -> None:
    found = [*examples()]
    assert len(found) > 300
    assert len({example.name for example in found}) == len(found)
