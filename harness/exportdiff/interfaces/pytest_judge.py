"""``pytest --export-judge``: judges each export that the tests make, and prints what was found at the end."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest

from exportdiff.core.errors import UsageError

if TYPE_CHECKING:
    import pathlib

    from exportdiff.interfaces.suites.recorder import Recorder
    from exportdiff.interfaces.suites.session import JudgeSettings

SETTINGS = "exportdiff_judge"
"""The key under which xdist gives the settings to its workers."""


def add_options(group: pytest.OptionGroup) -> None:
    """Add the options of this module."""
    group.addoption(
        "--export-judge",
        action="store_true",
        help="compare each model that the tests export with eager, in a copy of the process; the tests "
        "themselves run as usual",
    )
    group.addoption(
        "--export-judge-limit",
        metavar="SECONDS",
        help="the time limit for judging one call (default: 60)",
    )
    group.addoption("--export-judge-json", metavar="FILE", help="also write what was found as JSON")


def register(config: pytest.Config, paths: tuple[str, ...]) -> None:
    """Start judging if ``--export-judge`` is given. Raises UsageError."""
    file, limit = config.getoption("--export-judge-json"), config.getoption("--export-judge-limit")
    if not config.getoption("--export-judge"):
        for name, value in (("json", file), ("limit", limit)):
            if value is not None:
                raise UsageError(f"--export-judge-{name} needs --export-judge")
        return
    from exportdiff.interfaces.suites.session import SECONDS, JudgeSettings

    seconds = SECONDS if limit is None else _seconds(limit)
    where = config.invocation_params.dir / file if file else None
    if where is not None:
        from exportdiff.interfaces.output_files import check_writable

        check_writable("--export-judge-json", where, config.invocation_params.dir)
    given: str | None = getattr(config, "workerinput", {}).get(SETTINGS)
    own = given is None
    settings = JudgeSettings.from_text(given) if given else JudgeSettings.in_new_folder(seconds, paths)
    config.pluginmanager.register(JudgePlugin(settings, where, own=own), "exportdiff-judge")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise UsageError(f"--export-judge-limit: {text!r} is not a number of seconds above 0")
    return seconds


class JudgePlugin:
    """The hooks of a session, or of one worker of xdist."""

    def __init__(self, settings: JudgeSettings, file: pathlib.Path | None, *, own: bool) -> None:
        """Record the calls from now on. ``own``: whether this process prints the result."""
        self._settings = settings
        self._file = file
        self._own = own
        self._recorder: Recorder = settings.recorder()
        self._recorder.install()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Let a worker of xdist write to the same folder."""
        node.workerinput[SETTINGS] = self._settings.as_text()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Wait for the calls that are not judged yet."""
        self._recorder.remove()
        if exitstatus == pytest.ExitCode.INTERRUPTED:
            self._recorder.stop()
        else:
            self._recorder.finish()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the section, and write the file."""
        if not self._own:
            return
        from exportdiff.interfaces.reports.suite_lines import suite_lines

        tally = self._settings.tally()
        terminalreporter.section("exports against eager (exportdiff)")
        for line in suite_lines(tally):
            terminalreporter.write_line(line)
        if self._file is not None:
            from exportdiff.interfaces.output_files import write_text

            write_text(self._file, json.dumps(tally.as_dict(), indent=1, ensure_ascii=False) + "\n")
