"""The rules of the op table agree with eager: what a rule accepts runs, with the predicted result."""

from __future__ import annotations

import itertools
import math
import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from types import CodeType
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - the name that sources of programs use
from hypothesis import given
from hypothesis import strategies as st

from exportdiff_strategies.ops import LIMIT, OPS, OpResult, OpSpec, Params, Rejected
from exportdiff_strategies.ops.basic_index import indexed, indices
from exportdiff_strategies.regions import PREAMBLES
from exportdiff_strategies.types import (
    DTYPES,
    UNSETTLED,
    TensorType,
    castable,
    category,
    pointwise,
    promote,
    viewed,
)
from support.hypothesis_profiles import examples

SHAPES: list[tuple[int, ...]] = [
    *[(), (1,), (2,), (3,), (4,), (0,)],
    *[(2, 3), (3, 2), (2, 2), (3, 3), (1, 3), (3, 1), (1, 1), (2, 0), (4, 2)],
    *[(2, 3, 2), (2, 2, 2), (1, 2, 4), (2, 1, 3), (2, 0, 3)],
    *[(1, 2, 3, 3), (2, 1, 2, 2), (2, 3, 1, 2)],
]
LAYOUTS = ("contiguous", "transposed", "sliced", "expanded")
LAZY = {"float32": "negated", "complex64": "conjugated"}
"""By dtype, the layout of a tensor whose memory holds other values than it has."""
PATTERNS = ("mixed", "ones", "zeros", "negative", "fractions")
ACCEPTED, TRIES = examples(40), 4000
"""Applications of each op, and how many may be tried to find them."""
INDICES = (
    "0",
    "...",
    "None",
    ":1",
    "1:",
    "-1",
    "0, 1",
    "..., 0",
    "::2",
    "None, ..., 1:",
    "0:0",
    ":, None, 0",
)


@dataclass(frozen=True, eq=False)
class Given:
    """An operand of a rule."""

    type: TensorType
    bound: float = 2.0
    grad: bool = False
    lazy: bool = False


