"""Limits that all backends share: each follows from what a backend states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exportdiff.judging.checks.compare.elements import distance, wide
from exportdiff.judging.checks.compare.leaves import ValuesDiffer
from exportdiff.judging.checks.outputs import OutputLeaf
from exportdiff.judging.exemptions.backend import backend_of
from exportdiff.judging.exemptions.limits.limit import limit
from exportdiff.runtime.observing.tensors import TensorSnapshot

if TYPE_CHECKING:
    from exportdiff.judging.exemptions.limits.limit import Comparison, Limit
    from exportdiff.runtime.observing.observation import Observation
    from exportdiff.runtime.observing.values import Array

LIMITS: list[Limit] = []


@limit(
    LIMITS,
    says="A backend computes with kernels of its own, which round differently.",
    documented="the tolerance that the backend states for the dtype",
)
def kernels_round_differently(compared: Comparison) -> bool:
    """Whether an output is as near to the float64 reference as the backend states."""
    backend, evidence = backend_of(compared.path), compared.evidence
    if backend is None or not isinstance(evidence, OutputLeaf) or not isinstance(evidence.leaf, ValuesDiffer):
        return False
    leaf = evidence.leaf
    if leaf.closeness is not None:
        return False  # the user says what is tolerated
    stated = backend.tolerance.get(leaf.tensor.partition("[")[0])
    return stated is not None and leaf.error <= stated[0] * leaf.largest + stated[1]


@limit(
    LIMITS,
    says="A backend computes with kernels of its own, which round differently, and an operator such as "
    "logical_not or sort makes a large difference of a small one.",
    documented="the tolerance that the backend states for the dtype",
)
def rounding_decides(compared: Comparison) -> bool:
    """Whether eager gives the same result if its operators round differently.

    Each element must be what eager gives for one such rounding, or be as near to it as the backend states. A
    floating point number may also lie between those of two roundings, or a little outside: only a few are
    tried, and others give such numbers.
    """
    backend, evidence = backend_of(compared.path), compared.evidence
    if backend is None or not isinstance(evidence, OutputLeaf) or not isinstance(evidence.leaf, ValuesDiffer):
        return False
    seen = _values(compared.seen, evidence)
    given = [_values(each, evidence) for each in (compared.eager, *compared.eager.rounded)]
    known = [each for each in given if each is not None and seen is not None and each.shape == seen.shape]
    if seen is None or len(known) < 2 or evidence.leaf.closeness is not None:
        return False
    stated = backend.tolerance.get(evidence.leaf.tensor.partition("[")[0], (0.0, 0.0))
    most = stated[0] * evidence.leaf.largest + stated[1]
    result, ways = wide(seen), np.stack([wide(each) for each in known])
    near = np.any([distance(result, each) <= most for each in ways], axis=0)
    if seen.dtype.kind == "f":
        least, largest = ways.min(axis=0), ways.max(axis=0)
        margin = (largest - least) / 2
        near |= (least - margin <= result) & (result <= largest + margin)
    return bool(near.all())


def _values(seen: Observation, evidence: OutputLeaf) -> Array | None:
    """Return the values of the output that the evidence is about, if they are in memory."""
    outputs = seen.calls[evidence.call].outputs if evidence.call < len(seen.calls) else None
    leaves = outputs.leaves if outputs is not None else ()
    found = next((each.value for each in leaves if each.where == evidence.place), None)
    values = found.values if isinstance(found, TensorSnapshot) else None
    return values if isinstance(values, np.ndarray) else None


@limit(
    LIMITS,
    says="A backend draws random numbers from a generator of its own.",
    documented="the backend does not promise the random numbers of eager",
)
def random_numbers_are_others(compared: Comparison) -> bool:
    """Whether a call of eager draws random numbers, on a backend that draws others."""
    backend = backend_of(compared.path)
    return (
        backend is not None and "random numbers" in backend.not_promised and "calls" in compared.eager.draws
    )
