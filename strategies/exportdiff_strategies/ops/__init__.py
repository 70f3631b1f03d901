"""The op table. One entry is one op: its text, its operands, its result, what it changes.

To add an op, add one line to the table of its family. For example, in elementwise::

    "square": _map("{0}.square()", lambda x: x * x)

says how the op is written, that it takes numbers and keeps their dtype and sizes (by default), and that
values up to ``x`` become values up to ``x * x``.
"""

from exportdiff_strategies.ops import (
    activations,
    complexes,
    custom,
    data,
    elementwise,
    gradients,
    indexing,
    inplace,
    matmul,
    metadata,
    neural,
    out_forms,
    randomness,
    reductions,
    scatter,
    shapes,
    sizes,
    views,
)
from exportdiff_strategies.ops.results import RESULTS, ResultSpec
from exportdiff_strategies.ops.spec import (
    LIMIT,
    MOST,
    REALS,
    Operand,
    OpResult,
    OpSpec,
    Params,
    Rejected,
    forbid,
    require,
)

OPS: dict[str, OpSpec] = {
    **elementwise.TABLE,
    **activations.TABLE,
    **reductions.TABLE,
    **shapes.TABLE,
    **views.TABLE,
    **indexing.TABLE,
    **matmul.TABLE,
    **neural.TABLE,
    **complexes.TABLE,
    **inplace.TABLE,
    **scatter.TABLE,
    **out_forms.TABLE,
    **metadata.TABLE,
    **custom.TABLE,
    **sizes.TABLE,
    **data.TABLE,
    **gradients.TABLE,
    **randomness.TABLE,
}
"""Every op by its name, simplest first, because a failing Program shrinks towards the first."""

__all__ = [
    "LIMIT",
    "MOST",
    "OPS",
    "REALS",
    "RESULTS",
    "OpResult",
    "OpSpec",
    "Operand",
    "Params",
    "Rejected",
    "ResultSpec",
    "forbid",
    "require",
]
