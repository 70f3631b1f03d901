from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

from exportdiff.core.case import Case
from exportdiff.judging.verdict import judge
from exportdiff.runtime.observing.process_state import restore_modes
from exportdiff.runtime.observing.saved_tensors import SavedTensors
from exportdiff.runtime.observing.tensors import snapshot, storage_id
from exportdiff.runtime.paths import select_paths
from exportdiff.runtime.paths.run import exported as execute
from exportdiff.runtime.paths.run import freeing
from exportdiff.runtime.paths.stopwatch import Stopwatch
from support.wrappers import pair_of

PATHS = select_paths(["nonstrict:*"])

COUNTS = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(3))
        self.register_buffer("hidden", torch.zeros(3), persistent=False)

    def forward(self, x):
        self.count.add_(1)
        self.hidden.add_(self.count)
        return x + self.hidden
"""


def test_reading_a_tensor_leaves_its_memory_resizable() -> None:
    scale = torch.ones(1)
    saved = SavedTensors([scale])
    snapshot(scale)
    scale.resize_(3).fill_(2)
    saved.restore()
    assert torch.equal(scale, torch.ones(1))
    assert scale.untyped_storage().nbytes() == torch.ones(1).untyped_storage().nbytes()


def test_paths_do_not_see_each_other(case: Callable[[str], Case]) -> None:
    assert judge(case(COUNTS), PATHS).findings == ()


HIDES = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.held = {"norm": nn.BatchNorm1d(2, affine=False)}

    def forward(self, x, y):
        y = self.held["norm"](y)
        return y - self.held["norm"].running_mean, x + y
"""


def test_state_that_no_module_registers_is_restored_after_a_call_that_raises(
    case: Callable[[str, str], Case],
) -> None:
    # An input of another size raises where it is added: eager has changed the running mean by then.
    example = "(torch.linspace(0.5, 1.5, 6).view(3, 2), torch.linspace(0.5, 1.5, 6).view(3, 2))"
    assert judge(case(HIDES, example), PATHS).findings == ()


@pytest.mark.parametrize(
    "change",
    [
        lambda t, large: t.add_(1),
        lambda t, large: t.t_(),
        lambda t, large: t.set_(torch.zeros(2, 3)),
        lambda t, large: large[0].zero_(),
    ],
    ids=["value", "layout", "memory", "large"],
)
def test_what_changed_is_no_longer_as_it_was_saved(
    change: Callable[[torch.Tensor, torch.Tensor], object],
) -> None:
    kept, large = torch.ones(2, 3), torch.ones(300, 300)
    saved = SavedTensors([kept, large])
    assert saved.is_unchanged()
    change(kept, large)
    assert not saved.is_unchanged()
    assert saved.restore() and saved.is_unchanged()


class Careless(SavedTensors):
    def restore(self) -> bool:
        return True


