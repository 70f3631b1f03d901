"""Commands that reports print, for readers to run."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from exportdiff.core.programs import DEFAULT_PROFILE
from exportdiff.known.corpus.entry import default_corpora

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Sequence

    from exportdiff.core.path import Path


def repro_command(file: pathlib.Path, fixes: Sequence[str], corpora: pathlib.Path) -> str:
    """Return the command that runs the repro file of a finding, with the fixes that it needs installed."""
    name = shlex.quote(str(file))
    if not fixes:
        return f"python {name}"
    default = default_corpora()
    if default is not None and corpora.resolve() == default.resolve():
        return f"exportdiff replay {name}"
    return f"exportdiff replay {name} --corpora {shlex.quote(str(corpora))}"


def show_command(seed: int, example: int, profile: str, around: str = "", near: str | None = None) -> str:
    """Return the command that prints a program of a campaign."""
    chosen = f" --profile {profile}" if profile != DEFAULT_PROFILE else ""
    chosen += f" --around {shlex.quote(around)}" if around else ""
    chosen += f" --near {near}".rstrip() if near is not None else ""
    return f"exportdiff show --seed {seed} --example {example}{chosen}"


def check_command(model: str, path: Path, options: Sequence[str] = ()) -> str:
    """Return the command that judges a model on one path, without its device; for an object, the call."""
    if not has_command(model):
        return f"exportdiff.compare(..., paths={path.without_device!r})"
    return " ".join((f"exportdiff check {shlex.quote(model)}", *options, f"--paths '{path.without_device}'"))


def has_command(model: str) -> bool:
    """Whether the model has the name of a function for the command, and not that of an object."""
    return ":" in model
