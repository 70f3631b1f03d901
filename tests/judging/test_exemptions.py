"""The page on what does not count agrees with the tables of the code."""

from __future__ import annotations

import importlib
import re
from typing import get_args

from exportdiff.runtime.paths.runners import RUNNERS
from exportdiff.runtime.paths.transforms import TRANSFORMS
from exportdiff.runtime.paths.transforms.table import Aspect
from support.folders import ROOT

PAGE = (ROOT / "docs" / "reference" / "what-does-not-count.md").read_text(encoding="utf-8")


def test_the_page_names_what_exists() -> None:
    named = re.findall(r"`(exportdiff[\w.]+):(\w+)`", PAGE)
    assert len(named) >= 7
    for module, name in named:
        assert hasattr(importlib.import_module(module), name), f"{module}:{name}"


def test_the_page_lists_what_is_not_promised() -> None:
    left_out = {name: each.not_promised for name, each in RUNNERS.items()}
    left_out |= {name: each.not_promised for name, each in TRANSFORMS.items()}
    rows = [f"| `{name}` | {', '.join(sorted(aspects))} |" for name, aspects in left_out.items() if aspects]
    assert "\n".join(rows) in PAGE
    assert all(f"- *{aspect}*: " in PAGE for aspect in get_args(Aspect))
