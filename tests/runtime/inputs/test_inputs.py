from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from exportdiff.runtime.inputs.copies import CALLS, Examples, move_model
from exportdiff.runtime.inputs.deviations import DEVIATIONS
from exportdiff.runtime.inputs.edits import edit, plan_edits
from exportdiff.runtime.observing.tensors import TensorSnapshot, state_snapshot


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


def _provenance(tensor: torch.Tensor) -> tuple[object, ...]:
    base = tensor._base if tensor._is_view() else None
    above = None if base is None else _provenance(base)
    bits = (tensor.is_conj(), tensor.is_neg(), tensor.requires_grad, tensor.is_leaf)
    return (*bits, tensor.dtype, tensor.shape, tensor.stride(), tensor.storage_offset(), above)


def _of_every_provenance() -> dict[str, torch.Tensor]:
    plain, leaf = torch.linspace(-1, 1, 12), torch.linspace(-1, 1, 12).requires_grad_()
    numbers = torch.complex(torch.arange(6.0), torch.ones(6))
    with torch.no_grad():
        unseen = leaf[2:]
    return {
        "view": plain[1:7:2],
        "view of a view": plain.view(3, 4).t()[1:],
        "leaf that is a view": plain[2:].requires_grad_(),
        "view of a leaf": leaf.view(3, 4)[:, 1],
        "view made under no_grad": unseen,
        "non-leaf": leaf * 2,
        "view of a non-leaf": (leaf * 2)[3:],
        "detached": leaf[2:].detach(),
        "expanded": torch.ones(1, 3).expand(2, 3),
        "windows": plain.unfold(0, 4, 2),
        "non-leaf windows": (leaf * 2).detach().as_strided((3, 4), (2, 1)).requires_grad_() * 1,
        "conjugate": numbers.conj(),
        "detached conjugate": numbers.conj().detach(),
        "view of a conjugate": numbers.conj()[1:4],
        "negative": numbers.conj().imag,
        "real part": numbers.real,
        "as real": torch.view_as_real(numbers)[2:],
        "as complex": torch.view_as_complex(plain.view(6, 2))[1:],
        "other dtype": plain.view(torch.int32)[1:],
        "empty": plain[:0],
    }


@pytest.mark.parametrize("name", _of_every_provenance())
def test_copies_keep_where_a_tensor_comes_from(name: str) -> None:
    given = _of_every_provenance()[name]
    copy = Examples((given,), {}).fresh().args[0]
    assert _provenance(copy) == _provenance(given)
    assert torch.equal(copy, given)
    assert copy.untyped_storage()._cdata != given.untyped_storage()._cdata
    assert _gradient(copy) == _gradient(given)


def _gradient(tensor: torch.Tensor) -> object:
    if not tensor.requires_grad:
        return None
    (flow,) = torch.autograd.grad((tensor * 2).sum(), tensor, allow_unused=True)
    return None if flow is None else flow.tolist()


def test_a_copied_view_and_its_copied_base_are_one_family() -> None:
    base = torch.zeros(4)
    inputs = Examples((base[1:], base), {}).fresh()
    assert inputs.args[0]._base is inputs.args[1]
    inputs.args[0].mul_(torch.ones((), requires_grad=True))
    assert inputs.args[1].requires_grad and not base.requires_grad


def test_only_a_copied_non_leaf_may_be_written() -> None:
    leaf = torch.ones(2, requires_grad=True)
    whole, part, own = Examples((leaf * 2, (leaf * 2)[:1], leaf), {}).fresh().args
    assert whole.add_(1).tolist() == [3, 3] and part.add_(1).tolist() == [3]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        own.add_(1)


def test_later_calls_change_a_conjugate_as_what_it_conjugates() -> None:
    numbers = torch.tensor([1 + 2j])
    later = Examples((numbers, numbers.conj()), {}).fresh(1).args
    assert torch.equal(later[0].conj(), later[1]) and later[0].item() != numbers.item()


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


def test_a_list_or_dict_that_is_filled_anew_is_noticed() -> None:
    inputs = Examples(([torch.ones(2)], {"a": 1}, torch.Size([2])), {}).fresh()
    assert inputs.refilled() is None
    inputs.args[0].append(torch.zeros(1))
    refilled = inputs.refilled()
    assert refilled is not None and refilled.structure != inputs.snapshot().structure
    assert inputs.args[0].pop() is not None and inputs.refilled() is None
    inputs.args[1]["a"] = 2
    refilled = inputs.refilled()
    assert refilled is not None and refilled.structure == inputs.snapshot().structure
    assert [leaf.where for leaf in refilled.leaves] == [leaf.where for leaf in inputs.snapshot().leaves]


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
    assert {one.target for one in altered} == {"training", "step", "cell.training"}


def _deviation(name: str, *args: object) -> tuple[list[str], tuple[Any, ...]]:
    """The descriptions of the deviations of a kind, and the arguments that the first of them gives."""
    examples = Examples(args, {})
    found = examples.deviations(frozenset((name,)), "")
    return [one.description for one in found], examples.with_deviation(found[0]).args if found else ()


