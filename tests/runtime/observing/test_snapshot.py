from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils import _pytree as pytree

from exportdiff.judging.checks.compare.leaves import ValuesDiffer, compare_leaf
from exportdiff.runtime.inputs.copies import Examples
from exportdiff.runtime.observing.environment import read_environment
from exportdiff.runtime.observing.failure import Failure, failure
from exportdiff.runtime.observing.roles import Roles
from exportdiff.runtime.observing.tensors import (
    TensorSnapshot,
    snapshot,
    state_snapshot,
    tree_snapshot,
)

Pair = namedtuple("Pair", "a b")


@pytest.mark.parametrize(
    "dtype",
    [torch.bool, torch.uint8, torch.int64, torch.float16, torch.bfloat16, torch.float64, torch.complex64],
)
def test_values_of_every_dtype(dtype: torch.dtype) -> None:
    seen = snapshot(torch.tensor([0, 1, 1]).to(dtype))
    assert seen.dtype == str(dtype).removeprefix("torch.")
    assert seen.values is not None and np.array_equal(seen.values, [0, 1, 1])


def test_lazy_conjugates_and_negatives_are_resolved() -> None:
    value = torch.tensor([1 + 2j])
    assert snapshot(value.conj()).values == np.array([1 - 2j])
    assert snapshot(value.conj().imag).values == np.array([-2])


def test_a_snapshot_does_not_follow_the_tensor() -> None:
    x = torch.zeros(2, 3)
    seen = snapshot(x)
    x.t_().add_(1)
    assert seen.shape == (2, 3) and seen.values is not None and not np.asarray(seen.values).any()


def test_a_tensor_without_data_is_told() -> None:
    assert snapshot(torch.ones(2, device="meta")).values is None


def test_containers_are_told_apart() -> None:
    x = torch.ones(1)
    trees = [(x, x), [x, x], Pair(x, x), {"a": x, "b": x}, {"b": x, "a": x}, (x, (x,)), (x, None), x]
    structures = [tree_snapshot(tree).structure for tree in trees]
    # None is a leaf: the value tells it from a tensor.
    assert len(set(structures)) == len(trees) - 1
    assert tree_snapshot((x, None)).leaves[1].value == "NoneType: None"


class Box:
    def __init__(self, inside: object) -> None:
        self.inside = inside


def test_a_container_without_names_has_numbered_leaves() -> None:
    pytree.register_pytree_node(Box, lambda box: ([box.inside], None), lambda items, _: Box(*items))
    seen = tree_snapshot([Box((1, 2)), 3])
    assert [leaf.where for leaf in seen.leaves] == ["[leaf 0]", "[leaf 1]", "[leaf 2]"]
    assert [leaf.value for leaf in seen.leaves] == ["int: 1", "int: 2", "int: 3"]
    assert Examples((Box(torch.ones(2)),), {}).fresh().args[0].inside.tolist() == [1, 1]


def test_python_values_are_told_apart() -> None:
    values = [1, 1.0, True, "1", None, float("nan")]
    assert len({tree_snapshot([value]).leaves[0].value for value in values}) == len(values)
    assert tree_snapshot([float("nan")]) == tree_snapshot([float("nan")])


class Child(nn.Module):
    def __init__(self, shared: torch.Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.register_buffer("whole", shared)
        self.register_buffer("part", shared[1:])
        self.constant = torch.zeros(1)


class Parent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one = Child(torch.zeros(3))
        self.two = self.one


def test_state_names_and_partitions() -> None:
    state = state_snapshot(Parent())
    assert set(state.tensors) == {f"{p}.{n}" for p in ("one", "two") for n in ("weight", "whole", "part")}
    assert set(state.constants) == {"one.constant", "two.constant"}
    assert frozenset({"one.weight", "two.weight"}) in state.same
    assert frozenset({"one.whole", "two.whole", "one.part", "two.part"}) in state.shared


def test_call_variants_fold_into_the_base_name() -> None:
    model = nn.Module()
    for name in ("foo", "foo@1", "bar@1"):
        model.add_module(name, nn.Linear(1, 1, bias=False))
    model.get_submodule("foo@1").weight = model.get_submodule("foo").weight
    state = state_snapshot(model)
    assert set(state.tensors) == {"foo.weight", "bar.weight"} and state.torn == ()
    model.get_submodule("foo@1").weight = nn.Parameter(torch.ones(1, 1))
    assert state_snapshot(model).torn == ("foo@1.weight",)


def test_roles_of_outputs() -> None:
    model, x = Child(torch.zeros(3)), torch.ones(4)
    role = Roles(model, [x, 3])
    fresh = torch.ones(2)
    assert role(x) == "output-is-input"
    assert role(x[1:]) == "output-views-input"
    assert role(model.get_buffer("whole")) == "output-is-buffer"
    assert role(model.weight) == "output-is-param"
    assert role(model.constant) == "output-is-constant"
    assert [role(fresh), role(fresh), role(fresh[0])] == ["fresh", "output-repeats", "output-shares"]


def test_an_output_in_memory_that_was_let_go_of_is_fresh() -> None:
    model, x = Child(torch.zeros(3)), torch.ones(4)
    role = Roles(model, [x])
    x.set_(torch.zeros(4).untyped_storage(), 0, (4,), (1,))
    assert {role(torch.ones(4)) for _ in range(500)} == {"fresh"}


def test_a_failure_keeps_class_message_and_frames_of_torch() -> None:
    with pytest.raises(RuntimeError) as caught:
        nn.Linear(2, 2)(torch.ones(3))
    seen = failure(caught.value, "run")
    assert seen.name == "RuntimeError" and "Exception" in seen.types
    assert "mat" in seen.message or "size" in seen.message
    assert seen.frames[-1] == "linear.py:forward"
    assert isinstance(seen, Failure)


def test_the_world_sees_hooks_flags_attributes_and_random_numbers() -> None:
    model, inputs = Parent(), Examples((torch.ones(1),), {}).fresh()
    before = read_environment(model, inputs)
    assert read_environment(model, inputs).process_state == before.process_state
    model.one.register_forward_hook(lambda *_: None)
    model.eval()
    model.extra = 3  # type: ignore[assignment]  # a plain attribute, on purpose
    torch.rand(1)
    after = read_environment(model, inputs)
    assert before.hooks != after.hooks and before.training != after.training
    assert before.attributes != after.attributes and before.process_state != after.process_state
    assert isinstance(after.inputs.leaves[0].value, TensorSnapshot)


def test_a_failure_says_nothing_of_the_process() -> None:
    graph = torch.fx.symbolic_trace(torch.nn.ReLU())
    texts = set()
    for _ in range(2):
        graph.recompile()  # counts one more piece of code
        name, _, _ = graph.forward.__code__.co_filename.partition(" ")
        texts.add(failure(ValueError(f"{name} of {object()!r}"), "run").message)
    assert texts == {"<eval_with_key> of <object object>"}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_tensor_of_more_dimensions_than_numpy_has_is_compared(dtype: torch.dtype) -> None:
    # As after a hundred calls of a model that does `self.mean = self.mean.unsqueeze(0)`.
    shape = (1,) * 70 + (2,)
    one, other = (
        torch.tensor([1.0, 2.0]).to(dtype).view(shape),
        torch.tensor([1.0, 3.0]).to(dtype).view(shape),
    )
    assert compare_leaf(snapshot(one), snapshot(one.clone())) is None
    found = compare_leaf(snapshot(one), snapshot(other))
    assert isinstance(found, ValuesDiffer) and found.differing == 1
