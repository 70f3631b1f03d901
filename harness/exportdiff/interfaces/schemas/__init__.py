"""JSON Schemas of the documents that exportdiff writes: ``NAME-FORMAT.schema.json``.

A key may be added to a document without a new number. A key that is renamed, removed or means something else
takes a new number.
"""

from __future__ import annotations

import json
import pathlib
from typing import Any

FOLDER = pathlib.Path(__file__).parent
SUFFIX = ".schema.json"


def schema_names() -> list[str]:
    """Return the names of all schemas, such as ``check-1``."""
    return sorted(file.name.removesuffix(SUFFIX) for file in FOLDER.glob(f"*{SUFFIX}"))


def schema(name: str) -> Any:
    """Return one schema."""
    return json.loads((FOLDER / f"{name}{SUFFIX}").read_text(encoding="utf-8"))
