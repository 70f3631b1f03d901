"""Print the version that ``pip install torch`` would install; further arguments go to pip.

The nightly job uses it for the nightly builds of torch.
"""

from __future__ import annotations

import json
import subprocess
import sys


def version_in(report: str) -> str:
    """Return the version of torch in a report of pip. Raises KeyError if torch is not in it."""
    installed = {
        each["metadata"]["name"]: each["metadata"]["version"] for each in json.loads(report)["install"]
    }
    return str(installed["torch"])


def main(*arguments: str) -> None:
    """Ask pip, and install nothing."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
    command += ["--no-deps", "--report", "-", *arguments, "torch"]
    print(version_in(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout))


if __name__ == "__main__":
    main(*sys.argv[1:])
