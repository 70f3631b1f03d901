"""exportdiff: does what ``torch.export`` makes of a model behave like the model? The public names.

``python -m exportdiff`` is the command ``exportdiff``. A name is imported when it is first used, because the
command starts without torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exportdiff.core.errors import UsageError
    from exportdiff.interfaces import model_strategies as strategies
    from exportdiff.interfaces.call_variants import call_variants, swap_attribute, swap_module
    from exportdiff.interfaces.checking.baseline import write_baseline
    from exportdiff.interfaces.checking.found import Found
    from exportdiff.interfaces.checking.report import Report
    from exportdiff.interfaces.pytest_plugin import ExportEquivalence
    from exportdiff.interfaces.python_api import assert_export_equivalent, assert_passes, compare
    from exportdiff.judging.exemptions.backend import Backend

_HOMES = {
    "Backend": "exportdiff.judging.exemptions.backend",
    "ExportEquivalence": "exportdiff.interfaces.pytest_plugin",
    "Found": "exportdiff.interfaces.checking.found",
    "Report": "exportdiff.interfaces.checking.report",
    "UsageError": "exportdiff.core.errors",
    "assert_export_equivalent": "exportdiff.interfaces.python_api",
    "assert_passes": "exportdiff.interfaces.python_api",
    "call_variants": "exportdiff.interfaces.call_variants",
    "compare": "exportdiff.interfaces.python_api",
    "strategies": "exportdiff.interfaces.model_strategies",
    "swap_attribute": "exportdiff.interfaces.call_variants",
    "swap_module": "exportdiff.interfaces.call_variants",
    "write_baseline": "exportdiff.interfaces.checking.baseline",
}

__all__ = [
    "Backend",
    "ExportEquivalence",
    "Found",
    "Report",
    "UsageError",
    "assert_export_equivalent",
    "assert_passes",
    "call_variants",
    "compare",
    "strategies",
    "swap_attribute",
    "swap_module",
    "write_baseline",
]


def __getattr__(name: str) -> object:
    """Import a public name from where it is defined."""
    if name not in _HOMES:
        raise AttributeError(f"module 'exportdiff' has no attribute {name!r}")
    home = importlib.import_module(_HOMES[name])
    return home if name == "strategies" else getattr(home, name)


def __dir__() -> list[str]:
    return __all__
