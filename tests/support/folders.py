"""The folders of the checkout that tests read."""

from __future__ import annotations

import pathlib

TESTS = pathlib.Path(__file__).parents[1]
ROOT = TESTS.parent
CORPORA = ROOT / "corpora"
