"""Draws the programs around a model: a seed and an example give the same program on every machine."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from exportdiff.core.case import case_from_source, sources_forgotten
from exportdiff.fuzzing.around.facts import Facts, facts_of
from exportdiff.fuzzing.around.model import Around
from exportdiff.fuzzing.around.situations import SITUATIONS, Pick

MOST = 4
"""The number of situations in one program."""
NUMBERS = 4
"""The numbers that are drawn for the choices of each situation."""
BYTES = 256
"""Random bytes for one program; a few dozen are used."""
TAKEN, REFUSED = "around.", "around-refused."
"""The prefixes of tags: of the situations in a program, and of those that eager refused."""


@dataclass(frozen=True)
class Choice:
    """One situation, and the numbers that choose its details."""

    name: str
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class AroundProgram:
    """A program: a model in some situations."""

    source: str
    taken: tuple[str, ...]
    refused: tuple[str, ...]
    """The situations that were left out, because eager does not run with them."""
    like_generated: tuple[str, ...] = ()
    """The tags that a generated program with the same contents has."""

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of the program."""
        return tuple(
            sorted(
                {
                    *(TAKEN + name for name in self.taken),
                    *(REFUSED + name for name in self.refused),
                    *self.like_generated,
                }
            )
        )


def around_program(around: Around, seed: int, index: int) -> tuple[str, tuple[str, ...]]:
    """Return the source and the tags of one example.

    Runs the model in eager, so call it in a child process.
    """
    placed = with_situations(around, choices(seed, index))
    return placed.source, placed.tags


def with_situations(around: Around, chosen: Sequence[Choice]) -> AroundProgram:
    """Add the situations that apply and with which eager runs, one after the other.

    Raises what the model raises in eager.
    """
    pieces: list[tuple[str, str]] = []
    taken: list[str] = []
    refused: list[str] = []
    source = written(around, pieces)
    facts = _original_facts(source)
    for choice in chosen:
        piece = SITUATIONS[choice.name].build(facts, Pick(choice.numbers))
        if piece is None:
            continue
        name = _class_name(choice.name, len(pieces))
        more = [*pieces, (piece.definition.replace("NAME", name), piece.statement.replace("NAME", name))]
        wider = written(around, more, (*taken, choice.name))
        try:
            with sources_forgotten():
                found = facts_of(case_from_source(wider))
        except Exception:  # the model does not work in this situation
            refused.append(choice.name)
            continue
        source, facts, pieces = wider, found, more
        taken.append(choice.name)
    tags = [feature for name in taken for feature in SITUATIONS[name].tags]
    tags += ["calls.group_result"] * facts.containers
    return AroundProgram(source, tuple(taken), tuple(refused), tuple(tags))


def written(around: Around, pieces: Sequence[tuple[str, str]], taken: Sequence[str] = ()) -> str:
    """Return the program: the source of the model, the definitions, and ``make()`` with the statements."""
    body = [
        "    torch.manual_seed(0)",
        "    made = original()",
        "    model, args, kwargs = made if len(made) == 3 else (*made, {})",
        *(f"    {statement}" for _, statement in pieces),
        "    return model, args, kwargs",
    ]
    where = "; ".join(SITUATIONS[name].meaning.lower() for name in taken)
    head = f"# {around.written}{': ' * bool(where)}{where}"
    parts = [f"{head}\n{around.source.strip()}"]
    parts += [definition for definition, _ in pieces if definition]
    return "\n\n\n".join([*parts, "\n".join(["def make():", *body])]) + "\n"


def choices(seed: int, index: int) -> tuple[Choice, ...]:
    """Draw the situations of one example with Hypothesis, from bytes that depend only on the two numbers."""
    stream = random.Random(f"exportdiff around {seed} {index}")
    fuzz, drawn = _fuzzer()
    while not drawn:
        fuzz(stream.randbytes(BYTES))
    return drawn.pop()


@cache
def _fuzzer() -> tuple[Callable[[bytes], object], list[tuple[Choice, ...]]]:
    # Imported here, because importing Hypothesis takes a quarter of a second.
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st

    one = st.builds(
        Choice,
        st.sampled_from(sorted(SITUATIONS)),
        st.tuples(*[st.integers(0, 1023)] * NUMBERS),
    )
    drawn: list[tuple[Choice, ...]] = []

    @settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(one, min_size=1, max_size=MOST).map(tuple))
    def keep(chosen: tuple[Choice, ...]) -> None:
        drawn[:] = [chosen]

    # Hypothesis adds the attribute at run time; its type hints do not know it.
    fuzz = cast("Any", keep).hypothesis.fuzz_one_input
    return cast("Callable[[bytes], object]", fuzz), drawn


@cache
def _original_facts(source: str) -> Facts:
    with sources_forgotten():
        return facts_of(case_from_source(source))


def _class_name(situation: str, number: int) -> str:
    return "".join(word.capitalize() for word in situation.split("-")) + str(number + 1)
