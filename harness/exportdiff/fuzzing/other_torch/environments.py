"""Virtual environments with one version of torch each, in the user's cache folder."""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from exportdiff.core.cache_files import cache_folder
from exportdiff.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

READY = "exportdiff-ready"
"""A file that marks an environment as complete, because an installation may be interrupted."""
_VERSION = re.compile(r"\d+(\.\d+)+([.+]?\w+)*")


class NotInstalledError(Exception):
    """The version cannot be installed; the text says why."""


def wanted(text: str) -> tuple[str, ...]:
    """Read ``2.9,2.12.1``. Raises UsageError."""
    versions = tuple(filter(None, (part.strip() for part in text.split(","))))
    wrong = [version for version in versions if not _VERSION.fullmatch(version)]
    if wrong or not versions:
        raise UsageError(f"--versions {text}: write versions of torch, such as 2.9,2.12.1")
    return versions


def environment_of(version: str, say: Callable[[str], None]) -> pathlib.Path:
    """Return the interpreter of an environment with this version of torch; create it if there is none.

    ``2.9`` is the newest release of 2.9. ``say`` gets a line before an environment is created. pip installs;
    its own settings (PIP_INDEX_URL and others) say from where. Raises NotInstalledError.
    """
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    folder = cache_folder() / "torch" / f"{version}-python{running}"
    python = folder / "bin" / "python"
    if (folder / READY).is_file():
        return python
    say(f"torch {version}: creates {folder}")
    shutil.rmtree(folder, ignore_errors=True)
    release = version if version.count(".") > 1 else f"{version}.*"
    try:
        _run([sys.executable, "-m", "venv", str(folder)])
        _run([str(python), "-m", "pip", "install", "--quiet", f"torch=={release}", "numpy"])
        (folder / READY).touch()
    except OSError as error:
        raise NotInstalledError(f"{error.filename or folder}: {error.strerror}") from None
    except NotInstalledError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return python


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        errors = [line for line in said if line.startswith("ERROR")]
        raise NotInstalledError((errors or said or [f"exit code {done.returncode}"])[-1])
