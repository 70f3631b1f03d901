"""Draws the programs near known bugs: a seed and an example give the same program on every machine."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from torch.nn.parameter import is_lazy

from exportdiff.core.case import case_from_source, sources_forgotten
from exportdiff.fuzzing.around.drawing import choices, with_situations
from exportdiff.fuzzing.around.model import IMPORTS, ORIGINAL, Around
from exportdiff.fuzzing.minimizing.outline import FACTORY
from exportdiff.fuzzing.minimizing.program_file import with_functions
from exportdiff.fuzzing.near.editing import edited
from exportdiff.fuzzing.near.edits import EDITS
from exportdiff.fuzzing.near.merging import has_options, merged
from exportdiff.known.attribution.resemblance import NEAR
from exportdiff.known.attribution.shown_tags import shown_tags
from exportdiff.runtime.observing.process_state import restore_modes
from exportdiff.runtime.processes.cpu_time import at_most_cpu_seconds

if TYPE_CHECKING:
    from exportdiff.core.path import Path
    from exportdiff.fuzzing.near.model import Near, NearFile

MOST = 3
"""The number of edits in one program."""
SECONDS = 10.0
"""The CPU time of one program in eager. An edit may have made its loop endless."""
TRIES = 8
"""How many edits are tried, until one gives a program that runs in eager."""
MERGED, PLACED = 0.15, 0.2
"""The share of programs that are merged with another one, and that are put into situations."""
EDIT = "edit."
"""Begins the tag of an edit."""


def near_program(near: Near, seed: int, index: int) -> tuple[str, tuple[str, ...]]:
    """Return the source and the tags of one example. Runs programs in eager, so call it in a worker."""
    choose = _stream(seed, index)
    file = _one_of(near, choose)
    source, tags = file.source, [NEAR + file.name]
    if choose.random() < MERGED:
        other = _one_of(near, choose)
        both = merged(source, other.source)
        if both is not None and runs(both):
            source, tags = both, [*tags, NEAR + other.name]
    for _ in range(choose.randint(1, MOST)):
        step = _one_edit(source, choose)
        if step is not None:
            source, name = step
            tags.append(EDIT + name)
    if choose.random() < PLACED:
        source, more = _in_situations(file.name, source, seed, index)
        tags += more
    with sources_forgotten():
        return source, tuple(sorted({*tags, *shown_tags(case_from_source(source))}))


def path_of(near: Near, seed: int, index: int) -> Path | None:
    """Return the path that shows the bug of the file that an example is near to."""
    return _one_of(near, _stream(seed, index)).path


def _stream(seed: int, index: int) -> random.Random:
    return random.Random(f"exportdiff near {seed} {index}")


def _one_of(near: Near, choose: random.Random) -> NearFile:
    return choose.choices(near.files, [each.weight for each in near.files])[0]


def _one_edit(source: str, choose: random.Random) -> tuple[str, str] | None:
    """Return the program after one edit with which eager runs, and the name of the edit."""
    for _ in range(TRIES):
        edit = EDITS[choose.choice(sorted(EDITS))]
        text = edited(source, edit, choose)
        if text is not None and runs(text):
            return text, edit.name
    return None


def _in_situations(near_to: str, source: str, seed: int, index: int) -> tuple[str, tuple[str, ...]]:
    """Put the model into the situations of ``--around``. One with dynamic sizes or probes stays as it is."""
    if has_options(source):
        return source, ()
    text = IMPORTS + with_functions(source, {ORIGINAL: FACTORY, FACTORY: None})
    try:
        placed = with_situations(Around(near_to, text), choices(seed, index))
    except Exception:  # the facts that situations ask for are not those of every model
        return source, ()
    return placed.source, placed.tags


def runs(source: str) -> bool:
    """Whether the program can be made and called in eager, with parameters that have a shape.

    What it changes in the process, as the default dtype, does not change how other programs are judged.
    """
    try:
        with sources_forgotten(), restore_modes(), at_most_cpu_seconds(SECONDS):
            built = case_from_source(source).build()
            if any(map(is_lazy, built.model.parameters())):
                return False
            built.model(*built.args, **built.kwargs)
    except Exception:  # whatever it raises, the program is not used
        return False
    return True
