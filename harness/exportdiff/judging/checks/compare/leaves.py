"""How two leaves differ: a stable word, the expected and the seen text."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from exportdiff.core.difference import MEASURED, Amount
from exportdiff.judging.checks.compare.closeness import Closeness, closeness, is_tolerated
from exportdiff.judging.checks.compare.elements import (
    furthest,
    is_rounding,
    largest_error,
    largest_magnitude,
    signs_of_zero_differ,
)
from exportdiff.judging.checks.compare.tolerance import default_tolerance
from exportdiff.runtime.observing.python_values import number
from exportdiff.runtime.observing.tensors import TensorSnapshot
from exportdiff.runtime.observing.values import identical

if TYPE_CHECKING:
    from exportdiff.runtime.observing.tensors import Composed, Size


@dataclass(frozen=True)
class LeafDifference:
    """How one leaf differs from another, in the property that differs worst."""

    word: str
    """The name of the property: one of SEVERITY."""
    expected: str
    seen: str
    part: str = field(default="", kw_only=True)
    """Of a tensor that consists of others: the one that differs, such as ``.values``."""

    @property
    def aspect(self) -> str:
        """The name of the property, for people."""
        return self.word.replace("-", " ")

    def details(self, ours: str = "eager", theirs: str = "here") -> str:
        """Say what was expected and seen; the arguments name the two sides."""
        inside = f"its part {self.part}: " if self.part else ""
        if self.word == "sign-of-zero":
            return f"{inside}equal, but for 0.0 on one side and -0.0 on the other"
        return f"{inside}{ours}: {_LABELS.get(self.word, '')}{self.expected}; {theirs}: {self.seen}"


_LABELS = {
    "dtype": "dtype ",
    "device": "device ",
    "shape": "shape ",
    "requires-grad": "requires_grad ",
    "leaf": "is_leaf ",
    "stride": "stride ",
    "conj-bit": "conj bit ",
    "neg-bit": "neg bit ",
    "offset": "storage offset ",
}


@dataclass(frozen=True)
class ValuesDiffer(LeafDifference):
    """Elements differ: ``expected`` and ``seen`` are the two that are furthest apart."""

    expected: str = field(metadata=MEASURED)
    seen: str = field(metadata=MEASURED)
    tensor: str = field(metadata=MEASURED)
    """Dtype and shape."""
    differing: int = field(metadata=MEASURED)
    """The number of elements that differ."""
    elements: int = field(metadata=MEASURED)
    place: tuple[int, ...] = field(metadata=MEASURED)
    """The index of the elements that are furthest apart."""
    apart: float = field(metadata=MEASURED)
    largest: float = field(metadata=MEASURED)
    """The largest absolute value of eager's finite elements."""
    tolerated: float = field(metadata=MEASURED)
    """The difference that ``torch.testing.assert_close`` tolerates by default."""
    error: float = field(metadata=MEASURED, default=math.inf)
    """The largest distance from the float64 reference; from eager where there is none."""
    closeness: Closeness | None = field(metadata=MEASURED, default=None)
    """How close the tensors are, if the user said what is tolerated; None: exportdiff decides that."""

    @property
    def amount(self) -> Amount:
        """How large the difference is."""
        return Amount.of(self.apart, self.largest, self.tolerated)

    def details(self, ours: str = "eager", theirs: str = "here") -> str:
        """Say how many elements differ, and by how much."""
        inside = f"its part {self.part}: " if self.part else ""
        measured = f"\n{self.closeness}" if self.closeness is not None else ""
        return (
            f"{inside}{self.tensor}, values differ at {self.differing} of {self.elements} places\n"
            f"largest difference at {list(self.place)}: {ours} {self.expected}, {theirs} {self.seen} "
            f"({self.apart:.3g} apart){measured}"
        )


@dataclass(frozen=True)
class NumbersDiffer(LeafDifference):
    """Two Python numbers differ."""

    expected: str = field(metadata=MEASURED)
    seen: str = field(metadata=MEASURED)
    apart: float = field(metadata=MEASURED)
    """Infinite between an infinity, or NaN, and anything else."""
    largest: float = field(metadata=MEASURED)
    """The absolute value of eager's number, if that is finite."""
    tolerated: float = field(metadata=MEASURED)
    """The difference that ``torch.testing.assert_close`` tolerates by default."""

    @property
    def amount(self) -> Amount:
        """How large the difference is."""
        return Amount.of(self.apart, self.largest, self.tolerated)


# From worst to mildest: where several leaves differ, the worst is reported first.
SEVERITY = (
    "kind",
    "dtype",
    "device",
    "shape",
    "python-value",
    "value",
    "requires-grad",
    "leaf",
    "stride",
    "offset",
    "conj-bit",
    "neg-bit",
    "identity",
    "sign-of-zero",
    "rounding",
)

_EPS = {"float64": 2.0**-52, "complex128": 2.0**-52, "bfloat16": 2.0**-7, "float16": 2.0**-10}


