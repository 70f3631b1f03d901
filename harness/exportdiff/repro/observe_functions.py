"""Choosing the function that observes one property of the leaves of outputs or inputs, or of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exportdiff.repro.paste import Template
from exportdiff.repro.templates import observers
from exportdiff.repro.templates.properties import PROPERTIES

if TYPE_CHECKING:
    from collections.abc import Callable


def observing(function: Callable[..., Any], word: str, **values: str | bool) -> Template:
    """Return a function ``observe``, for the property that a word names."""
    return Template(function, {"WORD": word, "FACT": PROPERTIES[word], **values}, name="observe")


def observing_leaves(word: str, leaf: str) -> Template:
    """Return a function that observes the property of each leaf of a tree of outputs or inputs."""
    functions = {"kind": observers.leaves, "python-value": observers.python_values}
    return observing(functions.get(word, observers.tensors), word, LEAF=leaf)