def test_deviations_change_where_a_tensor_comes_from() -> None:
    base, leaf = torch.arange(6.0), torch.ones(3, requires_grad=True)
    words, (view,) = _deviation("view", base)
    assert view._is_view() and view.storage_offset() == 6 and torch.equal(view, base)
    assert words == ["args[0] is a view"]
    words, (whole,) = _deviation("base", base[1:4])
    assert not whole._is_view() and whole.tolist() == [1, 2, 3]
    assert not _deviation("base", base)[0] and not _deviation("view", base[1:])[0]
    _, (computed,) = _deviation("history", leaf)
    assert computed.requires_grad and not computed.is_leaf
    _, (made,) = _deviation("history", leaf * 2)
    assert made.is_leaf and made.requires_grad and made.tolist() == [2, 2, 2]
    _, (conjugate,) = _deviation("conjugate", torch.tensor([1 + 2j]))
    assert conjugate.is_conj() and conjugate.tolist() == [1 + 2j]
    _, (resolved,) = _deviation("conjugate", torch.tensor([1 + 2j]).conj())
    assert not resolved.is_conj() and resolved.tolist() == [1 - 2j]


def test_an_overlapping_argument_is_another_tensor_in_the_same_memory() -> None:
    words, (one, other) = _deviation("overlap", torch.ones(2), torch.zeros(2))
    assert one is not other and one.add_(1) is one and other.tolist() == [1, 1]
    assert words[0] == "args[0] is in the memory of another argument"


def test_a_length_beyond_the_range_of_a_dimension() -> None:
    words, (longer,) = _deviation("length", torch.ones(2, 3))
    assert longer.shape == (16, 3) and longer.is_contiguous()
    assert words == ["args[0] is float32[16, 3] with stride [3, 1], not float32[2, 3] with stride [3, 1]"]
    assert not _deviation("length", torch.ones(0, 3))[0] and not _deviation("length", torch.tensor(1.0))[0]


def test_numbers_of_another_type_are_equal() -> None:
    assert _deviation("bool", 1, 0.0, 2, True)[0] == ["args[0] is True, not 1", "args[1] is False, not 0.0"]
    assert _deviation("int", True, 2.0, 0.5)[0] == ["args[0] is 1, not True", "args[1] is 2, not 2.0"]
    assert _deviation("bool", 1)[1] == (True,)


def test_a_dict_in_another_order_keeps_its_values() -> None:
    x = torch.zeros(2)
    words, (first, pair, single) = _deviation(
        "order", {"a": x, 1: x[:1]}, [{"c": 1, "d": {"e": 2, "f": 3}}], {"g": 1}
    )
    assert words == [
        "the keys of args[0] come in another order",
        "the keys of args[1][0] come in another order",
    ]
    assert [*first] == [1, "a"] and first["a"].add_(1).sum() == 2 and first[1].tolist() == [1]
    assert pair == [{"c": 1, "d": {"e": 2, "f": 3}}] and single == {"g": 1} and not x.any()


def test_keyword_arguments_come_in_another_order() -> None:
    examples = Examples((1,), {"a": 1, "b": 2})
    (one,) = examples.deviations(frozenset(("order",)), "")
    assert one.description == "the keys of kwargs come in another order"
    assert [*examples.with_deviation(one).kwargs.items()] == [("b", 2), ("a", 1)]


def test_a_size_stays_one_wherever_it_is() -> None:
    size = torch.Size([2, 3])
    fresh = Examples((size, [size], 1), {"more": {"a": size}}).fresh()
    assert [type(each) for each in (fresh.args[0], fresh.args[1][0], fresh.kwargs["more"]["a"])] == [
        torch.Size
    ] * 3
    assert fresh.args == (size, [size], 1)


def test_what_comes_for_none_has_values_that_no_other_argument_has() -> None:
    words, (x, mask) = _deviation("none", torch.ones(2), None)
    assert words == ["args[1] is float32[2] with stride [1], not None"]
    assert x.tolist() == [1, 1] and mask.tolist() == [-2, -2]
    assert _deviation("none", torch.tensor([True, False]), None)[1][1].tolist() == [False, True]


def test_floating_point_numbers_of_eight_bits_have_no_arithmetic() -> None:
    small = torch.ones(2).to(torch.float8_e4m3fn)
    everything = Examples((small, None), {}).deviations(frozenset(DEVIATIONS), "")
    assert {"dtype", "size"} <= {one.deviation for one in everything}
    assert not {"none", "rank"} & {one.deviation for one in everything}
    model = nn.Linear(1, 1)
    model.register_buffer("small", small)
    plan = plan_edits(state_snapshot(model))
    edit(model, plan)
    assert {name for names in plan for name in names} == {"weight", "bias"}


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr, torch.sparse_csc])
def test_deviations_pass_over_sparse_arguments(layout: torch.layout) -> None:
    dense, sparse = torch.eye(2), torch.eye(2).to_sparse(layout=layout)
    found = Examples((dense, sparse, None), {}).deviations(frozenset(DEVIATIONS), "")
    assert {one.where for one in found if one.where} == {"args[0]", "args[2]"}