def compare_leaf(
    expected: TensorSnapshot | str, seen: TensorSnapshot | str, *, metadata: bool = False
) -> LeafDifference | None:
    """Compare two leaves; with ``metadata``, also storage offset and requires_grad."""
    if isinstance(expected, str) or isinstance(seen, str):
        if expected == seen:
            return None
        if isinstance(expected, str) and isinstance(seen, str):
            return _compare_texts(expected, seen)
        return LeafDifference("kind", str(expected), str(seen))
    for word, ours, theirs in (
        ("dtype", expected.dtype, seen.dtype),
        ("device", expected.device, seen.device),
        ("shape", expected.shape, seen.shape),
    ):
        if ours != theirs:
            return LeafDifference(word, written(ours), written(theirs))
    if (unlike := _compare_values(expected, seen)) is not None:
        return unlike
    if metadata and expected.requires_grad != seen.requires_grad:
        return LeafDifference("requires-grad", str(expected.requires_grad), str(seen.requires_grad))
    if meaningful_stride(expected) != meaningful_stride(seen):
        return LeafDifference("stride", written(expected.stride), written(seen.stride))
    for word, bit, other in (("conj-bit", expected.conj, seen.conj), ("neg-bit", expected.neg, seen.neg)):
        if bit != other:
            return LeafDifference(word, str(bit), str(other))
    if metadata and expected.offset != seen.offset:
        return LeafDifference("offset", str(expected.offset), str(seen.offset))
    return None


def _compare_texts(expected: str, seen: str) -> LeafDifference:
    """Say how two unlike Python values differ."""
    ours, theirs = number(expected), number(seen)
    if ours is None or theirs is None or type(ours) is not type(theirs):
        return LeafDifference("python-value", expected, seen)
    apart = abs(ours - theirs)
    largest = abs(ours) if math.isfinite(abs(ours)) else 0.0
    tolerated = 0.0 if isinstance(ours, int) else default_tolerance("float64", largest)
    return NumbersDiffer(
        "python-value", expected, seen, apart if math.isfinite(apart) else math.inf, largest, tolerated
    )


def meaningful_stride(tensor: TensorSnapshot) -> tuple[Size, ...]:
    """Return the strides of dimensions with more than one element: the others have no effect."""
    if 0 in tensor.shape:
        return ()
    places = zip(tensor.shape, tensor.stride, strict=False)
    return tuple(stride for size, stride in places if size not in (0, 1))


def written(value: object) -> str:
    """Write sizes as torch does, as a list; anything else as it is."""
    return str(list(value) if isinstance(value, tuple) else value)


def _compare_values(expected: TensorSnapshot, seen: TensorSnapshot) -> LeafDifference | None:
    if expected.composed is not None and seen.composed is not None:
        return _compare_parts(expected.composed, seen.composed)
    if expected.has_values != seen.has_values or expected.composed is not seen.composed:
        return LeafDifference("kind", _kind(expected), _kind(seen))
    a, b = expected.values, seen.values
    if a is None or b is None:
        return None
    if identical(a, b):
        return None
    with np.errstate(all="ignore"):
        found = furthest(a, b)
        if found is None:
            return LeafDifference("sign-of-zero", "", "") if signs_of_zero_differ(a, b) else None
        eps = _EPS.get(expected.dtype, 2.0**-23)
        largest = largest_magnitude(a)
        tolerated = default_tolerance(expected.dtype, largest)
        measured: Closeness | None = None
        if expected.tolerance is not None and a.dtype.kind in "fc":
            measured = closeness(a, b)
            if is_tolerated(a, b, measured, expected.tolerance):
                return None
        close = a.dtype.kind in "fc" and is_rounding(a, b, expected.exact, eps, tolerated)
        error = largest_error(a, b, expected.exact)
    return ValuesDiffer(
        "rounding" if close and measured is None else "value",
        found.ours,
        found.theirs,
        tensor=str(expected),
        differing=found.number,
        elements=int(a.size),
        place=found.place,
        apart=found.apart,
        largest=largest,
        tolerated=tolerated,
        error=error,
        closeness=measured,
    )


def _compare_parts(expected: Composed, seen: Composed) -> LeafDifference | None:
    """Return the worst difference of two tensors that consist of others."""
    if (expected.of, expected.context, expected.parts.keys()) != (seen.of, seen.context, seen.parts.keys()):
        return LeafDifference("kind", _written(expected), _written(seen))
    found = [
        replace(unlike, part=f".{name}{unlike.part}")
        for name, part in expected.parts.items()
        if (unlike := compare_leaf(part, seen.parts[name])) is not None
    ]
    return min(found, key=lambda each: SEVERITY.index(each.word), default=None)


def _kind(tensor: TensorSnapshot) -> str:
    return f"{tensor.type if tensor.composed is None else tensor.composed.of} {tensor}"


def _written(composed: Composed) -> str:
    context = f", {composed.context}" if composed.context else ""
    return f"{composed.of}({', '.join(composed.parts)}{context})"
