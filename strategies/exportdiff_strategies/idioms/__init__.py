"""The table of idioms: blocks of code that people write, and that no op, layer or statement covers.

To add one, add one entry to the kind that it belongs to; to add a kind, add one entry to the table of its
file. ``drawing/idioms.py`` inserts at most one idiom into a finished Program.
"""

from exportdiff_strategies.idioms import (
    containers,
    dtypes,
    gradients,
    layers,
    operators,
    python_state,
    shared_memory,
    sizes,
    two_calls,
)
from exportdiff_strategies.idioms.spec import EXTRA, NEW, OTHER, SAME, Idiom, Kind

KINDS: dict[str, Kind] = {
    **sizes.TABLE,
    **dtypes.TABLE,
    **python_state.TABLE,
    **layers.TABLE,
    **containers.TABLE,
    **gradients.TABLE,
    **operators.TABLE,
    **two_calls.TABLE,
    **shared_memory.TABLE,
}
"""Every kind of idiom by its name."""

__all__ = ["EXTRA", "KINDS", "NEW", "OTHER", "SAME", "Idiom", "Kind"]
