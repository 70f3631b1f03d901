"""Statements that all scripts about structure share."""

from __future__ import annotations

import sys
from typing import Any

from exportdiff.repro.paste import Template
from exportdiff.repro.templates.stand_ins import export, lower, make


def exported() -> Any:
    """Export a model, and make a fresh one to compare with."""
    model, args, kwargs = make()
    ep = export(model)
    model, args, kwargs = make()
    return model, ep


def lowered() -> Any:
    """Lower a model, and make a fresh one to compare with."""
    model, args, kwargs = make()
    ep = export(model)
    candidate = lower(ep)
    model, args, kwargs = make()
    return model, candidate


def report(bug: list[str]) -> None:
    """Say the first thing that is wrong."""
    print(f"BUG: {bug[0]}"[:500] if bug else "ok: FINE")
    sys.exit(bool(bug))


def verdict(fine: str) -> Template:
    """Return the end of a script; ``fine`` is what it says where nothing is wrong."""
    return Template(report, {"FINE": fine})
