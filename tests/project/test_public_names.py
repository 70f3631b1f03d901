"""``import exportdiff``: the names are there, and cost nothing until they are used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import exportdiff


def run(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_name_is_there() -> None:
    for name in exportdiff.__all__:
        assert getattr(exportdiff, name) is not None
    assert (
        dir(exportdiff) == exportdiff.__all__ == sorted(exportdiff.__all__, key=lambda n: (n.lower() == n, n))
    )
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        exportdiff.nothing  # noqa: B018  # reading it is what raises


def test_importing_it_imports_nothing_slow() -> None:
    slow = "{'torch', 'numpy', 'hypothesis', 'pytest', 'libcst'}"
    assert run("-c", f"import sys, exportdiff; print({slow} & set(sys.modules))") == "set()\n"
    drawn = "exportdiff.strategies.models(); print('torch' in sys.modules)"
    assert run("-c", f"import sys, exportdiff; {drawn}") == "False\n"


def test_the_module_is_the_command_and_its_help_needs_no_torch() -> None:
    # An entry of None makes every import of torch fail.
    code = (
        "import runpy, sys; sys.modules['torch'] = None; sys.argv = ['exportdiff', '--help']; "
        "runpy.run_module('exportdiff', run_name='__main__')"
    )
    assert "'exportdiff COMMAND --help' describes a command" in run("-c", code)
    assert run("-m", "exportdiff", "--help").startswith("usage: exportdiff")
