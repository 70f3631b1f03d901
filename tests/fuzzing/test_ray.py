"""A Ray cluster runs the programs of a campaign: same findings, even where workers and nodes are lost."""

from __future__ import annotations

import importlib
import os
import pathlib
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from exportdiff.cli import main
from exportdiff.core.errors import UsageError
from exportdiff.core.finding import Finding
from exportdiff.fuzzing.campaign.campaign import Campaign
from exportdiff.fuzzing.campaign.campaign_inputs import campaign_inputs
from exportdiff.fuzzing.campaign.engines import ENGINES, gpu_share, local_workers, why_unsuitable
from exportdiff.fuzzing.campaign.events import Event, ExampleDone, FindingFound, HarnessError
from exportdiff.fuzzing.campaign.settings import CampaignSettings
from exportdiff.fuzzing.campaign.worker import ExampleResult, Job
from exportdiff.judging.results import PathResult, Verdict
from exportdiff.repro.confirm import Confirmation
from exportdiff.runtime.paths import select_paths
from exportdiff.runtime.processes.cluster import Cluster
from exportdiff.runtime.processes.executor import WorkerSlots
from exportdiff.runtime.processes.usage import PROC, process_tree


def test_without_ray_one_line_says_what_to_install(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    out = tmp_path / "out"
    assert main(["fuzz", "--examples", "1", "--engine", "ray", "--out", str(out)]) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1 and "pip install 'exportdiff[ray]'" in printed
    assert not out.exists()


def test_an_address_needs_ray(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "--examples", "1", "--address", "auto"]) == 2
    assert "--address goes with --engine ray" in capsys.readouterr().err


def test_each_gpu_is_shared_by_as_many_workers() -> None:
    assert [gpu_share(*each) for each in ((1, 1), (1, 4), (2, 3), (4, 2))] == [1.0, 0.25, 0.5, 1.0]


def test_a_node_with_another_torch_or_without_the_corpus_does_not_fit(tmp_path: pathlib.Path) -> None:
    here = campaign_inputs(None)
    assert why_unsuitable(here, None) == ""
    other = type(here)("9.9", here.python, here.exportdiff, here.corpus)
    assert why_unsuitable(other, None) == f"the campaign has torch 9.9, and it has {here.torch}"
    assert why_unsuitable(here, tmp_path / "none") == f"it has no corpus {tmp_path / 'none'}"


# The rest needs Ray. Its processes can import the modules of the tests.

NONSTRICT = select_paths(["nonstrict:*"])
DIES = 5
EARLY = 3
"""When the result of this program is there, most others are still to be run."""


def source_of(job: Job, index: int) -> tuple[str, tuple[str, ...]]:
    return f"def make():\n    return M(), ()\n# {index}\n", ()


def work(job: Job, indices: Sequence[int]) -> tuple[ExampleResult, ...]:
    """Judge made-up programs slowly; one takes its process down on a path."""
    results = []
    for index in indices:
        time.sleep(0.2)
        if index == DIES and any(path.runner == "unflatten" for path in job.paths):
            os.abort()
        paths = tuple(PathResult(path, "ok", outcome="agrees") for path in job.paths)
        results.append(ExampleResult(index, Verdict(True, "", paths, (), 0.001)))
    return tuple(results)


def yes(source: str, **_how: object) -> Confirmation:
    return Confirmation(True, "BUG")


SETTINGS = CampaignSettings(NONSTRICT, examples=60, workers=2)


def outcome(events: Sequence[Event]) -> tuple[list[int], list[tuple[int, Finding]]]:
    assert not [event for event in events if isinstance(event, HarnessError)]
    done = [event.index for event in events if isinstance(event, ExampleDone)]
    return done, [(event.example, event.finding) for event in events if isinstance(event, FindingFound)]


def ran(start: Any, at: int = 60, what: Callable[[], None] = lambda: None) -> Any:
    """Run the campaign, and do something once a program is done."""
    events = []
    for event in Campaign(SETTINGS, start=start, work=work, source=source_of, confirm=yes).run():
        events.append(event)
        if isinstance(event, ExampleDone) and event.index == at:
            what()
    return outcome(events)


@pytest.fixture(scope="module")
def alone() -> Any:
    """Return what the campaign gives on this machine."""
    return ran(local_workers)


def ray_workers() -> list[int]:
    """Return the processes of Ray that run tasks of exportdiff."""
    names = {pid: (PROC / str(pid) / "cmdline").read_bytes() for pid in process_tree(os.getpid())}
    return [pid for pid, name in names.items() if name.startswith(b"ray::_run")]


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    module = pytest.importorskip("ray")
    # Else Ray runs its workers at the lowest priority, and on a busy machine they hardly run.
    monkeypatch.setenv("RAY_worker_niceness", "0")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    yield module
    module.shutdown()


def test_a_cluster_with_a_worker_killed_gives_the_findings_of_one_machine(ray: Any, alone: Any) -> None:
    killed = []

    def kill_one() -> None:
        killed.extend(ray_workers()[:1])
        os.kill(killed[0], signal.SIGKILL)

    engine = ENGINES["ray"](None)
    assert ran(engine.start, EARLY, kill_one) == alone
    assert killed
    done, ((example, finding),) = alone
    assert (done, example, finding.kind) == (list(range(60)), DIES, "abort")


def seen_devices() -> str | None:
    return os.environ.get("CUDA_VISIBLE_DEVICES")


def fits() -> str:
    return ""


def does_not_fit() -> str:
    return "it has torch 1.0"


def test_a_node_is_lost_and_another_one_repeats_its_tasks(ray: Any, alone: Any) -> None:
    machines = importlib.import_module("ray.cluster_utils").Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "num_gpus": 1}
    )
    try:
        second = machines.add_node(num_cpus=1)
        cluster = Cluster(machines.address, 1)
        assert (cluster.cores, cluster.gpus) == (2, 1)
        with WorkerSlots([cluster.worker_slot(0.5, fits, ())]) as places:
            assert places.submit(60, seen_devices).wait() == "0"
        with WorkerSlots([cluster.worker_slot(0.0, does_not_fit, ())], cluster.close) as places:
            unfit = places.submit(60, seen_devices)
            with pytest.raises(UsageError, match=r"it has torch 1\.0"):
                unfit.wait()
        engine = ENGINES["ray"](machines.address)
        assert engine.cores == 2
        assert ran(engine.start, EARLY, lambda: machines.remove_node(second)) == alone
    finally:
        machines.shutdown()


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nowhere"])
def test_nobody_at_the_address_is_one_line(
    ray: Any, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fuzz", "--examples", "1", "--engine", "ray", "--address", address]) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1 and f"--address {address}: " in printed
