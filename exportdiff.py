"""exportdiff: does what ``torch.export`` makes of a model behave like the model? The public names.

``python -m exportdiff`` is the command ``exportdiff``. A name is imported when it is first used, because the
command starts without torch.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness import generating as strategies
    from harness.equivalence.asserting import assert_export_equivalent, assert_passes, compare
    from harness.equivalence.report import Found, Report
    from harness.errors import UsageError
    from harness.pytest_plugin import ExportEquivalence
    from harness.variants import call_variants, swap_attribute, swap_module

_HOMES = {
    "ExportEquivalence": "harness.pytest_plugin",
    "Found": "harness.equivalence.report",
    "Report": "harness.equivalence.report",
    "UsageError": "harness.errors",
    "assert_export_equivalent": "harness.equivalence.asserting",
    "assert_passes": "harness.equivalence.asserting",
    "call_variants": "harness.variants",
    "compare": "harness.equivalence.asserting",
    "strategies": "harness.generating",
    "swap_attribute": "harness.variants",
    "swap_module": "harness.variants",
}

__all__ = [
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
]


def __getattr__(name: str) -> object:
    """Import a public name from where it is defined."""
    if name not in _HOMES:
        raise AttributeError(f"module 'exportdiff' has no attribute {name!r}")
    home = importlib.import_module(_HOMES[name])
    return home if name == "strategies" else getattr(home, name)


def __dir__() -> list[str]:
    return __all__


if __name__ == "__main__":
    from harness.cli import main

    sys.exit(main())
