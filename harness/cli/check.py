"""``exportdiff check``: run every path and check on one model of the user's own."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from harness.cli.arguments import add_path_options, chosen_paths, duration
from harness.engine.target import Target
from harness.errors import UsageError
from harness.known.entry import CORPORA
from harness.processes.child import Death

# Functions import the modules that import torch or rich, so that ``exportdiff --help`` starts fast.
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from harness.cli.types import Subparsers
    from harness.judge.results import Verdict
    from harness.known.attribution import Explained
    from harness.paths import Path


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "check",
        help="compare your own model: eager against exported",
        description="Export your own model along every path, and compare what it does with eager. "
        "Exit code: 0 no difference, 1 a difference, 2 the model or an argument is wrong.",
    )
    parser.add_argument(
        "target",
        metavar="TARGET",
        help="FILE.py:NAME or package.module:NAME; NAME is a callable that returns (model, args) or "
        "(model, args, kwargs)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--limit",
        type=duration,
        default=600.0,
        metavar="TIME",
        help="time limit for judging the model, e.g. 90s (default: 10m)",
    )
    add_path_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Judge the model in fresh processes; return 1 if there is a finding, else 0."""
    target = Target.parse(arguments.target)
    paths = chosen_paths(arguments.paths, arguments.device)
    verdict = _verdict(target, paths, arguments.limit)
    if not verdict.valid:
        raise UsageError(f"{target.written}: {verdict.invalid_reason}")
    parts = _explained(target, verdict, arguments.limit)
    if arguments.json:
        _print_json(verdict, parts)
    else:
        _print_table(target, verdict, parts)
    return 1 if verdict.findings else 0


def _verdict(target: Target, paths: Sequence[Path], limit: float) -> Verdict:
    """Judge once; keep the findings that a second process shows as well."""
    from harness.cli.judging import call, judged_one_by_one
    from harness.engine.user_model import judge_target
    from harness.judge.results import Verdict

    def judge(chosen: Sequence[Path]) -> Verdict | Death:
        return call(limit, judge_target, target, tuple(chosen))

    first = judge(paths)
    if isinstance(first, Death):
        return judged_one_by_one(target.written, judge, paths)
    if not first.findings:
        return first
    second = judge(paths)
    again = set() if isinstance(second, Death) else {f.fingerprint for f in second.findings}
    confirmed = tuple(f for f in first.findings if f.fingerprint in again)
    dropped = len(first.findings) - len(confirmed)
    if dropped:
        print(f"{dropped} difference(s) did not show in a second process", file=sys.stderr)
    return Verdict(True, "", first.paths, confirmed, first.torch_seconds)


def _explained(target: Target, verdict: Verdict, limit: float) -> Sequence[Explained]:
    """Find out in a fresh process which findings the corpus explains, if the folder has a corpus."""
    from harness.cli.judging import call
    from harness.engine.user_model import explain_target
    from harness.known.attribution import Explained

    if not verdict.findings or not CORPORA.is_dir():
        return [Explained(finding) for finding in verdict.findings]
    answer = call(limit, explain_target, target, verdict, CORPORA.resolve())
    if isinstance(answer, Death):
        remark = f"attribution ended in {answer.reason}"
        return [Explained(finding, remark=remark) for finding in verdict.findings]
    return answer


def _print_json(verdict: Verdict, parts: Sequence[Explained]) -> None:
    document = {
        "paths": {
            str(r.path): {"status": r.status, "reason": r.reason, "excused": r.excused} for r in verdict.paths
        },
        "findings": [
            {
                **part.finding.as_dict(),
                "known": bool(part.causes),
                "root_causes": [cause.name for cause in part.causes],
                "entries": [cause.entry for cause in part.causes if cause.entry],
                "remark": part.remark,
            }
            for part in parts
        ],
    }
    print(json.dumps(document, indent=1, ensure_ascii=False))


def _print_table(target: Target, verdict: Verdict, parts: Sequence[Explained]) -> None:
    from harness.reporting.text import finding_block, make_console, table

    console = make_console()
    rows = table("path", "status", "")
    for result in verdict.paths:
        notes = [result.reason, *(f"{name} (documented)" for name in result.excused)]
        rows.add_row(str(result.path), result.status, ", ".join(filter(None, notes)))
    console.print(rows)
    for part in parts:
        console.print()
        command = f"exportdiff check {target.written} --paths '{part.finding.path}'"
        console.print(finding_block(part.finding, (command,)), soft_wrap=True)
        for cause in part.causes:
            where = f"{CORPORA / 'open' / cause.entry}.py" if cause.entry else cause.name
            console.print(f"known: {where}", style="dim", highlight=False)
        if part.remark:
            console.print(f"remark: {part.remark}", style="yellow", highlight=False)
    if not verdict.findings:
        console.print(f"no difference on {len(verdict.paths)} paths", highlight=False)
