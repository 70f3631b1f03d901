"""Call variants: replacing a submodule or tensor changes all variants and all tied names."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch import nn
from torch.export import export, unflatten

from exportdiff.interfaces.call_variants import call_variants, swap_attribute, swap_module


class Child(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.register_buffer("scale", torch.full((3,), 0.5))

    def forward(self, x: torch.Tensor, twice: bool) -> torch.Tensor:
        y: torch.Tensor = self.linear(x) * self.scale
        return y if twice else x - y


class Outer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.child = Child()

    def forward(self, x: torch.Tensor, twice: bool) -> torch.Tensor:
        y: torch.Tensor = self.child(x, twice) * 2 + self.child(x, not twice)
        return y


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.outer = Outer()
        self.tied = nn.Linear(3, 3)
        self.tied.weight = self.outer.child.linear.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.tied(self.outer(x, True))
        return y


X = torch.linspace(-1.0, 1.0, 6).view(2, 3)
CHILD, WEIGHT = "outer.child", "outer.child.linear.weight"


def model() -> Model:
    torch.manual_seed(0)
    return Model()


def unflattened(*preserved: str) -> nn.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return unflatten(export(model(), (X,), preserve_module_call_signature=preserved))


def test_call_variants_returns_all_variants_in_the_order_of_calls() -> None:
    found = call_variants(unflattened(), CHILD)
    assert list(found) == [CHILD, f"{CHILD}@1"] and found[CHILD] is not found[f"{CHILD}@1"]
    assert list(call_variants(unflattened(), "tied")) == ["tied"]


class Rows(nn.Module):
    """Multiplies by the number of rows; calls with different numbers of rows get different variants."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weight * x.shape[0]


class TwoSizes(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rows = Rows()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.rows(x).sum(0) + self.rows(x[:1])
        return y


def test_swap_module_replaces_a_submodule_in_all_its_calls() -> None:
    eager = TwoSizes()
    ours, naive = (unflatten(export(eager, (X,))) for _ in range(2))
    assert list(call_variants(ours, "rows")) == ["rows", "rows@1"]
    eager.rows = new = Rows()
    swap_module(ours, "rows", new)
    naive.rows = new
    assert torch.equal(ours(X), eager(X))
    assert not torch.equal(naive(X), eager(X))


def test_swap_module_works_with_flags_if_the_call_signature_is_preserved() -> None:
    eager, ours = model(), unflattened(CHILD)
    before = eager(X)
    new = Child()
    eager.outer.child = new
    swap_module(ours, CHILD, new)
    assert torch.equal(ours(X), eager(X)) and not torch.equal(eager(X), before)


def test_swap_attribute_replaces_a_parameter_in_all_variants_and_tied_modules() -> None:
    eager, ours, naive = model(), unflattened(), unflattened()
    eager.tied.weight = eager.outer.child.linear.weight = nn.Parameter(eager.tied.weight.detach() * 0.25)
    new = swap_attribute(ours, WEIGHT, lambda weight: weight * 0.25)
    naive.get_submodule("outer.child.linear").weight = nn.Parameter(new.detach().clone())
    assert isinstance(new, nn.Parameter) and new.requires_grad
    assert torch.equal(ours(X), eager(X))
    assert not torch.equal(naive(X), eager(X))
    named = dict(ours.named_parameters(remove_duplicate=False))
    weights = {name for name, tensor in named.items() if tensor is new}
    assert weights == {WEIGHT, WEIGHT.replace("child", "child@1"), "tied.weight"}


def test_swap_attribute_can_convert_a_whole_model_to_bfloat16() -> None:
    eager, ours, naive = model().bfloat16(), unflattened(), unflattened()
    for name, _ in [*model().named_parameters(), *model().named_buffers()]:
        swap_attribute(ours, name, lambda tensor: tensor.bfloat16())
        owner, _, last = name.rpartition(".")
        setattr(naive.get_submodule(owner), last, getattr(ours.get_submodule(owner), last))
    x = X.bfloat16()
    assert torch.equal(ours(x), eager(x))
    with pytest.raises(RuntimeError, match="dtype"):
        naive(x)


def test_swap_attribute_calls_the_function_once_and_keeps_requires_grad() -> None:
    ours = unflattened()
    calls: list[torch.Tensor] = []

    def copied(weight: torch.Tensor) -> torch.Tensor:
        calls.append(weight)
        return weight.clone()

    for variant in call_variants(ours, "outer.child.linear").values():
        variant.weight.requires_grad_(False)
    new = swap_attribute(ours, WEIGHT, copied)
    assert len(calls) == 1 and not new.requires_grad


@pytest.mark.parametrize("fqn", ["", "outer@1.child", "outer.child@1"])
def test_the_name_of_a_variant_is_refused(fqn: str) -> None:
    with pytest.raises(ValueError, match="not the name of a submodule"):
        call_variants(unflattened(), fqn)


def test_an_error_names_the_missing_submodule_or_tensor() -> None:
    ours = unflattened()
    with pytest.raises(KeyError, match="no submodule 'inner'"):
        swap_module(ours, "inner", nn.Identity())
    with pytest.raises(KeyError, match=r"no parameter or buffer 'tied\.mass'"):
        swap_attribute(ours, "tied.mass", torch.clone)
    with pytest.raises(TypeError, match="returned a float"):
        swap_attribute(ours, WEIGHT, lambda weight: 1.0)  # type: ignore[arg-type,return-value] # the function must refuse this at run time