def values(count: int, dtype: torch.dtype, pattern: str, bound: float) -> torch.Tensor:
    """``count`` values within a bound, in a pattern."""
    rising = torch.linspace(-bound, bound, count, dtype=torch.float64)
    flat = {
        "mixed": rising.roll(count // 3),
        "ones": torch.ones(count, dtype=torch.float64),
        "zeros": torch.zeros(count, dtype=torch.float64),
        "negative": torch.full((count,), -bound, dtype=torch.float64),
        "fractions": rising.flip(0) / 7,
    }[pattern]
    if dtype == torch.bool:
        return flat > 0
    if dtype.is_complex:
        return torch.complex(flat, flat.flip(0)).to(dtype)
    return flat.to(dtype)


def make(shape: tuple[int, ...], dtype: str, layout: str, pattern: str, bound: float = 2.0) -> torch.Tensor:
    """A tensor in one of several memory layouts."""
    kind = getattr(torch, dtype)
    sizes = list(shape)
    if layout == "transposed" and len(sizes) > 1:
        sizes[0], sizes[-1] = sizes[-1], sizes[0]
    elif layout == "sliced" and sizes:
        sizes[-1] *= 2
    elif layout == "expanded" and sizes:
        sizes[0] = 1
    base = values(torch.Size(sizes).numel(), kind, pattern, bound).view(sizes)
    if layout == "transposed" and len(sizes) > 1:
        return base.transpose(0, -1)
    if layout == "sliced" and sizes:
        return base[..., ::2]
    if layout == "negated":
        return torch.complex(torch.zeros_like(base), -base).conj().imag
    if layout == "conjugated":
        return base.conj().resolve_conj().conj()
    return base.expand(shape) if layout == "expanded" and sizes else base.clone()


def type_of(tensor: torch.Tensor) -> TensorType:
    """The type of a real tensor."""
    return TensorType(tuple(tensor.shape), tensor.stride(), str(tensor.dtype).removeprefix("torch."))


@cache
def type_made(shape: tuple[int, ...], dtype: str, layout: str) -> TensorType:
    return type_of(make(shape, dtype, layout, "ones"))


@cache
def names() -> dict[str, Any]:
    """The global names in the source of a program."""
    found: dict[str, Any] = {"torch": torch, "F": F, "math": math}
    for need in sorted({spec.preamble for spec in OPS.values() if spec.preamble}):
        exec("\n".join(PREAMBLES[need]), found)
    return found


@cache
def compiled(template: str, params: Params, statement: bool) -> CodeType:
    source = template.format("a", "b", p=params)
    return compile(source, source, "exec" if statement else "eval")


def run(spec: OpSpec, params: Params, tensors: list[torch.Tensor]) -> Any:
    """Run the text of an op on real tensors."""
    scope = {**names(), "a": tensors[0], "b": 2 if spec.integer else 0.5 if spec.real else tensors[-1]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return eval(compiled(spec.template, params, spec.statement), scope)


Key = tuple[tuple[int, ...], str, str]
"""Shape, dtype and layout."""

GRID: list[Key] = [(shape, dtype, layout) for shape in SHAPES for dtype in DTYPES for layout in LAYOUTS]
GRID += [(shape, dtype, layout) for shape in SHAPES for dtype, layout in LAZY.items()]


@dataclass(frozen=True)
class Use:
    """One accepted application of an op; None as the second operand means the first one again."""

    first: Key
    second: Key | None
    params: Params
    outcome: OpResult
    bound: float


def given_as(key: Key, bound: float) -> Given:
    return Given(type_made(*key), bound, lazy=key[2] in LAZY.values())


def listed(spec: OpSpec, first: Given, chance: random.Random) -> list[Params]:
    """Some of the constants that may fit."""
    choices = spec.choices([first])
    if not isinstance(choices, list):
        return [(index,) for index in chance.sample(INDICES, 4)]
    return chance.sample(choices, min(len(choices), 3))


def applied(
    spec: OpSpec, first: Key, second: Key | None, chance: random.Random, bound: float = 2.0
) -> Iterator[Use]:
    """Accepted applications of an op to these operands, with some of the constants that may fit."""
    left = given_as(first, bound)
    right = left if second is None else given_as(second, bound)
    if (spec.of_memory or spec.group == "inplace.storage") and (left.lazy or right.lazy):
        return  # the machine refuses them
    for params in listed(spec, left, chance):
        try:
            outcome = spec.rule([left, right][: spec.arity], params)
        except Rejected:
            continue
        if outcome.bound <= LIMIT:
            yield Use(first, second, params, outcome, bound)


def uses(name: str, accepted: int = ACCEPTED, tries: int = TRIES, bound: float = 2.0) -> Iterator[Use]:
    """Accepted applications of an op to operands from all parts of the grid."""
    spec, chance = OPS[name], random.Random(name)
    for _ in range(tries):
        shape, dtype, layout = first = chance.choice(GRID)
        if layout != "contiguous" and spec.stops_grad and spec.mutates:
            continue  # of a view, the machine lets no one change the history
        second: Key | None = None
        if spec.arity == 2 and chance.random() < 0.9:
            shape = shape if chance.random() < 0.4 else chance.choice(SHAPES)
            second = (
                shape,
                dtype if chance.random() < 0.6 else chance.choice(DTYPES),
                chance.choice(LAYOUTS),
            )
            if second[1] in LAZY and chance.random() < 0.2:
                second = (*second[:2], LAZY[second[1]])
        for use in applied(spec, first, second, chance, bound):
            yield use
            accepted -= 1
        if accepted <= 0:
            return


def mismatch(tensor: torch.Tensor, kind: TensorType) -> str:
    """How a tensor differs from a type; the stride of a dimension of size 1 does not count."""
    have = type_of(tensor)
    if (have.shape, have.dtype) != (kind.shape, kind.dtype):
        return f"is {have}, not {kind}"
    if kind.stride is not None and have.stride is not None and 0 not in have.shape:
        places = zip(have.stride, kind.stride, have.shape, strict=True)
        if any(a != b for a, b, size in places if size > 1):
            return f"has strides {have.stride}, not {kind}"
    return ""


def storage(tensor: torch.Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)


def largest(tensor: torch.Tensor) -> float:
    """The largest absolute value (for complex numbers, of a part); nan if one is not finite."""
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    return float(tensor.detach().double().abs().max()) if tensor.numel() else 0.0


def check(spec: OpSpec, use: Use, pattern: str) -> str:
    """How the outcome of a rule is wrong; empty if it is right."""
    first = make(*use.first, pattern, use.bound)
    second = first if use.second is None else make(*use.second, pattern, use.bound)
    before, outcome = type_of(first), use.outcome
    held = storage(first)
    try:
        result = run(spec, use.params, [first, second][: spec.arity])
    except Exception as error:
        return f"raises {type(error).__name__}: {error}"
    if spec.mutates:
        if problem := mismatch(first, outcome.type):
            return f"the target {problem}"
        if not spec.statement and result is not first:
            return "does not return its target"
        if (storage(first) == held) is (outcome.adopts is not None):
            return "the target's storage"
    else:
        if type_of(first) != before or first._version:
            return "changes its operand"
        if problem := mismatch(result, outcome.type):
            return f"the result {problem}"
        if (result is first) is not outcome.same:
            return "identity"
        if result.numel() and (storage(result) == held) is not outcome.alias:
            return "aliasing"
    if spec.reinterprets:
        return ""  # its values are bits of others
    big = largest(first if spec.mutates else result)
    limit = 1.02 * max(outcome.bound, use.bound if spec.mutates else 0.0) + 1e-3
    return "" if big <= limit else f"reaches {big}, above {outcome.bound}"


GROUPS: dict[str, list[str]] = {}
"""The ops by group."""
for op, its_spec in OPS.items():
    GROUPS.setdefault(its_spec.group, []).append(op)


def for_each_op(check_op: Callable[[str], None]) -> Callable[[str], None]:
    """Make a test of each group of ops. A test of each op would take longer to start than to run."""

    @pytest.mark.parametrize("group", GROUPS)
    def test(group: str) -> None:
        for name in GROUPS[group]:
            try:
                check_op(name)
            except Exception as error:
                error.add_note(f"of the op {name}")
                raise

    return test


@for_each_op
def test_rule_is_eager(name: str) -> None:
    spec, layouts, dtypes = OPS[name], set(), set()
    for number, use in enumerate(uses(name)):
        pattern = PATTERNS[number % len(PATTERNS)]
        problem = check(spec, use, pattern)
        text = spec.template.format("a", "b", p=use.params)
        assert not problem, f"{text} on {use.first}, {use.second or ''} ({pattern}) {problem}"
        layouts.add(use.first[2])
        dtypes.add(use.first[1])
    assert dtypes, "never accepted"
    assert len(layouts) > 1 or name in ROW_MAJOR_ONLY


@for_each_op
def test_a_second_operand_that_is_negated_or_conjugated_when_it_is_read(name: str) -> None:
    """For first operands of every dtype. Eager stores such a value first, and then negates what it stored."""
    spec, chance = OPS[name], random.Random(name)
    if spec.arity < 2:
        return
    for dtype, (kind, layout), shape in itertools.product(DTYPES, LAZY.items(), ((), (2,), (2, 3), (3, 3))):
        for use in applied(spec, (shape, dtype, "contiguous"), (shape, kind, layout), chance):
            problem = check(spec, use, "mixed")
            assert not problem, f"{name}{use.params} on {use.first}, {use.second} {problem}"


ROW_MAJOR_ONLY = {"as_strided", "as_strided_", "detach_"}


@for_each_op
def test_large_values_stay_finite(name: str) -> None:
    """A bound within the limit means finite values, in every dtype."""
    for bound in (60.0, 9000.0):
        for use in uses(name, 15, 150, bound):
            problem = check(OPS[name], use, "negative" if bound > 100 else "mixed")
            assert not problem, f"{name}{use.params} on {use.first}, {use.second or ''} {problem}"


@for_each_op
def test_requires_grad_as_the_machine_says(name: str) -> None:
    """The result (or target) requires grad if an operand does, and the op and dtype allow it."""
    spec = OPS[name]
    for number, use in enumerate(uses(name, 15, 400)):
        tensors = [make(*use.first, "mixed"), make(*(use.second or use.first), "mixed")][: spec.arity]
        for place in range(spec.arity):
            inexact = category(type_of(tensors[place]).dtype) in ("float", "complex")
            if inexact and (number + 1) >> place & 1:
                # Autograd forbids in-place ops on leaves.
                tensors[place] = tensors[place].clone().requires_grad_()
                tensors[place] = tensors[place] * 1 if spec.mutates else tensors[place]
        wanted = any(tensor.requires_grad for tensor in tensors) and not spec.stops_grad
        wanted |= spec.starts_grad
        operands = [
            Given(type_of(tensor), 2.0, tensor.requires_grad, tensor.is_neg() or tensor.is_conj())
            for tensor in tensors
        ]
        try:
            outcome = spec.rule(operands, use.params)
        except Rejected:
            continue
        result = run(spec, use.params, tensors)
        if not outcome.same:
            wanted = wanted and category(outcome.type.dtype) in ("float", "complex")
        result = tensors[0] if spec.mutates else result
        if spec.mutates:
            wanted = wanted and category(outcome.type.dtype) in ("float", "complex")
        assert result.requires_grad is wanted, f"{name} on {use.first}, {use.second}"


@for_each_op
def test_autocast_lowers_what_the_table_says(name: str) -> None:
    """Autocast does not affect the other ops, except that cat and stack fail on float16."""
    spec = OPS[name]
    for use in uses(name, 15, 400):
        if "float16" in (use.first[1], use.second and use.second[1]):
            continue
        tensors = [make(*use.first, "mixed"), make(*(use.second or use.first), "mixed")][: spec.arity]
        with torch.autocast("cpu", dtype=torch.bfloat16):
            result = run(spec, use.params, tensors)
        kind = use.outcome.type
        if spec.lowers and kind.dtype == "float32":
            kind = replace(kind, dtype="bfloat16")
        problem = mismatch(tensors[0] if spec.mutates else result, kind)
        assert not problem, f"{name}{use.params} on {use.first}, {use.second or ''} {problem}"


def test_the_table_is_well_formed() -> None:
    assert next(iter(OPS)) == "add_one"
    for name, spec in OPS.items():
        assert spec.mutates in ("", "value", "metadata"), name
        assert ("{1}" in spec.template) == (spec.arity + spec.integer + bool(spec.real) == 2), name
        assert spec.group.startswith("inplace") == bool(spec.mutates), name


def test_infix_texts_get_parentheses() -> None:
    assert {name for name in ("add_one", "neg", "sub_from", "lt", "power") if not OPS[name].infix} == set()
    assert not any(OPS[name].infix for name in ("relu", "sqrt", "row", "cat", "where", "to_double"))


@given(st.data(), st.sampled_from(SHAPES), st.sampled_from(LAYOUTS))
def test_basic_indices(data: st.DataObject, shape: tuple[int, ...], layout: str) -> None:
    tensor = make(shape, "float32", layout, "mixed")
    params = data.draw(indices([Given(type_of(tensor))]))
    try:
        kind = indexed(type_of(tensor), params)
    except Rejected:
        return
    assert not mismatch(run(OPS["index"], params, [tensor]), kind), params


# --- dtypes and strides -----------------------------------------------------------------------------------

PARTS: list[TensorType | complex] = [
    *(TensorType(shape, None, dtype) for shape in ((), (2,)) for dtype in DTYPES),
    *(True, 1, 1.0, 1j),
]


def test_promotion_is_that_of_torch() -> None:
    def real(part: TensorType | complex) -> torch.Tensor | complex:
        return (
            torch.zeros(part.shape, dtype=getattr(torch, part.dtype))
            if isinstance(part, TensorType)
            else part
        )

    for left in PARTS:
        for right in PARTS:
            if isinstance(left, TensorType) or isinstance(right, TensorType):
                wanted = torch.result_type(real(left), real(right))
                dtype = promote(left, right)
                if dtype == UNSETTLED and not hasattr(torch, UNSETTLED):
                    dtype = "complex64"
                assert f"torch.{dtype}" == str(wanted), (left, right)


def test_castable_is_that_of_torch() -> None:
    for left in DTYPES:
        for right in DTYPES:
            assert castable(left, right) is torch.can_cast(getattr(torch, left), getattr(torch, right))


def scrambled(chance: random.Random, shape: list[int]) -> torch.Tensor:
    """A tensor of these sizes, with dimensions in any memory order, sliced and expanded."""
    order = chance.sample(range(len(shape)), len(shape))
    tensor = torch.ones([shape[dim] * chance.choice((1, 1, 2)) for dim in order])
    tensor = tensor.permute([order.index(dim) for dim in range(len(shape))])
    tensor = tensor[tuple(slice(0, size) for size in shape)]
    for dim, size in enumerate(shape):
        if chance.random() < 0.1:
            tensor = tensor.narrow(dim, 0, 1).expand(*shape[: dim + 1], *shape[dim + 1 :]) if size else tensor
    return tensor


def test_strides_are_those_of_tensor_iterator() -> None:
    chance, unknown = random.Random(0), 0
    for _ in range(2000):
        shape = [chance.choice((1, 2, 3)) for _ in range(chance.randint(0, 4))]
        tensors = [scrambled(chance, shape[chance.choice((0, 0, 1)) :]) for _ in range(chance.randint(1, 2))]
        result = tensors[0] + (tensors[1] if len(tensors) > 1 else 1)
        found = pointwise(tuple(type_of(tensor) for tensor in tensors))
        assert found is not None
        unknown += found[1] is None
        assert not mismatch(result, TensorType(*found, "float32")), tensors
    assert unknown == 0


def test_views_are_those_of_torch() -> None:
    chance = random.Random(0)
    for _ in range(2000):
        tensor = scrambled(chance, [chance.choice((1, 2, 3, 4)) for _ in range(chance.randint(0, 4))])
        shape = list(tensor.shape)
        chance.shuffle(shape)
        for place in range(len(shape) - 1):
            if chance.random() < 0.3:
                shape[place : place + 2] = [shape[place] * shape[place + 1], 1]
        found = viewed(type_of(tensor), tuple(shape))
        try:
            result = tensor.view(shape)
        except RuntimeError:
            assert found is None
        else:
            assert found is not None
            assert not mismatch(result, found), (type_of(tensor), shape)


def test_overlap_is_seen() -> None:
    plain = TensorType((2, 3), (3, 1))
    assert not plain.overlaps
    assert not replace(plain, stride=(1, 2)).overlaps
    assert replace(plain, stride=(0, 1)).overlaps
    assert replace(plain, stride=(1, 1)).overlaps
    assert not TensorType((2, 0), (0, 1)).overlaps
