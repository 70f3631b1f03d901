"""The models that the examples of the documentation are."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from exportdiff.lab.zoo.docs.conversion import program_of
from exportdiff.lab.zoo.docs.examples import Example, examples
from exportdiff.lab.zoo.model import NoModel, ZooModel

if TYPE_CHECKING:
    from collections.abc import Iterator


def models() -> Iterator[ZooModel]:
    """Yield a model for each example, whether it can be built or not."""
    for example in examples():
        yield ZooModel(
            f"docs/{example.name}", f"the example of torch.{example.name}", program=partial(_program, example)
        )


def _program(example: Example) -> str:
    """Return the program of an example; with the examples before it, if it needs them. Raises NoModel."""
    try:
        return program_of(example.code, example.needs)
    except NoModel as error:
        if not example.before or error.reason != "raises in eager":
            raise
        return program_of(example.before + example.code, example.needs)
