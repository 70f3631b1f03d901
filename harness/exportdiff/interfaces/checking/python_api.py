"""The Python door: ``compare`` returns the report on a model, ``assert_export_equivalent`` raises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exportdiff.interfaces.checking.baseline import marking
from exportdiff.interfaces.checking.in_process import judge_in_process
from exportdiff.interfaces.checking.loading import case_of
from exportdiff.interfaces.checking.path_choice import chosen
from exportdiff.interfaces.checking.report import read_fail_on
from exportdiff.known.corpus.entry import default_corpora

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from torch import nn

    from exportdiff.interfaces.checking.baseline import Accept
    from exportdiff.interfaces.checking.path_choice import Paths
    from exportdiff.interfaces.checking.report import FailOn, Found, Report


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
    """Run a model eagerly and as exported, in this process, and return what differs.

    ``model``: a module, which is copied and stays as it is, or a function that returns a module, ``(module,
    args)`` or ``(module, args, kwargs)``. ``paths``: ``"default"`` for those that people deploy, ``"all"``,
    or patterns such as ``"nonstrict:*"``. ``dynamic_shapes``, ``probes``: as in ``torch.export.export``, and
    a list of ``(args, kwargs)`` with other sizes; values, or functions that return them. ``device``: None for
    all devices of this machine. ``accept``: a baseline file, or the fingerprints of findings.

    Raises UsageError if something is wrong with the arguments or with the model.
    """
    selected = chosen(paths, device)
    # Before the model runs: a wrong file must not cost minutes.
    marked = marking(accept)
    case = case_of(model, args, kwargs, dynamic_shapes=dynamic_shapes, probes=probes)
    report = judge_in_process(case, selected, default_corpora())
    return report.with_found(marked(report.found))


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

    The arguments are those of ``compare``; ``fail_on`` says which findings fail: ``"any"``, ``"new"`` for
    those that the corpus does not know, ``"silent"`` for those that are wrong without an error.
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
    """Raise AssertionError if the report has a finding that fails, or if the model was not judged."""
    __tracebackhide__ = True
    if report.exit_code(fail_on):
        raise AssertionError(explanation(report, fail_on))


def explanation(report: Report, fail_on: FailOn) -> str:
    """Return why a report fails: for each finding what differs, where, by how much, how to see it again."""
    failing = report.failing(fail_on)
    if not failing:
        return f"{report.name} was not judged: {report.why_unjudged()}"
    agree = sum(each.status == "ok" for each in report.paths)
    number = "1 finding" if len(failing) == 1 else f"{len(failing)} findings"
    counts = f"{agree} of {len(report.paths)} paths agree with eager, {number} (torch {report.torch})"
    return "\n".join([f"{report.name}: {counts}", *(line for each in failing for line in _lines(each))])


def _lines(found: Found) -> Iterable[str]:
    finding = found.finding
    more = f" and {len(finding.shown_on) - 1} more paths" if len(finding.shown_on) > 1 else ""
    yield f"{finding.check} {finding.kind} on {finding.path}{more}  [{finding.fingerprint}]"
    yield from (f"    {line}" for line in finding.message.splitlines())
    for cause in found.causes:
        yield f"    known bug of torch: {cause.root}"
    if found.remark:
        yield f"    remark: {found.remark}"
    yield f"    see it again: exportdiff.compare(..., paths={finding.path.without_device!r})"
