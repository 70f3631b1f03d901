"""Transforms: what is done between a model and what runs. One entry of a table each.

``cases`` change the case itself, for eager as well; ``exports`` add arguments to the export; ``programs``
turn one ExportedProgram into another; ``modules`` change what a runner made of it.
"""

from harness.paths.transforms import cases, exports, modules, programs  # noqa: F401 - they fill the table
from harness.paths.transforms.table import ORDER, TRANSFORMS, Transform

__all__ = ["ORDER", "TRANSFORMS", "Transform"]
