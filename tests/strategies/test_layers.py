"""The rules of the layer table agree with eager: what a rule accepts runs, with the predicted result."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import torch
from test_ops import LAYOUTS, PATTERNS, SHAPES, Given, largest, make, mismatch, storage, type_of
from torch import nn

from exportdiff_strategies import program as ir
from exportdiff_strategies.layers import LAYERS, LayerParams, LayerSpec
from exportdiff_strategies.ops import Rejected
from exportdiff_strategies.regions import PREAMBLES
from exportdiff_strategies.types import DTYPES
from support.hypothesis_profiles import examples

CALLS = 3


def build(spec: LayerSpec, params: LayerParams, training: bool, seed: int = 0) -> nn.Module:
    """The module that a template describes."""
    torch.manual_seed(seed)
    module = eval(spec.template.format(p=params), {"nn": nn, "torch": torch})
    assert isinstance(module, nn.Module)
    return module.train(training)


def call(spec: LayerSpec, module: nn.Module, x: torch.Tensor) -> Any:
    """The result of a layer, called in its form."""
    names: dict[str, Any] = {"torch": torch, "nn": nn}
    exec("\n".join(PREAMBLES.get(spec.form, ())), names)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return eval(ir.FORMS[spec.form].format("layer", args="x"), {**names, "layer": module, "x": x})


def inputs(shapes: Sequence[tuple[int, ...]] = SHAPES) -> Iterator[tuple[tuple[int, ...], str, str]]:
    """Sizes, dtype and layout of inputs: every layout with float32, some with a third of the other dtypes."""
    for number, shape in enumerate(shapes):
        for place, dtype in enumerate(DTYPES):
            if dtype == "float32" or (number + place) % 3 == 0:
                for layout in LAYOUTS if dtype == "float32" else LAYOUTS[number % 4 :][:1]:
                    yield shape, dtype, layout


def tensors(module: nn.Module) -> dict[str, tuple[str, torch.Tensor]]:
    parameters = {name: ("parameter", value.detach()) for name, value in module.named_parameters()}
    return parameters | {name: ("buffer", value) for name, value in module.named_buffers()}


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("name", LAYERS)
def test_rule_is_eager(name: str, training: bool) -> None:
    """Each mode gets half of the shapes; in the nightly run, all."""
    spec, layouts, number = LAYERS[name], set(), 0
    for shape, dtype, layout in inputs(SHAPES if examples(1) > 1 else SHAPES[training::2]):
        x = make(shape, dtype, layout, "mixed")
        for params in spec.choices(Given(type_of(x)), training):
            try:
                outcome = spec.rule(Given(type_of(x)), params, training)
            except Rejected:
                continue
            layouts.add(layout)
            number += 1
            module = build(spec, params, training)
            buffers = {name: value.clone() for name, value in module.named_buffers()}
            where = f"{spec.template.format(p=params)} on {shape} {dtype} {layout}"
            for _ in range(CALLS):
                x = make(shape, dtype, layout, PATTERNS[number % len(PATTERNS)])
                result = call(spec, module, x)
                assert not mismatch(result, outcome.type), where
                assert (result is x) is outcome.same, where
                assert not result.numel() or (storage(result) == storage(x)) is outcome.alias, where
                assert bool(x._version) is spec.mutates, where
                assert largest(result) <= 1.02 * outcome.bound + 1e-3, where
            updates = spec.updates(Given(type_of(x)), params) if training else {}
            for key, value in module.named_buffers():
                assert bool((value == buffers[key]).all()) or key in updates, where
                assert largest(value) <= updates.get(key, largest(buffers[key])), where
    assert len(layouts) > 2


@pytest.mark.parametrize("name", LAYERS)
def test_tensors_are_those_of_the_module(name: str) -> None:
    spec = LAYERS[name]
    found = {params for key in inputs() for params in spec.choices(Given(type_of(make(*key, "ones"))), False)}
    assert found
    for params in found:
        module = build(spec, params, False)
        real, expected = tensors(module), spec.tensors(params)
        assert {key: kind for key, (kind, _) in real.items()} == {
            key: kind for key, (kind, *_) in expected.items()
        }
        for key, (_, value) in real.items():
            _, kind, bound = expected[key]
            assert not mismatch(value, kind), (name, params, key)
            assert largest(value) <= bound, (name, params, key)
        other = tensors(build(spec, params, False, seed=1))
        assert spec.random is any(not torch.equal(value, other[key][1]) for key, (_, value) in real.items())


def test_choices_fit_their_rules() -> None:
    """The rule accepts the offered params, except for a few kinds of sizes."""
    for name, spec in LAYERS.items():
        offered = taken = 0
        for key in inputs():
            given = Given(type_of(make(*key, "ones")))
            for params in spec.choices(given, False):
                offered += 1
                try:
                    spec.rule(given, params, False)
                except Rejected:
                    continue
                taken += 1
        assert taken > offered / 2, name
