"""How severe a root cause is. It follows from two labels: the harm, and how many people meet it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

Harm: TypeAlias = Literal["silently wrong", "wrong later", "clear error", "obscure error", "cosmetic"]
"""``silently wrong``: a call returns another result. ``wrong later``: results are right, but state, gradients
or aliasing are not. ``clear error``: the message names what is not supported. ``obscure error``: any other.
``cosmetic``: no result is wrong, only names, recorded metadata or output on the screen."""

Reach: TypeAlias = Literal["everyday", "occasional", "contrived"]
"""``everyday``: public code does this, and ``evidence`` names it. ``contrived``: only a test would do it."""

Severity: TypeAlias = Literal["A", "B", "C"]
"""A: everyday code, wrong without an error, or broken without a workaround. B: occasional code, or an error
that has a workaround. C: contrived code, or cosmetic."""

ZOO = "zoo:"
"""Evidence that begins with this names a row of the zoo; other evidence is an address."""

_EVIDENCE = re.compile(rf"{ZOO}\w+/[\w.]+|https://\S+")


def severity(harm: Harm, reach: Reach, has_workaround: bool) -> Severity:
    """Return how severe a root cause with these labels is."""
    if harm == "cosmetic" or reach == "contrived":
        return "C"
    if reach == "occasional":
        return "B"
    return "B" if harm.endswith("error") and has_workaround else "A"


def wrong_labels(table: Mapping[str, Any]) -> str:
    """Return a message about a wrong label in ``[tool.exportdiff]``; empty if there is none."""
    for key, words in (("harm", get_args(Harm)), ("reach", get_args(Reach))):
        if key in table and table[key] not in words:
            return f"has {key} {table[key]!r} in [tool.exportdiff]; expected {', '.join(words)}"
        if key in table and "variant-of" in table:
            return f"has {key!r} and 'variant-of' in [tool.exportdiff]; a variant has that of its root cause"
    evidence = table.get("evidence", [])
    if not isinstance(evidence, list) or not all(_EVIDENCE.fullmatch(str(each)) for each in evidence):
        return "has 'evidence' in [tool.exportdiff], which is no list of https addresses and 'zoo:MODEL'"
    return ""
