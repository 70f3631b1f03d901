"""Transforms: steps between the model and what runs. Each is one entry of a table.

``cases`` change the case itself, also for eager; ``settings`` are those of the process while it is exported
and lowered; ``exports`` add arguments to the export; ``programs``
turn an ExportedProgram into another one; ``modules`` change the module that a runner returns.
"""

from exportdiff.runtime.paths.transforms import (  # noqa: F401 - they fill the table
    archives,
    calling,
    cases,
    exports,
    graphs,
    methods,
    modules,
    programs,
    serving,
    settings,
    swapping,
    threads,
    training,
    unflattened,
    vectors,
)
from exportdiff.runtime.paths.transforms.table import ORDER, TRANSFORMS, Transform

__all__ = ["ORDER", "TRANSFORMS", "Transform"]
