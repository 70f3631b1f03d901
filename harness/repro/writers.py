"""The table of writers: how to show what needs more than the common pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.repro import aliasing, compiled, deviations, edits, fake, gradients, printing, structure

if TYPE_CHECKING:
    from harness.findings import Finding
    from harness.repro.table import Parts, Writer

WRITERS: tuple[Writer, ...] = (
    compiled.write,
    aliasing.write,
    edits.write,
    fake.write,
    gradients.write,
    deviations.write,
    printing.write,
    structure.write,
)


def written(finding: Finding) -> Parts | None:
    """Return what the first writer that knows the finding writes; None if the common pieces do."""
    return next((parts for write in WRITERS if (parts := write(finding)) is not None), None)