def test_without_isolation_this_model_looks_like_a_bug(
    case: Callable[[str], Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execute, "SavedTensors", Careless)
    findings = judge(case(COUNTS), PATHS).findings
    assert [finding.signature[:3] for finding in findings] == [("state", "mismatch", "value")]


HISTORY = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.register_buffer("part", torch.zeros(4)[1:])

    def forward(self, x):
        self.part.add_(self.weight)
        return x + self.part
"""


def test_a_buffer_that_cannot_be_restored_means_another_export(
    case: Callable[[str], Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    restored: list[bool] = []

    class Noted(SavedTensors):
        def restore(self) -> bool:
            restored.append(super().restore())
            return restored[-1]

    monkeypatch.setattr(execute, "SavedTensors", Noted)
    assert judge(case(HISTORY), PATHS).findings == ()
    assert restored == [True, False]


def test_restores_values_metadata_and_history() -> None:
    base = torch.arange(6.0)
    whole, part, weight = base, base.detach()[4:], torch.nn.Parameter(torch.ones(2))
    tensors = [whole, part, weight]
    isolation = SavedTensors(tensors)
    before = [tensor.detach().clone() for tensor in tensors]
    whole.resize_(2, 3).t_()
    whole.mul_(weight[0])
    part.add_(1)
    with torch.no_grad():
        weight.zero_()
    history = [tensor.requires_grad for tensor in tensors]
    for _ in range(2):
        assert isolation.restore()
        assert all(torch.equal(a, b) for a, b in zip(tensors, before, strict=True))
    assert whole.untyped_storage()._cdata == part.untyped_storage()._cdata
    assert history == [True, False, True]
    assert [tensor.requires_grad for tensor in tensors] == [False, False, True]
    assert all(tensor.is_leaf for tensor in tensors)


def test_modes_that_a_stage_leaves_switched_are_put_back() -> None:
    weight = torch.nn.Parameter(torch.ones(2, 2))
    before = torch.get_default_dtype()
    with pytest.raises(ZeroDivisionError), restore_modes():
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float64)
        torch.set_autocast_enabled("cpu", True)
        torch.set_autocast_dtype("cpu", torch.float16)
        torch.mm(weight, weight)
        raise ZeroDivisionError
    assert torch.is_grad_enabled() and torch.get_default_dtype() is before
    assert not torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu") is torch.bfloat16


SWITCHES = """
class Model(nn.Module):
    def forward(self, x):
        torch.set_grad_enabled(False)
        return x + 1
"""


def test_a_model_that_switches_gradients_off_does_so_for_itself_only(case: Callable[[str], Case]) -> None:
    judge(case(SWITCHES), PATHS)
    assert torch.is_grad_enabled()


COND = """
class Model(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x * 2, (x,))
"""


def test_what_eager_compiles_is_forgotten_before_export(
    case: Callable[[str], Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    from torch._dynamo.convert_frame import input_codes

    seen: list[int] = []
    export = torch.export.export

    def exported(*args: object, **kwargs: object) -> object:
        seen.append(len(input_codes.seen))
        return export(*args, **kwargs)  # type: ignore[arg-type]  # passed through as they come

    monkeypatch.setattr(torch.export, "export", exported)
    model = case(COND)
    model.build().model(torch.ones(2, 3))
    assert input_codes.seen, "eager cond no longer compiles: then none of this is needed"
    assert judge(model, PATHS).findings == ()
    assert seen == [0]


def test_a_tensor_of_another_dtype_is_not_put_back() -> None:
    tensor = torch.zeros(1)
    isolation = SavedTensors([tensor])
    tensor.data = torch.zeros(1, dtype=torch.float64)
    assert not isolation.restore()


def test_fake_tensors_hold_nothing_to_restore() -> None:
    sizes: Any = StatelessSymbolicContext([DimDynamic.DYNAMIC] * 2)
    dynamic = FakeTensorMode(shape_env=ShapeEnv()).from_tensor(torch.ones(3, 2), symbolic_context=sizes)
    assert SavedTensors([dynamic, torch.ones(2)]).restore()


LARGE = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(211, 199)

    def forward(self, x):
        return self.linear(x)
"""


def test_the_copies_of_a_large_model_are_freed_before_the_next_path(
    case: Callable[[str, str], Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freeing, "MUCH", 1)
    paths = select_paths(["nonstrict:*", "nonstrict+decompose:unflatten", "nonstrict+reload:*"])
    for _ in execute.observe_exported(
        case(LARGE, "(torch.ones(2, 211),)"), paths, Stopwatch(), {"nonstrict"}
    ):
        tensors = [each for each in gc.get_objects() if type(each) in (torch.Tensor, nn.Parameter)]
        storages = {each.untyped_storage()._cdata for each in tensors if each.shape == (199, 211)}
        assert len(storages) == 1, "the exported program has one; unflattened and loaded ones have copies"


def test_a_functorch_wrapper_in_a_program_is_observed_without_values() -> None:
    """Export leaves such tensors in a program whose model calls torch.func.grad."""
    kept: list[torch.Tensor] = []

    def square(x: torch.Tensor) -> torch.Tensor:
        kept.append(x)
        return x * x

    torch.func.grad(square)(torch.tensor(3.0))
    isolation = SavedTensors(kept)
    assert isolation.restore()
    copied = snapshot(kept[0])
    assert (copied.shape, copied.values) == ((), None)
    assert storage_id(kept[0]) != storage_id(torch.tensor(3.0))


def test_a_model_with_func_grad_is_judged(case: Callable[[str], Case]) -> None:
    text = (
        "class Model(nn.Module):\n    def forward(self, x):\n        return torch.func.grad(torch.sum)(x)\n"
    )
    built = case(text)
    verdict = judge(built, select_paths(["nonstrict:module"]), ["outputs"])
    assert [each.signature for each in verdict.findings] == [("outputs", "mismatch", "kind", "fresh")]


HELD = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("buffer", torch.ones(3))
        self.held = [torch.ones(3)]

    def forward(self, x, y=None, flag=True):
        CHANGE
        return x * self.buffer + self.held[0] if flag else x
"""


ASSIGNED = "self.buffer = self.held[0]\n        self.held[0].mul_(2)"


@pytest.mark.parametrize("change", ["self.held[0].add_(1)", ASSIGNED])
def test_what_a_list_holds_starts_from_one_state_too(change: str, case: Callable[..., Case]) -> None:
    # Eager makes more calls that leave the spec than a path; the state is edited after them.
    model = case(HELD.replace("CHANGE", change), "(torch.ones(2, 3), torch.ones(3))")
    paths = select_paths(["nonstrict:module", "compile:compiled"])
    assert judge(model, paths, ["sharing", "guards"]).findings == ()


def test_what_a_failed_export_leaves_behind_is_observed(case: Callable[[str], Case]) -> None:
    """A literal within torch.func.grad fails while its level is there; tensors made then are wrappers."""
    built = case(
        "class Model(nn.Module):\n    def forward(self, x):\n"
        "        return torch.func.grad(lambda x: (x * 2 + torch.tensor(1.0)).sum())(x)\n"
    )
    verdict = judge(built, select_paths(["strict:module"]), ["purity"])
    assert [each.signature for each in verdict.findings] == [
        ("purity", "mismatch", "export", "global", "functorch level")
    ]
    assert torch._C._functorch.peek_interpreter_stack() is None
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):  # as a checkpoint sets them
        pass


def test_what_a_failed_call_leaves_behind_is_observed(case: Callable[[str], Case]) -> None:
    """A call of another rank fails within torch.func.jvp, on a level where no tensor can be read."""
    model = """
class Model(nn.Module):
    def forward(self, x):
        return torch.func.jvp(lambda x: x.mm(x.mT), (x,), (x,))
"""
    every_way = replace(case(model), thorough=True)
    verdict = judge(every_way, select_paths(["nonstrict:module"]), ["purity"])
    assert {each.signature[-1] for each in verdict.findings} == {"functorch level"}
    x = torch.ones(2)
    assert torch.equal(torch.func.jvp(torch.sum, (x,), (x,))[1], torch.tensor(2.0))


def test_a_part_without_memory_is_not_saved() -> None:
    """Export may keep a tensor subclass with fake parts as a constant of the program."""
    with FakeTensorMode():
        fake = torch.ones(2)
    saved = SavedTensors([pair_of(fake, fake)])
    assert saved.is_unchanged() and saved.restore()


def test_a_failed_export_in_inference_mode_leaves_torch_usable(case: Callable[[str], Case]) -> None:
    """It leaves the Python dispatcher on: without an export that set it up, every operator raises."""
    built = case(
        "class Model(nn.Module):\n    def double(self, x):\n        return x * 2\n\n"
        "    def forward(self, x):\n        with torch.inference_mode():\n"
        "            return torch.utils.checkpoint.checkpoint(self.double, x, use_reentrant=False)\n"
    )
    verdict = judge(built, select_paths(["strict:module"]), ["purity"])
    assert [each.signature[-1] for each in verdict.findings] == ["Python dispatcher"]
    assert torch.equal(torch.ones(2) * 2, torch.full((2,), 2.0))


def test_an_inference_tensor_that_has_another_memory_is_not_restored() -> None:
    with torch.inference_mode():
        tensor = torch.ones(2)
    saved = SavedTensors([tensor])
    assert saved.restore()
    with torch.inference_mode():
        tensor.resize_(3)
    assert not saved.restore()
