"""The table of statements that raise, for the body of a ``try``.

To add one, add one entry to FAILURES. Each statement raises whatever the sizes and the values of a tensor
with at least one element are, and changes nothing before it raises.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FailureSpec:
    """How the statement is written, over ``x``, a tensor; and the exception that it raises."""

    template: str
    error: str


FAILURES: dict[str, FailureSpec] = {
    "raise": FailureSpec('raise ValueError("not supported")', "ValueError"),
    "no_dimension": FailureSpec("{x}.sum(9)", "IndexError"),
    "ranks": FailureSpec("torch.cat([{x}, {x}[None]])", "RuntimeError"),
    "write": FailureSpec("{x}.add_(torch.ones(2, *{x}.shape))", "RuntimeError"),
    "key": FailureSpec('{{}}["scale"]', "KeyError"),
    "attribute": FailureSpec("self.missing", "AttributeError"),
    "number": FailureSpec('int("five")', "ValueError"),
}
"""Every failure by its name."""
