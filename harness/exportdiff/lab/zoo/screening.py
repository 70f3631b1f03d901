"""Judges many models in one process, which is several times faster than one process for each.

The answer counts for models that show nothing, or only known bugs. Each other model is then judged in a
process of its own, which confirms its findings.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import torch

from exportdiff.core.errors import UsageError
from exportdiff.interfaces.checking.explaining import explained
from exportdiff.interfaces.checking.found import Found
from exportdiff.interfaces.checking.report import Report
from exportdiff.judging.judge_case import judge_case
from exportdiff.lab.zoo.model import NoModel
from exportdiff.lab.zoo.notes import explain
from exportdiff.lab.zoo.row import ModelRow
from exportdiff.lab.zoo.rows import row_of
from exportdiff.lab.zoo.sources import loaded, source_of
from exportdiff.runtime.observing.freeing_programs import clean_state

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Collection, Sequence

    from exportdiff.core.path import Path
    from exportdiff.lab.zoo.model import ZooModel

SHARE = 4
"""After this part of the time limit no further model is begun: the last one may need the rest."""


def screen(
    names: Collection[str], paths: Sequence[Path], corpora: pathlib.Path, limit: float
) -> dict[str, ModelRow | None]:
    """Return the rows of models of one source by name, as far as time allows.

    None: the model needs a process of its own. ``limit``: the seconds after which this process is ended.
    """
    until = time.monotonic() + limit / SHARE
    rows: dict[str, ModelRow | None] = {}
    for model in source_of(next(iter(names))).models():
        if model.name in names and time.monotonic() < until:
            rows[model.name] = _row(model, paths, corpora)
    return rows


@clean_state()
def _row(model: ZooModel, paths: Sequence[Path], corpora: pathlib.Path) -> ModelRow | None:
    try:
        case = loaded(model)
    except NoModel as error:
        return ModelRow(model.name, not_judged=str(error), no_model=error.reason)
    except UsageError as error:
        return ModelRow(model.name, not_judged=str(error))
    verdict = judge_case(case, paths)
    if not verdict.valid:
        return ModelRow(model.name, not_judged=verdict.invalid_reason)
    if verdict.unjudged:
        return None
    report = Report(model.name, torch.__version__, verdict.paths, found=tuple(map(Found, verdict.findings)))
    noted = tuple(each for each in verdict.findings if explain(model.name, each))
    found = tuple(part for parts in explained(case, report, corpora, noted) for part in parts)
    row = row_of(report.with_found(found))
    return None if row.unexplained else row
