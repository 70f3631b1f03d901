"""Findings that no entry of the corpus can explain, because torch is not at fault: a table of explanations.

What torch does wrong belongs in ``corpora/``. Here is what a model does that export cannot keep.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from exportdiff.core.finding import starts_with


@dataclass(frozen=True)
class Note:
    """One explanation."""

    name: str
    """As the table names it."""
    text: str
    """For people: which code does what, and where."""
    models: tuple[str, ...]
    """Shell patterns of their names."""
    signature: tuple[str, ...]
    """How the signature of the finding begins."""
    paths: str = "*"
    """A shell pattern."""


NOTES: tuple[Note, ...] = (
    Note(
        "first_forward_installs_hooks",
        "The first forward of the model installs hooks in it, and notes that in an attribute "
        "(transformers/utils/output_capturing.py, maybe_install_capturing_hooks). Non-strict export runs the "
        "Python code of the model, so that the model keeps the attribute, as after a call in eager "
        "(docs.pytorch.org, torch.export Programming Model, 'Strict vs. Non-Strict Tracing')",
        models=("transformers/segformer",),
        signature=("purity", "mismatch", "export", "attribute"),
        paths="nonstrict*",
    ),
)


def notes_on(model: str, path: str, signature: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the notes that explain a finding."""
    return tuple(
        note.name
        for note in NOTES
        if any(fnmatchcase(model, glob) for glob in note.models)
        and fnmatchcase(path, note.paths)
        and starts_with(signature, note.signature)
    )
