"""Tensors that consist of others: they are copied, read, restored and compared by their parts."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.testing._internal.two_tensor import TwoTensor

from exportdiff.judging.checks.compare.leaves import compare_leaf
from exportdiff.runtime.inputs.copies import Copier
from exportdiff.runtime.observing.aliasing import memory, mutation_probes
from exportdiff.runtime.observing.gradients import gradients
from exportdiff.runtime.observing.parts import CannotObserveError, kind_without_values, parts_of, plain_parts
from exportdiff.runtime.observing.saved_tensors import SavedTensors
from exportdiff.runtime.observing.tensors import snapshot, storage_id
from support.wrappers import COMPOSED, UNREADABLE, Named, jagged, pair_of, two


@pytest.fixture(params=COMPOSED, ids=lambda name: name.replace(" ", "-"))
def tensor(request: pytest.FixtureRequest) -> torch.Tensor:
    return COMPOSED[request.param]()


def _changed(tensor: torch.Tensor) -> torch.Tensor:
    """Change the first part of a tensor in place."""
    next(plain_parts(tensor)).detach().add_(1)
    return tensor


def test_a_copy_is_equal_and_separate(tensor: torch.Tensor) -> None:
    copy = Copier()(tensor)
    assert (type(copy), copy.layout) == (type(tensor), tensor.layout)
    assert compare_leaf(snapshot(tensor), snapshot(copy), metadata=True) is None
    storages = [{part.untyped_storage()._cdata for part in plain_parts(each)} for each in (tensor, copy)]
    assert storages[0].isdisjoint(storages[1])
    assert compare_leaf(snapshot(tensor), snapshot(_changed(copy))) is not None


def test_a_difference_names_the_part(tensor: torch.Tensor) -> None:
    before = snapshot(tensor)
    assert before.composed is not None and before.values is None
    found = compare_leaf(before, snapshot(_changed(tensor)))
    assert found is not None and found.word == "value"
    assert found.part.lstrip(".").split(".")[0] == next(iter(before.composed.parts))
    assert found.details().startswith(f"its part {found.part}: ")


def test_a_part_of_a_part_is_named() -> None:
    tensor: Any = pair_of(two(), two())
    before = snapshot(tensor)
    tensor.b.b.add_(1)
    found = compare_leaf(before, snapshot(tensor))
    assert found is not None and found.part == ".b.b"


def test_values_are_restored(tensor: torch.Tensor) -> None:
    before, saved = snapshot(tensor), SavedTensors([tensor])
    assert saved.is_unchanged()
    _changed(tensor)
    assert not saved.is_unchanged()
    assert saved.restore()
    assert compare_leaf(before, snapshot(tensor)) is None


def test_another_part_cannot_be_restored() -> None:
    tensor: Any = two()
    saved = SavedTensors([tensor])
    tensor.a = torch.ones(2, 3)
    assert not saved.is_unchanged()
    assert not saved.restore()


def test_another_class_or_layout_is_another_kind() -> None:
    plain = torch.ones(2, 3)
    for one, other in (
        (plain, plain.to_sparse()),
        (plain.to_sparse(), plain.to_sparse_csr()),
        (two(), plain),
        (plain.as_subclass(Named), plain),
    ):
        found = compare_leaf(snapshot(one), snapshot(other))
        assert found is not None and found.word == "kind", (one, other)


def test_the_order_of_uncoalesced_elements_has_no_meaning() -> None:
    places, values = torch.tensor([[2, 0, 2]]), torch.tensor([1.0, 2.0, 3.0])
    one = torch.sparse_coo_tensor(places, values, (3,))
    other = torch.sparse_coo_tensor(torch.tensor([[0, 2]]), torch.tensor([2.0, 4.0]), (3,), is_coalesced=True)
    assert compare_leaf(snapshot(one), snapshot(other)) is None
    assert not Copier()(one).is_coalesced()


def test_jagged_copies_of_one_structure_still_fit_together() -> None:
    one = jagged()
    other = one * 2
    copier = Copier()
    copies = copier(one), copier(other)
    assert torch.equal((copies[0] + copies[1]).values(), one.values() * 3)
    assert snapshot(one).shape == snapshot(jagged()).shape == (2, "ragged", 3)


@pytest.mark.parametrize("leaf", [True, False])
def test_copies_keep_requires_grad(leaf: bool) -> None:
    values = torch.ones(6, 3, requires_grad=True)
    jagged_view = torch.nested.nested_tensor_from_jagged(values, torch.tensor([0, 2, 6]))
    given = [two().requires_grad_(), torch.eye(3).to_sparse().requires_grad_()]
    for each in given if leaf else [given[0] * 2, jagged_view]:
        copy = Copier()(each)
        assert (copy.requires_grad, copy.is_leaf) == (True, leaf), each


def test_parameters_stay_parameters() -> None:
    for data in (torch.ones(2), two(), torch.ones(2).as_subclass(Named)):
        parameter = nn.Parameter(data)
        parameter.tag = "kept"  # type: ignore[attr-defined]
        copy = Copier()(parameter)
        assert isinstance(copy, nn.Parameter)
        assert copy.tag == "kept"  # type: ignore[attr-defined]
        assert snapshot(copy).type == "Parameter"


def test_tensors_that_share_their_parts_share_memory() -> None:
    tensor = two()
    named = {"output": tensor.detach(), "input x": tensor, "input y": two()}
    assert memory(named).shared == (frozenset({"output", "input x"}),)
    (probe,) = mutation_probes(named)
    assert set(probe.shows) == {"input x"}


def test_gradients_of_and_for_composed_tensors() -> None:
    weight = nn.Parameter(two())
    flow = gradients({"output": weight * 2, "weight": weight})
    assert flow.failure is None
    found = flow.of["weight"]
    assert found is not None and found.composed is not None and set(found.composed.parts) == {"a", "b"}
    table = nn.Embedding(5, 3, sparse=True)
    sparse = gradients({"output": table(torch.tensor([1, 2, 1])), "weight": table.weight}).of["weight"]
    assert sparse is not None and sparse.composed is not None and sparse.composed.of == "sparse_coo"


@pytest.mark.parametrize("kind", UNREADABLE)
def test_what_cannot_be_read_is_named(kind: str) -> None:
    tensor = UNREADABLE[kind]()
    with pytest.raises(CannotObserveError, match=kind.replace("(", r"\(").replace(")", r"\)")):
        Copier()(tensor)
    seen = snapshot(tensor)
    assert (seen.values, seen.composed) == (None, None)
    assert seen.unreadable == ("" if tensor.is_meta else kind_without_values(tensor))
    storage_id(tensor)
    assert SavedTensors([tensor]).is_unchanged()


def test_a_class_that_raises_is_named() -> None:
    class Broken(TwoTensor):
        def __tensor_flatten__(self) -> tuple[list[str], object]:
            raise KeyError("lost")

    tensor: Any = Broken(torch.ones(2), torch.ones(2))  # type: ignore[no-untyped-call]  # torch leaves it bare
    for observe in (snapshot, storage_id, Copier(), lambda each: SavedTensors([each])):
        with pytest.raises(CannotObserveError, match="a tensor of the class Broken: KeyError: 'lost'"):
            observe(tensor)


def test_a_class_whose_operators_raise_refuses_a_write() -> None:
    class Doubling(TwoTensor):
        @classmethod
        def __torch_dispatch__(  # type: ignore[override]  # torch annotates it as a function
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return args[1] * 2

    output: Any = Doubling(torch.ones(2), torch.ones(2))  # type: ignore[no-untyped-call]  # torch leaves it bare
    (probe,) = mutation_probes({"output": output})
    assert probe.refused


def test_plain_tensors_have_no_parts() -> None:
    assert parts_of(torch.ones(2)) is None
    assert parts_of(nn.Parameter(torch.ones(2))) is None
