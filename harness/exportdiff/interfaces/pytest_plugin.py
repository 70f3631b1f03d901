"""The pytest plugin: the fixture ``export_equivalence``, the marker ``export_paths``, the options.

pytest loads the plugin in every project where exportdiff is installed. So the plugin imports the rest of
exportdiff only when it is used.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import pathlib
import re
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from exportdiff.core.durations import seconds_of
from exportdiff.core.errors import UsageError
from exportdiff.interfaces import pytest_judge

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

    from torch import nn

    from exportdiff.interfaces.checking.baseline import Accept, Baseline
    from exportdiff.interfaces.checking.found import FailOn, Found
    from exportdiff.interfaces.checking.path_choice import Paths
    from exportdiff.interfaces.checking.report import Report
    from exportdiff.interfaces.checking.reproducing import WrittenRepro

MARKER = "export_paths"
TITLE = "exportdiff"
"""The title of the section in the report of a failed test."""
SLUG = 80
"""The characters of a test's name in the name of its repro file."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options. ``pytest_configure`` reads their values, where a mistake is reported in one line."""
    group = parser.getgroup("exportdiff", "exportdiff: exported models against eager")
    group.addoption(
        "--export-paths",
        action="append",
        default=[],
        metavar="GLOB",
        help="paths that export_equivalence and --export-judge judge, e.g. 'nonstrict:*' or 'all'; may be "
        "repeated (default: those of exportdiff check; for --export-judge, those that fit the call)",
    )
    group.addoption(
        "--export-device", metavar="DEVICE", help="cpu or cuda (default: all devices of this machine)"
    )
    group.addoption(
        "--export-accept",
        metavar="FILE",
        help="do not fail for findings in this baseline; 'exportdiff check --write-baseline' writes one",
    )
    group.addoption(
        "--export-fail-on",
        default="any",
        metavar="KIND",
        help="which findings fail: any; new: findings that no known bug explains; silent: wrong "
        "results without an error (default: any)",
    )
    group.addoption(
        "--export-minimize",
        default="30s",
        metavar="TIME",
        help="minimize the model of a failed test for at most TIME; 0: write no repro files (default: 30s)",
    )
    group.addoption(
        "--export-repros",
        metavar="DIR",
        help="folder for repro files (default: exportdiff-repros in the rootdir)",
    )
    pytest_judge.add_options(group)


@dataclass(frozen=True)
class Options:
    """The parsed options of a test session."""

    paths: tuple[str, ...]
    device: str | None
    baseline: Baseline | None
    fail_on: FailOn
    seconds: float
    """The time limit for minimizing; 0: write no repro files."""
    repros: pathlib.Path


_OPTIONS = pytest.StashKey[Options]()


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and read the options."""
    config.addinivalue_line(
        "markers", f"{MARKER}(*globs): the paths that export_equivalence judges, e.g. 'nonstrict:*'"
    )
    try:
        options = config.stash[_OPTIONS] = _read(config)
        pytest_judge.register(config, options.paths)
    except (UsageError, ValueError) as error:
        raise pytest.UsageError(str(error)) from None


def _read(config: pytest.Config) -> Options:
    """Parse the options. Modules that check an option are imported only if it is given."""
    paths, device = tuple(config.getoption("--export-paths")), config.getoption("--export-device")
    if paths or device is not None:
        from exportdiff.interfaces.checking.path_choice import chosen

        try:
            chosen(paths or "default", device)
        except UsageError as error:
            raise UsageError(f"--export-{error}") from None
    folder = config.invocation_params.dir
    baseline = None
    if file := config.getoption("--export-accept"):
        from exportdiff.interfaces.checking.baseline import read_baseline

        try:
            baseline = read_baseline(folder / file)
        except UsageError as error:
            raise UsageError(f"--export-accept: {error}") from None
        if baseline.notice:
            config.issue_config_time_warning(pytest.PytestConfigWarning(baseline.notice), stacklevel=2)
    try:
        seconds = seconds_of(config.getoption("--export-minimize"))
    except ValueError as error:
        raise UsageError(f"--export-minimize: {error}") from None
    given = config.getoption("--export-repros")
    repros = folder / given if given else config.rootpath / "exportdiff-repros"
    return Options(paths, device, baseline, _fail_on(config.getoption("--export-fail-on")), seconds, repros)


def _fail_on(text: str) -> FailOn:
    if text == "any":
        return "any"
    from exportdiff.interfaces.checking.found import read_fail_on

    return read_fail_on("--export-fail-on", text)


class ExportDifference(AssertionError):  # noqa: N818 - a failed assertion, not an error
    """An exported model does not behave like eager, or it was not judged."""

    def __init__(
        self, text: str, report: Report, failing: tuple[Found, ...], given: tuple[object, ...]
    ) -> None:
        """Keep what the report of the test needs; ``given``: model, dynamic shapes, probes."""
        super().__init__(text)
        self.report = report
        self.failing = failing
        self.given = given


@dataclass(frozen=True)
class ExportEquivalence:
    """The value of the fixture ``export_equivalence``."""

    options: Options
    marked: tuple[str, ...]
    """The paths of the marker ``export_paths``; empty: there is no marker."""

    def __call__(
        self,
        model: nn.Module | Callable[[], object],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        dynamic_shapes: object = None,
        paths: Paths | None = None,
        probes: object = None,
        device: str | None = None,
        accept: Accept = (),
        fail_on: FailOn | None = None,
    ) -> None:
        """Raise AssertionError if the exported model does not behave like eager, or could not be judged.

        The arguments are those of ``exportdiff.assert_export_equivalent``. The defaults come from the marker
        ``export_paths`` and the options of pytest. The baseline of the options is always used.
        """
        __tracebackhide__ = True
        from exportdiff.interfaces.checking.accepting import with_accepted
        from exportdiff.interfaces.checking.found import read_fail_on
        from exportdiff.interfaces.python_api import compare, explanation

        options = self.options
        fail_on = read_fail_on("fail_on", fail_on or options.fail_on)
        with _without_trace():
            report = compare(
                model,
                args,
                kwargs,
                dynamic_shapes=dynamic_shapes,
                paths=paths if paths is not None else self.marked or options.paths or "default",
                probes=probes,
                device=device or options.device,
                accept=accept,
            )
        if options.baseline is not None:
            report = with_accepted(report, options.baseline.of(report.model))
        if report.exit_code(fail_on):
            given = (model, dynamic_shapes, probes)
            raise ExportDifference(explanation(report, fail_on), report, report.failing(fail_on), given)


@contextlib.contextmanager
def _without_trace() -> Iterator[None]:
    """Keep torch's trace log out of the logs that pytest shows for a failed test."""
    log = logging.getLogger("torch.__trace")
    before = log.level
    if not os.environ.get("TORCH_TRACE"):
        log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(before)


