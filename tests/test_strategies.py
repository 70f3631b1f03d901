"""The strategies' promises: programs run, mean what the abstract machine says, and are reproducible."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest
import torch
from hypothesis import HealthCheck, find, given, settings

from harness.case import case_from_source
from strategies import Program, draw_program, programs, render
from strategies.features import TAGS
from strategies.machine import CALLS, FUEL, Machine, Ref, Value, argument
from strategies.ops import OPS
from strategies.program import If, New, Op, Return, Var, expressions, statements

EXAMPLES = 300


def run_eager(program: Program) -> list[object]:
    """The outputs of CALLS consecutive calls, each with fresh inputs."""
    case = case_from_source(render(program))
    model = case.build().model
    outputs = []
    for _ in range(CALLS):
        fresh = case.build()
        outputs.append(model(*fresh.args, **fresh.kwargs))
    return outputs


def leaves(value: object) -> list[object]:
    """The leaves of a tuple or dict, in order."""
    if isinstance(value, tuple):
        return [leaf for item in value for leaf in leaves(item)]
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    return [value]


def test_programs_run_in_eager_and_stay_finite() -> None:
    failures: Counter[str] = Counter()
    for example in range(EXAMPLES):
        try:
            outputs = run_eager(draw_program(1, example))
        except Exception as error:
            failures[f"{type(error).__name__}: {error}"] += 1
            continue
        tensors = [leaf for out in outputs for leaf in leaves(out) if isinstance(leaf, torch.Tensor)]
        assert all(bool(t.isfinite().all()) for t in tensors), f"example {example} is not finite"
    assert failures.total() <= EXAMPLES // 100, failures


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(programs())
def test_machine_predicts_eager(program: Program) -> None:
    """Sizes, known strides, identity among outputs, and None are exactly as in eager."""
    machine = Machine(program.classes, program.training)
    model = machine.build(New(program.root.name))
    for real in run_eager(program):
        args = [argument(given) for given in program.args]
        kwargs = {name: argument(given) for name, given in program.kwargs}
        predicted: Value = machine.call(model, args, kwargs, [FUEL])
        expected, seen = leaves(predicted), leaves(real)
        assert len(expected) == len(seen)
        for ref, tensor in zip(expected, seen, strict=True):
            if not isinstance(ref, Ref):
                assert ref == tensor
                continue
            assert isinstance(tensor, torch.Tensor)
            assert ref.type.shape == tuple(tensor.shape)
            if ref.type.stride is not None and tensor.numel() > 1:
                real_stride = [s for n, s in zip(tensor.shape, tensor.stride(), strict=True) if n > 1]
                strides = zip(ref.type.shape, ref.type.stride, strict=True)
                assert [s for n, s in strides if n > 1] == real_stride
            assert float(tensor.detach().abs().amax()) <= ref.bound
        for i, first in enumerate(expected):
            for j, second in enumerate(expected):
                if isinstance(first, Ref) and isinstance(second, Ref):
                    assert (first is second) == (seen[i] is seen[j])


def test_same_seed_same_source_in_another_process() -> None:
    code = (
        "from strategies import draw_program, render\n"
        "print(''.join(render(draw_program(7, k)) for k in range(20)), end='')"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout == "".join(render(draw_program(7, k)) for k in range(20))


def test_an_example_does_not_depend_on_those_before() -> None:
    alone = render(draw_program(3, 11))
    for example in range(5):
        draw_program(4, example)
    assert render(draw_program(3, 11)) == alone


def test_seeds_differ() -> None:
    assert len({render(draw_program(seed, 0)) for seed in range(20)}) > 15


def test_every_tag_is_drawn() -> None:
    seen: Counter[str] = Counter()
    for example in range(1200):
        seen.update(draw_program(2, example).features)
    assert set(TAGS) - set(seen) == set()


def test_every_op_is_drawn() -> None:
    drawn = {
        expr.name
        for example in range(1500)
        for cls in draw_program(5, example).classes
        for expr in expressions(cls.body)
        if isinstance(expr, Op)
    }
    assert set(OPS) - drawn == set()


def test_everything_shrinks_to_one_class_that_adds_one() -> None:
    smallest = find(programs(), lambda program: True, settings=settings(database=None))
    assert len(smallest.classes) == 1
    assert smallest.root.body == (smallest.root.body[0], Return(Var("x")))
    assert "x = x + 1" in render(smallest)


@pytest.mark.parametrize("wanted", ["hierarchy.shared", "inplace.metadata", "control.else"])
def test_a_feature_shrinks_to_a_screenful(wanted: str) -> None:
    smallest = find(
        programs(),
        lambda program: wanted in program.features,
        settings=settings(
            database=None,
            derandomize=True,
            max_examples=3000,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert len(render(smallest).splitlines()) <= 45


def test_branches_are_drawn_in_both_directions() -> None:
    both = 0
    for example in range(200):
        for cls in draw_program(6, example).classes:
            both += sum(isinstance(s, If) and bool(s.orelse) for s in statements(cls.body))
    assert both > 20
