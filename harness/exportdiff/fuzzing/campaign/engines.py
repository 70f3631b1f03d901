"""Where a campaign runs its programs: the engines that ``--engine`` names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from exportdiff.core.errors import UsageError
from exportdiff.core.programs import IMPORTS
from exportdiff.fuzzing.campaign.campaign_inputs import CampaignInputs, campaign_inputs, difference
from exportdiff.runtime.processes.cluster import Cluster
from exportdiff.runtime.processes.executor import Executor, WorkerSlots
from exportdiff.runtime.processes.in_child import ReusableWorker
from exportdiff.runtime.processes.processors import processors

if TYPE_CHECKING:
    import pathlib

    from exportdiff.fuzzing.campaign.settings import CampaignSettings

StartWorkers: TypeAlias = "Callable[[CampaignSettings], Executor]"

MODULES = ("exportdiff.fuzzing.campaign.worker", *IMPORTS)
"""What a worker imports in addition to torch."""

TASKS = 800
"""A worker is replaced after this many examples at the latest; usually its memory is the reason earlier."""


@dataclass(frozen=True)
class Engine:
    """A way to run programs."""

    cores: int
    """The number of programs that run at a time, unless the user gives another."""
    start: StartWorkers


def local(address: str | None = None) -> Engine:
    """Run programs in processes of this machine. Raises UsageError if an address is given."""
    if address is not None:
        raise UsageError("--address goes with --engine ray")
    return Engine(processors(), local_workers)


def ray(address: str | None = None) -> Engine:
    """Run programs on a Ray cluster; without an address, on one that is started here. Raises UsageError."""
    cluster = Cluster(address, processors())
    return Engine(cluster.cores, partial(_on, cluster))


ENGINES: dict[str, Callable[[str | None], Engine]] = {"local": local, "ray": ray}


def local_workers(settings: CampaignSettings) -> Executor:
    """Start an executor on this machine."""
    return WorkerSlots([ReusableWorker(tasks=TASKS) for _ in range(settings.workers)])


def _on(cluster: Cluster, settings: CampaignSettings) -> Executor:
    share = 0.0
    if any(path.device == "cuda" for path in settings.paths):
        if not cluster.gpus:
            raise UsageError("--engine ray: the cluster has no GPU; use --device cpu")
        share = gpu_share(cluster.gpus, settings.workers)
    fit = partial(why_unsuitable, campaign_inputs(settings.corpora), settings.corpora)
    places = [cluster.worker_slot(share, fit, MODULES, TASKS) for _ in range(settings.workers)]
    return WorkerSlots(places, cluster.close)


def gpu_share(gpus: int, workers: int) -> float:
    """Return the share of a GPU for each worker, so that all workers can run at the same time."""
    return 1 / -(-workers // gpus)


def why_unsuitable(expected: CampaignInputs, corpora: pathlib.Path | None) -> str:
    """Return why this node would give other results than the one that started the campaign; else empty."""
    if corpora is not None and not corpora.is_dir():
        return f"it has no corpus {corpora}"
    found = difference(expected, campaign_inputs(corpora))
    return f"the campaign has {found[0]} {found[1]}, and it has {found[2]}" if found else ""
