"""Programs run in eager, do what the abstract machine predicts, and are reproducible."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Iterator
from functools import cache
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings

from exportdiff.core.case import case_from_source
from exportdiff_strategies import Program, draw_program, programs, render, tags_of
from exportdiff_strategies import program as ir
from exportdiff_strategies.drawing.tracing import traceable_root
from exportdiff_strategies.machine import CALLS, FUEL, Machine, arguments
from exportdiff_strategies.naming import attribute_names, renamed
from exportdiff_strategies.ops import OPS
from exportdiff_strategies.profiles import BASE, IDIOMS, IDIOMS_LEFT_OUT, MIX, NAMES, PROFILES
from exportdiff_strategies.tags import TAGS, can_meet
from exportdiff_strategies.tidy import tidy
from exportdiff_strategies.trace import Trace
from exportdiff_strategies.values import CollectionValue, OtherValue, TensorValue, Value
from support.hypothesis_profiles import examples

EXAMPLES = examples(60)

QUICK = settings(
    max_examples=examples(75),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


@cache
def drawn(example: int) -> Program:
    """The same programs for several tests."""
    return draw_program(2, example)


def run_eager(program: Program) -> list[object]:
    """The outputs of CALLS consecutive calls, each with fresh inputs, and then of every probe."""
    torch._dynamo.reset()
    case = case_from_source(render(program))
    model = case.build().model
    outputs = []
    for _ in range(CALLS):
        fresh = case.build()
        outputs.append(model(*fresh.args, **fresh.kwargs))
    probes: Any = case.probes() if case.probes is not None else ()
    for args, kwargs in probes:
        outputs.append(model(*args, **kwargs))
    return outputs


def known_parts(predicted: Value, real: Any) -> Iterator[tuple[Value, object]]:
    """The leaves of a prediction, each with what the model returned there; what an idiom makes is no leaf."""
    if isinstance(predicted, CollectionValue):
        if dataclasses.is_dataclass(real):
            real = [getattr(real, field.name) for field in dataclasses.fields(real)]
        parts = [*real.values()] if isinstance(real, dict) else [*real]
        for ours, part in zip(predicted.items.values(), parts, strict=True):
            yield from known_parts(ours, part)
    elif not isinstance(predicted, OtherValue):
        yield predicted, real


def real_leaves(value: Any) -> list[object]:
    """The leaves of what a model returned, in order."""
    if dataclasses.is_dataclass(value):
        value = [getattr(value, field.name) for field in dataclasses.fields(value)]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, tuple | list) and not isinstance(value, torch.Size):
        return [leaf for item in value for leaf in real_leaves(item)]
    return [value]


def test_programs_run_in_eager_and_stay_finite() -> None:
    failures: Counter[str] = Counter()
    for example in range(EXAMPLES):
        try:
            outputs = run_eager(drawn(example))
        except Exception as error:
            failures[f"{example}: {type(error).__name__}: {error}"] += 1
            continue
        tensors = [leaf for out in outputs for leaf in real_leaves(out) if isinstance(leaf, torch.Tensor)]
        assert all(bool(t.isfinite().all()) for t in tensors), f"example {example} is not finite"
    assert failures.total() <= EXAMPLES // 60, failures


def test_a_tracer_finds_no_name_for_a_slice_that_is_called() -> None:
    relu = ir.New("gelu", layer=True)
    children = (ir.NewChild("a", relu), ir.Container("seq", "Sequential", (relu,)))
    owner = Machine([ir.ClassDef("Model", children, (), ())]).builder.build(ir.New("Model"), None)
    for path, traced in ((("a",), True), (("seq", 0), True), (("seq", ir.Slice(0, 1)), False)):
        body = (ir.Return(ir.CallModule(path, (ir.Var("x"),))),)
        assert traceable_root(ir.ClassDef("Model", children, (ir.Arg("x", "tensor"),), body), owner) is traced


@QUICK
@given(programs())
def test_machine_predicts_eager(program: Program) -> None:
    """Sizes, dtypes, known strides, gradients, identity among outputs, and None are exactly as in eager."""
    predicted = Machine(program.classes, program.training).run_program(program)
    for ours, real in zip(predicted, run_eager(program), strict=True):
        parts = [*known_parts(ours, real)]
        for ref, tensor in parts:
            if isinstance(ref, TensorValue):
                assert_alike(ref, tensor)
            else:
                assert python_text(ref) == python_text(tensor)
        for first, one in parts:
            for second, other in parts:
                if isinstance(first, TensorValue) and isinstance(second, TensorValue):
                    assert (first is second) == (one is other)


def python_text(value: object) -> str:
    """A Python value as text, with its type; of a member of an enumeration, its name."""
    if hasattr(value, "name"):
        return str(value.name)
    return repr(tuple(value)) if isinstance(value, tuple) else repr(value)


def assert_alike(ref: TensorValue, tensor: object) -> None:
    """The tensor that the machine predicts is like the real one."""
    assert isinstance(tensor, torch.Tensor)
    assert ref.type.shape == tuple(tensor.shape)
    assert ref.type.dtype == str(tensor.dtype).removeprefix("torch.")
    # After a write that makes a tensor require grad, older views stay leaves until autograd uses them.
    assert ref.grad == tensor.requires_grad or (ref.view and ref.family.gained)
    if ref.type.stride is not None and tensor.numel() > 1:
        real_stride = [s for n, s in zip(tensor.shape, tensor.stride(), strict=True) if n > 1]
        strides = zip(ref.type.shape, ref.type.stride, strict=True)
        assert [s for n, s in strides if n > 1] == real_stride
    if tensor.numel() and not tensor.is_complex():
        assert float(tensor.detach().double().abs().amax()) <= ref.bound


@QUICK
@given(programs())
def test_programs_are_tidy(program: Program) -> None:
    """Tidying twice changes no more than tidying once, and the tidied Program still runs."""
    machine = Machine(program.classes, program.training)
    trace = machine.trace = Trace()
    machine.run_program(program)
    once = tidy(program, trace)
    again = Machine(once.classes, once.training)
    trace = again.trace = Trace()
    assert again.accepts(once)
    assert render(tidy(once, trace)) == render(once) or len(render(tidy(once, trace))) < len(render(once))


def test_same_seed_same_source_in_another_process() -> None:
    code = (
        "from exportdiff_strategies import draw_program, render\n"
        "print(''.join(render(draw_program(7, k)) for k in range(5)), end='')"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout == "".join(render(draw_program(7, k)) for k in range(5))


def test_an_example_does_not_depend_on_those_before() -> None:
    alone = render(draw_program(3, 11))
    for example in range(5):
        draw_program(4, example)
    assert render(draw_program(3, 11)) == alone


def test_seeds_and_profiles_differ() -> None:
    assert len({render(draw_program(seed, 0)) for seed in range(8)}) > 5
    assert len({render(draw_program(0, 3, profile)) for profile in NAMES}) > 4


def test_an_unknown_profile_is_named() -> None:
    with pytest.raises(ValueError, match="no profile 'fast'; there are default, core"):
        draw_program(0, 0, "fast")


def test_profiles_weigh_known_switches() -> None:
    assert {*MIX, "inference"} == set(PROFILES)
    assert set(IDIOMS_LEFT_OUT) == set(PROFILES)
    assert all(left_out <= set(IDIOMS) for left_out in IDIOMS_LEFT_OUT.values())
    for weights in PROFILES.values():
        assert weights.keys() == BASE.keys()
        assert all(0 <= weight <= 100 for weight in weights.values())


@pytest.mark.parametrize(
    ("profile", "tag"),
    [
        ("mutation", "inplace.value"),
        pytest.param("metadata", "inplace.metadata", marks=pytest.mark.nightly),
        pytest.param("sharing", "hierarchy.two_parents", marks=pytest.mark.nightly),
        pytest.param("control-flow", "control.early_return", marks=pytest.mark.nightly),
        ("dynamic", "dynamic.named"),
    ],
)
def test_a_profile_leans_towards_its_name(profile: str, tag: str) -> None:
    assert tag_counts(profile)[tag] > tag_counts("core")[tag]


@cache
def tag_counts(profile: str) -> Counter[str]:
    """In how many of 40 programs each tag is."""
    return Counter(tag for example in range(40) for tag in tags_of(draw_program(8, example, profile)))


MANY = 4000


def test_nearly_every_tag_and_half_of_the_ops_are_drawn() -> None:
    tags, ops = set(TAGS), set(OPS)
    for example in range(400):
        program = drawn(example)
        seen = tags_of(program)
        assert excluded(seen) == [], f"example {example}"
        tags -= seen
        ops -= {op.name for op in ir.of_type(program.classes, ir.Op)}
    assert len(tags) <= len(TAGS) // 20, tags
    assert len(ops) <= len(OPS) // 2, ops


@pytest.mark.nightly
def test_every_tag_and_nine_tenths_of_the_ops_are_drawn() -> None:
    """Draw until all were seen: a thousand programs, and no more than MANY."""
    tags, ops = set(TAGS), set(OPS)
    for example in range(MANY):
        program = draw_program(2, example)
        seen = tags_of(program)
        assert excluded(seen) == [], f"example {example}"
        tags -= seen
        ops -= {op.name for op in ir.of_type(program.classes, ir.Op)}
        if not tags and len(ops) <= len(OPS) // 10:
            return
    pytest.fail(f"never drawn: {tags or ops}")


@pytest.mark.nightly
def test_nearly_every_op_is_drawn_and_tags_meet_only_what_they_can() -> None:
    """A few ops fit so rarely that a stretch of this length may lack them (``out=`` forms of matmul)."""
    ops = set(OPS)
    for example in range(MANY):
        program = draw_program(5, example)
        assert excluded(tags_of(program)) == [], f"example {example}"
        ops -= {op.name for op in ir.of_type(program.classes, ir.Op)}
    assert len(ops) <= len(OPS) // 30, ops


def excluded(tags: Collection[str]) -> list[tuple[str, str]]:
    """Pairs of tags that a program has, and cannot have."""
    return [(a, b) for a in tags for b in tags if a < b and not can_meet(a, b)]


def test_branches_are_drawn_in_both_directions() -> None:
    both = 0
    for example in range(100):
        both += sum(bool(stmt.orelse) for stmt in ir.of_type(drawn(example).classes, ir.If))
    assert both > 6


def test_arguments_are_fresh_for_every_call() -> None:
    program = next(p for p in (draw_program(1, k) for k in range(50)) if p.args)
    first, second = arguments(program)[0][0], arguments(program)[0][0]
    assert isinstance(first, TensorValue)
    assert first is not second


def test_a_call_may_only_execute_so_many_ops() -> None:
    program = draw_program(1, 0)
    machine = Machine(program.classes, program.training)
    model = machine.builder.build(ir.New(program.root.name), None)
    args, kwargs = arguments(program)
    fuel = [FUEL]
    machine.call(model, args, kwargs, fuel)
    assert 0 <= fuel[0] <= FUEL


@given(programs(profile="sharing"))
@settings(max_examples=examples(40))
def test_an_attribute_is_renamed_wherever_it_is_named(program: Program) -> None:
    for name in attribute_names(program):
        other = renamed(program, {name: "another"}, {})
        text = render(other)
        assert "another" in text
        assert render(renamed(other, {"another": name}, {})) == render(program)
        # An op may have the same name as a method of a tensor: `self.another.add_(1)`.
        left = re.findall(rf"self(?:\[[^]]+\]|\.\w+)*\.{name}\b", text)
        assert not left or hasattr(torch.Tensor, name)
