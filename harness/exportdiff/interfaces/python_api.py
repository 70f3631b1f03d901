"""The Python interface: ``compare`` returns the report on a model, ``assert_export_equivalent`` raises."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from exportdiff.interfaces.checking.accepting import with_accepted
from exportdiff.interfaces.checking.baseline import acceptance
from exportdiff.interfaces.checking.found import read_fail_on
from exportdiff.interfaces.checking.in_process import judge_in_process
from exportdiff.interfaces.checking.loading import case_of
from exportdiff.interfaces.checking.path_choice import chosen
from exportdiff.interfaces.checking.report import Report
from exportdiff.interfaces.wording import counted
from exportdiff.known.corpus.entry import default_corpora

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from torch import nn

    from exportdiff.interfaces.checking.baseline import Accept
    from exportdiff.interfaces.checking.found import FailOn, Found
    from exportdiff.interfaces.checking.path_choice import Paths
    from exportdiff.interfaces.reports.known_bug_lines import KnownBugLines


@dataclass(frozen=True)
class PrintedReport(Report):
    """A report that prints what ``exportdiff check`` prints."""

    def __str__(self) -> str:
        """Return the text for people."""
        from exportdiff.interfaces.reports.model_report import report_text

        return report_text(self, "any", default_corpora())


def compare(
    model: nn.Module | Callable[[], object],
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: object = None,
    paths: Paths = "default",
    probes: object = None,
    device: str | None = None,
    accept: Accept = (),
) -> Report:
    """Run a model eagerly and exported, in this process, and return a report of the differences.

    Args:
        model: a module, which is copied and not changed, or a function that returns a module, ``(module,
            args)`` or ``(module, args, kwargs)``.
        args, kwargs: example inputs, of any shapes.
        dynamic_shapes: as in ``torch.export.export``; a value, or a function that returns it.
        paths: ``"default"`` for those of ``exportdiff check``, ``"all"``, or patterns such as
            ``"nonstrict:*"``.
        probes: a list of further ``(args, kwargs)`` with other sizes; a value, or a function that returns it.
        device: None for all devices of this machine.
        accept: a baseline file, or the fingerprints of findings.

    Raises:
        UsageError: an argument is wrong, or the model cannot be judged.
    """
    selected = chosen(paths, device)
    # Read before the model runs, so that a wrong file does not cost minutes.
    accepted = acceptance(accept)
    case = case_of(model, args, kwargs, dynamic_shapes=dynamic_shapes, probes=probes)
    report = judge_in_process(case, selected, default_corpora())
    report = with_accepted(report, accepted(report.model))
    return PrintedReport(**{each.name: getattr(report, each.name) for each in fields(report)})


def assert_export_equivalent(
    model: nn.Module | Callable[[], object],
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: object = None,
    paths: Paths = "default",
    probes: object = None,
    device: str | None = None,
    accept: Accept = (),
    fail_on: FailOn = "any",
) -> None:
    """Raise AssertionError if the exported model does not behave like eager, or could not be judged.

    The arguments are those of ``compare``, and ``fail_on``, which selects the findings that fail: ``"any"``,
    ``"new"`` for findings that the corpus does not explain, ``"silent"`` for wrong results without an error.
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    read_fail_on("fail_on", fail_on)
    report = compare(
        model,
        args,
        kwargs,
        dynamic_shapes=dynamic_shapes,
        paths=paths,
        probes=probes,
        device=device,
        accept=accept,
    )
    assert_passes(report, fail_on)


def assert_passes(report: Report, fail_on: FailOn = "any") -> None:
    """Raise AssertionError if a finding of the report fails, or if the model was not judged."""
    __tracebackhide__ = True
    if report.exit_code(fail_on):
        raise AssertionError(explanation(report, fail_on))


def explanation(report: Report, fail_on: FailOn) -> str:
    """Return why a report fails: each finding that fails, where it shows, and how to see it again."""
    failing = report.failing(fail_on)
    if not failing:
        return f"{report.name} was not judged: {report.why_unjudged()}"
    from exportdiff.interfaces.reports.known_bug_lines import KnownBugLines

    bugs = KnownBugLines(default_corpora())
    counts = f"{report.agreement()}, {counted(len(failing), 'finding')} (torch {report.torch})"
    return "\n".join([f"{report.name}: {counts}", *(line for each in failing for line in _lines(each, bugs))])


def _lines(found: Found, bugs: KnownBugLines) -> Iterable[str]:
    finding = found.finding
    further = len(finding.shown_on) - 1
    more = f" and {counted(further, 'more path')}" if further else ""
    yield f"{finding.check} {finding.kind} on {finding.path}{more}  [{finding.fingerprint}]"
    yield from (f"    {line}" for line in finding.message.splitlines())
    yield from (textwrap.indent(line, "    ") for line in bugs.of(found))
    if found.remark:
        yield f"    remark: {found.remark}"
    if found.not_accepted_because:
        yield f"    not accepted: {found.not_accepted_because}"
    yield f"    see it again: exportdiff.compare(..., paths={finding.path.without_device!r})"
