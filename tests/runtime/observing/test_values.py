"""Values of large tensors lie in a file; what is reported does not depend on that."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest
import torch

from exportdiff.judging.checks.compare.leaves import ValuesDiffer, compare_leaf
from exportdiff.runtime.observing import values
from exportdiff.runtime.observing.saved_tensors import SavedTensors
from exportdiff.runtime.observing.tensors import TensorSnapshot, snapshot
from exportdiff.runtime.observing.values import LargeValues

ELEMENTS = 50_000


def kept(seen: TensorSnapshot) -> LargeValues:
    assert isinstance(seen.values, LargeValues)
    return seen.values


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.float16, torch.bfloat16, torch.complex64])
def test_a_large_tensor_is_kept_as_it_was(dtype: torch.dtype) -> None:
    x = torch.arange(2 * ELEMENTS).remainder(7).to(dtype).reshape(2, ELEMENTS).t()
    before = x.to(torch.complex64, copy=True)
    seen = snapshot(x)
    x.zero_()
    assert kept(seen).shape == (ELEMENTS, 2)
    assert np.array_equal(np.asarray(seen.values).astype(np.complex64), before.numpy())


def test_equal_values_are_kept_once_and_given_up_together() -> None:
    x = torch.arange(ELEMENTS)
    seen, again, other = snapshot(x), snapshot(x.clone()), snapshot(x + 1)
    assert kept(seen).content is kept(again).content is not kept(other).content
    assert len(values._contents) == 2
    del seen, again, other
    gc.collect()
    assert not values._contents and (values._open is None or values._open() is None)


def test_room_in_the_file_is_used_again() -> None:
    held = snapshot(torch.arange(ELEMENTS))
    for number in range(5):
        assert np.array_equal(np.asarray(snapshot(torch.full((ELEMENTS,), number)).values)[:1], [number])
    assert values._current_file()._end == 2 * ELEMENTS * 8
    assert np.array_equal(np.asarray(held.values), np.arange(ELEMENTS))


def test_without_room_on_the_disk_a_copy_stays_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError("no space left on device")

    monkeypatch.setattr(values._File, "write", full)
    x = torch.arange(ELEMENTS)
    seen = snapshot(x)
    x.add_(1)
    assert np.array_equal(np.asarray(seen.values), np.arange(ELEMENTS))
    found = compare_leaf(seen, snapshot(x))
    assert isinstance(found, ValuesDiffer) and found.differing == ELEMENTS


def pairs() -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Yield pairs with differences at the front, in the middle, at the end, everywhere, or none."""
    base = torch.linspace(-3, 3, 60).reshape(5, 12)
    for places in ([], [0], [31, 32], [59], [7, 50]):
        for change in (1.0, -2.5, float("inf"), float("nan"), 1e-7):
            other = base.clone()
            other.view(-1)[places] += change
            yield base, other
            yield other, base
            yield base * 1j, other * 1j
    yield torch.arange(60), torch.arange(60) // 2
    yield torch.zeros(60), -torch.zeros(60)
    yield torch.ones(60) > 0, torch.arange(60) > 9
    yield torch.full((60,), float("inf")), torch.full((60,), float("inf"))


def test_the_report_is_the_same_for_small_and_large_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    def reports() -> list[object]:
        return [compare_leaf(snapshot(a), snapshot(b)) for a, b in pairs()]

    small = reports()
    monkeypatch.setattr(values, "LARGE", 0)
    monkeypatch.setattr(values, "PART", 7)
    assert isinstance(snapshot(torch.ones(1)).values, LargeValues)
    large = reports()
    assert large == small
    assert {each.word if isinstance(each, ValuesDiffer) else each is None for each in small} >= {
        "value",
        "rounding",
        True,
    }


def test_large_tensors_are_restored_from_the_file() -> None:
    base = torch.arange(2.0 * ELEMENTS)
    part = base[ELEMENTS:]
    isolation = SavedTensors([base, part])
    expected = base.clone()
    for _ in range(2):
        part.zero_()
        base.resize_(3)
        assert isolation.restore()
        assert torch.equal(base, expected) and torch.equal(part, expected[ELEMENTS:])


JUDGES = """
import resource, torch
from torch import nn
from exportdiff.core.case import Case
from exportdiff.judging.verdict import judge
from exportdiff.runtime.paths import parse

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(*(nn.Linear({width}, {width}) for _ in range(4)))
        self.register_buffer("calls", torch.zeros(2))

    def forward(self, x):
        self.calls.add_(1)
        return self.layers(x) + self.calls.sum()

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

def judged(width):
    make = lambda: (Model(), (torch.ones(2, width),))
    return judge(Case("big", "", make), [parse("nonstrict:module"), parse("nonstrict:unflatten")])

torch.set_num_threads(1)
Model.__init__.__globals__["width"] = 8
judged(8)
before = peak()
"""


@pytest.mark.nightly
def test_memory_for_a_large_model_is_a_few_times_its_state() -> None:
    width = 1500
    script = JUDGES.replace("{width}", "width") + (
        f"width = {width}\nverdict = judged(width)\n"
        "assert verdict.valid and len(verdict.paths) == 2, verdict\nprint(peak() - before)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    state = 4 * width * width * 4 / 2**20
    # The model, the copy that unflatten makes, the gradients, and what comes and goes.
    assert float(done.stdout) < 5 * state


@pytest.mark.parametrize("moved", [(0, 1), (0, 4096), (0, -1), (5, 4096 * 2 + 5)])
def test_values_that_change_places_in_a_very_large_tensor_are_seen(moved: tuple[int, int]) -> None:
    x = torch.arange(values.SUMMED // 8 + 3)
    seen = snapshot(x)
    assert kept(snapshot(x)).content is kept(seen).content
    x[list(moved)] = x[list(reversed(moved))]
    assert kept(snapshot(x)).content is not kept(seen).content
    x[list(moved)] = x[list(reversed(moved))]
    assert kept(snapshot(x)).content is kept(seen).content