@pytest.fixture
def export_equivalence(request: pytest.FixtureRequest) -> ExportEquivalence:
    """Compare a model with its exported program: ``export_equivalence(model, args)``."""
    marker = request.node.get_closest_marker(MARKER)
    globs: tuple[object, ...] = marker.args if marker is not None else ()
    if marker is not None and (not globs or marker.kwargs or not all(isinstance(g, str) for g in globs)):
        pytest.fail(f"@pytest.mark.{MARKER} takes patterns, such as 'nonstrict:*'", pytrace=False)
    return ExportEquivalence(request.config.stash[_OPTIONS], tuple(map(str, globs)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the repro file of the finding to the report of a failed test."""
    report = yield
    error = call.excinfo.value if call.excinfo is not None else None
    if report.failed and isinstance(error, ExportDifference) and error.failing:
        _add(report, _how_to_see_it_again(item, error))
    return report


def _add(report: pytest.TestReport, text: str) -> None:
    # The text of the failure is kept by JUnit files and xdist, and --show-capture=no does not hide it.
    add = getattr(report.longrepr, "addsection", None)
    if add is not None:
        add(TITLE, text)
    else:
        report.sections.append((TITLE, text))


def _how_to_see_it_again(item: pytest.Item, error: ExportDifference) -> str:
    """Write a repro file; return the text of the section: the name of the file, or why there is none."""
    from exportdiff.interfaces.checking.reproducing import NoSourceError, source_of, write_repro

    options = item.config.stash[_OPTIONS]
    # A finding that the corpus does not explain comes first.
    found = min(error.failing, key=lambda each: each.known)
    finding = found.finding
    left = len(error.failing) - 1
    others = f"\nnot minimized: {left} more, see above" if left else ""
    try:
        source = source_of(*error.given)
        if not options.seconds:
            where = f"{_shown(source.file, item)}:{source.factory}"
            command = f"exportdiff minimize {where} --path {finding.path} --check {finding.check}"
            return f"no repro file (--export-minimize 0); to write one: {command}"
        file = options.repros / _file_name(item, finding.fingerprint)
        written = write_repro(source, finding, file, options.seconds)
    except NoSourceError as reason:
        return f"no repro file: {reason}"
    except Exception:
        # An error here must not hide the result of the test.
        return f"no repro file, because exportdiff itself failed; please report it\n{traceback.format_exc()}"
    if written.interrupted:
        raise KeyboardInterrupt
    return _about(written, f"{finding.check} {finding.kind} on {finding.path}", item) + others


def _about(written: WrittenRepro, what: str, item: pytest.Item) -> str:
    file = _shown(written.file, item)
    smaller = "" if written.finished else " (more time makes it smaller: --export-minimize)"
    if written.problem:
        return f"repro file of {what}: {file}\nalone, it does not show the finding: {written.problem}"
    return f"repro file of {what}: {file}{smaller}\nrun it: python {file}"


def _shown(file: pathlib.Path, item: pytest.Item) -> pathlib.Path:
    """Return the path of a file relative to the folder in which pytest was started, if it is inside."""
    folder = item.config.invocation_params.dir
    return file.relative_to(folder) if file.is_relative_to(folder) else file


def _file_name(item: pytest.Item, fingerprint: str) -> str:
    """Return a name that is the same in every run and worker, and that no other test has."""
    slug = re.sub(r"\W+", "_", item.nodeid)[-SLUG:].strip("_")
    digest = hashlib.sha256(item.nodeid.encode()).hexdigest()[:6]
    return f"{slug}-{digest}-{fingerprint}.py"
