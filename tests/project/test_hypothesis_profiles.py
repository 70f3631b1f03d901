"""The profiles of Hypothesis: which one a test run has, and what it means."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest
from hypothesis import settings
from hypothesis.database import DirectoryBasedExampleDatabase, MultiplexedDatabase

from support import hypothesis_profiles
from support.folders import TESTS

CONFTEST = f"""
import os
import sys

import pytest

sys.path[:0] = {[str(TESTS)]!r}
from support import hypothesis_profiles


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    hypothesis_profiles.configure(config, os.environ)
"""
"""The part of the tests' own conftest.py that concerns Hypothesis; the rest imports torch."""
PROPERTY = """
import os, pathlib
from hypothesis import given, settings, strategies as st
from support.folders import TESTS
from support.hypothesis_profiles import examples

seen = []
if "LOADED" in os.environ:
    import loaded

@settings(max_examples=examples(200))
@given(st.integers())
def test_numbers(number):
    seen.append(number)

def test_what_was_drawn():
    pathlib.Path("seen").write_text(f"{settings().max_examples} {len(seen)} {seen}")
"""


def drawn(folder: pathlib.Path, *arguments: str, **variables: str) -> tuple[int, int, str]:
    """The usual number of examples, how many a property drew, and which, in a test run of its own."""
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_numbers.py").write_text(PROPERTY)
    (folder / "loaded.py").write_text(f"NUMBERS = {[7**n for n in range(5, 15)]}")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join([str(folder), *sys.path]), **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    usual, number, which = (folder / "seen").read_text().split(" ", 2)
    return int(usual), int(number), which


def test_ci_draws_the_same_each_time_and_nightly_draws_more_and_others(tmp_path: pathlib.Path) -> None:
    ci = drawn(tmp_path, CI="true")
    assert ci[:2] == (100, 200)
    assert not (tmp_path / ".hypothesis" / "examples").exists()
    assert drawn(tmp_path, HYPOTHESIS_PROFILE="ci") == ci
    nightly = drawn(tmp_path, "--hypothesis-profile=nightly", CI="true")
    assert nightly[:2] == (1000, 2000)


def test_dev_is_the_default_and_draws_the_same_each_time(tmp_path: pathlib.Path) -> None:
    dev = drawn(tmp_path)
    assert dev[:2] == (100, 200)
    assert drawn(tmp_path, CI="false") == dev
    assert drawn(tmp_path, "--hypothesis-seed=5") != dev


def test_what_is_drawn_does_not_depend_on_the_modules_that_are_loaded(tmp_path: pathlib.Path) -> None:
    for profile in ("dev", "ci"):
        plain = drawn(tmp_path, HYPOTHESIS_PROFILE=profile)
        assert drawn(tmp_path, HYPOTHESIS_PROFILE=profile, LOADED="1") == plain


def test_an_unknown_profile_is_said(pytestconfig: pytest.Config) -> None:
    with pytest.raises(pytest.UsageError, match="HYPOTHESIS_PROFILE=fast: there is no such profile"):
        hypothesis_profiles.load(pytestconfig, {"HYPOTHESIS_PROFILE": "fast"})


def test_the_database_may_be_shared() -> None:
    assert isinstance(hypothesis_profiles.database(""), DirectoryBasedExampleDatabase)
    shared = hypothesis_profiles.database("github:owner/name")
    assert isinstance(shared, MultiplexedDatabase)
    _, other = shared._wrapped
    assert "owner='owner'" in repr(other) and "repo='name'" in repr(other)
    for wrong in ("github:owner", "http://somewhere"):
        with pytest.raises(pytest.UsageError, match=r"write redis://HOST or github:OWNER/NAME"):
            hypothesis_profiles.database(wrong)


AT_COLLECTION = settings().max_examples, hypothesis_profiles.examples(50)
"""When the tests are collected, their settings are made. Later a test may import torch.testing, which loads a
profile of its own with the same name."""


def test_the_examples_of_this_run_are_those_of_its_profile() -> None:
    usual, of_50 = AT_COLLECTION
    assert usual in (hypothesis_profiles.USUAL, hypothesis_profiles.USUAL * 10)
    assert of_50 == usual // 2
