"""Runs tasks on a Ray cluster. Ray places a task on a node, and repeats it if the node or its worker is lost.

On the node, a task runs in a child process as on this machine (see ``in_child``), so that a crash or a limit
has the same words everywhere. Ray opens ports, and sends pickles between its own processes.
"""

from __future__ import annotations

import importlib
import logging
import os
import socket
import sys
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from exportdiff.core.errors import UsageError
from exportdiff.runtime.processes.child import POLL_SECONDS, Death, Stopped, TaskFailure
from exportdiff.runtime.processes.in_child import ReusableWorker
from exportdiff.runtime.processes.limits import Limits, limited, limits
from exportdiff.runtime.processes.server import server

if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Event

T = TypeVar("T")

LOSSES = 5
"""How often a task may lose its node or its Ray worker before that is an error."""
REACH_SECONDS = 10.0
"""Seconds to wait for an answer of the cluster."""
DEVICES = "CUDA_VISIBLE_DEVICES"
"""The environment variable by which Ray gives a GPU to a task."""


class Cluster:
    """A connection to a Ray cluster."""

    def __init__(self, address: str | None, cores: int) -> None:
        """Connect to the cluster at ``address``; None: start one on this machine with ``cores`` cores.

        Raises UsageError if Ray is not installed, or no cluster answers at the address.
        """
        try:
            self._ray: Any = importlib.import_module("ray")
        except ImportError:
            raise UsageError("--engine ray: Ray is not installed; pip install 'exportdiff[ray]'") from None
        if address not in (None, "auto"):
            _check_reachable(str(address))
        options: dict[str, Any] = {"address": address} if address else {"num_cpus": cores}
        try:
            self._ray.init(
                **options, include_dashboard=False, log_to_driver=False, logging_level=logging.CRITICAL
            )
        except (ConnectionError, ValueError, RuntimeError) as error:
            first = str(error).strip().partition("\n")[0]
            raise UsageError(f"--engine ray: no cluster at {address or 'this machine'}: {first}") from None

    def close(self) -> None:
        """End the connection, and a cluster that was started for it."""
        self._ray.shutdown()

    @property
    def cores(self) -> int:
        """How many cores all nodes have."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    @property
    def gpus(self) -> int:
        """How many GPUs all nodes have."""
        return int(self._ray.cluster_resources().get("GPU", 0))

    def worker_slot(
        self, share: float, fit: Callable[[], str], modules: tuple[str, ...], tasks: int | None = None
    ) -> RayWorkerSlot:
        """Return a slot for one task at a time.

        ``share``: the part of a GPU for each task. ``fit`` runs first in each process of Ray, and returns why
        the node does not fit, or an empty text. ``modules``: what each child imports, as well as torch.
        ``tasks``: see ReusableWorker.
        """
        remote = self._ray.remote(num_cpus=1, num_gpus=share, max_retries=LOSSES)(_run)
        return RayWorkerSlot(self._ray, partial(remote.remote, fit, modules, tasks))


def _check_reachable(address: str) -> None:
    """Raise UsageError if ``host:port`` does not answer: Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), REACH_SECONDS).close()
    except (OSError, ValueError) as error:
        raise UsageError(f"--address {address}: {error}; write HOST:PORT of a Ray cluster, or auto") from None


class RayWorkerSlot:
    """A share of the cluster, on whichever node is free."""

    def __init__(self, ray: Any, run: Callable[..., Any]) -> None:
        """Only ``Cluster.worker_slot`` calls this."""
        self._ray = ray
        self._run = run

    def ask(
        self, seconds: float, task: Callable[..., T], *args: object, stop: Event | None = None
    ) -> T | Death | TaskFailure:
        """Return ``task(*args)``, run on some node; a TaskFailure if too many nodes were lost.

        Raises Stopped soon after ``stop`` is set; UsageError if a node does not fit.
        """
        answer = self._run(limits(), seconds, task, args)
        while not self._ray.wait([answer], timeout=POLL_SECONDS)[0]:
            if stop is not None and stop.is_set():
                self._ray.cancel(answer, force=True)
                raise Stopped
        try:
            result: T | Death | TaskFailure | Unfit = self._ray.get(answer)
        except self._ray.exceptions.RayError as error:
            return TaskFailure(error)
        if isinstance(result, Unfit):
            raise UsageError(f"--engine ray: node {result.node}: {result.why}")
        return result

    def stop(self) -> None:
        """Do nothing: Ray ends its processes."""


@dataclass(frozen=True)
class Unfit:
    """The answer of a node that would give different results."""

    node: str
    why: str


class _RayProcess:
    """What a process of Ray keeps between two tasks."""

    fits = False
    worker: ReusableWorker | None = None
    devices: str | None = None


def _run(
    fit: Callable[[], str],
    modules: tuple[str, ...],
    tasks: int | None,
    most: Limits,
    seconds: float,
    task: Callable[..., T],
    args: tuple[object, ...],
) -> T | Death | TaskFailure | Unfit:
    """Run a task in a child of this process of Ray."""
    if not _RayProcess.fits:
        why = fit()
        if why:
            return Unfit(os.uname().nodename, why)
        # Otherwise each child would import the script of Ray that this process runs.
        vars(sys.modules["__main__"]).pop("__file__", None)
        server(*modules)
        _RayProcess.fits = True
    devices = os.environ.get(DEVICES)
    if _RayProcess.worker is None:
        _RayProcess.worker = ReusableWorker(tasks=tasks)
    elif devices != _RayProcess.devices:
        _RayProcess.worker.stop()
    _RayProcess.devices = devices
    with limited(**(vars(most) | {"devices": devices})):
        return _RayProcess.worker.ask(seconds, task, *args)
