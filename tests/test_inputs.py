from __future__ import annotations

import numpy as np
import torch
from torch import nn

from harness.inputs.copies import CALLS, Examples, move_model
from harness.observe.tensors import TensorSnapshot


def test_copies_keep_metadata_and_values() -> None:
    base = torch.arange(12.0).reshape(3, 4)
    given = [base[1:, ::2], base.t(), torch.ones(1, 3).expand(2, 3), torch.ones(0, 3)]
    for original, copy in zip(given, Examples(tuple(given), {}).fresh().args, strict=True):
        assert copy.shape == original.shape
        assert copy.stride() == original.stride()
        assert copy.storage_offset() == original.storage_offset()
        assert torch.equal(copy, original)
        assert copy.untyped_storage().data_ptr() != original.untyped_storage().data_ptr() or copy.numel() == 0


def test_copies_keep_requires_grad() -> None:
    inputs = Examples((torch.ones(2, requires_grad=True), torch.ones(2)), {}).fresh()
    assert [leaf.requires_grad for leaf in inputs.args] == [True, False]
    assert inputs.args[0].is_leaf


def test_copies_keep_identity_and_memory() -> None:
    x = torch.zeros(2, 3)
    args, kwargs = (x, [x, x[0]]), {"k": x}
    inputs = Examples(args, kwargs).fresh()
    assert inputs.args[0] is inputs.args[1][0] is inputs.kwargs["k"]
    inputs.args[0].add_(1)
    assert inputs.args[1][1].tolist() == [1, 1, 1]
    assert x.sum() == 0


def test_python_values_pass_through() -> None:
    inputs = Examples((1, "s", None, True, {"a": 0.5}), {}).fresh(1)
    assert inputs.args == (1, "s", None, True, {"a": 0.5})


def test_later_calls_have_other_values_of_the_same_metadata() -> None:
    given = (torch.tensor([1.0, -2.0]), torch.tensor([True, False]), torch.tensor([3, 4]))
    examples = Examples(given, {})
    calls = [examples.fresh(call).args for call in range(CALLS)]
    assert [call[0].tolist() for call in calls] == [[1, -2], [-0.25, 1.25], [0.625, -1.625]]
    assert calls[0][1].tolist() != calls[1][1].tolist()
    assert all(call[2].tolist() == [3, 4] for call in calls)
    assert len({tuple(call[0].stride()) for call in calls}) == 1


def test_a_snapshot_of_inputs_names_places_and_does_not_follow() -> None:
    inputs = Examples((torch.zeros(2), 3), {"k": torch.ones(1)}).fresh()
    seen = inputs.snapshot()
    inputs.args[0].add_(1)
    assert [leaf.where for leaf in seen.leaves] == ["[0][0]", "[0][1]", "[1]['k']"]
    first = seen.leaves[0].value
    assert isinstance(first, TensorSnapshot) and isinstance(first.values, np.ndarray)
    assert not first.values.any()


def test_inputs_that_are_state_are_noticed() -> None:
    model = nn.Linear(2, 2)
    assert Examples((model.weight[0],), {}).shares_memory(model)
    assert not Examples((torch.ones(2),), {}).shares_memory(model)


def test_moving_a_model_keeps_shared_buffers() -> None:
    model = nn.Module()
    base = torch.zeros(4)
    model.register_buffer("a", base)
    model.register_buffer("b", base)
    model.register_buffer("part", base[1:3])
    model.constant = base
    moved = move_model(model, "meta")
    assert moved.a is moved.b is moved.constant
    part = moved.get_buffer("part")
    assert part.device.type == "meta" and part.storage_offset() == 1


def test_attributes_of_layers_are_left_alone() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.step = 1
            self.cell = nn.GRUCell(3, 3)

    altered = Examples((torch.ones(2, 3),), {}).deviations(frozenset(("attribute",)), "", Model())
    assert {one.place for one in altered} == {"training", "step", "cell.training"}


def test_a_size_stays_one_wherever_it_is() -> None:
    size = torch.Size([2, 3])
    fresh = Examples((size, [size], 1), {"more": {"a": size}}).fresh()
    assert [type(each) for each in (fresh.args[0], fresh.args[1][0], fresh.kwargs["more"]["a"])] == [
        torch.Size
    ] * 3
    assert fresh.args == (size, [size], 1)
