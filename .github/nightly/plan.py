"""Plan the jobs of a night: each leg is a torch on a device, each leg has as many jobs as there are shards.

Reads the settings from the environment, and prints ``legs=…`` and ``jobs=…``, two matrices as JSON:

- ``SHARDS``: the number of shards; ``TORCHES``: ``pinned newest``, for example;
- ``GPU_RUNNER``: the label of a runner with a GPU; empty: there is none, and no leg for it;
- ``NIGHTLY_INDEX``: the package index of torch's nightly builds; empty: there is no leg for them;
- ``NIGHTLY``: the nightly build of tonight, so that all shards have the same.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

CPU_RUNNER = "ubuntu-latest"
TORCHES = ("pinned", "newest", "nightly")


def legs(settings: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the legs. Raises ValueError for a torch that nobody knows."""
    runners = {"cpu": CPU_RUNNER}
    if settings.get("GPU_RUNNER"):
        runners["cuda"] = settings["GPU_RUNNER"]
    wanted = settings["TORCHES"].split()
    if unknown := sorted(set(wanted) - set(TORCHES)):
        raise ValueError(f"TORCHES: {', '.join(unknown)}; there are {', '.join(TORCHES)}")
    if not settings.get("NIGHTLY_INDEX"):
        wanted = [name for name in wanted if name != "nightly"]
    versions = {"pinned": "pinned", "newest": "newest", "nightly": settings.get("NIGHTLY", "")}
    return [
        {
            "leg": f"{name}-{device}",
            "torch": name,
            "version": versions[name],
            "device": device,
            "runner": runner,
        }
        for name in wanted
        for device, runner in runners.items()
    ]


def jobs(planned: list[dict[str, str]], shards: int) -> list[dict[str, str]]:
    """Return one job for each shard of each leg. Raises ValueError without a shard."""
    if shards < 1:
        raise ValueError("SHARDS must be at least 1")
    return [{**leg, "shard": str(number)} for leg in planned for number in range(1, shards + 1)]


def main() -> None:
    """Print both matrices."""
    planned = legs(os.environ)
    print(f"legs={json.dumps(planned)}")
    print(f"jobs={json.dumps(jobs(planned, int(os.environ['SHARDS'])))}")


if __name__ == "__main__":
    main()
