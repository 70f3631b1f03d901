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
    from collections.abc import Mapping, Sequence

    from harness.cli.types import Subparsers
    from harness.findings import Finding
    from harness.judge.verdict import Verdict
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
    known = _known(target, verdict.findings, arguments.limit)
    if arguments.json:
        _print_json(verdict, known)
    else:
        _print_table(target, verdict, known)
    return 1 if verdict.findings else 0


def _verdict(target: Target, paths: Sequence[Path], limit: float) -> Verdict:
    """Judge once; keep the findings that a second process shows as well."""
    from harness.cli.judging import call, judged_one_by_one
    from harness.engine.user_model import judge_target
    from harness.judge.verdict import Verdict

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


def _known(target: Target, findings: Sequence[Finding], limit: float) -> Mapping[str, tuple[str, ...]]:
    """Find out in a fresh process which findings the corpus explains, if the folder has a corpus."""
    from harness.cli.judging import call
    from harness.engine.user_model import explain_target

    if not findings or not CORPORA.is_dir():
        return {}
    answer = call(limit, explain_target, target, tuple(findings), CORPORA.resolve())
    return {} if isinstance(answer, Death) else answer


def _print_json(verdict: Verdict, known: Mapping[str, tuple[str, ...]]) -> None:
    document = {
        "paths": {
            str(r.path): {"status": r.status, "reason": r.reason, "excused": r.excused} for r in verdict.paths
        },
        "findings": [
            {
                **finding.as_dict(),
                "known": finding.fingerprint in known,
                "entries": list(known.get(finding.fingerprint, ())),
            }
            for finding in verdict.findings
        ],
    }
    print(json.dumps(document, indent=1, ensure_ascii=False))


def _print_table(target: Target, verdict: Verdict, known: Mapping[str, tuple[str, ...]]) -> None:
    from harness.reporting.text import finding_block, make_console, table

    console = make_console()
    rows = table("path", "status", "")
    for result in verdict.paths:
        notes = [result.reason, *(f"{name} (documented)" for name in result.excused)]
        rows.add_row(str(result.path), result.status, ", ".join(filter(None, notes)))
    console.print(rows)
    for finding in verdict.findings:
        console.print()
        command = f"exportdiff check {target.written} --paths '{finding.path}'"
        console.print(finding_block(finding, (command,), console), soft_wrap=True)
        for name in known.get(finding.fingerprint, ()):
            console.print(f"known: {CORPORA / 'open' / name}.py", style="dim", highlight=False)
    if not verdict.findings:
        console.print(f"no difference on {len(verdict.paths)} paths", highlight=False)
