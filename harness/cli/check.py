"""``exportdiff check``: every path and check on one model of the user's own."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from harness.cli.arguments import add_path_options, chosen_paths, duration
from harness.errors import UsageError
from harness.known.entry import CORPORA

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from harness.cli.types import Subparsers
    from harness.engine.user_model import Target
    from harness.findings import Finding
    from harness.judge.verdict import Verdict
    from harness.paths import Path
    from harness.processes.pool import Death


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser("check", help="compare your own model, eager to exported")
    parser.add_argument(
        "target",
        metavar="TARGET",
        help="FILE.py:NAME or package.module:NAME; a callable that returns (model, args) or "
        "(model, args, kwargs)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--limit",
        type=duration,
        default=600.0,
        metavar="TIME",
        help="for the model, e.g. 90s (default: 10m)",
    )
    add_path_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Judge the model in fresh processes; return 1 if there is a finding, else 0."""
    from harness.engine.user_model import Target

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
    """Judge once; what is found must show again in a second process."""
    from harness.judge.verdict import Verdict
    from harness.processes.pool import Death

    first = _judged(target, paths, limit)
    if isinstance(first, Death):
        return _one_by_one(target, paths, limit)
    if not first.findings:
        return first
    second = _judged(target, paths, limit)
    again = set() if isinstance(second, Death) else {f.fingerprint for f in second.findings}
    confirmed = tuple(f for f in first.findings if f.fingerprint in again)
    dropped = len(first.findings) - len(confirmed)
    if dropped:
        print(f"{dropped} difference(s) did not show in a second process", file=sys.stderr)
    return Verdict(True, "", first.paths, confirmed, first.torch_seconds)


def _judged(target: Target, paths: Sequence[Path], limit: float) -> Verdict | Death:
    from harness.engine.user_model import judge_target
    from harness.processes.pool import Failure, call_fresh

    answer = call_fresh(limit, judge_target, target, tuple(paths))
    if isinstance(answer, str):
        raise UsageError(answer)
    if isinstance(answer, Failure):
        raise answer.error
    return answer


def _one_by_one(target: Target, paths: Sequence[Path], limit: float) -> Verdict:
    """Find the paths that take the process down: first eager alone, then one path at a time."""
    from harness.engine.campaign import add_death
    from harness.judge.verdict import PathResult, Verdict
    from harness.processes.pool import Death

    eager = _judged(target, (), limit)
    if isinstance(eager, Death):
        what = "hangs" if eager.kind == "hang" else "takes the process down"
        raise UsageError(f"{target.written} {what} by itself ({eager.reason})")
    results: list[PathResult] = []
    findings: list[Finding] = []
    seconds = 0.0
    for path in paths:
        one = _judged(target, (path,), limit)
        if isinstance(one, Death):
            add_death(findings, path, one)
            results.append(PathResult(path, "finding", one.reason))
        elif not one.valid:
            return one
        else:
            results.extend(one.paths)
            findings.extend(one.findings)
            seconds += one.torch_seconds
    return Verdict(True, "", tuple(results), tuple(findings), seconds)


def _known(target: Target, findings: Sequence[Finding], limit: float) -> dict[str, tuple[str, ...]]:
    """Ask a fresh process which findings the corpus explains, if there is one here."""
    from harness.engine.user_model import explain_target
    from harness.processes.pool import Death, Failure, call_fresh

    if not findings or not CORPORA.is_dir():
        return {}
    answer = call_fresh(limit, explain_target, target, tuple(findings), CORPORA.resolve())
    if isinstance(answer, Failure):
        raise answer.error
    return {} if isinstance(answer, Death) else answer


def _print_json(verdict: Verdict, known: Mapping[str, tuple[str, ...]]) -> None:
    from harness.reporting.summary import finding_dict

    document = {
        "paths": {
            str(r.path): {"status": r.status, "reason": r.reason, "excused": r.excused} for r in verdict.paths
        },
        "findings": [
            {
                **finding_dict(finding),
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
