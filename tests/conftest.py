"""Options and fixtures that several test files share."""

from __future__ import annotations

import gc
import os
import pathlib
import sys
from collections.abc import Callable

import pytest
import torch

from exportdiff.core.case import Case, case_from_source
from exportdiff.fuzzing.campaign.engines import MODULES
from exportdiff.runtime.processes.processors import processors
from exportdiff.runtime.processes.server import server
from support import hypothesis_profiles

gc.disable()  # until the tests are collected: to look for garbage takes a fifth of the time of imports
FIXES = "corpora/fixes"
HEADER = "import torch\nfrom torch import nn\n\n"


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Before Hypothesis's own plugin, which loads the profile of its option and takes the seed."""
    # As campaigns do (runtime/processes/server.py): torch iterates over sets of strings, and some bugs show
    # under some hash seeds only. The workers of pytest-xdist start with it.
    os.environ.setdefault("PYTHONHASHSEED", "0")
    # Tests start hundreds of processes. Without stored bytecode, each of them would compile exportdiff again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    hypothesis_profiles.configure(config, os.environ)


def pytest_collection_finish() -> None:
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return the processes of ``-n auto``: two for each core, because many tests wait for a process."""
    return processors() * 2


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    torch.set_num_threads(1)


PRELOADED = (
    *MODULES,
    "exportdiff.interfaces.checking.explaining",
    "exportdiff.interfaces.checking.loading",
    "exportdiff.fuzzing.other_torch.answering",
    "pytest",
)
"""What most children of these tests import: the work of campaigns and of ``check``, and a test file."""


@pytest.fixture(autouse=True, scope="session")
def fork_server() -> None:
    """Start the fork server with what children need, so that none of the hundreds imports it itself."""
    server(*PRELOADED)


@pytest.fixture(autouse=True)
def gradients_on() -> None:
    """Begin with gradients on: programs run in the process of the tests, and a known bug of torch leaves
    gradients off after some calls that raised (corpora/open/no_grad_stays_on_when_its_region_raises.py).
    """
    torch.set_grad_enabled(True)


@pytest.fixture
def no_known_bugs(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder that has an empty corpus. To look a finding up in the whole one takes ten seconds."""
    (tmp_path / FIXES).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def case() -> Callable[[str], Case]:
    """Return a function that makes a case from the source of a class ``Model`` and of its arguments.

    The sources may use ``torch`` and ``nn``.
    """

    def make(body: str, args: str = "(torch.ones(2, 3),)") -> Case:
        return case_from_source(f"{HEADER}{body}\n\ndef make():\n    return Model(), {args}\n")

    return make
