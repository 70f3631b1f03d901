"""Finds out which torch the interpreter of another environment has, and if it can run exportdiff's code."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from exportdiff.core.errors import UsageError
from exportdiff.core.torch_versions import digest_of_torch, torch_digest, torch_version

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LIBRARIES = ("hypothesis", "numpy", "rich", "unidiff", "libcst", "platformdirs")
"""The modules that exportdiff needs in addition to torch; their packages have the same names."""
OLDEST_PYTHON = (3, 11)
SECONDS = 60.0

# Runs in an interpreter that may have no packages: uses only the standard library, and does not import torch.
_QUESTION = """
import importlib.metadata, importlib.util, json, sys
def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""
def folder(name):
    found = importlib.util.find_spec(name)
    return found.submodule_search_locations[0] if found is not None else ""
names = sys.argv[1:]
print(json.dumps({
    "python": list(sys.version_info[:3]),
    "torch": version("torch"),
    "folder": folder("torch"),
    "missing": [name for name in names if importlib.util.find_spec(name) is None],
}))
"""


@dataclass(frozen=True)
class Interpreter:
    """An interpreter with a torch."""

    python: pathlib.Path
    torch: str
    """The version of its torch, with the build: ``2.14.1+cpu``."""
    digest: str = ""
    """A digest of the files of its torch, which may have been edited; empty: they were not read."""

    @property
    def label(self) -> str:
        """What reports call its torch: the version; if the running torch has the same, also where it is."""
        here = self.release == torch_version()
        return f"{self.release} of {self.python}" if here else self.release

    @property
    def release(self) -> str:
        """The version without the build."""
        return self.torch.partition("+")[0]


def interpreter(python: pathlib.Path, option: str, *, judges: bool = True) -> Interpreter:
    """Ask an interpreter for its torch.

    ``option``: the option that names it, for messages. ``judges``: whether it must be able to judge programs;
    False: it only runs files. Raises UsageError if it does not exist, has no torch, is too old, or lacks a
    library.
    """
    said = _asked(python, option, LIBRARIES if judges else ())
    found = f"{option} {python}"
    if not said["torch"]:
        raise UsageError(f"{found} has no torch; name the interpreter of an environment that has one")
    if tuple(said["python"]) < OLDEST_PYTHON:
        written = ".".join(map(str, said["python"]))
        raise UsageError(f"{found} is Python {written}; exportdiff needs 3.11 or newer")
    if said["missing"]:
        names = " ".join(said["missing"])
        raise UsageError(f"{found} lacks what exportdiff needs: {python} -m pip install {names}")
    folder = said.get("folder", "")
    digest = digest_of_torch(pathlib.Path(folder)) if folder else ""
    return Interpreter(python.absolute(), said["torch"], digest)


def running_interpreter() -> Interpreter:
    """Return the running interpreter."""
    return Interpreter(pathlib.Path(sys.executable), version("torch"), torch_digest())


def interpreter_to_compare(python: pathlib.Path, option: str) -> Interpreter:
    """Return an interpreter that can judge programs with another torch. Raises UsageError."""
    found = interpreter(python, option)
    if found.digest == torch_digest():
        raise UsageError(f"{option} {python} has torch {found.torch} with the same files as here")
    return found


def _asked(python: pathlib.Path, option: str, names: Sequence[str]) -> dict[str, Any]:
    command = [str(python.absolute()), "-c", _QUESTION, *names]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, check=False, env=environment()
        )
    except FileNotFoundError:
        raise UsageError(f"{option} {python}: there is no such interpreter") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = error.strerror if isinstance(error, OSError) else f"no answer within {SECONDS:g} s"
        raise UsageError(f"{option} {python}: cannot be run: {reason}") from None
    try:
        said = json.loads(done.stdout)
    except ValueError:
        said = None
    if done.returncode or not isinstance(said, dict):
        last = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        raise UsageError(f"{option} {python} is no Python interpreter: {last}")
    return said


def environment(**further: str) -> Mapping[str, str]:
    """Return environment variables for another interpreter, without this one's PYTHONPATH."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | further
